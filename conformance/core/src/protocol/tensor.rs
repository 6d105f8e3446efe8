//! Tensors in messages: base64 in the message, or a raw file.

use std::fmt;
use std::fs::File;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gather_spec::shape::MAX_RANK;
use gather_spec::{ByteString, DType, Element, Outcome, Shape, Tensor, TensorBuilder};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::file;
use super::unusable::Unusable;
use crate::strict::present;

/// A tensor in a message: its data as base64, or a raw file and an offset into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMessage {
    /// The dtype.
    pub dtype: DType,
    /// The dims.
    pub shape: Vec<usize>,
    /// The elements, unless they are in a file.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// The name of a raw file with little-endian, row-major elements.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The offset of the first element in the file, in bytes.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// The elements in a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Data {
    /// Base64 of little-endian, row-major elements.
    Bytes(String),
    /// One base64 text per string element.
    Strings(Vec<String>),
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DataVisitor;

        impl<'de> Visitor<'de> for DataVisitor {
            type Value = Data;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a base64 text, or for strings an array of them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Data, E> {
                Ok(Data::Bytes(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Data, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(texts)).map(Data::Strings)
            }
        }

        deserializer.deserialize_any(DataVisitor)
    }
}

impl TensorMessage {
    /// The message for a tensor in any layout.
    #[must_use]
    pub fn new(tensor: &Tensor) -> Self {
        let data = match tensor.to_le_bytes() {
            Some(bytes) => Data::Bytes(STANDARD.encode(bytes)),
            None => {
                let encode = |element: Element| match element {
                    Element::Bytes(bytes) => STANDARD.encode(bytes.as_bytes()),
                    Element::Bits(_) => String::new(),
                };
                Data::Strings(tensor.iter().map(encode).collect())
            }
        };
        Self {
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            data: Some(data),
            file: None,
            offset: None,
        }
    }

    /// The message for a tensor without elements.
    pub(super) fn empty(dtype: DType, shape: Vec<usize>) -> Self {
        let data =
            if dtype == DType::String { Data::Strings(Vec::new()) } else { Data::Bytes(String::new()) };
        Self { dtype, shape, data: Some(data), file: None, offset: None }
    }

    /// The output in the message. One without elements need not be representable as a [`Tensor`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn outcome(&self) -> Result<Outcome, String> {
        let empty = match &self.data {
            Some(Data::Bytes(text)) => self.dtype != DType::String && text.is_empty(),
            Some(Data::Strings(texts)) => self.dtype == DType::String && texts.is_empty(),
            None => false,
        };
        let named = self.file.is_some() || self.offset.is_some();
        match Outcome::too_large(self.dtype, &self.shape) {
            Some(too_large) if empty && !named && self.shape.len() <= MAX_RANK => Ok(too_large),
            _ => self.tensor().map(Outcome::Output).map_err(|why| why.to_string()),
        }
    }

    /// The tensor that the message contains or refers to.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn tensor(&self) -> Result<Tensor, Unusable> {
        let shape = checked_shape(&self.shape)?;
        match (&self.data, &self.file, self.offset) {
            (Some(Data::Bytes(_)), None, None) if self.dtype == DType::String => {
                Err(Unusable::Invalid("the data of strings is an array of base64 texts".to_owned()))
            }
            (Some(Data::Bytes(text)), None, None) => {
                Ok(Tensor::from_le_bytes(self.dtype, shape, &decode(text)?)?)
            }
            (Some(Data::Strings(texts)), None, None) => strings(self.dtype, shape, texts),
            (None, Some(name), Some(offset)) => file::read(self.dtype, shape, name, offset),
            _ => Err(Unusable::Invalid("a tensor has `data`, or `file` and `offset`".to_owned())),
        }
    }

    /// Whether the elements are in a file and take more than `bytes`.
    pub fn is_in_file_above(&self, bytes: usize) -> Result<bool, Unusable> {
        let large =
            checked_shape(&self.shape)?.element_count() as u128 * self.dtype.size() as u128 > bytes as u128;
        Ok(large && self.data.is_none() && self.file.is_some() && self.offset.is_some())
    }

    /// The file with the elements, the offset of the first, and their bytes. The file holds all of them.
    pub fn open(&self) -> Result<(File, u64, usize), Unusable> {
        let (Some(name), Some(offset)) = (&self.file, self.offset) else {
            return Err(Unusable::Invalid("a tensor in a file has `file` and `offset`".to_owned()));
        };
        let (file, size) = file::open(self.dtype, &checked_shape(&self.shape)?, name, offset)?;
        Ok((file, offset, size))
    }
}

fn strings(dtype: DType, shape: Shape, texts: &[String]) -> Result<Tensor, Unusable> {
    if dtype != DType::String {
        return Err(Unusable::Invalid(format!("the data of {dtype} is one base64 text, not an array")));
    }
    if texts.len() != shape.element_count() {
        let (expected, found) = (shape.element_count(), texts.len());
        let wrong = format!("the shape {shape} has {expected} strings, but {found} are given");
        return Err(Unusable::Invalid(wrong));
    }
    let mut tensor = TensorBuilder::new(DType::String, shape)?;
    for text in texts {
        tensor.push(Element::Bytes(ByteString::from(decode(text)?)));
    }
    Ok(tensor.finish()?)
}

fn checked_shape(dims: &[usize]) -> Result<Shape, Unusable> {
    if dims.len() > MAX_RANK {
        let wrong = format!("the rank is {}, at most {MAX_RANK} is allowed", dims.len());
        return Err(Unusable::Invalid(wrong));
    }
    Shape::new(dims).map_err(|error| Unusable::Invalid(error.to_string()))
}

fn decode(text: &str) -> Result<Vec<u8>, Unusable> {
    let decoded = STANDARD.decode(text);
    decoded.map_err(|error| Unusable::Invalid(format!("the data is not base64 with padding: {error}")))
}
