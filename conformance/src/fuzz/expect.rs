//! What the reference allows: its own answer, and what the signature tolerates beside it.

use gather_spec::signature::OperandRole;
use gather_spec::{
    Allowed, BadIndex, Call, DType, ErrorCode, Outcome, Profile, Shape, Signature, Signatures,
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
    let mut all = allows(expected, profile, || reference(call, ZERO));
    if let Some(signature) = signatures.get(call.operator.as_str()) {
        all.extend(tolerated(signature, call, profile, expected));
    }
    all
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
    let (mut all, mut wide, mut refused) = (Vec::new(), None, code(expected));
    while let Some(wider) = refused.and_then(|code| widened(wide.as_ref().unwrap_or(signature), call, code)) {
        let outcome = mutants::answer(&wider, call, profile);
        all.extend(allows(&outcome, profile, || mutants::answer(&wider, call, ZERO)));
        refused = code(&outcome);
        wide = Some(wider);
    }
    all
}

/// The signature with what it tolerates listed, if a call that is refused with this code is then refused no more.
fn widened(signature: &Signature, call: &Call, code: ErrorCode) -> Option<Signature> {
    let roles = signature.roles(call).ok()?;
    let tolerates = &signature.tolerates;
    let mut wide = signature.clone();
    let dtype = |wide: &mut Signature, role, dtype: DType, more: &[DType]| {
        let is_tolerated = more.contains(&dtype) && !wide.operand(role).dtypes.contains(&dtype);
        wide.operand_mut(role).dtypes.push(dtype);
        is_tolerated
    };
    let is_tolerated = match code {
        ErrorCode::ParamsDtype => {
            dtype(&mut wide, OperandRole::Params, roles.params.dtype(), &tolerates.params_dtypes)
        }
        ErrorCode::IndexDtype => {
            dtype(&mut wide, OperandRole::Indices, roles.indices.dtype(), &tolerates.index_dtypes)
        }
        ErrorCode::IndicesRank => {
            let rule = tolerates.indices_rank.filter(|rule| rule.least() <= roles.indices.rank());
            let indices = wide.operand_mut(OperandRole::Indices);
            let wider = rule.filter(|rule| rule.least() < indices.rank.least());
            indices.rank = wider.unwrap_or(indices.rank);
            wider.is_some()
        }
        ErrorCode::JoinMismatch => {
            let wider =
                tolerates.join.filter(|wider| wide.join.is_some_and(|join| wider.is_wider_than(join)));
            wide.join = wider.or(wide.join);
            wider.is_some()
        }
        ErrorCode::IndexDepth => {
            let wider = tolerates.least_depth.filter(|least| *least < wide.least_depth);
            wide.least_depth = wider.unwrap_or(wide.least_depth);
            wider.is_some()
        }
        _ => false,
    };
    is_tolerated.then_some(wide)
}
