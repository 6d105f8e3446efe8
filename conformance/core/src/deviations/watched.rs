//! A check that compares each call of a campaign with known deviations as soon as it is judged. So each group
//! of failures is covered by one entry or by none, and its count and example concern exactly the calls that
//! are covered.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use gather_spec::Signatures;

use crate::backend::Description;
use crate::check::{CallRequest, CallResult, Check, Key, Step, Tally, Violation};
use crate::choices::ChoiceSequence;
use crate::judge::Verdict;

use super::Deviations;
use super::kinds;
use crate::facts::{ExpectedOutcome, Facts, JudgedCase, message};

/// A check whose failures are compared with known deviations.
pub struct Watched<'a> {
    check: Box<dyn Check + 'a>,
    known: &'a Deviations,
    /// The version of the backend.
    version: &'a str,
    description: &'a Description,
    signatures: &'a Signatures,
    /// The first cases, by number. At most `most` are kept.
    calls: Mutex<BTreeMap<u64, JudgedCase>>,
    most: u64,
}

impl<'a> Watched<'a> {
    /// Watches a check of a backend with this description, and keeps the first `most` cases for a draft.
    pub fn new(
        check: Box<dyn Check + 'a>,
        known: &'a Deviations,
        version: &'a str,
        description: &'a Description,
        signatures: &'a Signatures,
        most: u64,
    ) -> Self {
        Self { check, known, version, description, signatures, calls: Mutex::default(), most }
    }

    /// The cases that were kept, of the first `done`.
    pub fn into_calls(self, done: u64) -> Vec<JudgedCase> {
        let calls = self.calls.into_inner().unwrap_or_else(PoisonError::into_inner);
        calls.into_iter().take_while(|(number, _)| *number < done).map(|(_, call)| call).collect()
    }

    /// What selectors test of the first call.
    fn facts(&self, asked: &[CallRequest], expected: Option<ExpectedOutcome>) -> Option<Facts> {
        let first = asked.first()?;
        let declared = self.description.operators.get(first.call.operator.as_str());
        // Without declared policies, those that the request carries apply.
        let profile = declared.map_or(first.settings.profile, |known| known.profile);
        let signature = self.signatures.get(first.call.operator.as_str())?;
        let mut facts = Facts::of_call(signature, &first.call, profile)?;
        facts.expected.extend(expected);
        Some(facts)
    }

    fn facts_of(&self, asked: &[CallRequest], broken: &Violation) -> Option<Facts> {
        let Key { law, expected, verdict, .. } = &broken.key;
        let code = |code: &String| code.parse().ok().map(ExpectedOutcome::Code);
        let expected =
            if law.is_some() { None } else { expected.as_ref().map_or(Some(ExpectedOutcome::Output), code) };
        let facts = self.facts(asked, expected)?;
        Some(Facts { message: message(*verdict, &broken.actual, None), ..facts })
    }

    /// The violation if an entry expects this passing call to fail.
    fn unexpected(
        &self,
        asked: &[CallRequest],
        law: Option<&str>,
        expected: Option<ExpectedOutcome>,
    ) -> Option<Violation> {
        let operator = asked.first()?.call.operator.as_str();
        if !kinds::concern(&self.known.kinds, law, operator) {
            return None;
        }
        let facts = self.facts(asked, expected)?;
        let found = kinds::unexpected(&self.known.kinds, law, operator, &facts, self.version)?;
        let code = expected.and_then(|expected| match expected {
            ExpectedOutcome::Output => None,
            ExpectedOutcome::Code(code) => Some(code.to_string()),
        });
        let mut key = Key::new(law, self.signatures, asked, Verdict::UnexpectedPass, code);
        key.known = Some(found.0);
        let expected = format!("the deviation {}", found.1);
        Some(Violation { key, expected, actual: Verdict::Pass.to_string(), difference: None })
    }
}

impl Check for Watched<'_> {
    fn step(
        &self,
        choices: &mut ChoiceSequence,
        asked: &[CallRequest],
        answers: &[CallResult],
        tally: &mut Tally,
    ) -> Step {
        match self.check.step(choices, asked, answers, tally) {
            Step::Violated(mut broken) => {
                let facts = self.facts_of(asked, &broken);
                broken.key.known = facts
                    .and_then(|facts| kinds::covering(&self.known.kinds, &broken.key, &facts, self.version));
                Step::Violated(broken)
            }
            Step::Held { law, expected } => {
                let of_drawn =
                    law.is_none().then(|| expected.map_or(ExpectedOutcome::Output, ExpectedOutcome::Code));
                match self.unexpected(asked, law, of_drawn) {
                    Some(broken) => Step::Violated(Box::new(broken)),
                    None => Step::Held { law, expected },
                }
            }
            step => step,
        }
    }

    fn settled(&self, number: u64, asked: &[CallRequest], step: &Step) {
        if number >= self.most {
            return;
        }
        let (law, verdict, facts, known, actual) = match step {
            Step::Held { law, expected } => {
                let expected =
                    law.is_none().then(|| expected.map_or(ExpectedOutcome::Output, ExpectedOutcome::Code));
                (law.map(str::to_owned), Verdict::Pass, self.facts(asked, expected), None, None)
            }
            Step::Violated(broken) => {
                let key = &broken.key;
                let passes = key.verdict == Verdict::UnexpectedPass;
                let verdict = if passes { Verdict::Pass } else { key.verdict };
                let known = key.known.filter(|_| !passes);
                (key.law.clone(), verdict, self.facts_of(asked, broken), known, Some(&broken.actual))
            }
            _ => return,
        };
        let (Some(facts), Some(first)) = (facts, asked.first()) else { return };
        let shown = actual.map(|actual| format!("{}: {actual}", crate::words::call_line(&first.call)));
        let operator = first.call.operator.to_string();
        let call = JudgedCase { law, operator, verdict, facts, known, shown: shown.unwrap_or_default() };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(number, call);
    }
}
