//! Every workload at every level, on 1 and 2 threads, with each kind of output: `workload/level/threads/output`.
//! Makes inputs and verifies outputs only for workloads that the filter of `cargo bench --bench gather -- FILTER` selects.

#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup, Criterion, SamplingMode, Throughput};
use gather_benches::verify::Samples;
use gather_benches::{Inputs, RunSettings, Subject, Workload, subject, threads, workloads};
use gather_optimized::{Level, Plan};

/// Outputs of at least this many bytes take milliseconds, so each sample is a single batch.
const LARGE: usize = 1 << 20;

/// Outputs of fewer bytes are measured on one thread only.
const TINY: usize = 4 << 10;

/// The memory for the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputMode {
    Into,
    Fresh,
    Pooled,
}

const OUTPUTS: [(&str, OutputMode); 3] =
    [("into", OutputMode::Into), ("fresh", OutputMode::Fresh), ("pooled", OutputMode::Pooled)];

fn main() {
    threads::provide(2.max(std::thread::available_parallelism().map_or(1, usize::from)));
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .nresamples(10_000)
        .without_plots()
        .configure_from_args();
    for workload in workloads::embedded() {
        let mut group = criterion.benchmark_group(&workload.id);
        group.throughput(Throughput::Bytes(workload.output_bytes() as u64));
        if workload.output_bytes() >= LARGE {
            group.sampling_mode(SamplingMode::Flat);
        }
        each_way(&workload, &mut group);
        group.finish();
    }
    criterion.final_summary();
}

/// The parts of a workload that take time to make.
struct PreparedWorkload {
    inputs: Inputs,
    samples: Samples,
}

fn each_way(workload: &Workload, group: &mut BenchmarkGroup<'_, WallTime>) {
    let prepared = OnceCell::new();
    for level in Level::available() {
        for threads in [1, 2] {
            let settings = RunSettings { level: Some(level), threads: NonZeroUsize::new(threads) };
            let mut ready = None;
            for (name, output) in OUTPUTS {
                if differs(workload, level, threads, output) {
                    // Criterion calls this once per sample, so what it needs is cached.
                    group.bench_function(format!("{level}/{threads}/{name}"), |bencher| {
                        let prepared = prepared.get_or_init(|| PreparedWorkload::of(workload));
                        ready
                            .get_or_insert_with(|| Ready::of(workload, prepared, settings))
                            .run(output, bencher);
                    });
                }
            }
        }
    }
}

/// Whether a combination can differ from those measured before. Strings are cloned one by one, without level, second
/// thread or pool. A tiny call on two threads would only measure waking a thread.
fn differs(workload: &Workload, level: Level, threads: usize, output: OutputMode) -> bool {
    let plain = Level::available().next() == Some(level) && threads == 1 && output != OutputMode::Pooled;
    let tiny = workload.output_bytes() < TINY;
    (plain || !workload.is_string()) && (threads == 1 || !tiny)
}

impl PreparedWorkload {
    fn of(workload: &Workload) -> Self {
        let inputs = Inputs::of(workload).expect("memory for the inputs");
        let samples = Samples::of(workload, &inputs).expect("the reference answers");
        Self { inputs, samples }
    }
}

/// A verified workload at one level on some threads.
struct Ready<'a> {
    subject: Box<dyn Subject + 'a>,
    plan: Plan,
    settings: RunSettings,
}

impl<'a> Ready<'a> {
    fn of(workload: &'a Workload, prepared: &'a PreparedWorkload, settings: RunSettings) -> Self {
        let mut subject = subject(workload, &prepared.inputs).expect("memory for the output");
        if let Err(wrong) = prepared.samples.verify(&mut *subject, settings) {
            panic!("{}: {wrong}", workload.id);
        }
        Self { subject, plan: settings.plan(workload).expect("an available level"), settings }
    }

    fn run(&mut self, output: OutputMode, bencher: &mut Bencher<'_>) {
        match output {
            OutputMode::Into => bencher.iter(|| black_box(&mut self.subject).run_into(&self.plan)),
            OutputMode::Fresh => bencher.iter(|| black_box(&self.subject).run_fresh(self.settings)),
            OutputMode::Pooled => bencher.iter(|| black_box(&self.subject).run_pooled(&self.plan)),
        }
    }
}
