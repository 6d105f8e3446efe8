//! The optimized backend against the reference, each byte a draw: what is covered leads the way to new calls.

#![no_main]

use std::cell::RefCell;

use gather_conformance::builtin;
use gather_conformance::internals::check::{Check, Step, Tally};
use gather_campaign::fuzz::{CampaignSubject, Differential};
use gather_campaign::generate::ChoiceSequence;
use gather_conformance::internals::judge::Strictness;
use gather_spec::{Outcome, Profile};
use libfuzzer_sys::fuzz_target;

/// Outputs beyond this many elements are not compared: the naive reference would take seconds for each.
const MOST_ELEMENTS: usize = 1 << 13;

struct Side {
    check: Differential,
    subject: CampaignSubject,
}

impl Side {
    fn new() -> Self {
        let profiles: Vec<Profile> = Profile::all_specified().collect();
        let description = builtin::backend("optimized", Profile::default(), builtin::MAX_OUTPUT)
            .expect("a name from the list")
            .describe();
        let subject = CampaignSubject::built_in("optimized", builtin::signatures(), &profiles)
            .expect("a name from the list");
        let signatures = builtin::signatures();
        Self { check: Differential::new(&description, signatures, profiles, Strictness::Strict), subject }
    }

    fn run(&mut self, draws: &[u64]) {
        let step = |asked: &[_], answers: &[_]| {
            let mut choices = ChoiceSequence::from_draws(draws.to_vec());
            self.check.step(&mut choices, asked, answers, &mut Tally::default())
        };
        let Step::Ask(asked) = step(&[], &[]) else { return };
        let requests: Vec<_> = asked.iter().collect();
        let answers = self.subject.ask(&requests).answers;
        if answers.iter().flatten().any(is_large) {
            return;
        }
        if let Step::Violated(broken) = step(&asked, &answers) {
            panic!("{broken:#?}\n{asked:#?}");
        }
    }
}

fn is_large(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Output(output) if output.shape().element_count() > MOST_ELEMENTS)
}

thread_local! {
    static SIDE: RefCell<Side> = RefCell::new(Side::new());
}

fuzz_target!(|bytes: &[u8]| {
    let draws: Vec<u64> = bytes.iter().map(|byte| u64::from(*byte)).collect();
    SIDE.with_borrow_mut(|side| side.run(&draws));
});
