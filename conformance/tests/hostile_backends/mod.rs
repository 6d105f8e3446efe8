//! The tests, by topic.

mod calls;
mod inputs;
mod left_behind;
mod pipeline;
mod starts;
mod support;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};

pub(super) fn main() -> ExitCode {
    let topics =
        [calls::trials(), inputs::trials(), starts::trials(), left_behind::trials(), pipeline::trials()];
    let arguments = Arguments::from_args();
    let start = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, topics.into_iter().flatten().collect());
    assert!(start.elapsed() < Duration::from_secs(60), "the hostile backends took {:?}", start.elapsed());
    conclusion.exit_code()
}

fn trial(name: &str, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
