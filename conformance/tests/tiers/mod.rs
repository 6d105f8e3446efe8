//! How much each test does, as data: the tier `quick` is what `cargo test` runs, `GATHERSPEC_TIER=full cargo test` what
//! `.ci/run` runs, and `GATHERSPEC_TIER=nightly cargo test` everything. Tests take their numbers from here, and none of them reads
//! the variable itself.

#![allow(dead_code, reason = "each program takes the budgets that it needs")]

use std::io::Write as _;
use std::sync::LazyLock;

/// The variable that chooses the tier.
const VARIABLE: &str = "GATHERSPEC_TIER";

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// Minutes: what a change needs before it is committed.
    Quick,
    /// Half an hour: what a change needs before it lands.
    Full,
    /// Everything: what takes further minutes of both cores.
    Nightly,
}

/// The number of draws, calls or runs of a test in each tier.
pub(crate) struct Budget {
    quick: usize,
    full: usize,
}

impl Budget {
    /// The number in the tier of this run.
    pub(crate) fn count(&self) -> usize {
        match *TIER {
            Tier::Quick => self.quick,
            Tier::Full | Tier::Nightly => self.full,
        }
    }
}

static TIER: LazyLock<Tier> = LazyLock::new(|| match std::env::var(VARIABLE).as_deref() {
    Err(std::env::VarError::NotPresent) | Ok("quick") => Tier::Quick,
    Ok("full") => Tier::Full,
    Ok("nightly") => Tier::Nightly,
    other => panic!("{VARIABLE} is {other:?}; the tiers are `quick`, `full` and `nightly`"),
});

/// Profiles for which a case expects the same, of those that the suite tries.
pub(crate) const PROFILES: Budget = Budget { quick: 1, full: 6 };

/// Layouts that the suite runs a case in: the second of two in turns.
pub(crate) const LAYOUTS: Budget = Budget { quick: 2, full: 5 };

/// Drawn calls that are saved and read back, each after it was made small.
pub(crate) const SAVED_CALLS: Budget = Budget { quick: 30, full: 300 };

/// Calls of each operator, with extreme attributes and shapes, of which pictures are drawn.
pub(crate) const EXTREME_CALLS: Budget = Budget { quick: 12, full: 60 };

/// Drawn calls of an operator that tests have made up, which must meet each of its errors.
pub(crate) const DRAWS_OF_AN_OPERATOR: Budget = Budget { quick: 10_000, full: 59_000 };

/// Of the cases, every n-th has its call and its answer held against the schemas, which takes a hundred times as long.
pub(crate) const EVERY_NTH_MESSAGE: Budget = Budget { quick: 16, full: 1 };

/// Of the cases with open dtypes, every n-th is tried in each dtype.
pub(crate) const EVERY_NTH_OPEN: Budget = Budget { quick: 8, full: 1 };

/// Policies and backends that the oracle in Python is asked about: each takes 8 s, most of it Python.
pub(crate) const ORACLES: Budget = Budget { quick: 1, full: 12 };

/// Dtype pairs of narrow kernels: each starts a program, a library and a harness four times.
pub(crate) const NARROW_PAIRS: Budget = Budget { quick: 1, full: 4 };

/// The dtypes of an operand that a case with open dtypes takes, in turns.
pub(crate) const OPEN_DTYPES: Budget = Budget { quick: 1, full: usize::MAX };

/// Tests that need a tier above quick, each with what tests its topic below it.
const ABOVE_QUICK: &[(&str, Tier, &str)] = &[
    ("no_mutant_survives", Tier::Full, "`the_smoke_suite_catches_every_mutant` runs"),
    (
        "the_model_without_a_mutation_passes_every_case",
        Tier::Full,
        "`the_model_without_a_mutation_answers_random_calls_like_the_reference` runs",
    ),
    ("drawn_calls_tell_as_much_as_the_cases", Tier::Nightly, "it compares all cases with draws"),
    ("no_mutant_survives_behind_a_narrow_declaration", Tier::Nightly, "it runs all mutants four times"),
    (
        "the_smoke_suite_catches_every_mutant_on_an_operator_of_each_form",
        Tier::Full,
        "`the_smoke_suite_catches_every_mutant` runs",
    ),
    (
        "every_operator_is_drawn_and_held_to_laws",
        Tier::Nightly,
        "the operators that tests have made up are drawn",
    ),
    (
        "both_backends_answer_large_calls_under_every_profile_that_matters",
        Tier::Nightly,
        "gigabytes; `gatherspec run --suite large` is the same in release",
    ),
    ("a_program_gets_painted_params_as_a_sparse_file", Tier::Full, "gigabytes"),
    (
        "the_process_in_cpp_passes_every_case_of_its_dtypes",
        Tier::Full,
        "whole runs; `serve.rs` tests the protocol",
    ),
    (
        "the_example_in_javascript_passes_every_case",
        Tier::Full,
        "whole runs; `protocol_page.rs` tests the protocol",
    ),
    ("the_example_in_go_passes_every_case", Tier::Full, "whole runs; `serve.rs` tests the protocol"),
    (
        "campaigns_on_programs",
        Tier::Full,
        "minutes of processes that die and hang; `hostile_backends.rs` has one of each",
    ),
    ("reproduction", Tier::Full, "each line starts two whole runs; unit tests compose every line"),
    (
        "short_campaigns",
        Tier::Full,
        "whole runs with their campaigns; `campaigns.rs` drives campaigns in this process",
    ),
    ("results_are_kept_of_every_program_whatever_it_calls_itself", Tier::Full, "three whole runs"),
    (
        "the_whole_suite_goes_through_a_pipe",
        Tier::Full,
        "a whole run, twice; `hostile_backends.rs` and `serve.rs` ask programs",
    ),
];

/// Whether a test runs in this tier. Says so if not.
pub(crate) fn runs(test: &str) -> bool {
    let (_, from, instead) = ABOVE_QUICK.iter().find(|(name, ..)| *name == test).expect("a test of the list");
    let runs = *TIER >= *from;
    if !runs {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped below the tier {from:?}: {test}; {instead}");
    }
    runs
}
