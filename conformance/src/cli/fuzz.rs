//! `gatherspec fuzz`: campaigns of random calls.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gather_spec::{Signatures, Specification};

use gather_campaign::fuzz::{
    Aborted, Campaign, CampaignReport, Corpus, Differential, GENERATORS, MOST_CASES, OfOperators, Pace,
    Saved, Saver, Shard, Shrinking, drive_with, silence_backends,
};
use gather_campaign::generate::EDGES_IN;
use gather_campaign::laws::Laws;
use gather_conformance::backend::{Description, Identity};
use gather_conformance::internals::check::Check;
use gather_conformance::internals::files::check_writable;
use gather_conformance::internals::interrupt::Gentle;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process;
use gather_conformance::internals::reproduction::BackendNaming;

use super::backend::BackendArgument;
use super::campaign::REFERENCE;
use super::cases::{case_files_in, chosen_operators};
use super::ending::{Failure, Status};
use super::findings::{conclude, summary};
use super::folders::Folders;
use super::keep::default_folder;
use super::output::{complain, print};
use super::process::{ProcessOptions, VariantOptions, edges, jobs, seconds};
use super::target::CampaignTarget;

/// The default number of cases.
const CASES: u64 = 1_000_000;

const ONE_BACKEND: &str =
    "`fuzz` tests exactly one backend\nhelp: use --backend NAME, --library FILE, or a command after --";

#[derive(clap::Args)]
pub(super) struct FuzzArgs {
    /// Backend to test: a built-in one, under all policies in turn unless some are given; an adapter, such as numpy; or
    /// the path of a program that answers the backend protocol
    #[arg(long, value_name = "NAME[:POLICIES]|PATH", value_parser = BackendArgument::parse)]
    backend: Option<BackendArgument>,
    /// Shared library to test, which implements gatherspec.h
    #[arg(long, value_name = "FILE", value_parser = BackendArgument::library, conflicts_with = "backend")]
    library: Option<BackendArgument>,
    /// Check laws instead: relations between calls that hold for every input and need no reference
    #[arg(long)]
    laws: bool,
    /// Check only this law
    #[arg(long = "law", value_name = "NAME", requires = "laws")]
    chosen: Vec<String>,
    /// Test only this operator, or the operators that match this glob; other drawn calls are counted but not sent
    #[arg(long = "operator", value_name = "OPERATOR|GLOB")]
    operators: Vec<String>,
    /// Number of cases to draw [default: 1000000, or no limit with --time]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=MOST_CASES))]
    cases: Option<u64>,
    /// Stop this many seconds after the start of the backend, even in the middle of a call
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// Seed of the campaign; each case follows from it and from the number of the case
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Draw one call in N at a size at which kernels switch to another code path; such calls take longer
    #[arg(long = "edges", value_name = "N", default_value_t = EDGES_IN, value_parser = edges)]
    edges_in: usize,
    /// Run only part K of N; the parts cover the campaign without overlap
    #[arg(long, value_name = "K/N", default_value = "1/1")]
    shard: Shard,
    /// Save counterexamples as case files in this folder; cases that are already there are replayed first
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// File to write the report to, at every checkpoint
    /// [default: fuzz.json, or fuzz-K-of-N.json for a shard, in target/gatherspec or gatherspec-report]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Continue the interrupted campaign of the report
    #[arg(long)]
    resume: bool,
    /// Time between checkpoints, or longer if a few cases take longer
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    checkpoint: Duration,
    /// Number of workers [default: number of cores; 1 for a program]
    #[arg(long, value_name = "N", value_parser = jobs)]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    variants: VariantOptions,
    #[command(flatten)]
    process: ProcessOptions,
    /// Program that answers the backend protocol, with its arguments
    #[arg(last = true, value_name = "CMD", help_heading = "Arguments")]
    command: Vec<OsString>,
}

