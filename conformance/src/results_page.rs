//! The page of kept results, with the findings of each backend.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::adapters;
use crate::finding::{self, Notes};
use crate::results::{Results, read};
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};

/// The results page, generated from the files in a folder.
///
/// # Errors
/// If a file cannot be read, or does not hold results.
pub fn page(folder: &Path) -> io::Result<String> {
    let results = read(folder)?;
    let mut text = INTRODUCTION.to_owned();
    table(&mut text, &results);
    backends(&mut text, &results);
    text.push_str(FINDINGS);
    let notes = Notes::read(folder)?;
    results.iter().for_each(|of| findings(&mut text, of, &notes));
    Ok(text)
}

const INTRODUCTION: &str = "\
# What frameworks do

Results of the whole suite on third-party backends. Each JSON file here holds one backend in one version, written by
`gatherspec run --backend NAME --results conformance/results`. `GATHERSPEC_BLESS=1 cargo test --test program generated` makes
this page from them, and a test compares the two.

The table counts verdicts as observed. An entry in the backend's `deviations.yaml` explains each one that is neither
`pass` nor `unsupported`: a bug, or a limit.
`unsupported` counts the cases whose dtypes a backend does not declare. Under variants stands how many of the runs were made in
a way besides [the usual one](../PROTOCOL.md#variants): none in files of an earlier version.

";

const FINDINGS: &str = "
## Findings

What users of a framework should know, each with one of its cases, in the usual way where that shows it. Uninitialised memory looks different in every run.
`gatherspec show` prints a text for an issue of the library. Its state there is in `upstream.yaml`, by hand.
";

fn table(text: &mut String, results: &[Results]) {
    let cells =
        results.iter().flat_map(|of| of.operators.iter().map(move |(operator, found)| (operator, of, found)));
    let mut cells: Vec<_> =
        cells.filter_map(|(operator, of, found)| Some((operator, of, counts(found)?))).collect();
    cells.sort_by_key(|(operator, of, _)| (*operator, &of.backend.name));
    text.push_str("| operator | backend | verdicts | variants |\n| --- | --- | --- | --- |\n");
    for (operator, of, counts) in cells {
        let ways = of.variants.get(operator).into_iter().flatten();
        let ways: Vec<_> = ways.map(|(way, count)| format!("{count} {way}")).collect();
        let (name, version) = (&of.backend.name, &of.backend.version);
        let _ = writeln!(text, "| {operator} | {name} {version} | {counts} | {} |", ways.join(", "));
    }
}

/// Counts in words, unless the backend supports nothing of the operator.
fn counts(of: &BTreeMap<Verdict, usize>) -> Option<String> {
    if of.keys().all(|verdict| *verdict == Verdict::Unsupported) {
        return None;
    }
    let words: Vec<_> = of.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
    Some(words.join(", "))
}

fn backends(text: &mut String, results: &[Results]) {
    text.push_str("\n## Backends\n\n");
    for of in results {
        let summary = adapters::adapter(&of.argument).map(|adapter| adapter.manifest().summary);
        let summary = summary.map(|summary| format!(": {summary}")).unwrap_or_default();
        let _ =
            writeln!(text, "- **{} {}** on {}{summary}.", of.backend.name, of.backend.version, of.platform);
        for departure in &of.departures {
            let _ = writeln!(text, "  - {departure}");
        }
    }
}

/// The findings of a backend, with one case for each.
fn findings(text: &mut String, of: &Results, notes: &Notes) {
    let all = finding::all(of, notes);
    if !all.is_empty() {
        let _ = writeln!(text, "\n### {} {}", of.backend.name, of.backend.version);
    }
    for finding in all {
        let (first, reason, observed) = (finding.shown(), finding.reason, finding.observed);
        let source = first.link.as_ref().map(|link| format!(" ([source]({link}))")).unwrap_or_default();
        let more = match finding.cases() - 1 {
            0 => String::new(),
            1 => ", and in one more case".to_owned(),
            more => format!(", and in {more} more cases"),
        };
        let _ = writeln!(text, "\n**{reason}**{source}\n\n- verdict: `{observed}`{more}");
        if let Some(versions) = notes.since(&finding) {
            let _ = writeln!(text, "- versions: {versions}");
        }
        let reproduce = Reproduction::anywhere(BackendNaming::Option, &of.argument, &[]).case(&first.case);
        let show = format!("gatherspec show '{}'", finding.id());
        let lines = [
            ("clause", Some(first.clauses.join(", "))),
            ("call", Some(first.call.clone())),
            ("difference", first.difference.clone()),
            ("documented", Some(first.expected.clone())),
            ("actual", Some(first.actual.clone())),
            ("reproduce", Some(reproduce)),
            ("text for an issue", Some(show)),
        ];
        for (name, value) in lines.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            let _ = writeln!(text, "- {name}: `{}`", value.replace('`', "'"));
        }
        let _ = writeln!(text, "- upstream: {}", notes.state(&finding));
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{BadIndex, DType, NegativeIndex, Outcome, Profile, Tensor, Variant};

    use super::*;
    use crate::report::{BackendReport, Entry};
    use crate::results::LONGEST;
    use gather_conformance::backend::{Description, Identity};
    use gather_conformance::internals::difference::Difference;
    use gather_conformance::internals::judged::RunResult;

    #[test]
    fn what_is_kept_of_a_report_makes_a_page_with_its_finding() {
        let spec = crate::embedded();
        let backend =
            Identity { name: "a/b".to_owned(), version: "1.0".to_owned(), language: "C".to_owned() };
        let description = Description { backend, operators: BTreeMap::new() };
        let mut report = BackendReport::new("mine".to_owned(), &description, spec);
        let case = &spec.cases.iter().find(|case| case.operator().as_str() == "tf.gather").unwrap().runs()[0];
        let result = |verdict| RunResult {
            call: None,
            id: case.id.clone(),
            profile: None,
            verdict,
            expected: "x".repeat(LONGEST + 1),
            actual: "`two\nlines`".to_owned(),
            difference: None,
            at: None,
            note: None,
            stderr: None,
            duration: None,
            is_outside: false,
        };
        let mut differs = result(Verdict::WrongOutput);
        let tensor = |last: u32| {
            let elements = (0..1000).chain([last]).collect();
            Outcome::Output(Tensor::new(DType::I32, [1001], elements).unwrap())
        };
        differs.difference = Difference::between(&tensor(1000), &tensor(7)).map(Box::new);
        let differs = Entry {
            verdict: Verdict::KnownDeviation,
            observed: Some(Verdict::WrongOutput),
            reason: Some("the last one is lost".to_owned()),
            finding: true,
            ..Entry::new(case, differs)
        };
        let known = Entry {
            verdict: Verdict::KnownDeviation,
            observed: Some(Verdict::Crash),
            reason: Some("it divides by zero".to_owned()),
            finding: true,
            ..Entry::new(case, result(Verdict::Crash))
        };
        // The same in a variant, which comes first and is not kept, and in another case.
        let constant: Variant = "indices=constant,shapes=symbolic".parse().unwrap();
        let varied = Entry { id: constant.in_id(&case.id), ..known.clone() };
        let further = Entry { id: format!("{}-and-longer", case.id), ..known.clone() };
        let asked = |id: &str, verdict, profile| {
            let case = &spec.run(id).unwrap();
            Entry::new(case, RunResult { id: id.to_owned(), profile, ..result(verdict) })
        };
        let zero = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
        // It was made in a variant only.
        let mut passed = asked("tf.gather/bad-index/minus-one", Verdict::Pass, Some(zero));
        passed.id = "tf.gather/bad-index/minus-one[indices=constant]".to_owned();
        let refused = asked("tf.gather/axis/minus-one", Verdict::Unsupported, None);
        let lacking = asked("numpy.take/bad-index/minus-one", Verdict::Unsupported, None);
        let runs = vec![Entry::new(case, result(Verdict::Pass)), varied, known, differs];
        let alone = [further, passed, refused, lacking].map(|run| vec![run]);
        let all = std::iter::once(runs).chain(alone);
        report.results = all.map(|runs| Entry::of_case(&case.case, runs)).collect();

        let folder = tempfile::tempdir().unwrap();
        let path = Results::new(&report, spec).write(folder.path()).unwrap();
        assert_eq!(path.file_name().unwrap(), "a-b-1.0.json");
        let mut long = Results::new(&report, spec);
        long.backend.name = "é".repeat(500);
        let other = tempfile::tempdir().unwrap();
        let long = long.write(other.path()).unwrap();
        assert_eq!(long.file_name().unwrap().to_str().unwrap(), format!("{}-1.0.json", "-".repeat(60)));
        let page = page(folder.path()).unwrap();
        for words in [
            "| tf.gather | a/b 1.0 | 2 pass, 1 wrong-output, 1 unsupported, 3 crash | 2 constant, 1 symbolic |",
            "### a/b 1.0\n\n**it divides by zero**\n\n- verdict: `crash`, and in one more case\n",
            "- actual: `'two lines'`\n",
            "xx…`\n",
            "- difference: `first difference at [1000]: expected 1000, actual 7; 1 of 1001 elements differs`\n",
            ", 998, 999, 1000]`\n",
            ", 998, 999, 7]`\n",
            &format!("`gatherspec run --backend mine --case '{}'`", case.id),
        ] {
            assert!(page.contains(words), "{words}\nis not in\n{page}");
        }
        let kept = read(folder.path()).unwrap();
        let crashes = kept[0].deviations.iter().filter(|run| run.observed == Verdict::Crash);
        let crashes: Vec<&str> = crashes.map(|run| &*run.case).collect();
        assert_eq!(crashes, [&case.id, &format!("{}-and-longer", case.id)]);
        let answers = [
            ("tf.gather/bad-index/minus-one", "`[[11, 12], [0, 0]]`"),
            ("tf.gather/axis/minus-one", "unsupported"),
        ];
        for (case, words) in answers {
            assert_eq!(kept[0].answer(case).unwrap(), words);
        }
        assert_eq!(kept[0].answers.len(), 2);
        assert_eq!(kept[0].answer("tf.gather/axis/zero"), None);
        // A file that was stored before there were differences.
        let text = std::fs::read_to_string(&path).unwrap();
        let old: String = text.lines().filter(|line| !line.contains("\"difference\"")).collect();
        assert!(text.contains("\"difference\"") && !old.contains("\"difference\""));
        let old: Results = serde_json::from_str(&old).unwrap();
        assert!(old.deviations.iter().all(|deviation| deviation.difference.is_none()));
        let since = format!("mine:{}: in 0.9, not in 0.8\n", case.id);
        std::fs::write(folder.path().join("since.yaml"), since).unwrap();
        let with_versions = super::page(folder.path()).unwrap();
        assert!(
            with_versions
                .contains("- verdict: `crash`, and in one more case\n- versions: in 0.9, not in 0.8\n"),
            "{with_versions}"
        );
        assert!(!page.contains("- versions"));
    }
}
