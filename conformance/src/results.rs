//! Stored results of the whole suite: a JSON file per backend and version, and the page that is generated from them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use gather_spec::call::Variant;
use gather_spec::{Run, Specification};
use serde::{Deserialize, Serialize};

use crate::adapters;
use crate::answers;
use crate::finding::{self, Notes};
use crate::report::{BackendReport, Entry};
use gather_conformance::backend::Identity;
use gather_conformance::internals::files;
use gather_conformance::internals::files::write_whole;
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};

/// The version of the file format.
const SCHEMA: u32 = 1;

/// The most characters to store of a call or an outcome.
const LONGEST: usize = 300;

/// The most bytes of a file with results that is read.
const LONGEST_FILE: u64 = 256 << 20;

/// The most characters of a backend's name, and of its version, in a file name.
const LONGEST_PART: usize = 60;

/// The results of one version of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The version of this format.
    pub schema: u32,
    /// The version of the suite.
    pub suite: String,
    /// Its name on the command line.
    pub argument: String,
    /// Its identity.
    pub backend: Identity,
    /// Where it ran: system and processor.
    pub platform: String,
    /// By operator, how many runs each verdict was observed in.
    pub operators: BTreeMap<String, BTreeMap<Verdict, usize>>,
    /// By operator, how many runs were made in each way besides the usual one. Files from before there were variants lack them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variants: BTreeMap<String, BTreeMap<String, usize>>,
    /// The policies that it declares and the documents do not permit, each with the reason.
    pub departures: Vec<String>,
    /// The runs that it was asked and did not pass.
    pub deviations: Vec<FailedRun>,
    /// Its answers to the cases of questions, in few words. Files from before there were questions lack them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}

/// A run that did not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedRun {
    /// The run's id.
    pub case: String,
    /// The clauses that it tests.
    pub clauses: Vec<String>,
    /// The verdict.
    pub observed: Verdict,
    /// The call in words, shortened if it is long.
    pub call: String,
    /// What was allowed, likewise.
    pub expected: String,
    /// What was answered, likewise.
    pub actual: String,
    /// The difference between outputs, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// The reason, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A link to a discussion, or to the responsible source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether users of the backend should know of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finding: bool,
}

impl Results {
    /// Extracts the results from a report on the whole suite.
    #[must_use]
    pub fn new(report: &BackendReport, spec: &Specification) -> Self {
        let observed = |entry: &Entry| entry.observed.unwrap_or(entry.verdict);
        let mut operators: BTreeMap<String, BTreeMap<Verdict, usize>> = BTreeMap::new();
        let mut variants: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let runs = || report.results.iter().flat_map(|entry| &entry.all);
        for entry in runs() {
            *operators.entry(entry.operator.clone()).or_default().entry(observed(entry)).or_default() += 1;
            let ways: BTreeSet<String> = variant(&entry.id).iter().map(|(_, way)| way.to_string()).collect();
            for way in ways {
                *variants.entry(entry.operator.clone()).or_default().entry(way).or_default() += 1;
            }
        }
        let failed = |entry: &&Entry| observed(entry).is_failure();
        let kept = |text: &Option<String>| shortened(text.as_deref().unwrap_or_default());
        let deviation = |entry: &Entry| {
            // Long outputs are shortened around the difference.
            let texts = entry.difference.as_ref().and_then(|difference| difference.texts_within(LONGEST));
            let (expected, actual) = texts.map_or_else(
                || (kept(&entry.expected), kept(&entry.actual)),
                |(expected, actual)| (shortened(&expected), shortened(&actual)),
            );
            FailedRun {
                case: entry.id.clone(),
                clauses: entry.clauses.to_vec(),
                observed: observed(entry),
                call: kept(&entry.call),
                expected,
                actual,
                difference: entry.difference_in_words().map(|(said, _)| said),
                reason: entry.reason.clone(),
                link: entry.link.clone(),
                finding: entry.finding,
            }
        };
        Self {
            schema: SCHEMA,
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            argument: report.argument.clone(),
            backend: report.backend.clone(),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            operators,
            variants,
            departures: report.departures.iter().map(ToString::to_string).collect(),
            deviations: runs().filter(failed).map(deviation).collect(),
            answers: answers(report, spec),
        }
    }

    /// The answer to a case of a question in few words, if it was stored.
    #[must_use]
    pub fn answer(&self, case: &str) -> Option<String> {
        let deviation = || self.deviations.iter().find(|deviation| deviation.case == case);
        self.answers
            .get(case)
            .cloned()
            .or_else(|| deviation().map(|one| in_few_words(one.observed, &one.actual)))
    }

    /// The answers to a case that did not pass in another way than the usual one: each in few words, with the ways.
    #[must_use]
    pub fn answers_in_other_ways(&self, case: &str) -> Vec<(String, Vec<Variant>)> {
        let mut answers: Vec<(String, Vec<Variant>)> = Vec::new();
        let start = case.trim_end_matches(']');
        for run in self.deviations.iter().filter(|run| run.case.starts_with(start)) {
            let (id, variant) = Variant::split_id(&run.case);
            if id != case || variant.is_usual() {
                continue;
            }
            let words = in_few_words(run.observed, &run.actual);
            match answers.iter_mut().find(|(known, _)| *known == words) {
                Some((_, ways)) => ways.push(variant),
                None => answers.push((words, vec![variant])),
            }
        }
        answers
    }

    /// Writes the file of this backend and version, and returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        // A backend's name may contain path separators, and may be longer than a file name.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let part = |text: &str| text.chars().map(plain).take(LONGEST_PART).collect::<String>();
        let path = folder.join(format!("{}-{}.json", part(&self.backend.name), part(&self.backend.version)));
        std::fs::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(self).expect("results are plain data") + "\n";
        write_whole(&path, text.as_bytes())?;
        Ok(path)
    }
}

