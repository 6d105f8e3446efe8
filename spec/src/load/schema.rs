//! The JSON Schema of case files, for completion and checks in editors. It is less precise than the loader.
//! `spec/case-file.schema.json` is generated from it, and a test validates every case file against it.

#![allow(dead_code, reason = "the types are there to be described")]

mod tests;

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::yaml::{Node, Spanned, Text};
use crate::{BadIndex, DType, DimensionRule, ErrorCode, NegativeIndex};

/// A file of cases of one operator, or of the family of a form. The id of a case is `<operator>/<file stem>/<name>`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["operator"] }, { "required": ["form"] }]))]
struct CaseFile {
    /// The version of this format: 2.
    #[schemars(range(min = 2, max = 2))]
    schema: u32,
    /// The operator whose cases these are; equals the folder.
    #[schemars(default)]
    operator: Option<String>,
    /// The form whose operators take these cases; equals the folder.
    #[schemars(default)]
    form: Option<String>,
    /// The cases.
    #[schemars(length(min = 1))]
    cases: Vec<Case>,
}

/// A call, the clauses that it tests, and the outcomes that are allowed.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    /// Says what this separates; part of an id that never changes.
    #[schemars(regex(pattern = "^[a-z0-9-]{1,100}$"))]
    name: String,
    /// The documented example that this transcribes, such as `tf-gather-nd/2`.
    #[schemars(default)]
    documented: Option<String>,
    /// The clauses that it tests: of the operator, or of the family.
    #[schemars(length(min = 1))]
    clauses: Vec<String>,
    /// What this separates, when the name does not say it.
    #[schemars(default)]
    why: Option<String>,
    /// The public thread of a real bug that this stands for, or a list of them.
    #[schemars(default)]
    history: Option<OneOrMany>,
    /// Who computed the expectation, if it was not derived by hand; not allowed under `spec/` for our own.
    #[schemars(default)]
    provenance: Option<Provenance>,
    /// The tensors, under the names that the operator's page gives them; in a family under their roles.
    operands: BTreeMap<String, Tensor>,
    /// The attributes that are sent, by name or, in a family, by role: an absent one is not sent.
    #[schemars(default)]
    attributes: Option<BTreeMap<String, Option<Attribute>>>,
    /// The dtypes and sizes that one written case stands for.
    #[schemars(default)]
    for_each: Option<ForEach>,
    /// What may be answered.
    expect: Expect,
}

/// A public link, or a tool, its version and the call.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Evidence {
    /// A public address.
    #[schemars(default, regex(pattern = "^https://"))]
    link: Option<String>,
    /// What was run.
    #[schemars(default)]
    tool: Option<String>,
    /// Its version.
    #[schemars(default)]
    version: Option<String>,
    /// The call.
    #[schemars(default)]
    call: Option<String>,
    /// What it answered.
    #[schemars(default)]
    observed: Option<String>,
    /// What to see there.
    #[schemars(default)]
    note: Option<String>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum OneOrMany {
    One(Evidence),
    Many(Vec<Evidence>),
}

/// Who computed an expectation.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct Provenance {
    computed_by: String,
    version: String,
    #[schemars(default)]
    seed: Option<u64>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Attribute {
    Boolean(bool),
    Integer(i64),
    String(String),
    Integers(Vec<Number>),
    Element(Single),
}

/// One element of the dtype of params: `element`, or all of its `bits`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Single {
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
struct Tensor {
    /// The dtype, or `any` where it does not matter; left out where `for-each` gives it.
    #[schemars(default, with = "Option<DtypeOrAny>")]
    dtype: Option<DtypeOrAny>,
    /// The dims; needed beside `fill`, and beside `data: []` for a tensor without elements.
    #[schemars(default)]
    shape: Option<Vec<Number>>,
    /// Nested rows of elements; a string is text or `{ hex: "00ff" }`, a complex number `{ re: 1, im: 2 }`.
    #[schemars(default)]
    data: Option<Elements>,
    /// Nested rows of bit patterns, such as `0x7fc00001`; complex as `[re, im]`.
    #[schemars(default)]
    bits: Option<Elements>,
    /// `zeros`, `iota` (0, 1, 2, …), `{ cycle: 251 }` (0 to 250, and again from 0), `{ value: x }`, or a closed form.
    #[schemars(default)]
    fill: Option<Fill>,
}

/// A text that is one of a set of names.
macro_rules! one_of {
    ($ty:ident, $title:literal, $names:expr) => {
        struct $ty;

        impl JsonSchema for $ty {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": $names })
            }
        }
    };
}

one_of!(Dtype, "Dtype", DType::ALL.map(DType::name));
one_of!(DtypeOrAny, "DtypeOrAny", [&["any"][..], &DType::ALL.map(DType::name)].concat());
one_of!(Code, "Code", ErrorCode::ALL.map(ErrorCode::name));
one_of!(Rule, "Rule", DimensionRule::ALL.map(DimensionRule::name));
/// The policies that an expectation may be for.
const WHEN_BAD: [BadIndex; 5] =
    [BadIndex::Error, BadIndex::Zero, BadIndex::Fill, BadIndex::Clamp, BadIndex::Modulo];

one_of!(BadIndexName, "BadIndex", WHEN_BAD.map(|policy| policy.to_string()));
one_of!(NegativeIndexName, "NegativeIndex", NegativeIndex::ALL.map(|policy| policy.to_string()));
one_of!(EmptyAxisName, "EmptyAxis", ["zero", "error"].map(str::to_owned));

/// Nested rows; what the elements may be depends on the dtype.
struct Elements;

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

struct Fill;

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

