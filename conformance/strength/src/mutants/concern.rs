//! Finds out which operators a mutant is wrong on, by comparing it with the right model on drawn calls.
//!
//! A mutant must be caught on these operators, and only there: on any other it gives right answers, and no case can catch
//! it.

use std::collections::BTreeMap;

use gather_spec::{Call, Outcome, Profile, Signature, Signatures};
use rayon::prelude::*;

use super::mutant::{CLAMP, ERROR, Mutant, WRAP, ZERO, declaring};
use gather_campaign::fuzz::{allows, effective, tolerated, without_promise};
use gather_campaign::generate::{CallGenerator, ChoiceSequence};
use gather_campaign::model::CORRECT;
use gather_conformance::backend::Dtypes;
use gather_conformance::internals::judge::{Strictness, Verdict, judge};

/// How many usual calls to draw for an operator, and how many far ones after them.
const USUAL: u64 = 9000;
const FAR: u64 = 1000;

/// A call or a case is large if an operand has more elements.
pub(super) const LARGE: usize = 1 << 13;

/// The most drawn calls with more than [`LARGE`] elements. Each takes as long as hundreds of others.
const MOST_LARGE: usize = 12;

/// Threads per call: some mutants are right on one thread and wrong on two.
const THREADS: usize = 2;

/// Calls of one operator, with the answers of the right model.
pub(super) struct AnsweredCalls {
    signature: Signature,
    calls: Vec<Call>,
    /// By profile, call by call.
    right: BTreeMap<Profile, Vec<Outcome>>,
}

impl AnsweredCalls {
    /// Usual and far calls of an operator, in the dtypes that its pages list. Each round draws other calls.
    pub(super) fn all(signature: &Signature, round: u64) -> Self {
        Self::new(signature, None, round, USUAL + FAR)
    }

    /// The first calls of [`AnsweredCalls::all`].
    pub(super) fn some(signature: &Signature, draws: u64) -> Self {
        Self::new(signature, None, 0, draws.min(USUAL + FAR))
    }

    /// Usual calls of an operator, in the dtypes that its pages list or in one dtype pair. Omits far calls, which are slow.
    pub(super) fn usual(signature: &Signature, narrow: Option<Dtypes>) -> Self {
        Self::new(signature, narrow, 0, USUAL)
    }

    fn new(signature: &Signature, narrow: Option<Dtypes>, round: u64, draws: u64) -> Self {
        let only: Signatures = std::iter::once(signature.clone()).collect();
        let description = declaring(&only, Profile::default(), narrow).describe();
        let capability = &description.operators[signature.operator.as_str()];
        // Hundreds of mutants answer each call, so no call should be larger than needed.
        let generator = CallGenerator::new(&description, &only).without_edges();
        let call = |choices: &mut ChoiceSequence, at: u64| {
            choices.reseed(round * (USUAL + FAR) + at);
            let drawn = if at < USUAL { generator.call(choices) } else { generator.far_call(choices) };
            drawn.ok().flatten().filter(|call| {
                narrow.is_none() || signature.roles(call).is_ok_and(|roles| capability.covers(&roles))
            })
        };
        let drawn = (0..draws).into_par_iter().map_init(|| ChoiceSequence::from_seed(0), call);
        let mut calls: Vec<Call> = drawn.flatten().collect();
        let mut large = 0;
        calls.retain(|call| {
            let is_large = is_large(call);
            large += usize::from(is_large);
            !is_large || large <= MOST_LARGE
        });
        let right = |profile: Profile| {
            (profile, calls.par_iter().map(|call| CORRECT.answer(signature, call, profile, 1)).collect())
        };
        let right = [ERROR, ZERO, CLAMP, WRAP].map(right).into();
        Self { signature: signature.clone(), calls, right }
    }

    pub(super) fn operator(&self) -> &str {
        self.signature.operator.as_str()
    }

    /// Whether a mutant is wrong on one of the calls under one of its profiles.
    pub(super) fn are_wrong_for(&self, mutant: &Mutant) -> bool {
        if !mutant.is_wrong_for(self.signature.form) {
            return false;
        }
        let model = mutant.model();
        let threads = if mutant.threaded { THREADS } else { 1 };
        mutant.profiles.iter().any(|profile| {
            self.calls.iter().zip(&self.right[profile]).any(|(call, right)| {
                let outcome = model.answer(&self.signature, call, *profile, threads);
                !right.agrees(&outcome) && !self.allows(call, *profile, right, &outcome)
            })
        })
    }

    /// Whether an outcome that differs from the right one is allowed nevertheless.
    fn allows(&self, call: &Call, profile: Profile, right: &Outcome, outcome: &Outcome) -> bool {
        let profile = effective(&self.signature, call, profile);
        let promised = |call: &Call| CORRECT.answer(&self.signature, call, ZERO, 1);
        let mut allowed = allows(right, profile, || promised(&without_promise(&self.signature, call)));
        allowed.extend(tolerated(&self.signature, call, profile, right));
        let Ok(roles) = self.signature.roles(call) else { return false };
        judge(&allowed, roles.params, outcome, true, Strictness::Strict).verdict == Verdict::Pass
    }
}

fn is_large(call: &Call) -> bool {
    call.operands.iter().any(|(_, tensor)| tensor.shape().element_count() > LARGE)
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;
    use gather_conformance::builtin;
    use gather_conformance::internals::layout::Layout;

    #[test]
    fn mutants_that_depend_on_no_layout_answer_alike_in_all_of_them() {
        let one_layout = all().into_iter().filter(|mutant| mutant.layouts().len() == 1).collect::<Vec<_>>();
        assert!(one_layout.len() > 300 && one_layout.len() < all().len(), "{}", one_layout.len());
        for signature in builtin::signatures() {
            let draws = AnsweredCalls::new(signature, None, 0, 10);
            one_layout.par_iter().filter(|mutant| mutant.is_wrong_for(signature.form)).for_each(|mutant| {
                let answer = |call: &Call| mutant.model().answer(signature, call, mutant.profiles[0], 1);
                for call in &draws.calls {
                    let first = answer(call);
                    for layout in Layout::ALL {
                        let same = answer(&layout.apply(call).unwrap());
                        assert!(first.agrees(&same), "{} in layout {layout}: {call:?}", mutant.id);
                    }
                }
            });
        }
    }

    #[test]
    fn calls_take_no_step_of_another_form() {
        for signature in builtin::signatures() {
            let mut trapped = CORRECT;
            trapped.numbers = |_| panic!("a step of windows");
            trapped.breaks = |_, _| panic!("a step of windows");
            trapped.combine = |_, _, _| panic!("a step of windows");
            trapped.fit = |_, _| panic!("a step of windows");
            trapped.rows = |_, _| panic!("a step of windows");
            trapped.row = |_, _| panic!("a step of windows");
            trapped.full_start = |_, _| panic!("a step of windows");
            trapped.full_batching = |_, _| panic!("a step of windows");
            trapped.full_offset = |_, _| panic!("a step of windows");
            trapped.exempt = |_| panic!("a step of elements");
            trapped.index_at = |_, _| panic!("a step of elements");
            trapped.origin = |_, _, _| panic!("a step of elements");
            let mut model = CORRECT;
            model.take_over_unused(signature.form, &trapped);
            let draws = AnsweredCalls::new(signature, None, 0, 1000);
            for (profile, right) in &draws.right {
                for (call, right) in draws.calls.iter().zip(right) {
                    assert_eq!(model.answer(signature, call, *profile, 1), *right, "{call:?}");
                }
            }
        }
    }
}
