//! The outcomes that are allowed for a drawn call: the reference's, and those that the signature tolerates in addition.

use gather_spec::signature::{AttributeRole, Join, ModePolicy, OperandRole, Policy, RankRule};
use gather_spec::{
    Allowed, Attribute, BadIndex, Call, DType, EmptyAxis, ErrorCode, ErrorFields, Outcome, Profile, Shape,
    Signature, Signatures, Tensor,
};

use crate::model;

/// The largest output that is computed, in bytes. Larger ones are drawn only to see whether a backend rejects them.
pub const MAX_OUTPUT: u64 = 16 << 20;

/// A profile under which a call that is valid except for its index values has an output, and so a shape.
const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: gather_spec::NegativeIndex::Reject };

/// What the reference answers under a profile.
pub(crate) fn reference(call: &Call, profile: Profile) -> Outcome {
    gather_reference::answer(call, gather_reference::Settings { profile, max_output: MAX_OUTPUT })
}

/// All outcomes that are allowed where the reference gives `expected`. Empty if the reference cannot tell.
pub fn allowed(signatures: &Signatures, call: &Call, profile: Profile, expected: &Outcome) -> Vec<Allowed> {
    let Some(signature) = signatures.get(call.operator.as_str()) else {
        return allows(expected, profile, || reference(call, ZERO));
    };
    let profile = effective(signature, call, profile);
    let mut all = allows(expected, profile, || reference(&without_promise(signature, call), ZERO));
    all.extend(tolerated(signature, call, profile, expected));
    all
}

/// All outcomes that are allowed for a call in a dtype that only this wider signature lists, where the model of the mutants
/// gives `expected` under it.
pub(crate) fn allowed_beyond(
    wide: &Signature,
    call: &Call,
    profile: Profile,
    expected: &Outcome,
) -> Vec<Allowed> {
    let profile = effective(wide, call, profile);
    let mut all = allows(expected, profile, || model::answer(wide, &without_promise(wide, call), ZERO));
    all.extend(tolerated(wide, call, profile, expected));
    all
}

/// The profile that applies to a call: that of its mode where it has one, otherwise the declared one.
pub fn effective(signature: &Signature, call: &Call, declared: Profile) -> Profile {
    let chosen = signature.mode_sent(&call.attributes).or_else(|| signature.modes().first());
    chosen.map_or(declared, |mode| mode.profile)
}

/// The call in a mode that gives an output for a bad index, if its operator has one; otherwise the call itself.
pub fn without_promise(signature: &Signature, call: &Call) -> Call {
    let gives = |mode: &&ModePolicy| !matches!(mode.profile.bad, BadIndex::Error | BadIndex::Unspecified);
    let mut call = call.clone();
    if let Some(mode) = signature.modes().iter().find(gives)
        && let Some(attribute) = signature.attribute(AttributeRole::Mode)
    {
        call.attributes.insert(attribute.name.clone(), Attribute::String(mode.mode.clone()));
    }
    call
}

