//! The messages of the backend protocol, version 1: one JSON object per line.
//!
//! Harness and backend both read and write through these types, which refuse unknown keys.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::marker::PhantomData;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{
    Attributes, ByteString, Call, DType, Element, ErrorCode, ErrorFields, Operator, Outcome, ReportedError,
    Shape, Tensor, TensorBuilder,
};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::backend::{Capability, Identity};

/// The version of the protocol that this program speaks.
pub const PROTOCOL: u64 = 1;

/// The most dims that a tensor on the line has.
pub const MAX_RANK: usize = 64;

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// The first message.
    Start,
    /// A call to answer.
    Call,
    /// A call to time.
    Time,
    /// The last message; the end of input means the same.
    Stop,
}

/// What a harness sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// The first message.
    Start(StartMessage),
    /// A call to answer.
    Call(CallMessage),
    /// A call to time.
    Time(TimeMessage),
    /// The last message.
    Stop(StopMessage),
}

/// `{"cmd":"start","protocol":1}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct StartMessage {
    pub cmd: Command,
    pub protocol: u64,
}

/// `{"cmd":"stop"}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct StopMessage {
    pub cmd: Command,
}

/// A call on the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallMessage {
    /// `call`
    pub cmd: Command,
    /// Comes back with the reply.
    pub seq: u64,
    /// The operator.
    pub operator: Operator,
    /// The tensor to gather from.
    #[serde(deserialize_with = "object")]
    pub params: TensorMessage,
    /// The indices.
    #[serde(deserialize_with = "object")]
    pub indices: TensorMessage,
    /// Attributes by name.
    pub attributes: Attributes,
}

/// A call to time, on the line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeMessage {
    /// `time`
    pub cmd: Command,
    /// Comes back with the reply.
    pub seq: u64,
    /// The operator.
    pub operator: Operator,
    /// The tensor to gather from.
    #[serde(deserialize_with = "object")]
    pub params: TensorMessage,
    /// The indices.
    #[serde(deserialize_with = "object")]
    pub indices: TensorMessage,
    /// Attributes by name.
    pub attributes: Attributes,
    /// How many durations to give.
    pub rounds: u32,
    /// The least duration of a round, in nanoseconds; a round repeats the call to reach it.
    pub min_round_ns: u64,
    /// The threads to use; absent: the backend's own choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Where the output goes.
    #[serde(default)]
    pub output: OutputMemory,
}

impl Request {
    /// The request on a line.
    ///
    /// # Errors
    /// What to answer to a line that is no request: its `seq`, if that can be made out, and what is wrong where.
    pub fn parse(line: &[u8]) -> Result<Self, InvalidReply> {
        #[derive(Deserialize)]
        struct Seq {
            seq: u64,
        }
        #[derive(Deserialize)]
        struct Cmd {
            cmd: Command,
        }
        fn read<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, InvalidReply> {
            from_object(line).map_err(|error| {
                let seq = from_object::<Seq>(line).ok().map(|message| message.seq);
                InvalidReply { seq, invalid: error.to_string() }
            })
        }
        match read::<Cmd>(line)?.cmd {
            Command::Start => read(line).map(Self::Start),
            Command::Call => read(line).map(Self::Call),
            Command::Time => read(line).map(Self::Time),
            Command::Stop => read(line).map(Self::Stop),
        }
    }
}

/// Where the output of a timed call goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputMemory {
    /// New memory for each call.
    #[default]
    Fresh,
    /// Memory from a pool of the backend's.
    Pooled,
    /// Memory of the caller's, used again.
    Into,
}

/// The answer to `start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The version that the backend speaks.
    pub protocol: u64,
    /// Who it is.
    #[serde(deserialize_with = "object")]
    pub backend: Identity,
    /// What it can do.
    #[serde(deserialize_with = "objects")]
    pub operators: BTreeMap<String, Capability>,
}

/// The answer to a call, a timing, or a broken message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The gathered tensor.
    Output(OutputReply),
    /// The call is refused.
    Error(ErrorReply),
    /// The backend does not do such calls.
    Unsupported(UnsupportedReply),
    /// Durations.
    Timed(TimedReply),
    /// The message was broken.
    Invalid(InvalidReply),
}

