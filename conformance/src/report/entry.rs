//! What a report says of one case.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gather_spec::{Call, Case, DType, Profile, Tensor};
use serde::{Serialize, Serializer};

use crate::difference::{Difference, Sides};
use crate::judge::Verdict;
use crate::runner::CaseResult;

/// What became of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The case.
    pub id: String,
    /// Its operator.
    pub operator: String,
    /// The clauses that it tests.
    pub clauses: Arc<[String]>,
    /// The dtypes that the call was sent in, where the case leaves some open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtypes: Option<Dtypes>,
    /// The profile that it was judged under; absent if the operator is not supported.
    pub profile: Option<Profile>,
    /// The verdict.
    pub verdict: Verdict,
    /// What the verdict would be without deviations, where they make a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Verdict>,
    /// Why the deviation is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where the deviation is talked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Whether users of the backend should know the deviation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub finding: bool,
    /// The call, in words; given for all but a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What was allowed, in words; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was answered, in words; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// Where the output differs from the nearest that is allowed, or of a `nondeterministic` case from the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Box<Difference>>,
    /// The layout and number of threads at which the verdict fell, unless at the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the backend wrote to its standard error meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// How long the backend took, all runs together, in seconds; absent for a case that was not asked.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "seconds")]
    pub duration: Option<Duration>,
    /// How many elements the operands of the call have.
    #[serde(skip)]
    pub size: usize,
}

/// A duration in seconds, to the microsecond.
fn seconds<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    let micros = duration.unwrap_or_default().as_secs_f64() * 1e6;
    serializer.serialize_f64(micros.round() / 1e6)
}

/// The dtypes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Dtypes {
    /// Of params.
    pub params: DType,
    /// Of indices.
    pub indices: DType,
}

impl fmt::Display for Dtypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.params, self.indices)
    }
}

impl Dtypes {
    fn of(case: &Case, call: &Call) -> Self {
        let dtype = |name, of_case: &Tensor| call.operands.get(name).unwrap_or(of_case).dtype();
        Self {
            params: dtype(&case.names.params, case.params()),
            indices: dtype(&case.names.indices, case.indices()),
        }
    }
}

impl Entry {
    /// What is reported of a case and its result.
    #[must_use]
    pub fn new(case: &Case, result: CaseResult) -> Self {
        let failed = result.verdict != Verdict::Pass;
        let shown = |text: String| failed.then_some(text);
        let call = result.call.as_ref().unwrap_or(&case.call);
        let operands = call.operands.tensors();
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
            call: failed.then(|| crate::show::call_line(call)),
            expected: shown(result.expected),
            actual: shown(result.actual),
            difference: result.difference,
            at: result.at,
            note: result.note,
            stderr: result.stderr,
            duration: result.duration,
            size: operands.map(|operand| operand.shape().element_count()).fold(0, usize::saturating_add),
        }
    }

    /// Whether the backend was asked: its call was sent, or could not be because the backend had died.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.observed.unwrap_or(self.verdict) != Verdict::Unsupported
    }

    /// The difference in words, and what its two sides are called.
    pub(crate) fn difference_in_words(&self) -> Option<(String, Sides)> {
        let sides = Sides::of(self.observed.unwrap_or(self.verdict));
        Some((self.difference.as_ref()?.sentence(sides), sides))
    }

    /// The verdict as it is shown: `crash`, or `known-deviation (crash)`.
    #[must_use]
    pub fn label(&self) -> String {
        match (self.verdict, self.observed) {
            (Verdict::KnownDeviation, Some(observed)) => format!("{} ({observed})", self.verdict),
            (verdict, _) => verdict.to_string(),
        }
    }
}
