//! Command-line options for backends that are programs: their limits, and how many run in parallel.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use gather_spec::Variant;

use crate::adapters::Launch;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process::{ProcessBackend, ProcessLimits};
use gather_conformance::internals::reproduction::path;
use gather_conformance::internals::shell::option;

/// What a backend that is a program may take.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Backends that are programs")]
pub(super) struct ProcessOptions {
    /// Python interpreter for adapters in Python, with their libraries installed [default: an environment made for each
    /// adapter]
    #[arg(long, value_name = "PATH")]
    pub(super) python: Option<PathBuf>,
    /// Time limit for the start of a program
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    start_limit: Duration,
    /// Time limit for a call
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "20")]
    call_limit: Duration,
    /// Time limit for a call with an empty tensor that spans more than 2^32 positions; at least 4 times the slowest call
    /// so far, and a sixth once two such calls have timed out
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "12")]
    virtual_limit: Duration,
    /// Longest line that a program may write, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = ProcessLimits::default().reply)]
    reply_limit: usize,
    /// Address space of a program, in bytes, on Linux; 0 for no limit. An adapter that runs a browser has none
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 30)]
    memory_limit: u64,
    /// Times to restart a program that crashed, hung or broke the protocol [default: 200, or what an adapter is known to need]
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,
    /// Size in bytes from which a tensor is sent as a file; the file is checked for changes after the call
    #[arg(long, value_name = "BYTES", default_value_t = ProcessLimits::default().file_above)]
    file_above: usize,
}

impl ProcessOptions {
    /// A program under these limits, as one process that is asked everything once.
    pub(super) fn backend(&self, launch: Launch) -> ProcessBackend {
        let (program, arguments) = launch.command.split_first().expect("a command is not empty");
        let mut limits = self.limits();
        if launch.reserves_memory {
            limits.memory = None;
        }
        if let (None, Some(restarts)) = (self.restarts, launch.restarts) {
            limits.restarts = restarts;
        }
        let (arguments, environment) = (arguments.to_vec(), launch.environment);
        ProcessBackend { arguments, environment, limits, ..ProcessBackend::new(program) }
    }

    fn limits(&self) -> ProcessLimits {
        ProcessLimits {
            start: self.start_limit,
            call: self.call_limit,
            virtual_call: self.virtual_limit,
            reply: self.reply_limit,
            memory: (self.memory_limit > 0).then_some(self.memory_limit),
            restarts: self.restarts.unwrap_or(ProcessLimits::default().restarts),
            file_above: self.file_above,
            ..ProcessLimits::default()
        }
    }

    /// The options that differ from their defaults, as on a command line.
    pub(super) fn given(&self) -> Vec<String> {
        let (limits, usual) = (self.limits(), ProcessLimits::default());
        let time = |name, given: Duration, usual| (given != usual).then(|| option(name, given.as_secs_f64()));
        let size = |name, given: usize, usual| (given != usual).then(|| option(name, given));
        let memory = limits.memory != usual.memory;
        [
            self.python.as_ref().map(|python| path("--python", python)),
            time("--start-limit", limits.start, usual.start),
            time("--call-limit", limits.call, usual.call),
            time("--virtual-limit", limits.virtual_call, usual.virtual_call),
            size("--reply-limit", limits.reply, usual.reply),
            memory.then(|| option("--memory-limit", self.memory_limit)),
            self.restarts.map(|restarts| option("--restarts", restarts)),
            size("--file-above", limits.file_above, usual.file_above),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The variants of calls to make.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Backends that are programs")]
pub(super) struct VariantOptions {
    /// Variants to ask, of those that a backend declares: every value for each run (all); every value for documented examples
    /// and bad indices, one variant for each other run (turns); the usual calls only (none) [default: turns]
    #[arg(long, value_name = "all|turns|none", value_parser = which)]
    variants: Option<VariantsAsked>,
    /// Make every call in this variant, such as indices=constant,execution=compiled; params and indices stand for the operands
    /// of these roles
    #[arg(long, value_name = "VARIANT", conflicts_with = "variants")]
    variant: Option<Variant>,
}

/// The values of `--variants`.
const VARIANTS: [(&str, VariantsAsked); 3] =
    [("all", VariantsAsked::All), ("turns", VariantsAsked::Turns), ("none", VariantsAsked::None)];

fn which(text: &str) -> Result<VariantsAsked, String> {
    let found = VARIANTS.iter().find(|(name, _)| *name == text);
    found.map(|(_, asked)| *asked).ok_or_else(|| "expected all, turns or none".to_owned())
}

impl VariantOptions {
    /// A program that is asked these variants or, without options, the `usual` ones.
    pub(super) fn of(&self, program: ProcessBackend, usual: VariantsAsked) -> ProcessBackend {
        ProcessBackend { variants: self.variants.unwrap_or(usual), variant: self.variant.clone(), ..program }
    }

    /// The options as on a command line, but for the variant, which the line of a case names.
    pub(super) fn given(&self) -> Option<String> {
        let (name, _) = VARIANTS.iter().find(|(_, asked)| Some(*asked) == self.variants)?;
        Some(option("--variants", name))
    }
}

/// The most cases or processes to run in parallel.
pub(super) const MOST_JOBS: usize = 1024;

/// The most repetitions of a case.
const MOST_RUNS: usize = 100_000;

/// Parses the number of cases or processes to run in parallel.
pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    count(text, MOST_JOBS)
}

/// Parses the number of repetitions of a case.
pub(super) fn runs(text: &str) -> Result<NonZeroUsize, String> {
    count(text, MOST_RUNS)
}

/// Parses the share of calls with an edge size: one in so many.
pub(super) fn edges(text: &str) -> Result<usize, String> {
    count(text, MOST_RUNS).map(NonZeroUsize::get)
}

fn count(text: &str, most: usize) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= most);
    number.ok_or_else(|| format!("expected a number from 1 to {most}"))
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = |_| format!("`{text}` is not a number of seconds");
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(wrong)?;
    if duration > Duration::from_secs(1_000_000) {
        Err("at most 1000000 seconds".to_owned())
    } else {
        Ok(duration)
    }
}
