//! Wrong about operands that broadcast off the axis.

use gather_spec::ErrorCode;
use gather_spec::signature::Join;

use super::mutant::Mutant;
use gather_campaign::model::{
    Asked, Dims, dims, faulty, fits, index_at, origin, row_major, row_major_signed,
};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "indices-do-not-repeat",
        "looks for the index of a position where indices would have it if no dim of 1 repeated",
        "class: a stride that is not set to 0",
        |model| {
            model.index_at = |asked, position| match broadcasts(asked) {
                true => row_major(position, asked.indices()),
                false => index_at(asked, position),
            };
        },
    ),
    Mutant::new(
        "params-do-not-repeat",
        "looks for the element of a position where params would have it if no dim of 1 repeated",
        "class: a stride that is not set to 0",
        |model| {
            model.origin = |asked, position, index| {
                if !broadcasts(asked) {
                    return origin(asked, position, index);
                }
                let axis = asked.axis();
                let coordinate =
                    |(dim, at): (usize, &usize)| if Some(dim) == axis { index } else { *at as i128 };
                row_major_signed(position.iter().enumerate().map(coordinate), asked.params())
            };
        },
    ),
    Mutant::new(
        "output-of-the-shape-of-indices",
        "gives the output the shape of indices, although a dim of params is larger",
        "class: an output that is allocated before the operands broadcast",
        |model| {
            model.dims = |asked| match broadcasts(asked) {
                true => Dims { outer: asked.indices().to_vec(), ..dims(asked) },
                false => dims(asked),
            };
        },
    ),
    Mutant::new(
        "nothing-broadcasts",
        "refuses dims off the axis that differ, also where one of them is 1",
        "class: a check that was written before broadcasting came",
        |model| model.faulty = |code, asked| join_unless(code, asked, |params, indices| params == indices),
    ),
    Mutant::new(
        "multiples-broadcast",
        "repeats a dim that divides the other one",
        "class: a remainder in place of a comparison with 1",
        |model| {
            model.faulty = |code, asked| {
                join_unless(code, asked, |params, indices| {
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
                |code, asked| join_unless(code, asked, |params, indices| params == indices || params == 1);
        },
    ),
];

/// Whether the operands broadcast.
fn broadcasts(asked: &Asked<'_>) -> bool {
    asked.signature.join == Some(Join::Broadcast) && asked.params().len() == asked.indices().len()
}

/// Whether a call deserves an error, if broadcasting operands must fit by this rule.
fn join_unless(code: ErrorCode, asked: &Asked<'_>, fit: fn(usize, usize) -> bool) -> bool {
    if code != ErrorCode::JoinMismatch || !broadcasts(asked) {
        return faulty(code, asked);
    }
    let axis = asked.axis();
    let mut pairs = asked.params().iter().zip(asked.indices()).enumerate();
    pairs.any(|(dim, (params, indices))| Some(dim) != axis && !fit(*params, *indices))
}
