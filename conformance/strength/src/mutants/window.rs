//! Wrong about windows: where they start, which dims they drop, and where their dims go in the output. `window_rows` has what
//! is wrong about the rows that they start from.

use super::mutant::{CLAMP, ERROR, Mutant};
use gather_campaign::model::ModelCall;
use gather_campaign::model::place;
use gather_campaign::model::windowed::{self, WindowNumbers};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "starts-clamped-to-the-dim",
        "takes any start within its dim, even where the window then leaves it",
        "class: the bound of an element for that of a window",
        |model| {
            model.fit =
                |call, dim| place(dim).and_then(|dim| call.params().get(dim)).copied().unwrap_or(1).max(1);
        },
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "one-start-too-few",
        "takes no window at the end of its dim",
        "class: a size without the 1 that is added",
        |model| model.fit = |call, dim| windowed::fit(call, dim).saturating_sub(1).max(1),
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "one-start-too-many",
        "takes a window that ends one element past its dim",
        "class: <= for <",
        |model| model.fit = |call, dim| windowed::fit(call, dim).saturating_add(1),
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "starts-fit-by-component",
        "holds component c to dim c of params, not to the one that it starts on",
        "class: the start index map forgotten in the bounds",
        |model| {
            model.fit = |call, dim| {
                let map = &call.numbers().numbers.start_index_map;
                let component = map.iter().position(|one| *one == dim);
                windowed::fit(call, component.map_or(dim, |at| i64::try_from(at).unwrap_or(dim)))
            };
        },
    )
    .under(&[CLAMP, ERROR]),
    Mutant::new(
        "start-index-map-ignored",
        "takes component c for a start on dim c of params",
        "class: an attribute that is not looked at",
        |model| {
            model.full_start = |call, starts| {
                let mut full = starts.to_vec();
                full.resize(call.params().len(), 0);
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
            model.full_start = |call, starts| {
                let map = &call.numbers().numbers.start_index_map;
                let mut sorted: Vec<i64> = map.clone();
                sorted.sort_unstable();
                let mut full = vec![0; call.params().len()];
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
            model.full_start = |call, starts| {
                let mut map = call.numbers().numbers.start_index_map.clone();
                map.sort_unstable();
                let mut full = vec![0; call.params().len()];
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
            model.full_start = |call, starts| {
                let mut full = windowed::full_start(call, starts);
                for dim in &call.numbers().numbers.collapsed_slice_dims {
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
            model.full_start = |call, starts| {
                let reversed: Vec<i128> = starts.iter().rev().copied().collect();
                windowed::full_start(call, &reversed)
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
            model.full_start = |call, starts| windowed::full_start(call, starts.get(..1).unwrap_or_default());
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
            model.numbers = |call| behind(call);
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "offset-dims-first",
        "puts the dims of a window before those of the rows, whatever the offset dims",
        "class: an attribute that is not looked at",
        |model| {
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
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
            model.numbers = |call| {
                let mut numbers = windowed::numbers(call);
                let vectors =
                    usize::from(numbers.row_dims(call.indices().len()).len() < call.indices().len());
                let rank = numbers.numbers.offset_dims.len() + call.indices().len() - vectors;
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
            model.full_offset = |call, window| {
                let reversed: Vec<usize> = window.iter().rev().copied().collect();
                windowed::full_offset(call, &reversed)
            };
        },
    )
    .under(&[CLAMP]),
    Mutant::new(
        "window-on-the-first-dims",
        "spans a window along the first dims of params, collapsed or not",
        "class: the zeros of collapsed dims not put in",
        |model| {
            model.full_offset = |call, window| {
                let mut full: Vec<i128> = window.iter().map(|at| *at as i128).collect();
                full.resize(call.params().len(), 0);
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
            model.full_offset = |call, window| {
                let before = call.params().len().saturating_sub(window.len());
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
        |model| model.full_offset = |call, _| vec![0; call.params().len()],
    )
    .under(&[CLAMP]),
];

/// Whether offset dims satisfy their rule, so that a mutant may move them.
fn in_order(dims: &[i64]) -> bool {
    dims.is_sorted_by(|one, next| one < next) && dims.iter().all(|dim| *dim >= 0)
}

/// The dimension numbers with the offset dims after those of the rows.
fn behind(call: &ModelCall<'_>) -> WindowNumbers {
    let mut numbers = windowed::numbers(call);
    let rows = numbers.row_dims(call.indices().len()).len();
    let dims = &mut numbers.numbers.offset_dims;
    let rank = i64::try_from(rows + dims.len()).unwrap_or(0);
    if in_order(dims) && dims.iter().all(|dim| *dim < rank) {
        *dims = (i64::try_from(rows).unwrap_or(0)..rank).collect();
    }
    numbers
}
