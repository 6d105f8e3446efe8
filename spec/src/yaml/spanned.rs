//! A value and its position in the file.

use serde::{Deserialize, Deserializer};
use serde_yaml::Location;

/// A value with the position of the node that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    /// Where the node is defined, if the file refers to it by an alias.
    pub(crate) defined: Location,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let serde_yaml::Spanned { value, defined, .. } = Deserialize::deserialize(deserializer)?;
        Ok(Self { value, defined })
    }
}

/// The schema of the value. The parser's own type, which is none of this crate, can have no schema.
#[cfg(test)]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<T>()
    }
}
