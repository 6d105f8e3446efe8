//! Runs one instance of a law: it draws, asks calls and compares the answers.
//!
//! A law is straight-line code. Where it asks calls that are not answered yet, it returns early with [`Stop::Ask`]; once
//! the answers are in, it runs again from the start on the same draws and gets further. This works because a law draws
//! everything before it asks the first call.

use gather_spec::literal::Rows;
use gather_spec::signature::{AttributeRole, Axis, Join, OperandRole};
use gather_spec::{Call, DType, Form, Outcome, Profile, Signature, Signatures, Tensor, TensorError};

use crate::backend::{Capability, Description};
use crate::difference::Difference;
use crate::fuzz::{Answer, Question, Way};
use crate::generate::Choices;
use crate::generate::parts::{Ranks, counts_from, default_of};
use crate::judge::{Verdict, describe_outcome};

use super::{Law, Laws};

/// Why a law returns early.
#[derive(Debug)]
pub(super) enum Stop {
    /// It needs answers to these questions, and then runs again from the start.
    Ask(Vec<Question>),
    /// The law does not apply, for this reason.
    Skip(&'static str),
    /// The law is violated.
    Broken { verdict: Verdict, expected: String, actual: String, difference: Option<Box<Difference>> },
}

impl From<TensorError> for Stop {
    fn from(_: TensorError) -> Self {
        Self::Skip("skipped: no memory")
    }
}

impl From<gather_spec::ShapeTooLarge> for Stop {
    fn from(_: gather_spec::ShapeTooLarge) -> Self {
        Self::Skip("skipped: too large")
    }
}

/// One instance of a law: its draws, the backend's declaration, and the answers so far.
pub(super) struct Instance<'a> {
    pub(super) law: &'a Law,
    pub(super) choices: &'a mut Choices,
    description: &'a Description,
    signatures: &'a Signatures,
    /// Replaces the declared profile for a backend that can follow any.
    profile: Option<Profile>,
    way: Way,
    pub(super) in_process: bool,
    /// One drawn gather in so many has a size at which kernels switch between code paths.
    pub(super) edges_in: usize,
    answers: &'a [Answer],
    used: usize,
}

impl<'a> Instance<'a> {
    pub(super) fn new(
        law: &'a Law,
        choices: &'a mut Choices,
        about: &'a Laws,
        profile: Option<Profile>,
        way: Way,
        answers: &'a [Answer],
    ) -> Self {
        let Laws { description, signatures, in_process, edges_in, .. } = about;
        Self {
            law,
            choices,
            description,
            signatures,
            profile,
            way,
            in_process: *in_process,
            edges_in: *edges_in,
            answers,
            used: 0,
        }
    }

