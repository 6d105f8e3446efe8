//! Tests that are backends, too: told so by its environment or its arguments, this program is what they start.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[path = "../tiers/mod.rs"]
mod tiers;

#[cfg(unix)]
mod campaigns_on_programs;
mod harness;
#[cfg(unix)]
mod hostile_backends;
mod limited_kernels;
#[cfg(unix)]
mod miniatures;
mod narrow_kernels;
mod reports;
#[cfg(unix)]
mod reproduction;
mod short_campaigns;
#[cfg(unix)]
mod signals;
mod variants;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    #[cfg(unix)]
    miniatures::be_one_if_told();
    let told = [harness::be, narrow_kernels::be, reports::be, short_campaigns::be, variants::be];
    if let Some(status) = told.iter().find_map(|be| be()) {
        return status;
    }
    // This program starts nothing but backends.
    gather_conformance::internals::process::adopt_children();
    let topics = [
        only_if(tiers::runs("narrow_kernels"), narrow_kernels::trials()),
        above_quick("harness", harness::TESTS),
        above_quick("limited_kernels", limited_kernels::TESTS),
        above_quick("reports", reports::TESTS),
        above_quick("short_campaigns", short_campaigns::TESTS),
        #[cfg(unix)]
        above_quick("campaigns_on_programs", campaigns_on_programs::TESTS),
        #[cfg(unix)]
        above_quick("reproduction", reproduction::TESTS),
        #[cfg(unix)]
        hostile_backends::trials(),
        #[cfg(unix)]
        above_quick("signals", signals::TESTS),
        above_quick("variants", variants::TESTS),
    ];
    // Most of them wait.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(4);
    libtest_mimic::run(&arguments, topics.into_iter().flatten().collect()).exit_code()
}

fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// The tests of a topic that the tier quick leaves out.
fn above_quick(topic: &str, tests: &[(&str, fn())]) -> Vec<Trial> {
    let tests = tests.iter().map(|(name, test)| trial(format!("{topic}/{name}"), *test));
    only_if(tiers::runs(topic), tests.collect())
}

fn only_if(is_run: bool, trials: Vec<Trial>) -> Vec<Trial> {
    trials.into_iter().map(|trial| trial.with_ignored_flag(!is_run)).collect()
}
