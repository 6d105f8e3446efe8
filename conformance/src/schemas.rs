//! JSON Schemas of the protocol's messages, for those who write an adapter or a harness elsewhere. Written out rather
//! than derived: the types of `protocol` cannot say that a tensor has `data` or else `file` and `offset`.

use gather_spec::{DType, ErrorCode};
use serde_json::{Value, json};

use crate::protocol::{MAX_RANK, PROTOCOL};

/// The schemas that are checked in, by file name under `conformance/schemas/`.
#[must_use]
pub fn all() -> [(&'static str, Value); 2] {
    [("harness.schema.json", harness()), ("backend.schema.json", backend())]
}

/// What a harness sends: one of these per line.
#[must_use]
pub fn harness() -> Value {
    let message = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let asked = json!({
        "seq": count(), "operator": { "type": "string" },
        "params": message("tensor"), "indices": message("tensor"),
        "attributes": { "type": "object", "additionalProperties": message("attribute") },
    });
    let with = |cmd: &str, more: Value| {
        let mut properties = asked.clone();
        properties["cmd"] = json!({ "const": cmd });
        let more = more.as_object().cloned().unwrap_or_default();
        more.into_iter().for_each(|(key, value)| properties[key] = value);
        properties
    };
    let time = json!({
        "rounds": { "type": "integer", "minimum": 0, "maximum": u32::MAX }, "min_round_ns": count(),
        "threads": threads(), "output": { "enum": ["fresh", "pooled", "into"] },
    });
    let mut definitions = shared();
    definitions["start"] = object(json!({ "cmd": { "const": "start" }, "protocol": count() }), &[]);
    definitions["call"] = object(with("call", json!({})), &[]);
    definitions["time"] = object(with("time", time), &["threads", "output"]);
    definitions["stop"] = object(json!({ "cmd": { "const": "stop" } }), &[]);
    definitions["tensor"] = json!({ "oneOf": [message("inline"), message("strings"), message("file")] });
    definitions["file"] = object(
        json!({ "dtype": dtypes(DType::String), "shape": shape(), "file": { "type": "string" }, "offset": count() }),
        &[],
    );
    definitions["attribute"] = json!({ "oneOf": [
        { "type": "boolean" }, { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX },
    ] });
    let messages = ["start", "call", "time", "stop"].map(message);
    schema("What a harness sends: one object per line", &messages, definitions)
}

/// What a backend answers: one of these per line.
#[must_use]
pub fn backend() -> Value {
    let message = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let text = || json!({ "type": "string" });
    let names = |dtypes: &[DType]| dtypes.iter().map(|dtype| dtype.name()).collect::<Vec<_>>();
    let listed = json!({ "type": "array", "items": { "enum": names(&DType::ALL) } });
    let mut definitions = shared();
    definitions["started"] = object(
        json!({
            "protocol": { "const": PROTOCOL },
            "backend": object(json!({ "name": text(), "version": text(), "language": text() }), &[]),
            "operators": { "type": "object", "additionalProperties": message("capability") },
        }),
        &[],
    );
    definitions["capability"] = object(
        json!({
            "profile": object(json!({
                "bad_index": { "enum": ["error", "zero", "clamp", "unspecified"] },
                "negative_index": { "enum": ["reject", "wrap"] },
            }), &[]),
            "dtypes": listed, "index_dtypes": listed,
        }),
        &[],
    );
    definitions["output"] = object(json!({ "seq": count(), "output": message("tensor") }), &[]);
    definitions["tensor"] = json!({ "oneOf": [message("inline"), message("strings")] });
    let codes = ErrorCode::ALL.map(ErrorCode::name);
    let error = json!({
        "message": text(), "code": { "enum": codes },
        "position": { "type": "array", "items": count() }, "component": count(),
        "index": { "type": "integer" }, "bound": count(), "bytes": { "type": "integer", "minimum": 0 },
    });
    let fields = ["code", "position", "component", "index", "bound", "bytes"];
    definitions["error"] = object(json!({ "seq": count(), "error": object(error, &fields) }), &[]);
    definitions["unsupported"] = object(json!({ "seq": count(), "unsupported": text() }), &[]);
    let nanoseconds = json!({ "type": "array", "items": { "type": "number", "minimum": 0 } });
    definitions["timed"] =
        object(json!({ "seq": count(), "nanoseconds": nanoseconds, "threads": threads() }), &["threads"]);
    definitions["invalid"] =
        object(json!({ "seq": { "oneOf": [count(), { "type": "null" }] }, "invalid": text() }), &[]);
    let messages = ["started", "output", "error", "unsupported", "timed", "invalid"].map(message);
    schema("What a backend answers: one object per line", &messages, definitions)
}

fn schema(title: &str, messages: &[Value], definitions: Value) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{title}, protocol version {PROTOCOL}"),
        "oneOf": messages,
    });
    schema["$defs"] = definitions;
    schema
}

/// What both directions have: tensors with their elements in the message.
fn shared() -> Value {
    let base64 = || json!({ "type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$" });
    let strings = json!({ "type": "array", "items": base64() });
    json!({
        "inline": object(json!({ "dtype": dtypes(DType::String), "shape": shape(), "data": base64() }), &[]),
        "strings": object(json!({ "dtype": { "const": "string" }, "shape": shape(), "data": strings }), &[]),
    })
}

/// An object of exactly these keys, of which some may be absent.
fn object(properties: Value, optional: &[&str]) -> Value {
    let keys = properties.as_object().into_iter().flat_map(|properties| properties.keys());
    let required: Vec<&String> = keys.filter(|key| !optional.contains(&key.as_str())).collect();
    let mut object = json!({ "type": "object", "required": required, "additionalProperties": false });
    object["properties"] = properties;
    object
}

/// Every dtype but one.
fn dtypes(without: DType) -> Value {
    let names: Vec<&str> =
        DType::ALL.iter().filter(|dtype| **dtype != without).map(|dtype| dtype.name()).collect();
    json!({ "enum": names })
}

fn shape() -> Value {
    json!({ "type": "array", "items": count(), "maxItems": MAX_RANK })
}

fn threads() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": u64::MAX })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX })
}
