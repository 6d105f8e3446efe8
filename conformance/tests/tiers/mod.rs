//! How much each test does, as data: the tier `quick` is what `cargo test` runs, `GATHERSPEC_TIER=full cargo test` what
//! `.ci/run` runs, and `GATHERSPEC_TIER=nightly cargo test` everything. Tests take their numbers from here, and none of them
//! reads the variable itself.

#![allow(dead_code, reason = "each program takes the budgets that it needs")]

use std::io::Write as _;
use std::sync::LazyLock;

use Tier::{Full, Nightly, Quick};

/// The variable that chooses the tier.
const VARIABLE: &str = "GATHERSPEC_TIER";

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// Minutes: what a change needs before it is committed.
    Quick,
    /// Ten minutes: what a change needs before it lands.
    Full,
    /// Everything: what takes further minutes of both cores.
    Nightly,
}

/// The number of draws, calls or runs of a test in each tier.
pub(crate) struct Budget {
    quick: usize,
    full: usize,
    /// As in `full`, if there is no more to do.
    nightly: Option<usize>,
}

impl Budget {
    /// The number in the tier of this run.
    pub(crate) fn count(&self) -> usize {
        match *TIER {
            Quick => self.quick,
            Full => self.full,
            Nightly => self.nightly.unwrap_or(self.full),
        }
    }
}

const fn budget(quick: usize, full: usize) -> Budget {
    Budget { quick, full, nightly: None }
}

static TIER: LazyLock<Tier> = LazyLock::new(|| match std::env::var(VARIABLE).as_deref() {
    Err(std::env::VarError::NotPresent) | Ok("quick") => Quick,
    Ok("full") => Full,
    Ok("nightly") => Nightly,
    other => panic!("{VARIABLE} is {other:?}; the tiers are `quick`, `full` and `nightly`"),
});

/// Profiles for which a case expects the same, of those that the suite tries.
pub(crate) const PROFILES: Budget = budget(1, 6);

/// Layouts that the suite runs a case in: the second of two in turns.
pub(crate) const LAYOUTS: Budget = budget(2, 5);

/// Drawn calls that are saved and read back, each after it was made small.
pub(crate) const SAVED_CALLS: Budget = budget(10, 60);

/// Drawn calls, or instances of laws, of a campaign whose printed lines are pasted: some meet what the backend dies of.
pub(crate) const CALLS_OF_PASTED_LINES: Budget = budget(200, 200);

/// Drawn calls of each operator that show which mutants are wrong on it. The cases must catch those.
pub(crate) const DRAWS_OF_MUTANTS: Budget = Budget { quick: 0, full: 1500, nightly: Some(10_000) };

/// Drawn calls under each profile on which the right model of the mutants is compared with the reference.
pub(crate) const CALLS_OF_THE_MODEL: Budget = budget(500, 2000);

/// Of each form, the operators whose smoke suite is measured with every mutant.
pub(crate) const OPERATORS_OF_SMOKE: Budget = budget(1, usize::MAX);

/// The first declaration behind which it is measured: behind the one of everything, also with large cases.
pub(crate) const FIRST_OF_SMOKE: Budget = budget(1, 0);

/// Calls of each operator, with extreme attributes and shapes, of which pictures are drawn.
pub(crate) const EXTREME_CALLS: Budget = budget(12, 60);

/// Drawn calls of an operator that tests have made up, which must meet each of its errors.
pub(crate) const DRAWS_OF_AN_OPERATOR: Budget = budget(10_000, 59_000);

/// Of the cases, every n-th has its call and its answer held against the schemas, which takes a hundred times as long.
pub(crate) const EVERY_NTH_MESSAGE: Budget = budget(16, 1);

/// Of the cases with open dtypes, every n-th is tried in each dtype.
pub(crate) const EVERY_NTH_OPEN: Budget = budget(8, 1);

