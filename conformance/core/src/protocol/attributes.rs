//! Attributes in messages: JSON values, and an element as a tensor of rank 0.

use std::collections::BTreeMap;
use std::fmt;

use gather_spec::{Attribute, Attributes};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::TensorMessage;
use crate::strict::unique;

/// Writes attributes by name.
pub(super) fn serialize<S: Serializer>(attributes: &Attributes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(attributes.iter().map(|(name, value)| (name, WrittenAttribute(value))))
}

/// Reads attributes. Rejects repeated names.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Attributes, D::Error> {
    let read: BTreeMap<String, ReadAttribute> = unique(deserializer)?;
    Ok(read.into_iter().map(|(name, ReadAttribute(value))| (name, value)).collect())
}

struct WrittenAttribute<'a>(&'a Attribute);

impl Serialize for WrittenAttribute<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Attribute::Element(element) => TensorMessage::new(element).serialize(serializer),
            value => value.serialize(serializer),
        }
    }
}

struct ReadAttribute(Attribute);

impl<'de> Deserialize<'de> for ReadAttribute {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AttributeVisitor).map(Self)
    }
}

struct AttributeVisitor;

impl<'de> Visitor<'de> for AttributeVisitor {
    type Value = Attribute;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string, a list of integers or an element")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Attribute, E> {
        Ok(Attribute::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Attribute, E> {
        Attribute::deserialize(value.into_deserializer())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Attribute, E> {
        Attribute::deserialize(value.into_deserializer())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Attribute, E> {
        Attribute::deserialize(value.into_deserializer())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Attribute, E> {
        Attribute::deserialize(value.into_deserializer())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Attribute, E> {
        Attribute::deserialize(value.into_deserializer())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Attribute, A::Error> {
        Attribute::deserialize(SeqAccessDeserializer::new(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Attribute, A::Error> {
        let message = TensorMessage::deserialize(MapAccessDeserializer::new(keys))?;
        if !message.shape.is_empty() || message.file.is_some() || message.offset.is_some() {
            return Err(de::Error::custom("an element has the shape [], and its data in the message"));
        }
        message.tensor().map(Box::new).map(Attribute::Element).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{DType, Tensor};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Message(#[serde(with = "super")] Attributes);

    fn of(value: Attribute) -> Message {
        Message([("fill_value".to_owned(), value)].into())
    }

    #[test]
    fn every_kind_of_value_comes_back_with_all_of_its_bits() {
        let nan = Tensor::new(DType::F32, [], vec![0x7FC1_2345_u32]).unwrap();
        let complex = Tensor::new(DType::C128, [], vec![1_u128 << 127]).unwrap();
        let values = [
            Attribute::Null,
            Attribute::Boolean(true),
            Attribute::Integer(i64::MIN),
            Attribute::String("fill".to_owned()),
            Attribute::Integers(vec![1, -1]),
            Attribute::Element(Box::new(nan)),
            Attribute::Element(Box::new(complex)),
        ];
        for value in values {
            let message = of(value);
            let line = serde_json::to_string(&message).unwrap();
            assert_eq!(serde_json::from_str::<Message>(&line).unwrap(), message, "{line}");
        }
    }

    #[test]
    fn an_element_is_a_tensor_without_axes_whose_data_is_in_the_message() {
        let one = Tensor::new(DType::U8, [], vec![7_u8]).unwrap();
        let line = serde_json::to_string(&of(Attribute::Element(Box::new(one)))).unwrap();
        assert_eq!(line, r#"{"fill_value":{"dtype":"u8","shape":[],"data":"Bw=="}}"#);
        for wrong in [
            r#"{"fill_value":{"dtype":"u8","shape":[1],"data":"Bw=="}}"#,
            r#"{"fill_value":{"dtype":"u8","shape":[],"data":"Bwc="}}"#,
            r#"{"fill_value":{"dtype":"u8","shape":[],"file":"f","offset":0}}"#,
            r#"{"fill_value":{"dtype":"u8","shape":[],"data":"Bw==","more":1}}"#,
            r#"{"fill_value":{"element":7}}"#,
        ] {
            assert!(serde_json::from_str::<Message>(wrong).is_err(), "{wrong}");
        }
    }
}
