//! What deviations may tell calls apart by, and the judged cases of a campaign, as a report keeps them for a draft.

use std::collections::BTreeSet;

use gather_spec::signature::{AttributeRole, OperandRole};
use gather_spec::{Allowed, Attribute, Call, DType, ErrorCode, Profile, Run, Signature, Variant};
use serde::Deserialize;

use crate::backend::Dtypes;
use crate::judge::Verdict;

/// What a call is expected to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(from = "OutputOrCode")]
pub(crate) enum ExpectedOutcome {
    /// An output.
    Output,
    /// An error with this code.
    Code(ErrorCode),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OutputOrCode {
    Output,
    #[serde(untagged)]
    Code(ErrorCode),
}

impl From<OutputOrCode> for ExpectedOutcome {
    fn from(text: OutputOrCode) -> Self {
        match text {
            OutputOrCode::Output => Self::Output,
            OutputOrCode::Code(code) => Self::Code(code),
        }
    }
}

/// What a selector tests of a call.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(crate) expected: BTreeSet<ExpectedOutcome>,
    pub(crate) params: DType,
    pub(crate) indices: DType,
    pub(crate) rank: u64,
    pub(crate) size: u64,
    pub(crate) empty: bool,
    pub(crate) attributes: Vec<(String, Attribute)>,
    pub(crate) mode: Option<String>,
    pub(crate) profile: Profile,
    pub(crate) variant: Variant,
    pub(crate) message: Option<String>,
}

/// A case of a campaign that was judged, for a draft.
#[derive(Clone, Debug)]
pub struct JudgedCase {
    pub(crate) law: Option<String>,
    pub(crate) operator: String,
    /// `pass`, or what is wrong.
    pub(crate) verdict: Verdict,
    pub(crate) facts: Facts,
    /// The entry that covers it.
    pub(crate) known: Option<usize>,
    /// The call and what was answered, if that is wrong.
    pub(crate) shown: String,
}

impl Facts {
    /// What a selector tests of a call under the policies that the backend declares; `None` if it lacks params or indices.
    pub(crate) fn of_call(signature: &Signature, call: &Call, declared: Profile) -> Option<Self> {
        let operand = |role| call.operands.get(&signature.operand(role).name);
        let params = operand(OperandRole::Params)?;
        let indices = operand(OperandRole::Indices)?;
        let sent = signature.attribute(AttributeRole::Mode).and_then(|mode| call.attributes.get(&mode.name));
        let mode = match sent {
            Some(Attribute::String(mode)) => Some(mode.clone()),
            _ => signature.modes().first().map(|mode| mode.mode.clone()),
        };
        Some(Self {
            expected: BTreeSet::new(),
            params: params.dtype(),
            indices: indices.dtype(),
            rank: params.shape().rank() as u64,
            size: params.shape().element_count() as u64,
            empty: call.operands.tensors().any(|operand| operand.shape().element_count() == 0),
            attributes: call.attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            mode,
            profile: signature
                .mode_sent(&call.attributes)
                .or(signature.modes().first())
                .map_or(declared, |mode| mode.profile),
            variant: call.variant.clone(),
            message: None,
        })
    }

    /// The same for a run that a backend was asked, in the dtypes in which it was sent, with what the backend said.
    pub(crate) fn of_run(
        run: &Run,
        profile: Profile,
        dtypes: Option<Dtypes>,
        message: Option<String>,
    ) -> Option<Self> {
        let facts = Self::of_call(&run.case.signature, &run.call, profile)?;
        let allowed = run.expect.under(profile);
        Some(Self {
            expected: allowed.iter().filter_map(ExpectedOutcome::of).collect(),
            params: dtypes.map_or(facts.params, |dtypes| dtypes.params),
            indices: dtypes.map_or(facts.indices, |dtypes| dtypes.indices),
            message,
            ..facts
        })
    }
}

impl ExpectedOutcome {
    fn of(allowed: &Allowed) -> Option<Self> {
        match allowed {
            Allowed::Output(_) | Allowed::Filled(_) | Allowed::Shape(_) => Some(Self::Output),
            Allowed::Error(code, _) => Some(Self::Code(*code)),
            Allowed::AnyError | Allowed::Unspecified => None,
        }
    }
}

/// What a backend said when it failed: its message, or how it ended, and what it wrote to standard error. An output says
/// nothing.
pub(crate) fn message(observed: Verdict, actual: &str, stderr: Option<&str>) -> Option<String> {
    let said = match observed {
        Verdict::RejectedGoodInput
        | Verdict::WrongError
        | Verdict::Crash
        | Verdict::Timeout
        | Verdict::ProtocolError => Some(actual),
        _ => None,
    };
    if !observed.is_failure() {
        return None;
    }
    let said: Vec<&str> = said.into_iter().chain(stderr).collect();
    if said.is_empty() { None } else { Some(said.join("\n")) }
}
