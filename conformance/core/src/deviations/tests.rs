//! Tests which failures an entry covers, and which errors an entry can have.

use std::sync::Arc;

use gather_spec::{Attribute, Case, DType, Profile, Run, Specification};

use super::{Deviations, draft};
use crate::builtin;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::judged::{Judged, RunResult};
use crate::report::{BackendReport, Entry};

/// Some case with one run.
fn some_case(spec: &Specification) -> &Arc<Case> {
    spec.cases.iter().find(|case| case.axes.combinations() == 1).unwrap()
}

/// The report on some cases that all have one verdict and one message, with a file of entries about a backend
/// of version 1.2.3.
fn report_of(
    spec: &Specification,
    cases: &[&Arc<Case>],
    (observed, said): (Verdict, &str),
    entries: &str,
) -> BackendReport {
    let reference = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
    let mut report = BackendReport::new("mine".to_owned(), &reference, spec);
    report.backend.version = "1.2.3".into();
    for case in cases {
        let result = |run: &Run| {
            let judged = Judged::new(&reference, run, Strictness::Lenient).unwrap();
            let judgement = Judgement { verdict: observed, note: None };
            Entry::with_facts(run, judged.result(judgement, said.to_owned(), None))
        };
        report.results.push(Entry::of_case(case, case.runs().iter().map(result).collect()));
    }
    read(spec, entries).unwrap().apply(&mut report, cases);
    report
}

/// The verdicts of that report.
fn verdicts(spec: &Specification, cases: &[&Arc<Case>], observed: Verdict, entries: &str) -> Vec<Verdict> {
    let report = report_of(spec, cases, (observed, ""), entries);
    report.results.iter().map(|entry| entry.verdict).collect()
}

/// The runs of that report, with their verdicts.
fn run_verdicts(
    spec: &Specification,
    cases: &[&Arc<Case>],
    observed: Verdict,
    entries: &str,
) -> Vec<(Run, Verdict)> {
    let report = report_of(spec, cases, (observed, ""), entries);
    let verdicts = report.results.iter().flat_map(|entry| &entry.all).map(|run| run.verdict);
    cases.iter().flat_map(|case| case.runs()).zip(verdicts).collect()
}

fn read(spec: &Specification, entries: &str) -> Result<Deviations, String> {
    Deviations::parse("known.yaml", &format!("schema: 2\ndeviations:\n{entries}"), spec, &spec.cases)
}

/// The cases of an operator.
fn cases_of<'a>(spec: &'a Specification, operator: &str) -> Vec<&'a Arc<Case>> {
    spec.cases.iter().filter(|case| case.operator().as_str() == operator && !case.large).collect()
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
        (Verdict::Unsupported, Verdict::Unsupported),
    ] {
        let report = report_of(spec, &[case], (observed, ""), &entry);
        assert_eq!(report.results[0].verdict, verdict, "{observed}");
        // A case that is not asked has no run that could deviate, so the entry as a whole did not occur.
        let idle = matches!(observed, Verdict::Unsupported | Verdict::Timeout);
        assert_eq!(report.problems.len(), usize::from(idle), "{observed}");
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
        let of_operator = spec.cases.iter().filter(|case| case.operator() == both.operator());
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
        std::fs::write(&path, format!("schema: 2\n{entries}")).unwrap();
        Deviations::lost_by_a_draft(&path)
    };
    let entry = |reason: &str| format!("  - {{ case: {id}, verdict: crash, reason: {reason} }}\n");
    let kind = "  - { operator: '*', verdict: crash, reason: it does }\n";
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

