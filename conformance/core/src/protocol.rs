//! The messages of the backend protocol: one JSON object per line. `PROTOCOL.md` explains them to authors of backends.
//!
//! Harness and backend both read and write these types, which reject unknown keys; what serde would accept beyond
//! that, `crate::strict` rejects. `tensor` and `file` handle tensors in messages and in files, and `attributes` handles attributes.

mod attributes;
mod file;
mod tensor;
mod unusable;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use gather_spec::{
    Attributes, Call, ErrorCode, ErrorFields, Operator, Outcome, ReportedError, Variant, error_fields,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use crate::backend::OutputMemory;
use crate::backend::{Capability, Identity};
use crate::strict::{from_object, in_json_words, in_order, object, objects, present};
use crate::words::shown;

pub use gather_spec::shape::MAX_RANK;
pub use tensor::{Data, TensorMessage};
pub use unusable::Unusable;

/// The version of the protocol.
pub const PROTOCOL: u64 = 2;

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// The first message.
    Start,
    /// A call to answer.
    Call,
    /// A call to time.
    Time,
    /// The last message. The end of input has the same meaning.
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

/// `{"cmd":"start","protocol":2}`
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

/// The tensors of a message by name, in the order of the message.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandMessages(pub Vec<(String, TensorMessage)>);

impl Serialize for OperandMessages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, tensor)| (name, tensor)))
    }
}

impl<'de> Deserialize<'de> for OperandMessages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        in_order(deserializer).map(Self)
    }
}

/// A request to answer a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallMessage {
    /// `call`
    pub cmd: Command,
    /// Repeated in the reply.
    pub seq: u64,
    /// The operator.
    pub operator: Operator,
    /// The tensors, by the document's names.
    pub operands: OperandMessages,
    /// Attributes by name.
    #[serde(with = "attributes")]
    pub attributes: Attributes,
    /// How to make the call, if not as usual: `indices=constant,execution=compiled`.
    #[serde(default, skip_serializing_if = "Variant::is_usual")]
    pub variant: Variant,
}

/// A request to time a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeMessage {
    /// `time`
    pub cmd: Command,
    /// Repeated in the reply.
    pub seq: u64,
    /// The operator.
    pub operator: Operator,
    /// The tensors, by the document's names.
    pub operands: OperandMessages,
    /// Attributes by name.
    #[serde(with = "attributes")]
    pub attributes: Attributes,
    /// The number of durations to return.
    pub rounds: u32,
    /// The least duration of a round, in nanoseconds. A round repeats the call until it has lasted that long.
    pub min_round_ns: u64,
    /// The most threads of a call; if absent, as many as the backend uses by default.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZeroUsize>,
    /// Where the output goes.
    #[serde(default)]
    pub output: OutputMemory,
}

impl Request {
    /// Parses a request.
    ///
    /// # Errors
    /// The reply to a line that is no valid request: its `seq`, if that can be read, and what is wrong where.
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
                InvalidReply::new(seq, &format!("{} at column {}", in_json_words(&error), error.column()))
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

/// The answer to `start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    /// The version that the backend speaks.
    pub protocol: u64,
    /// Its identity.
    #[serde(deserialize_with = "object")]
    pub backend: Identity,
    /// Its capabilities by operator.
    #[serde(deserialize_with = "objects")]
    pub operators: BTreeMap<String, Capability>,
}

/// The answer to a call, a timing, or an invalid message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// The gathered tensor.
    Output(OutputReply),
    /// The call is rejected.
    Error(ErrorReply),
    /// The backend does not support the call.
    Unsupported(UnsupportedReply),
    /// Durations.
    Timed(TimedReply),
    /// The message is invalid.
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
    /// The most threads that a call could use; absent if unknown.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZeroUsize>,
}

/// `{"seq":null,"invalid":"what, where"}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the protocol names its fields")]
pub struct InvalidReply {
    /// Null if it cannot be read. Never absent.
    #[serde(deserialize_with = "Option::deserialize")]
    pub seq: Option<u64>,
    pub invalid: String,
    /// Absent if the message is at fault.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// What a library that the backend asked did wrong, so that there is no answer to a valid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// It changed its input.
    InputChanged,
    /// Its answer breaks the contract of its interface.
    BrokenContract,
    /// Its process ended.
    Crash,
    /// It gave no answer within the time that the backend grants.
    Timeout,
}

