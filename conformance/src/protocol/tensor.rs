//! Tensors on the line: base64 in the message, or a raw file beside it.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gather_spec::{ByteString, DType, Element, Outcome, Shape, Tensor, TensorBuilder};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::MAX_RANK;

/// A tensor on the line: its data as base64, or the name of a raw file and an offset into it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMessage {
    /// The dtype.
    pub dtype: DType,
    /// The dims.
    pub shape: Vec<usize>,
    /// The elements, unless they lie in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Data>,
    /// A raw file of little-endian, row-major elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Where in the file the first element lies, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// Elements on the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Data {
    /// Base64 of little-endian, row-major elements.
    Bytes(String),
    /// One base64 text per string.
    Strings(Vec<String>),
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;

        impl<'de> Visitor<'de> for Texts {
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

        deserializer.deserialize_any(Texts)
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

    /// The output that the message holds, which may be one without elements that no [`Tensor`] can be.
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
            _ => self.tensor().map(Outcome::Output),
        }
    }

    /// The tensor that the message holds or names.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn tensor(&self) -> Result<Tensor, String> {
        let shape = checked_shape(&self.shape)?;
        match (&self.data, &self.file, self.offset) {
            (Some(Data::Bytes(_)), None, None) if self.dtype == DType::String => {
                Err("the data of strings is an array of base64 texts".to_owned())
            }
            (Some(Data::Bytes(text)), None, None) => {
                Tensor::from_le_bytes(self.dtype, shape, &decode(text)?).map_err(|error| error.to_string())
            }
            (Some(Data::Strings(texts)), None, None) => strings(self.dtype, shape, texts),
            (None, Some(file), Some(offset)) => from_file(self.dtype, shape, file, offset),
            _ => Err("a tensor has `data`, or `file` and `offset`".to_owned()),
        }
    }
}

fn strings(dtype: DType, shape: Shape, texts: &[String]) -> Result<Tensor, String> {
    if dtype != DType::String {
        return Err(format!("the data of {dtype} is one base64 text, not an array"));
    }
    if texts.len() != shape.element_count() {
        let (expected, found) = (shape.element_count(), texts.len());
        return Err(format!("the shape {shape} has {expected} strings, but {found} are given"));
    }
    let mut tensor = TensorBuilder::new(DType::String, shape).map_err(|error| error.to_string())?;
    for text in texts {
        tensor.push(Element::Bytes(ByteString::from(decode(text)?)));
    }
    tensor.finish().map_err(|error| error.to_string())
}

fn from_file(dtype: DType, shape: Shape, file: &str, offset: u64) -> Result<Tensor, String> {
    if dtype == DType::String {
        return Err("strings do not lie in a file".to_owned());
    }
    if !offset.is_multiple_of(dtype.size() as u64) {
        return Err(format!("the offset {offset} is no multiple of the {} bytes of a {dtype}", dtype.size()));
    }
    let wrong = |error: std::io::Error| format!("{file}: {error}");
    let mut opened = File::open(Path::new(file)).map_err(wrong)?;
    let size = shape.element_count() as u128 * dtype.size() as u128;
    let available = opened.metadata().map_err(wrong)?.len();
    if u128::from(offset) + size > available.into() {
        return Err(format!("{file} has {available} bytes, but {size} from offset {offset} are asked for"));
    }
    let size = usize::try_from(size).map_err(|_| format!("{size} bytes are too many for this machine"))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| format!("{size} bytes could not be reserved"))?;
    opened.seek(SeekFrom::Start(offset)).map_err(wrong)?;
    opened.take(size as u64).read_to_end(&mut bytes).map_err(wrong)?;
    Tensor::from_le_bytes(dtype, shape, &bytes).map_err(|error| error.to_string())
}

fn checked_shape(dims: &[usize]) -> Result<Shape, String> {
    if dims.len() > MAX_RANK {
        return Err(format!("the rank is {}, at most {MAX_RANK} is allowed", dims.len()));
    }
    Shape::new(dims).map_err(|error| error.to_string())
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| format!("the data is not base64 with padding: {error}"))
}
