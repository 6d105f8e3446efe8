//! The result of a case on one backend, and of each of its runs. Everything that is printed or written is a view of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gather_spec::{Allowed, Call, Case, ErrorCode, Profile, Run, Tensor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::backend::Dtypes;
use crate::difference::{Difference, Sides};
use crate::facts::{Facts, message};
use crate::judge::Verdict;
use crate::judged::RunResult;

/// The result of a case, or of one of its runs. That of a case has what there is to say about one of the runs: the smallest
/// of those with the worst verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Entry {
    /// The id of the case, or of the run.
    pub id: String,
    /// Its operator.
    pub operator: String,
    /// The run that the other members are about, if that is not the only one and did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Counts of the runs, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// The clauses that it tests.
    #[cfg_attr(feature = "internals", schemars(with = "Vec<String>"))]
    pub clauses: Arc<[String]>,
    /// The dtypes of the call as sent, if the case leaves any open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtypes: Option<Dtypes>,
    /// The profile that it was judged under; null for a kind of failures of a campaign.
    #[cfg_attr(feature = "internals", schemars(with = "Option<crate::schema_names::PolicyNames>"))]
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict without deviations, if they change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// The reason for the deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A link about the deviation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether users of the backend should know of the deviation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub finding: bool,
    /// The call, in words. Like the next two fields, absent for a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What was allowed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was answered, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The difference between the output and the nearest allowed one or, for `nondeterministic`, the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference>>,
    /// The layout and the number of threads of the failing call, if it was not the first call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the backend wrote to standard error during the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// The time of all runs together, in seconds; absent if the case was not sent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "seconds",
        deserialize_with = "from_seconds"
    )]
    #[cfg_attr(feature = "internals", schemars(with = "Option<f64>"))]
    pub duration: Option<Duration>,
    /// The size of the call.
    #[serde(skip)]
    pub size: CallSize,
    /// The results of the runs of a case, in order.
    #[serde(skip)]
    pub all: Vec<Entry>,
    /// Of a run, what deviations may tell it apart by; `None` if it was not asked.
    #[serde(skip)]
    pub facts: Option<Box<Facts>>,
    /// What was tested: alike runs of a case count once.
    #[serde(skip)]
    pub tested: Vec<Test>,
}

/// What a run tests, and whether it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub(crate) clauses: Arc<[String]>,
    /// The errors that were allowed.
    pub(crate) codes: Vec<ErrorCode>,
    pub(crate) tested: Tested,
}

/// Whether something was tested: outside of what the backend declares, within it but not asked, or asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tested {
    #[default]
    Outside,
    NotAsked,
    Asked,
}

/// Counts of the runs of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Runs {
    /// How many there are.
    pub all: usize,
    /// How many the backend was asked.
    pub asked: usize,
    /// The verdicts of those that did not pass, and how many runs have each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<Verdict, usize>,
}

/// `12 of 16 runs asked: 2 crash, 1 wrong-output`
impl fmt::Display for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} runs asked", self.asked, self.all)?;
        let asked = self.verdicts.iter().filter(|(verdict, _)| **verdict != Verdict::Unsupported);
        for (at, (verdict, count)) in asked.enumerate() {
            write!(f, "{} {count} {verdict}", if at == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

/// The size of a call. The smaller one is the easier to understand: a call with elements before one without, then by elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallSize {
    /// Whether some operand has no elements.
    pub is_empty: bool,
    /// The number of elements of all operands.
    pub elements: usize,
    /// The largest dim of all operands.
    pub dim: usize,
}

impl CallSize {
    fn of(call: &Call) -> Self {
        let shapes = || call.operands.tensors().map(Tensor::shape);
        let elements = || shapes().map(gather_spec::Shape::element_count);
        Self {
            is_empty: elements().any(|count| count == 0),
            elements: elements().fold(0, usize::saturating_add),
            dim: shapes().flat_map(|shape| shape.iter().copied()).max().unwrap_or_default(),
        }
    }
}

/// A duration in seconds, to the microsecond.
fn seconds<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    let micros = duration.unwrap_or_default().as_secs_f64() * 1e6;
    serializer.serialize_f64(micros.round() / 1e6)
}