/// The outcomes allowed by a strict reading of the documents, which gives `expected`. `under_zero` computes what the
/// call gives where a bad index gives zeros; only its shape is used.
pub fn allows(expected: &Outcome, profile: Profile, under_zero: impl FnOnce() -> Outcome) -> Vec<Allowed> {
    match expected {
        // Outputs above the limit are not computed, so they cannot be compared.
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

/// The outcomes tolerated in addition where a strict reading gives `expected`. The model of the mutants answers under a
/// signature that lists what was rejected; if it rejects the call for another tolerated reason, that is listed as well.
pub fn tolerated(signature: &Signature, call: &Call, profile: Profile, expected: &Outcome) -> Vec<Allowed> {
    let code = |outcome: &Outcome| match outcome {
        Outcome::Error(error) => error.code,
        _ => None,
    };
    if code(expected) == Some(ErrorCode::ParamsRank) && allows_any_of_a_scalar(signature, call) {
        return vec![Allowed::Unspecified];
    }
    if matches!(expected, Outcome::Output(_)) {
        return refused_without_elements(signature, call);
    }
    if let Some(vectors) = as_vectors(signature, call, profile, code(expected)) {
        return vectors;
    }
    let (mut all, mut wide, mut refused) = (Vec::new(), None, code(expected));
    while let Some(wider) = refused.and_then(|code| widened(wide.as_ref().unwrap_or(signature), call, code)) {
        let outcome = model::answer(&wider, call, profile);
        all.extend(allows(&outcome, profile, || model::answer(&wider, call, ZERO)));
        refused = code(&outcome);
        wide = Some(wider);
    }
    all
}

/// The error for an index into an empty axis, where the mode fills and that error is tolerated.
fn refused_without_elements(signature: &Signature, call: &Call) -> Vec<Allowed> {
    let is_open = |mode: &&ModePolicy| mode.empty_axis == EmptyAxis::Either;
    let Some(mode) = signature.mode_sent(&call.attributes).filter(is_open) else { return Vec::new() };
    let is_empty = signature.roles(call).is_ok_and(|roles| roles.params.shape().contains(&0));
    let Policy::ByMode(modes) = &signature.policy else { return Vec::new() };
    if !is_empty {
        return Vec::new();
    }
    // A clamp that refuses an empty axis gives an error there and nowhere else.
    let profile = Profile { bad: BadIndex::Clamp, ..mode.profile };
    let clamp = |one: &ModePolicy| match one.mode == mode.mode {
        true => ModePolicy { profile, empty_axis: EmptyAxis::Error, ..one.clone() },
        false => one.clone(),
    };
    let strict = Signature { policy: Policy::ByMode(modes.iter().map(clamp).collect()), ..signature.clone() };
    match model::answer(&strict, call, profile) {
        Outcome::Error(error) => {
            error.code.map(|code| Allowed::Error(code, error.fields)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What vectors of one element give in place of a scalar with a scalar index, without their dim, where that is tolerated; and
/// the refusal of the scalars, where another tolerated refusal comes before it.
fn as_vectors(
    signature: &Signature,
    call: &Call,
    profile: Profile,
    refused: Option<ErrorCode>,
) -> Option<Vec<Allowed>> {
    let roles = signature.roles(call).ok()?;
    let are_scalars = roles.params.rank() == 0 && roles.indices.rank() == 0;
    let is_tolerated = signature.tolerates.scalars_as_vectors && are_scalars;
    let comes_to_it = || match refused {
        Some(ErrorCode::ParamsRank) => true,
        Some(code) => widened(signature, call, code).is_some(),
        None => false,
    };
    if !is_tolerated || !comes_to_it() {
        return None;
    }
    let mut vectors = call.clone();
    for (role, tensor) in [(OperandRole::Params, roles.params), (OperandRole::Indices, roles.indices)] {
        vectors.operands.replace(&signature.operand(role).name, in_shape(tensor, &[1])?);
    }
    let outcome = reference(&vectors, profile);
    let mut all = vec![Allowed::Error(ErrorCode::ParamsRank, ErrorFields::default())];
    all.extend(allows(&outcome, profile, || reference(&vectors, ZERO)));
    all.extend(tolerated(signature, &vectors, profile, &outcome));
    // What the letter of the page gives is listed already.
    all.retain(|one| !matches!(one, Allowed::Error(code, _) if Some(*code) == refused));
    Some(all.into_iter().filter_map(of_scalar).collect())
}

/// A tensor of one element in another shape that holds one.
fn in_shape(tensor: &Tensor, shape: &[usize]) -> Option<Tensor> {
    let element = tensor.iter().next()?;
    Tensor::filled(tensor.dtype(), Shape::new(shape).ok()?, &element).ok()
}

/// An outcome for vectors of one element as that of scalars.
fn of_scalar(allowed: Allowed) -> Option<Allowed> {
    Some(match allowed {
        Allowed::Output(output) => Allowed::Output(in_shape(&output, &[])?),
        Allowed::Shape(_) => Allowed::Shape(Shape::new(&[][..]).ok()?),
        Allowed::Error(code, fields) => {
            let position = fields.position.map(|_| Vec::new());
            Allowed::Error(code, ErrorFields { position, ..fields })
        }
        other => other,
    })
}

/// Whether `params` is a scalar for which the documents promise nothing.
fn allows_any_of_a_scalar(signature: &Signature, call: &Call) -> bool {
    signature.tolerates.scalar_params && signature.roles(call).is_ok_and(|roles| roles.params.rank() == 0)
}

/// The signature extended so that it no longer rejects the call with this code, if it tolerates that.
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

/// The signature with one more dtype for an operand, if that dtype is tolerated and not listed.
fn with_dtype(
    signature: &Signature,
    role: OperandRole,
    dtype: DType,
    tolerated: &[DType],
) -> Option<Signature> {
    // Last, because copying a signature takes longer than the call.
    if !tolerated.contains(&dtype) || signature.operand(role).dtypes.contains(&dtype) {
        return None;
    }
    let mut wide = signature.clone();
    wide.operand_mut(role).dtypes.push(dtype);
    Some(wide)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use gather_spec::{NegativeIndex, ReportedError};

    use super::*;
    use gather_conformance::internals::judge::{Strictness, Verdict, judge};

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

    /// The model answers under signatures that no page has; what cases tolerate was worked out by hand.
    #[test]
    fn what_is_tolerated_is_what_the_cases_tolerate() {
        let spec = crate::embedded();
        let signatures = spec.signatures();
        let codes = |all: &[Allowed]| {
            let code = |one: &Allowed| match one {
                Allowed::Error(code, _) => Some(*code),
                _ => None,
            };
            all.iter().filter_map(code).collect::<BTreeSet<_>>()
        };
        let mut compared = BTreeMap::new();
        for case in crate::embedded_runs() {
            let Some(signature) = signatures.get(case.call.operator.as_str()) else { continue };
            for profile in Profile::all_specified()
                .filter(|one| signature.permitted().is_none_or(|all| all.permits(*one)))
            {
                let by_hand = case.expect.under(profile);
                if by_hand.len() < 2 {
                    continue;
                }
                let letter = reference(&case.call, profile);
                let found = allowed(&signatures, &case.call, profile, &letter);
                let what = format!("{}, {profile}: {by_hand:?}, {found:?}", case.id);
                assert_eq!(codes(&by_hand), codes(&found), "{what}");
                assert_eq!(by_hand.len(), found.len(), "{what}");
                for one in found {
                    let Allowed::Output(output) = one else { continue };
                    let output = Outcome::Output(output);
                    let judged = judge(&by_hand, case.params(), &output, true, Strictness::Strict);
                    assert_eq!(judged.verdict, Verdict::Pass, "{what}");
                }
                *compared.entry(case.call.operator.as_str()).or_insert(0) += 1;
            }
        }
        assert!(compared.len() > 5, "{compared:?}");
    }
}
