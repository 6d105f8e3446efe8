//! The loader reads a case file with any content or says what is wrong, and what it read can be asked.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gather_conformance::builtin;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::runner::InProcess;
use gather_spec::load::Maker;
use gather_spec::{Specification, Tensor};
use libfuzzer_sys::fuzz_target;

/// The most bytes of an output: a file of a few bytes may ask for gigabytes by right.
const MAX_OUTPUT: u64 = 1 << 16;
/// Tensors beyond this many elements are only read.
const MOST_ELEMENTS: usize = 1 << 8;
/// The most runs of the cases of a file that are made.
const MOST_RUNS: usize = 4;
/// A file with an iota and a number beyond this is left out: millions of elements are made by right, and tests make them.
const MOST_COUNTED: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    static SPEC: OnceLock<Specification> = OnceLock::new();
    let spec = SPEC.get_or_init(|| Specification::embedded().expect("the embedded files are right"));
    if counts_far(bytes) {
        return;
    }
    match spec.read_cases(Path::new("fuzzed.yaml"), bytes) {
        Err(wrong) => wrong.iter().for_each(|diagnostic| assert!(!diagnostic.to_string().is_empty())),
        Ok(cases) => {
            assert!(!cases.is_empty(), "a case file has at least one case");
            let make = || {
                builtin::backend("reference", builtin::Policies::default(), MAX_OUTPUT).expect("a name from the list")
            };
            let mut runner = InProcess::new(make, Strictness::Strict);
            let mut maker = Maker::default();
            let runs = cases.iter().flat_map(|case| maker.runs(case));
            let small = runs.filter(|run| run.call.operands.tensors().all(is_small));
            for run in small.take(MOST_RUNS) {
                let result = runner.run(&run);
                let broken = [Verdict::Crash, Verdict::Nondeterministic, Verdict::InputChanged];
                assert!(!broken.contains(&result.verdict), "{result:#?}");
            }
        }
    }
});

fn is_small(tensor: &Tensor) -> bool {
    tensor.shape().element_count() <= MOST_ELEMENTS
}

/// Whether a file has an iota, and a number that may be a large dim of it.
fn counts_far(bytes: &[u8]) -> bool {
    let mut numbers = bytes.split(|byte| !byte.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let is_far = |digits: &[u8]| {
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<usize>().ok());
        number.is_none_or(|number| number > MOST_COUNTED)
    };
    bytes.windows(4).any(|word| word == b"iota") && numbers.any(is_far)
}
