//! `gatherspec run`, which is also what the bare command does.

mod backends;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args as _, FromArgMatches as _};
use gather_spec::load::Wanted;
use gather_spec::{Basis, Case, Signatures, Specification};
use rayon::prelude::*;

use crate::report::{
    BackendReport, Changes, Ending, Problem, Report, ReportFormat, Verbosity, render, render_human,
};
use crate::terminal;
use gather_campaign::fuzz::{MOST_CASES, SHORT, remove_examples, silence_backends};
use gather_conformance::builtin;
use gather_conformance::internals::entry::Entry;
use gather_conformance::internals::interrupt::{self, Gentle};
use gather_conformance::internals::process;
use gather_conformance::internals::select::{CaseSelection, Chosen, Suite};
use gather_conformance::internals::words::counted;

use super::backend::BackendArgument;
use super::campaign;
use super::cases::{chosen_operators, read_files, selection, suites, wanted};
use super::ending::{Failure, Status};
use super::folders::Folders;
use super::keep::{RunFiles, default_folder};
use super::known::Known;
use super::output::{complain, print};
use super::process::{ProcessOptions, VariantOptions, jobs, runs};
use super::progress::Progress;

/// The folder for reports on chosen cases, inside the usual one.
const CHOSEN: &str = "chosen";

#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// Backend to test: a built-in one, with policies if wanted (reference:bad=zero,negative=wrap); an adapter, such as
    /// numpy; or the path of a program that answers the backend protocol [default: all built-in backends]
    #[arg(long = "backend", value_name = "NAME[:POLICIES]|PATH", value_parser = BackendArgument::parse)]
    backends: Vec<BackendArgument>,
    /// Shared library to test, which implements gatherspec.h
    #[arg(long = "library", value_name = "FILE", value_parser = BackendArgument::library)]
    libraries: Vec<BackendArgument>,
    /// Run only the case with this id, its runs that brackets choose (ID[f32,n=33]), or the cases that match this glob (`*` also
    /// matches `/`)
    #[arg(long = "case", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// Run the cases of this file, of the .yaml files in this folder, or of stdin (`-`) instead of the built-in ones
    #[arg(long = "cases", value_name = "FILE|DIR|-")]
    files: Vec<PathBuf>,
    /// Run only cases of this operator, or of the operators that match this glob
    #[arg(long = "operator", value_name = "OPERATOR|GLOB")]
    operators: Vec<String>,
    /// Run only cases that test this clause, or the clauses that match this glob
    #[arg(long = "clause", value_name = "CLAUSE|GLOB")]
    clauses: Vec<String>,
    /// Run only the cases that failed in the last run, by the report.json in the output folder
    #[arg(long)]
    failed: bool,
    /// Run only cases with this basis or a firmer one: documented, derived, ruling
    #[arg(long)]
    basis: Option<Basis>,
    /// Run only cases of this suite
    #[arg(long, value_parser = suites())]
    suite: Option<Suite>,
    /// Cases to run in parallel [default: number of cores]; for a program, processes to start [default: 1]
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<NonZeroUsize>,
    /// Stop at the first failure, without the cases, backends and random calls that are left
    #[arg(long)]
    fail_fast: bool,
    /// Run every case N times; a case whose answers differ is `nondeterministic`
    #[arg(long, value_name = "N", default_value = "1", value_parser = runs)]
    repeat: NonZeroUsize,
    /// Random calls to compare with the reference after the cases, and half as many instances of laws to check; they are
    /// the same in every run, and --operator restricts them too
    /// [default: 4000, or what an adapter sets; none with --case, --cases, --clause, --failed, --basis or --suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST_CASES))]
    campaign: Option<u64>,
    /// Run only the cases, without random calls and laws
    #[arg(long, conflicts_with = "campaign")]
    no_campaign: bool,
    /// Largest output of a built-in backend, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = builtin::MAX_OUTPUT)]
    max_output: u64,
    /// Folder to write report.html, report.json, report.xml, report.md and a badge-NAME.json for each backend to
    /// [default: target/gatherspec in a Cargo workspace, else gatherspec-report; the folder `chosen` inside it with --case or
    /// --cases]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Format of the printed report
    #[arg(long, value_enum, default_value = "human")]
    format: ReportFormat,
    /// Print only how the run ended for each backend
    #[arg(short, long, conflicts_with_all = ["verbose", "format"])]
    quiet: bool,
    /// Print also how long each backend took, and its slowest cases
    #[arg(short, long, conflicts_with = "format")]
    verbose: bool,
    /// Print only what changed against the report.json of an earlier run, and fail only for what did not fail there
    #[arg(long, value_name = "REPORT", conflicts_with_all = ["format", "verbose"])]
    baseline: Option<PathBuf>,
    /// YAML file with the known deviations of a backend that is a program; one file per backend
    #[arg(long, value_name = "FILE")]
    deviations: Vec<PathBuf>,
    /// Draft a file of known deviations for the only backend of this run; the reasons are left to you
    #[arg(long, value_name = "FILE")]
    write_deviations: Option<PathBuf>,
    /// Write the results of each backend that is a program, on the whole suite, to DIR/NAME-VERSION.json
    #[arg(long, value_name = "DIR", conflicts_with_all = ["patterns", "files", "operators", "basis", "suite", "clauses", "failed"])]
    results: Option<PathBuf>,
    #[command(flatten)]
    variants: VariantOptions,
    #[command(flatten)]
    pub(super) process: ProcessOptions,
    /// Program that answers the backend protocol (conformance/PROTOCOL.md), with its arguments
    #[arg(last = true, value_name = "CMD", help_heading = "Arguments")]
    command: Vec<OsString>,
}

