//! Elements of params that do not stay in a core's cache, by params and indices with gaps and backwards: what is looked at in
//! groups of sixteen, and what is fetched while the axis before it is picked from.

use gather_optimized::{Element, Index, Level, Options, gather};
use gather_spec::NegativeIndex;
use ndarray::{Array1, Array2, Axis, Slice};

const BOUND: usize = 300_000;
const STEPS: [isize; 3] = [1, -1, 2];

/// Gathers from the last axis at every level, and compares with a plain loop.
fn agrees<A: Element + PartialEq, I: Index>(
    (rows, bound): (usize, usize),
    places: &[usize],
    element: impl Fn(usize) -> A,
    index: impl Fn(usize) -> I,
) {
    for (of_params, of_indices) in STEPS.into_iter().flat_map(|one| STEPS.map(|other| (one, other))) {
        let row = bound * of_params.unsigned_abs();
        let params = Array2::from_shape_fn((rows, row), |(at, column)| element(at * row + column));
        let params = params.slice_axis(Axis(1), Slice::new(0, None, of_params));
        let mut indices = Array1::from_elem(places.len() * of_indices.unsigned_abs(), index(0));
        let mut indices = indices.slice_axis_mut(Axis(0), Slice::new(0, None, of_indices));
        indices.iter_mut().zip(places).for_each(|(one, place)| *one = index(*place));
        let expected = Array2::from_shape_fn((rows, places.len()), |(at, j)| params[[at, places[j]]]);
        for level in Level::available() {
            for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
                let options = Options::new().level(level).negative_index(negative).axis(-1);
                let output = gather(&params, &indices, &options).expect("good indices");
                assert!(
                    output == expected.view().into_dyn(),
                    "{}, step {of_params} of params and {of_indices} of indices, {level}, {negative:?}",
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