/// Asserts that a selector of an entry about all cases of an operator covers exactly those that `wanted` says.
fn assert_selects(operator: &str, selector: &str, wanted: impl Fn(&Run) -> bool) {
    let spec = crate::embedded();
    let cases = cases_of(spec, operator);
    let entry = format!("  - {{ case: {operator}/*, where: {selector}, verdict: crash, reason: it does }}");
    let (mut covered, mut others) = (0, 0);
    for (case, verdict) in run_verdicts(spec, &cases, Verdict::Crash, &entry) {
        let case = &case;
        let expected = if wanted(case) { Verdict::KnownDeviation } else { Verdict::Crash };
        assert_eq!(verdict, expected, "{selector}: {}", case.id);
        *if wanted(case) { &mut covered } else { &mut others } += 1;
    }
    assert!(covered > 0 && others > 0, "{selector} tells nothing apart");
}

#[test]
fn each_selector_covers_what_it_describes_and_nothing_else() {
    const ND: &str = "tf.gather_nd";
    let rank = |case: &Run| case.params().shape().rank();
    let size = |case: &Run| case.params().shape().element_count();
    let batch = |case: &Run| case.call.attributes.get("batch_dims").cloned();
    assert_selects(ND, "{ rank: 3 }", |case| rank(case) == 3);
    assert_selects(ND, "{ rank: 3.. }", |case| rank(case) >= 3);
    assert_selects(ND, "{ rank: ..1 }", |case| rank(case) <= 1);
    assert_selects(ND, "{ rank: 2..3 }", |case| (2..=3).contains(&rank(case)));
    assert_selects(ND, "{ size: 100..2000 }", |case| (100..=2000).contains(&size(case)));
    let empty = |case: &Run| case.call.operands.tensors().any(|tensor| tensor.shape().contains(&0));
    assert_selects(ND, "{ empty: true }", empty);
    assert_selects(ND, "{ empty: false }", |case| !empty(case));
    assert_selects(ND, "{ params-dtype: string }", |case| case.params().dtype() == DType::String);
    assert_selects(ND, "{ index-dtype: [i8, u8] }", |case| {
        [DType::I8, DType::U8].contains(&case.indices().dtype())
    });
    assert_selects(ND, "{ attribute: batch_dims }", |case| batch(case).is_some());
    assert_selects(ND, "{ attribute: { batch_dims: 1 } }", |case| batch(case) == Some(Attribute::Integer(1)));
    // What a profile of errors makes of a case is what its id says.
    assert_selects(ND, "{ expected: index-out-of-range, rank: 1.. }", |case| {
        let code = gather_spec::ErrorCode::IndexOutOfRange;
        let allowed = case.expect.under(Profile::default());
        rank(case) > 0
            && allowed.iter().any(|one| matches!(one, gather_spec::Allowed::Error(it, _) if *it == code))
    });
    assert_selects(ND, "{ expected: output }", |case| {
        case.expect
            .under(Profile::default())
            .iter()
            .any(|one| matches!(one, gather_spec::Allowed::Output(_) | gather_spec::Allowed::Shape(_)))
    });
    const TAKE: &str = "numpy.take";
    let mode = |case: &Run| match case.call.attributes.get("mode") {
        Some(Attribute::String(mode)) => mode.clone(),
        _ => "raise".to_owned(),
    };
    assert_selects(TAKE, "{ mode: clip }", |case| mode(case) == "clip");
    assert_selects(TAKE, "{ mode: [raise, wrap] }", |case| ["raise", "wrap"].contains(&mode(case).as_str()));
    assert_selects(TAKE, "{ policy: { bad: clamp } }", |case| mode(case) == "clip");
}

#[test]
fn a_draft_tells_failures_apart_by_what_is_said_but_not_by_how_every_traceback_begins() {
    let spec = crate::embedded();
    let cases = &cases_of(spec, "tf.gather_nd")[..40];
    let drafted = |said: &str| {
        let mut report = report_of(spec, cases, (Verdict::Pass, ""), "  []");
        let failed = report_of(spec, cases, (Verdict::RejectedGoodInput, said), "  []");
        // Every third case, whatever it is about.
        for (at, result) in failed.results.into_iter().enumerate().step_by(3) {
            report.results[at] = result;
        }
        draft(&report, cases)
    };
    let said = drafted("rank above 4");
    assert!(said.contains("where: { message: \"rank above 4\" }"), "{said}");
    let said = drafted("Traceback (most recent call last):\n  File");
    assert!(!said.contains("message:") && said.contains("verdict: rejected-good-input"), "{said}");
}