impl Default for RunArgs {
    /// What `run` does without options: clap knows the default of each.
    fn default() -> Self {
        let run = Self::augment_args(clap::Command::new("run").no_binary_name(true));
        let matches = run.get_matches_from(std::iter::empty::<OsString>());
        Self::from_arg_matches(&matches).expect("no option is required")
    }
}

impl RunArgs {
    /// The same run of a program, with the deviations that are known of it.
    pub(super) fn of_program(self, command: Vec<OsString>, deviations: &Path) -> Self {
        let deviations = std::iter::once(deviations.to_owned()).chain(self.deviations).collect();
        Self { command, deviations, ..self }
    }

    /// The cases that the run needs. Deviations are compared with all of them, and the first calls of a program are of any
    /// operator.
    pub(super) fn wanted<'a>(&'a self, all: &'a Signatures) -> Wanted<'a> {
        let has_program = !self.command.is_empty()
            || !self.libraries.is_empty()
            || self.backends.iter().any(|backend| backend.built_in().is_none());
        if self.suite == Some(Suite::Large) {
            Wanted::Large
        } else if has_program || !self.deviations.is_empty() || !self.clauses.is_empty() || self.failed {
            Wanted::Usual
        } else if self.files.is_empty() {
            wanted(all, &self.operators, &self.patterns)
        } else {
            Wanted::None
        }
    }

    /// The number of calls to draw after the cases, on a backend for which it is `usual` unless options say otherwise.
    fn drawn(&self, usual: u64) -> u64 {
        self.campaign.unwrap_or(if self.no_campaign || self.chooses_cases() { 0 } else { usual })
    }

    /// Whether options name some of the cases.
    fn chooses_cases(&self) -> bool {
        !self.files.is_empty() || self.restricts_cases()
    }

    /// Whether options leave cases out, of the suite or of files.
    fn restricts_cases(&self) -> bool {
        !self.patterns.is_empty()
            || !self.clauses.is_empty()
            || self.failed
            || self.basis.is_some()
            || self.suite.is_some()
    }

    /// The folder of the report, unless one is named. What `--case` and `--cases` choose goes into a folder of its own, so
    /// that a case that is repeated by hand does not replace the report that `--failed` reads.
    fn usual_folder(&self) -> PathBuf {
        let by_hand = !self.files.is_empty() || !self.patterns.is_empty() && !self.failed;
        if by_hand { default_folder().join(CHOSEN) } else { default_folder() }
    }

