//! JSON Schemas of the protocol's messages, for authors of adapters and harnesses in other languages. Written by hand,
//! because the types in `protocol` cannot express that a tensor has either `data`, or `file` and `offset`; the fields of errors
//! come from the list in `gather_spec`. Every property has a description in the terms of JSON; `PROTOCOL.md` has the rules
//! that no schema can state.

use gather_spec::{DType, DimensionRule, ErrorCode, error_fields};
use serde_json::{Value, json};

use crate::limits::Limits;
use crate::protocol::{MAX_RANK, PROTOCOL};

/// The checked-in schemas, by file name under `conformance/schemas/`.
#[must_use]
pub fn all() -> [(&'static str, Value); 2] {
    [("harness.schema.json", harness()), ("backend.schema.json", backend())]
}

/// The messages of a harness, one per line.
#[must_use]
pub fn harness() -> Value {
    let mut definitions = shared();
    definitions["start"] = start();
    let mut call = with_call("call");
    call["variant"] = variant();
    definitions["call"] =
        object("A call to answer with `output`, `error` or `unsupported`.", call, &["variant"]);
    definitions["time"] = time();
    definitions["stop"] = object(
        "The last message. The backend ends with exit status 0; the end of input means the same.",
        json!({ "cmd": command("stop") }),
        &[],
    );
    definitions["tensor"] = one_of(
        "A tensor: its elements in the message, or in a file.",
        &["inline", "strings", "file"].map(message),
    );
    definitions["file"] = file();
    definitions["attribute"] = described(
        json!({ "anyOf": [
            { "type": ["boolean", "string", "null"] },
            { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX },
            { "type": "number", "not": { "type": "integer" } },
            { "type": "array", "items": { "type": "integer", "minimum": i64::MIN, "maximum": i64::MAX } },
            { "allOf": [message("tensor"), { "properties": { "shape": { "maxItems": 0 } }, "required": ["data"] }] },
        ] }),
        "The value of an attribute: a boolean, an integer from -2^63 to 2^63 - 1, a finite number, a string, an array of \
         such integers, an element as a tensor of the shape [] with its data in the message, or null. The operator says which of these an attribute of its takes.",
    );
    let messages = ["start", "call", "time", "stop"].map(message);
    schema("What a harness sends: one object per line", &messages, definitions)
}

/// The messages of a backend, one per line.
#[must_use]
pub fn backend() -> Value {
    let mut definitions = shared();
    definitions["started"] = started();
    definitions["capability"] = capability();
    definitions["output"] = object(
        "The call succeeds.",
        json!({ "seq": seq(), "output": described(message("tensor"), "The gathered tensor.") }),
        &[],
    );
    definitions["tensor"] =
        one_of("A tensor with its elements in the message.", &["inline", "strings"].map(message));
    definitions["error"] =
        object("The call is wrong and is rejected.", json!({ "seq": seq(), "error": error() }), &[]);
    definitions["unsupported"] = object(
        "The backend does not do such calls.",
        json!({ "seq": seq(), "unsupported": text("Why, for people.") }),
        &[],
    );
    definitions["timed"] = timed();
    let seq_if_any = described(
        json!({ "oneOf": [count(), { "type": "null" }] }),
        "The `seq` of the broken message, or null if it cannot be read.",
    );
    let fault = json!({
        "enum": ["input-changed", "broken-contract", "crash", "timeout"],
        "description": "What a library that the backend asks did wrong; absent if the message is at fault.",
    });
    definitions["invalid"] = object(
        "There is no answer, since the message breaks the protocol, or a library its contract. The backend goes on with \
         the next line.",
        json!({ "seq": seq_if_any, "invalid": text("What is wrong and where, for people."), "fault": fault }),
        &["fault"],
    );
    let messages = ["started", "output", "error", "unsupported", "timed", "invalid"].map(message);
    schema("What a backend answers: one object per line", &messages, definitions)
}

fn start() -> Value {
    let version =
        "The protocol version that the harness speaks. A backend of another version answers with its own.";
    object(
        "The first message. The backend answers with what it is and can do.",
        json!({ "cmd": command("start"), "protocol": described(count(), version) }),
        &[],
    )
}

/// An axis of a variant with a value.
const ONE_WAY: &str = "(shapes=symbolic|execution=compiled|[A-Za-z0-9_]+=(constant|transposed|offset|reversed|stride-0|view|read-only))";

/// How a call is made.
fn variant() -> Value {
    json!({
        "type": "string",
        "pattern": format!("^{ONE_WAY}(,{ONE_WAY})*$"),
        "description": "How to make the call, of the `variants` that the backend declares: an operand by its name, `shapes` and \
            `execution`, each with a value, as in `execution=compiled,indices=constant`. Absent: as usual. The right answer is the same.",
    })
}

/// The properties of a call to answer or to time.
fn with_call(cmd: &str) -> Value {
    let attributes = json!({ "type": "object", "additionalProperties": message("attribute") });
    json!({
        "cmd": command(cmd),
        "seq": described(count(), "The number of this message, to be repeated in the reply. Unique in a process."),
        "operator": text("The id of the operator, such as `tf.gather_nd`."),
        "operands": described(
            json!({ "type": "object", "additionalProperties": message("tensor"), "maxProperties": 64 }),
            "The tensors, by the names that the operator's page gives them. The product of the dims of each that are not 0 \
             and the element size (16 for a string) is at most 2^63 - 1.",
        ),
        "attributes": described(
            attributes,
            "Attributes by name, {} if none is given. An absent one has the operator's default. A value of another type \
             than the operator's attribute has is invalid; a name that the operator lacks is unsupported.",
        ),
    })
}

fn time() -> Value {
    let rounds = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    let output = json!({ "enum": ["fresh", "pooled", "into"] });
    let mut properties = with_call("time");
    properties["rounds"] = described(
        rounds,
        "How many durations to give, an integer from 0 to 2^32 - 1. A backend may answer `unsupported` to many.",
    );
    properties["min_round_ns"] = described(
        count(),
        "The least duration of a round in nanoseconds; a round repeats the call until it is reached.",
    );
    properties["threads"] = described(
        threads(),
        "The most threads that the call may use. Absent: what a user's call uses by default.",
    );
    properties["output"] = described(
        output,
        "Where the output goes: new memory for each call (`fresh`, the default), memory from the backend's pool \
         (`pooled`), or the caller's memory, used again (`into`).",
    );
    let optional = ["threads", "output"];
    object("A call to time. The backend repeats it and answers with durations.", properties, &optional)
}

fn file() -> Value {
    let properties = json!({
        "dtype": dtypes(DType::String),
        "shape": shape(),
        "file": text(
            "The path of a regular file that holds the elements, little-endian and row-major. It must not be written to.",
        ),
        "offset": described(
            count(),
            "Where in the file the first element starts, in bytes; a multiple of the element's size.",
        ),
    });
    object("A tensor of any dtype but string, with its elements in a file.", properties, &[])
}

fn started() -> Value {
    let identity = json!({
        "name": text("The name of the implementation."),
        "version": text("The version of the implementation."),
        "language": text("The language in which it is written."),
    });
    let operators = json!({ "type": "object", "additionalProperties": message("capability") });
    let properties = json!({
        "protocol": described(json!({ "const": PROTOCOL }), "The protocol version that the backend speaks."),
        "backend": object("What the backend is.", identity, &[]),
        "operators": described(operators, "What the backend can do, by operator id; others are not sent."),
    });
    object("The answer to `start`. A process that is started again must answer the same.", properties, &[])
}

fn capability() -> Value {
    let profile = json!({
        "bad": described(
            json!({ "enum": ["error", "zero", "clamp", "unspecified"] }),
            "What an index outside its axis gives: an error, a slice of zeros, the nearest valid index, or anything.",
        ),
        "negative": described(
            json!({ "enum": ["reject", "wrap"] }),
            "Whether a negative index is outside its axis, or counts from the end of it.",
        ),
    });
    let names: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    let listed = |what| described(json!({ "type": "array", "items": { "enum": names } }), what);
    let properties = json!({
        "profile": object("What the operator's documents leave to the implementation.", profile, &[]),
        "dtypes": listed("The dtypes of params that the backend takes."),
        "index_dtypes": listed("The dtypes of indices that the backend takes."),
        "limits": limits(),
        "extends": object(
            "The dtypes that the backend takes although the operator's page does not list them.",
            json!({ "dtypes": listed("Of params."), "index_dtypes": listed("Of indices.") }),
            &["dtypes", "index_dtypes"],
        ),
        "variants": described(
            json!({ "type": "array", "items": { "type": "string", "pattern": format!("^{ONE_WAY}$") }, "maxItems": 256 }),
            "The ways to make a call that the backend knows besides the usual one, each as an axis with a value; the axis \
             `operands` stands for each operand.",
        ),
        "compilations": described(
            count(),
            "The most calls that the backend compiles for variants in a run of the whole suite. Absent: no limit.",
        ),
    });
    let optional = ["limits", "extends", "variants", "compilations"];
    object("What the backend can do of one operator.", properties, &optional)
}

fn limits() -> Value {
    let flag = |what| described(json!({ "type": "boolean" }), what);
    let names = json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
    let properties = json!({
        "max_rank": described(size(), "The highest rank of params, of indices and of the output."),
        "no_scalars": flag("Whether params, indices and the output must have a dim."),
        "no_empty": flag("Whether params, indices and the output must have an element."),
        "max_elements": described(count(), "The most elements of params, of indices and of the output."),
        "max_output_bytes": described(count(), "The largest output in bytes, where a string counts 16."),
        "axes": described(
            json!({ "type": "array", "items": { "type": "integer" } }),
            "The accepted values of the axis, as a call sends it or by default.",
        ),
        "without_attributes": described(names, "The attributes that no call may carry."),
    });
    object(
        "What the backend does not accept: calls outside these limits are not sent.",
        properties,
        &Limits::NAMES,
    )
}

/// The schema of a field of an error, by its kind.
fn of_kind(kind: &str) -> Value {
    match kind {
        "Position" => json!({ "type": "array", "items": size() }),
        "Number" => json!({ "type": "integer" }),
        "Bytes" => json!({ "type": "integer", "minimum": 0 }),
        "Rule" => json!({ "enum": DimensionRule::ALL.map(DimensionRule::name) }),
        _ => size(),
    }
}

/// The fields of errors by name, each with its schema.
macro_rules! fields {
    ($($code:ident { $($(#[doc = $doc:literal])+ $name:ident: $ty:ty as $kind:tt,)+ })+) => {
        [$($((stringify!($name), described(of_kind($kind), concat!($($doc),+).trim_start())),)+)+]
    };
}

fn error() -> Value {
    let mut properties = json!({
        "message": text("What is wrong, for people. It is never compared."),
        "code": described(
            json!({ "enum": ErrorCode::ALL.map(ErrorCode::name) }),
            "The reason, if the backend can tell. Absent: any expected error is satisfied.",
        ),
    });
    let mut optional = vec!["code"];
    for (name, schema) in error_fields!(fields) {
        properties[name] = schema;
        optional.push(name);
    }
    object(
        "Why the call is rejected. A field that is given must be right; an absent one is not checked.",
        properties,
        &optional,
    )
}

fn timed() -> Value {
    let nanoseconds = json!({ "type": "array", "items": { "type": "number", "minimum": 0 } });
    let properties = json!({
        "seq": seq(),
        "nanoseconds": described(
            nanoseconds,
            "One number per round: its duration, divided by the number of calls in it.",
        ),
        "threads": described(threads(), "The most threads that the calls could use; absent where that is not known."),
    });
    object(
        "The answer to `time`. A call that fails is answered as if it were not timed.",
        properties,
        &["threads"],
    )
}

fn schema(title: &str, messages: &[Value], definitions: Value) -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{title}, protocol version {PROTOCOL}"),
        "description": "conformance/PROTOCOL.md explains these messages. It asks for more than a schema can: an integer is \
            written without fraction and exponent, though JSON Schema takes 1.0 and 1e0 for integers, and zero as 0, not \
            -0; and no key is given twice.",
        "oneOf": messages,
    });
    schema["$defs"] = definitions;
    schema
}

/// The definitions that both directions share: tensors with their elements in the message.
fn shared() -> Value {
    let base64 = || json!({ "type": "string", "pattern": "^[A-Za-z0-9+/]*={0,2}$" });
    let strings = json!({ "type": "array", "items": base64() });
    let string = described(json!({ "const": "string" }), "The type of the elements.");
    let inline = json!({
        "dtype": dtypes(DType::String),
        "shape": shape(),
        "data": described(
            base64(),
            "The elements in row-major order, each little-endian, as one text in base64 with padding.",
        ),
    });
    let strings = json!({
        "dtype": string,
        "shape": shape(),
        "data": described(
            strings,
            "The elements in row-major order: the bytes of each as a text in base64 with padding.",
        ),
    });
    json!({
        "inline": object("A tensor of any dtype but string.", inline, &[]),
        "strings": object("A tensor of strings of bytes.", strings, &[]),
    })
}

/// An object with exactly these keys. Those in `optional` may be absent.
fn object(description: &str, properties: Value, optional: &[&str]) -> Value {
    let keys = properties.as_object().into_iter().flat_map(|properties| properties.keys());
    let required: Vec<&String> = keys.filter(|key| !optional.contains(&key.as_str())).collect();
    let mut object = json!({ "type": "object", "required": required, "additionalProperties": false });
    object["properties"] = properties;
    described(object, description)
}

fn described(mut schema: Value, description: &str) -> Value {
    schema["description"] = json!(description);
    schema
}

fn one_of(description: &str, schemas: &[Value]) -> Value {
    described(json!({ "oneOf": schemas }), description)
}

fn message(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn command(name: &str) -> Value {
    described(json!({ "const": name }), "What kind of message this is.")
}

fn seq() -> Value {
    described(count(), "The `seq` of the message that is answered.")
}

fn text(description: &str) -> Value {
    described(json!({ "type": "string" }), description)
}

/// Every dtype except one.
fn dtypes(without: DType) -> Value {
    let names: Vec<&str> =
        DType::ALL.iter().filter(|dtype| **dtype != without).map(|dtype| dtype.name()).collect();
    described(json!({ "enum": names }), "The type of the elements.")
}

fn shape() -> Value {
    let dims = json!({ "type": "array", "items": size(), "maxItems": MAX_RANK });
    let text = format!(
        "The size of each axis, an integer from 0 to 2^63 - 1; at most {MAX_RANK} axes, [] for a scalar."
    );
    described(dims, &text)
}

/// A number of threads.
fn threads() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": u64::MAX })
}

fn size() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX })
}

/// A 64-bit count.
fn count() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": u64::MAX })
}
