//! Answers the protocol for a backend. `gatherspec serve` runs this.

use std::io::{self, BufRead, Read, Write};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use gather_spec::{Attributes, Call, Operator, Outcome, Signatures};
use serde::Serialize;

use crate::backend::{Backend, Description, Prepared};
use crate::builtin;
use crate::layout::laid_out;
use crate::protocol::{
    CallMessage, Fault, InvalidReply, OperandMessages, OutputMemory, PROTOCOL, Reply, Request, Started,
    TimeMessage, TimedReply, UnsupportedReply, Unusable, call,
};
use crate::words::counted;

/// The longest line to read, in bytes. Larger tensors need a `file`.
pub const MAX_LINE: u64 = 256 << 20;

/// How much memory the line buffer keeps between messages, in bytes.
const KEPT: usize = 1 << 20;

/// The most rounds of one `time` message.
pub const MAX_ROUNDS: u32 = 100_000;

/// The longest total duration of the rounds of one `time` message.
pub const LONGEST_TIMING: Duration = Duration::from_secs(3600);

/// Whether operands may be in files. Files are read with the permissions of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// Any regular file that this process can read.
    Allowed,
    /// None. Such calls are `unsupported`.
    Forbidden,
}

/// What is behind the protocol: a backend, or a stand-in whose answers can fail.
pub trait Answering {
    /// The backend's self-description.
    fn describe(&self) -> Description;

    /// Answers one call.
    ///
    /// # Errors
    /// Why there is no answer. The reply is `invalid`.
    fn answer(&mut self, call: &Call) -> Result<Outcome, NoAnswer>;

    /// Answers a message, whose operands in files need not be read.
    ///
    /// # Errors
    /// Why the message has no call.
    fn answer_message(&mut self, message: &CallMessage) -> Result<Result<Outcome, NoAnswer>, Unusable> {
        let usual = call(&message.operator, &message.operands, &message.attributes)?;
        let call = Call { variant: message.variant.clone(), ..usual };
        Ok(match laid_out(&call, &message.variant) {
            Ok(call) => self.answer(&call),
            Err(error) => Ok(Outcome::Unsupported(format!("the operands cannot be laid out: {error}"))),
        })
    }

    /// See [`Backend::prepare`].
    fn prepare<'a>(&'a mut self, _call: &'a Call, _output: OutputMemory) -> Option<Prepared<'a>> {
        None
    }

    /// See [`Backend::limit_threads`].
    fn limit_threads(&mut self, _most: Option<NonZeroUsize>) -> bool {
        false
    }

    /// See [`Backend::most_threads`].
    fn most_threads(&self) -> Option<NonZeroUsize> {
        None
    }
}

/// Why a call has no answer.
#[derive(Debug)]
pub struct NoAnswer {
    /// What a library did wrong; `None` if the message is at fault.
    pub fault: Option<Fault>,
    /// What is wrong, for people.
    pub what: String,
}

impl Answering for &mut dyn Backend {
    fn describe(&self) -> Description {
        Backend::describe(&**self)
    }

    fn answer(&mut self, call: &Call) -> Result<Outcome, NoAnswer> {
        Ok(self.call(call))
    }

    fn prepare<'a>(&'a mut self, call: &'a Call, output: OutputMemory) -> Option<Prepared<'a>> {
        Backend::prepare(&mut **self, call, output)
    }

    fn limit_threads(&mut self, most: Option<NonZeroUsize>) -> bool {
        Backend::limit_threads(&mut **self, most)
    }

    fn most_threads(&self) -> Option<NonZeroUsize> {
        Backend::most_threads(&**self)
    }
}

/// Answers requests from `input` on `output` until `stop` or the end of input. Operands may be in any file that this
/// process can read; [`serve_with`] can forbid that.
///
/// # Errors
/// If reading or writing fails.
pub fn serve(backend: &mut dyn Backend, input: impl BufRead, output: impl Write) -> io::Result<()> {
    serve_with(backend, builtin::signatures(), Files::Allowed, input, output)
}

/// Like [`serve`], for the operators of any specification, and with a choice about files.
///
/// # Errors
/// If reading or writing fails.
pub fn serve_with(
    mut backend: &mut dyn Backend,
    signatures: &Signatures,
    files: Files,
    input: impl BufRead,
    output: impl Write,
) -> io::Result<()> {
    answer_all(&mut backend, signatures, files, input, output)
}

