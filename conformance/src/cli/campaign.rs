//! The campaign after the cases of `run`: a few drawn calls and laws, the same in every run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gather_spec::{Signatures, Specification};

use crate::report::{BackendReport, Part, PartReport, Problem};
use gather_campaign::fuzz::{
    self, Aborted, Differential, GENERATORS, OfOperators, Pace, SHORT, Saver, Shard, Shrinking, drive_with,
};
use gather_campaign::laws::Laws;
use gather_conformance::backend::Description;
use gather_conformance::internals::check::{Check, Key};
use gather_conformance::internals::deviations::{CampaignExtent, Deviations, Watched};
use gather_conformance::internals::interrupt;
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};

use super::progress::Progress;
use super::target::CampaignTarget;

/// What drawn calls are compared with.
pub(super) const REFERENCE: &str = "reference";

/// The time limit for shrinking the failures of a program, all kinds together.
const TIME_TO_SHRINK: Duration = Duration::from_secs(20);

/// The campaign of a run.
pub(super) struct RunCampaign<'a> {
    pub(super) spec: &'a Specification,
    pub(super) signatures: Signatures,
    /// The number of calls to draw. Half as many laws are checked.
    pub(super) drawn: u64,
    /// The number of calls that a run without options draws.
    pub(super) usual: u64,
    /// The operators to ask about; empty for all.
    pub(super) operators: &'a [String],
    /// The folder for cases of failures.
    pub(super) found: PathBuf,
    pub(super) progress: &'a Progress,
}

impl RunCampaign<'_> {
    /// How much of the campaign of a run without options this one has, if no part ends early.
    fn extent(&self, target: &CampaignTarget) -> CampaignExtent {
        let declared = target.subjects.0[0].description().operators.keys().cloned().collect();
        let all = self.signatures.iter().map(|signature| signature.operator.to_string());
        let is_chosen =
            |name: &String| self.operators.is_empty() || self.operators.iter().any(|chosen| chosen == name);
        let chosen = all.filter(is_chosen).collect();
        CampaignExtent { chosen, declared, drawn: self.drawn.cmp(&self.usual), complete: true }
    }

    fn cases(&self, part: Part) -> u64 {
        Self::cases_of(part, self.drawn)
    }

    /// The number of cases in a part of a campaign with this many calls.
    const fn cases_of(part: Part, drawn: u64) -> u64 {
        match part {
            Part::Drawn => drawn,
            Part::Laws => drawn.div_ceil(SHORT.drawn / SHORT.laws),
        }
    }

    /// Runs both parts on a backend and adds the results to its report.
    pub(super) fn run(&self, mut target: CampaignTarget, known: &Deviations, report: &mut BackendReport) {
        let mut extent = self.extent(&target);
        for part in [Part::Drawn, Part::Laws] {
            let (campaign, problem) = self.part(part, &mut target, known, &report.backend.version);
            report.campaign.push(campaign);
            if let Some(problem) = problem {
                report.problems.push(problem);
                extent.complete = false;
                break;
            }
        }
        known.apply_to_campaign(report, &extent);
    }

    /// Runs one part. Returns its results, and why it ended early if it did.
    fn part(
        &self,
        part: Part,
        target: &mut CampaignTarget,
        known: &Deviations,
        version: &str,
    ) -> (PartReport, Option<Problem>) {
        let cases = self.cases(part);
        if part == Part::Drawn && target.reproduction.is_built_in(REFERENCE) {
            return (PartReport::left_out(part, SHORT.seed, cases, "compared with itself: left out"), None);
        }
        let described = target.subjects.0[0].description().clone();
        let check = self.check(part, target, &described.of_known_operators(self.spec));
        let check: Box<dyn Check> = match self.operators {
            [] => check,
            some => Box::new(OfOperators::new(check, some)),
        };
        let known_operators = described.of_known_operators(self.spec);
        let most = Self::cases_of(part, self.usual);
        let check = Watched::new(check, known, version, &known_operators, &self.signatures, most);
        let reproduction = target.reproduction.clone();
        let campaign = self.campaign(part, reproduction.backend(), cases);
        let start = fuzz::CampaignReport::new(campaign, Shard::WHOLE, described.backend);
        let saver = Saver { spec: self.spec, folder: Some(&self.found), reproduction: &reproduction };
        // What is known needs no example; what should be known, and passes, does.
        let wants = |key: &Key| key.known.is_none() || key.verdict == Verdict::UnexpectedPass;
        let is_ours = reproduction.named() == BackendNaming::BuiltIn;
        let shrinking = Shrinking { wants: &wants, time: (!is_ours).then_some(TIME_TO_SHRINK) };
        let pace = Pace { end: None, checkpoint: Duration::from_secs(1) };
        let mut latest = start.clone();
        let ended = drive_with(start, &check, &mut target.subjects, pace, shrinking, &saver, &mut |report| {
            latest.clone_from(report);
            self.progress.campaign(part, report.done);
            Ok(())
        });
        let why = match &ended {
            Ok(_) => interrupt::signal().map(|signal| format!("interrupted by {signal}")),
            Err(Aborted::Broken(broken)) => Some(broken.to_string()),
            Err(Aborted::Io(error)) => Some(error.to_string()),
        };
        let done = ended.unwrap_or(latest);
        let problem = why.filter(|_| !done.complete).map(|why| Problem::CampaignEnded {
            why,
            part,
            done: done.done,
            cases: done.len(),
        });
        let campaign = done.part(part, self.repeat(part, &reproduction));
        let is_usual = done.done >= most;
        (PartReport { drawn: check.into_calls(done.done), is_usual, ..campaign }, problem)
    }

    fn check(&self, part: Part, target: &CampaignTarget, description: &Description) -> Box<dyn Check> {
        let (signatures, profiles) = (&self.signatures, &target.profiles);
        match part {
            Part::Drawn => {
                let check = Differential::new(description, signatures, profiles.clone(), target.strictness);
                Box::new(check.edges_in(SHORT.edges_in))
            }
            Part::Laws => {
                let in_process = target.reproduction.named() == BackendNaming::BuiltIn;
                let laws = Laws::new(description, signatures, profiles, in_process, &[]);
                Box::new(laws.expect("no law is named").edges_in(SHORT.edges_in))
            }
        }
    }

    fn campaign(&self, part: Part, argument: &str, cases: u64) -> fuzz::Campaign {
        fuzz::Campaign {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            generators: GENERATORS,
            backend: argument.to_owned(),
            against: if part == Part::Drawn { REFERENCE } else { "laws" }.to_owned(),
            operators: self.operators.to_vec(),
            seed: SHORT.seed,
            edges_in: SHORT.edges_in,
            cases: Some(cases),
        }
    }

    /// The command line that repeats a part.
    fn repeat(&self, part: Part, reproduction: &Reproduction) -> String {
        let laws = if part == Part::Laws { "--laws " } else { "" };
        let (seed, edges, cases) = (SHORT.seed, SHORT.edges_in, self.cases(part));
        let operators: String =
            self.operators.iter().map(|operator| format!(" --operator {operator}")).collect();
        reproduction.campaign(&format!("{laws}--seed {seed} --edges {edges} --cases {cases}{operators}"))
    }
}

/// The folder for cases of failures, inside that of the report.
pub(super) fn folder(out: &Path) -> PathBuf {
    out.join("found")
}
