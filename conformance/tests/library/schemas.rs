//! The JSON Schemas of the messages hold for all that goes either way, and refuse what the program refuses.

use std::num::NonZeroUsize;

use gather_conformance::protocol::{
    CallMessage, ErrorReply, Fault, InvalidReply, PROTOCOL, Reply, Request, Started, TensorMessage,
    TimedReply,
};
use gather_conformance::{builtin, schemas};
use gather_spec::Profile;
use jsonschema::Validator;
use serde::Serialize;
use serde_json::Value;

use crate::tiers;

fn parsed(message: &impl Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(message).unwrap()).unwrap()
}

fn assert_valid(schema: &Validator, message: &Value) {
    let wrong: Vec<String> = schema.iter_errors(message).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{message}: {wrong:?}");
}

#[test]
fn all_calls_of_the_suite_and_all_answers_of_the_reference_are_valid() {
    let harness = jsonschema::validator_for(&schemas::harness()).unwrap();
    let backend = jsonschema::validator_for(&schemas::backend()).unwrap();
    let mut reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    let description = reference.describe();
    let (identity, operators) = (description.backend, description.operators);
    assert_valid(&backend, &parsed(&Started { protocol: PROTOCOL, backend: identity, operators }));
    for (seq, case) in (0..).zip(crate::embedded_runs()).step_by(tiers::EVERY_NTH_MESSAGE.count()) {
        assert_valid(&harness, &parsed(&CallMessage::new(seq, &case.call)));
        let reply = Reply::new(seq, &reference.call(&case.call));
        assert_valid(&backend, &parsed(&reply));
        let len = serde_json::to_vec(&reply).unwrap().len();
        assert!(len < 2 << 20, "PROTOCOL.md says 2 MiB, {} has {len} bytes", case.id);
    }
    for reply in [
        Reply::Timed(TimedReply { seq: 1, nanoseconds: vec![1.5, 2.0], threads: NonZeroUsize::new(2) }),
        Reply::Timed(TimedReply { seq: 1, nanoseconds: Vec::new(), threads: None }),
        Reply::Invalid(InvalidReply::new(None, "what, where")),
        Reply::Invalid(InvalidReply {
            fault: Some(Fault::InputChanged),
            ..InvalidReply::new(Some(7), "which")
        }),
    ] {
        assert_valid(&backend, &parsed(&reply));
    }
}

