//! Wrong about operands that broadcast off the axis.

use gather_spec::ErrorCode;
use gather_spec::signature::Join;

use super::mutant::Mutant;
use gather_campaign::model::{
    ModelCall, ShapeParts, dims, faulty, fits, index_at, origin, row_major, row_major_signed,
};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "indices-do-not-repeat",
        "looks for the index of a position where indices would have it if no dim of 1 repeated",
        "class: a stride that is not set to 0",
        |model| {
            model.index_at = |call, position| match broadcasts(call) {
                true => row_major(position, call.indices()),
                false => index_at(call, position),
            };
        },
    ),
    Mutant::new(
        "params-do-not-repeat",
        "looks for the element of a position where params would have it if no dim of 1 repeated",
        "class: a stride that is not set to 0",
        |model| {
            model.origin = |call, position, index| {
                if !broadcasts(call) {
                    return origin(call, position, index);
                }
                let axis = call.axis();
                let coordinate =
                    |(dim, at): (usize, &usize)| if Some(dim) == axis { index } else { *at as i128 };
                row_major_signed(position.iter().enumerate().map(coordinate), call.params())
            };
        },
    ),
    Mutant::new(
        "output-of-the-shape-of-indices",
        "gives the output the shape of indices, although a dim of params is larger",
        "class: an output that is allocated before the operands broadcast",
        |model| {
            model.dims = |call| match broadcasts(call) {
                true => ShapeParts { outer: call.indices().to_vec(), ..dims(call) },
                false => dims(call),
            };
        },
    ),
    Mutant::new(
        "nothing-broadcasts",
        "refuses dims off the axis that differ, also where one of them is 1",
        "class: a check that was written before broadcasting came",
        |model| model.faulty = |code, call| join_unless(code, call, |params, indices| params == indices),
    ),
    Mutant::new(
        "multiples-broadcast",
        "repeats a dim that divides the other one",
        "class: a remainder in place of a comparison with 1",
        |model| {
            model.faulty = |code, call| {
                join_unless(code, call, |params, indices| {
                    let (least, most) = (params.min(indices), params.max(indices));
                    fits(Join::Broadcast, params, indices) || least > 0 && most % least == 0
                })
            };
        },
    ),
    Mutant::new(
        "params-broadcast-alone",
        "refuses a dim of 1 in indices beside a larger one in params",
        "class: indices that are held to the shape of the output",
        |model| {
            model.faulty =
                |code, call| join_unless(code, call, |params, indices| params == indices || params == 1);
        },
    ),
];

/// Whether the operands broadcast.
fn broadcasts(call: &ModelCall<'_>) -> bool {
    call.signature.join == Some(Join::Broadcast) && call.params().len() == call.indices().len()
}

/// Whether a call deserves an error, if broadcasting operands must fit by this rule.
fn join_unless(code: ErrorCode, call: &ModelCall<'_>, fit: fn(usize, usize) -> bool) -> bool {
    if code != ErrorCode::JoinMismatch || !broadcasts(call) {
        return faulty(code, call);
    }
    let axis = call.axis();
    let mut pairs = call.params().iter().zip(call.indices()).enumerate();
    pairs.any(|(dim, (params, indices))| Some(dim) != axis && !fit(*params, *indices))
}
