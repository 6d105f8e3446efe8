//! The JSON Schema of what case files hold and the loader reads by hand: numbers, elements, fills. That of all else follows
//! from the types in `raw`. `spec/case-file.schema.json`, for completion and checks in editors, is generated from both. It
//! is less precise than the loader, and a test validates every case file against it.

#![allow(dead_code, reason = "the types are there to be described")]

mod tests;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::{DType, DimensionRule};

/// Types with these schemas.
macro_rules! described {
    ($($(#[$doc:meta])* $ty:ident, $generator:ident => $schema:tt;)+) => {$(
        $(#[$doc])*
        pub(super) struct $ty;

        impl JsonSchema for $ty {
            fn schema_name() -> Cow<'static, str> {
                stringify!($ty).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

described! {
    /// A whole number, or a sum of products of named sizes, such as `(n-1)*m`.
    Number, _generator => { "anyOf": [
        { "type": "integer" },
        { "type": "string", "pattern": "^[-+*/() a-z0-9]{1,100}$" },
    ] };

    DtypeOrAny, generator => { "anyOf": [
        { "const": "any", "description": "Any dtype that the operator's page lists." },
        generator.subschema_for::<DType>(),
    ] };

    /// Nested rows; what the elements may be depends on the dtype.
    Elements, generator => { "anyOf": [
        { "type": ["boolean", "number", "string"] },
        { "type": "array", "items": generator.subschema_for::<Self>() },
        { "type": "object", "properties": { "re": {}, "im": {} }, "required": ["re", "im"], "additionalProperties": false },
        { "type": "object", "properties": { "hex": { "type": ["string", "number"] } }, "required": ["hex"], "additionalProperties": false },
    ] };

    Fill, generator => { "anyOf": [
        { "enum": ["zeros", "iota"] },
        { "type": "object", "properties": { "cycle": { "type": "integer", "minimum": 1 } }, "required": ["cycle"], "additionalProperties": false },
        { "type": "object", "properties": { "value": generator.subschema_for::<Elements>() }, "required": ["value"], "additionalProperties": false },
        generator.subschema_for::<ClosedForm>(),
        generator.subschema_for::<Places>(),
    ] };
}

// The fields of errors, by kind.
pub(super) type Position = Vec<Number>;
pub(super) type Count = usize;
pub(super) type Size = Number;
pub(super) type Bytes = u128;
pub(super) type Rule = DimensionRule;

/// The output of a case: nested rows, or a tensor without a dtype, which is that of params.
pub(super) struct Output<T>(T);

impl<T: JsonSchema> JsonSchema for Output<T> {
    fn schema_name() -> Cow<'static, str> {
        "Output".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut tensor = T::json_schema(generator);
        let properties = tensor.get_mut("properties").and_then(Value::as_object_mut);
        properties.and_then(|properties| properties.remove("dtype"));
        json_schema!({
            "description": "Nested rows, or a tensor without a dtype, which is that of params.",
            "anyOf": [generator.subschema_for::<Elements>(), tensor],
        })
    }
}

/// One value, or a list of them.
#[derive(JsonSchema)]
#[schemars(untagged, inline)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// The value of an attribute.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Attribute {
    Boolean(bool),
    Integer(i64),
    String(String),
    Integers(Vec<Number>),
    Element(Single),
}

/// A single element of the dtype of params: `element`, or its exact `bits`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Single {
    /// A number, a boolean, or a complex number `{ re: 1, im: 2 }`.
    #[schemars(default)]
    element: Option<Elements>,
    /// A bit pattern, such as `0x7fc00001`; complex as `[re, im]`.
    #[schemars(default)]
    bits: Option<Elements>,
}

/// Numbers in closed form: `start` plus, for each axis, the coordinate times its step.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["steps"] }, { "required": ["components"] }]))]
struct ClosedForm {
    /// The first number. Default: 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One step per axis.
    #[schemars(default)]
    steps: Option<Vec<Number>>,
    /// All numbers are reduced modulo this.
    #[schemars(default)]
    modulo: Option<Number>,
    /// The number of digits of a string, padded with leading zeros.
    #[schemars(default)]
    digits: Option<Number>,
    /// One closed form per position along the last axis.
    #[schemars(default)]
    components: Option<Vec<Component>>,
    /// Parts with numbers of their own.
    #[schemars(default)]
    except: Option<Vec<Exception>>,
}

/// Zeros except in these places. Only in files of large cases, and with a fixed dtype.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Places {
    /// The places.
    places: Vec<Exception>,
    /// All numbers are reduced modulo this.
    #[schemars(default)]
    modulo: Option<Number>,
}

/// The numbers of one component of index rows.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Component {
    /// The first number. Default: 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One step per axis, without the last one.
    steps: Vec<Number>,
}

/// The part of a tensor at given coordinates of its first axes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Exception {
    /// The coordinates of the first axes.
    at: Vec<Number>,
    /// The first number. Default: 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One step per remaining axis. Without steps, all numbers are equal.
    #[schemars(default)]
    steps: Option<Vec<Number>>,
    /// Replaces `start` and `steps`: a number that is exempt from `modulo`.
    #[schemars(default)]
    exactly: Option<Number>,
}