/// `{"seq":1,"output":T}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct OutputReply {
    pub seq: u64,
    #[serde(deserialize_with = "object")]
    pub output: TensorMessage,
}

/// `{"seq":1,"error":{…}}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct ErrorReply {
    pub seq: u64,
    #[serde(deserialize_with = "object")]
    pub error: ErrorMessage,
}

/// `{"seq":1,"unsupported":"why"}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct UnsupportedReply {
    pub seq: u64,
    pub unsupported: String,
}

/// `{"seq":1,"nanoseconds":[…],"threads":2}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct TimedReply {
    pub seq: u64,
    pub nanoseconds: Vec<f64>,
    pub threads: usize,
}

/// `{"seq":null,"invalid":"what, where"}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct InvalidReply {
    pub seq: Option<u64>,
    pub invalid: String,
}

/// An error on the line: the fields stand beside the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see `gather_spec::ErrorFields`")]
pub struct ErrorMessage {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Vec<usize>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<i128>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u128>,
}

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

/// Reads a map whose values are objects, and whose keys occur once.
fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
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
    fn empty(dtype: DType, shape: Vec<usize>) -> Self {
        let data =
            if dtype == DType::String { Data::Strings(Vec::new()) } else { Data::Bytes(String::new()) };
        Self { dtype, shape, data: Some(data), file: None, offset: None }
    }

    /// The output that the message holds, which may be one without elements that no [`Tensor`] can be.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn outcome(self) -> Result<Outcome, String> {
        let empty = match &self.data {
            Some(Data::Bytes(text)) => self.dtype != DType::String && text.is_empty(),
            Some(Data::Strings(texts)) => self.dtype == DType::String && texts.is_empty(),
            None => false,
        };
        let named = self.file.is_some() || self.offset.is_some();
        let too_large = nonzero_bytes(&self.shape, self.dtype) > MAX_BYTES;
        if empty && !named && too_large && self.shape.contains(&0) && self.shape.len() <= MAX_RANK {
            return Ok(Outcome::TooLarge { dtype: self.dtype, shape: self.shape });
        }
        self.tensor().map(Outcome::Output)
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

impl CallMessage {
    /// The message for a call.
    #[must_use]
    pub fn new(seq: u64, call: &Call) -> Self {
        Self {
            cmd: Command::Call,
            seq,
            operator: call.operator.clone(),
            params: TensorMessage::new(&call.params),
            indices: TensorMessage::new(&call.indices),
            attributes: call.attributes.clone(),
        }
    }
}

/// The call of a message's parts.
///
/// # Errors
/// What is wrong with them, and in which operand.
pub fn call(
    operator: &Operator,
    params: &TensorMessage,
    indices: &TensorMessage,
    attributes: &Attributes,
) -> Result<Call, String> {
    Ok(Call {
        operator: operator.clone(),
        params: params.tensor().map_err(|wrong| format!("params: {wrong}"))?,
        indices: indices.tensor().map_err(|wrong| format!("indices: {wrong}"))?,
        attributes: attributes.clone(),
    })
}

impl Reply {
    /// The reply for an outcome.
    #[must_use]
    pub fn new(seq: u64, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Output(output) => Self::Output(OutputReply { seq, output: TensorMessage::new(output) }),
            Outcome::TooLarge { dtype, shape } => {
                Self::Output(OutputReply { seq, output: TensorMessage::empty(*dtype, shape.clone()) })
            }
            Outcome::Error(error) => Self::Error(ErrorReply { seq, error: ErrorMessage::new(error) }),
            Outcome::Unsupported(why) => {
                Self::Unsupported(UnsupportedReply { seq, unsupported: why.clone() })
            }
        }
    }
}

impl ErrorMessage {
    fn new(error: &ReportedError) -> Self {
        let ReportedError { message, code, fields } = error.clone();
        let ErrorFields { position, component, index, bound, bytes } = fields;
        Self { message, code, position, component, index, bound, bytes }
    }

    /// The error that the message reports.
    #[must_use]
    pub fn into_error(self) -> ReportedError {
        let Self { message, code, position, component, index, bound, bytes } = self;
        ReportedError { message, code, fields: ErrorFields { position, component, index, bound, bytes } }
    }
}
