//! The report for people: failures with a line to reproduce each, the matrix, and how the run ended.

mod matrix;
mod times;

use std::fmt::Write as _;

use gather_conformance::internals::style;

pub(super) use super::{Label, PageWidth, Report, failures, gaps, painted, remarks, sentence};

/// The most clauses to name in one list.
const CLAUSES: usize = 5;

/// How much the form for people says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// How the run ended.
    Quiet,
    /// Failures and the matrix too.
    Usual,
    /// Durations and the slowest cases too.
    Verbose,
}

/// Renders the report with colours. Output other than a terminal must strip them.
pub(super) fn render(report: &Report, page: PageWidth, verbosity: Verbosity) -> String {
    let labels = Label::of_all(&report.backends);
    let mut text = String::new();
    if verbosity != Verbosity::Quiet {
        found(&mut text, report, &labels, page);
    }
    if verbosity == Verbosity::Verbose {
        times::all(&mut text, report, &labels, page);
    }
    let widest = labels.iter().map(|label| label.short().chars().count()).max().unwrap_or_default();
    for (backend, label) in report.backends.iter().zip(&labels) {
        let name = format!("{:widest$}", label.short());
        sentence(&mut text, backend, &name, page);
        if verbosity != Verbosity::Quiet {
            gaps(&mut text, backend, page, CLAUSES);
        }
    }
    text
}