/// Like [`serve_with`], for backends whose answers can fail.
pub fn answer_all(
    backend: &mut impl Answering,
    signatures: &Signatures,
    files: Files,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut server = Server { backend, files, signatures };
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line)? {
            LineRead::End => return Ok(()),
            LineRead::TooLong => {
                let invalid =
                    format!("the line is longer than {MAX_LINE} bytes; send large tensors as a file");
                send(&mut output, &InvalidReply::new(None, &invalid))?;
                continue;
            }
            LineRead::Whole => {}
        }
        match Request::parse(&line) {
            Ok(Request::Stop(_)) => return Ok(()),
            Ok(Request::Start(_)) => send(&mut output, &server.started())?,
            Ok(Request::Call(message)) => send(&mut output, &server.answer(&message))?,
            Ok(Request::Time(message)) => send(&mut output, &server.time(&message))?,
            Err(invalid) => send(&mut output, &invalid)?,
        }
    }
}

enum LineRead {
    Whole,
    TooLong,
    End,
}

/// Reads one line without its end. If the line is too long, skips to its end.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    // Releases the memory of an earlier long line.
    line.shrink_to(KEPT);
    let read = input.take(MAX_LINE + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(LineRead::End);
    }
    if line.last() == Some(&b'\n') || read as u64 <= MAX_LINE {
        return Ok(LineRead::Whole);
    }
    *line = Vec::new();
    input.skip_until(b'\n')?;
    Ok(LineRead::TooLong)
}

/// The server: a backend, with what is needed to reject messages that it must not see.
struct Server<'a, A> {
    backend: &'a mut A,
    files: Files,
    /// The documented operators, for the types of their attributes.
    signatures: &'a Signatures,
}

impl<A: Answering> Server<'_, A> {
    fn started(&self) -> Started {
        let description = self.backend.describe();
        Started { protocol: PROTOCOL, backend: description.backend, operators: description.operators }
    }

    /// Whether a message may be answered.
    fn check(
        &self,
        operator: &Operator,
        operands: &OperandMessages,
        attributes: &Attributes,
    ) -> Result<(), Unusable> {
        check_names_and_types(self.signatures, operator, operands, attributes)?;
        if self.files == Files::Forbidden && operands.0.iter().any(|(_, operand)| operand.file.is_some()) {
            return Err(Unusable::Unsupported("tensors in files are not read here".to_owned()));
        }
        Ok(())
    }

    /// Whether the backend declares the variant of a call.
    fn declares(&self, CallMessage { operator, variant, .. }: &CallMessage) -> Result<(), Unusable> {
        let is_declared = || {
            let description = self.backend.describe();
            description.operators.get(operator.as_str()).is_some_and(|one| one.variants.has(variant))
        };
        if variant.is_usual() || is_declared() {
            return Ok(());
        }
        Err(Unusable::Unsupported(format!("this backend declares no variant {variant} of {operator}")))
    }

    fn answer(&mut self, message: &CallMessage) -> Reply {
        let CallMessage { seq, operator, operands, attributes, .. } = message;
        let checked = self.check(operator, operands, attributes).and_then(|()| self.declares(message));
        match checked.and_then(|()| self.backend.answer_message(message)) {
            Ok(answer) => reply(*seq, answer),
            Err(why) => unusable(*seq, why),
        }
    }

    /// Times a call. Each round repeats it until the round has lasted long enough. A limit on threads in the message
    /// applies only for the duration of the timing.
    fn time(&mut self, message: &TimeMessage) -> Reply {
        let TimeMessage { seq, operator, operands, attributes, threads, .. } = message;
        let checked = check_timing(message).and_then(|()| self.check(operator, operands, attributes));
        let call = match checked.and_then(|()| call(operator, operands, attributes)) {
            Ok(call) => call,
            Err(why) => return unusable(*seq, why),
        };
        if threads.is_some_and(|most| !self.backend.limit_threads(Some(most))) {
            return unusable(*seq, Unusable::Unsupported("this backend cannot limit its threads".to_owned()));
        }
        let used = self.backend.most_threads();
        let timed = time(self.backend, &call, message);
        if threads.is_some() {
            self.backend.limit_threads(None);
        }
        match timed {
            Ok(nanoseconds) => Reply::Timed(TimedReply { seq: *seq, nanoseconds, threads: used }),
            Err(instead) => reply(*seq, *instead),
        }
    }
}