/// Policies and backends that the oracle in Python is asked about: each takes 8 s, most of it Python.
pub(crate) const ORACLES: Budget = Budget { quick: 0, full: 4, nightly: Some(12) };

/// The dtypes of an operand that a case with open dtypes takes, in turns.
pub(crate) const OPEN_DTYPES: Budget = budget(1, usize::MAX);

/// Tests that need a tier above quick, each with what tests its topic below it.
const ABOVE_QUICK: &[(&str, Tier, &str)] = &[
    // Mutants and draws.
    ("no_mutant_survives", Full, "`smoke` has an operator of each form"),
    (
        "the_model_without_a_mutation_passes_every_case",
        Full,
        "`the_model_without_a_mutation_answers_random_calls_like_the_reference` runs",
    ),
    ("drawn_calls_tell_as_much_as_the_cases", Nightly, "it compares all cases with draws"),
    ("no_mutant_survives_behind_a_narrow_declaration", Full, "`smoke` has an operator of each form"),
    ("every_operator_is_drawn_and_held_to_laws", Nightly, "operators that tests have made up are drawn"),
    (
        "an_independent_oracle_agrees_on_every_random_call_under_every_profile",
        Full,
        "Python; campaigns compare the two implementations",
    ),
    // Large calls.
    (
        "both_backends_answer_large_calls_under_every_profile_that_matters",
        Nightly,
        "gigabytes; `gatherspec run --suite large` is the same in release",
    ),
    ("a_program_gets_painted_params_as_a_sparse_file", Full, "gigabytes"),
    ("a_large_case_is_small_until_it_is_run", Full, LARGE),
    ("each_form_has_few_large_cases_of_every_kind", Full, LARGE),
    ("only_who_asks_for_large_cases_reads_them", Full, LARGE),
    ("places_need_a_dtype_and_lie_within_the_shape", Full, LARGE),
    // Whole runs of programs.
    ("campaigns_on_programs", Full, "processes that die and hang; `hostile_backends.rs` has one of each"),
    ("harness", Full, "each test expands all cases; `suite.rs` runs them"),
    ("limited_kernels", Full, "whole runs"),
    ("narrow_kernels", Full, "whole runs"),
    ("variants", Full, "a whole run for each value of a variant"),
    ("reports", Full, "whole runs; `page.rs` and snapshots of `cli.rs` hold the forms"),
    ("reproduction", Full, "each line starts two whole runs; unit tests compose every line"),
    ("short_campaigns", Full, "whole runs with campaigns; `campaigns.rs` drives them in this process"),
    ("signals", Full, "whole runs that are interrupted"),
    ("the_process_in_cpp_passes_every_case_of_its_dtypes", Full, "whole runs; `serve.rs` tests the protocol"),
    ("the_example_in_javascript_passes_every_case", Full, "whole runs; `serve.rs` tests the protocol"),
    ("the_example_in_go_passes_every_case", Full, "whole runs; `serve.rs` tests the protocol"),
    ("the_example_in_c_passes_the_whole_suite", Full, "a whole run"),
    ("the_lines_of_the_readme_build_and_run_the_example", Full, "a whole run"),
    ("the_lines_of_the_page_build_and_run_the_library_in_cpp", Full, "a whole run"),
    ("a_library_is_fuzzed_and_repeated_by_its_file", Full, "`hostile_backends.rs` has programs that err"),
    ("a_tiny_adapter_is_judged_like_any_other", Full, "a campaign in Python; the kit is tested call by call"),
    ("the_whole_suite_goes_through_a_pipe", Full, "two whole runs; `serve.rs` tests the protocol"),
    ("the_console_blocks_print_what_the_pages_say", Full, "whole runs; options and links are tested"),
    (
        "the_fast_gather_answers_a_made_up_operator_by_the_folder_that_it_is_read_from",
        Full,
        "whole runs; the cases of such operators are answered in this process",
    ),
    (
        "check_exits_with_2",
        Full,
        "one process for each file; the snapshots of the same files say what is wrong",
    ),
    ("every_other_line_of_the_pages_runs", Full, "whole runs; options and links are tested"),
    ("the_adapter_of_the_page_is_short_and_runs", Full, "a whole run"),
    (
        "the_starter_in_rust_builds_and_its_tests_pass",
        Nightly,
        "a build of the library; the example that it is a copy of is tested",
    ),
    // Programs that read the whole specification again and again.
    ("the_first_use_of_an_adapter_runs_nothing_of_the_current_folder", Full, ENVIRONMENTS),
    ("a_run_says_that_it_waits_for_another_which_has_the_same_version_of_python", Full, ENVIRONMENTS),
    (
        "an_unfinished_environment_is_made_anew_and_what_a_link_in_its_place_leads_to_stays",
        Full,
        ENVIRONMENTS,
    ),
    ("what_is_no_file_is_neither_locked_nor_read_as_an_adapter", Full, ENVIRONMENTS),
    ("what_an_adapter_for_node_lacks_is_named", Full, ENVIRONMENTS),
    (
        "a_reader_that_stops_does_not_change_how_a_campaign_ends",
        Full,
        "`a_reader_that_stops_changes_no_status` runs",
    ),
    (
        "departures_are_those_of_the_operators_of_the_run_and_are_drafted_with_their_reasons",
        Full,
        "unit tests of deviations run",
    ),
    (
        "a_clause_file_is_checked_against_documents_errata_and_cases",
        Full,
        "`every_file_of_an_operator_is_linted` runs",
    ),
    (
        "questions_are_listed_and_shown_operator_by_operator",
        Full,
        "`generated.rs` holds the page of questions",
    ),
    (
        "a_program_is_run_like_any_other_backend_and_its_deviations_are_strict_both_ways",
        Full,
        "unit tests of deviations run",
    ),
    ("a_library_pays_for_what_it_does_to_a_call", Full, "`hostile_backends.rs` has programs that err"),
    (
        "what_cannot_be_loaded_is_said_and_ends_with_status_3",
        Full,
        "`hostile_backends.rs` has programs that err",
    ),
    ("a_library_that_does_not_start_is_broken", Full, "`hostile_backends.rs` has programs that err"),
    ("a_whole_run_of_an_adapter_says_first_how_long_it_takes", Full, ENVIRONMENTS),
    ("lists_are_json_arrays_of_objects", Full, "four lists of everything"),
    ("what_is_accepted_and_what_is_not", Full, "the snapshots of the same files say it"),
    (
        "cases_are_chosen_by_clause_and_read_from_files",
        Full,
        "six lists of everything; `looking_up.rs` filters a small specification",
    ),
    ("a_workload_under_a_policy_is_asked_of_operators_that_have_it", Full, "other tests of `bench.rs` run"),
];

const LARGE: &str = "reading the large cases takes 10 s; `gatherspec run --suite large` runs them";
const ENVIRONMENTS: &str = "environments of adapters are made; those of two interpreters are tested";

/// Whether a test or a topic runs in this tier. Says so if not.
pub(crate) fn runs(test: &str) -> bool {
    let found = ABOVE_QUICK.iter().find(|(name, ..)| *name == test);
    let (_, from, instead) = found.unwrap_or_else(|| panic!("{test} is not listed"));
    let runs = *TIER >= *from;
    if !runs {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped below the tier {from:?}: {test}; {instead}");
    }
    runs
}

/// Ends the test in which it stands if the tier of this run leaves it out.
#[allow(unused_macros, reason = "each program takes what it needs")]
macro_rules! above_quick {
    () => {
        fn this_test() {}
        let test = std::any::type_name_of_val(&this_test).trim_end_matches("::this_test").rsplit("::").next();
        if !test.is_some_and(crate::tiers::runs) {
            return;
        }
    };
}
