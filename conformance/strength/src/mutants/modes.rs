//! Wrong about what the call chooses: the mode, and a null axis.

use gather_spec::shape::positions;
use gather_spec::signature::{Axis, Flatten};
use gather_spec::{BadIndex, EmptyAxis, ErrorCode, NegativeIndex, Profile, Roles, Signature, Tensor};

use super::mutant::Mutant;
use gather_campaign::model::memory;
use gather_campaign::model::{faulty, flatten, tensor, within};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "mode-ignored",
        "follows the default mode, whichever is sent",
        "class: an argument that is dropped on its way",
        |model| model.mode = |signature, _| signature.modes().first(),
    ),
    Mutant::new(
        "remainder-for-clamp",
        "takes the remainder where it should clamp",
        "class: modes mixed up",
        |model| {
            model.policies = |profile| match profile.bad {
                BadIndex::Clamp => Profile { bad: BadIndex::Modulo, negative: NegativeIndex::Wrap },
                _ => profile,
            };
        },
    ),
    Mutant::new(
        "clamp-for-remainder",
        "clamps where it should take the remainder",
        "class: modes mixed up",
        |model| {
            model.policies = |profile| match profile.bad {
                BadIndex::Modulo => Profile { bad: BadIndex::Clamp, negative: NegativeIndex::Reject },
                _ => profile,
            };
        },
    ),
    Mutant::new(
        "unknown-mode-is-the-default",
        "follows the default mode where the page does not have the one that is sent",
        "class: an attribute that is looked up with a fallback",
        |model| {
            model.faulty = |code, call| code != ErrorCode::ModeUnknown && faulty(code, call);
            model.mode = |signature, roles| signature.mode(roles).or(signature.modes().first());
        },
    ),
    Mutant::new(
        "mode-by-its-first-letter",
        "knows a mode by its first letter, whatever its case",
        "class: inexact matches of mode, which NumPy deprecated in version 1.20",
        |model| {
            model.faulty = |code, call| {
                let letter = |mode: &str| mode.bytes().next().map(|byte| byte.to_ascii_lowercase());
                let known = |sent: &String| {
                    let mut modes = call.signature.modes().iter();
                    modes.any(|mode| letter(&mode.mode) == letter(sent))
                };
                let lenient = code == ErrorCode::ModeUnknown && call.roles.mode.as_ref().is_some_and(known);
                !lenient && faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "remainder-with-the-sign-of-the-index",
        "takes the remainder as the processor divides, which is negative for a negative index",
        "class: the operator % of C, Rust and Java",
        |model| {
            model.within = |call, index, bound| match call.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(index % bound as i128),
                _ => within(call, index, bound),
            };
        },
    ),
    Mutant::new(
        "wraps-once",
        "adds or subtracts the size of the axis once only, and clamps what is then still outside",
        "class: an if in place of a loop",
        |model| {
            model.within = |call, index, bound| match (call.profile.bad, bound as i128) {
                (BadIndex::Modulo, size) if size > 0 => {
                    let once = if index < 0 {
                        index + size
                    } else if index >= size {
                        index - size
                    } else {
                        index
                    };
                    Some(once.clamp(0, size - 1))
                }
                _ => within(call, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-by-a-mask",
        "takes the remainder by a mask, as if the size of the axis were a power of two",
        "class: & (size - 1) in place of %",
        |model| {
            model.within = |call, index, bound| match call.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(index & (bound as i128 - 1)),
                _ => within(call, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-of-32-bits",
        "cuts an index to 32 bits before it takes the remainder",
        "class: an index in an int",
        |model| {
            model.within = |call, index, bound| match call.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(i128::from(low_half(index)).rem_euclid(bound as i128)),
                _ => within(call, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-of-unsigned-as-signed",
        "reads an unsigned index of 64 bits as a signed one before it takes the remainder",
        "numpy 2.4.6, numpy.take with indices of uint64",
        |model| {
            model.within = |call, index, bound| match call.profile.bad {
                BadIndex::Modulo if bound > 0 && index >= 1 << 63 => {
                    Some((index - (1 << 64)).rem_euclid(bound as i128))
                }
                _ => within(call, index, bound),
            };
        },
    ),
    Mutant::new(
        "empty-axis-gives-zeros",
        "gives zeros for an index into an axis without elements, where the page asks for an error",
        "class: a clamp to a range that is empty",
        |model| model.empty_axis = |_| EmptyAxis::Zero,
    ),
    Mutant::new(
        "null-axis-is-the-first",
        "gathers along the first axis where the axis is null",
        "class: a default of 0 in place of flattening",
        |model| model.flatten = |signature, roles| along(signature, roles, 0),
    ),
    Mutant::new(
        "null-axis-is-the-last",
        "gathers along the last axis where the axis is null",
        "class: a default of -1 in place of flattening",
        |model| model.flatten = |signature, roles| along(signature, roles, -1),
    ),
    Mutant::new(
        "indices-not-flattened",
        "flattens params alone where indices are flattened, too",
        "class: the words of another library's page",
        |model| {
            model.flatten = |signature, roles| {
                let alone = Signature { flatten: Some(Flatten::WhenAxisNull), ..signature.clone() };
                let only_params = signature.has_flat_indices(&roles);
                flatten(if only_params { &alone } else { signature }, roles)
            };
        },
    ),
    Mutant::new(
        "indices-flattened-too",
        "flattens indices where params alone are flattened",
        "class: the words of another library's page",
        |model| {
            model.flatten = |signature, roles| {
                let wanted = signature.is_flat(&roles);
                with_flat_indices(signature, roles, wanted)
            };
        },
    ),
    Mutant::new(
        "scalar-index-of-flat-params-is-a-vector",
        "takes a scalar index for a vector of one where params are flattened",
        "torch 2.15.0, torch.take_along_dim, whose page says nothing of it",
        |model| {
            model.flatten = |signature, roles| {
                let is_scalar = roles.indices.rank() == 0 && signature.is_flat(&roles);
                with_flat_indices(signature, roles, is_scalar)
            };
        },
    ),
    Mutant::new(
        "scalars-not-flattened",
        "leaves scalar params without an axis where params are flattened",
        "class: a shape without dims forgotten",
        |model| {
            model.flatten = |signature, roles| {
                if roles.params.rank() == 0 { roles } else { flatten(signature, roles) }
            };
        },
    ),
    Mutant::new(
        "flattened-from-the-second-dim",
        "flattens all dims but the first",
        "class: the default of torch.nn.Flatten",
        |model| model.flatten = |signature, roles| partly(signature, roles, 1, usize::MAX),
    ),
    Mutant::new(
        "two-dims-flattened",
        "flattens the first two dims and no more",
        "class: written for matrices",
        |model| model.flatten = |signature, roles| partly(signature, roles, 0, 2),
    ),
    Mutant::new(
        "dims-of-0-flattened-away",
        "counts the elements of flattened params without their dims of 0",
        "class: a product that starts at the first dim that is not 0",
        |model| {
            model.flatten = |signature, roles| {
                let empty = signature.is_flat(&roles) && roles.params.shape().contains(&0);
                let dtype = roles.params.dtype();
                // A huge dim beside a dim of 0 would need memory.
                let few = roles.params.shape().iter().filter(|dim| (1..1024).contains(*dim));
                let count: usize = few.product();
                let zeros = || vec![gather_spec::Element::zero(dtype); count];
                let filled = empty.then(|| tensor(dtype, vec![count], zeros())).flatten();
                let roles = flatten(signature, roles);
                match filled {
                    Some(params) => Roles { params, ..roles },
                    None => roles,
                }
            };
        },
    ),
    Mutant::new(
        "flattened-column-major",
        "flattens with the first axis counting fastest",
        "class: memory in the order of Fortran",
        |model| {
            model.flatten = |signature, roles| {
                let turned = signature.is_flat(&roles).then(|| column_major(&roles.params)).flatten();
                let roles = flatten(signature, roles);
                match turned {
                    Some(params) => Roles { params, ..roles },
                    None => roles,
                }
            };
        },
    ),
];

/// The low 32 bits of an index, sign-extended.
#[allow(clippy::cast_possible_truncation, reason = "the index is to be cut")]
const fn low_half(index: i128) -> i32 {
    index as i32
}

/// A call along this axis in place of a null one.
fn along(signature: &Signature, roles: Roles<Tensor>, axis: i64) -> Roles<Tensor> {
    let flat = signature.is_flat(&roles);
    if flat { Roles { axis: Some(Axis::At(axis)), ..roles } } else { roles }
}

/// A call as the operator flattens it and, where it is wanted, with flat indices.
fn with_flat_indices(signature: &Signature, roles: Roles<Tensor>, wanted: bool) -> Roles<Tensor> {
    let indices = wanted.then(|| roles.indices.flattened().ok()).flatten();
    let roles = flatten(signature, roles);
    match indices {
        Some(indices) => Roles { indices, ..roles },
        None => roles,
    }
}

/// A call whose params have the dims from one to another merged, and no others, along the first axis in place of a null one.
fn partly(signature: &Signature, roles: Roles<Tensor>, from: usize, to: usize) -> Roles<Tensor> {
    let flat = signature.is_flat(&roles);
    let dims = &roles.params.shape()[..];
    let (from, to) = (from.min(dims.len()), to.min(dims.len()));
    let product = dims[from..to].iter().try_fold(1usize, |product, dim| product.checked_mul(*dim));
    let params = product.filter(|_| flat && from < to).and_then(|product| {
        let merged = [&dims[..from], &[product], &dims[to..]].concat();
        tensor(roles.params.dtype(), merged, memory::row_major(&roles.params))
    });
    let roles = flatten(signature, roles);
    match params {
        Some(params) => Roles { params, ..roles },
        None => roles,
    }
}

/// All elements along one axis in column-major order.
fn column_major(params: &Tensor) -> Option<Tensor> {
    let dims = params.shape();
    if dims.contains(&0) {
        return params.flattened().ok();
    }
    let elements = memory::row_major(params);
    let reversed: Vec<usize> = dims.iter().rev().copied().collect();
    let strides = dims.row_major_strides();
    let places = positions(&reversed).map(|position| {
        let along = position.iter().rev().zip(&strides);
        along.map(|(at, stride)| at * stride.unsigned_abs()).sum::<usize>()
    });
    let turned: Vec<_> = places.filter_map(|at| elements.get(at).cloned()).collect();
    tensor(params.dtype(), vec![turned.len()], turned)
}
