//! Right about which indices are bad, wrong about what they give.

use gather_spec::{BadIndex, Element, NegativeIndex, Profile};

use super::mutant::{CLAMP, ERROR, Mutant, WRAP, ZERO};
use gather_campaign::model::{self, SliceSource};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "zero-under-the-error-policy",
        "gives zeros where a bad index is to be refused",
        "error on the CPU, zero on the GPU: https://github.com/tensorflow/tensorflow/issues/3638",
        |model| model.policies = |profile| Profile { bad: BadIndex::Zero, ..profile },
    ),
    Mutant::new(
        "clamp-under-the-error-policy",
        "clamps where a bad index is to be refused",
        "compiled by XLA: https://github.com/tensorflow/tensorflow/issues/112068",
        |model| model.policies = |profile| Profile { bad: BadIndex::Clamp, ..profile },
    ),
    Mutant::new(
        "clamp-under-the-zero-policy",
        "clamps where a bad index is to give zeros",
        "compiled by XLA: https://github.com/tensorflow/tensorflow/issues/57999",
        |model| model.policies = |profile| Profile { bad: BadIndex::Clamp, ..profile },
    )
    .under(&[ZERO]),
    Mutant::new(
        "error-under-the-zero-policy",
        "refuses where a bad index is to give zeros",
        "an error or a zero by placement: https://github.com/tensorflow/tensorflow/issues/12608",
        |model| model.policies = |profile| Profile { bad: BadIndex::Error, ..profile },
    )
    .under(&[ZERO]),
    Mutant::new(
        "zero-under-the-clamp-policy",
        "gives zeros where a bad index is to be clamped",
        "zeros on one backend, a clamp on the others: https://github.com/jax-ml/jax/issues/16899",
        |model| model.policies = |profile| Profile { bad: BadIndex::Zero, ..profile },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "wrap-under-the-reject-policy",
        "counts negative indices from the end where they are bad",
        "compiled by XLA, with a batch: https://github.com/tensorflow/tensorflow/issues/118076",
        |model| model.policies = |profile| Profile { negative: NegativeIndex::Wrap, ..profile },
    )
    .under(&[ERROR, ZERO]),
    Mutant::new(
        "reject-under-the-wrap-policy",
        "takes negative indices for bad ones where they count from the end",
        "https://github.com/microsoft/onnxruntime/issues/1533",
        |model| model.policies = |profile| Profile { negative: NegativeIndex::Reject, ..profile },
    )
    .under(&[WRAP]),
    Mutant::new(
        "only-the-first-element-zeroed",
        "zeroes the first element of a bad slice, the rest is that of the nearest good one",
        "the kernel did not store zeros: https://github.com/openvinotoolkit/openvino_contrib/issues/694",
        |model| {
            model.resolve = |call, dims, row| {
                let good = model::resolve(call, dims, row);
                let nearest = |(at, bound): (&i128, &usize)| (*at).min(*bound as i128 - 1).max(0);
                let nearest = row.iter().zip(&dims.bounds).map(nearest);
                // A negative sign marks a slice to be zeroed.
                Some(good.unwrap_or_else(|| nearest.map(|at| at - MARK).collect()))
            };
            model.offset = |call, dims, batch, mid, at| {
                let bad = at.first().is_some_and(|at| *at < 0);
                let plain = |at: &i128| if bad { at + MARK } else { *at };
                let plain: Vec<i128> = at.iter().map(plain).collect();
                let offset = model::offset(call, dims, batch, mid, &plain);
                if bad { offset - MARK } else { offset }
            };
            model.element = |call, dims, params, pick, at| match pick {
                Some(start) if start < 0 && at == 0 => Element::zero(call.roles.params.dtype()),
                Some(start) if start < 0 => model::element(call, dims, params, Some(start + MARK), at),
                _ => model::element(call, dims, params, pick, at),
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "whole-output-zeroed",
        "gives nothing but zeros if one index is bad",
        "class: a flag for the call where one per row is meant",
        |model| {
            model.arrange = |_, _, picks| {
                let bad = picks.contains(&None);
                picks.into_iter().map(|pick| pick.filter(|_| !bad)).collect()
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "bad-rows-left-out",
        "moves the rows up over a bad one",
        "class: a filter where a map is meant",
        |model| {
            model.arrange = |_, _, picks| {
                let count = picks.len();
                let mut good: Vec<SliceSource> = picks.into_iter().filter(Option::is_some).collect();
                good.resize(count, None);
                good
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "bad-slices-unwritten",
        "leaves in the output what was there where a slice is to be zero",
        "paddlepaddle 3.3.1: gather_nd, x of shape [0, 3], index [[0, 0]] gives memory that was never written",
        |model| {
            model.element =
                |call, dims, params, pick, at| model::element(call, dims, params, pick.or(Some(-1 << 100)), at);
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "bad-component-taken-for-0",
        "takes a bad component for 0 instead of zeroing the slice",
        "the error became a warning and index 0: https://github.com/onnx/onnx-mlir/issues/3077",
        |model| {
            model.resolve = |call, dims, row| {
                let zeroed = |(index, bound): (&i128, &usize)| call.within(*index, *bound).unwrap_or(0);
                Some(row.iter().zip(&dims.bounds).map(zeroed).collect())
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "filled-with-nan",
        "gives NaN for a bad index of floats, and the least integer of integers",
        "the mode fill of jax.numpy.take; the same with the gather of https://github.com/jax-ml/jax/issues/3604",
        |model| {
            model.element = |call, dims, params, pick, at| match (pick, call.roles.params.dtype()) {
                (None, gather_spec::DType::String) | (Some(_), _) => model::element(call, dims, params, pick, at),
                (None, dtype) => Element::Bits(payload_of_nothing(dtype)),
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "string-filled-with-a-nul",
        "gives a string of one zero byte for a bad index, not an empty one",
        "class: the zero of bytes taken for the zero of strings",
        |model| {
            model.element = |call, dims, params, pick, at| match (pick, call.roles.params.dtype()) {
                (None, gather_spec::DType::String) => Element::Bytes("\0".into()),
                _ => model::element(call, dims, params, pick, at),
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "the-whole-row-clamped",
        "clamps every component of a row to 0 if one of them is bad",
        "class: a clamp of the row where one of the component is meant",
        |model| {
            model.resolve = |call, dims, row| {
                let bad = row.iter().zip(&dims.bounds).any(|(at, bound)| call.within(*at, *bound).is_none());
                if bad { model::resolve(call, dims, &vec![0; row.len()]) } else { model::resolve(call, dims, row) }
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "clamp-into-an-empty-axis",
        "clamps to -1 where the axis has no element",
        "tensorflow 2.21.0, jit_compile=True: params of shape [0, 3]",
        |model| {
            model.resolve = |call, dims, row| {
                let empty = dims.bounds.contains(&0) && !row.is_empty();
                if empty { Some(vec![-1; row.len()]) } else { model::resolve(call, dims, row) }
            };
            model.offset = |call, dims, batch, mid, at| {
                if at.contains(&-1) { -1 << 100 } else { model::offset(call, dims, batch, mid, at) }
            };
        },
    )
    .under(&[CLAMP]),
];

/// Larger than any offset in params.
const MARK: i128 = 1 << 100;

/// A plausible fill value if none is given.
fn payload_of_nothing(dtype: gather_spec::DType) -> u128 {
    use gather_spec::DType;
    match dtype {
        DType::F16 => 0x7e00,
        DType::BF16 => 0x7fc0,
        DType::F32 => 0x7fc0_0000,
        DType::F64 => 0x7ff8_0000_0000_0000,
        _ => 1 << (8 * dtype.size() - 1),
    }
}
