//! `gatherspec run`, which is also what the bare command does.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args as _, FromArgMatches as _};
use gather_spec::load::Wanted;
use gather_spec::{Basis, Case, Signatures, Specification};
use rayon::prelude::*;

use crate::adapters::{Adapter, Launch};
use crate::builtin;
use crate::deviations::Deviations;
use crate::fuzz::{self, MOST_CASES, SHORT, silence_backends};
use crate::interrupt::{self, Gentle};
use crate::judge::Strictness;
use crate::native;
use crate::process::{self, Event};
use crate::report::{BackendReport, Ending, Entry, Format, Named, Part, Problem, Report};
use crate::runner::InProcess;
use crate::select::Suite;
use crate::shell::{option, quoted};

use super::built_in::BackendArgument;
use super::campaign::{self, Short};
use super::cases::{check_operators, read_files, selection, wanted};
use super::ending::{Failure, Status};
use super::keep::{Kept, default_folder};
use super::known::Known;
use super::output::{complain, print};
use super::partial::{not_run, note_missing, with_results};
use super::process::{Backend, ProcessOptions, jobs, library, runs};
use super::progress::Progress;
use super::target::Target;

#[derive(clap::Args)]
pub(super) struct Run {
    /// Backend to test: a built-in one, with policies if wanted (reference:bad=zero,negative=wrap); an adapter, such as
    /// numpy; or the path of a program that answers the backend protocol [default: all built-in backends]
    #[arg(long = "backend", value_name = "NAME[:POLICIES]|PATH", value_parser = Backend::parse)]
    backends: Vec<Backend>,
    /// Shared library to test, which implements gatherspec.h
    #[arg(long = "library", value_name = "FILE", value_parser = library)]
    libraries: Vec<PathBuf>,
    /// Run only the case with this id, or the cases that match this glob (`*` also matches `/`)
    #[arg(long = "case", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// Run the cases of this file, of the .yaml files in this folder, or of stdin (`-`) instead of the built-in ones
    #[arg(long = "cases", value_name = "FILE|DIR|-")]
    files: Vec<PathBuf>,
    /// Run only cases of this operator
    #[arg(long = "operator", value_name = "OPERATOR")]
    operators: Vec<String>,
    /// Run only cases with this basis or a firmer one: documented, derived, ruling
    #[arg(long)]
    basis: Option<Basis>,
    /// Run only cases of this suite
    #[arg(long, value_enum)]
    suite: Option<Suite>,
    /// Cases to run in parallel [default: number of cores]; for a program, processes to start [default: 1]
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<NonZeroUsize>,
    /// Run every case N times; a case whose answers differ is `nondeterministic`
    #[arg(long, value_name = "N", default_value = "1", value_parser = runs)]
    repeat: NonZeroUsize,
    /// Random calls to compare with the reference after the cases, and half as many instances of laws to check; they are
    /// the same in every run, and --operator restricts them too
    /// [default: 4000, or none with --case, --cases, --basis or --suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST_CASES))]
    campaign: Option<u64>,
    /// Run only the cases, without random calls and laws
    #[arg(long, conflicts_with = "campaign")]
    no_campaign: bool,
    /// Largest output of a built-in backend, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = builtin::MAX_OUTPUT)]
    max_output: u64,
    /// Folder to write report.json, report.xml and report.md to
    /// [default: target/gatherspec in a Cargo workspace, else gatherspec-report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Format of the printed report
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// YAML file with the known deviations of a backend that is a program; one file per backend
    #[arg(long, value_name = "FILE")]
    deviations: Vec<PathBuf>,
    /// Draft a file of known deviations for the only backend of this run; the reasons are left to you
    #[arg(long, value_name = "FILE")]
    write_deviations: Option<PathBuf>,
    /// Write the results of each backend that is a program, on the whole suite, to DIR/NAME-VERSION.json
    #[arg(long, value_name = "DIR", conflicts_with_all = ["patterns", "files", "operators", "basis", "suite"])]
    results: Option<PathBuf>,
    #[command(flatten)]
    pub(super) process: ProcessOptions,
    /// Program that answers the backend protocol (conformance/PROTOCOL.md), with its arguments
    #[arg(last = true, value_name = "CMD", help_heading = "Arguments")]
    command: Vec<OsString>,
}

impl Default for Run {
    /// What `run` does without options: clap knows the default of each.
    fn default() -> Self {
        let run = Self::augment_args(clap::Command::new("run").no_binary_name(true));
        let matches = run.get_matches_from(std::iter::empty::<OsString>());
        Self::from_arg_matches(&matches).expect("no option is required")
    }
}

