//! Findings: what users of a library should know. A finding is a group of kept runs of one backend that share verdict and
//! reason. Its id is `BACKEND:CASE`, and each of its cases names it.
//!
//! `text` makes the text for an issue of the library, and `script` the program in it. Two files beside the results are
//! written by hand: `since.yaml` says in which versions a finding is, and `upstream.yaml` its state in the library.

mod javascript;
mod numpy;
mod script;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use gather_spec::{Specification, Variant, diagnostic};
use serde::Deserialize;

use crate::results::{FailedRun, Results};
use gather_conformance::internals::files;
use gather_conformance::internals::judge::Verdict;

pub use script::script;
pub use text::text;

/// The most bytes of a file by hand that is read.
const LONGEST_FILE: u64 = 1 << 20;

/// The most findings to suggest for a wrong name.
const FEW: usize = 3;

/// Runs of one backend that share verdict and reason.
#[derive(Clone, Debug)]
pub struct Finding<'r> {
    /// The results that it is from.
    pub of: &'r Results,
    /// The reason.
    pub reason: &'r str,
    /// The verdict.
    pub observed: Verdict,
    /// Its runs; the first is the one to show.
    pub runs: Vec<&'r FailedRun>,
}

impl<'r> Finding<'r> {
    /// The run to show.
    ///
    /// # Panics
    /// Never: a finding has a run.
    #[must_use]
    pub fn shown(&self) -> &'r FailedRun {
        self.runs[0]
    }

    /// Its id: that of the backend and of the run to show.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}:{}", self.of.argument, self.shown().case)
    }

    /// How many cases it has.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.runs.iter().map(|run| case_of(&run.case)).collect::<BTreeSet<_>>().len()
    }

    /// The same finding, with the first such run to show.
    fn shown_by(mut self, is_named: impl Fn(&str) -> bool) -> Option<Self> {
        let at = self.runs.iter().position(|run| is_named(&run.case))?;
        self.runs.swap(0, at);
        Some(self)
    }
}

/// The findings of a backend, by reason. Each shows the run that is noted by hand, else that with the shortest name and call, in
/// the usual way where that fails.
#[must_use]
pub fn all<'r>(of: &'r Results, notes: &Notes) -> Vec<Finding<'r>> {
    let mut groups: BTreeMap<(&str, Verdict), Vec<&FailedRun>> = BTreeMap::new();
    for run in of.deviations.iter().filter(|run| run.finding) {
        groups.entry((run.reason.as_deref().unwrap_or_default(), run.observed)).or_default().push(run);
    }
    // Of an operator in several versions the newest comes first.
    let key = |run: &FailedRun| {
        let operator = run.case.split('/').next().unwrap_or_default();
        let length = (run.case.len() + run.call.len()).saturating_sub(2 * operator.len());
        let is_noted = notes.upstream.contains_key(&format!("{}:{}", of.argument, run.case));
        (!is_noted, Variant::split_id(&run.case).1.iter().count(), length, Reverse(operator.to_owned()))
    };
    let mut findings = Vec::new();
    for ((reason, observed), mut runs) in groups {
        runs.sort_by_key(|run| key(run));
        findings.push(Finding { of, reason, observed, runs });
    }
    findings
}