macro_rules! error_message {
    ($($code:ident { $($(#[doc = $doc:literal])+ $name:ident: $ty:ty as $kind:tt,)+ })+) => {
        /// An error in a message, with its fields next to the code.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(missing_docs, reason = "see `gather_spec::ErrorFields`")]
        pub struct ErrorMessage {
            pub message: String,
            #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
            pub code: Option<ErrorCode>,
            $($(
                #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
                pub $name: Option<$ty>,
            )+)+
        }

        impl ErrorMessage {
            fn new(error: &ReportedError) -> Self {
                let ReportedError { message, code, fields: ErrorFields { $($($name,)+)+ } } = error.clone();
                Self { message, code, $($($name,)+)+ }
            }

            /// The reported error.
            #[must_use]
            pub fn into_error(self) -> ReportedError {
                let Self { message, code, $($($name,)+)+ } = self;
                ReportedError { message, code, fields: ErrorFields { $($($name,)+)+ } }
            }
        }
    };
}

error_fields!(error_message);

impl CallMessage {
    /// The message for a call.
    #[must_use]
    pub fn new(seq: u64, call: &Call) -> Self {
        Self {
            cmd: Command::Call,
            seq,
            operator: call.operator.clone(),
            operands: OperandMessages(
                call.operands
                    .iter()
                    .map(|(name, tensor)| (name.to_owned(), TensorMessage::new(tensor)))
                    .collect(),
            ),
            attributes: call.attributes.clone(),
            variant: call.variant.clone(),
        }
    }
}

/// Builds a call from the parts of a message.
///
/// # Errors
/// What is wrong, and in which operand.
pub fn call(
    operator: &Operator,
    operands: &OperandMessages,
    attributes: &Attributes,
) -> Result<Call, Unusable> {
    let operands = operands.0.iter().map(|(name, message)| {
        let tensor = message.tensor().map_err(|why| why.in_operand(name))?;
        Ok((name.as_str(), tensor))
    });
    let operands = operands.collect::<Result<_, Unusable>>()?;
    Ok(Call::new(operator.clone(), operands, attributes.clone()))
}

impl Reply {
    /// The reply for an outcome. An output with more axes than a message allows gives `unsupported`.
    #[must_use]
    pub fn new(seq: u64, outcome: &Outcome) -> Self {
        let rank = match outcome {
            Outcome::Output(output) => output.rank(),
            Outcome::TooLarge { shape, .. } => shape.len(),
            Outcome::Error(_) | Outcome::Unsupported(_) => 0,
        };
        if rank > MAX_RANK {
            let why = format!("the output has {rank} axes; a message has at most {MAX_RANK}");
            return Self::Unsupported(UnsupportedReply::new(seq, &why));
        }
        match outcome {
            Outcome::Output(output) => Self::Output(OutputReply { seq, output: TensorMessage::new(output) }),
            Outcome::TooLarge { dtype, shape } => {
                Self::Output(OutputReply { seq, output: TensorMessage::empty(*dtype, shape.clone()) })
            }
            Outcome::Error(error) => Self::Error(ErrorReply { seq, error: ErrorMessage::new(error) }),
            Outcome::Unsupported(why) => Self::Unsupported(UnsupportedReply::new(seq, why)),
        }
    }
}

impl UnsupportedReply {
    /// The reply with a reason, shortened.
    #[must_use]
    pub fn new(seq: u64, why: &str) -> Self {
        Self { seq, unsupported: shown(why) }
    }
}

impl InvalidReply {
    /// The reply with an explanation, shortened.
    #[must_use]
    pub fn new(seq: Option<u64>, what: &str) -> Self {
        Self { seq, invalid: shown(what), fault: None }
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{DType, Tensor};

    use super::*;

    #[test]
    fn an_output_of_more_axes_than_a_message_has_is_unsupported() {
        let output = |rank| Outcome::Output(Tensor::new(DType::U8, vec![1; rank], vec![7u8]).unwrap());
        let too_large = |rank: usize| {
            let dims = [vec![1 << 62, 0, 1 << 62], vec![1; rank - 3]].concat();
            Outcome::too_large(DType::U8, &dims).unwrap()
        };
        for outcome in [output(64), too_large(64)] {
            assert!(matches!(Reply::new(1, &outcome), Reply::Output(_)), "{outcome:?}");
        }
        for outcome in [output(65), too_large(65)] {
            let Reply::Unsupported(UnsupportedReply { seq: 1, unsupported }) = Reply::new(1, &outcome) else {
                panic!("{outcome:?}")
            };
            assert_eq!(unsupported, "the output has 65 axes; a message has at most 64");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_fewer_words_than_a_long_message_has() {
        let line = format!(r#"{{"cmd":"{}","seq":7}}"#, "é".repeat(1_000_000));
        let InvalidReply { seq, invalid, .. } = Request::parse(line.as_bytes()).unwrap_err();
        assert_eq!(seq, Some(7));
        assert!(invalid.starts_with("unknown variant `éé"), "{}", &invalid[..100]);
        assert!(invalid.contains(" characters left out … "), "{}", &invalid[invalid.len() - 100..]);
        assert!(invalid.chars().count() < 4100, "{} characters", invalid.chars().count());
        let short = "é".repeat(4000);
        assert_eq!(UnsupportedReply::new(7, &short).unsupported, short);
    }
}
