//! How a call is made, beside what it asks.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::named;

/// The axis of a variant that says how shapes are known.
pub const SHAPES: &str = "shapes";
/// The axis of a variant that says how the function runs.
pub const EXECUTION: &str = "execution";
/// In a declaration, every operand.
pub const OPERANDS: &str = "operands";

/// The most axes of a variant that is read: more than any operator has operands.
const MOST_AXES: usize = 16;
/// The longest name of an axis.
const LONGEST: usize = 64;

named! {
    /// A way to make a part of a call: to pass an operand, to tell shapes, to run the function.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Way: "variant" {
        /// The operand is known when the function is compiled, or is no argument of it at all.
        Constant = "constant",
        /// The operand is laid out column-major: a transposed view.
        Transposed = "transposed",
        /// The operand is a window in a larger buffer, with other elements in front, between its rows and behind.
        Offset = "offset",
        /// Every axis of the operand runs backwards.
        Reversed = "reversed",
        /// The operand has stride 0 along every axis whose slices are all equal.
        Expanded = "stride-0",
        /// The operand is a view of an earlier one: the whole, some of its slices along the first axis, or one of them.
        View = "view",
        /// The operand may not be written to.
        ReadOnly = "read-only",
        /// The function is made for dims that are not known.
        Symbolic = "symbolic",
        /// The function is compiled before it runs.
        Compiled = "compiled",
    }
}

impl Way {
    /// Whether an axis can have this value.
    fn is_of(self, axis: &str) -> bool {
        match self {
            Self::Symbolic => axis == SHAPES,
            Self::Compiled => axis == EXECUTION,
            _ => axis != SHAPES && axis != EXECUTION,
        }
    }

    /// Whether it says where the elements of an operand lie, and not when they are known.
    #[must_use]
    pub const fn is_layout(self) -> bool {
        !matches!(self, Self::Constant | Self::Symbolic | Self::Compiled)
    }
}

/// How a call is made, beside what it asks: `execution=compiled,indices=constant`. The answer must not depend on it. An axis is the
/// name of an operand, [`SHAPES`] or [`EXECUTION`]; one that is absent has its usual value: an operand is an argument in
/// row-major order, shapes are those of the operands, and the function runs as it is called.
///
/// ```
/// use gather_spec::call::{Variant, Way};
/// let variant: Variant = "indices=constant,execution=compiled".parse()?;
/// assert_eq!(variant.of("indices"), Some(Way::Constant));
/// assert_eq!(variant.to_string(), "execution=compiled,indices=constant");
/// assert!("shapes=transposed".parse::<Variant>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variant(BTreeMap<Arc<str>, Way>);

impl Variant {
    /// The value of an axis; `None` for the usual one.
    #[must_use]
    pub fn of(&self, axis: &str) -> Option<Way> {
        self.0.get(axis).copied()
    }

    /// Whether everything is as usual.
    #[must_use]
    pub fn is_usual(&self) -> bool {
        self.0.is_empty()
    }

