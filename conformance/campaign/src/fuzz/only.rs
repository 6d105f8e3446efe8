//! Restricts a campaign to some operators. Cases of other operators are still drawn, so that a case number means the same
//! call with and without the restriction. A law belongs to the operator of its first call, as its failures do, so that a
//! restricted campaign has exactly the failures of the operators that it is restricted to.

use crate::generate::ChoiceSequence;

use gather_conformance::internals::check::NOT_CHOSEN;
use gather_conformance::internals::check::{CallRequest, CallResult, Check, Step, Tally};

/// A check that asks only about some operators.
pub struct OfOperators<'a> {
    check: Box<dyn Check>,
    operators: &'a [String],
}

impl<'a> OfOperators<'a> {
    /// Skips the cases of `check` that ask about another operator first.
    #[must_use]
    pub fn new(check: Box<dyn Check>, operators: &'a [String]) -> Self {
        Self { check, operators }
    }
}

impl Check for OfOperators<'_> {
    fn step(
        &self,
        choices: &mut ChoiceSequence,
        asked: &[CallRequest],
        answers: &[CallResult],
        tally: &mut Tally,
    ) -> Step {
        match self.check.step(choices, asked, answers, tally) {
            Step::Ask(requests) => {
                let first = asked.first().or(requests.first()).map(|request| &request.call.operator);
                let is_chosen = |name: &str| self.operators.iter().any(|operator| operator == name);
                match first.filter(|first| !is_chosen(first.as_str())) {
                    None => Step::Ask(requests),
                    Some(other) => {
                        tally.count(other.as_str(), NOT_CHOSEN);
                        Step::Done
                    }
                }
            }
            step => step,
        }
    }
}
