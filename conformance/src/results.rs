//! Stored results of the whole suite: a JSON file per backend and version.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use gather_spec::call::Variant;
use gather_spec::{Run, Specification};
use serde::{Deserialize, Serialize};

use crate::answers;
use crate::report::{BackendReport, Entry};
use gather_conformance::backend::Identity;
use gather_conformance::internals::files;
use gather_conformance::internals::files::write_whole;
use gather_conformance::internals::judge::Verdict;

/// The version of the file format.
const SCHEMA: u32 = 1;

/// The most characters to store of a call or an outcome.
pub(crate) const LONGEST: usize = 300;

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
    /// Runs that did not pass: all of questions, and of each case of a finding the smallest with that verdict and reason.
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
        let mut operators: BTreeMap<String, BTreeMap<Verdict, usize>> = BTreeMap::new();
        let mut variants: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        let runs = || report.results.iter().flat_map(|entry| &entry.all);
        for entry in runs() {
            *operators.entry(entry.operator.clone()).or_default().entry(entry.as_observed()).or_default() +=
                1;
            let ways: BTreeSet<String> = variant(&entry.id).iter().map(|(_, way)| way.to_string()).collect();
            for way in ways {
                *variants.entry(entry.operator.clone()).or_default().entry(way).or_default() += 1;
            }
        }
        let asked: HashSet<String> = answers::runs(spec).into_iter().map(|run| run.id.clone()).collect();
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
                observed: entry.as_observed(),
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
            deviations: report.results.iter().flat_map(|case| shown(case, &asked)).map(deviation).collect(),
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

/// The runs of a case that did not pass and are kept: all of questions, and of findings the smallest of those that share verdict
/// and reason, in the usual way where that fails.
fn shown<'e>(case: &'e Entry, asked: &HashSet<String>) -> Vec<&'e Entry> {
    let is_asked = |run: &Entry| asked.contains(&Variant::split_id(&run.id).0);
    let mut runs: Vec<&Entry> = case.all.iter().filter(|run| run.as_observed().is_failure()).collect();
    runs.retain(|run| run.finding || is_asked(run));
    runs.sort_by_key(|run| (variant(&run.id).iter().count(), run.size));
    let mut known = HashSet::new();
    runs.retain(|run| is_asked(run) || known.insert((run.as_observed(), &run.reason)));
    runs
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
        let words = match entry.as_observed() {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