/// Reads such a duration.
fn from_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    seconds.map(Duration::try_from_secs_f64).transpose().map_err(serde::de::Error::custom)
}

impl Entry {
    /// The result of a run.
    #[must_use]
    pub fn new(run: &Run, result: RunResult) -> Self {
        let failed = result.verdict != Verdict::Pass;
        let shown = |text: String| failed.then_some(text);
        let call = result.call.as_ref().unwrap_or(&run.call);
        let code = |allowed: Allowed| if let Allowed::Error(code, _) = allowed { Some(code) } else { None };
        let test = |profile| Test {
            clauses: Arc::clone(&run.clauses),
            codes: run.expect.under(profile).into_iter().filter_map(code).collect(),
            tested: match result.verdict {
                Verdict::Unsupported if result.is_outside => Tested::Outside,
                Verdict::Unsupported | Verdict::NotRun => Tested::NotAsked,
                _ => Tested::Asked,
            },
        };
        Self {
            operator: run.call.operator.to_string(),
            run: None,
            runs: None,
            clauses: Arc::clone(&run.clauses),
            dtypes: result.call.as_ref().filter(|_| run.open.is_open()).map(|call| Dtypes::of(run, call)),
            profile: result.profile,
            verdict: result.verdict,
            observed: None,
            reason: None,
            link: None,
            finding: false,
            call: failed.then(|| crate::words::call_line(call)),
            size: CallSize::of(call),
            all: Vec::new(),
            facts: None,
            tested: result.profile.map(test).into_iter().collect(),
            id: result.id,
            expected: shown(result.expected),
            actual: shown(result.actual),
            difference: result.difference,
            at: result.at,
            note: result.note,
            stderr: result.stderr,
            duration: result.duration,
        }
    }

    /// The same with what deviations may tell the run apart by.
    #[must_use]
    pub fn with_facts(run: &Run, result: RunResult) -> Self {
        let was_asked = result.call.is_some() && result.verdict != Verdict::NotRun;
        let mut entry = Self::new(run, result);
        if was_asked {
            let said =
                message(entry.verdict, entry.actual.as_deref().unwrap_or_default(), entry.stderr.as_deref());
            let facts = Facts::of_run(run, entry.profile.unwrap_or_default(), entry.dtypes, said);
            entry.facts = facts.map(Box::new);
        }
        entry
    }

    /// The result of a case, from those of its runs.
    ///
    /// # Panics
    /// If there are no runs.
    #[must_use]
    pub fn of_case(case: &Case, all: Vec<Self>) -> Self {
        let first = all.first().expect("a case has runs").clone();
        let clauses = Arc::clone(&case.clauses);
        let mut entry = Self { id: case.id.clone(), clauses, all, tested: Vec::new(), ..first };
        for test in entry.all.iter_mut().flat_map(|run| std::mem::take(&mut run.tested)) {
            if !entry.tested.contains(&test) {
                entry.tested.push(test);
            }
        }
        entry.settle();
        entry
    }

    /// The result of a case for which only this run was made.
    #[must_use]
    pub fn alone(run: &Run, result: RunResult) -> Self {
        Self::of_case(&run.case, vec![Self::with_facts(run, result)])
    }

    /// The place of the run that a case shows: the smallest of those with the worst verdict.
    pub(crate) fn worst(&self) -> Option<usize> {
        let runs = self.all.iter().enumerate();
        let by_verdict = runs.max_by_key(|(at, run)| (severity(run.verdict), Reverse((run.size, *at))));
        by_verdict.map(|(at, _)| at)
    }

