//! Which failures an entry covers, and what is wrong with one.

use gather_spec::{Case, Profile, Specification};

use super::Deviations;
use crate::builtin;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::report::{BackendReport, Entry};
use crate::runner::Judged;

const CASE: &str = "tf.gather_nd/documented/rows-of-a-matrix";

/// The verdicts of some cases that all come to one, with a file of entries about a backend of version 1.2.3.
fn verdicts(spec: &Specification, cases: &[&Case], observed: Verdict, entries: &str) -> Vec<Verdict> {
    let reference = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
    let mut report = BackendReport::new("mine".to_owned(), &reference, spec);
    report.backend.version = "1.2.3".into();
    for case in cases {
        let judged = Judged::new(&reference, case, Strictness::Lenient).unwrap();
        let judgement = Judgement { verdict: observed, note: None };
        report.results.push(Entry::new(case, judged.result(judgement, String::new(), None)));
    }
    read(spec, entries).unwrap().apply(&mut report, cases);
    report.results.iter().map(|entry| entry.verdict).collect()
}

fn read(spec: &Specification, entries: &str) -> Result<Deviations, String> {
    Deviations::parse("known.yaml", &format!("schema: 1\ndeviations:\n{entries}"), spec, &spec.cases)
}

#[test]
fn a_known_failure_that_is_not_asked_any_more_is_an_unexpected_pass() {
    let spec = Specification::embedded().unwrap();
    let case = spec.case(CASE).unwrap();
    let entry = format!("  - {{ case: {CASE}, verdict: crash, reason: it does }}");
    for (observed, verdict) in [
        (Verdict::Crash, Verdict::KnownDeviation),
        (Verdict::Timeout, Verdict::Timeout),
        (Verdict::Pass, Verdict::UnexpectedPass),
        (Verdict::Unsupported, Verdict::UnexpectedPass),
    ] {
        assert_eq!(verdicts(&spec, &[case], observed, &entry), [verdict], "{observed}");
    }
}

#[test]
fn an_entry_with_case_and_clause_covers_what_matches_both() {
    let spec = Specification::embedded().unwrap();
    let documented = |case: &Case| case.id.starts_with("tf.gather_nd/documented/");
    let clause = "tf.gather_nd.shape.slices";
    let about = |case: &Case| case.clauses.iter().any(|id| id == clause);
    let find = |wanted: (bool, bool)| {
        let of_operator = spec.cases.iter().filter(|case| case.call.operator.as_str() == "tf.gather_nd");
        of_operator.into_iter().find(|case| (documented(case), about(case)) == wanted).unwrap()
    };
    let cases = [(true, true), (true, false), (false, true), (false, false)].map(find);
    let both = format!(
        "  - {{ case: tf.gather_nd/documented/*, clause: {clause}, verdict: crash, reason: it does }}"
    );
    let rest = Verdict::Crash;
    assert_eq!(verdicts(&spec, &cases, rest, &both), [Verdict::KnownDeviation, rest, rest, rest]);
}

#[test]
fn white_space_is_no_reason() {
    let spec = Specification::embedded().unwrap();
    for reason in ["''", "' '", "\"\\n\""] {
        let entry = format!("  - {{ case: {CASE}, verdict: crash, reason: {reason} }}");
        let wrong = read(&spec, &entry).unwrap_err();
        assert_eq!(wrong, format!("known.yaml: entry 1 (case: {CASE}) has no reason"));
    }
}

#[test]
fn versions_are_matched_by_their_glob() {
    let spec = Specification::embedded().unwrap();
    let case = spec.case(CASE).unwrap();
    for (versions, verdict) in [
        ("'1.*'", Verdict::KnownDeviation),
        ("'1.2.3'", Verdict::KnownDeviation),
        ("'1.2'", Verdict::Crash),
        ("'2.*'", Verdict::Crash),
    ] {
        let entry = format!("  - {{ case: {CASE}, versions: {versions}, verdict: crash, reason: it does }}");
        assert_eq!(verdicts(&spec, &[case], Verdict::Crash, &entry), [verdict], "{versions}");
    }
}

#[test]
fn a_file_with_one_reason_among_others_is_not_lost_to_a_draft() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.yaml");
    let lost = |entries: &str| {
        std::fs::write(&path, format!("schema: 1\n{entries}")).unwrap();
        Deviations::lost_by_a_draft(&path)
    };
    let entry = |reason: &str| format!("  - {{ case: {CASE}, verdict: crash, reason: {reason} }}\n");
    let kind = "  - { operator: '*', kind: crash, reason: it does }\n";
    assert_eq!(lost("deviations: []\n"), None);
    assert_eq!(lost(&format!("deviations:\n{}{}", entry("''"), entry("' '"))), None);
    assert_eq!(lost(&format!("deviations:\n{}{}", entry("''"), entry("it does"))), Some("reasons"));
    assert_eq!(lost(&format!("deviations:\n{}drawn:\n{kind}", entry("''"))), Some("reasons"));
}
