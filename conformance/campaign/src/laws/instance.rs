//! A law, and one instance of it, which draws, asks calls and compares the answers.
//!
//! A law is straight-line code. Where it asks calls that are not answered yet, it returns early with [`Stop::Ask`]; once
//! the answers are in, it runs again from the start on the same draws and gets further. This works because a law draws
//! everything before it asks the first call.

use gather_spec::signature::{AttributeRole, OperandRole};
use gather_spec::{Call, Form, Outcome, Profile, Signature, Signatures, Tensor};

use crate::generate::ChoiceSequence;
use gather_conformance::backend::{Capability, Description};
use gather_conformance::internals::check::{CallRequest, CallResult, CallSettings};
use gather_conformance::internals::judge::{Verdict, describe_outcome};

use super::stop::Stop;
use super::tensors::reshape;
use gather_conformance::internals::shapes::{ExpectedOutput, of_output};

/// A relation between calls.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Its name.
    pub name: &'static str,
    /// The relation, in one line.
    pub statement: &'static str,
    /// The id of the documented example that it transcribes.
    pub example: Option<&'static str>,
    /// The forms of operators that it is about.
    pub forms: &'static [Form],
    /// The attributes that these operators need.
    pub roles: &'static [AttributeRole],
    /// Further conditions on the operator.
    pub(super) only: fn(&Signature) -> bool,
    /// Whether it says anything under these policies.
    pub(super) speaks: fn(Profile) -> bool,
    pub(super) check: fn(&mut Instance<'_>) -> Result<(), Stop>,
}

impl Law {
    /// Whether it is about an operator.
    #[must_use]
    pub fn is_about(&self, signature: &Signature) -> bool {
        let modes = signature.modes();
        self.forms.contains(&signature.form)
            && self.roles.iter().all(|role| signature.attribute(*role).is_some())
            && (self.only)(signature)
            && (modes.is_empty() || modes.iter().any(|mode| self.speaks_of(mode.profile)))
    }

    /// Whether it says anything under these policies.
    pub(super) fn speaks_of(&self, profile: Profile) -> bool {
        (self.speaks)(profile)
    }
}

/// For laws of every gather except windows, which have laws of their own.
pub(super) const EVERY_FORM: &[Form] = &[Form::Take, Form::Elements, Form::Nd];

/// For laws about index rows that are independent of each other.
pub(super) const FREE_ROWS: &[Form] = &[Form::Take, Form::Nd];

/// For laws without further conditions on the operator.
pub(super) const ALL: fn(&Signature) -> bool = |_| true;

/// For laws that apply under all policies.
pub(super) const ANY: fn(Profile) -> bool = |_| true;

/// The backend that laws are asked of.
#[derive(Debug)]
pub(super) struct TestedBackend {
    pub(super) description: Description,
    pub(super) signatures: Signatures,
    pub(super) in_process: bool,
    /// One in this many drawn gathers has a size at which kernels switch between code paths.
    pub(super) edges_in: usize,
}

/// One instance of a law: its draws, the backend's declaration, and the answers so far.
pub(super) struct Instance<'a> {
    pub(super) law: &'a Law,
    pub(super) choices: &'a mut ChoiceSequence,
    backend: &'a TestedBackend,
    /// Replaces the declared profile for a backend that can follow any.
    profile: Option<Profile>,
    settings: CallSettings,
    answers: &'a [CallResult],
    used: usize,
}

impl<'a> Instance<'a> {
    pub(super) fn new(
        law: &'a Law,
        choices: &'a mut ChoiceSequence,
        backend: &'a TestedBackend,
        profile: Option<Profile>,
        settings: CallSettings,
        answers: &'a [CallResult],
    ) -> Self {
        Self { law, choices, backend, profile, settings, answers, used: 0 }
    }

    /// Whether the backend runs in this process.
    pub(super) const fn is_in_process(&self) -> bool {
        self.backend.in_process
    }

    /// One in this many drawn gathers has a size at which kernels switch between code paths.
    pub(super) const fn edges_in(&self) -> usize {
        self.backend.edges_in
    }

