//! Windows of a matrix: rows and blocks with the window's dims last in the output, columns and blocks with them first.
//! `workloads.yaml` has no windows, because they are not the loop nest of [`Geometry`](gather_benches::geometry::Geometry).

use gather_benches::floor::Place;
use gather_benches::threads::share;
use gather_benches::timing::interleave;
use gather_optimized::{Options, Plan};
use gather_spec::{BadIndex, DimensionNumbers, Refusal};
use ndarray::{Array2, ArrayD, IxDyn};

use super::Settings;

/// The numbers of rows and of columns of params.
const SIDE: usize = 4096;

/// Windows of params at random valid starts.
#[derive(Clone, Copy, Debug)]
struct Windows {
    name: &'static str,
    high: usize,
    wide: usize,
    count: usize,
    /// Whether the window's dims come first in the output, rather than last.
    first: bool,
}

const WINDOWS: [Windows; 5] = [
    Windows { name: "rows of 256", high: 1, wide: 256, count: 32_768, first: false },
    Windows { name: "blocks of 8 x 64", high: 8, wide: 64, count: 16_384, first: false },
    Windows { name: "points", high: 1, wide: 1, count: 2_000_000, first: false },
    Windows { name: "columns, dims first", high: SIDE, wide: 1, count: 1024, first: true },
    Windows { name: "blocks of 8 x 64, dims first", high: 8, wide: 64, count: 16_384, first: true },
];

struct Subject {
    windows: Windows,
    params: Array2<f32>,
    starts: Array2<i64>,
    output: ArrayD<f32>,
}

impl Subject {
    fn new(windows: Windows) -> Self {
        let params = Array2::from_shape_fn((SIDE, SIDE), |(row, column)| (row * 7 + column) as f32);
        let fits = [SIDE - windows.high + 1, SIDE - windows.wide + 1];
        // Fibonacci hashing: spreads consecutive numbers over all valid starts.
        let random = |at: usize| (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let start = |(row, component): (usize, usize)| {
            i64::try_from(random(2 * row + component + 1) % fits[component] as u64).unwrap_or(0)
        };
        let starts = Array2::from_shape_fn((windows.count, 2), start);
        let Windows { high, wide, count, first, .. } = windows;
        let shape = if first { [high, wide, count] } else { [count, high, wide] };
        Self { windows, params, starts, output: ArrayD::zeros(IxDyn(&shape)) }
    }

    fn plan(&self, bad: BadIndex, threads: usize, settings: &Settings) -> Result<Plan, Refusal> {
        let threads = std::num::NonZeroUsize::new(threads);
        let options = Options::new().bad_index(bad);
        let options = threads.map_or(options, |threads| options.exactly_threads(threads));
        let options = settings.level.map_or(options, |level| options.level(level));
        let numbers = DimensionNumbers {
            offset_dims: if self.windows.first { vec![0, 1] } else { vec![1, 2] },
            start_index_map: vec![0, 1],
            index_vector_dim: 1,
            ..DimensionNumbers::default()
        };
        let sizes = [self.windows.high, self.windows.wide].map(|size| i64::try_from(size).unwrap_or(0));
        Plan::gather_windows(self.params.shape(), self.starts.shape(), &numbers, &sizes, &options)
    }

    fn run(&mut self, plan: &Plan) -> Result<(), Refusal> {
        plan.run_into(&self.params, &self.starts, &mut self.output)
    }

    /// Moves the same elements by the best plain loop, which validates only what safe Rust requires.
    fn run_floor(&mut self, threads: usize) {
        let Windows { high, wide, count, first, .. } = self.windows;
        let params = self.params.as_slice().unwrap_or_default();
        let starts = self.starts.as_slice().unwrap_or_default().as_chunks::<2>().0;
        let corner = |[row, column]: [i64; 2]| row.place() * SIDE + column.place();
        let output = self.output.as_slice_mut().unwrap_or_default();
        if first {
            share(output, count, threads, |number, part| {
                for (at, line) in part.chunks_mut(count).enumerate() {
                    let (row, column) = ((number + at) / wide, (number + at) % wide);
                    for (place, start) in line.iter_mut().zip(starts) {
                        *place = params[corner(*start) + row * SIDE + column];
                    }
                }
            });
        } else {
            share(output, high * wide, threads, |number, part| {
                for (window, start) in part.chunks_mut(high * wide).zip(&starts[number..]) {
                    for (row, line) in window.chunks_mut(wide).enumerate() {
                        line.copy_from_slice(&params[corner(*start) + row * SIDE..][..wide]);
                    }
                }
            });
        }
    }

    /// Compares the outputs of all plans with the floor's.
    fn verify(&mut self, plans: &[Plan]) -> Result<(), String> {
        self.run_floor(1);
        let floor = self.output.clone();
        for plan in plans {
            self.output.fill(-1.0);
            self.run(plan).map_err(|why| why.to_string())?;
            if self.output != floor {
                return Err(format!("{}: the output is not that of the floor", self.windows.name));
            }
        }
        Ok(())
    }
}

/// Measures and prints each kind of window under both policies, on one thread and on all.
pub(super) fn print(settings: &Settings) -> Result<(), String> {
    println!("| windows of 4096 x 4096 f32 | threads | MB | error, ms | clamp, ms | floor, ms | of floor |");
    println!("| --- | --: | --: | --: | --: | --: | --: |");
    for windows in WINDOWS {
        let mut subject = Subject::new(windows);
        for threads in [1, settings.threads] {
            print_row(&mut subject, threads, settings)?;
        }
    }
    println!();
    Ok(())
}

fn print_row(subject: &mut Subject, threads: usize, settings: &Settings) -> Result<(), String> {
    let plan = |bad| subject.plan(bad, threads, settings).map_err(|why| why.to_string());
    let plans = [plan(BadIndex::Error)?, plan(BadIndex::Clamp)?];
    subject.verify(&plans)?;
    let medians = interleave(&[Some(0), Some(1), None], settings.rounds, |contender| match contender {
        Some(at) => subject.run(&plans[at]).expect("what ran once runs again"),
        None => subject.run_floor(threads),
    });
    let ([error, clamp, floor], megabytes) = (&medians[..], subject.output.len() * 4 / 1_000_000) else {
        return Err("a median for each contender".to_owned());
    };
    println!(
        "| {} | {threads} | {megabytes} | {:.2} | {:.2} | {:.2} | {:.2} |",
        subject.windows.name,
        error * 1e3,
        clamp * 1e3,
        floor * 1e3,
        floor / error
    );
    Ok(())
}
