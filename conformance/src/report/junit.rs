//! JUnit XML: for each backend a suite per operator with a test case per case, and before them one about the backend
//! itself: whether it was run, its profile, and as properties how the run ended.

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::judge::Verdict;

use super::{BackendReport, Entry, Report};

pub(super) fn render(report: &Report) -> String {
    let mut junit = Junit::new("gatherspec");
    for backend in &report.backends {
        junit.add_test_suite(backend_suite(backend));
        for operator in report.operators() {
            junit.add_test_suite(operator_suite(backend, operator));
        }
    }
    junit.to_string().expect("names and texts are valid XML once escaped")
}

/// The tests that are about no case, and how the run ended.
fn backend_suite(backend: &BackendReport) -> TestSuite {
    let mut suite = TestSuite::new(backend.argument.as_str());
    let mut test = |name: &str, kind: &str, failure: Option<(NonSuccessKind, &str)>| {
        let status = failure.map_or_else(TestCaseStatus::success, |(failed, why)| {
            let mut status = TestCaseStatus::non_success(failed);
            status.set_type(kind).set_message(why).set_description(why);
            status
        });
        suite.add_test_case(TestCase::new(name, status));
    };
    let broken = backend.broken.as_deref();
    test("start", "not run", broken.map(|why| (NonSuccessKind::Error, why)));
    for problem in &backend.problems {
        test("profile", "profile", Some((NonSuccessKind::Failure, problem)));
    }
    if broken.is_none() && backend.problems.is_empty() {
        test("profile", "profile", None);
    }
    let summary = &backend.summary;
    let properties = [
        ("backend", format!("{} {}", backend.backend.name, backend.backend.version)),
        ("summary", summary.sentence.clone()),
        ("undeclared operators", summary.undeclared.join(", ")),
        ("clauses never tested", summary.untested.join(", ")),
        ("clauses never rejected", summary.unrejected_lines().join(", ")),
    ];
    for (name, value) in properties.into_iter().filter(|(_, value)| !value.is_empty()) {
        suite.add_property((name, value.as_str()));
    }
    suite
}

/// The cases of one operator.
fn operator_suite(backend: &BackendReport, operator: &str) -> TestSuite {
    let mut suite = TestSuite::new(format!("{}/{operator}", backend.argument));
    suite.add_property(("asked", backend.asked_in_words(operator).as_str()));
    for entry in backend.results.iter().filter(|entry| entry.operator == operator) {
        suite.add_test_case(TestCase::new(entry.id.as_str(), status(entry, &backend.reproduce(entry))));
    }
    suite
}

fn status(entry: &Entry, reproduce: &str) -> TestCaseStatus {
    let kind = match entry.verdict {
        Verdict::Pass => return TestCaseStatus::success(),
        Verdict::Unsupported => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(entry.actual.as_deref().unwrap_or("unsupported"));
            return skipped;
        }
        Verdict::KnownDeviation => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(format!(
                "{}: {}",
                entry.label(),
                entry.reason.as_deref().unwrap_or_default()
            ));
            return skipped;
        }
        Verdict::Crash | Verdict::Timeout | Verdict::ProtocolError => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    let shown = |text: &Option<String>| text.clone().unwrap_or_default();
    status.set_type(entry.verdict.name());
    status.set_message(format!("expected {}", shown(&entry.expected)));
    status.set_description(format!(
        "call: {}\nexpected: {}\nactual: {}\nreproduce: {reproduce}",
        shown(&entry.call),
        shown(&entry.expected),
        shown(&entry.actual)
    ));
    status
}