/// Checks that the operands are those of the operator, and that its attributes have the right types. Attributes that the
/// operator does not have are up to the backend.
fn check_names_and_types(
    signatures: &Signatures,
    operator: &Operator,
    operands: &OperandMessages,
    attributes: &Attributes,
) -> Result<(), Unusable> {
    let Some(signature) = signatures.get(operator.as_str()) else { return Ok(()) };
    let names = || {
        let names: Vec<&str> = signature.operands.iter().map(|operand| &*operand.name).collect();
        names.join(" and ")
    };
    let is_one = |name: &str| signature.operands.iter().any(|operand| *operand.name == *name);
    if let Some((name, _)) = operands.0.iter().find(|(name, _)| !is_one(name)) {
        let invalid = format!("{operator} has no operand `{name}`: {} are expected", names());
        return Err(Unusable::Invalid(invalid));
    }
    if operands.0.len() < signature.operands.len() {
        return Err(Unusable::Invalid(format!(
            "an operand of {operator} is missing: {} are expected",
            names()
        )));
    }
    for (name, value) in attributes {
        let Some(wanted) = signature.attribute_named(name) else {
            continue;
        };
        if !wanted.takes(value) {
            let invalid =
                format!("the attribute `{name}` of {operator} is {}, not {value}", wanted.takes_what());
            return Err(Unusable::Invalid(invalid));
        }
    }
    Ok(())
}

/// Checks that a timing is within limits: the schema allows unreasonable durations.
fn check_timing(message: &TimeMessage) -> Result<(), Unusable> {
    let (rounds, min_round_ns) = (message.rounds, message.min_round_ns);
    let unsupported = |why: String| Err(Unusable::Unsupported(why));
    if rounds > MAX_ROUNDS {
        return unsupported(format!("rounds is {rounds}; at most {MAX_ROUNDS} are done"));
    }
    if u128::from(rounds) * u128::from(min_round_ns) > LONGEST_TIMING.as_nanos() {
        let most = LONGEST_TIMING.as_secs();
        return unsupported(format!(
            "{} of {min_round_ns} ns: at most {most} s are done",
            counted(rounds, "round")
        ));
    }
    Ok(())
}

fn reply(seq: u64, outcome: Result<Outcome, NoAnswer>) -> Reply {
    match outcome {
        Ok(outcome) => Reply::new(seq, &outcome),
        Err(NoAnswer { fault, what }) => {
            Reply::Invalid(InvalidReply { fault, ..InvalidReply::new(Some(seq), &what) })
        }
    }
}

fn unusable(seq: u64, why: Unusable) -> Reply {
    match why {
        Unusable::Invalid(what) => Reply::Invalid(InvalidReply::new(Some(seq), &what)),
        Unusable::Unsupported(why) => Reply::Unsupported(UnsupportedReply::new(seq, &why)),
    }
}

/// What a timed call gave in place of an output.
type Instead = Box<Result<Outcome, NoAnswer>>;

/// The nanoseconds per call of each round.
fn time(backend: &mut impl Answering, call: &Call, message: &TimeMessage) -> Result<Vec<f64>, Instead> {
    match backend.prepare(call, message.output) {
        Some(Ok(mut run)) => {
            return all_rounds(|| run().map_err(|outcome| Box::new(Ok(*outcome))), message);
        }
        Some(Err(outcome)) => return Err(Box::new(Ok(*outcome))),
        None => {}
    }
    if message.output != OutputMemory::Fresh {
        let why = "this backend can be timed with fresh outputs only".to_owned();
        return Err(Box::new(Ok(Outcome::Unsupported(why))));
    }
    let run = || match std::hint::black_box(backend.answer(call)) {
        Ok(Outcome::Output(_)) => Ok(()),
        other => Err(Box::new(other)),
    };
    all_rounds(run, message)
}

/// Runs all rounds. The first call, which touches memory that is kept for the others, is not timed.
fn all_rounds(
    mut run: impl FnMut() -> Result<(), Instead>,
    message: &TimeMessage,
) -> Result<Vec<f64>, Instead> {
    run()?;
    (0..message.rounds).map(|_| round(&mut run, message.min_round_ns)).collect()
}

/// Runs one round and returns the nanoseconds per call. Fails if a call gives no output.
#[allow(clippy::cast_precision_loss, reason = "durations and counts far below 2^53")]
fn round(run: &mut impl FnMut() -> Result<(), Instead>, min_round_ns: u64) -> Result<f64, Instead> {
    let start = Instant::now();
    let mut calls = 0u64;
    loop {
        run()?;
        calls += 1;
        let elapsed = start.elapsed();
        if elapsed.as_nanos() >= min_round_ns.into() {
            return Ok(elapsed.as_nanos() as f64 / calls as f64);
        }
    }
}

