//! Reads messages strictly: objects only, where serde would also take arrays, and every key once.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// Reads a struct from a JSON object only: serde would also take an array of the fields' values.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Keys<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(keys))
        }
    }

    deserializer.deserialize_any(Keys(PhantomData))
}

/// Reads a member that may be absent but not null.
pub(super) fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let value = Option::deserialize(deserializer)?;
    let null = || de::Error::custom("a member is null: leave it out where there is no value");
    value.map(Some).ok_or_else(null)
}

/// Reads a map whose values are objects, and whose keys occur once.
pub(super) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = entries.next_key::<String>()? {
                let Object(value) = entries.next_value()?;
                if map.contains_key(&key) {
                    return Err(de::Error::custom(format!("`{key}` occurs twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}

/// A value that is read from an object only.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer).map(Self)
    }
}

/// Reads one line that holds one object and nothing else.
pub(crate) fn from_object<'de, T: Deserialize<'de>>(line: &'de [u8]) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let message = object(&mut deserializer)?;
    deserializer.end()?;
    Ok(message)
}

/// What is wrong with a line, without the column, in JSON's words: serde names the types of Rust, which mean nothing
/// to the author of a backend in another language.
pub(crate) fn in_json_words(error: &serde_json::Error) -> String {
    const WORDS: [(&str, &str); 6] = [
        ("usize", "an integer from 0 to 2^63 - 1"),
        ("u32", "an integer from 0 to 2^32 - 1"),
        ("u64", "an integer from 0 to 2^64 - 1"),
        ("f64", "a number"),
        ("a sequence", "an array"),
        ("a map", "an object"),
    ];
    let text = error.to_string();
    let text = text.replace(&format!(" at line {} column {}", error.line(), error.column()), "");
    let text = text.replacen("invalid type: sequence,", "invalid type: array,", 1);
    let text = text.replacen("invalid type: map,", "invalid type: object,", 1);
    // What was found may quote the line, so only what follows the last `expected` is serde's own.
    let Some((found, expected)) = text.rsplit_once(", expected ") else { return text };
    match WORDS.into_iter().find(|(rust, _)| *rust == expected) {
        Some((_, json)) => format!("{found}, expected {json}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallMessage, OutputReply, TimedReply};

    fn wrong<T: for<'de> Deserialize<'de>>(line: &str) -> String {
        in_json_words(&from_object::<T>(line.as_bytes()).err().unwrap())
    }

    #[test]
    fn what_was_expected_is_said_in_the_words_of_json() {
        let dim = r#"{"seq":1,"output":{"dtype":"u8","shape":["2"],"data":""}}"#;
        assert_eq!(
            wrong::<OutputReply>(dim),
            "invalid type: string \"2\", expected an integer from 0 to 2^63 - 1"
        );
        let shape = dim.replace("[\"2\"]", "2");
        assert_eq!(wrong::<OutputReply>(&shape), "invalid type: integer `2`, expected an array");
        let seq = dim.replace("\"seq\":1", "\"seq\":-1");
        assert_eq!(
            wrong::<OutputReply>(&seq),
            "invalid value: integer `-1`, expected an integer from 0 to 2^64 - 1"
        );
        let timed = r#"{"seq":1,"threads":1,"nanoseconds":["fast"]}"#;
        assert_eq!(wrong::<TimedReply>(timed), "invalid type: string \"fast\", expected a number");
        let call = r#"{"cmd":"call","seq":1,"operator":"o","attributes":[]}"#;
        assert_eq!(wrong::<CallMessage>(call), "invalid type: array, expected an object");
    }

    #[test]
    fn what_was_found_is_quoted_unchanged() {
        let line = r#"{"seq":", expected u64"}"#;
        assert_eq!(
            wrong::<OutputReply>(line),
            "invalid type: string \", expected u64\", expected an integer from 0 to 2^64 - 1"
        );
        assert_eq!(wrong::<OutputReply>(r#"{"seq":1}"#), "missing field `output`");
    }
}