    /// Concludes the result of a case from those of its runs.
    pub(crate) fn settle(&mut self) {
        let Some(worst) = self.worst() else { return };
        let all = std::mem::take(&mut self.all);
        let first = &all[worst];
        let mut verdicts = BTreeMap::new();
        for run in all.iter().filter(|run| run.verdict != Verdict::Pass) {
            *verdicts.entry(run.verdict).or_default() += 1;
        }
        let asked = all.iter().filter(|run| run.was_asked()).count();
        let runs = (all.len() > 1).then_some(Runs { all: all.len(), asked, verdicts });
        let passed = first.verdict == Verdict::Pass;
        let took = all.iter().filter_map(|run| run.duration);
        *self = Self {
            // An id without brackets means all runs of a case, and is also the id of its run in the default
            // mode.
            run: match first.id == self.id {
                _ if passed => None,
                true => (all.len() > 1).then(|| format!("{}[]", self.id)),
                false => Some(first.id.clone()),
            },
            runs,
            id: std::mem::take(&mut self.id),
            clauses: if passed { Arc::clone(&self.clauses) } else { Arc::clone(&first.clauses) },
            dtypes: first.dtypes.filter(|_| !passed || all.len() == 1),
            duration: took.reduce(Duration::saturating_add),
            facts: None,
            tested: std::mem::take(&mut self.tested),
            all: Vec::new(),
            ..first.clone()
        };
        self.all = all;
    }

    /// Forgets the runs that passed, which a report does not show.
    #[must_use]
    pub fn without_passes(mut self) -> Self {
        self.all.retain(|run| run.verdict != Verdict::Pass);
        self.all.shrink_to_fit();
        self
    }

    /// How many runs were asked.
    #[must_use]
    pub fn runs_asked(&self) -> usize {
        self.runs.as_ref().map_or(usize::from(self.was_asked()), |runs| runs.asked)
    }

    /// The id of the run that the entry is about.
    #[must_use]
    pub fn run_id(&self) -> &str {
        self.run.as_deref().unwrap_or(&self.id)
    }

    /// Adds what a run's call wrote to standard error, unless that is known.
    pub(crate) fn add_stderr(&mut self, text: String) {
        if self.stderr.is_none() {
            if let Some(facts) = &mut self.facts {
                let actual = self.actual.as_deref().unwrap_or_default();
                facts.message = message(self.verdict, actual, Some(&text));
            }
            self.stderr = Some(text);
        }
    }

    /// The verdict without deviations.
    #[must_use]
    pub fn as_observed(&self) -> Verdict {
        self.observed.unwrap_or(self.verdict)
    }

    /// Whether the backend was asked.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        !matches!(self.as_observed(), Verdict::Unsupported | Verdict::NotRun)
    }

    /// The difference in words, and how to name its two sides.
    pub fn difference_in_words(&self) -> Option<(String, Sides)> {
        let sides = Sides::of(self.as_observed());
        Some((self.difference.as_ref()?.sentence(sides), sides))
    }

    /// The verdict as shown: `crash`, or `known-deviation (crash)`.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.verdict, self.observed) {
            (Verdict::KnownDeviation, Some(observed)) => format!("{} ({observed})", self.verdict),
            (verdict, _) => verdict.to_string(),
        }
    }
}

/// How bad a verdict is: that of a case is the worst of its runs. Runs that were not asked take no part if others were.
const fn severity(verdict: Verdict) -> usize {
    match verdict {
        Verdict::Unsupported => 0,
        Verdict::Pass => 1,
        Verdict::KnownDeviation => 2,
        Verdict::NotRun => 3,
        Verdict::UnexpectedPass => 4,
        Verdict::WrongError => 5,
        Verdict::RejectedGoodInput => 6,
        Verdict::AcceptedBadInput => 7,
        Verdict::WrongOutput => 8,
        Verdict::Nondeterministic => 9,
        Verdict::InputChanged => 10,
        Verdict::ProtocolError => 11,
        Verdict::Timeout => 12,
        Verdict::Crash => 13,
    }
}
