//! Whatever a case file holds, the loader reads it or says what is wrong, and what it read can be asked.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use gather_conformance::builtin;
use gather_conformance::judge::Strictness;
use gather_conformance::runner::InProcess;
use gather_spec::Specification;
use libfuzzer_sys::fuzz_target;

/// The most bytes of an output: a file of a few bytes may ask for gigabytes by right.
const MAX_OUTPUT: u64 = 1 << 20;
/// Tensors beyond this many elements are only read.
const MOST_ELEMENTS: usize = 1 << 12;

fuzz_target!(|bytes: &[u8]| {
    static SPEC: OnceLock<Specification> = OnceLock::new();
    let spec = SPEC.get_or_init(|| Specification::embedded().expect("the embedded files are right"));
    match spec.read_cases(Path::new("fuzzed.yaml"), bytes) {
        Err(wrong) => wrong.iter().for_each(|diagnostic| assert!(!diagnostic.to_string().is_empty())),
        Ok(cases) => {
            let make = || {
                builtin::backend("reference", Default::default(), MAX_OUTPUT).expect("a name from the list")
            };
            let small = |tensor: &gather_spec::Tensor| tensor.shape().element_count() <= MOST_ELEMENTS;
            let mut runner = InProcess::new(make, Strictness::Strict);
            for case in cases.iter().take(4).filter(|case| small(&case.call.params) && small(&case.call.indices)) {
                runner.run(case);
            }
        }
    }
});
