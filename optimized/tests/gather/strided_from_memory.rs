//! Elements of params that do not stay in a core's cache, by params and indices with gaps and backwards: what is looked at in
//! groups of sixteen, and what is fetched while the axis before it is picked from.

use gather_optimized::slices::{self, View};
use gather_optimized::{Element, Index, Level, Options};
use gather_spec::NegativeIndex;

const BOUND: usize = 300_000;
const STEPS: [isize; 3] = [1, -1, 2];

/// A view of rows, the last axis of which is stepped over.
fn stepped<A>(elements: &[A], shape: [usize; 2], step: isize) -> (usize, [isize; 2]) {
    let row = shape[1] * step.unsigned_abs();
    assert_eq!(elements.len(), shape[0] * row);
    (if step < 0 { row - 1 } else { 0 }, [row.cast_signed(), step])
}

/// Gathers from the last axis at every level, and compares with a plain loop.
fn agrees<A: Element + PartialEq, I: Index>(
    (rows, bound): (usize, usize),
    places: &[usize],
    element: impl Fn(usize) -> A,
    index: impl Fn(usize) -> I,
) {
    for (of_params, of_indices) in STEPS.into_iter().flat_map(|one| STEPS.map(|other| (one, other))) {
        let params: Vec<A> = (0..rows * bound * of_params.unsigned_abs()).map(&element).collect();
        let (first, strides) = stepped(&params, [rows, bound], of_params);
        let mut indices = vec![index(0); places.len() * of_indices.unsigned_abs()];
        let (first_index, [_, index_step]) = stepped(&indices, [1, places.len()], of_indices);
        for (at, place) in places.iter().enumerate() {
            indices[first_index.wrapping_add_signed(at.cast_signed() * index_step)] = index(*place);
        }
        let from = |row: usize, place: usize| {
            let steps = row.cast_signed() * strides[0] + place.cast_signed() * strides[1];
            params[first.wrapping_add_signed(steps)]
        };
        let expected = (0..rows).flat_map(|row| places.iter().map(move |place| (row, *place)));
        let expected: Vec<A> = expected.map(|(row, place)| from(row, place)).collect();
        let (shape, count) = ([rows, bound], [places.len()]);
        let params = View::strided(&params, first, &shape, &strides).expect("within");
        let indices = View::strided(&indices, first_index, &count, &[index_step]).expect("within");
        for level in Level::available() {
            for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
                let options = Options::new().level(level).negative_index(negative).axis(-1);
                let output = slices::gather(&params, &indices, &options).expect("good indices");
                let first_wrong = output.iter().zip(&expected).position(|(one, other)| one != other);
                assert!(
                    first_wrong.is_none() && output.len() == expected.len(),
                    "element {first_wrong:?}: {}, step {of_params} of params and {of_indices} of indices, {level}, {negative:?}",
                    std::any::type_name::<(A, I)>(),
                );
            }
        }
    }
}

/// Groups of sixteen: consecutive ones, ones that only begin and end so, and others.
#[test]
fn groups_of_sixteen_indices_that_are_consecutive_and_that_only_seem_so() {
    let groups = (0..40).flat_map(|group| {
        let within = move |at: usize| match group % 4 {
            0 => at,
            1 if (1..15).contains(&at) => 15 - at,
            2 if at == 7 => 5,
            3 => at * 3,
            _ => at,
        };
        (0..16).map(move |at| group * 7400 + within(at))
    });
    let places: Vec<usize> = groups.collect();
    let small = |place: usize| i32::try_from(place).expect("small");
    agrees((1, BOUND), &places, |at| u32::try_from(at).expect("small"), small);
    agrees((1, BOUND), &places, |at| u32::try_from(at).expect("small"), |place| place as u64);
    agrees((1, BOUND), &places, |at| at as u64, |place| i64::from(small(place)));
    agrees((1, 2 * BOUND), &places, |at| u16::try_from(at % 65_521).expect("small"), small);
    agrees((1, 4 * BOUND), &places, |at| u8::try_from(at % 251).expect("small"), small);
}

/// As many picks from each axis as it takes to fetch the next one, and a few more than between two requests.
#[test]
fn axes_in_order_by_indices_with_gaps() {
    let (rows, bound) = (300, 1024);
    let places: Vec<usize> = (0..140).map(|at| at * 37 % bound).collect();
    agrees((rows, bound), &places, |at| u32::try_from(at).expect("small"), |place| place as u64);
    agrees((rows, bound), &places, |at| at as u64, |place| i16::try_from(place).expect("small"));
}