#[test]
fn the_schema_and_the_program_agree_on_what_is_a_request() {
    let harness = jsonschema::validator_for(&schemas::harness()).unwrap();
    let call = r#"{"cmd":"call","seq":1,"operator":"tf.gather","operands":{"params":{"dtype":"u8","shape":[1],"data":"AA=="},"indices":{"dtype":"i32","shape":[],"file":"f","offset":0}},"attributes":{"axis":0}}"#;
    let time = call.replace("\"call\"", "\"time\"").replace(
        "\"attributes\"",
        "\"rounds\":9,\"min_round_ns\":1,\"threads\":2,\"output\":\"fresh\",\"attributes\"",
    );
    let good = [r#"{"cmd":"start","protocol":2}"#, r#"{"cmd":"stop"}"#, call, &time];
    for line in good {
        assert!(Request::parse(line.as_bytes()).is_ok(), "{line}");
        assert_valid(&harness, &serde_json::from_str(line).unwrap());
    }
    let broken = [
        ("\"seq\":1", "\"seq\":-1"),
        ("\"seq\":1", "\"seq\":1,\"more\":1"),
        ("\"seq\":1,", ""),
        ("\"u8\"", "\"uint8\""),
        ("[1]", "[-1]"),
        ("[1]", "1"),
        ("{\"axis\":0}", "{\"axis\":{}}"),
        ("{\"axis\":0}", "{\"axis\":[1.5]}"),
        ("{\"axis\":0}", "{\"axis\":9223372036854775808}"),
        ("{\"axis\":0}", "[]"),
        ("\"AA==\"", "\"AA==\",\"file\":null"),
        ("\"AA==\"", "\"AA==\",\"offset\":null"),
        ("\"AA==\"", "null"),
        ("\"AA==\"", "7"),
        ("\"call\"", "\"ask\""),
        ("\"call\"", "\"stop\""),
        ("{\"dtype\":\"u8\",\"shape\":[1],\"data\":\"AA==\"}", "[\"u8\",[1],\"AA==\"]"),
    ];
    for (part, instead) in broken {
        let line = call.replacen(part, instead, 1);
        assert_ne!(line, call);
        assert!(Request::parse(line.as_bytes()).is_err(), "{line}");
        assert!(!harness.is_valid(&serde_json::from_str(&line).unwrap()), "{line}");
    }
    for (part, instead) in
        [("\"threads\":2", "\"threads\":0"), ("\"threads\":2", "\"threads\":null"), ("\"fresh\"", "null")]
    {
        let line = time.replace(part, instead);
        assert!(Request::parse(line.as_bytes()).is_err() && line != time, "{line}");
        assert!(!harness.is_valid(&serde_json::from_str(&line).unwrap()), "{line}");
    }
}

/// What no JSON Schema can refuse, the description of the schema names.
#[test]
fn the_program_refuses_more_than_the_schema_where_the_schema_says_so() {
    let harness = jsonschema::validator_for(&schemas::harness()).unwrap();
    let call = r#"{"cmd":"call","seq":1,"operator":"tf.gather","operands":{"params":{"dtype":"u8","shape":[1],"data":"AA=="},"indices":{"dtype":"i32","shape":[],"file":"f","offset":0}},"attributes":{"axis":0}}"#;
    for (part, instead) in [
        ("\"seq\":1", "\"seq\":1.0"),
        ("[1]", "[1e0]"),
        ("[1]", "[-0]"),
        ("{\"axis\":0}", "{\"axis\":0,\"axis\":0}"),
        ("\"seq\":1", "\"seq\":1,\"seq\":1"),
    ] {
        let line = call.replacen(part, instead, 1);
        assert_ne!(line, call);
        assert_valid(&harness, &serde_json::from_str(&line).unwrap());
        assert!(Request::parse(line.as_bytes()).is_err(), "{line}");
    }
    for (name, schema) in schemas::all() {
        let description = schema["description"].as_str().unwrap();
        for what in ["1.0", "1e0", "-0", "twice"] {
            assert!(description.contains(what), "{name}: {what}");
        }
    }
}

#[test]
fn the_schema_and_the_program_agree_that_an_optional_key_is_never_null() {
    let backend = jsonschema::validator_for(&schemas::backend()).unwrap();
    let error = r#"{"seq":1,"error":{"message":"no","KEY":null}}"#;
    let timed = r#"{"seq":1,"nanoseconds":[],"KEY":null}"#;
    for (line, keys) in
        [(error, &["code", "position", "component", "index", "bound", "bytes"][..]), (timed, &["threads"])]
    {
        for key in keys {
            let line = line.replace("KEY", key);
            assert!(serde_json::from_str::<ErrorReply>(&line).is_err(), "{line}");
            assert!(serde_json::from_str::<TimedReply>(&line).is_err(), "{line}");
            assert!(!backend.is_valid(&serde_json::from_str(&line).unwrap()), "{line}");
        }
    }
    let absent = r#"{"invalid":"what"}"#;
    assert!(serde_json::from_str::<InvalidReply>(absent).is_err());
    assert!(!backend.is_valid(&serde_json::from_str(absent).unwrap()));
}

#[test]
fn the_schema_of_replies_refuses_what_breaks_the_protocol() {
    let backend = jsonschema::validator_for(&schemas::backend()).unwrap();
    for line in [
        r#"{"seq":1}"#,
        r#"{"seq":"1","unsupported":"x"}"#,
        r#"{"seq":null,"unsupported":"x"}"#,
        r#"{"seq":1,"unsupported":"x","note":1}"#,
        r#"{"seq":1,"error":"no"}"#,
        r#"{"seq":1,"error":{"message":"no","code":"oops"}}"#,
        r#"{"seq":1,"output":{"dtype":"u8","shape":[1],"file":"f","offset":0}}"#,
        r#"{"seq":1,"output":{"dtype":"string","shape":[1],"data":"AA=="}}"#,
        r#"{"seq":1,"output":{"dtype":"u8","shape":[1],"data":"!!"}}"#,
        r#"{"seq":1,"nanoseconds":[1.5],"threads":0}"#,
        r#"{"protocol":3,"backend":{"name":"n","version":"1","language":"x"},"operators":{}}"#,
    ] {
        assert!(!backend.is_valid(&serde_json::from_str(line).unwrap()), "{line}");
    }
}

/// The properties of a schema and of all that it holds, each with its path.
fn properties(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        if matches!(key.as_str(), "properties" | "$defs") {
            for (name, value) in value.as_object().unwrap() {
                found.push((format!("{path}/{name}"), value.clone()));
                properties(value, &format!("{path}/{name}"), found);
            }
        } else {
            properties(value, path, found);
        }
    }
}

#[test]
fn every_property_has_a_description_without_the_types_of_rust() {
    for (name, schema) in schemas::all() {
        let mut found = Vec::new();
        properties(&schema, name, &mut found);
        assert!(found.len() > 20, "{name}: {}", found.len());
        for (path, value) in found {
            let description = value["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{path} has no description");
            for rust in ["usize", "u128", "i128", "u64", "i64", "Vec", "Option", "struct"] {
                assert!(!description.contains(rust), "{path}: {description}");
            }
        }
    }
}

#[test]
fn the_schema_and_the_program_agree_on_the_largest_dim() {
    let harness = jsonschema::validator_for(&schemas::harness()).unwrap();
    let backend = jsonschema::validator_for(&schemas::backend()).unwrap();
    let tensor = |dim: &str| format!(r#"{{"dtype":"u8","shape":[{dim},0],"data":""}}"#);
    for (dim, good) in [("9223372036854775807", true), ("9223372036854775808", false)] {
        let params = tensor(dim);
        let message: TensorMessage = serde_json::from_str(&params).unwrap();
        assert_eq!(message.tensor().is_ok(), good, "{dim}");
        let call = format!(
            r#"{{"cmd":"call","seq":1,"operator":"o","operands":{{"params":{params},"indices":{params}}},"attributes":{{}}}}"#
        );
        assert_eq!(harness.is_valid(&serde_json::from_str(&call).unwrap()), good, "{dim}");
        let reply = format!(r#"{{"seq":1,"output":{params}}}"#);
        assert_eq!(backend.is_valid(&serde_json::from_str(&reply).unwrap()), good, "{dim}");
    }
}
