//! `gatherspec bench`: times the workloads on backends, in turns.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use gather_benches::{Workload, machine, rooflines, threads, workloads};
use gather_optimized::{LEVEL_VARIABLE, Level};
use gather_spec::{Signatures, names};

use crate::bench::{self, Backends, Contender, OperandFolder, Record, TimingSettings};
use gather_conformance::internals::files;
use gather_conformance::internals::in_process::ALIGN_VARIABLE;
use gather_conformance::internals::interrupt;
use gather_conformance::internals::interrupt::Gentle;
use gather_conformance::internals::select::Pattern;
use gather_conformance::protocol::OutputMemory;

use super::backend::BackendArgument;
use super::ending::{Failure, Status};
use super::folders::Folders;
use super::output::{complain, print};
use super::process::{ProcessOptions, jobs};

#[derive(clap::Args)]
pub(super) struct BenchArgs {
    /// Backend to time beside optimized: a built-in one, an adapter, such as numpy, or the path of a program that answers the
    /// backend protocol
    #[arg(long = "backend", value_name = "NAME[:POLICIES]|PATH", value_parser = BackendArgument::parse)]
    backends: Vec<BackendArgument>,
    /// Time only the workload with this id, or the workloads that match this glob [default: all whose tensors are contiguous]
    #[arg(long = "workload", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// Level of optimized's instruction sets to time as a backend of its own, beside the one that it chooses
    #[arg(long = "level", value_name = "LEVEL", value_parser = level)]
    levels: Vec<Level>,
    /// Measure first what the memory allows, for the table and the JSON file: copies of 268 MB and random reads, in some seconds
    /// and 1.9 GB
    #[arg(long)]
    rooflines: bool,
    /// Where outputs go: fresh memory for each call, a pool of the library (the other backends get fresh memory), or memory of
    /// the caller that is reused
    #[arg(long, value_name = "MEMORY", value_delimiter = ',', default_value = "fresh,pooled,into", value_parser = memory)]
    output: Vec<OutputMemory>,
    /// Turns of each backend
    #[arg(long, value_name = "N", default_value = "5", value_parser = jobs)]
    turns: NonZeroUsize,
    /// Rounds in each turn, each of at least 10 ms
    #[arg(long, value_name = "N", default_value = "3", value_parser = jobs)]
    rounds: NonZeroUsize,
    /// Processors that each backend may use [default: all]; on Linux only
    #[arg(long, value_name = "N", value_parser = jobs)]
    threads: Option<NonZeroUsize>,
    /// Byte of a line of 64 at which params of optimized, and outputs that it reuses, begin, as a large `Vec` does at 16
    #[arg(long, value_name = "BYTE", default_value = "16", value_parser = clap::value_parser!(u8).range(..64))]
    align: u8,
    /// File to write all durations to, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// File to write a page with a table and plots to, as HTML
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Time nothing: compare files that --json wrote, or make the page of one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["backends", "patterns", "levels", "rooflines", "output", "turns", "rounds", "threads", "align", "json", "command"])]
    from: Vec<PathBuf>,
    #[command(flatten)]
    process: ProcessOptions,
    /// Program that answers the backend protocol (conformance/PROTOCOL.md), with its arguments
    #[arg(last = true, value_name = "CMD", help_heading = "Arguments")]
    command: Vec<OsString>,
}

/// The least duration of a round, in nanoseconds.
const ROUND: u64 = 10_000_000;

/// The most bytes of a file with durations that is read.
const LONGEST_RECORD: u64 = 256 << 20;