/// Writes the failures, the matrix and remarks.
fn found(text: &mut String, report: &Report, labels: &[Label], page: PageWidth) {
    for (backend, label) in report.backends.iter().zip(labels) {
        if let Some(why) = &backend.broken {
            let lines = page.lines(2, &format!("{}: {why}", label.short()));
            let _ = writeln!(text, "{}: {}\n", painted(style::BAD, "not run"), lines.join("\n  "));
        }
        failures(text, backend, label, page);
    }
    if !report.operators().is_empty() {
        let _ = writeln!(text, "{}", matrix::matrix(report, labels, page));
    }
    for (backend, label) in report.backends.iter().zip(labels) {
        remarks(text, backend, label, page);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, LazyLock};

    use gather_spec::load::Maker;
    use gather_spec::{Case, Outcome, Profile, Run, Specification, Tensor};
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::report::{CallSize, Entry, Part, ReportFormat};
    use gather_campaign::fuzz::CampaignReport;
    use gather_conformance::builtin;
    use gather_conformance::internals::judge::{Strictness, Verdict};
    use gather_conformance::internals::judged::Judged;

    use super::super::{BackendReport, PartReport, forms};

    static SPEC: LazyLock<Specification> = LazyLock::new(|| Specification::embedded().unwrap());

    /// A report on this many backends, with verdicts of every kind for every operator.
    fn report(backends: usize) -> Report {
        let description = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        // Some dozens of each operator.
        let cases: Vec<_> = SPEC.cases.iter().step_by(4).collect();
        let runs: Vec<Run> = cases.iter().filter_map(|case| Maker::default().first(case)).collect();
        let mut report = Report::new();
        for number in 0..backends {
            let argument = format!("./build/release/backends/number-{number} --fast");
            let mut backend = BackendReport::new(argument, &description, &SPEC);
            for (at, case) in runs.iter().enumerate() {
                let Ok(judged) = Judged::new(&description, case, Strictness::Lenient) else { continue };
                let wrong = Tensor::filled(case.params().dtype(), case.params().shape().clone(), &zero(case));
                let mut entry = Entry::alone(case, judged.answered(&Outcome::Output(wrong.unwrap()), None));
                entry.verdict = Verdict::ALL[at % Verdict::ALL.len()];
                entry.observed =
                    (entry.verdict == Verdict::KnownDeviation).then_some(Verdict::RejectedGoodInput);
                backend.results.push(entry);
            }
            backend.campaign = campaign(number);
            backend.conclude(&cases, &SPEC);
            report.backends.push(backend);
        }
        report
    }

    /// A campaign that one backend had, with failures that are known and others.
    fn campaign(number: usize) -> Vec<PartReport> {
        let left_out = PartReport::left_out(Part::Drawn, 1, 4000, "compared with itself: left out");
        if number == 0 {
            return vec![left_out];
        }
        let group = |verdict: &str, count: u64| {
            format!(
                r#"{{ "key": {{ "law": "permuted-indices", "operator": "tf.gather", "verdict": "{verdict}", "strings": true }},
                    "count": {count}, "first": 7, "example": null }}"#
            )
        };
        let groups = [group("rejected-good-input", 1), group("wrong-output", 1234)].join(",");
        let found = format!(
            r#"{{ "schema": 1, "campaign": {{ "suite": "0", "generators": 1, "backend": "mine", "against": "laws", "seed": 1,
                "edges_in": 4, "cases": 2000 }}, "shard": {{ "number": 1, "of": 1 }}, "done": 2000, "complete": true,
                "backend": {{ "name": "mine", "version": "1", "language": "C" }}, "digest": "0", "seconds": 1.0,
                "counts": {{ "permuted-indices": {{ "held": 765, "broken": 1235 }} }}, "groups": [{groups}] }}"#
        );
        let repeat = "gatherspec fuzz --laws --seed 1 --edges 4 --cases 2000 -- mine".to_owned();
        let found: CampaignReport = serde_json::from_str(&found).unwrap();
        let mut laws = found.part(Part::Laws, repeat);
        laws.kinds[0].entry.observed =
            Some(std::mem::replace(&mut laws.kinds[0].entry.verdict, Verdict::KnownDeviation));
        vec![left_out, laws]
    }

    fn zero(case: &Run) -> gather_spec::Element {
        gather_spec::Element::zero(case.params().dtype())
    }

    fn plain(report: &Report, page: PageWidth) -> String {
        anstream::adapter::strip_str(&render(report, page, Verbosity::Usual)).to_string()
    }

    #[test]
    fn the_matrix_fits_the_page_whatever_the_number_of_backends() {
        for backends in [1, 2, 3, 6] {
            let report = report(backends);
            for width in [80, 120, 200] {
                let text = matrix::matrix(&report, &Label::of_all(&report.backends), PageWidth::wide(width))
                    .to_string();
                let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap();
                assert!(widest <= width, "{backends} backends take {widest} of {width} columns:\n{text}");
                let words: BTreeSet<&str> = text.split_whitespace().collect();
                for verdict in Verdict::ALL.iter().filter(|verdict| **verdict != Verdict::Unsupported) {
                    let whole = [verdict.name().to_owned(), format!("{verdict},")];
                    assert!(whole.iter().any(|whole| words.contains(whole.as_str())), "{verdict} in\n{text}");
                }
            }
        }
    }

    #[test]
    fn each_kind_of_failures_of_a_campaign_is_shown_in_every_form() {
        let report = report(2);
        let text = plain(&report, PageWidth::ENDLESS);
        let kind = "law permuted-indices: tf.gather wrong-output, strings";
        let junit = forms::render(&report, ReportFormat::Junit);
        for form in [&text, &junit, &forms::render(&report, ReportFormat::Markdown)] {
            let form = form.replace("\\_", "_");
            for words in
                [kind, "  law        permuted-indices: ", "1234 times in 2000, first in case 7 of seed 1"]
            {
                assert!(form.contains(words), "{words}\n{form}");
            }
            assert!(form.contains("reproduce  gatherspec fuzz --laws "), "{form}");
        }
        // A known failure is not shown as one.
        assert!(!text.contains("rejected-good-input, strings on"), "{text}");
        assert!(
            junit.contains("name=\"law permuted-indices: tf.gather rejected-good-input, strings\""),
            "{junit}"
        );
        let markdown = forms::render(&report, ReportFormat::Markdown);
        let known =
            "checked 2000 of 2000: 765 hold, 1234 wrong-output, 1 known-deviation (rejected-good-input)";
        assert!(markdown.contains(known), "{markdown}");
        assert!(markdown.contains("| drawn calls | compared with itself: left out |"), "{markdown}");
    }

    #[test]
    fn no_word_of_a_failure_is_broken() {
        let report = report(1);
        let whole = plain(&report, PageWidth::ENDLESS);
        let whole: BTreeSet<&str> = whole.split_whitespace().collect();
        for line in
            plain(&report, PageWidth::wide(80)).lines().filter(|line| !line.starts_with(['│', '┌', '└', '╞']))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            let element = |word: &str| word.contains(['…', '^', '[', ']', '\\']);
            let broken = words.iter().find(|word| !whole.contains(**word) && !element(word));
            assert_eq!(broken, None, "{line}");
            assert!(line.width() <= 80 || words.iter().any(|word| word.width() > 60), "{line}");
        }
    }

    #[test]
    fn failures_of_one_kind_show_the_smallest_call_and_name_the_others() {
        let of_rows: Vec<_> =
            SPEC.cases.iter().filter(|case| case.id.starts_with("tf.gather_nd/rows/")).collect();
        let with = |clauses: &[String]| {
            let is_alike = |case: &&Arc<Case>| *case.clauses == *clauses;
            of_rows.iter().copied().filter(is_alike).collect::<Vec<_>>()
        };
        let alike = of_rows.iter().map(|case| with(&case.clauses)).max_by_key(Vec::len).unwrap();
        let description = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        let mut backend = BackendReport::new("mine".to_owned(), &description, &SPEC);
        for case in &alike {
            let case = &case.runs()[0];
            let judged = Judged::new(&description, case, Strictness::Lenient).unwrap();
            backend.results.push(Entry::alone(case, judged.answered(&Outcome::refused("no"), None)));
        }
        backend.conclude(&alike, &SPEC);
        backend.results.iter_mut().zip((0..alike.len()).rev()).for_each(|(entry, size)| {
            // The last one has the fewest elements: none at all.
            entry.size = CallSize { is_empty: size == 0, elements: size, dim: size };
        });
        let smallest = backend.results[alike.len() - 2].run_id().to_owned();
        let report = Report { backends: vec![backend], ..Report::new() };
        let text = plain(&report, PageWidth::ENDLESS);
        assert!(alike.len() > 2, "{} cases", alike.len());
        assert!(text.starts_with(&format!("rejected-good-input {smallest} on ")), "{text}");
        assert!(text.contains(&format!("  also       {} more of this verdict", alike.len() - 1)), "{text}");
        assert_eq!(text.matches("\n  reproduce ").count(), 1, "{text}");
        let junit = forms::render(&report, ReportFormat::Junit);
        assert_eq!(junit.matches("reproduce ").count(), alike.len());
    }

    #[test]
    fn calls_that_are_not_supported_for_one_reason_are_one_kind_whatever_their_clauses() {
        let cases: Vec<_> =
            SPEC.cases.iter().filter(|case| case.id.starts_with("tf.gather/batch/")).collect();
        let runs: Vec<Run> = cases.iter().map(|case| case.runs().remove(0)).collect();
        let description = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        let mut backend = BackendReport::new("mine".to_owned(), &description, &SPEC);
        for case in &runs {
            let judged = Judged::new(&description, case, Strictness::Lenient).unwrap();
            let answer = Outcome::Unsupported(format!("no {}", case.call.attributes.len()));
            backend.results.push(Entry::alone(case, judged.answered(&answer, None)));
        }
        backend.conclude(&cases, &SPEC);
        let reasons: BTreeSet<usize> = runs.iter().map(|case| case.call.attributes.len()).collect();
        let report = Report { backends: vec![backend], ..Report::new() };
        let text = plain(&report, PageWidth::ENDLESS);
        assert!(reasons.len() < cases.len());
        assert_eq!(text.matches("\n  reproduce ").count(), reasons.len(), "{text}");
        assert!(text.contains(" more of this verdict and this answer: "), "{text}");
    }

    #[test]
    fn a_name_of_a_stranger_stays_on_its_line() {
        let mut report = report(1);
        report.backends[0].backend.name = format!("\u{1b}[2J\n{}", "x".repeat(500));
        let text = plain(&report, PageWidth::wide(80));
        assert!(
            !text.contains('\u{1b}') && !Label::of_all(&report.backends)[0].full().contains('\n'),
            "{text}"
        );
        assert!(text.lines().filter(|line| line.starts_with('│')).all(|line| line.width() <= 80), "{text}");
    }
}
