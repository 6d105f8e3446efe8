//! JUnit XML: a suite per backend and operator, a test case per case.

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::judge::Verdict;

use super::{Entry, Report};

pub(super) fn render(report: &Report) -> String {
    let mut junit = Junit::new("gatherspec");
    for backend in &report.backends {
        if let Some(why) = &backend.broken {
            let mut suite = TestSuite::new(backend.argument.as_str());
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("not run").set_message(why.as_str());
            suite.add_test_case(TestCase::new("start", status));
            junit.add_test_suite(suite);
        }
        for operator in report.operators() {
            let mut suite = TestSuite::new(format!("{}/{operator}", backend.argument));
            for entry in backend.results.iter().filter(|entry| entry.operator == operator) {
                suite.add_test_case(TestCase::new(
                    entry.id.as_str(),
                    status(entry, &backend.reproduce(entry)),
                ));
            }
            junit.add_test_suite(suite);
        }
    }
    junit.to_string().expect("names and texts are valid XML once escaped")
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