impl BenchArgs {
    pub(super) fn execute(&self, signatures: &Signatures, folders: &Folders) -> Result<Status, Failure> {
        if !self.from.is_empty() {
            return self.show();
        }
        let chosen = self.chosen()?;
        for path in self.json.iter().chain(&self.page) {
            files::check_writable(path)
                .map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))?;
        }
        let threads = limit_processors(self.threads).map_err(Failure::Usage)?;
        threads::provide(threads);
        let mut contenders = self.start(folders)?;
        let settings = TimingSettings {
            turns: number(self.turns),
            rounds: number(self.rounds),
            min_round_ns: ROUND,
            threads,
            outputs: self.output.clone(),
        };
        let mut record = self.record(threads, &contenders);
        print(&introduction(&record))?;
        let gentle = Gentle::default();
        let mut files = OperandFolder::new()?;
        let stopped = measure(&chosen, &mut contenders, signatures, &settings, &mut files, &mut record).err();
        drop(files);
        let mut broken = contenders.iter().filter(|one| !one.is_wrong);
        let ended = broken.find_map(|one| Some(format!("{}: {}", one.name, one.ended.as_ref()?)));
        let is_wrong = contenders.iter().any(|one| one.is_wrong);
        contenders.into_iter().for_each(Contender::stop);
        record.interrupted = interrupt::signal().map(str::to_owned);
        // Write the measurements even if a later step failed.
        let written = [self.write_json(&record), self.write_page(&record)];
        drop(gentle);
        written.into_iter().collect::<Result<(), Failure>>()?;
        print(&(bench::summary(&record) + &left_out(&record) + &interruption(&record)))?;
        match (stopped, ended) {
            (Some(failure), _) => Err(failure),
            (None, Some(why)) => Err(Failure::Broken(why)),
            (None, None) if is_wrong => Ok(Status::DoesNotConform),
            (None, None) => Ok(Status::Conforms),
        }
    }

    /// What is known before anything but rooflines is measured.
    fn record(&self, threads: usize, contenders: &[Contender]) -> Record {
        Record {
            schema: bench::SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine::describe(),
            threads,
            turns: number(self.turns),
            rounds: number(self.rounds),
            min_round_ns: ROUND,
            align: Some(self.align),
            interrupted: None,
            rooflines: if self.rooflines { rooflines(self.turns.get(), threads) } else { Vec::new() },
            backends: contenders.iter().map(identity).collect(),
            workloads: Vec::new(),
        }
    }

    /// Compares what earlier runs wrote, or makes the page of one.
    fn show(&self) -> Result<Status, Failure> {
        let records = self.from.iter().map(|path| read(path)).collect::<Result<Vec<Record>, Failure>>()?;
        match (&records[..], &self.page) {
            ([record], Some(_)) => self.write_page(record)?,
            (_, Some(_)) => {
                return Err(Failure::Usage("--page shows one file: give --from once".to_owned()));
            }
            (_, None) => print(&bench::comparison(&records))?,
        }
        Ok(Status::Conforms)
    }

    fn write_json(&self, record: &Record) -> Result<(), Failure> {
        if let Some(path) = &self.json {
            let mut text = serde_json::to_vec(record).expect("a record is plain data");
            text.push(b'\n');
            files::write_whole(path, &text)?;
        }
        Ok(())
    }

    fn write_page(&self, record: &Record) -> Result<(), Failure> {
        if let Some(path) = &self.page {
            files::write_whole(path, bench::page(record).as_bytes())?;
        }
        Ok(())
    }

    /// The workloads that were asked for.
    fn chosen(&self) -> Result<Vec<Workload>, Failure> {
        let mut all = workloads::embedded();
        let mut chosen = BTreeSet::new();
        for text in &self.patterns {
            let pattern = Pattern::new(text).map_err(Failure::Usage)?;
            let found = pattern.among(all.iter().map(|workload| workload.id.as_str()));
            let is_contiguous = |id: &&str| all.iter().any(|one| one.id == **id && one.is_contiguous());
            match found[..] {
                [] => {
                    let ids: Vec<&str> = all.iter().map(|workload| workload.id.as_str()).collect();
                    return Err(Failure::Usage(names::unknown("workload", text, &ids)));
                }
                [first, ..] if !found.iter().any(is_contiguous) => {
                    return Err(Failure::Usage(format!(
                        "workload `{text}` has strided tensors, which the protocol does not carry\nhelp: time it by `cargo bench \
                         -p gather-benches --bench gather -- {first}`"
                    )));
                }
                _ => chosen.extend(found.into_iter().map(str::to_owned)),
            }
        }
        all.retain(|workload| {
            workload.is_contiguous() && (self.patterns.is_empty() || chosen.contains(&workload.id))
        });
        Ok(all)
    }

    /// Starts optimized and the other backends.
    fn start(&self, folders: &Folders) -> Result<Vec<Contender>, Failure> {
        let ours = BackendArgument::parse("optimized").map_err(Failure::Usage)?;
        let others = self.backends.iter().filter(|backend| backend.argument() != ours.argument());
        let backends =
            std::iter::once(&ours).chain(others).map(|backend| (backend.argument(), backend, None));
        let levels = self.levels.iter().map(|level| (format!("optimized ({level})"), &ours, Some(level)));
        let command = BackendArgument::all([], &self.command);
        let command = command.iter().map(|backend| (backend.argument(), backend, None));
        let start = |(name, backend, level): (String, &BackendArgument, Option<&Level>)| {
            let program = backend.program(&self.process, folders, &|text| complain(text));
            let mut program = program.map_err(Failure::Broken)?;
            program.environment.extend(level.map(|level| (LEVEL_VARIABLE.into(), level.to_string().into())));
            program.environment.push((ALIGN_VARIABLE.into(), self.align.to_string().into()));
            let broken = |broken| Failure::Broken(format!("{name}: {broken}"));
            Contender::start(name.clone(), &program).map_err(broken)
        };
        backends.chain(levels).chain(command).map(start).collect()
    }
}

