//! Tests of which failures an entry covers, and of the errors in an entry.

use gather_spec::{Case, Profile, Specification};

use super::Deviations;
use crate::builtin;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::report::{BackendReport, Entry};
use crate::runner::Judged;

/// Some case whose id holds no list of dtypes.
fn some_case(spec: &Specification) -> &Case {
    spec.cases.iter().find(|case| !case.id.contains('[')).unwrap()
}

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
    let spec = crate::embedded();
    let case = some_case(spec);
    let id = &case.id;
    let entry = format!("  - {{ case: {id}, verdict: crash, reason: it does }}");
    for (observed, verdict) in [
        (Verdict::Crash, Verdict::KnownDeviation),
        (Verdict::Timeout, Verdict::Timeout),
        (Verdict::Pass, Verdict::UnexpectedPass),
        (Verdict::Unsupported, Verdict::UnexpectedPass),
    ] {
        assert_eq!(verdicts(spec, &[case], observed, &entry), [verdict], "{observed}");
    }
    let entry = format!("  - {{ case: {id}, verdict: [crash, pass], reason: now and then }}");
    for (observed, verdict) in [
        (Verdict::Crash, Verdict::KnownDeviation),
        (Verdict::Pass, Verdict::Pass),
        (Verdict::Timeout, Verdict::Timeout),
    ] {
        assert_eq!(verdicts(spec, &[case], observed, &entry), [verdict], "{observed}, listed beside a pass");
    }
}

#[test]
fn an_entry_with_case_and_clause_covers_what_matches_both() {
    let spec = crate::embedded();
    // A topic and a clause of an operator, such that some case has both, one of them, and neither.
    let found = spec.cases.iter().find_map(|both| {
        let (topic, clause) = (both.id.rsplit_once('/')?.0, &both.clauses[0]);
        let of_operator = spec.cases.iter().filter(|case| case.call.operator == both.call.operator);
        let has = |case: &Case| {
            (case.id.rsplit_once('/').is_some_and(|(of, _)| of == topic), case.clauses.contains(clause))
        };
        let find = |wanted| of_operator.clone().find(|case| has(case) == wanted);
        let others = [find((true, false))?, find((false, true))?, find((false, false))?];
        Some((topic, clause, [both, others[0], others[1], others[2]]))
    });
    let (topic, clause, cases) = found.unwrap();
    let both = format!("  - {{ case: {topic}/*, clause: {clause}, verdict: crash, reason: it does }}");
    let rest = Verdict::Crash;
    assert_eq!(verdicts(spec, &cases, rest, &both), [Verdict::KnownDeviation, rest, rest, rest]);
}

#[test]
fn white_space_is_no_reason() {
    let spec = crate::embedded();
    let id = &some_case(spec).id;
    for reason in ["''", "' '", "\"\\n\""] {
        let entry = format!("  - {{ case: {id}, verdict: crash, reason: {reason} }}");
        let wrong = read(spec, &entry).unwrap_err();
        assert_eq!(wrong, format!("known.yaml: entry 1 (case: {id}) has no reason"));
    }
}

#[test]
fn versions_are_matched_by_their_glob() {
    let spec = crate::embedded();
    let case = some_case(spec);
    let id = &case.id;
    for (versions, verdict) in [
        ("'1.*'", Verdict::KnownDeviation),
        ("'1.2.3'", Verdict::KnownDeviation),
        ("'1.2'", Verdict::Crash),
        ("'2.*'", Verdict::Crash),
    ] {
        let entry = format!("  - {{ case: {id}, versions: {versions}, verdict: crash, reason: it does }}");
        assert_eq!(verdicts(spec, &[case], Verdict::Crash, &entry), [verdict], "{versions}");
    }
}

#[test]
fn a_file_with_one_reason_among_others_is_not_lost_to_a_draft() {
    let spec = crate::embedded();
    let id = &some_case(spec).id;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.yaml");
    let lost = |entries: &str| {
        std::fs::write(&path, format!("schema: 1\n{entries}")).unwrap();
        Deviations::lost_by_a_draft(&path)
    };
    let entry = |reason: &str| format!("  - {{ case: {id}, verdict: crash, reason: {reason} }}\n");
    let kind = "  - { operator: '*', kind: crash, reason: it does }\n";
    assert_eq!(lost("deviations: []\n"), None);
    assert_eq!(lost(&format!("deviations:\n{}{}", entry("''"), entry("' '"))), None);
    assert_eq!(lost(&format!("deviations:\n{}{}", entry("''"), entry("it does"))), Some("reasons"));
    assert_eq!(lost(&format!("deviations:\n{}drawn:\n{kind}", entry("''"))), Some("reasons"));
}

#[test]
fn a_verdict_that_is_listed_often_is_one_verdict() {
    let spec = crate::embedded();
    let id = &some_case(spec).id;
    let wrong = |verdict: &str| {
        let often = vec![verdict; 10_000].join(", ");
        read(spec, &format!("  - {{ case: {id}, verdict: [{often}], reason: it does }}")).unwrap_err()
    };
    let said = format!("known.yaml: entry 1 (case: {id}) lists ");
    assert_eq!(
        wrong("known-deviation"),
        said.clone() + "`known-deviation`, which says nothing about the backend's answer"
    );
    assert_eq!(wrong("pass"), said + "`pass` alone, which is no deviation");
}

#[test]
fn versions_that_are_no_glob_are_refused() {
    let spec = crate::embedded();
    let id = &some_case(spec).id;
    let wrong =
        read(spec, &format!("  - {{ case: {id}, versions: '1.[', verdict: crash, reason: it does }}"));
    let said = "has `versions` that cannot be read as a glob: unclosed character class; missing ']'";
    assert_eq!(wrong.unwrap_err(), format!("known.yaml: entry 1 (case: {id}) {said}"));
}
