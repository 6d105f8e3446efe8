//! Answers the protocol on behalf of a backend: what `gatherspec serve` does.

use std::io::{self, BufRead, Read, Write};
use std::num::NonZeroUsize;
use std::time::Instant;

use gather_spec::{Call, Outcome};
use serde::Serialize;

use crate::backend::{Backend, Description};
use crate::protocol::{
    CallMessage, InvalidReply, OutputMemory, PROTOCOL, Reply, Request, Started, TimeMessage, TimedReply,
    UnsupportedReply, call,
};

/// The longest line that is read, in bytes. Larger tensors go through a `file`.
pub const MAX_LINE: u64 = 256 << 20;

/// The most rounds that one `time` message may ask for.
const MAX_ROUNDS: u32 = 100_000;

/// What is behind the protocol: a backend, or what stands in for one and cannot always answer.
pub(crate) trait Answering {
    /// Who this is and what it can do.
    fn describe(&self) -> Description;

    /// Answers one call.
    ///
    /// # Errors
    /// Why there is no answer, which goes out as `invalid`.
    fn answer(&mut self, call: &Call) -> Result<Outcome, String>;

    /// Lets each call from now on use at most this many threads; see [`Backend::limit_threads`].
    fn limit_threads(&mut self, _most: Option<NonZeroUsize>) -> bool {
        false
    }

    /// The most threads that a call may use now, if that is known.
    fn most_threads(&self) -> Option<NonZeroUsize> {
        None
    }
}

impl Answering for &mut dyn Backend {
    fn describe(&self) -> Description {
        Backend::describe(&**self)
    }

    fn answer(&mut self, call: &Call) -> Result<Outcome, String> {
        Ok(self.call(call))
    }

    fn limit_threads(&mut self, most: Option<NonZeroUsize>) -> bool {
        Backend::limit_threads(&mut **self, most)
    }

    fn most_threads(&self) -> Option<NonZeroUsize> {
        Backend::most_threads(&**self)
    }
}

/// Answers requests from `input` on `output` until `stop` or the end of input.
///
/// # Errors
/// If reading or writing fails.
pub fn serve(mut backend: &mut dyn Backend, input: impl BufRead, output: impl Write) -> io::Result<()> {
    answer_all(&mut backend, input, output)
}

/// The same for what cannot always answer.
pub(crate) fn answer_all(
    backend: &mut impl Answering,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => {
                let invalid =
                    format!("the line is longer than {MAX_LINE} bytes; send large tensors as a file");
                send(&mut output, &InvalidReply { seq: None, invalid })?;
                continue;
            }
            Line::Whole => {}
        }
        match Request::parse(&line) {
            Ok(Request::Stop(_)) => return Ok(()),
            Ok(Request::Start(_)) => send(&mut output, &started(backend))?,
            Ok(Request::Call(message)) => send(&mut output, &answer(backend, &message))?,
            Ok(Request::Time(message)) => send(&mut output, &time(backend, &message))?,
            Err(invalid) => send(&mut output, &invalid)?,
        }
    }
}

enum Line {
    Whole,
    TooLong,
    End,
}

/// Reads one line without its end; of a line that is too long only the end is looked for.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let read = input.take(MAX_LINE + 1).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') || read as u64 <= MAX_LINE {
        return Ok(Line::Whole);
    }
    *line = Vec::new();
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

fn started(backend: &impl Answering) -> Started {
    let description = backend.describe();
    Started { protocol: PROTOCOL, backend: description.backend, operators: description.operators }
}

fn answer(backend: &mut impl Answering, message: &CallMessage) -> Reply {
    let CallMessage { seq, operator, params, indices, attributes, .. } = message;
    let outcome = call(operator, params, indices, attributes).and_then(|call| backend.answer(&call));
    reply(*seq, outcome)
}

fn reply(seq: u64, outcome: Result<Outcome, String>) -> Reply {
    match outcome {
        Ok(outcome) => Reply::new(seq, &outcome),
        Err(invalid) => Reply::Invalid(InvalidReply { seq: Some(seq), invalid }),
    }
}

