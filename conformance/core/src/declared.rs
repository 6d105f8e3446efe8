//! Which calls a backend is sent by what it declares: dtypes, limits, and dtypes beyond the operator's page.
//!
//! A call outside the limits is not sent, be it that of a case, a drawn one or one of a law. One run for each limit, just
//! outside of it, is a probe: the backend may refuse it, or answer it right.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use gather_spec::load::Maker;
use gather_spec::{Allowed, Call, Case, DType, Element, Run, Signature, TensorError, Variant, any};

use crate::backend::{Capability, Description};
use crate::judge::is_dtype_error;
use crate::limits::{CallExtent, Limit};
use crate::shapes::of_output;

/// The most dtypes that a declaration in words lists.
const FEW: usize = 4;

/// Why a case is not sent to a backend that declares its operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Its dtypes are not declared.
    Dtypes,
    /// It expects the rejection of a dtype that the backend accepts beyond the page.
    Extension,
    /// It exceeds these limits.
    Limits(Vec<Limit>),
    /// It is in a variant that is not declared.
    Variant(Variant),
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dtypes => f.write_str("the dtypes are not declared"),
            Self::Extension => f.write_str("the backend extends the page by this dtype"),
            Self::Limits(limits) => {
                let limits: Vec<String> = limits.iter().map(Limit::to_string).collect();
                write!(f, "outside the declared limits: {}", limits.join(", "))
            }
            Self::Variant(variant) => write!(f, "the backend does not declare the variant {variant}"),
        }
    }
}

impl Capability {
    /// The same with the dtypes beyond the page among the others, to draw from.
    pub fn with_extensions(&self) -> Self {
        let mut all = self.clone();
        all.dtypes.extend(&self.extends.dtypes);
        all.index_dtypes.extend(&self.extends.index_dtypes);
        all
    }

    /// Why a run is not sent: `run` is in dtypes that the backend declares, if it has any of those.
    pub(crate) fn excludes(&self, run: &Run) -> Option<Outside> {
        if !self.variants.admit(&run.call) {
            return Some(Outside::Variant(run.call.variant.clone()));
        }
        let allowed = run.expect.under(self.profile);
        let rejects_dtype = allowed.iter().any(is_dtype_error);
        let (params, indices) = (run.params().dtype(), run.indices().dtype());
        let extends = self.extends.dtypes.contains(&params) || self.extends.index_dtypes.contains(&indices);
        if rejects_dtype && extends {
            return Some(Outside::Extension);
        }
        if !rejects_dtype && !self.covers(&run.roles()) {
            return Some(Outside::Dtypes);
        }
        let exceeded = self.limits_exceeded_by(&run.call, &run.case.signature);
        (!exceeded.is_empty()).then_some(Outside::Limits(exceeded))
    }

    /// Whether a call is within the limits.
    pub fn admits(&self, call: &Call, signature: &Signature) -> bool {
        self.limits_exceeded_by(call, signature).is_empty()
    }

    /// The limits that a call exceeds. The output is that of its operands' shapes, also if an index is bad.
    fn limits_exceeded_by(&self, call: &Call, signature: &Signature) -> Vec<Limit> {
        let roles = if self.limits.is_empty() { None } else { signature.roles(call).ok() };
        let Some(roles) = roles else { return Vec::new() };
        let operands = [&roles.params.shape()[..], &roles.indices.shape()[..]];
        let output = of_output(signature, call);
        let output = output.as_ref().map(|output| (output.dtype, &output.shape[..]));
        self.limits.exceeded_by(&CallExtent { call, operands, axis: signature.axis_of(&roles), output })
    }

