//! The part of the schema that describes tensors: their elements, fills and closed forms.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::names::DtypeOrAny;

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

/// A tensor: `data`, `bits`, or `shape` with `fill`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Tensor {
    /// The dtype, or `any` if it does not matter. Omitted if `for-each` lists dtypes.
    #[schemars(default, with = "Option<DtypeOrAny>")]
    dtype: Option<DtypeOrAny>,
    /// The dims. Needed with `fill`, and with `data: []` for an empty tensor.
    #[schemars(default)]
    shape: Option<Vec<Number>>,
    /// Nested rows of elements. A string is a text or `{ hex: "00ff" }`, a complex number `{ re: 1, im: 2 }`.
    #[schemars(default)]
    data: Option<Elements>,
    /// Nested rows of bit patterns, such as `0x7fc00001`; a complex number as `[re, im]`.
    #[schemars(default)]
    bits: Option<Elements>,
    /// `zeros`, `iota` (0, 1, 2, …), `{ cycle: 251 }` (0 to 250, then 0 again), `{ value: x }`, or a closed form.
    #[schemars(default)]
    fill: Option<Fill>,
}

/// Nested rows; what the elements may be depends on the dtype.
pub(super) struct Elements;

impl JsonSchema for Elements {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Elements".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let nested = generator.subschema_for::<Self>();
        json_schema!({ "anyOf": [
            { "type": ["boolean", "number", "string"] },
            { "type": "array", "items": nested },
            { "type": "object", "properties": { "re": {}, "im": {} }, "required": ["re", "im"], "additionalProperties": false },
            { "type": "object", "properties": { "hex": { "type": ["string", "number"] } }, "required": ["hex"], "additionalProperties": false },
        ] })
    }
}

pub(super) struct Fill;

impl JsonSchema for Fill {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fill".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<Elements>();
        json_schema!({ "anyOf": [
            { "enum": ["zeros", "iota"] },
            { "type": "object", "properties": { "cycle": { "type": "integer", "minimum": 1 } }, "required": ["cycle"], "additionalProperties": false },
            { "type": "object", "properties": { "value": value }, "required": ["value"], "additionalProperties": false },
            generator.subschema_for::<ClosedForm>(),
            generator.subschema_for::<Places>(),
        ] })
    }
}

/// Numbers in closed form: `start` plus, for each axis, the coordinate times its step.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["steps"] }, { "required": ["components"] }]))]
pub(super) struct ClosedForm {
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
pub(super) struct Places {
    /// The places.
    places: Vec<Exception>,
    /// All numbers are reduced modulo this.
    #[schemars(default)]
    modulo: Option<Number>,
}

/// The numbers of one component of index rows.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Component {
    /// The first number. Default: 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One step per axis, without the last one.
    steps: Vec<Number>,
}

/// The part of a tensor at given coordinates of its first axes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Exception {
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

/// A whole number, or a sum of products of named sizes, such as `(n-1)*m`.
pub(super) struct Number;

impl JsonSchema for Number {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "integer" },
            { "type": "string", "pattern": "^[-+*/() a-z0-9]{1,100}$" },
        ] })
    }
}