    /// The operators that the backend declares.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'a Signature> + use<'a> {
        let description = self.description;
        self.signatures.iter().filter(|one| description.operators.contains_key(one.operator.as_str()))
    }

    /// What the backend declares for an operator.
    pub(super) fn capability(&self, signature: &Signature) -> &'a Capability {
        &self.description.operators[signature.operator.as_str()]
    }

    /// The policies under which an operator is judged here.
    pub(super) fn profile(&self, operator: &str) -> Profile {
        let declared = self.description.operators.get(operator).map(|known| known.profile);
        self.profile.or(declared).unwrap_or_default()
    }

    /// Asks calls and returns their outcomes. None of them is `unsupported`: the law is skipped in that case.
    pub(super) fn ask(&mut self, calls: Vec<Call>) -> Result<Vec<Outcome>, Stop> {
        if !calls.iter().all(|call| self.has_allowed_ranks(call)) {
            return Err(Stop::Skip("skipped: a rank beyond the operator's rule"));
        }
        let Some(answers) = self.answers.get(self.used..self.used + calls.len()) else {
            let question = |call: Call| {
                let profile = self.profile(call.operator.as_str());
                Question { call, way: Way { profile, ..self.way } }
            };
            return Err(Stop::Ask(calls.into_iter().map(question).collect()));
        };
        self.used += calls.len();
        let mut outcomes = Vec::with_capacity(answers.len());
        for (call, answer) in calls.iter().zip(answers) {
            match answer {
                Ok(Outcome::Unsupported(_)) => return Err(Stop::Skip("skipped: unsupported")),
                Ok(outcome) => {
                    self.has_the_shape_of(call, outcome)?;
                    outcomes.push(outcome.clone());
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
        let Some(signature) = self.signatures.get(call.operator.as_str()) else { return false };
        let allows = |role, tensor: &Tensor| signature.operand(role).rank.allows(tensor.rank());
        signature.roles(call).is_ok_and(|roles| {
            allows(OperandRole::Params, roles.params) && allows(OperandRole::Indices, roles.indices)
        })
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

    /// Checks the dtype and the shape of an output first, so that laws can take it apart without further checks.
    fn has_the_shape_of(&self, call: &Call, outcome: &Outcome) -> Result<(), Stop> {
        let Outcome::Output(output) = outcome else { return Ok(()) };
        let Some((dtype, shape)) = self.formula(call) else { return Ok(()) };
        if output.dtype() == dtype && output.shape()[..] == *shape {
            return Ok(());
        }
        Err(Stop::Broken {
            verdict: Verdict::WrongOutput,
            expected: format!("{dtype} {shape:?}"),
            actual: describe_outcome(outcome),
            difference: None,
        })
    }

    /// The dtype and the shape of the output of a call whose attributes are in range.
    fn formula(&self, call: &Call) -> Option<(DType, Vec<usize>)> {
        let signature = self.signatures.get(call.operator.as_str())?;
        let roles = signature.roles(call).ok()?;
        let (params, indices) = (roles.params.shape(), roles.indices.shape());
        let resolved = |role, sent: Option<i64>, batch| {
            let ranks = Ranks { params: params.len(), indices: indices.len(), batch };
            match sent {
                None => default_of(signature, role, ranks),
                Some(value) if value < 0 => {
                    let end = i64::try_from(counts_from(signature, role, ranks)?).ok()?;
                    usize::try_from(value + end).ok()
                }
                Some(value) => usize::try_from(value).ok(),
            }
        };
        let batch = resolved(AttributeRole::BatchDims, roles.batch_dims, 0)?;
        let flat = [roles.params.shape().element_count()];
        let (params, axis) = match roles.axis {
            _ if signature.is_flat(&roles) => (&flat[..], 0),
            Some(Axis::Null) => return None,
            Some(Axis::At(axis)) => (&params[..], resolved(AttributeRole::Axis, Some(axis), batch)?),
            None => (&params[..], resolved(AttributeRole::Axis, None, batch)?),
        };
        let shape = match signature.form {
            Form::Take => [params.get(..axis)?, indices.get(batch..)?, params.get(axis + 1..)?].concat(),
            Form::Elements => joined(signature, params, indices, axis)?,
            Form::Window => super::windows::output_shape(signature, &roles)?,
            Form::Nd => {
                let (depth, rows) = indices.split_last()?;
                [params.get(..batch)?, rows.get(batch..)?, params.get(batch + depth..)?].concat()
            }
        };
        Some((roles.params.dtype(), shape))
    }
}

/// The output shape of form elements: that of indices, except that an index dim of 1 takes the dim of params where
/// dims of 1 repeat. `None` if the ranks differ.
pub(super) fn joined(
    signature: &Signature,
    params: &[usize],
    indices: &[usize],
    axis: usize,
) -> Option<Vec<usize>> {
    let repeats = |dim| signature.join == Some(Join::Broadcast) && dim != axis;
    let pairs = params.iter().zip(indices).enumerate();
    let dims =
        pairs.map(|(dim, (params, indices))| if repeats(dim) && *indices == 1 { *params } else { *indices });
    (params.len() == indices.len()).then(|| dims.collect())
}

/// Requires that two tensors are equal.
pub(super) fn equal(expected: &Tensor, actual: &Tensor) -> Result<(), Stop> {
    if expected == actual {
        return Ok(());
    }
    let (one, other) = (Outcome::Output(expected.clone()), Outcome::Output(actual.clone()));
    let shown = |tensor: &Tensor| format!("{} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor));
    Err(Stop::Broken {
        verdict: Verdict::WrongOutput,
        expected: format!("by the law {}", shown(expected)),
        actual: shown(actual),
        difference: Difference::between(&one, &other).map(Box::new),
    })
}

/// Requires that two outcomes agree: equal outputs, or two errors whose codes and fields, where both have a code, are equal.
pub(super) fn agree(one: &Outcome, other: &Outcome) -> Result<(), Stop> {
    match (one, other) {
        (Outcome::Output(one), Outcome::Output(other)) => equal(one, other),
        (Outcome::Error(a), Outcome::Error(b)) => {
            let codes = a.code.is_none() || b.code.is_none() || (a.code == b.code && a.fields == b.fields);
            if codes { Ok(()) } else { Err(differ(Verdict::WrongError, one, other)) }
        }
        (Outcome::Output(_), _) => Err(differ(Verdict::RejectedGoodInput, one, other)),
        _ => Err(differ(Verdict::AcceptedBadInput, one, other)),
    }
}

/// Requires that the whole equals what `together` makes of the outputs of the parts, or is an error if a part is one.
pub(super) fn made_of(
    parts: &[Outcome],
    whole: &Outcome,
    together: impl FnOnce(&[Tensor]) -> Result<Tensor, Stop>,
) -> Result<(), Stop> {
    let outputs: Result<Vec<Tensor>, &Outcome> = parts
        .iter()
        .map(|part| match part {
            Outcome::Output(output) => Ok(output.clone()),
            refused => Err(refused),
        })
        .collect();
    match (outputs, whole) {
        (Ok(outputs), Outcome::Output(whole)) => equal(&together(&outputs)?, whole),
        (Ok(_), refused) => Err(Stop::Broken {
            verdict: Verdict::RejectedGoodInput,
            expected: "an output, since every part has one".to_owned(),
            actual: describe_outcome(refused),
            difference: None,
        }),
        (Err(refused), Outcome::Output(_)) => Err(Stop::Broken {
            verdict: Verdict::AcceptedBadInput,
            expected: format!("an error, since a part has one: {}", describe_outcome(refused)),
            actual: describe_outcome(whole),
            difference: None,
        }),
        (Err(_), _) => Ok(()),
    }
}

fn differ(verdict: Verdict, one: &Outcome, other: &Outcome) -> Stop {
    Stop::Broken {
        verdict,
        expected: format!("as before: {}", describe_outcome(one)),
        actual: describe_outcome(other),
        difference: Difference::between(one, other).map(Box::new),
    }
}