/// The number at a position is `start` plus, for each axis, the position along it times its step.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["steps"] }, { "required": ["components"] }]))]
struct ClosedForm {
    /// By default 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One per axis.
    #[schemars(default)]
    steps: Option<Vec<Number>>,
    /// The numbers begin again with 0 where they come to this.
    #[schemars(default)]
    modulo: Option<Number>,
    /// How many digits a string has: zeros stand before the number.
    #[schemars(default)]
    digits: Option<Number>,
    /// Along the last axis, one of these each.
    #[schemars(default)]
    components: Option<Vec<Component>>,
    /// Parts with numbers of their own.
    #[schemars(default)]
    except: Option<Vec<Exception>>,
}

/// Zeros but for these places; in files of large cases, under a dtype that is named.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Places {
    /// The places.
    places: Vec<Exception>,
    /// The numbers begin again with 0 where they come to this.
    #[schemars(default)]
    modulo: Option<Number>,
}

/// The numbers of one component of index rows.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Component {
    /// By default 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One per axis but the last.
    steps: Vec<Number>,
}

/// All that lies at one place along the first axes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Exception {
    /// The place.
    at: Vec<Number>,
    /// By default 0.
    #[schemars(default)]
    start: Option<Number>,
    /// One per axis that is left; without steps the number is the same everywhere.
    #[schemars(default)]
    steps: Option<Vec<Number>>,
    /// In place of both: a number that `modulo` leaves as it is.
    #[schemars(default)]
    exactly: Option<Number>,
}

/// A whole number, or a sum of products of sizes that `for-each` lists, such as `(n-1)*m`.
struct Number;

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

/// The output of a case: nested rows, or a tensor without a dtype, which is that of params.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Output {
    Rows(Elements),
    Tensor(OutputTensor),
}

/// A tensor whose dtype is that of params.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct OutputTensor {
    #[schemars(default)]
    shape: Option<Vec<Number>>,
    #[schemars(default)]
    data: Option<Elements>,
    #[schemars(default)]
    bits: Option<Elements>,
    #[schemars(default)]
    fill: Option<Fill>,
}

/// The dtypes and sizes that one written case stands for: of dtypes every combination, of sizes, where there are several
/// lists, each value of each list with each value of each other.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct ForEach {
    /// Of params.
    #[schemars(default)]
    params_dtype: Option<Vec<Dtype>>,
    /// Of indices.
    #[schemars(default)]
    index_dtype: Option<Vec<Dtype>>,
    /// What the names of sizes stand for.
    #[schemars(default)]
    sizes: Option<BTreeMap<String, Vec<u32>>>,
    /// How wide elements of params under `any` are, where a backend has such a dtype.
    #[schemars(default)]
    element_bytes: Option<Vec<u32>>,
    /// Likewise, of indices.
    #[schemars(default)]
    index_bytes: Option<Vec<u32>>,
    /// The most that products of sizes may come to, such as `n*m: 4096`.
    #[schemars(default)]
    at_most: Option<BTreeMap<String, u64>>,
}

#[derive(JsonSchema)]
#[schemars(untagged)]
enum Expect {
    /// Anything but a crash.
    Word(Unspecified),
    One(Box<Arm>),
    Arms(Vec<Arm>),
}

struct Unspecified;

impl JsonSchema for Unspecified {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Unspecified".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": "unspecified" })
    }
}

/// What is allowed, under the profiles that `when` names: exactly one of output, shape, error, any-of, unspecified.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct Arm {
    /// The profiles that this is for; absent: all that are left.
    #[schemars(default)]
    when: Option<When>,
    /// Exactly this tensor, bit by bit.
    #[schemars(default)]
    output: Option<Output>,
    /// Any tensor of this shape.
    #[schemars(default)]
    shape: Option<Vec<Number>>,
    /// An error of this code.
    #[schemars(default)]
    error: Option<Code>,
    /// Of index-out-of-range: where the first bad index stands.
    #[schemars(default)]
    position: Option<Vec<Number>>,
    /// Of index-out-of-range: its place within the row, forms nd and window only.
    #[schemars(default)]
    component: Option<u64>,
    /// Of index-out-of-range: the bad index, as given.
    #[schemars(default)]
    index: Option<Number>,
    /// Of index-out-of-range: the size of its axis, or how many starts of a window fit.
    #[schemars(default)]
    bound: Option<Number>,
    /// Of output-too-large: the product of the non-zero dims times the element size.
    #[schemars(default)]
    bytes: Option<u128>,
    /// Of dimension-numbers: the rule that they break.
    #[schemars(default)]
    rule: Option<Rule>,
    /// With `output-too-large` under `dtype: any`: the product of the non-zero dims.
    #[schemars(default)]
    elements: Option<u128>,
    /// Several outcomes, each of which passes.
    #[schemars(default)]
    any_of: Option<Vec<Arm>>,
    /// Anything but a crash.
    #[schemars(default)]
    unspecified: Option<bool>,
}

/// A condition on the profile.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct When {
    #[schemars(default)]
    bad: Option<BadIndexName>,
    #[schemars(default)]
    negative: Option<NegativeIndexName>,
    #[schemars(default)]
    empty_axis: Option<EmptyAxisName>,
}

/// A YAML node as the JSON value that an editor's validator sees.
fn json(text: Text<'_>, node: &Spanned<Node>) -> Value {
    match &node.value {
        Node::Sequence(rows) => rows.iter().map(|row| json(text, row)).collect(),
        Node::Mapping(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.value.clone(), json(text, value))).collect())
        }
        Node::Tagged => json!({ "tagged": true }),
        Node::Scalar(Some(content)) => json!(content),
        Node::Scalar(None) => match text.scalar(node).unwrap_or_default() {
            "" | "~" | "null" => Value::Null,
            raw => serde_json::from_str(raw).unwrap_or_else(|_| json!(raw)),
        },
    }
}
