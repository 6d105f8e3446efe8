//! Calls from inside a rayon pool: a loop over calls that shares the pool's threads, and one call on a thread of the pool.

use std::num::NonZeroUsize;
use std::time::Instant;

use gather_benches::timing::median;
use gather_optimized::{Options, Plan};
use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::Settings;

/// Calls of a loop.
const CALLS: usize = 256;

/// Rows of params, and their elements: 1 MB, which stays in a cache.
const PARAMS: [usize; 2] = [1000, 256];

/// Rows of a call.
const SIZES: [usize; 3] = [8, 32, 512];

/// Who makes the calls, and with how many threads.
const WAYS: [&str; 5] = [
    "loop, default",
    "loop, threads = 1",
    "parallel loop, default",
    "parallel loop, threads = 1",
    "parallel loop in one call",
];

/// Measures and prints a loop of calls in each way. A single call of all the rows is the limit.
#[allow(clippy::cast_precision_loss, reason = "durations to be reported with three digits")]
pub(super) fn print(settings: &Settings) -> Result<(), String> {
    println!("| {CALLS} calls of rows of 1 KiB | {}, µs per call |", WAYS.join(", µs per call | "));
    println!("| --- |{}", " --: |".repeat(WAYS.len()));
    for rows in SIZES {
        let mut calls = Calls::new(rows, settings)?;
        calls.verify()?;
        let mut all = vec![Vec::new(); WAYS.len()];
        for _ in 0..settings.rounds.max(1) {
            for (way, seconds) in all.iter_mut().enumerate() {
                let start = Instant::now();
                calls.run(way);
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
        let cells = all.iter_mut().map(|seconds| format!("{:.2}", median(seconds) * 1e6 / CALLS as f64));
        println!("| of {rows} rows | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!();
    Ok(())
}

fn gather(
    plan: &Plan,
    params: &Array2<f32>,
    (output, indices): &mut (ArrayViewMut2<'_, f32>, ArrayView1<'_, i64>),
) {
    plan.run_into(params, indices, output).expect("a valid call");
}

struct Calls {
    params: Array2<f32>,
    indices: Array2<i64>,
    output: Array2<f32>,
    /// By default, and with one thread.
    plans: [Plan; 2],
    whole: Plan,
}

impl Calls {
    fn new(rows: usize, settings: &Settings) -> Result<Self, String> {
        let options = settings.level.map_or(Options::new(), |level| Options::new().level(level));
        let plan = |count, options: &Options| {
            Plan::gather(&PARAMS, &[count], options).map_err(|why| why.to_string())
        };
        #[allow(clippy::cast_precision_loss, reason = "numbers below 2^24")]
        let params = Array2::from_shape_fn((PARAMS[0], PARAMS[1]), |(row, at)| (row * PARAMS[1] + at) as f32);
        let index =
            |(call, row): (usize, usize)| i64::try_from((call * 131 + row * 577) % PARAMS[0]).unwrap_or(0);
        Ok(Self {
            params,
            indices: Array2::from_shape_fn((CALLS, rows), index),
            output: Array2::zeros((CALLS * rows, PARAMS[1])),
            plans: [plan(rows, &options)?, plan(rows, &options.threads(NonZeroUsize::MIN))?],
            whole: plan(CALLS * rows, &options)?,
        })
    }

    fn run(&mut self, way: usize) {
        let Self { params, indices, output, plans, whole } = self;
        let rows = indices.ncols();
        let mut calls: Vec<_> = output.axis_chunks_iter_mut(Axis(0), rows).zip(indices.rows()).collect();
        match way {
            0 | 1 => calls.iter_mut().for_each(|call| gather(&plans[way], params, call)),
            2 | 3 => calls.par_iter_mut().for_each(|call| gather(&plans[way - 2], params, call)),
            _ => {
                drop(calls);
                let all: Array1<i64> = indices.iter().copied().collect();
                whole.run_into(params, &all, output).expect("a valid call");
            }
        }
    }

    /// All ways give the same.
    fn verify(&mut self) -> Result<(), String> {
        let mut first: Option<Array2<f32>> = None;
        for (way, name) in WAYS.iter().enumerate() {
            self.output.fill(-1.0);
            self.run(way);
            match &first {
                None => first = Some(self.output.clone()),
                Some(first) if *first == self.output => {}
                Some(_) => return Err(format!("{name}: another output than that of the plain loop")),
            }
        }
        Ok(())
    }
}
