//! Wrong about the rows of indices that windows start from: their batching dims, their index vector, and bad starts.

use gather_spec::BadIndex;

use super::mutant::{CLAMP, Mutant, ZERO};
use gather_campaign::model::place;
use gather_campaign::model::windowed::{self, split};
use gather_campaign::model::{self, ModelCall};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "batching-dims-ignored",
        "reads all rows from the first element of a batch",
        "class: an attribute that is not looked at",
        |model| model.full_batching = |call, _| vec![0; call.params().len()],
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-paired-in-order",
        "pairs the batching dims of both operands in the order of the dims of indices",
        "class: two lists sorted apart",
        |model| {
            model.full_batching = |call, row| {
                let numbers = &call.numbers().numbers;
                let mut sorted = numbers.start_indices_batching_dims.clone();
                sorted.sort_unstable();
                batching(call, row, &numbers.operand_batching_dims, &sorted)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-on-leading-rows",
        "takes the first dims of indices for its batching dims",
        "class: batch dims lead in other operators",
        |model| {
            model.full_batching = |call, row| {
                let numbers = call.numbers();
                let own = &numbers.numbers.operand_batching_dims;
                let leading: Vec<i64> = numbers
                    .row_dims(call.indices().len())
                    .iter()
                    .take(own.len())
                    .filter_map(|dim| i64::try_from(*dim).ok())
                    .collect();
                batching(call, row, own, &leading)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-counted-with-the-vector",
        "takes a batching dim behind the index vector for the next one",
        "class: d_start without the 1 that is taken off",
        |model| {
            model.full_batching = |call, row| {
                let numbers = &call.numbers().numbers;
                let mut full = vec![0; call.params().len()];
                let pairs = numbers.operand_batching_dims.iter().zip(&numbers.start_indices_batching_dims);
                for (own, other) in pairs {
                    let at = place(*other).and_then(|dim| row.get(dim)).copied().unwrap_or(0);
                    if let Some(place) = place(*own).and_then(|dim| full.get_mut(dim)) {
                        *place = at as i128;
                    }
                }
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-of-params-lead",
        "takes the first dims of params for its batching dims",
        "class: batch dims lead in other operators",
        |model| {
            model.full_batching = |call, row| {
                let numbers = &call.numbers().numbers;
                let leading: Vec<i64> = (0..).take(numbers.operand_batching_dims.len()).collect();
                batching(call, row, &leading, &numbers.start_indices_batching_dims)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "vector-last",
        "reads the components of a row along the last dim of indices",
        "class: the index vector of other operators",
        |model| {
            model.rows = |_, indices| indices;
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "implied-vector-is-the-last-dim",
        "takes an implied vector for one along the last dim, of which it reads the first element",
        "class: an implied dim of 1 that is not put in",
        |model| {
            model.row = |call, position| {
                let row = windowed::row(call, position);
                let implied = place(call.numbers().numbers.index_vector_dim) == Some(call.indices().len());
                let last = call.indices().last().copied().unwrap_or(1).max(1);
                if implied { row / last * last } else { row }
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "rows-turned",
        "reads the rows with their dims in the opposite order",
        "class: column-major for row-major",
        |model| {
            model.row = |call, position| {
                let numbers = call.numbers();
                let dims: Vec<usize> =
                    numbers.row_dims(call.indices().len()).iter().map(|dim| call.indices()[*dim]).collect();
                let (row, _) = split(numbers, position);
                let reversed = |list: &[usize]| list.iter().rev().copied().collect::<Vec<_>>();
                model::row_major(&reversed(&row), &reversed(&dims))
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "whole-window-clamped-to-the-start",
        "moves a whole window to the start of each dim where one component does not fit",
        "class: clamped by row, not by component",
        |model| {
            model.resolve = |call, dims, row| {
                let fits = row.iter().zip(&dims.bounds).all(|(at, bound)| call.within(*at, *bound).is_some());
                let clamps = call.by_windows() && call.profile.bad == BadIndex::Clamp;
                if clamps && !fits { Some(vec![0; row.len()]) } else { model::resolve(call, dims, row) }
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "only-the-part-outside-is-zero",
        "zeroes the elements of a window that lie outside, and reads the others",
        "class: masked loads; a bad index spoils its elements, not its window",
        |model| {
            model.fit =
                |call, dim| place(dim).and_then(|dim| call.params().get(dim)).copied().unwrap_or(1).max(1);
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "bad-component-reads-the-start",
        "starts at 0 on the dim of a bad component where the whole window must be zero",
        "class: a mask by component",
        |model| {
            model.resolve = |call, dims, row| {
                if !call.by_windows() || call.profile.bad != BadIndex::Zero {
                    return model::resolve(call, dims, row);
                }
                let at = |(at, bound): (&i128, &usize)| Some(call.within(*at, *bound).unwrap_or(0));
                row.iter().zip(&dims.bounds).map(at).collect()
            };
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "negative-starts-wrap-by-the-dim",
        "adds the size of the dim to a negative start before it is clamped",
        "class: the negative index of other operators",
        |model| {
            model.rows = |call, indices| {
                let map = &call.numbers().numbers.start_index_map;
                let depth = windowed::depth(call).max(1);
                let dim = |at: usize| place(*map.get(at % depth)?).and_then(|dim| call.params().get(dim));
                let wrap = |(at, value): (usize, i128)| match dim(at) {
                    Some(dim) if value < 0 => value + *dim as i128,
                    _ => value,
                };
                windowed::by_rows(call, indices).into_iter().enumerate().map(wrap).collect()
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "starts-read-as-signed",
        "reads unsigned starts of 64 bits as signed ones",
        "StableHLO's interpreter: an ui64 start of 2^64 - 1 is clamped to 0",
        |model| {
            model.rows = |call, indices| {
                let signed = |value: i128| if value > i64::MAX.into() { value - (1 << 64) } else { value };
                windowed::by_rows(call, indices).into_iter().map(signed).collect()
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "vector-along-the-first-dim-by-default",
        "takes the last dim for the vector where none is sent",
        "class: a default of another operator",
        |model| {
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
                let is_sent = call.roles.window.as_ref().is_some_and(|one| one.index_vector_dim.is_some());
                if !is_sent && let Some(last) = call.indices().len().checked_sub(1) {
                    numbers.numbers.index_vector_dim = i64::try_from(last).unwrap_or(0);
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
];

/// The coordinates along batching dims, with these lists in place of those of the call.
fn batching(call: &ModelCall<'_>, row: &[usize], own: &[i64], other: &[i64]) -> Vec<i128> {
    let numbers = call.numbers();
    let row_dims = numbers.row_dims(call.indices().len());
    let mut full = vec![0; call.params().len()];
    for (own, other) in own.iter().zip(other) {
        let at = row_dims.iter().position(|dim| Some(*dim) == place(*other));
        if let (Some(place), Some(at)) = (place(*own).and_then(|dim| full.get_mut(dim)), at) {
            *place = row.get(at).copied().unwrap_or(0) as i128;
        }
    }
    full
}
