//! `gatherspec run`, and the main job of the bare command.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gather_spec::{Basis, Case, Specification};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;

use crate::builtin;
use crate::judge::Strictness;
use crate::report::{BackendReport, Entry, Format, Report};
use crate::runner::InProcess;
use crate::select::Selection;

use super::{BackendArgument, Failure, Status, print};

#[derive(clap::Args)]
pub(super) struct Run {
    /// A built-in backend, with policies if wanted: reference:bad_index=zero,negative_index=wrap [default: all]
    #[arg(long = "backend", value_name = "NAME[:POLICIES]", value_parser = BackendArgument::parse)]
    backends: Vec<BackendArgument>,
    /// Only cases with this id, or matching this glob (`*` also matches `/`)
    #[arg(long = "case", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// Run the cases of this file, or of the .yaml files in this folder, instead of those built in
    #[arg(long = "cases", value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Only cases of this operator
    #[arg(long = "operator", value_name = "OPERATOR")]
    operators: Vec<String>,
    /// Only cases that rest on this basis or a firmer one: documented, derived, ruling
    #[arg(long, value_parser = parse_basis)]
    basis: Option<Basis>,
    /// How many cases run at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Run every case this many times; differing answers are `nondeterministic`
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: std::num::NonZeroUsize,
    /// The most bytes that an output of a built-in backend takes
    #[arg(long, value_name = "BYTES", default_value_t = builtin::MAX_OUTPUT)]
    max_output: u64,
    /// The folder for report.json, report.xml and report.md
    /// [default: target/gatherspec in a Cargo workspace, else gatherspec-report]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What is printed
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// The whole suite on every built-in backend.
pub(super) fn main_job(spec: Result<Specification, Failure>) -> Result<Status, Failure> {
    let one = std::num::NonZeroUsize::MIN;
    let run = Run {
        backends: Vec::new(),
        patterns: Vec::new(),
        files: Vec::new(),
        operators: Vec::new(),
        basis: None,
        jobs: None,
        repeat: one,
        max_output: builtin::MAX_OUTPUT,
        out: None,
        format: Format::Human,
    };
    run.execute(&spec?)
}

impl Run {
    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        let own = if self.files.is_empty() { None } else { Some(self.read_files(spec)?) };
        let cases = self.chosen(spec, own.as_ref().unwrap_or(&spec.cases))?;
        let all: Vec<BackendArgument> = builtin::NAMES
            .iter()
            .map(|name| BackendArgument::parse(name))
            .collect::<Result<_, _>>()
            .map_err(Failure::Usage)?;
        let backends = if self.backends.is_empty() { &all } else { &self.backends };
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, std::num::NonZeroUsize::get));
        let pool = pool.build().map_err(|error| Failure::Usage(error.to_string()))?;

        let progress = Progress::new(backends.len() * cases.len());
        let mut report = Report::new();
        for backend in backends {
            report.backends.push(pool.install(|| self.run_on(backend, spec, &cases, &progress)));
        }
        progress.clear();

        let folder = self.out.clone().unwrap_or_else(default_folder);
        let written = report.write(&folder).map_err(|error| {
            Failure::Usage(format!("the report cannot be written to {}: {error}", folder.display()))
        });
        print(&report.render(self.format))?;
        if self.format == Format::Human {
            print(&format!("reports: {}\n", written?.display()))?;
        } else {
            written?;
        }
        Ok(if report.conforms() { Status::Conforms } else { Status::DoesNotConform })
    }

    fn run_on(
        &self,
        backend: &BackendArgument,
        spec: &Specification,
        cases: &[&Case],
        progress: &Progress,
    ) -> BackendReport {
        let make =
            || InProcess::new(|| backend.make(self.max_output), Strictness::Strict).repeat(self.repeat.get());
        let mut report = BackendReport::new(backend.text.clone(), make().description(), spec);
        report.sources = self.files.iter().map(|file| format!("--cases '{}'", file.display())).collect();
        let run = |runner: &mut InProcess<_>, case: &&Case| {
            let entry = Entry::new(case, runner.run(case));
            progress.tick();
            entry
        };
        report.results = cases.par_iter().map_init(make, run).collect();
        report
    }

    fn read_files(&self, spec: &Specification) -> Result<Vec<Case>, Failure> {
        let mut cases: Vec<Case> = Vec::new();
        let mut wrong = Vec::new();
        for path in &self.files {
            for file in case_files(path)? {
                match spec.read_case_file(&file) {
                    Ok(read) => cases.extend(read),
                    Err(diagnostics) => wrong.extend(diagnostics),
                }
            }
        }
        if wrong.is_empty() { Ok(cases) } else { Err(Failure::Files(wrong)) }
    }

    fn chosen<'a>(&self, spec: &Specification, cases: &'a [Case]) -> Result<Vec<&'a Case>, Failure> {
        if let Some(unknown) = self.operators.iter().find(|name| spec.operator(name).is_none()) {
            return Err(Failure::Usage(format!(
                "unknown operator `{unknown}`; see `gatherspec list operators`"
            )));
        }
        let selection = Selection::new(&self.patterns, &self.operators, self.basis);
        let chosen: Vec<&Case> = cases.iter().filter(|case| selection.wants(case)).collect();
        if chosen.is_empty() {
            return Err(Failure::Usage(
                "no case is wanted by these options; see `gatherspec list cases`".to_owned(),
            ));
        }
        Ok(chosen)
    }
}

pub(super) fn parse_basis(name: &str) -> Result<Basis, String> {
    let all = [Basis::Documented, Basis::Derived, Basis::Ruling];
    all.into_iter()
        .find(|basis| basis.to_string() == name)
        .ok_or_else(|| format!("`{name}` is no basis: documented, derived or ruling is expected"))
}

/// The case files that a path stands for: itself, or the YAML files in its folder.
fn case_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(cannot)? {
        let file = entry.map_err(cannot)?.path();
        let yaml = file.extension().is_some_and(|extension| extension == "yaml");
        let data = file.file_name().is_some_and(|name| name == "clauses.yaml" || name == "operator.yaml");
        if yaml && !data {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        Err(Failure::Usage(format!("{} holds no .yaml file", path.display())))
    } else {
        Ok(files)
    }
}

/// `target/gatherspec` of the Cargo workspace around the current folder, else `gatherspec-report`.
fn default_folder() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let workspace = here.ancestors().filter(|folder| folder.join("Cargo.toml").is_file()).last();
    match (std::env::var_os("CARGO_TARGET_DIR"), workspace) {
        (Some(target), Some(_)) => PathBuf::from(target).join("gatherspec"),
        (None, Some(workspace)) => {
            let folder = workspace.join("target").join("gatherspec");
            folder.strip_prefix(&here).map(Path::to_owned).unwrap_or(folder)
        }
        (_, None) => PathBuf::from("gatherspec-report"),
    }
}

/// A bar on stderr, if that is a terminal and the run lasts more than a second.
struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    fn new(cases: usize) -> Self {
        let bar = ProgressBar::hidden();
        bar.set_length(cases as u64);
        Self { bar, start: Instant::now() }
    }

    fn tick(&self) {
        self.bar.inc(1);
        if self.bar.is_hidden() && self.start.elapsed() > Duration::from_secs(1) {
            let style = ProgressStyle::with_template("{bar:40} {pos}/{len} cases")
                .expect("a template without errors");
            self.bar.set_style(style);
            self.bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
        }
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
