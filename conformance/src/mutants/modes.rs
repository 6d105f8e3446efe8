//! Wrong about what the call chooses: the mode, and a null axis.

use gather_spec::signature::{Axis, Flatten};
use gather_spec::{BadIndex, EmptyAxis, ErrorCode, NegativeIndex, Profile, Roles, Signature, Tensor};

use super::memory;
use super::model::{faulty, flatten, tensor, within};
use super::mutant::Mutant;

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
            model.faulty = |code, asked| code != ErrorCode::ModeUnknown && faulty(code, asked);
            model.mode = |signature, roles| signature.mode(roles).or(signature.modes().first());
        },
    ),
    Mutant::new(
        "mode-by-its-first-letter",
        "knows a mode by its first letter, whatever its case",
        "class: inexact matches of mode, which NumPy deprecated in version 1.20",
        |model| {
            model.faulty = |code, asked| {
                let letter = |mode: &str| mode.bytes().next().map(|byte| byte.to_ascii_lowercase());
                let known = |sent: &String| {
                    let mut modes = asked.signature.modes().iter();
                    modes.any(|mode| letter(&mode.mode) == letter(sent))
                };
                let lenient = code == ErrorCode::ModeUnknown && asked.roles.mode.as_ref().is_some_and(known);
                !lenient && faulty(code, asked)
            };
        },
    ),
    Mutant::new(
        "remainder-with-the-sign-of-the-index",
        "takes the remainder as the processor divides, which is negative for a negative index",
        "class: the operator % of C, Rust and Java",
        |model| {
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(index % bound as i128),
                _ => within(asked, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-of-the-magnitude",
        "takes the remainder of the index without its sign",
        "class: abs before %",
        |model| {
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(index.abs() % bound as i128),
                _ => within(asked, index, bound),
            };
        },
    ),
    Mutant::new(
        "wraps-once",
        "adds or subtracts the size of the axis once only, and clamps what is then still outside",
        "class: an if in place of a loop",
        |model| {
            model.within = |asked, index, bound| match (asked.profile.bad, bound as i128) {
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
                _ => within(asked, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-by-a-mask",
        "takes the remainder by a mask, as if the size of the axis were a power of two",
        "class: & (size - 1) in place of %",
        |model| {
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(index & (bound as i128 - 1)),
                _ => within(asked, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-of-32-bits",
        "cuts an index to 32 bits before it takes the remainder",
        "class: an index in an int",
        |model| {
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Modulo if bound > 0 => Some(i128::from(low_half(index)).rem_euclid(bound as i128)),
                _ => within(asked, index, bound),
            };
        },
    ),
    Mutant::new(
        "remainder-of-unsigned-as-signed",
        "reads an unsigned index of 64 bits as a signed one before it takes the remainder",
        "numpy 2.4.6, numpy.take with indices of uint64",
        |model| {
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Modulo if bound > 0 && index >= 1 << 63 => {
                    Some((index - (1 << 64)).rem_euclid(bound as i128))
                }
                _ => within(asked, index, bound),
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

/// All elements along one axis in column-major order.
fn column_major(params: &Tensor) -> Option<Tensor> {
    let dims = params.shape();
    if dims.contains(&0) {
        return params.flattened().ok();
    }
    let elements = memory::row_major(params);
    let reversed: Vec<usize> = dims.iter().rev().copied().collect();
    let strides = dims.row_major_strides();
    let places = gather_spec::Shape::new(reversed).ok()?.positions().map(|position| {
        let along = position.iter().rev().zip(&strides);
        along.map(|(at, stride)| at * stride.unsigned_abs()).sum::<usize>()
    });
    let turned: Vec<_> = places.filter_map(|at| elements.get(at).cloned()).collect();
    tensor(params.dtype(), vec![turned.len()], turned)
}
