//! What the reference allows: its own answer, and what a ruling tolerates beside it.

use gather_spec::{
    Allowed, BadIndex, Call, DType, ErrorCode, Outcome, Profile, Shape, Tensor, TensorBuilder, TensorError,
};

/// The most bytes of an output: huge ones are drawn to be refused, not to be made.
pub(crate) const MAX_OUTPUT: u64 = 16 << 20;

/// What the reference answers under a profile.
pub(crate) fn reference(call: &Call, profile: Profile) -> Outcome {
    gather_reference::answer(call, gather_reference::Settings { profile, max_output: MAX_OUTPUT })
}

/// All outcomes that are allowed where the reference gives `expected`; none if it does not do such calls.
pub(crate) fn allowed(call: &Call, profile: Profile, expected: &Outcome) -> Vec<Allowed> {
    match expected {
        // The reference refuses what is too large.
        Outcome::Unsupported(_) | Outcome::TooLarge { .. } => Vec::new(),
        Outcome::Output(output) => vec![Allowed::Output(output.clone())],
        Outcome::Error(error) => {
            let code = error.code.expect("the reference classifies its errors");
            if code == ErrorCode::IndexOutOfRange && profile.bad == BadIndex::Unspecified {
                let shape = output_shape(call).map(Allowed::Shape);
                return shape.into_iter().chain([Allowed::AnyError]).collect();
            }
            let tolerated =
                relaxed(call, code).map(|call| allowed(&call, profile, &reference(&call, profile)));
            let mut all = vec![Allowed::Error(code, error.fields.clone())];
            all.extend(tolerated.into_iter().flatten());
            all
        }
    }
}

/// The shape of the output of a call that is right but for its indices.
fn output_shape(call: &Call) -> Option<Shape> {
    let profile = Profile { bad: BadIndex::Zero, ..Profile::default() };
    match reference(call, profile) {
        Outcome::Output(output) => Some(output.shape().clone()),
        _ => None,
    }
}

/// The call as a ruling tolerates it where a page's letter refuses it: int16 indices where another page lists them,
/// and Paddle's rank and dtypes as the formula takes them.
fn relaxed(call: &Call, code: ErrorCode) -> Option<Call> {
    let paddle = call.operator.as_str() == "paddle.gather_nd";
    let raw = || gather_spec::Operator::new("tf.raw_ops.GatherNd");
    match code {
        ErrorCode::IndexDtype if call.indices.dtype() == DType::I16 => {
            Some(Call { indices: widened(&call.indices).ok()?, ..call.clone() })
        }
        ErrorCode::ParamsDtype if paddle => Some(Call { operator: raw(), ..call.clone() }),
        ErrorCode::IndicesRank if paddle && call.indices.rank() == 1 => {
            Some(Call { operator: raw(), ..call.clone() })
        }
        _ => None,
    }
}

/// The same indices as i32.
fn widened(indices: &Tensor) -> Result<Tensor, TensorError> {
    let mut wide = TensorBuilder::new(DType::I32, indices.shape().clone())?;
    for position in indices.shape().positions() {
        let value = indices.integer(&position).unwrap_or_default();
        wide.push(gather_spec::Element::Bits(value.cast_unsigned()));
    }
    wide.finish()
}