impl Run {
    /// The same run of a program, with the deviations that are known of it.
    pub(super) fn of_program(self, command: Vec<OsString>, deviations: &Path) -> Self {
        let deviations = std::iter::once(deviations.to_owned()).chain(self.deviations).collect();
        Self { command, deviations, ..self }
    }

    /// The cases that the run needs. Deviations are compared with all of them, and the first calls of a program are of any
    /// operator.
    pub(super) fn wanted(&self, all: &Signatures) -> Wanted<'_> {
        let is_adapter = |backend: &Backend| matches!(backend, Backend::Adapter(_));
        if self.suite == Some(Suite::Large) {
            Wanted::Large
        } else if self.backends.iter().any(is_adapter) || !self.deviations.is_empty() {
            Wanted::Usual
        } else if self.files.is_empty() {
            wanted(all, &self.operators, &self.patterns)
        } else {
            Wanted::Of(Vec::new())
        }
    }

    /// Runs the cases. `folder` holds the specification, unless it is the embedded one.
    pub(super) fn execute(&self, spec: &Specification, folder: Option<&Path>) -> Result<Status, Failure> {
        let own = if self.files.is_empty() { None } else { Some(read_files(&self.files, spec)?) };
        let all_cases = own.as_ref().unwrap_or(&spec.cases);
        let cases = self.chosen(spec, all_cases)?;
        let deviations = Known::read(&self.deviations, spec, all_cases).map_err(Failure::Usage)?;
        let mut backends = self.backends.clone();
        if backends.is_empty() && self.libraries.is_empty() && self.command.is_empty() {
            let all = builtin::NAMES.iter().map(|name| Backend::parse(name)).collect::<Result<_, _>>();
            backends = all.map_err(Failure::Usage)?;
        }
        let count = backends.len() + self.libraries.len() + usize::from(!self.command.is_empty());
        if self.write_deviations.is_some() && count != 1 {
            return Err(Failure::Usage("--write-deviations takes exactly one backend".to_owned()));
        }
        let is_built_in = |backend: &Backend| matches!(backend, Backend::BuiltIn(_));
        if self.results.is_some() && count == backends.iter().filter(|one| is_built_in(one)).count() {
            return Err(Failure::Usage("--results needs a backend that is a program".to_owned()));
        }

        let out = self.out.clone().unwrap_or_else(default_folder);
        let found = campaign::folder(&out);
        let kept = Kept::new(out, self.results.as_deref(), self.write_deviations.as_deref());
        let kept = kept.map_err(Failure::Usage)?;

        let gentle = Gentle::new();
        let progress = Progress::new(count * cases.len());
        let operators = cases.iter().map(|case| case.call.operator.as_str()).collect();
        let job = Job {
            spec,
            folder,
            cases: &cases,
            operators,
            progress: &progress,
            deviations: &deviations,
            found,
        };
        silence_backends();
        // Leaked, because freeing it takes time, and the process ends soon.
        let report = Box::leak(Box::new(Report { backends: self.run_all(&backends, &job), ..Report::new() }));
        process::end_children();
        progress.clear();
        report.interrupted = interrupt::signal().map(str::to_owned);
        note_missing(report, cases.len());
        report.backends.par_iter_mut().filter(|backend| backend.broken.is_none()).for_each(|backend| {
            let ids: Vec<&str> = backend.results.iter().map(|entry| entry.id.as_str()).collect();
            let cases = with_results(&cases, &ids);
            backend.conclude(&cases, spec);
        });

        // Results are saved and printed before any other problem is reported.
        let ((written, mut wrong), text) =
            rayon::join(|| kept.write(report, spec), || report.render(self.format));
        drop(gentle);
        print(&text)?;
        if let (Format::Human, Some(folder)) = (self.format, written) {
            print(&format!("reports: {}\n", folder.display()))?;
        }
        if report.interrupted.is_none() && !report.is_broken() {
            wrong.extend(deviations.all_used().err());
        }
        if !wrong.is_empty() {
            return Err(Failure::Usage(wrong.join("\nerror: ")));
        }
        Ok(match (report.is_broken(), report.conforms()) {
            (true, _) => Status::Broken,
            (false, true) if report.backends.iter().all(asked_nothing) => {
                complain(
                    "error: nothing was tested: no backend of this run declares what the chosen cases need",
                );
                Status::Usage
            }
            (false, true) => Status::Conforms,
            (false, false) => Status::DoesNotConform,
        })
    }

    /// Runs every backend. One that cannot be run does not affect the others.
    fn run_all(&self, backends: &[Backend], job: &Job<'_>) -> Vec<BackendReport> {
        let nothing = Deviations::default();
        let run = |backend: &Backend| match backend {
            Backend::BuiltIn(backend) => self.run_built_in(backend, job),
            Backend::Adapter(adapter) => self.run_adapter(adapter, job),
            Backend::Program(path) => {
                let command = [path.clone().into_os_string()];
                self.run_program(&quoted(&command), Named::Option, &Launch::from(&command[..]), &nothing, job)
            }
        };
        let mut reports: Vec<BackendReport> = backends.iter().map(run).collect();
        for path in &self.libraries {
            let name = quoted(&[path.clone().into_os_string()]);
            reports.push(match native::command(path, job.folder) {
                Ok(command) => {
                    self.run_program(&name, Named::Library, &Launch::from(&command[..]), &nothing, job)
                }
                Err(error) => {
                    BackendReport { named: Named::Library, ..BackendReport::broken(name, &error.to_string()) }
                }
            });
        }
        if !self.command.is_empty() {
            let (name, launch) = (quoted(&self.command), Launch::from(&self.command[..]));
            reports.push(self.run_program(&name, Named::Command, &launch, &nothing, job));
        }
        reports
    }

    fn run_built_in(&self, backend: &BackendArgument, job: &Job<'_>) -> BackendReport {
        let jobs = self.jobs.map_or_else(rayon::current_num_threads, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs);
        let pool = match pool.build() {
            Ok(pool) => pool,
            Err(error) => return BackendReport::broken(backend.text.clone(), &error.to_string()),
        };
        let signatures = job.spec.signatures();
        let fresh = || backend.make(&signatures, self.max_output);
        let make = || InProcess::new(fresh, Strictness::Strict).repeat(self.repeat.get());
        job.progress.backend(&backend.text);
        let mut report = BackendReport::new(backend.text.clone(), make().description(), job.spec);
        report.departures.retain(|departure| job.operators.contains(departure.operator.as_str()));
        report.sources = self.sources(job);
        let usual = self.max_output == builtin::MAX_OUTPUT;
        report.sources.extend((!usual).then(|| option("--max-output", self.max_output)));
        let run = |runner: &mut InProcess<_>, case: &&Case| {
            if interrupt::requested() {
                return None;
            }
            let entry = Entry::new(case, runner.run(case));
            job.progress.note(Event::Settled);
            Some(entry)
        };
        let results: Vec<Option<Entry>> = pool.install(|| job.cases.par_iter().map_init(make, run).collect());
        report.results = results.into_iter().flatten().collect();
        if let Some(short) = self.short(job, Vec::new()) {
            short.run(Target::built_in(backend, &signatures, self.jobs), &Deviations::default(), &mut report);
        }
        report
    }

    /// The campaign after the cases, if there is one.
    fn short<'a>(&'a self, job: &'a Job<'_>, options: Vec<String>) -> Option<Short<'a>> {
        let chooses_cases = !self.patterns.is_empty()
            || !self.files.is_empty()
            || self.basis.is_some()
            || self.suite.is_some();
        let usual = if self.no_campaign || chooses_cases { 0 } else { SHORT.drawn };
        let drawn = self.campaign.unwrap_or(usual);
        if drawn == 0 || interrupt::requested() {
            return None;
        }
        let folder = job.folder.map(|folder| option("--spec", folder.display()));
        let options: Vec<String> = folder.into_iter().chain(options).collect();
        Some(Short {
            spec: job.spec,
            signatures: job.spec.signatures(),
            drawn,
            operators: &self.operators,
            found: job.found.clone(),
            options: options.join(" "),
            progress: job.progress,
        })
    }

    /// Runs an embedded adapter with its known deviations.
    fn run_adapter(&self, adapter: &Adapter, job: &Job<'_>) -> BackendReport {
        if let Some(report) = not_run(adapter.name) {
            return report;
        }
        job.progress.backend(adapter.name);
        let say = |text: &str| job.progress.say(text);
        let known = Deviations::parse(adapter.name, adapter.deviations, job.spec, &job.spec.cases)
            .map_err(|wrong| format!("its known deviations do not fit this specification\n{wrong}"));
        let prepared =
            known.and_then(|known| Ok((known, adapter.launch(self.process.python.as_deref(), &say)?)));
        match prepared {
            Err(why) => {
                not_run(adapter.name).unwrap_or_else(|| BackendReport::broken(adapter.name.to_owned(), &why))
            }
            Ok((known, launch)) => self.run_program(adapter.name, Named::Option, &launch, &known, job),
        }
    }

    /// Runs a program. Applies its known deviations; a file given on the command line replaces the embedded ones. Problems
    /// go into the report.
    fn run_program(
        &self,
        argument: &str,
        named: Named,
        launch: &Launch,
        built_in: &Deviations,
        job: &Job<'_>,
    ) -> BackendReport {
        if let Some(report) = not_run(argument) {
            return BackendReport { named, ..report };
        }
        job.progress.backend(argument);
        let argument = argument.to_owned();
        let jobs = self.jobs.map_or(1, NonZeroUsize::get);
        let backend = self.process.backend(launch, jobs, self.repeat.get());
        let trivial: Vec<&Case> = job.spec.cases.iter().collect();
        let ran = backend.run(&trivial, job.cases, &|event| job.progress.note(event));
        let ran = ran
            .map_err(|broken| broken.to_string())
            .and_then(|findings| findings.description.nothing_to_test(job.spec).map_or(Ok(findings), Err));
        let mut report = match ran {
            Err(why) => not_run(&argument).unwrap_or_else(|| BackendReport::broken(argument, &why)),
            Ok(findings) => {
                let mut report = BackendReport::new(argument, &findings.description, job.spec);
                let ids: Vec<&str> = findings.results.iter().map(|result| result.id.as_str()).collect();
                let cases = with_results(job.cases, &ids);
                let results = cases.iter().zip(&findings.results);
                report.results = results.map(|(case, result)| Entry::new(case, result.clone())).collect();
                report.remarks = findings.remarks;
                report.remarks.extend(findings.description.unknown_operators(job.spec));
                let given = job.deviations.of(&report.backend.name);
                let known = given.as_ref().unwrap_or(built_in);
                known.apply(&mut report, &cases);
                known.apply_to_profile(&mut report, &findings.description, job.spec, &job.operators);
                self.campaign_on(&named, launch, known, job, &mut report);
                report
            }
        };
        report.named = named;
        let known = job.deviations.files_of(&report.backend.name);
        report.sources = self.sources(job);
        report.sources.extend(known.map(|path| option("--deviations", path.display())));
        report.sources.extend(self.process.given());
        report
    }

    /// Runs the campaign on a program.
    fn campaign_on(
        &self,
        named: &Named,
        launch: &Launch,
        known: &Deviations,
        job: &Job<'_>,
        report: &mut BackendReport,
    ) {
        let Some(short) = self.short(job, self.process.given()) else { return };
        let argument = report.argument.clone();
        let named = match named {
            Named::Option => fuzz::Named::Option(format!("--backend {argument}")),
            Named::Library => fuzz::Named::Option(format!("--library {argument}")),
            Named::Command => fuzz::Named::Command(argument.clone()),
        };
        match Target::program(&self.process, launch, (argument, named), self.jobs) {
            Ok(target) => short.run(target, known, report),
            Err(why) => {
                let (part, done, cases) = (Part::Drawn, 0, short.drawn);
                report.problems.push(Problem::CampaignEnded { why, part, done, cases });
            }
        }
    }

    /// The options besides the backend that a command line needs to repeat a case.
    fn sources(&self, job: &Job<'_>) -> Vec<String> {
        let folder = job.folder.map(|folder| option("--spec", folder.display()));
        let files = self.files.iter().map(|file| option("--cases", file.display()));
        let repeat = (self.repeat.get() > 1).then(|| option("--repeat", self.repeat));
        let large = (self.suite == Some(Suite::Large)).then(|| "--suite large".to_owned());
        folder.into_iter().chain(files).chain(repeat).chain(large).collect()
    }

    fn chosen<'a>(&self, spec: &Specification, cases: &'a [Case]) -> Result<Vec<&'a Case>, Failure> {
        check_operators(spec, &self.operators)?;
        let selection = selection(cases, &self.patterns, &self.operators, self.basis)?.of_suite(self.suite);
        let chosen: Vec<&Case> = cases.iter().filter(|case| selection.wants(case)).collect();
        if chosen.is_empty() {
            return Err(Failure::Usage(
                "no case matches these options\nhelp: `gatherspec list cases` prints every id".to_owned(),
            ));
        }
        Ok(chosen)
    }
}

fn asked_nothing(backend: &BackendReport) -> bool {
    backend.summary.ending == Ending::NothingAsked
}

/// What is common to all backends of a run.
struct Job<'a> {
    spec: &'a Specification,
    /// The folder of the specification, unless it is the embedded one.
    folder: Option<&'a Path>,
    cases: &'a [&'a Case],
    /// The operators of these cases.
    operators: BTreeSet<&'a str>,
    progress: &'a Progress,
    deviations: &'a Known,
    /// The folder for cases of failures of the campaign.
    found: PathBuf,
}
