//! The typed functions of `optimized`, called as an operator is, into memory that was written before.

use gather_conformance::builtin::MAX_OUTPUT;
use gather_optimized::{Element, Index, Options, Plan};
use gather_spec::signature::{
    AttributeDefault, AttributeRole, Axis, CollapsedSize, EmptyDims, EmptyIndex, OperandRole, OutputBatch,
    RankRule, SliceBound,
};
use gather_spec::tensor::Stored;
use gather_spec::{
    Attribute, Call, DType, DimensionNumbers, EmptyAxis, Form, Outcome, Refusal, ReportedError, Signature,
    Tensor,
};
use ndarray::{ArrayD, ArrayViewD, IxDyn};

/// The outcome of gathering into outputs full of 0x00 and of 0xFF, which must agree; `None` for calls that have no
/// typed function, or whose dtypes an operator refuses.
pub(crate) fn into_poisoned(signature: &Signature, call: &Call, options: Options) -> Option<Outcome> {
    let roles = signature.roles(call).ok()?;
    let supported = has_typed_function(signature)
        && signature.operand(OperandRole::Params).dtypes.contains(&roles.params.dtype())
        && signature.operand(OperandRole::Indices).dtypes.contains(&roles.indices.dtype())
        && [DType::I32, DType::I64].contains(&roles.indices.dtype())
        && roles.params.dtype() != DType::String
        // The typed function takes any rank, and then has no axis to take.
        && (signature.form != Form::Elements || roles.params.rank() > 0);
    if !supported {
        return None;
    }
    let options = options.batch_dims(roles.batch_dims.unwrap_or(0));
    let options = match signature.mode(&roles) {
        // The typed functions know no flattening, and no error for an empty axis alone.
        Some(mode)
            if signature.is_flat(&roles)
                || mode.empty_axis == EmptyAxis::Error && roles.params.shape().contains(&0) =>
        {
            return None;
        }
        Some(mode) => options.profile(mode.profile),
        None if roles.mode.is_some() => return None,
        None => options,
    };
    let axis = match roles.axis {
        Some(Axis::Null) => return None,
        Some(Axis::At(axis)) => Some(axis),
        None => default_axis(signature),
    };
    let options = axis.map_or(options, |axis| options.axis(axis));
    let options = signature.join.map_or(options, |join| options.join(join));
    let window = roles.window.as_ref().map(|sent| signature.window(sent, roles.indices.rank()));
    let (numbers, slice_sizes) = window.unwrap_or_default();
    let typed = Typed {
        form: signature.form,
        indices: roles.indices,
        numbers: &numbers,
        slice_sizes: &slice_sizes,
        options,
    };
    Some(match roles.params.dtype().size() {
        1 => poisoned::<u8>(roles.params, typed, [0, u8::MAX]),
        2 => poisoned::<u16>(roles.params, typed, [0, u16::MAX]),
        4 => poisoned::<u32>(roles.params, typed, [0, u32::MAX]),
        8 => poisoned::<u64>(roles.params, typed, [0, u64::MAX]),
        _ => poisoned::<u128>(roles.params, typed, [0, u128::MAX]),
    })
}

/// The number that an absent axis stands for, whatever the call.
fn default_axis(signature: &Signature) -> Option<i64> {
    match signature.attribute(AttributeRole::Axis)?.default {
        AttributeDefault::Value(Attribute::Integer(axis)) => Some(axis),
        _ => None,
    }
}

/// Whether an operator differs in nothing but dtypes, attributes and scalars from the typed function of its form.
pub(crate) fn has_typed_function(signature: &Signature) -> bool {
    let ranks = [OperandRole::Params, OperandRole::Indices].map(|role| signature.operand(role).rank);
    match signature.form {
        Form::Take => {
            let axis = signature.attribute(AttributeRole::Axis);
            ranks == [RankRule::AtLeast1, RankRule::Any]
                && axis.is_some_and(|axis| axis.default == AttributeDefault::BatchDims)
        }
        Form::Elements => {
            ranks == [RankRule::AtLeast1, RankRule::Any]
                && (signature.empty_index, signature.empty_dims) == (EmptyIndex::Checked, EmptyDims::Allowed)
        }
        Form::Nd => {
            ranks == [RankRule::Any, RankRule::AtLeast1]
                && (signature.least_depth, signature.output_batch) == (0, OutputBatch::Kept)
        }
        Form::Window => {
            let laxest = (Some(CollapsedSize::AtMost1), SliceBound::Always);
            ranks == [RankRule::Any, RankRule::Any]
                && (signature.collapsed_size, signature.slice_bound) == laxest
        }
    }
}

