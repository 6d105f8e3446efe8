//! The JSON Schema of case files, for completion and checks in editors. It is less precise than the loader.
//! `spec/case-file.schema.json` is generated from it, and a test validates every case file against it.

#![allow(dead_code, reason = "the types are there to be described")]

mod names;
mod tensor;
mod tests;

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::yaml::{Node, Spanned, Text};

use names::{BadIndexName, Code, Dtype, EmptyAxisName, NegativeIndexName, Rule};
use tensor::{Elements, Fill, Number, Single, Tensor};

/// Cases of one operator, or of the family of a form. The id of a case is `<operator>/<file stem>/<name>`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["operator"] }, { "required": ["form"] }]))]
struct CaseFile {
    /// The version of this format: 2.
    #[schemars(range(min = 2, max = 2))]
    schema: u32,
    /// The operator of these cases. It must match the folder.
    #[schemars(default)]
    operator: Option<String>,
    /// The form whose operators take these cases. It must match the folder.
    #[schemars(default)]
    form: Option<String>,
    /// The cases.
    #[schemars(length(min = 1))]
    cases: Vec<Case>,
}

/// A call, the clauses that it tests, and the allowed outcomes.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct Case {
    /// What the case distinguishes. It is part of an id that never changes.
    #[schemars(regex(pattern = "^[a-z0-9-]{1,100}$"))]
    name: String,
    /// The documented example that it transcribes, such as `tf-gather-nd/2`.
    #[schemars(default)]
    documented: Option<String>,
    /// The clauses that it tests, of the operator or of the family.
    #[schemars(length(min = 1))]
    clauses: Vec<String>,
    /// What the case distinguishes, if the name does not say so.
    #[schemars(default)]
    why: Option<String>,
    /// Public threads of real bugs that it reproduces, one or a list.
    #[schemars(default)]
    history: Option<OneOrMany>,
    /// Who computed the expectation, unless it was derived by hand. Under `spec/`, never an implementation of this project.
    #[schemars(default)]
    provenance: Option<Provenance>,
    /// The tensors, by the names of the operator's page; in a family, by role.
    operands: BTreeMap<String, Tensor>,
    /// The attributes that are sent, by name; in a family, by role. An absent attribute is not sent.
    #[schemars(default)]
    attributes: Option<BTreeMap<String, Option<Attribute>>>,
    /// The dtypes and sizes that the case expands to.
    #[schemars(default)]
    for_each: Option<ForEach>,
    /// The allowed outcomes.
    expect: Expect,
}

/// A public link, or a tool, its version and the call.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Evidence {
    /// A public address.
    #[schemars(default, regex(pattern = "^https://"))]
    link: Option<String>,
    /// The tool that was run.
    #[schemars(default)]
    tool: Option<String>,
    /// Its version.
    #[schemars(default)]
    version: Option<String>,
    /// The call.
    #[schemars(default)]
    call: Option<String>,
    /// The answer.
    #[schemars(default)]
    observed: Option<String>,
    /// What the link shows.
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

/// The output of a case: nested rows, or a tensor without a dtype, which is that of params.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Output {
    Rows(Elements),
    Tensor(OutputTensor),
}

/// A tensor with the dtype of params.
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

/// The dtypes and sizes that a case expands to: every combination of dtypes; of several lists of sizes, combinations such that
/// each value of each list occurs with each value of each other list.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct ForEach {
    /// The dtypes of params.
    #[schemars(default)]
    params_dtype: Option<Vec<Dtype>>,
    /// The dtypes of indices.
    #[schemars(default)]
    index_dtype: Option<Vec<Dtype>>,
    /// Named sizes, each with its values.
    #[schemars(default)]
    sizes: Option<BTreeMap<String, Vec<u32>>>,
    /// Preferred widths in bytes of params elements under `any`, for a backend that has such a dtype.
    #[schemars(default)]
    element_bytes: Option<Vec<u32>>,
    /// Preferred widths in bytes of indices under `any`.
    #[schemars(default)]
    index_bytes: Option<Vec<u32>>,
    /// Limits on products of sizes, such as `n*m: 4096`.
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

/// The outcome allowed under the profiles of `when`: exactly one of output, shape, error, any-of, unspecified.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "kebab-case")]
struct Arm {
    /// The profiles that this applies to. If absent, all that remain.
    #[schemars(default)]
    when: Option<When>,
    /// Exactly this tensor, bit by bit.
    #[schemars(default)]
    output: Option<Output>,
    /// Any tensor with this shape.
    #[schemars(default)]
    shape: Option<Vec<Number>>,
    /// An error with this code.
    #[schemars(default)]
    error: Option<Code>,
    /// For index-out-of-range: the position of the first bad index.
    #[schemars(default)]
    position: Option<Vec<Number>>,
    /// For index-out-of-range: its component within the row, in forms nd and window only.
    #[schemars(default)]
    component: Option<u64>,
    /// For index-out-of-range: the bad index, as given.
    #[schemars(default)]
    index: Option<Number>,
    /// For index-out-of-range: the size of its axis; in form window, the number of valid starts.
    #[schemars(default)]
    bound: Option<Number>,
    /// For output-too-large: the product of the non-zero dims and the element size.
    #[schemars(default)]
    bytes: Option<u128>,
    /// For dimension-numbers: the violated rule.
    #[schemars(default)]
    rule: Option<Rule>,
    /// For `output-too-large` under `dtype: any`: the product of the non-zero dims.
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
