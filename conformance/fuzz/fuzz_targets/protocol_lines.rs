//! Whatever lines come in, `serve` answers each with one object, and goes on to the end.

#![no_main]

use gather_conformance::{builtin, serve};
use libfuzzer_sys::fuzz_target;

/// The most bytes of an output: a short line may ask for gigabytes by right.
const MAX_OUTPUT: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    // A timed call lasts as long as it is asked to, and a file may be any that there is.
    let text = String::from_utf8_lossy(bytes);
    if text.contains("time") || text.contains("file") || text.contains('\\') {
        return;
    }
    for name in builtin::NAMES {
        let mut backend =
            builtin::backend(name, Default::default(), MAX_OUTPUT).expect("a name from the list");
        let mut answers = Vec::new();
        serve::serve(&mut *backend, bytes, &mut answers).expect("memory takes all that is written");
        for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let answer: serde_json::Value = serde_json::from_slice(line).expect("every answer is JSON");
            assert!(answer.is_object());
        }
    }
});