    /// The operators that the backend declares.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'a Signature> + use<'a> {
        let TestedBackend { description, signatures, .. } = self.backend;
        signatures.iter().filter(|one| description.operators.contains_key(one.operator.as_str()))
    }

    /// What the backend declares for an operator.
    pub(super) fn capability(&self, signature: &Signature) -> &'a Capability {
        &self.backend.description.operators[signature.operator.as_str()]
    }

    /// The policies under which an operator is judged here.
    pub(super) fn profile(&self, operator: &str) -> Profile {
        let declared = self.backend.description.operators.get(operator).map(|known| known.profile);
        self.profile.or(declared).unwrap_or_default()
    }

    /// Asks calls and returns their outcomes. None of them is `unsupported`: the law is skipped in that case.
    pub(super) fn ask(&mut self, calls: Vec<Call>) -> Result<Vec<Outcome>, Stop> {
        if !calls.iter().all(|call| self.has_allowed_ranks(call)) {
            return Err(Stop::Skip("skipped: a rank beyond the operator's rule"));
        }
        if calls.iter().any(|call| self.has_rejected_dims(call)) {
            return Err(Stop::Skip("skipped: a dim of 0, which the operator rejects"));
        }
        if calls.iter().any(|call| self.exceeds_limits(call)) {
            return Err(Stop::Skip("skipped: outside the declared limits"));
        }
        let Some(answers) = self.answers.get(self.used..self.used + calls.len()) else {
            let request = |call: Call| {
                let profile = self.profile(call.operator.as_str());
                CallRequest { call, settings: CallSettings { profile, ..self.settings } }
            };
            return Err(Stop::Ask(calls.into_iter().map(request).collect()));
        };
        self.used += calls.len();
        let mut outcomes = Vec::with_capacity(answers.len());
        for (call, answer) in calls.iter().zip(answers) {
            match answer {
                Ok(Outcome::Unsupported(_)) => return Err(Stop::Skip("skipped: unsupported")),
                Ok(outcome) => {
                    outcomes.push(self.with_the_shape_of(call, outcome)?);
                }
                Err(trouble) => {
                    let expected = "an answer to every call".to_owned();
                    return Err(Stop::Broken {
                        verdict: trouble.verdict,
                        expected,
                        actual: trouble.what.clone(),
                        difference: None,
                    });
                }
            }
        }
        Ok(outcomes)
    }

    /// Whether the operator accepts the ranks of a call that a law derived from another one.
    fn has_allowed_ranks(&self, call: &Call) -> bool {
        let Some(signature) = self.backend.signatures.get(call.operator.as_str()) else { return false };
        let allows = |role, tensor: &Tensor| signature.operand(role).rank.allows(tensor.rank());
        signature.roles(call).is_ok_and(|roles| {
            allows(OperandRole::Params, roles.params) && allows(OperandRole::Indices, roles.indices)
        })
    }

    /// Whether a call that a law derived from another one has a dim of 0 that the operator rejects.
    fn has_rejected_dims(&self, call: &Call) -> bool {
        let signature = self.backend.signatures.get(call.operator.as_str());
        let roles = signature.and_then(|one| Some((one, one.roles(call).ok()?)));
        roles.is_some_and(|(one, roles)| one.rejects_empty_dims(roles.params.shape(), roles.indices.shape()))
    }

    /// Whether a call is outside the limits of the backend.
    fn exceeds_limits(&self, call: &Call) -> bool {
        let TestedBackend { description, signatures, .. } = self.backend;
        let operator = call.operator.as_str();
        let Some(known) = description.operators.get(operator).filter(|known| !known.limits.is_empty()) else {
            return false;
        };
        signatures.get(operator).is_some_and(|signature| !known.admits(call, signature))
    }

    /// Asks calls that are valid by construction, and returns their outputs.
    pub(super) fn outputs(&mut self, calls: Vec<Call>) -> Result<Vec<Tensor>, Stop> {
        let outcomes = self.ask(calls)?;
        outcomes
            .into_iter()
            .enumerate()
            .map(|(at, outcome)| match outcome {
                Outcome::Output(output) => Ok(output),
                refused => Err(Stop::Broken {
                    verdict: Verdict::RejectedGoodInput,
                    expected: format!("an output of call {}", at + 1),
                    actual: describe_outcome(&refused),
                    difference: None,
                }),
            })
            .collect()
    }

    /// Asks a call that is valid by construction.
    pub(super) fn output(&mut self, call: Call) -> Result<Tensor, Stop> {
        Ok(self.outputs(vec![call])?.remove(0))
    }

    fn signature_of(&self, call: &Call) -> Option<&'a Signature> {
        self.backend.signatures.get(call.operator.as_str())
    }

    /// Checks the dtype and the shape of an output first, so that laws can take it apart without further checks. Batch dims
    /// that are one in the output are taken apart here, so that laws know of one shape only.
    fn with_the_shape_of(&self, call: &Call, outcome: &Outcome) -> Result<Outcome, Stop> {
        let Outcome::Output(output) = outcome else { return Ok(outcome.clone()) };
        let Some(ExpectedOutput { dtype, shape, apart }) =
            self.signature_of(call).and_then(|signature| of_output(signature, call))
        else {
            return Ok(outcome.clone());
        };
        if output.dtype() == dtype && output.shape()[..] == *shape {
            return match apart {
                Some(apart) => Ok(Outcome::Output(reshape(output, &apart)?)),
                None => Ok(outcome.clone()),
            };
        }
        Err(Stop::Broken {
            verdict: Verdict::WrongOutput,
            expected: format!("{dtype} {shape:?}"),
            actual: describe_outcome(outcome),
            difference: None,
        })
    }
}
