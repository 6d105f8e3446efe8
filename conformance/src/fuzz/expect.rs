//! What the reference allows: its own answer, and what the signature tolerates beside it.

use gather_spec::signature::{AttributeRole, Join, ModePolicy, OperandRole, RankRule};
use gather_spec::{
    Allowed, Attribute, BadIndex, Call, DType, ErrorCode, Outcome, Profile, Shape, Signature, Signatures,
};

use crate::mutants;

/// The most bytes of an output: huge ones are drawn to be refused, not to be made.
pub(crate) const MAX_OUTPUT: u64 = 16 << 20;

/// The policies under which a call that is right but for its indices has an output.
const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: gather_spec::NegativeIndex::Reject };

/// What the reference answers under a profile.
pub(crate) fn reference(call: &Call, profile: Profile) -> Outcome {
    gather_reference::answer(call, gather_reference::Settings { profile, max_output: MAX_OUTPUT })
}

/// All outcomes that are allowed where the reference gives `expected`; none if it does not do such calls.
pub(crate) fn allowed(
    signatures: &Signatures,
    call: &Call,
    profile: Profile,
    expected: &Outcome,
) -> Vec<Allowed> {
    let Some(signature) = signatures.get(call.operator.as_str()) else {
        return allows(expected, profile, || reference(call, ZERO));
    };
    let profile = effective(signature, call, profile);
    let mut all = allows(expected, profile, || reference(&without_promise(signature, call), ZERO));
    all.extend(tolerated(signature, call, profile, expected));
    all
}

/// The profile that a call is answered under: where the call chooses, what is declared leaves nothing open.
pub(crate) fn effective(signature: &Signature, call: &Call, declared: Profile) -> Profile {
    let chosen = signature.mode_sent(&call.attributes).or_else(|| signature.modes().first());
    chosen.map_or(declared, |mode| mode.profile)
}

/// The same call in a mode that gives an output for a bad index, if its operator has one.
pub(crate) fn without_promise(signature: &Signature, call: &Call) -> Call {
    let gives = |mode: &&ModePolicy| !matches!(mode.profile.bad, BadIndex::Error | BadIndex::Unspecified);
    let mut call = call.clone();
    if let Some(mode) = signature.modes().iter().find(gives)
        && let Some(attribute) = signature.attribute(AttributeRole::Mode)
    {
        call.attributes.insert(attribute.name.clone(), Attribute::String(mode.mode.clone()));
    }
    call
}

/// What is allowed where an implementation that takes the letter gives `expected`, and `under_zero` if a bad index gives
/// zeros.
pub(crate) fn allows(
    expected: &Outcome,
    profile: Profile,
    under_zero: impl FnOnce() -> Outcome,
) -> Vec<Allowed> {
    match expected {
        // It refuses what is too large.
        Outcome::Unsupported(_) | Outcome::TooLarge { .. } => Vec::new(),
        Outcome::Output(output) => vec![Allowed::Output(output.clone())],
        Outcome::Error(error) => {
            let code = error.code.expect("the reference and the model classify their errors");
            if code == ErrorCode::IndexOutOfRange && profile.bad == BadIndex::Unspecified {
                let shape = output_shape(&under_zero()).map(Allowed::Shape);
                return shape.into_iter().chain([Allowed::AnyError]).collect();
            }
            vec![Allowed::Error(code, error.fields.clone())]
        }
    }
}

fn output_shape(outcome: &Outcome) -> Option<Shape> {
    match outcome {
        Outcome::Output(output) => Some(output.shape().clone()),
        _ => None,
    }
}