impl FuzzArgs {
    /// Runs the campaign.
    pub(super) fn execute(&self, spec: &Specification, folders: &Folders) -> Result<Status, Failure> {
        let signatures = spec.signatures();
        let operators = chosen_operators(spec, &self.operators)?;
        let mut target = self.target(&signatures, folders)?;
        let end = self.time.map(|time| Instant::now() + time);
        let description = target.subjects.0[0].description().clone();
        if let Some(why) = description.nothing_to_test(spec) {
            let argument = target.reproduction.backend();
            return Err(Failure::Broken(format!("nothing can be tested of {argument}: {why}")));
        }
        let unknown = description.unknown_names(spec);
        unknown.iter().for_each(|said| complain(format_args!("error: the backend {said}")));
        let check = self.check(&target, &description.of_known_operators(spec), &signatures)?;
        let check: Box<dyn Check> =
            if operators.is_empty() { check } else { Box::new(OfOperators::new(check, &operators)) };
        let path = self.report_path();
        let reproduction = target.reproduction.clone();
        let campaign = self.campaign(reproduction.backend(), &operators);
        let mut report = self.start(&path, campaign, description.backend)?;
        let saver = Saver { spec, folder: self.save.as_deref(), reproduction: &reproduction };
        silence_backends();
        // A resumed campaign does not replay the cases that it saved itself.
        if report.done == 0 && report.corpus.is_none() {
            report.corpus = self.ask_saved(&mut target, &saver, end)?;
            for failing in report.corpus.iter().flat_map(|corpus| &corpus.failing) {
                complain(format_args!("still failing: {} {}", failing.verdict, failing.id));
            }
        }
        let pace = Pace { end, checkpoint: self.checkpoint };
        let (mut shown, mut latest) = (0, report.clone());
        let gentle = Gentle::default();
        let done =
            drive_with(report, &*check, &mut target.subjects, pace, Shrinking::ALL, &saver, &mut |report| {
                for group in report.groups.iter().filter(|group| group.example.is_some()).skip(shown) {
                    complain(format_args!("found: {}", group.key));
                    shown += 1;
                }
                latest.clone_from(report);
                report.write(&path)
            });
        drop(target);
        process::end_children();
        drop(gentle);
        match done {
            Ok(report) => match conclude(&report, &format!("report: {}\n", path.display()))? {
                Status::Conforms if !unknown.is_empty() => Ok(Status::DoesNotConform),
                status => Ok(status),
            },
            Err(stopped) => {
                // Shows the results so far even if standard output cannot be written either.
                let _ = print(&summary(&latest));
                Err(Self::stopped(stopped, &path))
            }
        }
    }

    /// How an aborted campaign ends.
    fn stopped(why: Aborted, report: &Path) -> Failure {
        match why {
            Aborted::Broken(broken) => {
                let report = report.display();
                Failure::Broken(format!(
                    "{broken}\nthe cases up to the last checkpoint are in {report}; --resume continues"
                ))
            }
            Aborted::Io(error) => Failure::Usage(error.to_string()),
        }
    }

    /// The check to run: the reference or laws.
    fn check(
        &self,
        target: &CampaignTarget,
        description: &Description,
        signatures: &Signatures,
    ) -> Result<Box<dyn Check>, Failure> {
        if !self.laws {
            let profiles = target.profiles.clone();
            let check = Differential::new(description, signatures, profiles, target.strictness);
            return Ok(Box::new(check.edges_in(self.edges_in)));
        }
        let in_process = target.reproduction.named() == BackendNaming::BuiltIn;
        let laws = Laws::new(description, signatures, &target.profiles, in_process, &self.chosen);
        Ok(Box::new(laws.map_err(Failure::Usage)?.edges_in(self.edges_in)))
    }

