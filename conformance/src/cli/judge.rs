//! `gatherspec judge`: judges a backend at the other end of standard input and output, case by case, for a test framework that
//! runs the backend itself. Each line is one JSON object. The backend answers `start` and calls by the backend protocol. In
//! between, the framework writes `{"ask":CASE}`, and reads calls until a line with a `verdict` comes.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use gather_spec::load::{Maker, Wanted};
use gather_spec::{Case, Specification};
use serde::{Deserialize, Serialize};

use gather_conformance::internals::deviations::Deviations;
use gather_conformance::internals::entry::Entry;
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process::Piped;
use gather_conformance::internals::select::{Chosen, Suite};
use gather_conformance::internals::words::name;

use super::cases::{selection, suites};
use super::ending::{Failure, Status};
use super::known::Known;
use crate::report::{BackendReport, PageWidth};

#[derive(clap::Args)]
pub(super) struct JudgeArgs {
    /// Offer only cases of this suite
    #[arg(long, value_parser = suites())]
    suite: Option<Suite>,
    /// YAML file with the known deviations of the backend
    #[arg(long, value_name = "FILE")]
    deviations: Vec<PathBuf>,
}

/// What can be asked, and what is wrong with the declaration.
#[derive(Serialize)]
struct Offer<'a> {
    problems: Vec<String>,
    cases: Vec<Offered<'a>>,
}

#[derive(Serialize)]
struct Offered<'a> {
    id: &'a str,
    operator: &'a str,
    topic: &'a str,
    basis: String,
}

/// What the framework asks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    ask: String,
}

/// The verdict on a case, and why.
#[derive(Serialize)]
struct Answer<'a> {
    verdict: Verdict,
    /// The verdict without deviations, if they change it.
    observed: Option<Verdict>,
    /// The reason of a known deviation.
    reason: Option<&'a str>,
    /// The run that the lines are about.
    run: &'a str,
    clauses: &'a [String],
    /// What is needed to fix a failure, in lines for people.
    lines: String,
    is_failure: bool,
}

impl JudgeArgs {
    /// The cases to read: known deviations and budgets of compilations are about all of them.
    pub(super) fn wanted<'a>(&self) -> Wanted<'a> {
        if self.suite == Some(Suite::Large) { Wanted::Large } else { Wanted::Usual }
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        let selection = selection(&spec.cases, &[], &[], None)?.of_suite(self.suite);
        let known = Known::read(&self.deviations, spec, &spec.cases, false).map_err(Failure::Usage)?;
        let asked = if self.suite == Some(Suite::Smoke) { VariantsAsked::Two } else { VariantsAsked::Turns };
        let (input, output) = (io::stdin().lock(), io::stdout().lock());
        let mut backend = Piped::start(input, output, &spec.cases, asked).map_err(pipe)?;
        if let Some(why) = backend.description().nothing_to_test(spec) {
            return Err(Failure::Broken(format!("nothing can be tested: {why}")));
        }
        let description = backend.description().clone();
        let known = known.of(&description.backend.name).unwrap_or_default();
        let wanted: Vec<&Arc<Case>> = spec.cases.iter().filter(|case| selection.wants(case)).collect();
        let chosen = Chosen { cases: &wanted, selection: Some(&selection) };
        let mut maker = Maker::default();
        let is_asked =
            |case: &&Arc<Case>| description.declares(case) && backend.asks(&chosen.runs(&mut maker, case));
        let cases: Vec<&Arc<Case>> = wanted.iter().copied().filter(is_asked).collect();
        let mut report = BackendReport::new(String::new(), &description, spec);
        let operators = description.operators.keys().map(String::as_str).collect();
        known.apply_to_profile(&mut report, &description, spec, &operators);
        let unknown = description.unknown_names(spec).into_iter().map(|said| format!("the backend {said}"));
        let offer = Offer {
            problems: report.problems.iter().map(ToString::to_string).chain(unknown).collect(),
            cases: cases.iter().map(|case| Offered::new(case)).collect(),
        };
        backend.say(&json(&offer)?).map_err(pipe)?;
        let by_id: HashMap<&str, &Arc<Case>> = cases.iter().map(|case| (case.id.as_str(), *case)).collect();
        while let Some(line) = backend.next_line().map_err(pipe)? {
            let question: Question = serde_json::from_slice(&line)
                .map_err(|wrong| Failure::Usage(format!("a line is no question: {wrong}")))?;
            let Some(case) = by_id.get(question.ask.as_str()) else {
                return Err(Failure::Usage(format!("no case `{}` was offered", name(&question.ask))));
            };
            let entry = backend.ask(case, chosen.runs(&mut maker, case)).map_err(pipe)?;
            report.problems.clear();
            let entry = judged(&mut report, entry, case, &known, spec);
            backend.say(&json(&Answer::new(&report, &entry))?).map_err(pipe)?;
        }
        Ok(Status::Conforms)
    }
}

/// The result of a case with the known deviations.
fn judged(
    report: &mut BackendReport,
    entry: Entry,
    case: &Arc<Case>,
    known: &Deviations,
    spec: &Specification,
) -> Entry {
    report.results = vec![entry];
    known.apply(report, &[case]);
    report.conclude(&[case], spec);
    report.results.remove(0)
}

impl<'a> Offered<'a> {
    fn new(case: &'a Case) -> Self {
        Self {
            id: &case.id,
            operator: case.operator().as_str(),
            topic: case.topic(),
            basis: case.basis.to_string(),
        }
    }
}

impl<'a> Answer<'a> {
    fn new(report: &BackendReport, entry: &'a Entry) -> Self {
        let is_failure = entry.verdict.is_failure();
        let is_known = entry.observed.is_some();
        let page = PageWidth::of_stdout();
        let lines = if is_failure || is_known { report.failure_in_lines(entry, page) } else { String::new() };
        Self {
            verdict: entry.verdict,
            observed: entry.observed,
            reason: entry.reason.as_deref(),
            run: entry.run_id(),
            clauses: &entry.clauses,
            lines,
            is_failure,
        }
    }
}

fn json(message: &impl Serialize) -> Result<Vec<u8>, Failure> {
    serde_json::to_vec(message).map_err(|error| Failure::Io(error.into()))
}

/// What is wrong with the pipe, or with what came through it.
fn pipe(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Failure::Broken("the other end closed the pipe".to_owned()),
        io::ErrorKind::InvalidData => Failure::Broken(error.to_string()),
        _ => Failure::Io(error),
    }
}