#[test]
fn a_message_is_what_an_error_or_a_death_says_and_no_output() {
    let spec = crate::embedded();
    let cases = [some_case(spec)];
    let id = &cases[0].id;
    let entry = |verdict: Verdict| {
        format!(
            "  - {{ case: {id}, where: {{ message: rank above 4 }}, verdict: {verdict}, reason: it does }}"
        )
    };
    let verdict =
        |observed, said| report_of(spec, &cases, (observed, said), &entry(observed)).results[0].verdict;
    let known = Verdict::KnownDeviation;
    assert_eq!(verdict(Verdict::RejectedGoodInput, "error without a code: no rank above 4"), known);
    assert_eq!(verdict(Verdict::Crash, "panic: rank above 4"), known);
    assert_eq!(verdict(Verdict::Crash, "panic: rank above 5"), Verdict::Crash);
    assert_eq!(verdict(Verdict::WrongOutput, "string [1] [\"rank above 4\"]"), Verdict::WrongOutput);
}

#[test]
fn an_entry_of_which_nothing_occurs_is_a_problem_once_all_of_its_cases_run() {
    let spec = crate::embedded();
    let all = cases_of(spec, "tf.gather_nd");
    let stale = "  - { case: tf.gather_nd/*, where: { message: gone }, verdict: crash, reason: it did }";
    let report = report_of(spec, &all, (Verdict::Pass, ""), stale);
    assert_eq!(
        report.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "unexpected-pass: the deviation `case: tf.gather_nd/*, where: { message: \"gone\" }` did not occur in any \
          case of tf.gather_nd"
        ]
    );
    // A part of them says nothing about the rest, and behaviour that is random need not show.
    assert!(report_of(spec, &all[1..], (Verdict::Pass, ""), stale).problems.is_empty());
    let random = stale.replace("verdict: crash", "verdict: [crash, pass]");
    assert!(report_of(spec, &all, (Verdict::Pass, ""), &random).problems.is_empty());
    // Of two operators that an entry names, each counts for itself.
    let both = stale.replace("tf.gather_nd/*", "'{tf.gather_nd,tf.gather}/*'");
    assert_eq!(report_of(spec, &all, (Verdict::Pass, ""), &both).problems.len(), 1);
}

#[test]
fn what_a_selector_covers_must_deviate() {
    let spec = crate::embedded();
    let cases = cases_of(spec, "tf.gather_nd");
    let entry = "  - { case: tf.gather_nd/*, where: { empty: true }, verdict: crash, reason: it does }";
    for (case, verdict) in run_verdicts(spec, &cases, Verdict::Pass, entry) {
        let empty = case.call.operands.tensors().any(|tensor| tensor.shape().contains(&0));
        assert_eq!(verdict, if empty { Verdict::UnexpectedPass } else { Verdict::Pass }, "{}", case.id);
    }
}

