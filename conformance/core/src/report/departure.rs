//! Departures: policies that a backend declares and the documents do not permit. Each needs a deviation with a reason.

use std::fmt;

use gather_spec::{Profile, Specification};
use serde::{Serialize, Serializer};

use crate::backend::Description;
use crate::words::cut;

use super::campaign::Part;

/// The most operators to name in a problem.
const OPERATORS: usize = 5;

/// A policy that a backend declares for an operator and the documents do not permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The operator.
    pub operator: String,
    /// The declared policy: `bad=clamp`.
    pub policy: String,
    /// The reason, if a deviation gives one.
    pub reason: Option<String>,
}

/// A problem that belongs to no case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A departure without a reason.
    Unexplained(Departure),
    /// A deviation about a profile, named by its pattern of operators, without a departure.
    DidNotOccur(String),
    /// A deviation about cases that did not occur.
    CaseDidNotOccur {
        /// The entry, in words.
        entry: String,
        /// An operator that it names. The run included all these cases of it.
        operator: String,
    },
    /// A deviation about the campaign that occurred in more or fewer calls than it says.
    Calls {
        /// The entry, in words.
        entry: String,
        /// The operator.
        operator: String,
        /// The number of calls that it says, or the range.
        calls: String,
        /// The number of calls that deviate so.
        count: u64,
    },
    /// A deviation of operators that the backend does not declare.
    Undeclared {
        /// The entry, in words.
        entry: String,
        /// The operators.
        operators: Vec<String>,
    },
    /// A problem as a report says it.
    Said(String),
    /// The user ended the run, or the backend cannot be restarted, so the campaign is incomplete.
    CampaignEnded {
        /// Why.
        why: String,
        /// Which part of the campaign.
        part: Part,
        /// The number of cases that are done.
        done: u64,
        /// The number of cases of the campaign.
        cases: u64,
    },
    /// The user ended the run, so some cases have no results.
    Interrupted {
        /// The signal.
        signal: String,
        /// The number of cases with results.
        done: usize,
        /// The number of cases.
        cases: usize,
    },
}

/// The departures of a backend.
pub fn departures(description: &Description, spec: &Specification) -> Vec<Departure> {
    let mut found = Vec::new();
    for (operator, capability) in &description.operators {
        // If the call chooses the policy, the declared one means nothing.
        let Some(permitted) = spec.operator(operator).and_then(|page| page.permitted()) else { continue };
        let Profile { bad, negative } = capability.profile;
        let mut depart = |policy| found.push(Departure { operator: operator.clone(), policy, reason: None });
        if !permitted.bad.contains(&bad) {
            depart(format!("bad={bad}"));
        }
        if !permitted.negative.contains(&negative) {
            depart(format!("negative={negative}"));
        }
    }
    found
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operator, policy, reason } = self;
        write!(f, "{operator} declares {policy}, which its documents do not permit")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexplained(departure) => {
                let operator = &departure.operator;
                write!(f, "{departure}; a deviation with `profile: {operator}` and a reason must say why")
            }
            Self::DidNotOccur(profile) => write!(
                f,
                "unexpected-pass: the deviation `profile: {profile}` did not occur, the documents permit what is declared"
            ),
            Self::CaseDidNotOccur { entry, operator } => {
                write!(f, "unexpected-pass: the deviation `{entry}` did not occur in any case of {operator}")
            }
            Self::Calls { entry, operator, count: 0, .. } => {
                write!(
                    f,
                    "unexpected-pass: the deviation `{entry}` did not occur in the campaign on {operator}"
                )
            }
            Self::Calls { entry, operator, calls, count } => write!(
                f,
                "the deviation `{entry}` occurred in {count} calls of the campaign on {operator}, and says {calls}"
            ),
            Self::Undeclared { entry, operators } => write!(
                f,
                "unexpected-pass: the deviation `{entry}` did not occur, the backend does not declare {}",
                cut(operators, OPERATORS, "the specification")
            ),
            Self::Said(text) => f.write_str(text),
            Self::CampaignEnded { why, part, done, cases } => {
                write!(f, "{why}: {done} of {cases} {} were done", part.title())
            }
            Self::Interrupted { signal, done, cases } => {
                write!(f, "interrupted by {signal}: {done} of {cases} cases have results")
            }
        }
    }
}

impl Serialize for Departure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
