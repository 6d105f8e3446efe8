//! What is wrong with a value: first in serde's words, then, once the node is known, in those of the author of the file.

use std::fmt;

use serde::de::{self, Unexpected};
use serde_yaml::Location;

use super::text::Text;
use crate::diagnostic::{Diagnostic, Quoted, nearest};

/// What is wrong with a value.
#[derive(Debug)]
pub(super) enum Fault {
    UnknownKey { key: String, expected: &'static [&'static str] },
    Missing(&'static str),
    UnknownWord { word: String, expected: &'static [&'static str] },
    Wanted(String),
    Tagged,
    Other(String),
    Explained(Box<Diagnostic>),
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Wanted(kind(&expected.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::Wanted(kind(&expected.to_string()))
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownWord { word: word.to_owned(), expected }
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownKey { key: key.to_owned(), expected }
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }
}

/// Serde asks for it. What the author of a file reads is the [explanation](super::Site::explain).
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Fault {}

/// A key that a mapping cannot have.
pub(super) fn unknown_key(text: Text<'_>, location: Location, key: &str, expected: &[&str]) -> Diagnostic {
    let keys = format!("the keys here: {}", expected.join(" "));
    let help = nearest(key, expected.iter().copied())
        .map_or_else(|| keys.clone(), |meant| format!("did you mean `{meant}`? {keys}"));
    text.wrong(location, format!("unknown key {}", Quoted(key))).help(help)
}

/// What serde or the parser expected, in the words of the format.
pub(super) fn kind(expected: &str) -> String {
    match expected {
        "mapping start" => "a mapping",
        "sequence start" => "a sequence",
        "string scalar" => "a single value",
        "a string" => "text",
        "u32" | "u64" | "u128" | "usize" => "a whole number that is not negative",
        "i64" | "i128" => "a whole number",
        "floating point" => "a number",
        "boolean" | "a boolean" => "true or false",
        _ if expected.starts_with("struct ") => "a mapping",
        _ => expected,
    }
    .to_owned()
}
