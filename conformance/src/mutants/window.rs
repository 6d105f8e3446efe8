//! Wrong about windows: where they start, which dims they drop, and where their dims go in the output.

use gather_spec::BadIndex;

use super::asked::place;
use super::model::{self, Asked};
use super::mutant::{CLAMP, ERROR, Mutant, ZERO};
use super::windowed::{self, Numbers, split};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "starts-clamped-to-the-dim",
        "takes any start within its dim, even where the window then leaves it",
        "class: the bound of an element for that of a window",
        |model| {
            model.fit =
                |asked, dim| place(dim).and_then(|dim| asked.params().get(dim)).copied().unwrap_or(1).max(1);
        },
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "one-start-too-few",
        "takes no window at the end of its dim",
        "class: a size without the 1 that is added",
        |model| model.fit = |asked, dim| windowed::fit(asked, dim).saturating_sub(1).max(1),
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "one-start-too-many",
        "takes a window that ends one element past its dim",
        "class: <= for <",
        |model| model.fit = |asked, dim| windowed::fit(asked, dim).saturating_add(1),
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "starts-fit-by-component",
        "holds component c to dim c of params, not to the one that it starts on",
        "class: the start index map forgotten in the bounds",
        |model| {
            model.fit = |asked, dim| {
                let map = &asked.numbers().numbers.start_index_map;
                let component = map.iter().position(|one| *one == dim);
                windowed::fit(asked, component.map_or(dim, |at| i64::try_from(at).unwrap_or(dim)))
            };
        },
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "start-index-map-ignored",
        "takes component c for a start on dim c of params",
        "class: an attribute that is not looked at",
        |model| {
            model.full_start = |asked, starts| {
                let mut full = starts.to_vec();
                full.resize(asked.params().len(), 0);
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "start-index-map-inverted",
        "takes the component at a dim's place in the map for the dim that the map names there",
        "class: a permutation for its inverse",
        |model| {
            model.full_start = |asked, starts| {
                let map = &asked.numbers().numbers.start_index_map;
                let mut sorted: Vec<i64> = map.clone();
                sorted.sort_unstable();
                let mut full = vec![0; asked.params().len()];
                for (at, dim) in sorted.iter().enumerate() {
                    let from = map.get(at).and_then(|one| sorted.iter().position(|two| two == one));
                    if let (Some(place), Some(from)) = (place(*dim).and_then(|dim| full.get_mut(dim)), from) {
                        *place = starts.get(from).copied().unwrap_or(0);
                    }
                }
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "starts-on-the-first-dims",
        "sorts the dims that components start on",
        "class: a set for a list",
        |model| {
            model.full_start = |asked, starts| {
                let mut map = asked.numbers().numbers.start_index_map.clone();
                map.sort_unstable();
                let mut full = vec![0; asked.params().len()];
                for (dim, start) in map.iter().zip(starts) {
                    if let Some(place) = place(*dim).and_then(|dim| full.get_mut(dim)) {
                        *place = *start;
                    }
                }
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "starts-on-collapsed-dims-dropped",
        "reads the first element of collapsed dims",
        "class: a collapsed dim for one of size 1",
        |model| {
            model.full_start = |asked, starts| {
                let mut full = windowed::full_start(asked, starts);
                for dim in &asked.numbers().numbers.collapsed_slice_dims {
                    if let Some(place) = place(*dim).and_then(|dim| full.get_mut(dim)) {
                        *place = 0;
                    }
                }
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "window-components-reversed",
        "takes the components of a start from the last to the first",
        "class: reversed coordinates",
        |model| {
            model.full_start = |asked, starts| {
                let reversed: Vec<i128> = starts.iter().rev().copied().collect();
                windowed::full_start(asked, &reversed)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "windows-all-at-the-first-start",
        "gives every row the window of the first",
        "class: an index read once",
        |model| model.row = |_, _| 0,
    )
    .under(&[CLAMP]),
    Mutant::new(
        "only-the-first-component",
        "lets the first component start only",
        "class: a loop that ends early",
        |model| {
            model.full_start =
                |asked, starts| windowed::full_start(asked, starts.get(..1).unwrap_or_default());
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "collapsed-dims-kept",
        "leaves collapsed dims in the output, as dims of 1 behind the others",
        "class: a squeeze that is forgotten",
        |model| {
            model.combine = |numbers, rows, window| {
                let mut shape = windowed::combine(numbers, rows, window);
                shape.extend(numbers.numbers.collapsed_slice_dims.iter().map(|_| 1));
                shape
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "dims-of-one-collapsed",
        "leaves every dim out of the output of which a window has one element",
        "class: numpy.squeeze without an axis",
        |model| {
            model.combine = |numbers, rows, window| {
                let one = |dim: &usize| *dim == 1;
                let mut shape = windowed::combine(numbers, rows, window);
                if !window.is_empty() && window.iter().all(one) {
                    shape.retain(|dim| !one(dim));
                }
                shape
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "offset-dims-last",
        "puts the dims of a window behind those of the rows, whatever the offset dims",
        "class: an attribute that is not looked at",
        |model| {
            model.combine = |_, rows, window| [rows, window].concat();
            model.numbers = |asked| behind(asked);
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "offset-dims-first",
        "puts the dims of a window before those of the rows, whatever the offset dims",
        "class: an attribute that is not looked at",
        |model| {
            model.numbers = |asked| {
                let mut numbers = windowed::numbers(asked);
                let dims = &mut numbers.numbers.offset_dims;
                if in_order(dims) {
                    *dims = (0..).take(dims.len()).collect();
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "offset-dims-of-params",
        "counts offset dims from the end of the output",
        "class: another end to count from",
        |model| {
            model.numbers = |asked| {
                let mut numbers = windowed::numbers(asked);
                let vectors =
                    usize::from(numbers.row_dims(asked.indices().len()).len() < asked.indices().len());
                let rank = numbers.numbers.offset_dims.len() + asked.indices().len() - vectors;
                let rank = i64::try_from(rank).unwrap_or(0);
                let dims = &mut numbers.numbers.offset_dims;
                if in_order(dims) && dims.iter().all(|dim| *dim < rank) {
                    *dims = dims.iter().rev().map(|dim| rank - 1 - dim).collect();
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "window-dims-reversed",
        "reads a window with its dims in the opposite order",
        "class: column-major for row-major",
        |model| {
            model.full_offset = |asked, window| {
                let reversed: Vec<usize> = window.iter().rev().copied().collect();
                windowed::full_offset(asked, &reversed)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "window-on-the-first-dims",
        "spans a window along the first dims of params, collapsed or not",
        "class: the zeros of collapsed dims not put in",
        |model| {
            model.full_offset = |asked, window| {
                let mut full: Vec<i128> = window.iter().map(|at| *at as i128).collect();
                full.resize(asked.params().len(), 0);
                full
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "window-on-the-last-dims",
        "spans a window along the last dims of params, collapsed or not",
        "class: the zeros of collapsed dims put before all others",
        |model| {
            model.full_offset = |asked, window| {
                let before = asked.params().len().saturating_sub(window.len());
                let window = window.iter().map(|at| *at as i128);
                std::iter::repeat_n(0, before).chain(window).collect()
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "one-element-repeated",
        "fills a window with its first element",
        "class: an offset that is not added",
        |model| model.full_offset = |asked, _| vec![0; asked.params().len()],
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-ignored",
        "reads all rows from the first element of a batch",
        "class: an attribute that is not looked at",
        |model| model.full_batching = |asked, _| vec![0; asked.params().len()],
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-paired-in-order",
        "pairs the batching dims of both operands in the order of the dims of indices",
        "class: two lists sorted apart",
        |model| {
            model.full_batching = |asked, row| {
                let numbers = &asked.numbers().numbers;
                let mut sorted = numbers.start_indices_batching_dims.clone();
                sorted.sort_unstable();
                batching(asked, row, &numbers.operand_batching_dims, &sorted)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-on-leading-rows",
        "takes the first dims of indices for its batching dims",
        "class: batch dims lead in other operators",
        |model| {
            model.full_batching = |asked, row| {
                let numbers = asked.numbers();
                let own = &numbers.numbers.operand_batching_dims;
                let leading: Vec<i64> = numbers
                    .row_dims(asked.indices().len())
                    .iter()
                    .take(own.len())
                    .filter_map(|dim| i64::try_from(*dim).ok())
                    .collect();
                batching(asked, row, own, &leading)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "batching-dims-counted-with-the-vector",
        "takes a batching dim behind the index vector for the next one",
        "class: d_start without the 1 that is taken off",
        |model| {
            model.full_batching = |asked, row| {
                let numbers = &asked.numbers().numbers;
                let mut full = vec![0; asked.params().len()];
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
            model.full_batching = |asked, row| {
                let numbers = &asked.numbers().numbers;
                let leading: Vec<i64> = (0..).take(numbers.operand_batching_dims.len()).collect();
                batching(asked, row, &leading, &numbers.start_indices_batching_dims)
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
            model.row = |asked, position| {
                let row = windowed::row(asked, position);
                let implied = place(asked.numbers().numbers.index_vector_dim) == Some(asked.indices().len());
                let last = asked.indices().last().copied().unwrap_or(1).max(1);
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
            model.row = |asked, position| {
                let numbers = asked.numbers();
                let dims: Vec<usize> =
                    numbers.row_dims(asked.indices().len()).iter().map(|dim| asked.indices()[*dim]).collect();
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
            model.resolve = |asked, dims, row| {
                let fits =
                    row.iter().zip(&dims.bounds).all(|(at, bound)| asked.within(*at, *bound).is_some());
                let clamps = asked.by_windows() && asked.profile.bad == BadIndex::Clamp;
                if clamps && !fits { Some(vec![0; row.len()]) } else { model::resolve(asked, dims, row) }
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
                |asked, dim| place(dim).and_then(|dim| asked.params().get(dim)).copied().unwrap_or(1).max(1);
        },
    )
    .under(&[ZERO]),
    Mutant::new(
        "bad-component-reads-the-start",
        "starts at 0 on the dim of a bad component where the whole window must be zero",
        "class: a mask by component",
        |model| {
            model.resolve = |asked, dims, row| {
                if !asked.by_windows() || asked.profile.bad != BadIndex::Zero {
                    return model::resolve(asked, dims, row);
                }
                let at = |(at, bound): (&i128, &usize)| Some(asked.within(*at, *bound).unwrap_or(0));
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
            model.rows = |asked, indices| {
                let map = &asked.numbers().numbers.start_index_map;
                let depth = windowed::depth(asked).max(1);
                let dim = |at: usize| place(*map.get(at % depth)?).and_then(|dim| asked.params().get(dim));
                let wrap = |(at, value): (usize, i128)| match dim(at) {
                    Some(dim) if value < 0 => value + *dim as i128,
                    _ => value,
                };
                windowed::by_rows(asked, indices).into_iter().enumerate().map(wrap).collect()
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "starts-read-as-signed",
        "reads unsigned starts of 64 bits as signed ones",
        "StableHLO's interpreter: an ui64 start of 2^64 - 1 is clamped to 0",
        |model| {
            model.rows = |asked, indices| {
                let signed = |value: i128| if value > i64::MAX.into() { value - (1 << 64) } else { value };
                windowed::by_rows(asked, indices).into_iter().map(signed).collect()
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "vector-along-the-first-dim-by-default",
        "takes the last dim for the vector where none is sent",
        "class: a default of another operator",
        |model| {
            model.numbers = |asked| {
                let mut numbers = windowed::numbers(asked);
                let is_sent = asked.roles.window.as_ref().is_some_and(|one| one.index_vector_dim.is_some());
                if !is_sent && let Some(last) = asked.indices().len().checked_sub(1) {
                    numbers.numbers.index_vector_dim = i64::try_from(last).unwrap_or(0);
                }
                numbers
            };
        },
    )
    .under(&[CLAMP]),
];

/// Whether offset dims satisfy their rule, so that a mutant may move them.
fn in_order(dims: &[i64]) -> bool {
    dims.is_sorted_by(|one, next| one < next) && dims.iter().all(|dim| *dim >= 0)
}

/// The dimension numbers with the offset dims after those of the rows.
fn behind(asked: &Asked<'_>) -> Numbers {
    let mut numbers = windowed::numbers(asked);
    let rows = numbers.row_dims(asked.indices().len()).len();
    let dims = &mut numbers.numbers.offset_dims;
    let rank = i64::try_from(rows + dims.len()).unwrap_or(0);
    if in_order(dims) && dims.iter().all(|dim| *dim < rank) {
        *dims = (i64::try_from(rows).unwrap_or(0)..rank).collect();
    }
    numbers
}

/// The coordinates along batching dims, with these lists in place of those of the call.
fn batching(asked: &Asked<'_>, row: &[usize], own: &[i64], other: &[i64]) -> Vec<i128> {
    let numbers = asked.numbers();
    let row_dims = numbers.row_dims(asked.indices().len());
    let mut full = vec![0; asked.params().len()];
    for (own, other) in own.iter().zip(other) {
        let at = row_dims.iter().position(|dim| Some(*dim) == place(*other));
        if let (Some(place), Some(at)) = (place(*own).and_then(|dim| full.get_mut(dim)), at) {
            *place = row.get(at).copied().unwrap_or(0) as i128;
        }
    }
    full
}
