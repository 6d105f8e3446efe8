//! Clauses, the documents that they restate, and the ledger of rulings for silent or contradictory documents.

use serde::{Deserialize, Serialize};

use crate::{ErrorCode, Operator, named};

/// A source document: one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Its stable id, such as `tf-gather-nd`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its public address.
    pub address: String,
    /// Its date, if it states one.
    #[serde(default)]
    pub date: Option<String>,
    /// The licence of its text and samples.
    pub licence: String,
    /// Who is to be credited.
    pub attribution: String,
    /// SHA-256 of the text that the clauses were read from, in hexadecimal.
    pub sha256: String,
    /// Section titles, in the page's order.
    pub sections: Vec<String>,
}

/// A documented example. Exactly one case or law transcribes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// `document/number`.
    pub id: String,
    /// Its section on the page.
    pub section: String,
    /// What the page prints for it.
    pub kind: ExampleKind,
    /// What it shows.
    pub what: String,
}

/// What a page prints of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExampleKind {
    /// The call and its output.
    Value,
    /// The shape of the output only.
    Shape,
    /// A relation between calls.
    Law,
}

/// A gather that is deliberately not an operator here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutOfScope {
    /// What it is.
    pub what: String,
    /// Where it occurs.
    pub examples: Vec<String>,
    /// Why it is out of scope.
    pub why: String,
}

/// A case whose id has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// The old id. For a case with `for-each`, without the part that this adds.
    pub from: String,
    /// The new id, likewise.
    pub to: String,
}

named! {
    /// How well a clause is supported, best first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Basis: "basis" {
        /// A document states it.
        Documented = "documented",
        /// It follows from a documented formula.
        Derived = "derived",
        /// The documents are silent or contradict each other. The errata ledger records the decision.
        Ruling = "ruling",
    }
}

impl Basis {
    /// The basis of what rests on several clauses: the weakest of theirs.
    #[must_use]
    pub fn of<'a>(clauses: impl IntoIterator<Item = &'a Clause>) -> Self {
        clauses.into_iter().map(|clause| clause.basis).max().unwrap_or(Self::Documented)
    }
}

/// A section of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Document id.
    pub document: String,
    /// Section title.
    pub section: String,
}

/// A normative statement in our own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// `<operator>.<area>.<name>`. It never changes and is never reused.
    pub id: String,
    /// The statement.
    pub text: String,
    /// Its sources: first the page that it was read from, then others that state the same.
    pub sources: Vec<Section>,
    /// How well it is supported.
    pub basis: Basis,
    /// The error codes that violating it gives.
    pub rejects: Vec<ErrorCode>,
    /// The ids of its errata.
    pub errata: Vec<String>,
    /// The family clauses that it is mapped to, as `<family>/<area>.<name>`.
    pub stands_for: Vec<String>,
}

/// Clauses that are written once for all operators of a form. The family's cases become cases of the operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Family {
    /// Its form.
    pub name: String,
    /// Its clauses, in the order of the file.
    pub clauses: Vec<FamilyClause>,
}

/// A normative statement about a form, in role terms. Basis and sources come from the operator's clause that is mapped to
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyClause {
    /// `<area>.<name>`. It never changes and is never reused.
    pub id: String,
    /// The statement.
    pub text: String,
    /// The error codes that violating it gives.
    pub rejects: Vec<ErrorCode>,
}

/// A family case that an operator of the form does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The operator.
    pub operator: Operator,
    /// `<family>/<topic>/<name>`.
    pub case: String,
    /// The reason.
    pub why: String,
}

/// An entry of the errata ledger: what the documents leave open, the decision, and the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// Its stable id, such as `depth-zero`.
    pub id: String,
    /// The decision in a few words.
    pub title: String,
    /// The documents concerned.
    pub documents: Vec<String>,
    /// The operators concerned.
    pub operators: Vec<Operator>,
    /// What the documents say, paraphrased.
    pub says: String,
    /// The decision.
    pub decision: String,
    /// The evidence.
    pub evidence: Vec<Evidence>,
}

/// Evidence for a ruling or a case: a public link, or a call that anybody can repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A public address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(regex(pattern = "^https://")))]
    pub link: Option<String>,
    /// The tool that was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// What the link shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Evidence {
    /// Whether it has a public link, or a tool with version and call.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.link {
            Some(link) => link.starts_with("https://"),
            None => self.tool.is_some() && self.version.is_some() && self.call.is_some(),
        }
    }
}
