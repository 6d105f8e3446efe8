//! JUnit XML: for each backend, a suite about the backend itself (whether it was run, its profile, and how the run ended),
//! then a suite per operator with a test per case.

use std::io;
use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};
use rayon::prelude::*;

use gather_conformance::internals::files::write_whole;
use gather_conformance::internals::judge::Verdict;

use super::Label;
use super::PartReport;
use super::{BackendReport, Report};
use gather_conformance::internals::entry::Entry;

pub(super) fn render(report: &Report) -> String {
    as_read(&junit(report).to_string().expect(VALID))
}

/// Writes the XML to a file.
pub(super) fn write(report: &Report, path: &Path) -> io::Result<()> {
    write_whole(path, render(report).as_bytes())
}

/// The XML without the number of all skipped tests, an attribute that the schema of Jenkins lacks: it is only in the second
/// line, which holds the outermost tag. Each suite says how many of its tests are skipped.
fn as_read(xml: &str) -> String {
    const SKIPPED: &str = " skipped=\"";
    let start = xml.find("<testsuites ").unwrap_or_default();
    let end = xml[start..].find('>').map_or(start, |length| start + length);
    let Some(at) = xml[start..end].find(SKIPPED).map(|at| start + at) else { return xml.to_owned() };
    let value = at + SKIPPED.len();
    let after = xml[value..].find('"').map_or(value, |length| value + length + 1);
    [&xml[..at], &xml[after..]].concat()
}

const VALID: &str = "names and texts are valid XML once escaped";

fn junit(report: &Report) -> Junit {
    let mut junit = Junit::new("gatherspec");
    let operators = report.operators();
    for (backend, label) in report.backends.iter().zip(Label::of_all(&report.backends)) {
        let name = label.name().replace('.', "_");
        junit.add_test_suite(backend_suite(backend, &name));
        let declared = operators.par_iter().filter(|operator| backend.declares(operator));
        let of_operators = declared.map(|operator| operator_suite(backend, &name, operator));
        junit.add_test_suites(of_operators.collect::<Vec<_>>());
        for campaign in &backend.campaign {
            junit.add_test_suite(campaign_suite(backend, &name, campaign));
        }
    }
    junit
}

/// The tests that belong to no case, and how the run ended.
fn backend_suite(backend: &BackendReport, class: &str) -> TestSuite {
    let mut suite = TestSuite::new(backend.argument.as_str());
    let mut test = |name: &str, failed: Option<(NonSuccessKind, &str, &str)>| {
        let status = failed.map_or_else(TestCaseStatus::success, |(kind, what, why)| {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(what).set_message(why).set_description(why);
            status
        });
        let mut test = TestCase::new(name, status);
        test.set_classname(format!("{class}.backend")).set_time(Duration::ZERO);
        suite.add_test_case(test);
    };
    let broken = backend.broken.as_deref();
    test("start", broken.map(|why| (NonSuccessKind::Error, "not-run", why)));
    if broken.is_none() && backend.problems.is_empty() {
        test("profile", None);
    }
    for problem in &backend.problems {
        test("profile", Some((NonSuccessKind::Failure, "profile", &problem.to_string())));
    }
    let summary = &backend.summary;
    let properties = [
        ("backend", format!("{} {}", backend.backend.name, backend.backend.version)),
        ("summary", summary.sentence.clone()),
        ("undeclared operators", summary.undeclared.join(", ")),
        ("declared", summary.declared_lines().join("; ")),
        ("clauses outside of what is declared", summary.outside.join(", ")),
        ("clauses never tested", summary.untested.join(", ")),
        ("clauses never rejected", summary.unrejected_lines().join(", ")),
    ];
    for (name, value) in properties.into_iter().filter(|(_, value)| !value.is_empty()) {
        suite.add_property((name, value.as_str()));
    }
    suite
}

/// The suite of a part of the campaign: a test for the whole, and one for each kind of failures.
fn campaign_suite(backend: &BackendReport, name: &str, campaign: &PartReport) -> TestSuite {
    let title = campaign.part.title();
    let mut suite = TestSuite::new(format!("{}/{title}", backend.argument));
    suite.add_property(("campaign", campaign.in_words().join(" ").as_str()));
    let mut add = |name: &str, class: String, status| {
        let mut test = TestCase::new(name, status);
        test.set_classname(class).set_time(Duration::ZERO);
        suite.add_test_case(test);
    };
    let class = format!("{name}.{}", title.replace(' ', "-"));
    let whole = match &campaign.left_out {
        None => TestCaseStatus::success(),
        Some(why) => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(why.as_str());
            skipped
        }
    };
    add(title, class.clone(), whole);
    for kind in &campaign.kinds {
        let status = status(&kind.entry, &|| backend.kind_in_text(campaign, kind));
        add(&kind.entry.id, format!("{class}.{}", kind.entry.operator), status);
    }
    suite
}

/// The suite of one operator.
fn operator_suite(backend: &BackendReport, name: &str, operator: &str) -> TestSuite {
    let mut suite = TestSuite::new(format!("{}/{operator}", backend.argument));
    suite.add_property(("asked", backend.asked_in_words(operator).as_str()));
    let mut total = Duration::ZERO;
    for entry in backend.of_operator(operator) {
        let mut test = TestCase::new(entry.id.as_str(), status(entry, &|| backend.failure_in_text(entry)));
        test.set_classname(format!("{name}.{operator}.{}", topic(entry)));
        test.set_time(entry.duration.unwrap_or_default());
        total += entry.duration.unwrap_or_default();
        suite.add_test_case(test);
    }
    suite.set_time(total);
    suite
}

/// The topic of a case: `bad-index` in `tf.gather_nd/bad-index/one-past-the-end`.
fn topic(entry: &Entry) -> &str {
    entry.id.split('/').nth(1).unwrap_or_default()
}

/// The status of a test. `text` renders what is needed to fix a failure.
fn status(entry: &Entry, text: &dyn Fn() -> String) -> TestCaseStatus {
    let kind = match entry.verdict {
        Verdict::Pass => return TestCaseStatus::success(),
        Verdict::Unsupported => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(entry.actual.as_deref().unwrap_or("unsupported"));
            return skipped;
        }
        Verdict::KnownDeviation => {
            let mut skipped = TestCaseStatus::skipped();
            let reason = entry.reason.as_deref().unwrap_or_default();
            skipped.set_message(format!("{}: {reason}", entry.label()));
            return skipped;
        }
        Verdict::Crash | Verdict::Timeout | Verdict::ProtocolError | Verdict::NotRun => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(entry.verdict.name());
    let message = entry.difference_in_words().map(|(said, _)| said);
    let expected = || format!("expected {}", entry.expected.as_deref().unwrap_or_default());
    status.set_message(message.unwrap_or_else(expected));
    status.set_description(text());
    status
}