    /// Runs the cases.
    pub(super) fn execute(&self, spec: &Specification, folders: &Folders) -> Result<Status, Failure> {
        let own = if self.files.is_empty() { None } else { Some(read_files(&self.files, spec)?) };
        let all_cases = own.as_ref().unwrap_or(&spec.cases);
        let operators = chosen_operators(spec, &self.operators)?;
        let out = self.out.clone().unwrap_or_else(|| self.usual_folder());
        let Some((cases, selection)) = self.chosen(spec, all_cases, &operators, &out)? else {
            return Ok(Status::Conforms);
        };
        let deviations = Known::read(&self.deviations, spec, all_cases, self.write_deviations.is_some())
            .map_err(Failure::Usage)?;
        let baseline = self.baseline.as_deref().map(Report::read).transpose().map_err(Failure::Usage)?;
        let backends = self.named()?;

        let found = campaign::folder(&out);
        let kept = RunFiles::new(out, self.results.as_deref(), self.write_deviations.as_deref());
        let kept = kept.map_err(Failure::Usage)?;

        let gentle = Gentle::default();
        let progress = Progress::new(backends.len() * cases.len(), self.quiet);
        let chosen = Chosen { cases: &cases, selection: Some(&selection) };
        let context = RunContext {
            spec,
            folders,
            cases: chosen,
            operators: cases.iter().map(|case| case.operator().as_str()).collect(),
            chosen: &operators,
            progress: &progress,
            deviations: &deviations,
            found,
        };
        silence_backends();
        if self.drawn(SHORT.drawn) > 0 {
            remove_examples(&context.found).map_err(|error| Failure::Usage(error.to_string()))?;
        }
        let report = &mut Report { backends: self.run_all(&backends, &context), ..Report::new() };
        process::end_children();
        progress.clear();
        terminal::restore();
        report.interrupted = interrupt::signal().map(str::to_owned);
        note_missing(report, &cases);
        conclude(report, &cases, spec);

        // Results are saved and printed before any other problem is reported.
        let whole = !self.restricts_cases() && self.operators.is_empty() && !interrupt::requested();
        let changes = baseline.as_ref().map(|before| Changes::between(before, report, spec, whole));
        let ((written, mut wrong), text) =
            rayon::join(|| kept.write(report, spec, &cases), || self.printed(report, changes.as_ref()));
        drop(gentle);
        print(&text)?;
        if let (ReportFormat::Human, false, Some(folder)) = (self.format, self.quiet, written) {
            print(&format!("reports: {}\n", folder.display()))?;
        }
        if report.interrupted.is_none() && !report.is_broken() {
            wrong.extend(deviations.all_used().err());
        }
        let changes = changes.and_then(|changes| changes.map_err(|error| wrong.push(error)).ok());
        if !wrong.is_empty() {
            return Err(Failure::Usage(wrong.join("\nerror: ")));
        }
        Ok(ended(report, changes.as_ref()))
    }

    /// The backends that the command line names: the built-in ones, if it names none.
    fn named(&self) -> Result<Vec<BackendArgument>, Failure> {
        let mut backends = BackendArgument::all(self.backends.iter().chain(&self.libraries), &self.command);
        if backends.is_empty() {
            let all =
                builtin::NAMES.iter().map(|name| BackendArgument::parse(name)).collect::<Result<_, _>>();
            backends = all.map_err(Failure::Usage)?;
        }
        if self.write_deviations.is_some() && backends.len() != 1 {
            return Err(Failure::Usage("--write-deviations takes exactly one backend".to_owned()));
        }
        if self.results.is_some() && backends.iter().all(|one| one.built_in().is_some()) {
            return Err(Failure::Usage("--results needs a backend that is a program".to_owned()));
        }
        Ok(backends)
    }

    /// What the run prints: the report, or what changed.
    fn printed(&self, report: &Report, changes: Option<&Result<Changes<'_>, String>>) -> String {
        match changes {
            Some(Ok(changes)) => changes.render(self.quiet),
            _ if self.quiet => render_human(report, Verbosity::Quiet),
            _ if self.verbose => render_human(report, Verbosity::Verbose),
            _ => render(report, self.format),
        }
    }

