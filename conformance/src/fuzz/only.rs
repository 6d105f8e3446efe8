//! Restricts a campaign to some operators. Cases of other operators are still drawn, so that a case number means the same
//! call with and without the restriction.

use crate::generate::Choices;

use super::Tally;
use super::check::{Answer, Check, Question, Step};
use super::tally::NOT_CHOSEN;

/// A check that asks only about some operators.
pub struct OfOperators<'a> {
    check: Box<dyn Check>,
    operators: &'a [String],
}

impl<'a> OfOperators<'a> {
    /// Skips the cases of `check` that ask about any other operator.
    #[must_use]
    pub fn new(check: Box<dyn Check>, operators: &'a [String]) -> Self {
        Self { check, operators }
    }
}

impl Check for OfOperators<'_> {
    fn step(&self, choices: &mut Choices, asked: &[Question], answers: &[Answer], tally: &mut Tally) -> Step {
        match self.check.step(choices, asked, answers, tally) {
            Step::Ask(questions) => {
                let is_chosen = |question: &Question| {
                    self.operators.iter().any(|operator| operator == question.call.operator.as_str())
                };
                match questions.iter().find(|question| !is_chosen(question)) {
                    None => Step::Ask(questions),
                    Some(question) => {
                        tally.count(question.call.operator.as_str(), NOT_CHOSEN);
                        Step::Done
                    }
                }
            }
            step => step,
        }
    }
}
