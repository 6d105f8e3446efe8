//! Wrong about form elements: how operands join, which coordinates apply, and indices without elements.

use gather_spec::signature::Join;
use gather_spec::{ErrorCode, Roles, Signature, Tensor};

use super::batch::repeated;
use super::mutant::{ERROR, Mutant, WRAP};
use gather_campaign::model::{self, ModelCall, count};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "smaller-indices-refused",
        "refuses indices that are smaller than params off the axis",
        "onnx 1.23.2: the reference evaluator refuses data of shape [2, 3], indices [[1, 0]], axis 0",
        |model| model.faulty = |code, call| mismatched(code, call, |_, params, indices| params != indices),
    ),
    Mutant::new(
        "smaller-indices-accepted",
        "takes indices that are smaller than params off the axis where both must be equal",
        "onnxruntime 1.31.1: GatherElements, data of shape [2, 3], indices [[1, 0]], axis 0 gives [[4, 2]]",
        |model| model.faulty = |code, call| mismatched(code, call, |_, params, indices| params < indices),
    ),
    Mutant::new(
        "join-unchecked",
        "does not compare the dims off the axis",
        "class: a check that is missing",
        |model| model.faulty = |code, call| mismatched(code, call, |_, _, _| false),
    ),
    Mutant::new(
        "one-more-off-the-axis-accepted",
        "takes indices that are larger by one than params off the axis",
        "class: <= for <",
        |model| {
            model.faulty = |code, call| {
                mismatched(code, call, |join, params, indices| {
                    indices != params.saturating_add(1) && !model::fits(join, params, indices)
                })
            };
        },
    ),
    Mutant::new(
        "join-on-the-axis-too",
        "compares the dims on the axis as well",
        "class: a loop over all axes",
        |model| {
            model.faulty = |code, call| {
                let join = call.signature.join.filter(|_| code == ErrorCode::JoinMismatch && !call.exempt());
                let mut pairs = call.params().iter().zip(call.indices());
                join.is_some_and(|join| pairs.any(|(params, indices)| !model::fits(join, *params, *indices)))
                    || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "join-in-the-first-dim-only",
        "compares the first dim off the axis only",
        "class: a check of one of several dims",
        |model| model.faulty = |code, call| one_dim(code, call, <[DimPair]>::first),
    ),
    Mutant::new(
        "join-in-the-last-dim-only",
        "compares the last dim off the axis only",
        "class: a check of one of several dims",
        |model| model.faulty = |code, call| one_dim(code, call, <[DimPair]>::last),
    ),
    Mutant::new(
        "join-by-product",
        "compares the dims off the axis by their product",
        "class: a check of a count in place of a shape",
        |model| {
            model.faulty = |code, call| {
                let refused = model::faulty(code, call);
                let off_axis = |dims: &[usize]| {
                    let kept = dims.iter().enumerate().filter(|(dim, _)| Some(*dim) != call.axis());
                    count(&kept.map(|(_, dim)| *dim).collect::<Vec<_>>())
                };
                let by_product = || match call.signature.join {
                    Some(join) => !model::fits(join, off_axis(call.params()), off_axis(call.indices())),
                    None => false,
                };
                if code == ErrorCode::JoinMismatch { refused && by_product() } else { refused }
            };
        },
    ),
    Mutant::new(
        "dims-of-1-repeated",
        "repeats a dim of 1 off the axis as often as the other operand has it",
        "class: take_along_axis of NumPy for the gather of elements",
        |model| model.received = broadcast,
    ),
    Mutant::new(
        "output-of-the-shape-of-params",
        "answers with the shape of params",
        "WebNN specification of 2026-06-26, revision c515210: gatherElements copies the descriptor of its input",
        |model| {
            model.dims = |call| {
                let dims = model::dims(call);
                let has_elements = call.by_elements() && !call.indices().contains(&0);
                let outer = if has_elements { call.params().to_vec() } else { dims.outer };
                model::ShapeParts { outer, ..dims }
            };
        },
    ),
    Mutant::new(
        "index-on-the-next-axis",
        "puts the index in the place of the next axis's coordinate",
        "class: an axis that is off by one",
        |model| {
            model.origin = |call, position, index| {
                let next = call.axis().map_or(0, |axis| axis + 1) % call.params().len().max(1);
                placed(call, position, next, index)
            };
        },
    ),
    Mutant::new(
        "coordinates-from-the-flat-position",
        "takes the other coordinates from the number of the output's element, counted in params",
        "class: one counter for two shapes",
        |model| {
            model.origin = |call, position, index| {
                let flat = model::row_major(position, call.indices());
                let params = call.params();
                // Wraps around where params has fewer elements.
                let position = model::multi_index(flat % count(params).max(1), params);
                model::origin(call, &position, index)
            };
        },
    ),
    Mutant::new(
        "params-strided-by-indices",
        "steps through params by the dims of indices",
        "class: the strides of the other operand",
        |model| {
            model.origin = |call, position, index| {
                let coordinate =
                    |axis: usize| if Some(axis) == call.axis() { index } else { position[axis] as i128 };
                model::row_major_signed((0..position.len()).map(coordinate), call.indices())
            };
        },
    ),
    Mutant::new(
        "indices-strided-by-params",
        "steps through indices by the dims of params off the axis",
        "class: the strides of the other operand",
        |model| {
            model.index_at = |call, position| {
                let dims = call.indices().iter().zip(call.params()).enumerate();
                let dims: Vec<usize> = dims
                    .map(
                        |(axis, (indices, params))| {
                            if Some(axis) == call.axis() { *indices } else { *params }
                        },
                    )
                    .collect();
                model::row_major(position, &dims)
            };
        },
    ),
    Mutant::new(
        "other-coordinates-0",
        "reads every element from the first row, column or plane off the axis",
        "class: an offset that lacks the other axes",
        |model| {
            model.origin = |call, position, index| model::origin(call, &vec![0; position.len()], index);
        },
    ),
    Mutant::new(
        "first-index-for-the-slice",
        "takes whole slices: the first index along the axis serves all that stand beside it",
        "class: take for take_along_axis",
        |model| {
            model.index_at = |call, position| {
                let along = |(axis, at): (usize, &usize)| if Some(axis) == call.axis() { *at } else { 0 };
                let first: Vec<usize> = position.iter().enumerate().map(along).collect();
                model::index_at(call, &first)
            };
        },
    ),
    Mutant::new(
        "last-two-coordinates-swapped",
        "reads params of two dims or more with the last two coordinates swapped, where that is inside",
        "class: x, y for row, column",
        |model| {
            model.origin = |call, position, index| {
                let mut swapped = position.to_vec();
                if let [.., last_but_one, last] = &mut *swapped {
                    std::mem::swap(last_but_one, last);
                }
                let inside = swapped.iter().zip(call.params()).all(|(at, dim)| at < dim);
                model::origin(call, if inside { &swapped } else { position }, index)
            };
        },
    ),
    Mutant::new(
        "bound-of-indices",
        "holds an index against the dim of indices on the axis",
        "class: the size of the other operand",
        |model| {
            model.offender = |call, dims, indices| {
                let bound = call.axis().and_then(|axis| call.indices().get(axis)).copied();
                let bound = bound.filter(|_| call.by_elements()).unwrap_or(model::bound_of(dims, 0));
                match call.by_elements() {
                    true => indices.iter().position(|index| call.within(*index, bound).is_none()),
                    false => model::offender(call, dims, indices),
                }
            };
        },
    )
    .under(&[ERROR, WRAP]),
    Mutant::new(
        "ranks-may-differ",
        "does not compare the ranks of params and indices",
        "class: a check that is missing",
        |model| model.faulty = |code, call| code != ErrorCode::RankMismatch && model::faulty(code, call),
    ),
    Mutant::new(
        "lower-rank-of-indices-accepted",
        "takes indices of a lower rank than params",
        "class: <= for ==",
        |model| {
            model.faulty = |code, call| {
                let lower = call.indices().len() < call.params().len();
                !(code == ErrorCode::RankMismatch && lower) && model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "missing-axis-taken-for-0",
        "gathers along the first axis where none is given and one is required",
        "class: a default that the page does not have",
        |model| model.faulty = |code, call| code != ErrorCode::AxisRequired && model::faulty(code, call),
    ),
    Mutant::new(
        "empty-indices-checked",
        "compares rank and dims also of indices without elements that the page exempts",
        "class: an exemption that is missing",
        |model| model.exempt = |_| false,
    ),
    Mutant::new(
        "empty-indices-exempt",
        "compares neither rank nor dims of indices without elements, whatever the page says",
        "torch 2.15.0: torch.gather(torch.zeros(2, 2), 0, torch.zeros(2, 0, 3, dtype=torch.int64)) gives [2, 0, 3]",
        |model| model.exempt = |call| call.by_elements() && call.indices().contains(&0),
    ),
    Mutant::new(
        "empty-indices-exempt-from-the-axis",
        "does not check the axis where indices has no elements and the page exempts such from other checks",
        "class: an early return before the last check",
        |model| {
            model.faulty = |code, call| {
                let returned = code == ErrorCode::AxisOutOfRange && call.exempt();
                !returned && model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "empty-indices-of-another-rank-refused",
        "exempts indices without elements from the comparison of dims, and not from that of ranks",
        "class: half of an exemption",
        |model| {
            model.faulty = |code, call| {
                let differ = call.by_elements() && call.params().len() != call.indices().len();
                code == ErrorCode::RankMismatch && differ || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "empty-indices-of-larger-dims-refused",
        "exempts indices without elements from the comparison of ranks, and not from that of dims",
        "class: half of an exemption",
        |model| {
            model.faulty = |code, call| {
                let pairs = call.params().iter().zip(call.indices()).enumerate();
                let mut off_axis = pairs.filter(|(dim, _)| Some(*dim) != call.axis());
                let larger = off_axis.any(|(_, (params, indices))| indices > params);
                code == ErrorCode::JoinMismatch && call.exempt() && larger || model::faulty(code, call)
            };
        },
    ),
    Mutant::new(
        "empty-indices-give-a-vector",
        "answers indices without elements with an empty vector, whatever their shape",
        "class: an early return with a default shape",
        |model| {
            model.dims = |call| {
                let dims = model::dims(call);
                let empty = call.by_elements() && call.indices().contains(&0);
                model::ShapeParts { outer: if empty { vec![0] } else { dims.outer }, ..dims }
            };
        },
    ),
];

/// A dim of params and the corresponding one of indices.
type DimPair = (usize, usize);

/// Whether a call deserves an error, if another rule compares the dims off the axis.
fn mismatched(code: ErrorCode, call: &ModelCall<'_>, differ: fn(Join, usize, usize) -> bool) -> bool {
    let join = call.signature.join.filter(|_| !call.exempt());
    match (code, join) {
        (ErrorCode::JoinMismatch, Some(join)) => {
            off_axis(call).any(|(params, indices)| differ(join, params, indices))
        }
        _ => model::faulty(code, call),
    }
}

/// Whether a call deserves an error, if only one dim off the axis is compared.
fn one_dim(code: ErrorCode, call: &ModelCall<'_>, chosen: fn(&[DimPair]) -> Option<&DimPair>) -> bool {
    let join = call.signature.join.filter(|_| !call.exempt());
    match (code, join) {
        (ErrorCode::JoinMismatch, Some(join)) => {
            let pairs: Vec<DimPair> = off_axis(call).collect();
            chosen(&pairs).is_some_and(|(params, indices)| !model::fits(join, *params, *indices))
        }
        _ => model::faulty(code, call),
    }
}

/// The pairs of dims off the axis.
fn off_axis(call: &ModelCall<'_>) -> impl Iterator<Item = DimPair> {
    let (axis, pairs) = (call.axis(), call.params().iter().zip(call.indices()));
    pairs
        .enumerate()
        .filter(move |(dim, _)| Some(*dim) != axis)
        .map(|(_, (params, indices))| (*params, *indices))
}

/// The offset in params of a position with one coordinate replaced.
fn placed(call: &ModelCall<'_>, position: &[usize], axis: usize, index: i128) -> i128 {
    let coordinate =
        |here: usize| if here == axis { index } else { position.get(here).map_or(0, |at| *at as i128) };
    model::row_major_signed((0..call.params().len()).map(coordinate), call.params())
}

/// Stretches dims of 1 off the axis of either operand to the size that the other has.
fn broadcast(signature: &Signature, roles: Roles<Tensor>) -> Roles<Tensor> {
    if signature.join.is_none() || roles.params.rank() != roles.indices.rank() {
        return roles;
    }
    let model = model::CORRECT;
    let profile = gather_spec::Profile::default();
    let empty_axis = gather_spec::EmptyAxis::Zero;
    let axis = ModelCall {
        model: &model,
        roles: &roles,
        sent_indices: roles.indices.shape(),
        signature,
        profile,
        empty_axis,
        threads: 1,
        numbers: Default::default(),
    }
    .axis();
    let stretched = |tensor: &Tensor, other: &Tensor| {
        let pairs = tensor.shape().iter().zip(other.shape().iter()).enumerate();
        let dims =
            pairs.map(|(dim, (one, other))| if Some(dim) != axis && *one == 1 { *other } else { *one });
        repeated(tensor, dims.collect()).unwrap_or_else(|| tensor.clone())
    };
    let (params, indices) =
        (stretched(&roles.params, &roles.indices), stretched(&roles.indices, &roles.params));
    Roles { params, indices, ..roles }
}