    /// The cases to run; `None` if only those that failed are wanted, and none did.
    fn chosen<'a>(
        &self,
        spec: &Specification,
        cases: &'a [Arc<Case>],
        operators: &[String],
        out: &Path,
    ) -> Result<Option<Selected<'a>>, Failure> {
        let selection = selection(cases, &self.patterns, operators, self.basis)?.of_suite(self.suite);
        let selection = selection.of_clauses(&self.clauses, spec).map_err(Failure::Usage)?;
        let failed = if self.failed { Some(failed_in(&out.join("report.json"))?) } else { None };
        if failed.as_ref().is_some_and(BTreeSet::is_empty) {
            print(&format!("nothing to run: no case failed in {}\n", out.join("report.json").display()))?;
            return Ok(None);
        }
        let is_wanted = |case: &&Arc<Case>| {
            selection.wants(case) && failed.as_ref().is_none_or(|failed| failed.contains(&case.id))
        };
        let chosen: Vec<&Arc<Case>> = cases.iter().filter(is_wanted).collect();
        if chosen.is_empty() {
            return Err(Failure::Usage(
                "no case matches these options\nhelp: `gatherspec list cases` prints every id".to_owned(),
            ));
        }
        Ok(Some((chosen, selection)))
    }
}

/// What is common to all backends of a run.
struct RunContext<'a> {
    spec: &'a Specification,
    folders: &'a Folders,
    /// The cases to run, and which of their runs.
    cases: Chosen<'a>,
    /// The operators of these cases.
    operators: BTreeSet<&'a str>,
    /// The operators that `--operator` chooses; empty for all.
    chosen: &'a [String],
    progress: &'a Progress,
    deviations: &'a Known,
    /// The folder for cases of failures of the campaign.
    found: PathBuf,
}

/// The cases to run, and what selects among their runs.
type Selected<'a> = (Vec<&'a Arc<Case>>, CaseSelection);

/// The cases that failed on some backend of an earlier run.
fn failed_in(path: &Path) -> Result<BTreeSet<String>, Failure> {
    let saved = Report::read(path).map_err(|error| {
        Failure::Usage(format!(
            "{error}\nhelp: --failed reads the report of the last run; name its folder by --out"
        ))
    })?;
    if !saved.backends.iter().flat_map(|backend| &backend.results).any(Entry::was_asked) {
        return Err(Failure::Usage(format!(
            "{}: the last run tested nothing, so it says nothing about what fails",
            path.display()
        )));
    }
    let failed = saved.backends.iter().flat_map(BackendReport::failures);
    Ok(failed.map(|entry| entry.id.clone()).collect())
}

/// Notes for each backend how many cases lack results because the user interrupted the run.
fn note_missing(report: &mut Report, cases: &[&Arc<Case>]) {
    let Some(signal) = &report.interrupted else { return };
    for backend in report.backends.iter_mut().filter(|backend| backend.broken.is_none()) {
        let (done, cases) = (backend.results.len(), backend.declared_of(cases));
        if done < cases {
            backend.problems.push(Problem::Interrupted { signal: signal.clone(), done, cases });
        }
    }
}

/// Completes the reports on all backends that were run.
fn conclude(report: &mut Report, cases: &[&Arc<Case>], spec: &Specification) {
    report.backends.par_iter_mut().filter(|backend| backend.broken.is_none()).for_each(|backend| {
        if interrupt::is_stopped() && backend.results.len() < backend.declared_of(cases) {
            let asked = backend.results.iter().filter(|entry| entry.was_asked()).count();
            let verb = if asked == 1 { "was" } else { "were" };
            backend
                .remarks
                .push(format!("stopped at the first failure: {} {verb} asked", counted(asked, "case")));
        }
        backend.conclude(cases, spec);
    });
}

/// The status that a run ends with.
fn ended(report: &Report, changes: Option<&Changes<'_>>) -> Status {
    let conforms = changes.map_or_else(|| report.conforms(), |changes| !changes.fail());
    match (report.is_broken(), conforms) {
        (true, _) => Status::Broken,
        (false, true) if report.backends.iter().all(asked_nothing) => {
            complain(
                "error: nothing was tested: no backend of this run declares what the chosen cases need, or the \
                 variant that is chosen",
            );
            Status::Usage
        }
        (false, true) => Status::Conforms,
        (false, false) => Status::DoesNotConform,
    }
}

fn asked_nothing(backend: &BackendReport) -> bool {
    backend.summary.ending == Ending::NothingAsked
}
