//! Strict deserialization: objects only (serde would also accept arrays), no repeated keys, and null only where the protocol
//! allows it.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};

/// Reads a struct from a JSON object only. Serde would also accept an array of field values.
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

/// Reads a map without repeated keys, whose values are objects.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    let entries: BTreeMap<String, Object<T>> = unique(deserializer)?;
    Ok(entries.into_iter().map(|(key, Object(value))| (key, value)).collect())
}

/// Reads a map without repeated keys, whose values are objects, and keeps the order of the keys.
pub(crate) fn in_order<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<(String, T)>, D::Error> {
    struct OrderedEntries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OrderedEntries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut read: Self::Value = Vec::new();
            while let Some(key) = entries.next_key::<String>()? {
                if read.iter().any(|(known, _)| *known == key) {
                    return Err(de::Error::custom(format!("`{key}` occurs twice")));
                }
                if read.len() == MOST_OPERANDS {
                    return Err(de::Error::custom(format!("a call has at most {MOST_OPERANDS} operands")));
                }
                let Object(value) = entries.next_value()?;
                read.push((key, value));
            }
            Ok(read)
        }
    }

    deserializer.deserialize_map(OrderedEntries(PhantomData))
}

/// The most operands of a call: far more than any operator has.
const MOST_OPERANDS: usize = 64;

/// Reads a map without repeated keys. Serde would keep the last value of each.
pub(crate) fn unique<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, T>, D::Error> {
    struct UniqueEntries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for UniqueEntries<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(key) = entries.next_key::<String>()? {
                let value = entries.next_value()?;
                if map.contains_key(&key) {
                    return Err(de::Error::custom(format!("`{key}` occurs twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(UniqueEntries(PhantomData))
}

/// A value that may only be read from an object.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer).map(Self)
    }
}

/// Reads the value of an optional key. Serde would also accept null.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    struct Present<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Present<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value")
        }

        fn visit_none<E: de::Error>(self) -> Result<T, E> {
            Err(E::custom("null stands where a value is expected: leave the key out"))
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
            T::deserialize(deserializer)
        }
    }

    deserializer.deserialize_option(Present(PhantomData)).map(Some)
}

/// Reads a line that holds exactly one object.
pub(crate) fn from_object<'de, T: Deserialize<'de>>(line: &'de [u8]) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let message = object(&mut deserializer)?;
    deserializer.end()?;
    Ok(message)
}

/// An error in the terms of JSON, without the column. Serde names Rust types, which mean nothing to the author of a backend
/// in another language.
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
    // The part before the last `expected` may quote the line, so only the part after it is from serde.
    let Some((found, expected)) = text.rsplit_once(", expected ") else { return text };
    match WORDS.into_iter().find(|(rust, _)| *rust == expected) {
        Some((_, json)) => format!("{found}, expected {json}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallMessage, ErrorReply, InvalidReply, OutputReply, TimedReply};

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

    #[test]
    fn null_is_no_value_of_a_key_that_may_be_absent() {
        let absent = r#"{"seq":1,"nanoseconds":[]}"#;
        assert!(from_object::<TimedReply>(absent.as_bytes()).is_ok());
        let null = r#"{"seq":1,"nanoseconds":[],"threads":null}"#;
        assert_eq!(wrong::<TimedReply>(null), "null stands where a value is expected: leave the key out");
        for key in ["code", "position", "component", "index", "bound", "bytes", "rule"] {
            let error = format!(r#"{{"seq":1,"error":{{"message":"no","{key}":null}}}}"#);
            assert!(wrong::<ErrorReply>(&error).contains("leave the key out"), "{key}");
        }
        for key in ["data", "file", "offset"] {
            let output = format!(r#"{{"seq":1,"output":{{"dtype":"u8","shape":[0],"{key}":null}}}}"#);
            assert!(wrong::<OutputReply>(&output).contains("leave the key out"), "{key}");
        }
    }

    #[test]
    fn the_number_of_a_broken_message_may_be_null_but_not_absent() {
        let null = from_object::<InvalidReply>(br#"{"seq":null,"invalid":"what"}"#).unwrap();
        assert_eq!(null.seq, None);
        assert_eq!(wrong::<InvalidReply>(r#"{"invalid":"what"}"#), "missing field `seq`");
    }

    #[test]
    fn an_attribute_is_given_once() {
        let call = |attributes: &str| {
            format!(
                r#"{{"cmd":"call","seq":1,"operator":"o","operands":{{"params":{{"dtype":"u8","shape":[0],"data":""}},"indices":{{"dtype":"u8","shape":[0],"data":""}}}},"attributes":{attributes}}}"#
            )
        };
        let both = call(r#"{"axis":1,"batch_dims":1}"#);
        assert_eq!(from_object::<CallMessage>(both.as_bytes()).unwrap().attributes.len(), 2);
        assert_eq!(wrong::<CallMessage>(&call(r#"{"axis":1,"axis":1}"#)), "`axis` occurs twice");
        assert_eq!(wrong::<CallMessage>(&call(r#"{"axis":1,"a\u0078is":2}"#)), "`axis` occurs twice");
    }
}
