//! `serve` answers each line, also one that is no request, with one object of its `seq`, goes on to the end, and both built-in
//! backends say the same.

#![no_main]

use gather_conformance::protocol::{CallMessage, InvalidReply, Request, TensorMessage, TimeMessage};
use gather_conformance::{builtin, serve};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// The most bytes of an output: a short line may ask for gigabytes by right.
const MAX_OUTPUT: u64 = 1 << 20;
/// A timed call lasts as long as it is asked to; one that asks for more than this is left out.
const MOST_ROUNDS: u32 = 4;
const MOST_NANOSECONDS: u64 = 1_000;

fuzz_target!(|bytes: &[u8]| {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| is_bounded(line)).collect();
    let input = lines.join(&b'\n');
    let [reference, optimized] = builtin::NAMES.map(|name| answers(name, &input));
    let ended = input.is_empty() || input.ends_with(b"\n");
    let requests = lines[..lines.len() - usize::from(ended && !lines.is_empty())].iter();
    let requests = requests.map(|line| Request::parse(line));
    let requests: Vec<_> = requests.take_while(|request| !matches!(request, Ok(Request::Stop(_)))).collect();
    assert_eq!(
        (reference.len(), optimized.len()),
        (requests.len(), requests.len()),
        "one answer for each line"
    );
    for ((request, reference), optimized) in requests.iter().zip(reference).zip(optimized) {
        let timed = matches!(request, Ok(Request::Time(_)));
        for answer in [&reference, &optimized] {
            assert!(answer.is_object(), "{answer}");
            assert_eq!(seq(request), answer.get("seq").and_then(Value::as_u64), "{answer}");
        }
        // The duration of a call is one's own, and so is the number of threads that it may have.
        assert!(timed || common(reference.clone()) == common(optimized.clone()), "{reference}\n{optimized}");
    }
});

/// Whether a line may be sent: a timed one is short, and no file is opened that this target does not know.
fn is_bounded(line: &[u8]) -> bool {
    match Request::parse(line) {
        Ok(Request::Call(CallMessage { operands, .. })) => {
            operands.0.iter().all(|(_, operand)| is_known(operand))
        }
        Ok(Request::Time(TimeMessage { operands, rounds, min_round_ns, .. })) => {
            rounds <= MOST_ROUNDS
                && min_round_ns <= MOST_NANOSECONDS
                && operands.0.iter().all(|(_, operand)| is_known(operand))
        }
        _ => true,
    }
}

/// Whether the data of a tensor lies on the line, in a file that can be read to its end, or in one that there is not.
fn is_known(tensor: &TensorMessage) -> bool {
    tensor.file.as_ref().is_none_or(|file| file == "Cargo.toml" || std::fs::symlink_metadata(file).is_err())
}

fn answers(name: &str, input: &[u8]) -> Vec<Value> {
    let mut backend = builtin::backend(name, builtin::Policies::default(), MAX_OUTPUT).expect("a name from the list");
    let mut answers = Vec::new();
    serve::serve(&mut *backend, input, &mut answers).expect("memory takes all that is written");
    let lines = answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("every answer is JSON")).collect()
}

/// The number that an answer must carry.
fn seq(request: &Result<Request, InvalidReply>) -> Option<u64> {
    match request {
        Ok(Request::Call(CallMessage { seq, .. }) | Request::Time(TimeMessage { seq, .. })) => Some(*seq),
        Ok(_) => None,
        Err(invalid) => invalid.seq,
    }
}

/// What two backends that conform have in common: texts are their own, and so is what they say of themselves.
fn common(mut answer: Value) -> Value {
    if let Some(message) = answer.pointer_mut("/error/message") {
        *message = Value::Null;
    }
    for text in ["unsupported", "backend", "operators"] {
        if let Some(text) = answer.get_mut(text) {
            *text = Value::Null;
        }
    }
    answer
}
