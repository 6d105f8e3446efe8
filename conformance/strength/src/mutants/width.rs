//! Wrong about the widths of indices, sizes and offsets.

use gather_spec::{DType, ErrorCode, shape::nonzero_bytes};

use super::mutant::{CLAMP, ERROR, Mutant, ZERO};
use super::rows::UNWRITTEN;
use gather_campaign::model::{self, ModelCall, count};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "i64-indices-cut-to-32-bits",
        "reads the low 32 bits of 64-bit indices",
        "int64 data held as int32 where a device lacks it, as in WebGPU backends of ONNX Runtime",
        |model| {
            model.index = |dtype, bits| match dtype {
                DType::I64 => model::index(DType::I32, bits),
                _ => model::index(dtype, bits),
            };
        },
    )
    .under(&[ERROR, ZERO]),
    Mutant::new(
        "i32-indices-read-as-i64",
        "reads 32-bit indices as if each took 64 bits",
        "0 and 1 were read as 4294967296: https://github.com/pytorch/pytorch/issues/37996",
        |model| {
            model.read_indices = |indices| {
                let elements = model::memory::row_major(indices);
                if indices.dtype() != DType::I32 {
                    return elements;
                }
                let half = |at: usize| match elements.get(at) {
                    Some(gather_spec::Element::Bits(bits)) => *bits,
                    _ => 0,
                };
                let pair = |at: usize| gather_spec::Element::Bits(half(2 * at) | half(2 * at + 1) << 32);
                (0..elements.len()).map(pair).collect()
            };
            model.index = |dtype, bits| {
                model::index(if dtype == DType::I32 { DType::I64 } else { dtype }, bits)
            };
        },
    ),
    Mutant::new(
        "indices-unsigned",
        "reads indices as unsigned numbers",
        "idx as usize: https://github.com/tracel-ai/burn/issues/3739",
        |model| model.index = |_, bits| bits.cast_signed(),
    ),
    Mutant::new(
        "sign-lost-on-i16",
        "reads 16-bit indices without their sign",
        "class: a zero extension where a sign extension is meant",
        |model| {
            model.index =
                |dtype, bits| model::index(if dtype == DType::I16 { DType::U16 } else { dtype }, bits);
        },
    ),
    Mutant::new(
        "indices-cut-to-16-bits",
        "reads the low 16 bits of indices",
        "an index of up to 65535 into 256: https://github.com/tenstorrent/tt-mlir/issues/9211",
        |model| model.index = |_, bits| model::index(DType::I16, bits),
    ),
    Mutant::new(
        "indices-through-f64",
        "takes 64-bit indices through a double",
        "numbers of JavaScript, where 2^53 + 1 is 2^53",
        |model| model.index = |dtype, bits| rounded(model::index(dtype, bits), 53),
    ),
    Mutant::new(
        "indices-through-f32",
        "takes indices through a float",
        "textures of floats in WebGL backends, where 2^24 + 1 is 2^24",
        |model| model.index = |dtype, bits| rounded(model::index(dtype, bits), 24),
    ),
    Mutant::new(
        "sizes-in-the-index-dtype",
        "keeps the size of an axis in the dtype of indices",
        "tensorflow 2.21.0, int16 indices: sizes beyond 32767",
        |model| {
            model.within = |call, index, bound| {
                let bound = model::index(call.roles.indices.dtype(), bound as u128);
                model::within(call, index, usize::try_from(bound).unwrap_or(0))
            };
        },
    ),
    Mutant::new(
        "row-count-in-the-index-dtype",
        "counts rows in the dtype of indices, and writes none if the count is negative",
        "tensorflow 2.21.0, gather_nd_op.h: 40000 rows of int16 indices are not written",
        |model| {
            model.arrange = |call, _, picks| {
                let rows = model::index(call.roles.indices.dtype(), picks.len() as u128);
                let rows = usize::try_from(rows).unwrap_or(0);
                picks.iter().enumerate().map(|(at, pick)| if at < rows { *pick } else { UNWRITTEN }).collect()
            };
        },
    ),
    Mutant::new(
        "offsets-in-the-index-dtype",
        "computes offsets into params in the dtype of indices",
        "tensorflow 2.21.0: the kernel refuses params with more elements than the index dtype counts",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let offset = model::offset(call, dims, batch, mid, at);
                model::index(call.roles.indices.dtype(), offset.cast_unsigned())
            };
        },
    ),
    Mutant::new(
        "offsets-in-16-bits",
        "computes offsets into params in 16 bits",
        "offsets in 32 bits, scaled down: https://github.com/microsoft/onnxruntime/issues/28107",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let offset = model::offset(call, dims, batch, mid, at);
                model::index(DType::U16, offset.cast_unsigned() & 0xFFFF)
            };
        },
    ),
    Mutant::new(
        "batch-number-in-8-bits",
        "counts batches in 8 bits with a sign",
        "the location in the batch in the dtype of indices: https://github.com/jax-ml/jax/issues/16557",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let first = model::offset(call, dims, 0, mid, at);
                let step = model::offset(call, dims, 1, mid, at) - first;
                first + step * model::index(DType::I8, batch as u128)
            };
        },
    ),
    Mutant::new(
        "rows-in-15-bits",
        "handles 32767 rows and leaves the rest unwritten",
        "rows beyond 2^31 are zero, scaled down: https://github.com/pytorch/pytorch/issues/188756",
        |model| {
            model.arrange = |_, _, mut picks| {
                if picks.len() > 0x7FFF {
                    picks[0x7FFF..].fill(UNWRITTEN);
                }
                picks
            };
        },
    ),
    Mutant::new(
        "output-size-wraps-at-64-bits",
        "computes the size of the output in 64 bits that wrap",
        "class of https://github.com/tensorflow/tensorflow/issues/126135: a count that wraps",
        |model| model.bytes = |dims, dtype| u128::from(low_64(nonzero_bytes(dims, dtype))),
    ),
    Mutant::new(
        "output-size-in-elements",
        "holds the number of elements, not of bytes, against the limit",
        "class: a size without its unit",
        |model| model.bytes = |dims, dtype| nonzero_bytes(dims, dtype) / dtype.size() as u128,
    ),
    Mutant::new(
        "output-size-with-zero-dims",
        "finds any output with a dim of 0 small enough",
        "class: an overflow that a zero hides",
        |model| {
            model.bytes = |dims, dtype| if dims.contains(&0) { 0 } else { nonzero_bytes(dims, dtype) };
        },
    ),
    Mutant::new(
        "output-size-unchecked",
        "does not check the size of the output",
        "class of https://github.com/tensorflow/tensorflow/issues/58262: a count that turns negative",
        |model| {
            model.faulty = |code, call| code != ErrorCode::OutputTooLarge && model::faulty(code, call);
        },
    ),
    Mutant::new(
        "outputs-beyond-32-bits-refused",
        "refuses outputs of 2^31 elements by their non-zero dims",
        "https://github.com/tensorflow/tensorflow/issues/58262",
        |model| {
            model.bytes = |dims, dtype| {
                let bytes = nonzero_bytes(dims, dtype);
                if bytes / (dtype.size() as u128) < 1 << 31 { bytes } else { u128::MAX }
            };
        },
    ),
    Mutant::new(
        "limit-itself-refused",
        "refuses an output of exactly 2^63 - 1 bytes",
        "class: < for <=",
        |model| {
            model.bytes = |dims, dtype| {
                let bytes = nonzero_bytes(dims, dtype);
                if bytes == i64::MAX as u128 { u128::MAX } else { bytes }
            };
        },
    ),
    Mutant::new(
        "output-size-without-the-batch",
        "leaves the batch dims out of the size of the output",
        "class: a product over some of the dims",
        |model| {
            model.faulty = |code, call| match code {
                ErrorCode::OutputTooLarge => {
                    let shape = model::output_shape(&(call.model.dims)(call));
                    let shape = &shape[call.batch().min(shape.len())..];
                    nonzero_bytes(shape, call.roles.params.dtype()) > i64::MAX as u128
                }
                _ => model::faulty(code, call),
            };
        },
    ),
    Mutant::new(
        "large-index-clamped-as-i32",
        "cuts a 64-bit index to 32 bits before it is clamped",
        "the index is clamped in the width of the device: https://github.com/tensorflow/tensorflow/issues/61865",
        |model| {
            model.resolve = |call, dims, row| {
                let cut = |index: &i128| model::index(DType::I32, index.cast_unsigned());
                model::resolve(call, dims, &row.iter().map(cut).collect::<Vec<_>>())
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "check-in-32-bits-of-the-flat-index",
        "computes the last offset of a slice in 32 bits for its check",
        "class: a check that overflows before it compares",
        |model| {
            model.offender = |call, dims, indices| {
                let slice = count(&dims.inner).max(1) as i128;
                let low = |at: &i128| model::index(DType::I32, at.saturating_mul(slice).cast_unsigned());
                let inside = |at: usize| {
                    let end = model::bound_of(dims, at) as i128 * slice;
                    (0..end).contains(&low(&indices[at]))
                };
                let _: &ModelCall<'_> = call;
                (0..indices.len()).find(|at| !inside(*at))
            };
        },
    ),
];

/// A number rounded to this many significant bits.
fn rounded(value: i128, bits: u32) -> i128 {
    let excess = (128 - value.unsigned_abs().leading_zeros()).saturating_sub(bits);
    let unit = 1i128 << excess;
    let down = value.div_euclid(unit);
    let rest = value.rem_euclid(unit);
    let up = 2 * rest > unit || 2 * rest == unit && excess > 0 && down % 2 != 0;
    (down + i128::from(up)) * unit
}

#[allow(clippy::cast_possible_truncation, reason = "the mutation")]
const fn low_64(bytes: u128) -> u64 {
    bytes as u64
}
