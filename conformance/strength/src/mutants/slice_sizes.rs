//! Wrong about slice sizes, mostly as an operand.

use gather_spec::{DType, Element, ErrorCode, Tensor};

use super::mutant::{CLAMP, Mutant};
use gather_campaign::model::memory;
use gather_campaign::model::windowed::{self, WindowNumbers};
use gather_campaign::model::{ModelCall, faulty, index};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "slice-sizes-reversed",
        "takes the slice sizes from the last to the first",
        "class: dims counted from the other end",
        |model| {
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
                numbers.slice_sizes.reverse();
                numbers
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-without-a-sign",
        "reads slice sizes of a signed dtype as unsigned ones",
        "class: a width without its sign",
        |model| {
            model.numbers = |call| read_as(call, |dtype, bits| index(unsigned(dtype), bits));
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-with-a-sign",
        "reads slice sizes of an unsigned dtype as signed ones",
        "class: a width without its sign",
        |model| {
            model.numbers = |call| read_as(call, |dtype, bits| index(signed(dtype), bits));
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-cut-to-8-bits",
        "cuts slice sizes to 8 bits with a sign",
        "class: the narrowest dtype of the list",
        |model| model.numbers = |call| read_as(call, |_, bits| index(DType::I8, bits)),
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-cut-to-32-bits",
        "cuts slice sizes to 32 bits with a sign",
        "class: a size in an int",
        |model| model.numbers = |call| read_as(call, |_, bits| index(DType::I32, bits)),
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-as-if-contiguous",
        "reads slice sizes without their stride",
        "class: a view that is taken for a buffer",
        |model| {
            model.numbers = |call| {
                let contiguous = |sizes: &Tensor| memory::misread(sizes, |shape, _| vec![1; shape.len()]);
                read(call, contiguous, index)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-of-left-out-dims-ignored",
        "takes the slice size of each collapsed or batching dim for 1, whichever is sent",
        "class: an argument that is dropped on its way",
        |model| {
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
                for dim in 0..numbers.slice_sizes.len() {
                    if numbers.lacks(dim) {
                        numbers.slice_sizes[dim] = 1;
                    }
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-clamped",
        "cuts slice sizes to what their dims have where it should refuse them",
        "class: slices as Python has them",
        |model| {
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
                for (size, dim) in numbers.slice_sizes.iter_mut().zip(call.params()) {
                    *size = (*size).clamp(0, i64::try_from(*dim).unwrap_or(i64::MAX));
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-of-any-dtype",
        "does not look at the dtype of slice sizes",
        "class: a check that is missing",
        |model| model.faulty = |code, call| code != ErrorCode::OperandDtype && faulty(code, call),
    )
    .under(&[CLAMP]),
    Mutant::new(
        "slice-sizes-of-any-rank",
        "reads slice sizes of any rank, element by element",
        "class: a check that is missing",
        |model| {
            model.faulty = |code, call| code != ErrorCode::OperandShape && faulty(code, call);
            model.numbers = |call| read_as(call, index);
        },
    )
    .under(&[CLAMP]),
];

/// The right dimension numbers, except that a function reads the elements of the slice-sizes operand.
fn read_as(call: &ModelCall<'_>, value: fn(DType, u128) -> i128) -> WindowNumbers {
    read(call, memory::row_major, value)
}

/// The same, with another function to find the elements.
fn read(
    call: &ModelCall<'_>,
    elements: fn(&Tensor) -> Vec<Element>,
    value: fn(DType, u128) -> i128,
) -> WindowNumbers {
    let mut numbers = windowed::numbers(call);
    if let Some(sizes) = &call.roles.other {
        let size = |element| match element {
            Element::Bits(bits) => i64::try_from(value(sizes.dtype(), bits)).unwrap_or(i64::MAX),
            Element::Bytes(_) => 0,
        };
        numbers.slice_sizes = elements(sizes).into_iter().map(size).collect();
    }
    numbers
}

/// The dtype of the same width without a sign.
pub(super) const fn unsigned(dtype: DType) -> DType {
    match dtype {
        DType::I8 => DType::U8,
        DType::I16 => DType::U16,
        DType::I32 => DType::U32,
        DType::I64 => DType::U64,
        dtype => dtype,
    }
}

/// The dtype of the same width with a sign.
pub(super) const fn signed(dtype: DType) -> DType {
    match dtype {
        DType::U8 => DType::I8,
        DType::U16 => DType::I16,
        DType::U32 => DType::I32,
        DType::U64 => DType::I64,
        dtype => dtype,
    }
}