/// A backend's answers to the cases of questions, for the operators that it supports. For a pass, that is the outcome allowed
/// under its profile. A run that was made in a variant only answers for the usual one if it passes, and else names its variant.
fn answers(report: &BackendReport, spec: &Specification) -> BTreeMap<String, String> {
    let supported = |entry: &&Entry| entry.verdict != Verdict::Unsupported;
    let runs = || report.results.iter().flat_map(|entry| &entry.all);
    let has: HashSet<&str> = runs().filter(supported).map(|entry| &*entry.operator).collect();
    let mut entries: HashMap<String, (Variant, &Entry)> = HashMap::new();
    for entry in runs().filter(|entry| has.contains(&*entry.operator)) {
        let (id, variant) = Variant::split_id(&entry.id);
        let others = |(other, _): &(Variant, &Entry)| other.iter().count();
        if entries.get(&id).is_none_or(|other| variant.iter().count() < others(other)) {
            entries.insert(id, (variant, entry));
        }
    }
    let answer = |case: Run| {
        let (variant, entry) = entries.get(&case.id)?;
        let words = match entry.observed.unwrap_or(entry.verdict) {
            Verdict::Pass => answers::in_words(&case.expect.under(entry.profile.unwrap_or_default())),
            observed => {
                let words = in_few_words(observed, &shortened(entry.actual.as_deref().unwrap_or_default()));
                if variant.is_usual() { words } else { format!("{words} with {variant}") }
            }
        };
        Some((case.id.clone(), words))
    };
    answers::runs(spec).into_iter().filter_map(answer).collect()
}

/// An answer that did not pass, in few words: an error without its message, an output without dtype and shape.
fn in_few_words(observed: Verdict, actual: &str) -> String {
    let value = |actual: &str| actual.split_once("] ").map(|(_, value)| value.replace('`', "'"));
    match observed {
        Verdict::WrongOutput | Verdict::AcceptedBadInput => {
            value(actual).map_or_else(|| observed.to_string(), |value| format!("`{value}`"))
        }
        Verdict::RejectedGoodInput | Verdict::WrongError => match actual.strip_prefix("error ") {
            Some(said) if !said.starts_with("without a code") => {
                format!("error `{}`", said.split([' ', ':']).next().unwrap_or_default())
            }
            Some(_) => "an error".to_owned(),
            None => "refused".to_owned(),
        },
        other => other.to_string(),
    }
}

/// The variant that an id names.
fn variant(id: &str) -> Variant {
    Variant::split_id(id).1
}

/// The beginning of a text, without the stack trace that follows an empty line.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or_default();
    let mut start: String = text.chars().take(LONGEST).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start.replace('\n', " ")
}

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

/// The results that come with the program.
///
/// # Panics
/// Never: a test reads them.
#[must_use]
pub fn embedded() -> Vec<Results> {
    let kept: &[&[u8]] = include!(concat!(env!("OUT_DIR"), "/kept.rs"));
    kept.iter().map(|bytes| serde_json::from_slice(bytes).expect("a test reads every file")).collect()
}

/// The results in a folder, ordered by file name.
///
/// # Errors
/// If a file cannot be read, or does not hold results.
pub fn read(folder: &Path) -> io::Result<Vec<Results>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &PathBuf| -> io::Result<Results> {
        let bytes = files::read_bytes(path, LONGEST_FILE).map_err(io::Error::other)?;
        serde_json::from_slice(&bytes).map_err(|why| io::Error::other(format!("{}: {why}", path.display())))
    };
    paths.iter().map(read).collect()
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
        let more = match finding.runs.len() - 1 {
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
    use gather_spec::{BadIndex, DType, NegativeIndex, Outcome, Profile, Tensor};

    use super::*;
    use gather_conformance::backend::Description;
    use gather_conformance::internals::difference::Difference;
    use gather_conformance::internals::judged::RunResult;

    #[test]
    fn an_answer_that_is_no_pass_is_told_in_few_words() {
        let table = [
            (Verdict::WrongOutput, "i32 [2] [0, 11]", "`[0, 11]`"),
            (Verdict::AcceptedBadInput, "string [2, 0] [2, 0] without elements", "`[2, 0] without elements`"),
            (Verdict::AcceptedBadInput, "f32 [] 7.0", "`7.0`"),
            (Verdict::RejectedGoodInput, "error without a code: ValueError: no", "an error"),
            (Verdict::WrongError, "error index-depth (bound 3): no", "error `index-depth`"),
            (Verdict::RejectedGoodInput, "unsupported: no", "refused"),
            (Verdict::Crash, "the process was killed", "crash"),
        ];
        for (observed, actual, words) in table {
            assert_eq!(in_few_words(observed, actual), words);
        }
    }

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
        // The same in a variant, which comes first and is not shown.
        let constant: Variant = "indices=constant,shapes=symbolic".parse().unwrap();
        let varied = Entry { id: constant.in_id(&case.id), ..known.clone() };
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
        let all = [Entry::new(case, result(Verdict::Pass)), varied, known, differs, passed, refused, lacking];
        report.results = all.map(|run| Entry::of_case(&case.case, vec![run])).into();

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
            "| tf.gather | a/b 1.0 | 2 pass, 1 wrong-output, 1 unsupported, 2 crash | 2 constant, 1 symbolic |",
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
        assert!(!page.contains("=constant"), "{page}");
        let kept = read(folder.path()).unwrap();
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
        let since = format!("{}: in 0.9, not in 0.8\n", case.id);
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
