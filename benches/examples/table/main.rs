//! Measures every workload against its floor, in one run, and prints Markdown tables.

#![forbid(unsafe_code)]

mod table;

use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Parser;
use gather_optimized::Level;

/// Measures the workloads of GatherSpec: gather-optimized, the best plain loop, and what the memory allows, in turn.
#[derive(Debug, Parser)]
struct Arguments {
    /// Workloads whose id matches; the sections `roofline`, `windows`, `tiny`, `calls`, `pool` and `sweep` are chosen the same way
    #[arg(long, value_name = "GLOB", default_value = "*")]
    workload: String,
    /// How often each contender has its turn
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: usize,
    /// Threads of the runs that are compared to one thread [default: those of the machine]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// The instruction set of gather-optimized [default: the best of the machine]
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// Put params on huge pages; by default they lie where a Vec puts them
    #[arg(long)]
    huge_params: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let glob = match globset::Glob::new(&arguments.workload) {
        Ok(glob) => glob.compile_matcher(),
        Err(wrong) => return refuse(&wrong.to_string()),
    };
    let settings = table::Settings {
        rounds: arguments.rounds,
        threads: arguments.threads.or(std::thread::available_parallelism().ok()).map_or(1, usize::from),
        level: arguments.level,
        huge_params: arguments.huge_params,
    };
    match table::print(&settings, |id| glob.is_match(id)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("error: {why}");
    ExitCode::from(2)
}
