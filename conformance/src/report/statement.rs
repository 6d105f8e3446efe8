//! Conformance statements: which backend did what with which cases, in numbers and digests that anyone who has the report
//! and the suite computes again.
//!
//! A statement is no signature. Who alters a report can compute its statement anew; but then the digest of the cases, or of
//! the results, is not the one that was published.

use std::collections::BTreeMap;

use gather_spec::Profile;
use serde::{Deserialize, Serialize};

use crate::backend::Identity;
use crate::judge::Verdict;

use super::campaign::Part;

/// What a backend did with a set of cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Statement {
    /// The version of the suite.
    pub suite: String,
    /// The cases.
    pub cases: CaseSet,
    /// The backend.
    pub backend: Identity,
    /// By operator, the policies that the backend declares.
    #[cfg_attr(feature = "cli", schemars(with = "BTreeMap<String, super::schema::Policies>"))]
    pub profile: BTreeMap<String, Profile>,
    /// How often each verdict occurs among the cases.
    pub verdicts: BTreeMap<Verdict, usize>,
    /// The SHA-256 of the results: of a line per case with id, verdict, and the observed verdict or `-`.
    pub results: String,
    /// The campaign after the cases.
    pub campaign: Vec<Tested>,
    /// What makes the exit status of the run other than 0.
    pub failures: usize,
}

/// A set of cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CaseSet {
    /// How many there are.
    pub count: usize,
    /// The SHA-256 of a line per case, ordered by id: the SHA-256 of its canonical form, two spaces, and the id.
    pub sha256: String,
}

/// A part of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Tested {
    /// Which part.
    pub part: Part,
    /// The seed.
    pub seed: u64,
    /// How many answers were compared.
    pub compared: u64,
    /// The sum of the digests of all drawn cases.
    pub digest: String,
    /// How often each verdict occurs among the failures.
    pub verdicts: BTreeMap<Verdict, u64>,
}
