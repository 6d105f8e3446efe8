//! A value and its position in the file. Serde has no word for a position: a [`Site`](super::Site) hands it to a value that asks
//! for one by name.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_yaml::Location;

/// A value with the position of the node that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    /// Where the node is defined, if the file refers to it by an alias.
    pub(crate) defined: Location,
}

/// The name of a newtype that asks for a position.
pub(super) const SPANNED: &str = "gather_spec::Spanned";

thread_local! {
    static LOCATION: Cell<Option<Location>> = const { Cell::new(None) };
}

/// Hands a position to the value that asks for it next.
pub(super) fn hand_location(location: Location) {
    LOCATION.set(Some(location));
}

/// There is no position or no node: the value is read from something else than a tree.
pub(super) fn nothing_handed<E: Error>() -> E {
    E::custom("positions and nodes are read from a tree only")
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SpannedVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
            type Value = Spanned<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Spanned<T>, D::Error> {
                let defined = LOCATION.take().ok_or_else(nothing_handed)?;
                Ok(Spanned { value: T::deserialize(deserializer)?, defined })
            }
        }

        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}

/// The schema of the value.
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
