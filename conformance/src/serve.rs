//! Answers the protocol on behalf of a backend: what `gatherspec serve` does.

use std::io::{self, BufRead, Read, Write};
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

    /// Asks for this many threads from the next call on; `false` says that there is no such setting.
    fn use_threads(&mut self, _threads: usize) -> bool {
        false
    }
}

impl Answering for &mut dyn Backend {
    fn describe(&self) -> Description {
        Backend::describe(&**self)
    }

    fn answer(&mut self, call: &Call) -> Result<Outcome, String> {
        Ok(self.call(call))
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        Backend::use_threads(&mut **self, threads)
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

/// Times a call: each round repeats it until the round has lasted long enough.
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
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let asked = threads.unwrap_or(cores);
    let threads_used = if backend.use_threads(asked) { asked } else { 1 };
    if threads.is_some_and(|threads| threads != threads_used) {
        return unsupported(format!("{asked} threads: this backend has {threads_used}"));
    }
    let mut nanoseconds = Vec::new();
    for _ in 0..*rounds {
        match round(backend, &call, *min_round_ns) {
            Ok(duration) => nanoseconds.push(duration),
            Err(instead) => return reply(*seq, *instead),
        }
    }
    Reply::Timed(TimedReply { seq: *seq, nanoseconds, threads: threads_used })
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