    /// The axes that are not as usual, with their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, Way)> {
        self.0.iter().map(|(axis, way)| (axis, *way))
    }

    /// Sets an axis.
    ///
    /// # Errors
    /// What is wrong with the axis or its value.
    pub fn set(&mut self, axis: impl Into<Arc<str>>, way: Way) -> Result<(), String> {
        let axis = axis.into();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if axis.is_empty() || axis.len() > LONGEST || !axis.chars().all(is_name) {
            return Err("an axis of a variant is the name of an operand, `shapes` or `execution`".to_owned());
        }
        if !way.is_of(&axis) {
            let values: Vec<&str> =
                Way::ALL.iter().filter(|way| way.is_of(&axis)).map(|way| way.name()).collect();
            return Err(format!("`{axis}` cannot be `{way}`: one of {} is expected", values.join(" ")));
        }
        self.0.insert(axis, way);
        Ok(())
    }

    /// The same with one axis as usual.
    #[must_use]
    pub fn without(&self, axis: &str) -> Self {
        self.filtered(|one, _| one != axis)
    }

    /// The same with every operand in row-major order.
    #[must_use]
    pub fn without_layouts(&self) -> Self {
        self.filtered(|_, way| !way.is_layout())
    }

    /// The layouts of operands alone.
    #[must_use]
    pub fn layouts(&self) -> Self {
        self.filtered(|_, way| way.is_layout())
    }

    fn filtered(&self, keeps: impl Fn(&str, Way) -> bool) -> Self {
        let kept = self.iter().filter(|(axis, way)| keeps(axis, *way));
        Self(kept.map(|(axis, way)| (Arc::clone(axis), way)).collect())
    }

    /// Whether it has all that another one has.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        other.iter().all(|(axis, way)| self.of(axis) == Some(way))
    }

    /// The same with other names of its axes.
    #[must_use]
    pub fn renamed(&self, name: impl Fn(&str) -> Option<Arc<str>>) -> Self {
        Self(self.iter().map(|(axis, way)| (name(axis).unwrap_or_else(|| Arc::clone(axis)), way)).collect())
    }

    /// The id of a run that is made in this way: `CASE[f32]` becomes `CASE[f32,indices=constant]`.
    #[must_use]
    pub fn in_id(&self, id: &str) -> String {
        match (self.is_usual(), id.strip_suffix(']')) {
            (true, _) => id.to_owned(),
            (false, Some(open)) => format!("{open},{self}]"),
            (false, None) => format!("{id}[{self}]"),
        }
    }

    /// The id of a run, or a pattern with brackets, without what it says of a variant; and that. A text that says nothing of one
    /// stays as it is.
    #[must_use]
    pub fn split_id(id: &str) -> (String, Self) {
        let as_it_is = || (id.to_owned(), Self::default());
        let Some((name, place)) = id.strip_suffix(']').and_then(|id| id.split_once('[')) else {
            return as_it_is();
        };
        let mut variant = Self::default();
        let mut is_other =
            |word: &&str| match word.trim().split_once('=').map(|(axis, way)| (axis, way.parse())) {
                Some((axis, Ok(way))) => variant.set(axis, way).is_err(),
                _ => true,
            };
        let others: Vec<&str> = place.split(',').filter(&mut is_other).collect();
        match (variant.is_usual(), others.is_empty()) {
            (true, _) => as_it_is(),
            (false, true) => (name.to_owned(), variant),
            (false, false) => (format!("{name}[{}]", others.join(",")), variant),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (axis, way)) in self.iter().enumerate() {
            write!(f, "{}{axis}={way}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut variant = Self::default();
        for (at, part) in text.split(',').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
            let Some((axis, way)) = part.split_once('=').filter(|_| at < MOST_AXES) else {
                return Err("a variant is a list such as indices=constant,execution=compiled".to_owned());
            };
            if variant.of(axis).is_some() {
                return Err(format!("`{axis}` occurs twice"));
            }
            variant.set(axis, way.parse()?)?;
        }
        Ok(variant)
    }
}

impl Serialize for Variant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_place_beside_a_variant() {
        let variant: Variant = "indices=constant".parse().unwrap();
        for (id, with) in
            [("o/t/a", "o/t/a[indices=constant]"), ("o/t/a[f32,n=3]", "o/t/a[f32,n=3,indices=constant]")]
        {
            assert_eq!(variant.in_id(id), with);
            assert_eq!(Variant::split_id(with), (id.to_owned(), variant.clone()));
            assert_eq!(Variant::split_id(id), (id.to_owned(), Variant::default()));
        }
        // What is no axis with a value stays a part of the id.
        for id in ["o/t/a[indices=red]", "o/t/a[shapes=constant]", "o/t/a[]", "o/*[ab]*", "o/t/a[n=3"] {
            assert_eq!(Variant::split_id(id), (id.to_owned(), Variant::default()));
        }
    }

    #[test]
    fn what_is_wrong_with_a_variant_is_said() {
        for (text, wrong) in [
            ("constant", "a variant is a list such as indices=constant,execution=compiled"),
            ("indices=constnat", "unknown variant `constnat`"),
            ("execution=constant", "`execution` cannot be `constant`: one of compiled is expected"),
            (
                "a=compiled",
                "`a` cannot be `compiled`: one of constant transposed offset reversed stride-0 view read-only is",
            ),
            ("a=offset,a=offset", "`a` occurs twice"),
            ("=offset", "an axis of a variant is the name of an operand"),
        ] {
            let said = text.parse::<Variant>().unwrap_err();
            assert!(said.starts_with(wrong), "{text}: {said}");
        }
        assert!("".parse::<Variant>().unwrap().is_usual());
    }
}