/// What a text names.
#[derive(Debug)]
pub enum Named<'r> {
    /// A finding.
    One(Finding<'r>),
    /// All findings of a backend, after `BACKEND:`.
    All(Vec<Finding<'r>>),
}

/// What a text `BACKEND:CASE` or `BACKEND:` names. The case is any of a finding, or any run of it, also one that was not kept.
///
/// # Errors
/// What is wrong with the text, and what would be right.
pub fn named<'r>(
    typed: &str,
    results: &'r [Results],
    notes: &Notes,
    spec: &Specification,
) -> Result<Named<'r>, String> {
    let (backend, case) = typed.split_once(':').unwrap_or((typed, ""));
    let of: Vec<&Results> = results.iter().filter(|of| of.argument == backend).collect();
    if of.is_empty() {
        let mut known: Vec<&str> = results.iter().map(|of| of.argument.as_str()).collect();
        known.dedup();
        let help = match diagnostic::nearest(backend, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}:{case}`?"),
            None => format!("there are {}", known.join(" ")),
        };
        return Err(format!("no results of a backend `{}` are kept\nhelp: {help}", shortened(backend)));
    }
    let findings: Vec<Finding<'r>> = of.into_iter().flat_map(|of| all(of, notes)).collect();
    if case.is_empty() {
        return Ok(Named::All(findings));
    }
    let by = |is_named: &dyn Fn(&str) -> bool| {
        findings.iter().find_map(|finding| finding.clone().shown_by(is_named))
    };
    let is_run = || spec.case(case).is_some() || spec.run(&Variant::split_id(case).0).is_some();
    let alike = || by(&|run| case_of(run) == case_of(case)).filter(|_| is_run());
    if let Some(finding) = by(&|run| run == case).or_else(alike) {
        return Ok(Named::One(finding));
    }
    let contains = |finding: &&Finding<'_>| finding.runs.iter().any(|run| run.case.contains(case));
    let mut near: Vec<String> = findings.iter().filter(contains).map(Finding::id).take(FEW).collect();
    let ids: Vec<String> = findings.iter().map(Finding::id).collect();
    near.extend(diagnostic::nearest(typed, ids.iter().map(String::as_str)).map(str::to_owned));
    near.dedup();
    let help = match &near[..] {
        [] => format!("`gatherspec show {backend}:` lists its findings"),
        near => format!("did you mean `{}`?", near.join("` or `")),
    };
    Err(format!("`{}` is no case of a finding of {backend}\nhelp: {help}", shortened(case)))
}

/// The case of a run.
fn case_of(id: &str) -> &str {
    id.split('[').next().unwrap_or_default()
}

fn shortened(typed: &str) -> String {
    gather_conformance::internals::words::name(typed)
}

/// What is noted of findings by hand.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// In which versions a finding is, by `BACKEND:CASE`, with a case that shows it.
    pub since: BTreeMap<String, String>,
    /// The state of a finding in the library, by `BACKEND:CASE`, with the case to show.
    pub upstream: BTreeMap<String, Upstream>,
}

/// The state of a finding in the library.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Such as `not reported`, `open: LINK` or `fixed in VERSION: LINK`.
    #[serde(default = "not_reported")]
    pub state: String,
    /// A sentence of the library's page, word for word, that says what is expected.
    pub quote: Option<String>,
    /// Lines of the script before the call, for a finding that depends on what ran before.
    pub before: Option<String>,
}

/// The state of a finding that no file names.
fn not_reported() -> String {
    "not reported, as far as is known".to_owned()
}

impl Notes {
    /// Those that come with the program.
    ///
    /// # Panics
    /// Never: a test reads them.
    #[must_use]
    pub fn embedded() -> Self {
        let read = || -> Result<Self, serde_yaml::Error> {
            Ok(Self {
                since: serde_yaml::from_str(include_str!("../results/since.yaml"))?,
                upstream: serde_yaml::from_str(include_str!("../results/upstream.yaml"))?,
            })
        };
        read().expect("a test reads the files")
    }

    /// Those of a folder; none of a file that is not there.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        fn map<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<BTreeMap<String, T>> {
            if !path.try_exists()? {
                return Ok(BTreeMap::new());
            }
            let content = files::read_text(path, LONGEST_FILE).map_err(io::Error::other)?;
            let wrong = |why| io::Error::other(format!("{}: {why}", path.display()));
            serde_yaml::from_str(&content).map_err(wrong)
        }
        Ok(Self { since: map(&folder.join("since.yaml"))?, upstream: map(&folder.join("upstream.yaml"))? })
    }

    /// In which versions a finding is, if that was asked.
    #[must_use]
    pub fn since(&self, finding: &Finding<'_>) -> Option<&str> {
        noted(&self.since, finding).map(String::as_str)
    }

    /// The state of a finding in the library.
    #[must_use]
    pub fn state(&self, finding: &Finding<'_>) -> String {
        noted(&self.upstream, finding).map_or_else(not_reported, |upstream| upstream.state.clone())
    }
}

/// What is noted of a finding, under any of its cases.
fn noted<'n, T>(notes: &'n BTreeMap<String, T>, finding: &Finding<'_>) -> Option<&'n T> {
    let backend = &finding.of.argument;
    finding.runs.iter().find_map(|run| notes.get(&format!("{backend}:{}", run.case)))
}