    /// The run in declared dtypes, if it has any of those. Where a dtype is open, runs take turns by their ids between the
    /// page's first that is declared and each beyond the page.
    pub(crate) fn in_declared_dtypes<'c>(&self, run: &'c Run) -> Result<Cow<'c, Run>, TensorError> {
        if self.extends.is_empty() {
            return run.within(&self.dtypes, &self.index_dtypes);
        }
        let in_turn = |open: &[DType], declared: &[DType], beyond: &[DType], known: &[DType], now| {
            let of_page = open.iter().find(|dtype| declared.contains(dtype));
            let beyond = beyond.iter().filter(|dtype| !open.is_empty() && known.contains(dtype));
            let all: Vec<DType> = of_page.into_iter().chain(beyond).copied().collect();
            let turn =
                run.id.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            all.get(turn.checked_rem(all.len()).unwrap_or(0)).copied().unwrap_or(now)
        };
        let (open, now) = (&run.open, (run.params().dtype(), run.indices().dtype()));
        let params = in_turn(&open.params, &self.dtypes, &self.extends.dtypes, &any::PARAMS, now.0);
        let beyond = &self.extends.index_dtypes;
        run.in_dtypes(params, in_turn(&open.indices, &self.index_dtypes, beyond, &any::INDICES, now.1))
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dtypes = |all: &[DType]| match all.len() {
            0..=FEW => all.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", "),
            many => format!("{many} dtypes"),
        };
        write!(f, "{} by {}", dtypes(&self.dtypes), dtypes(&self.index_dtypes))?;
        for (of, beyond) in [("params", &self.extends.dtypes), ("indices", &self.extends.index_dtypes)] {
            if !beyond.is_empty() {
                write!(f, ", {of} of {} beyond the page", dtypes(beyond))?;
            }
        }
        if self.limits.is_empty() { Ok(()) } else { write!(f, ", {}", self.limits) }
    }
}

/// Whether the output of a run is all zeros, and how large its operands are.
type ProbeSize = (bool, usize);

/// The runs just outside a limit, by id: for each limit of each operator the smallest run that has one right output, not of
/// zeros if there is one, and exceeds no other limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes(HashSet<String>);

impl Probes {
    /// The probes among the runs of these cases.
    pub(crate) fn new<'a>(description: &Description, cases: impl IntoIterator<Item = &'a Arc<Case>>) -> Self {
        let mut smallest: BTreeMap<(&str, Limit), (ProbeSize, String)> = BTreeMap::new();
        let limited: BTreeMap<&str, &Capability> = (description.operators.iter())
            .filter(|(_, capability)| !capability.limits.is_empty())
            .map(|(operator, capability)| (operator.as_str(), capability))
            .collect();
        if limited.is_empty() {
            return Self::default();
        }
        let mut maker = Maker::default();
        for case in cases.into_iter().filter(|case| !case.large) {
            let Some((operator, capability)) = limited.get_key_value(case.operator().as_str()) else {
                continue;
            };
            for run in maker.runs(case) {
                let Some((limit, size)) = capability.probed_by(&run) else { continue };
                let found = smallest.entry((*operator, limit)).or_insert_with(|| (size, run.id.clone()));
                if size < found.0 {
                    *found = (size, run.id);
                }
            }
        }
        Self(smallest.into_values().map(|(_, id)| id).collect())
    }

    /// Whether a run is one.
    pub(crate) fn has(&self, run: &Run) -> bool {
        self.0.contains(&run.id)
    }
}

impl Capability {
    /// The only limit that a run with one right output exceeds, whether the output is all zeros, and the size of the run.
    fn probed_by(&self, run: &Run) -> Option<(Limit, ProbeSize)> {
        let run = self.in_declared_dtypes(run).ok()?;
        let allowed = run.expect.under(self.profile);
        let [Allowed::Output(output)] = allowed.as_slice() else { return None };
        let Some(Outside::Limits(exceeded)) = self.excludes(&run) else { return None };
        let [limit] = exceeded.as_slice() else { return None };
        let tensors = run.call.operands.tensors();
        // The rank is part of the size, so that of a limit on the rank the next one is chosen.
        let size = tensors.map(|tensor| tensor.rank().saturating_add(tensor.shape().element_count()));
        let zero = Element::zero(output.dtype());
        Some((
            limit.clone(),
            (output.iter().all(|element| element == zero), size.fold(0, usize::saturating_add)),
        ))
    }
}

#[cfg(test)]
mod tests;