/// What an earlier run wrote.
fn read(path: &Path) -> Result<Record, Failure> {
    let text = files::read_text(path, LONGEST_RECORD).map_err(Failure::Usage)?;
    Record::parse(&text).map_err(|why| {
        let help = "--from reads a file that `gatherspec bench --json` wrote";
        Failure::Usage(format!("{}: {why}\nhelp: {help}", path.display()))
    })
}

/// A level that this processor has.
fn level(text: &str) -> Result<Level, String> {
    let available: Vec<Level> = Level::available().collect();
    let found = available.iter().find(|level| level.to_string() == text);
    let names = || available.iter().map(Level::to_string).collect::<Vec<_>>().join(" ");
    found.copied().ok_or_else(|| format!("expected one that this processor has: {}", names()))
}

/// Measures workloads until the user interrupts it; prints each, and adds it to the record.
///
/// # Errors
/// What ends it early: a workload whose inputs cannot be made or written or that the reference refuses, or standard output.
fn measure(
    chosen: &[Workload],
    contenders: &mut [Contender],
    signatures: &Signatures,
    settings: &TimingSettings,
    files: &mut OperandFolder,
    record: &mut Record,
) -> Result<(), Failure> {
    for workload in chosen {
        if interrupt::requested() {
            break;
        }
        let measured = bench::measure(workload, contenders, signatures, settings, files)
            .map_err(|why| Failure::Usage(format!("workload {}: {why}", workload.id)))?;
        // Nothing was measured before an interruption.
        if !measured.timed.is_empty() {
            let rows = bench::rows(&measured);
            record.workloads.push(measured);
            print(&rows)?;
        }
    }
    Ok(())
}

fn memory(text: &str) -> Result<OutputMemory, String> {
    match text {
        "fresh" => Ok(OutputMemory::Fresh),
        "pooled" => Ok(OutputMemory::Pooled),
        "into" => Ok(OutputMemory::Into),
        _ => Err("expected fresh, pooled or into".to_owned()),
    }
}

fn number(count: NonZeroUsize) -> u32 {
    u32::try_from(count.get()).expect("clap limits it")
}

fn identity(contender: &Contender) -> Backends {
    Backends { name: contender.name.clone(), identity: contender.identity().clone() }
}

fn introduction(record: &Record) -> String {
    let Record { machine, threads, turns, rounds, .. } = record;
    let begin = record
        .align
        .map_or_else(String::new, |byte| format!(" Params of optimized begin {byte} bytes into a line."));
    format!(
        "Machine: {machine}. Processors for each backend: {threads}.{begin}\n\
         Backends: {}. Medians of {turns} turns of {rounds} rounds; ± is half the distance between the quartiles.\n\n{}{}",
        record.versions(),
        bench::rooflines(&record.rooflines, *threads),
        bench::head(&record.names())
    )
}

/// Which backends were left out of which workloads, and why.
fn left_out(record: &Record) -> String {
    let lines = record.left_out();
    if lines.is_empty() { String::new() } else { format!("\nLeft out (–):\n- {}\n", lines.join("\n- ")) }
}

fn interruption(record: &Record) -> String {
    record.interruption().map_or_else(String::new, |sentence| format!("\n{sentence}\n"))
}

/// Limits this process and its children to `most` of the processors available to it. Returns how many they
/// may use.
fn limit_processors(most: Option<NonZeroUsize>) -> Result<usize, String> {
    let available = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let Some(most) = most.map(NonZeroUsize::get) else { return Ok(available) };
    if most >= available {
        return Ok(available);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let all = sched_getaffinity(None).map_err(|why| why.to_string())?;
        let mut some = CpuSet::new();
        (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).take(most).for_each(|cpu| some.set(cpu));
        sched_setaffinity(None, &some).map_err(|why| why.to_string())?;
        Ok(most)
    }
    #[cfg(not(target_os = "linux"))]
    Err("--threads needs Linux".to_owned())
}