fn send(output: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, message)?;
    output.write_all(b"\n")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use gather_spec::{DType, Tensor};

    use super::*;
    use crate::protocol::Command;
    use crate::protocol::TensorMessage;
    use gather_spec::Attribute;
    use gather_spec::signature::AttributeType;

    /// A backend that notes every limit on its threads beside every call; it has four threads, or does not know.
    #[derive(Default)]
    struct Threaded {
        limit: Option<NonZeroUsize>,
        unknown: bool,
        noted: Vec<String>,
    }

    impl Answering for Threaded {
        fn describe(&self) -> Description {
            unreachable!("the tests send no `start`")
        }

        fn answer(&mut self, call: &Call) -> Result<Outcome, NoAnswer> {
            self.noted.push("call".to_owned());
            Ok(Outcome::Output(call.operands.get("params").unwrap().clone()))
        }

        fn limit_threads(&mut self, most: Option<NonZeroUsize>) -> bool {
            self.limit = most;
            self.noted.push(most.map_or_else(|| "no limit".to_owned(), |most| format!("at most {most}")));
            !self.unknown
        }

        fn most_threads(&self) -> Option<NonZeroUsize> {
            let four = NonZeroUsize::new(4);
            if self.unknown { None } else { four.min(self.limit.or(four)) }
        }
    }

    fn server<A>(backend: &mut A) -> Server<'_, A> {
        Server { backend, files: Files::Forbidden, signatures: builtin::signatures() }
    }

    fn timing(rounds: u32, min_round_ns: u64, threads: Option<usize>) -> TimeMessage {
        let tensor = TensorMessage::new(&Tensor::new(DType::I32, [0], Vec::<u32>::new()).unwrap());
        TimeMessage {
            cmd: Command::Time,
            seq: 7,
            operator: Operator::new("any"),
            operands: OperandMessages(vec![
                ("params".to_owned(), tensor.clone()),
                ("indices".to_owned(), tensor),
            ]),
            attributes: Attributes::new(),
            rounds,
            min_round_ns,
            threads: threads.and_then(NonZeroUsize::new),
            output: OutputMemory::Fresh,
        }
    }

    /// The reply to a timing of two rounds of one call, after one that is not timed, and what the backend noted.
    fn timed(backend: &mut Threaded, threads: Option<usize>) -> (Reply, Vec<String>) {
        let message = timing(2, 0, threads);
        let reply = server(backend).time(&message);
        (reply, std::mem::take(&mut backend.noted))
    }

    fn threads(reply: &Reply) -> Option<usize> {
        let Reply::Timed(TimedReply { nanoseconds, threads, .. }) = reply else { panic!("{reply:?}") };
        assert_eq!(nanoseconds.len(), 2);
        threads.map(NonZeroUsize::get)
    }

    #[test]
    fn a_timing_that_says_nothing_of_threads_leaves_them_alone() {
        let (reply, noted) = timed(&mut Threaded::default(), None);
        assert_eq!((threads(&reply), noted), (Some(4), vec!["call".to_owned(); 3]));
    }

    #[test]
    fn a_limit_holds_for_its_timing_and_no_longer() {
        let mut backend = Threaded::default();
        let (reply, noted) = timed(&mut backend, Some(3));
        assert_eq!(
            (threads(&reply), noted.join(", ")),
            (Some(3), "at most 3, call, call, call, no limit".to_owned())
        );
        assert_eq!(threads(&timed(&mut backend, None).0), Some(4));
        assert_eq!(threads(&timed(&mut backend, Some(9)).0), Some(4));
    }

    #[test]
    fn a_backend_that_knows_nothing_of_threads_says_so() {
        let mut backend = Threaded { unknown: true, ..Threaded::default() };
        assert_eq!(threads(&timed(&mut backend, None).0), None);
        let (reply, noted) = timed(&mut backend, Some(1));
        assert!(matches!(reply, Reply::Unsupported(_)), "{reply:?}");
        assert_eq!(noted, ["at most 1"]);
    }

    #[test]
    fn the_memory_of_a_long_line_is_given_back() {
        let lines = [vec![b'x'; 3 * KEPT], b"\nshort\n".to_vec()].concat();
        let (mut input, mut line) = (&lines[..], Vec::new());
        assert!(matches!(read_line(&mut input, &mut line), Ok(LineRead::Whole)));
        assert!(line.capacity() >= 3 * KEPT);
        assert!(matches!(read_line(&mut input, &mut line), Ok(LineRead::Whole)));
        assert_eq!(line, b"short\n");
        assert!(line.capacity() <= KEPT, "{}", line.capacity());
    }

    #[test]
    fn a_timing_beyond_any_patience_is_unsupported_and_one_of_an_hour_is_not() {
        let checked = |rounds, min_round_ns| check_timing(&timing(rounds, min_round_ns, None));
        let hour = 3_600_000_000_000;
        assert_eq!([checked(1, hour), checked(100_000, hour / 100_000)], [Ok(()), Ok(())]);
        for (rounds, min_round_ns) in
            [(1, hour + 1), (2, hour / 2 + 1), (1, u64::MAX), (u32::MAX, u64::MAX), (100_001, 0)]
        {
            let why = checked(rounds, min_round_ns);
            assert!(matches!(why, Err(Unusable::Unsupported(_))), "{rounds} {min_round_ns}: {why:?}");
        }
    }

    /// Operands of the names that an operator has; none if it is not known.
    fn operands_of(operator: &str) -> OperandMessages {
        let tensor = TensorMessage::new(&Tensor::new(DType::I32, [0], Vec::<u32>::new()).unwrap());
        let known = builtin::signatures().get(operator);
        let names = known.iter().flat_map(|known| &known.operands);
        OperandMessages(names.map(|operand| (operand.name.to_string(), tensor.clone())).collect())
    }

    #[test]
    fn operands_that_are_missing_or_foreign_are_invalid() {
        let checked = |operands: &OperandMessages| {
            let operator = Operator::new("paddle.gather_nd");
            check_names_and_types(builtin::signatures(), &operator, operands, &Attributes::new())
        };
        let right = operands_of("paddle.gather_nd");
        assert_eq!(checked(&right), Ok(()));
        let said = |operands: &OperandMessages| match checked(operands) {
            Err(Unusable::Invalid(why)) => why,
            other => panic!("{other:?}"),
        };
        let foreign = said(&operands_of("tf.gather"));
        assert_eq!(foreign, "paddle.gather_nd has no operand `params`: input and index are expected");
        let missing = said(&OperandMessages(right.0[..1].to_vec()));
        assert_eq!(missing, "an operand of paddle.gather_nd is missing: input and index are expected");
    }

    #[test]
    fn an_attribute_of_another_type_is_invalid_and_an_unknown_name_is_up_to_the_backend() {
        let checked = |operator, name: &str, value| {
            check_names_and_types(
                builtin::signatures(),
                &Operator::new(operator),
                &operands_of(operator),
                &[(name.to_owned(), value)].into(),
            )
        };
        let (boolean, integer) = (Attribute::Boolean(true), Attribute::Integer(1));
        let (word, list) = (Attribute::String("clip".to_owned()), Attribute::Integers(vec![0, -1]));
        let element = Attribute::Element(Box::new(Tensor::new(DType::I32, [], vec![7u32]).unwrap()));
        for page in builtin::signatures() {
            for attribute in &page.attributes {
                let name = &attribute.name;
                let (right, wrong, instead) = match attribute.r#type {
                    AttributeType::Integer => (integer.clone(), boolean.clone(), "not true"),
                    AttributeType::Boolean => (boolean.clone(), integer.clone(), "not 1"),
                    AttributeType::String => (word.clone(), boolean.clone(), "not true"),
                    AttributeType::Integers => (list.clone(), boolean.clone(), "not true"),
                    AttributeType::Element => (element.clone(), boolean.clone(), "not true"),
                };
                let operator = page.operator.as_str();
                assert_eq!(checked(operator, name, right), Ok(()), "{operator} {name}");
                let Err(Unusable::Invalid(why)) = checked(operator, name, wrong) else { panic!("{name}") };
                let kind = match attribute.r#type {
                    AttributeType::Integer => "an integer",
                    AttributeType::Boolean => "a boolean",
                    AttributeType::String => "a string",
                    AttributeType::Integers => "a list of integers",
                    AttributeType::Element => "an element of the dtype of params",
                };
                let or_null = if attribute.nullable { " or null" } else { "" };
                assert_eq!(
                    why,
                    format!("the attribute `{name}` of {operator} is {kind}{or_null}, {instead}")
                );
                let null = checked(operator, name, Attribute::Null);
                assert_eq!(null.is_ok(), attribute.nullable, "{operator} {name}");
            }
        }
        for value in [boolean, integer] {
            assert_eq!(checked("tf.gather", "mode", value.clone()), Ok(()));
            assert_eq!(checked("tf.gather_nd", "axis", value.clone()), Ok(()));
            assert_eq!(checked("no.operator", "axis", value), Ok(()));
        }
    }
}