/// A call of a typed function, params aside.
#[derive(Clone, Copy)]
struct Typed<'a> {
    form: Form,
    indices: &'a Tensor,
    /// Of form window.
    numbers: &'a DimensionNumbers,
    slice_sizes: &'a [i64],
    options: Options,
}

fn poisoned<T: Element + Stored>(params: &Tensor, call: Typed<'_>, poisons: [T; 2]) -> Outcome {
    let dtype = params.dtype();
    let params = params.view::<T>().expect("the width of the dtype");
    let outcomes = poisons.map(|poison| {
        // The value decides the index type, so that all eight are used.
        let largest = call.indices.iter().count() % 3;
        let result = match (call.indices.dtype(), largest) {
            (DType::I64, 0) if fits::<u64>(call.indices) => into::<T, u64>(&params, call, poison),
            (DType::I64, 1) if fits::<u32>(call.indices) => into::<T, u32>(&params, call, poison),
            (DType::I64, _) => into::<T, i64>(&params, call, poison),
            (_, 0) if fits::<u8>(call.indices) => into::<T, u8>(&params, call, poison),
            (_, 0) if fits::<i8>(call.indices) => into::<T, i8>(&params, call, poison),
            (_, 1) if fits::<u16>(call.indices) => into::<T, u16>(&params, call, poison),
            (_, 1) if fits::<i16>(call.indices) => into::<T, i16>(&params, call, poison),
            _ => into::<T, i32>(&params, call, poison),
        };
        outcome(result, dtype)
    });
    assert_eq!(outcomes[0], outcomes[1], "something was not written");
    let [outcome, _] = outcomes;
    outcome
}

fn fits<I: TryFrom<i128>>(indices: &Tensor) -> bool {
    indices.shape().positions().all(|at| I::try_from(indices.integer(&at).expect("an integer")).is_ok())
}

fn into<T: Element, I: Index + TryFrom<i128>>(
    params: &ArrayViewD<'_, T>,
    call: Typed<'_>,
    poison: T,
) -> Result<ArrayD<T>, Refusal> {
    let values = call.indices.shape().positions();
    let values = values.map(|at| {
        let value = call.indices.integer(&at).expect("an integer");
        I::try_from(value).ok().expect("a type that fits")
    });
    let indices =
        ArrayD::from_shape_vec(IxDyn(call.indices.shape()), values.collect()).expect("its own shape");
    let plan = match call.form {
        Form::Take => Plan::gather(params.shape(), indices.shape(), &call.options),
        Form::Elements => Plan::take_along_axis(params.shape(), indices.shape(), &call.options),
        Form::Nd => Plan::gather_nd(params.shape(), indices.shape(), &call.options),
        Form::Window => Plan::gather_windows(
            params.shape(),
            indices.shape(),
            call.numbers,
            call.slice_sizes,
            &call.options,
        ),
    }?;
    let bytes = plan.output_shape().iter().map(|dim| *dim as u128).product::<u128>() * size_of::<T>() as u128;
    if bytes > u128::from(MAX_OUTPUT) {
        return Err(Refusal::Unsupported("too large for a test".to_owned()));
    }
    let mut output = ArrayD::from_elem(IxDyn(plan.output_shape()), poison);
    plan.run_into(params, &indices, &mut output)?;
    Ok(output)
}

fn outcome<T: Stored>(result: Result<ArrayD<T>, Refusal>, dtype: DType) -> Outcome {
    match result {
        Ok(output) => {
            let shape = output.shape().to_vec();
            let (elements, _) = output.into_raw_vec_and_offset();
            Outcome::Output(Tensor::new(dtype, shape, elements).expect("an output of its own shape"))
        }
        Err(Refusal::Error(error)) => Outcome::Error(ReportedError::from(error)),
        Err(Refusal::Unsupported(why)) => Outcome::Unsupported(why),
    }
}
