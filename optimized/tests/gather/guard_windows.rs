//! Windows in params that touch inaccessible pages: the first start and the last one that fits are among those of every call,
//! so that one byte too far kills the test.

#![cfg(unix)]

use std::num::NonZeroUsize;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Element, Index, Level, Options, Plan};
use gather_spec::{BadIndex, DimensionNumbers, NegativeIndex};
use ndarray::{ArrayView, ArrayViewMut, IxDyn};

/// Starts on the first dims of params in order, components along the last dim of indices, which have two.
fn numbers(offset_dims: &[i64], starts: i64) -> DimensionNumbers {
    DimensionNumbers {
        offset_dims: offset_dims.to_vec(),
        start_index_map: (0..starts).collect(),
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    }
}

/// A call on params and indices without gaps.
struct DenseCall<'a, A, I> {
    params: (&'a [usize], &'a [A]),
    indices: ([usize; 2], &'a [I]),
    numbers: DimensionNumbers,
    sizes: &'a [i64],
}

impl<A: Element + PartialEq + std::fmt::Debug, I: Index> DenseCall<'_, A, I> {
    /// Runs the call between guard pages, touching those at both starts and those at both ends, at every level.
    fn guarded(&self, expected: impl Fn(usize) -> A) {
        for level in Level::available() {
            for (touching, threads) in [(Touching::Start, 1), (Touching::End, 1), (Touching::End, 3)] {
                let threads = NonZeroUsize::new(threads).expect("positive");
                let output = self.run(Options::new().level(level).exactly_threads(threads), touching);
                for (at, element) in output.iter().enumerate() {
                    assert_eq!(*element, expected(at), "element {at}, {level}, {touching:?}, {threads}");
                }
            }
        }
    }

    fn run(&self, options: Options, touching: Touching) -> GuardedElements<A> {
        let (params_shape, indices_shape) = (self.params.0, self.indices.0);
        let plan = Plan::gather_windows(params_shape, &indices_shape, &self.numbers, self.sizes, &options);
        let plan = plan.expect("the numbers are right");
        let params = GuardedElements::new(self.params.1, touching);
        let indices = GuardedElements::new(self.indices.1, touching);
        let len = plan.output_shape().iter().product();
        let mut output = GuardedElements::new(&vec![A::default(); len], touching);
        let params = ArrayView::from_shape(IxDyn(params_shape), &params).expect("its shape");
        let indices = ArrayView::from_shape(indices_shape, &indices).expect("its shape");
        let mut view = ArrayViewMut::from_shape(IxDyn(plan.output_shape()), &mut output).expect("its shape");
        plan.run_into(&params, &indices, &mut view).expect("good indices");
        output
    }
}

/// Windows of every length up to 300 bytes and around longer edges, which overlap in all but one byte.
#[test]
fn sliding_rows() {
    let lengths = (1..300).chain([511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65_536, 65_664]);
    for row in lengths {
        let params: Vec<u8> = (0..row + 2).map(|at| u8::try_from(at % 251).expect("small")).collect();
        let starts = [2i64, 0, 1, 2];
        let sizes = [i64::try_from(row).expect("small")];
        let (shape, indices) = ([row + 2], ([4, 1], &starts[..]));
        let call = DenseCall { params: (&shape, &params), indices, numbers: numbers(&[1], 1), sizes: &sizes };
        call.guarded(|at| params[usize::try_from(starts[at / row]).expect("small") + at % row]);
    }
}

/// Windows of a matrix of elements of every width, their dims last, first and around the dim of the rows.
#[test]
fn windows_of_a_matrix() {
    fn width<A: Element + PartialEq + std::fmt::Debug>(from: impl Fn(usize) -> A) {
        const SHAPE: [usize; 2] = [9, 40];
        let params: Vec<A> = (0..SHAPE[0] * SHAPE[1]).map(&from).collect();
        for (high, wide) in [(1, 1), (2, 3), (9, 1), (3, 17), (1, 33), (8, 40), (9, 40)] {
            for rows in [1, 5, 33] {
                let (low, left) = (SHAPE[0] - high, SHAPE[1] - wide);
                // The first start that fits, the last, and others.
                let start = |row: usize| [(low - row % (low + 1)), left - row * 7 % (left + 1)];
                let starts = |row| if row + 1 == rows && rows > 1 { [0, 0] } else { start(row) };
                let indices: Vec<i32> =
                    (0..rows).flat_map(starts).map(|at| i32::try_from(at).expect("small")).collect();
                for (offset_dims, order) in [([1, 2], [0, 1, 2]), ([0, 1], [1, 2, 0]), ([0, 2], [1, 0, 2])] {
                    let call = DenseCall {
                        params: (&SHAPE, &params),
                        indices: ([rows, 2], &indices),
                        numbers: numbers(&offset_dims, 2),
                        sizes: &[high, wide].map(|size| i64::try_from(size).expect("small")),
                    };
                    // Which of row, window row and window column each dim of the output is.
                    let dims = order.map(|dim| [rows, high, wide][dim]);
                    call.guarded(|at| {
                        let position = [at / dims[2] / dims[1], at / dims[2] % dims[1], at % dims[2]];
                        let of = |dim| position[order.iter().position(|one| *one == dim).expect("a dim")];
                        let [row, column] = starts(of(0));
                        from((row + of(1)) * SHAPE[1] + column + of(2))
                    });
                }
            }
        }
    }
    width(|at| u8::try_from(at % 251).expect("small"));
    width(|at| u16::try_from(at).expect("small"));
    width(|at| u32::try_from(at).expect("small"));
    width(|at| at as u64);
    width(|at| at as u128);
}

/// A start that does not fit is never followed, also where the first element of its window lies within params.
#[test]
fn bad_starts_are_not_followed() {
    const BOUND: i64 = 60;
    let params = [7u32; 64];
    for size in [5i64, 1] {
        // Of single elements every start fits but those beside params.
        let bound = if size == 1 { 64 } else { BOUND };
        for start in [i64::MIN, -bound - 1, -1, bound, bound + 1, 64, 1 << 31, 1 << 32, 1 << 40, i64::MAX] {
            for at in [0, 20, 36] {
                let mut starts = vec![bound - 1; 37];
                starts[at] = start;
                for (level, bad) in
                    Level::available().flat_map(|level| BadIndex::SPECIFIED.map(|bad| (level, bad)))
                {
                    for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
                        let options = Options::new().level(level).bad_index(bad).negative_index(negative);
                        let found = first_of_window(&params, &starts, size, &options, at);
                        match bad {
                            _ if negative == NegativeIndex::Wrap && start == -1 => assert_eq!(found, Some(7)),
                            BadIndex::Error => assert_eq!(found, None, "{level} {start} at {at}"),
                            BadIndex::Zero => assert_eq!(found, Some(0)),
                            _ => assert_eq!(found, Some(7)),
                        }
                    }
                }
            }
        }
    }
}

/// The first element of a window in params that touch the page behind them; none if the call is refused.
fn first_of_window(params: &[u32], starts: &[i64], size: i64, options: &Options, at: usize) -> Option<u32> {
    let (params, starts) =
        (GuardedElements::new(params, Touching::End), GuardedElements::new(starts, Touching::End));
    let params = ArrayView::from_shape(params.len(), &params).expect("its shape");
    let indices = ArrayView::from_shape((starts.len(), 1), &starts).expect("its shape");
    let output = gather_optimized::gather_windows(&params, &indices, &numbers(&[1], 1), &[size], options);
    output.ok().map(|output| output[[at, 0]])
}
