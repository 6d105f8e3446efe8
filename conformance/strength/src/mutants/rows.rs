//! Wrong about the order of rows and components, or at the end of a copy.

use gather_spec::{DType, Element};

use super::mutant::Mutant;
use gather_campaign::model::{self, ShapeParts, SliceSource, count};

pub(super) static MUTANTS: &[Mutant] = &[
    Mutant::new(
        "components-reversed",
        "reads the components of a row from the last to the first",
        "class: x, y for row, column",
        |model| {
            model.resolve =
                |call, dims, row| model::resolve(call, dims, &row.iter().rev().copied().collect::<Vec<_>>());
            model.offender = |_, _, _| None;
        },
    ),
    Mutant::new(
        "first-two-components-swapped",
        "swaps the first two components of a row",
        "class: x, y for row, column",
        |model| {
            model.resolve = |call, dims, row| {
                let mut row = row.to_vec();
                if row.len() > 1 {
                    row.swap(0, 1);
                }
                model::resolve(call, dims, &row)
            };
            model.offender = |_, _, _| None;
        },
    ),
    Mutant::new(
        "rows-reversed",
        "answers the rows from the last to the first",
        "class: a loop that runs backwards",
        |model| {
            model.arrange = |_, _, mut picks| {
                picks.reverse();
                picks
            };
        },
    ),
    Mutant::new(
        "rows-sorted",
        "answers the rows in the order of what they name",
        "class: indices sorted for locality, and not put back",
        |model| {
            model.arrange = |_, _, mut picks| {
                picks.sort_unstable();
                picks
            };
        },
    ),
    Mutant::new(
        "rows-scattered",
        "writes row i to the place that its index names, where that exists",
        "class: scatter for gather, the inverse permutation",
        |model| {
            model.arrange = |_, dims, picks| {
                let slice = count(&dims.inner).max(1) as i128;
                let mut placed = picks.clone();
                for (at, pick) in picks.iter().enumerate() {
                    let place = pick.and_then(|pick| usize::try_from(pick / slice).ok());
                    if let Some(place) = place.and_then(|place| placed.get_mut(place)) {
                        *place = Some(at as i128 * slice);
                    }
                }
                placed
            };
        },
    ),
    Mutant::new(
        "duplicates-left-out",
        "answers a row that was asked before with zeros",
        "class: a set where a list is meant",
        |model| {
            model.arrange = |_, _, picks| {
                let mut seen = std::collections::HashSet::new();
                picks.into_iter().map(|pick| pick.filter(|pick| seen.insert(*pick))).collect()
            };
        },
    ),
    Mutant::new(
        "indices-ignored",
        "answers row i of params for the i-th index",
        "class: an identity that looks right on toy input",
        |model| {
            model.arrange = |_, dims, picks| {
                let slice = count(&dims.inner) as i128;
                (0..picks.len()).map(|at| Some(at as i128 * slice)).collect()
            };
        },
    ),
    Mutant::new(
        "last-row-unwritten",
        "leaves the last slice of the output unwritten",
        "class: a loop that ends one early",
        |model| {
            model.arrange = |_, _, mut picks| {
                if let Some(last) = picks.last_mut() {
                    *last = UNWRITTEN;
                }
                picks
            };
        },
    ),
    Mutant::new(
        "first-row-repeated",
        "answers the first row in place of the second",
        "class: a pointer that moves one late",
        |model| {
            model.arrange = |_, _, mut picks| {
                if let [first, second, ..] = &mut *picks {
                    *second = *first;
                }
                picks
            };
        },
    ),
    Mutant::new(
        "last-byte-unwritten",
        "leaves the last byte of the output unwritten",
        "class: a size in bytes that is one short",
        |model| {
            model.finish = |call, _, elements| {
                if let Some(last) = elements.last_mut() {
                    spoil_last_byte(call.roles.params.dtype(), last);
                }
            };
        },
    ),
    Mutant::new(
        "last-element-of-a-slice-unwritten",
        "leaves the last element of every slice of two or more unwritten",
        "class: a size in elements that is one short",
        |model| {
            model.element = |call, dims, params, pick, at| {
                let slice = count(&dims.inner);
                let pick = if slice > 1 && at + 1 == slice { UNWRITTEN } else { pick };
                model::element(call, dims, params, pick, at)
            };
        },
    ),
    Mutant::new(
        "tail-of-8-rows-unwritten",
        "handles rows in groups of 8 and leaves the rest of more than 8 unwritten",
        "class: a vector loop without its tail",
        |model| model.arrange = |_, _, picks| without_tail(picks, 8),
    ),
    Mutant::new(
        "tail-of-16-elements-unwritten",
        "copies slices in groups of 16 elements and leaves the rest of more than 16 unwritten",
        "class: a vector loop without its tail",
        |model| {
            model.element = |call, dims, params, pick, at| {
                let slice = count(&dims.inner);
                let pick = if slice > 16 && at >= slice / 16 * 16 { UNWRITTEN } else { pick };
                model::element(call, dims, params, pick, at)
            };
        },
    ),
    Mutant::new(
        "tail-of-8-bytes-unwritten",
        "copies slices of more than 8 bytes in words of 8 and leaves the rest unwritten",
        "class: a copy by words without its tail",
        |model| {
            model.element = |call, dims, params, pick, at| {
                let size = call.roles.params.dtype().size();
                let (slice, end) = (count(&dims.inner).saturating_mul(size), (at + 1).saturating_mul(size));
                let pick = if slice > 8 && end > slice / 8 * 8 { UNWRITTEN } else { pick };
                model::element(call, dims, params, pick, at)
            };
        },
    ),
    Mutant::new(
        "only-32-rows",
        "repeats the first 32 rows for all that follow",
        "a view of the first 32 indices: https://github.com/torch-spyre/torch-spyre/issues/3851",
        |model| {
            model.arrange = |_, _, picks| (0..picks.len()).map(|at| picks[at % 32]).collect();
        },
    ),
    Mutant::new(
        "slices-off-by-one",
        "copies every slice of two or more elements from one element too far",
        "class: a pointer that is moved before the copy",
        |model| {
            model.element = |call, dims, params, pick, at| {
                let slice = count(&dims.inner);
                model::element(call, dims, params, pick, if slice > 1 { at + 1 } else { at })
            };
        },
    ),
    Mutant::new(
        "slice-stride-1",
        "takes a slice to begin where its index says in elements, not in slices",
        "class: an offset that is not multiplied by the length of a slice",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let flat = ShapeParts { inner: Vec::new(), ..dims.clone() };
                model::offset(call, &flat, batch, mid, at)
            };
        },
    ),
    Mutant::new(
        "same-length-assumed",
        "steps from slice to slice of params by the number of indices, not by the size of the axis",
        "index_select where both differ: https://github.com/huggingface/candle/issues/1022",
        |model| {
            model.offset = |call, dims, batch, mid, at| {
                let rows = count(&dims.outer);
                let step = |dims: &ShapeParts| {
                    [&dims.bounds[..0], &[rows], dims.bounds.get(1..).unwrap_or(&[])].concat()
                };
                let wrong = ShapeParts { bounds: step(dims), ..dims.clone() };
                model::offset(call, &wrong, batch, mid, at)
            };
        },
    ),
    Mutant::new(
        "long-slices-cut",
        "copies at most 192 elements of a slice",
        "right for 3 and wrong for 200: https://github.com/PaddlePaddle/Paddle/issues/40566",
        |model| {
            model.element = |call, dims, params, pick, at| {
                model::element(call, dims, params, if at < 192 { pick } else { UNWRITTEN }, at)
            };
        },
    ),
    Mutant::new(
        "output-unwritten",
        "answers with memory that was never written if there are more than 100 rows",
        "tensorflow 2.21.0, int16 indices: 40000 rows give uninitialised memory",
        |model| {
            model.arrange = |_, _, picks| {
                if picks.len() > 100 { vec![UNWRITTEN; picks.len()] } else { picks }
            };
        },
    ),
];

/// A source outside every tensor, which reads as garbage.
pub(super) const UNWRITTEN: SliceSource = Some(-1 << 100);

/// The sources, with those of a last incomplete group unwritten.
pub(super) fn without_tail(mut picks: Vec<SliceSource>, group: usize) -> Vec<SliceSource> {
    let whole = picks.len() / group * group;
    if whole > 0 {
        picks[whole..].fill(UNWRITTEN);
    }
    picks
}

/// Changes the byte of an element that is last in memory.
fn spoil_last_byte(dtype: DType, element: &mut Element) {
    let spoilt = match &*element {
        Element::Bits(bits) => Element::Bits(*bits ^ (0xA5 << (8 * (dtype.size() - 1)))),
        Element::Bytes(bytes) => {
            let bytes = bytes.as_bytes();
            Element::Bytes(bytes[..bytes.len().saturating_sub(1)].into())
        }
    };
    *element = spoilt;
}