    fn campaign(&self, backend: &str, operators: &[String]) -> Campaign {
        let against = if self.laws {
            let only =
                if self.chosen.is_empty() { String::new() } else { format!(" {}", self.chosen.join(" ")) };
            format!("laws{only}")
        } else {
            REFERENCE.to_owned()
        };
        Campaign {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            generators: GENERATORS,
            backend: backend.to_owned(),
            against,
            operators: operators.to_vec(),
            seed: self.seed,
            edges_in: self.edges_in,
            cases: self.cases.or_else(|| self.time.is_none().then_some(CASES)),
        }
    }

    /// The report to continue, or a new one.
    fn start(&self, path: &Path, campaign: Campaign, backend: Identity) -> Result<CampaignReport, Failure> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        check_writable(path)
            .map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", path.display())))?;
        CampaignReport::may_replace(path).map_err(Failure::Usage)?;
        let new = CampaignReport::new(campaign, self.shard, backend);
        if !self.resume || !path.exists() {
            return Ok(new);
        }
        let before = CampaignReport::read(path).map_err(Failure::Usage)?;
        let same =
            before.campaign == new.campaign && before.shard == new.shard && before.backend == new.backend;
        if same {
            Ok(before)
        } else {
            Err(Failure::Usage(format!(
                "{} is the report of another campaign; these options cannot resume it",
                path.display()
            )))
        }
    }

    /// Replays this shard's part of the saved cases; `None` if there are none.
    fn ask_saved(
        &self,
        target: &mut CampaignTarget,
        saver: &Saver<'_>,
        end: Option<Instant>,
    ) -> Result<Option<Corpus>, Failure> {
        let Some(folder) = self.save.as_deref().filter(|folder| folder.symlink_metadata().is_ok()) else {
            return Ok(None);
        };
        let saved = self.saved(folder, saver.spec)?;
        if saved.is_empty() {
            return Ok(None);
        }
        let corpus = Corpus::ask(&saved, &mut target.subjects.0[0], target.strictness, saver, end);
        corpus.map(Some).map_err(|broken| Failure::Broken(broken.to_string()))
    }

    fn saved(&self, folder: &Path, spec: &Specification) -> Result<Vec<Saved>, Failure> {
        let (mut saved, mut wrong) = (Vec::new(), Vec::new());
        for file in case_files_in(folder)? {
            if !file.file_name().is_some_and(|name| self.shard.has_file(&name.to_string_lossy())) {
                continue;
            }
            match spec.read_case_file(&file) {
                Ok(cases) => {
                    let runs = cases.iter().flat_map(gather_spec::Case::runs);
                    saved.extend(runs.map(|run| Saved { file: file.clone(), run }));
                }
                Err(diagnostics) => wrong.extend(diagnostics),
            }
        }
        if wrong.is_empty() { Ok(saved) } else { Err(Failure::Files(wrong)) }
    }

    fn report_path(&self) -> PathBuf {
        let name = match self.shard {
            Shard::WHOLE => "fuzz.json".to_owned(),
            Shard { number, of } => format!("fuzz-{number}-of-{of}.json"),
        };
        self.report.clone().unwrap_or_else(|| default_folder().join(name))
    }

    /// Starts the backend.
    fn target(&self, signatures: &Signatures, folders: &Folders) -> Result<CampaignTarget, Failure> {
        let named = BackendArgument::all(self.backend.iter().chain(&self.library), &self.command);
        let [backend] = &named[..] else {
            return Err(Failure::Usage(ONE_BACKEND.to_owned()));
        };
        let reproduction = backend.reproduction(&self.process, folders);
        if let BackendArgument::BuiltIn(backend) = backend {
            return Ok(CampaignTarget::built_in(backend, signatures, reproduction, self.jobs));
        }
        let program = backend.program(&self.process, folders, &|text| complain(text));
        let program = program.map(|program| self.variants.of(program, VariantsAsked::Turns));
        let target = program.and_then(|program| CampaignTarget::program(&program, reproduction, self.jobs));
        target.map_err(Failure::Broken)
    }
}
