//! Names that the JSON Schema of a report lists: dtypes, codes and policies, whose types `gather_spec` has.

use std::borrow::Cow;

use gather_spec::{BadIndex, DType, ErrorCode, NegativeIndex};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Describes a type of `gather_spec` whose JSON form is one of a list of names.
macro_rules! one_of {
    ($type:ident, $what:literal, $names:expr) => {
        #[doc = $what]
        pub(crate) struct $type;

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": $names, "description": $what })
            }
        }
    };
}

one_of!(Dtype, "The name of a dtype.", DType::ALL.map(DType::name));
one_of!(Code, "The code of an error.", ErrorCode::ALL.map(ErrorCode::name));
one_of!(Bad, "What an index outside its axis gives.", declared());
one_of!(Negative, "What a negative index means.", NegativeIndex::ALL.map(NegativeIndex::name));

/// The policies that a backend may declare.
fn declared() -> Vec<&'static str> {
    let declared = BadIndex::ALL.into_iter().filter(|policy| policy.declared().is_ok());
    declared.map(BadIndex::name).collect()
}

/// The policies of a backend for an operator.
#[derive(JsonSchema)]
#[schemars(rename = "Policies", deny_unknown_fields)]
#[allow(dead_code, reason = "it is there to be described")]
pub(crate) struct PolicyNames {
    /// What an index outside its axis gives.
    bad: Bad,
    /// What a negative index means.
    negative: Negative,
}
