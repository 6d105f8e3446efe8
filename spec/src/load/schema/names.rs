//! Texts of which the schema lists every one.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{BadIndex, DType, DimensionRule, ErrorCode, NegativeIndex};

/// A text that is one of a set of names.
macro_rules! one_of {
    ($ty:ident, $title:literal, $names:expr) => {
        pub(super) struct $ty;

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
one_of!(EmptyAxisName, "EmptyAxis", ["zero", "error", "either"].map(str::to_owned));
