//! The sections of the report. Each is a Markdown table, printed as soon as it is measured.

mod calls;
mod pool;
mod rooflines;
mod sweep;
mod tiny;
mod windows;
mod workload;

use gather_benches::{machine, threads, workloads};
use gather_optimized::{Level, Options, Plan};

/// The settings of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) rounds: usize,
    pub(crate) threads: usize,
    pub(crate) level: Option<Level>,
    pub(crate) huge_params: bool,
}

/// Smaller outputs are measured on one thread.
const WORTH_THREADS: usize = 256 << 10;

impl Settings {
    /// The number of threads for floors and copies of this many bytes.
    fn threads_for(&self, bytes: usize) -> usize {
        if bytes < WORTH_THREADS { 1 } else { self.threads }
    }
}

/// Measures and prints the sections and workloads that `wanted` selects by name.
///
/// # Errors
/// What could not be run, or gave a wrong output.
pub(crate) fn print(settings: &Settings, wanted: impl Fn(&str) -> bool) -> Result<(), String> {
    threads::provide(settings.threads);
    // Rejects a level that the machine lacks before measuring anything.
    let options = settings.level.map_or(Options::new(), |level| Options::new().level(level));
    let level = Plan::gather(&[1], &[1], &options).map_err(|why| why.to_string())?.level();

    println!("Machine: {}.", machine::describe());
    let pages = if settings.huge_params { "huge pages" } else { "ordinary pages" };
    let (rounds, threads) = (settings.rounds, settings.threads);
    println!("Level {level}, {threads} threads, medians of {rounds} rounds, params on {pages}.\n");
    if wanted("roofline") {
        rooflines::print(settings);
    }
    let chosen: Vec<_> = workloads::embedded().into_iter().filter(|workload| wanted(&workload.id)).collect();
    if !chosen.is_empty() {
        workload::print_head();
        chosen.iter().try_for_each(|chosen| workload::print_row(chosen, settings))?;
        println!();
    }
    if wanted("windows") {
        windows::print(settings)?;
    }
    if wanted("tiny") {
        tiny::print(settings)?;
    }
    if wanted("calls") {
        calls::print(settings)?;
    }
    if wanted("pool") {
        pool::print(settings)?;
    }
    if wanted("sweep") {
        sweep::print(settings)?;
    }
    Ok(())
}