/// Times a call: each round repeats it until the round has lasted long enough. The threads are left alone unless the
/// message limits them, and then only for as long as the timing lasts.
fn time(backend: &mut impl Answering, message: &TimeMessage) -> Reply {
    let TimeMessage {
        seq, operator, params, indices, attributes, rounds, min_round_ns, threads, output, ..
    } = message;
    let unsupported = |why: String| Reply::Unsupported(UnsupportedReply { seq: *seq, unsupported: why });
    if *rounds > MAX_ROUNDS {
        let invalid = format!("rounds is {rounds}, at most {MAX_ROUNDS} are done");
        return Reply::Invalid(InvalidReply { seq: Some(*seq), invalid });
    }
    if *output != OutputMemory::Fresh {
        return unsupported("only `fresh` outputs are timed".to_owned());
    }
    let call = match call(operator, params, indices, attributes) {
        Ok(call) => call,
        Err(invalid) => return Reply::Invalid(InvalidReply { seq: Some(*seq), invalid }),
    };
    if threads.is_some_and(|most| !backend.limit_threads(Some(most))) {
        return unsupported("this backend cannot limit its threads".to_owned());
    }
    let used = backend.most_threads();
    let timed: Result<Vec<f64>, _> = (0..*rounds).map(|_| round(backend, &call, *min_round_ns)).collect();
    if threads.is_some() {
        backend.limit_threads(None);
    }
    match timed {
        Ok(nanoseconds) => Reply::Timed(TimedReply { seq: *seq, nanoseconds, threads: used }),
        Err(instead) => reply(*seq, *instead),
    }
}

/// The nanoseconds per call of one round; an outcome that is no output ends it.
#[allow(clippy::cast_precision_loss, reason = "durations and counts far below 2^53")]
fn round(
    backend: &mut impl Answering,
    call: &Call,
    min_round_ns: u64,
) -> Result<f64, Box<Result<Outcome, String>>> {
    let start = Instant::now();
    let mut calls = 0u64;
    loop {
        let outcome = std::hint::black_box(backend.answer(call));
        calls += 1;
        let elapsed = start.elapsed();
        if !matches!(outcome, Ok(Outcome::Output(_))) {
            return Err(Box::new(outcome));
        }
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

    /// A backend that notes every limit on its threads beside every call; it has four threads, or does not know.
    #[derive(Default)]
    struct Threaded {
        limit: Option<NonZeroUsize>,
        unknown: bool,
        noted: Vec<String>,
    }

    impl Answering for Threaded {
        fn describe(&self) -> Description {
            unreachable!("nobody asks")
        }

        fn answer(&mut self, call: &Call) -> Result<Outcome, String> {
            self.noted.push("call".to_owned());
            Ok(Outcome::Output(call.params.clone()))
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

    /// The reply to a timing of two rounds of one call, and what the backend noted.
    fn timed(backend: &mut Threaded, threads: Option<usize>) -> (Reply, Vec<String>) {
        let tensor = Tensor::new(DType::I32, [0], Vec::<u32>::new()).unwrap();
        let message = TimeMessage {
            cmd: crate::protocol::Command::Time,
            seq: 7,
            operator: gather_spec::Operator::new("any"),
            params: crate::protocol::TensorMessage::new(&tensor),
            indices: crate::protocol::TensorMessage::new(&tensor),
            attributes: gather_spec::Attributes::new(),
            rounds: 2,
            min_round_ns: 0,
            threads: threads.and_then(NonZeroUsize::new),
            output: OutputMemory::Fresh,
        };
        (time(backend, &message), std::mem::take(&mut backend.noted))
    }

    fn threads(reply: &Reply) -> Option<usize> {
        let Reply::Timed(TimedReply { nanoseconds, threads, .. }) = reply else { panic!("{reply:?}") };
        assert_eq!(nanoseconds.len(), 2);
        threads.map(NonZeroUsize::get)
    }

    #[test]
    fn a_timing_that_says_nothing_of_threads_leaves_them_alone() {
        let (reply, noted) = timed(&mut Threaded::default(), None);
        assert_eq!((threads(&reply), noted), (Some(4), vec!["call".to_owned(); 2]));
    }

    #[test]
    fn a_limit_holds_for_its_timing_and_no_longer() {
        let mut backend = Threaded::default();
        let (reply, noted) = timed(&mut backend, Some(3));
        assert_eq!(
            (threads(&reply), noted.join(", ")),
            (Some(3), "at most 3, call, call, no limit".to_owned())
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
}
