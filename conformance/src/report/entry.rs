//! The entry of a report for one case.

use std::sync::Arc;
use std::time::Duration;

use gather_spec::{Call, Case, Profile, Tensor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::backend::Dtypes;
use crate::difference::{Difference, Sides};
use crate::judge::Verdict;
use crate::runner::CaseResult;

/// The result of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Entry {
    /// The case's id.
    pub id: String,
    /// Its operator.
    pub operator: String,
    /// The clauses that it tests.
    #[cfg_attr(feature = "cli", schemars(with = "Vec<String>"))]
    pub clauses: Arc<[String]>,
    /// The dtypes of the call as sent, if the case leaves any open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtypes: Option<Dtypes>,
    /// The profile that it was judged under; null for a kind of failures of a campaign.
    #[cfg_attr(feature = "cli", schemars(with = "Option<crate::schema_names::Policies>"))]
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
    /// The layout and the number of threads of the failing run, if it was not the first run.
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
    #[cfg_attr(feature = "cli", schemars(with = "Option<f64>"))]
    pub duration: Option<Duration>,
    /// The size of the call.
    #[serde(skip)]
    pub size: Size,
}

/// The size of a call. The smaller one is the easier to understand: a call with elements before one without, then by elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Whether some operand has no elements.
    pub is_empty: bool,
    /// The number of elements of all operands.
    pub elements: usize,
    /// The largest dim of all operands.
    pub dim: usize,
}

impl Size {
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
    /// The entry for a case, from its result.
    #[must_use]
    pub fn new(case: &Case, result: CaseResult) -> Self {
        let failed = result.verdict != Verdict::Pass;
        let shown = |text: String| failed.then_some(text);
        let call = result.call.as_ref().unwrap_or(&case.call);
        Self {
            dtypes: result.call.as_ref().filter(|_| case.open.is_open()).map(|call| Dtypes::of(case, call)),
            id: result.id,
            operator: case.call.operator.to_string(),
            clauses: case.clauses.clone(),
            profile: result.profile,
            verdict: result.verdict,
            observed: None,
            reason: None,
            link: None,
            finding: false,
            call: failed.then(|| crate::words::call_line(call)),
            expected: shown(result.expected),
            actual: shown(result.actual),
            difference: result.difference,
            at: result.at,
            note: result.note,
            stderr: result.stderr,
            duration: result.duration,
            size: Size::of(call),
        }
    }

    /// Whether the backend was asked.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        !matches!(self.observed.unwrap_or(self.verdict), Verdict::Unsupported | Verdict::NotRun)
    }

    /// The difference in words, and how to name its two sides.
    pub(crate) fn difference_in_words(&self) -> Option<(String, Sides)> {
        let sides = Sides::of(self.observed.unwrap_or(self.verdict));
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