/// What the signature tolerates where its letter gives `expected`: what the right model gives, as if the pages listed what
/// is refused; and again if the model refuses something else that is tolerated.
pub(crate) fn tolerated(
    signature: &Signature,
    call: &Call,
    profile: Profile,
    expected: &Outcome,
) -> Vec<Allowed> {
    let code = |outcome: &Outcome| match outcome {
        Outcome::Error(error) => error.code,
        _ => None,
    };
    if code(expected) == Some(ErrorCode::ParamsRank) && allows_any_of_a_scalar(signature, call) {
        return vec![Allowed::Unspecified];
    }
    let (mut all, mut wide, mut refused) = (Vec::new(), None, code(expected));
    while let Some(wider) = refused.and_then(|code| widened(wide.as_ref().unwrap_or(signature), call, code)) {
        let outcome = mutants::answer(&wider, call, profile);
        all.extend(allows(&outcome, profile, || mutants::answer(&wider, call, ZERO)));
        refused = code(&outcome);
        wide = Some(wider);
    }
    all
}

/// Whether params is a scalar of which the pages promise nothing.
fn allows_any_of_a_scalar(signature: &Signature, call: &Call) -> bool {
    signature.tolerates.scalar_params && signature.roles(call).is_ok_and(|roles| roles.params.rank() == 0)
}

/// The signature with what it tolerates listed, if a call that is refused with this code is then refused no more.
fn widened(signature: &Signature, call: &Call, code: ErrorCode) -> Option<Signature> {
    let roles = signature.roles(call).ok()?;
    let tolerates = &signature.tolerates;
    match code {
        ErrorCode::ParamsDtype => {
            with_dtype(signature, OperandRole::Params, roles.params.dtype(), &tolerates.params_dtypes)
        }
        ErrorCode::IndexDtype => {
            with_dtype(signature, OperandRole::Indices, roles.indices.dtype(), &tolerates.index_dtypes)
        }
        ErrorCode::IndicesRank => {
            let listed = signature.operand(OperandRole::Indices).rank.least();
            let takes = |rule: &RankRule| rule.least() <= roles.indices.rank() && rule.least() < listed;
            let rank = tolerates.indices_rank.filter(takes)?;
            let mut wide = signature.clone();
            wide.operand_mut(OperandRole::Indices).rank = rank;
            Some(wide)
        }
        ErrorCode::JoinMismatch => {
            let takes_more = |join: &Join| signature.join.is_some_and(|listed| join.is_wider_than(listed));
            let join = tolerates.join.filter(takes_more)?;
            Some(Signature { join: Some(join), ..signature.clone() })
        }
        ErrorCode::IndexDepth => {
            let least_depth = tolerates.least_depth.filter(|least| *least < signature.least_depth)?;
            Some(Signature { least_depth, ..signature.clone() })
        }
        _ => None,
    }
}

/// The signature with one more dtype of an operand, if that is tolerated and not listed.
fn with_dtype(
    signature: &Signature,
    role: OperandRole,
    dtype: DType,
    tolerated: &[DType],
) -> Option<Signature> {
    // Copying a signature takes longer than the call: it is left for last.
    if !tolerated.contains(&dtype) || signature.operand(role).dtypes.contains(&dtype) {
        return None;
    }
    let mut wide = signature.clone();
    wide.operand_mut(role).dtypes.push(dtype);
    Some(wide)
}

#[cfg(test)]
mod tests {
    use gather_spec::{ErrorFields, NegativeIndex, ReportedError, Tensor};

    use super::*;

    #[test]
    fn what_is_open_is_an_index_out_of_range_and_no_other_error() {
        let profile = Profile { bad: BadIndex::Unspecified, negative: NegativeIndex::Reject };
        let error = |code| {
            let fields = ErrorFields::default();
            Outcome::Error(ReportedError { message: "no".to_owned(), code: Some(code), fields })
        };
        let under_zero = || Outcome::Output(Tensor::new(DType::U8, [2], vec![0u8, 0]).unwrap());
        let allowed = |code| allows(&error(code), profile, under_zero);
        let shape = Allowed::Shape(Shape::new([2]).unwrap());
        assert_eq!(allowed(ErrorCode::IndexOutOfRange), [shape, Allowed::AnyError]);
        let rank = Allowed::Error(ErrorCode::IndicesRank, ErrorFields::default());
        assert_eq!(allowed(ErrorCode::IndicesRank), [rank]);
    }
}