#[test]
fn a_selector_of_variants_covers_what_has_them() {
    let spec = crate::embedded();
    let run = &some_case(spec).runs()[0];
    let covers = |selector: &str, variant: &str| {
        let mut run = run.clone();
        run.call.variant = variant.parse().unwrap();
        run.id = run.call.variant.in_id(&run.id);
        let reference = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        let judged = Judged::new(&reference, &run, Strictness::Lenient);
        // The reference declares no variants, so the run is judged as if it did.
        let result = match judged {
            Ok(judged) => {
                judged.result(Judgement { verdict: Verdict::Crash, note: None }, String::new(), None)
            }
            Err(result) => RunResult {
                verdict: Verdict::Crash,
                call: Some(run.call.clone()),
                is_outside: false,
                ..*result
            },
        };
        let case = &run.case;
        let (pattern, selector) = selector.split_once(' ').unwrap_or((selector, "{}"));
        let entry = format!(
            "  - {{ case: '{}{pattern}', where: {selector}, verdict: crash, reason: it does }}",
            case.id
        );
        let mut report = BackendReport::new("mine".to_owned(), &reference, spec);
        report.results.push(Entry::of_case(case, vec![Entry::with_facts(&run, result)]));
        read(spec, &entry).unwrap().apply(&mut report, &[case]);
        report.results[0].verdict == Verdict::KnownDeviation
    };
    for (pattern, variant, covered) in [
        ("", "indices=constant", true),
        ("[indices=constant]", "indices=constant", true),
        ("[indices=constant]", "execution=compiled,indices=constant", true),
        ("[indices=constant]", "params=constant", false),
        ("[indices=constant]", "", false),
        (" { variant: indices=constant }", "execution=compiled,indices=constant", true),
        (" { variant: 'execution=compiled,indices=constant' }", "indices=constant", false),
        (" { variant: [usual, execution=compiled] }", "execution=compiled", true),
        (" { variant: [usual, execution=compiled] }", "", true),
        (" { variant: usual }", "indices=constant", false),
    ] {
        assert_eq!(covers(pattern, variant), covered, "{pattern} of {variant}");
    }
}

#[test]
fn a_selector_that_can_select_nothing_is_refused() {
    let spec = crate::embedded();
    let wrong = |selector: &str| {
        let entry =
            format!("  - {{ case: tf.gather_nd/*, where: {selector}, verdict: crash, reason: it does }}");
        read(spec, &entry).unwrap_err()
    };
    for (selector, said) in [
        ("{ rank: 4..2 }", "\"4..2\" is no number or range such as 3, 2..4, 5.. or ..4"),
        ("{ rank: -1 }", "rank"),
        ("{ params-dtype: [] }", "has an empty `params-dtype`"),
        ("{ params-dtype: float32 }", "float32"),
        ("{ attribute: batchdims }", "names the attribute \"batchdims\", which no operator of it has"),
        ("{ mode: clip }", "names a mode, and no operator of it has modes"),
        ("{ message: '' }", "has an empty `message`"),
        ("{ expected: no-such-code }", "no-such-code"),
        ("{ policy: {} }", "has an empty `policy`"),
        ("{ variant: execution=constant }", "execution=constant"),
        ("{ variant: [] }", "has an empty `variant`"),
        ("{ varied: usual }", "varied"),
        ("{ rang: 3 }", "rang"),
    ] {
        let text = wrong(selector);
        assert!(text.contains(said), "{selector}: {text}");
    }
    let profile = read(spec, "  - { profile: '*', where: { rank: 3 }, reason: it does }").unwrap_err();
    assert!(profile.contains("has a `where`, which is about cases, and a `profile`"), "{profile}");
}

#[test]
fn a_file_of_schema_1_says_how_it_is_renewed() {
    let spec = crate::embedded();
    let old = "schema: 1\ndrawn:\n  - { operator: tf.gather, kind: crash, reason: it does }\n";
    let wrong = Deviations::parse("old.yaml", old, spec, &spec.cases).unwrap_err();
    let help = "\nhelp: `gatherspec run --deviations old.yaml --write-deviations NEW`, followed by the backend, drafts it";
    assert!(
        wrong.starts_with("old.yaml: schema 1 is unknown, 2 is expected") && wrong.contains(help),
        "{wrong}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.yaml");
    std::fs::write(&path, old).unwrap();
    assert!(Deviations::read(&path, spec, &spec.cases).is_err());
    Deviations::read_to_draft(&path, spec, &spec.cases).unwrap();
    // What is new does not pass for old, nor the reverse.
    std::fs::write(&path, old.replace("schema: 1", "schema: 2")).unwrap();
    let wrong = Deviations::read_to_draft(&path, spec, &spec.cases).unwrap_err();
    assert!(wrong.contains("has a `kind` or `may`"), "{wrong}");
}
