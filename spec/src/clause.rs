//! Clauses, the documents they restate, and the ledger of rulings where documents are silent or disagree.

use serde::{Deserialize, Serialize};

use crate::{ErrorCode, Operator, named};

/// A source page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Stable id, such as `tf-gather-nd`.
    pub id: String,
    /// The page's title.
    pub title: String,
    /// Its public address.
    pub address: String,
    /// Its date, if it states one.
    #[serde(default)]
    pub date: Option<String>,
    /// The licence of its text and samples.
    pub licence: String,
    /// Whom to credit.
    pub attribution: String,
    /// SHA-256 of the text that the clauses were read from, in hexadecimal.
    pub sha256: String,
    /// Section titles, in the page's order.
    pub sections: Vec<String>,
}

/// One documented example, by id: each is transcribed as exactly one case or law.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// `document/number`.
    pub id: String,
    /// Where on the page it stands.
    pub section: String,
    /// What the page prints of it.
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

/// A gather that is no operator here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutOfScope {
    /// What it is.
    pub what: String,
    /// Where it is found.
    pub examples: Vec<String>,
    /// Why it is left out.
    pub why: String,
}

/// A case that has another id now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Renamed {
    /// Its old id; of a case with `for-each` without what that adds.
    pub from: String,
    /// Its present id, likewise.
    pub to: String,
}

named! {
    /// How firmly a clause stands, firmest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Basis: "basis" {
        /// A document says so.
        Documented = "documented",
        /// It follows from a documented formula.
        Derived = "derived",
        /// Documents are silent or disagree; the errata ledger says what was decided and why.
        Ruling = "ruling",
    }
}

/// A place on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// Document id.
    pub document: String,
    /// Section title.
    pub section: String,
}

/// One normative statement, in our own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clause {
    /// `<operator>.<area>.<name>`, stable and never reused.
    pub id: String,
    /// What it says.
    pub text: String,
    /// Where it stands: the page it was read from first, then others that say the same.
    pub sources: Vec<Section>,
    /// How firmly it stands.
    pub basis: Basis,
    /// The error codes that a breach of it gives.
    pub rejects: Vec<ErrorCode>,
    /// Ids in the errata ledger.
    pub errata: Vec<String>,
    /// The clauses of families that it stands for, as `<family>/<area>.<name>`.
    pub stands_for: Vec<String>,
}

/// What is written once for all operators of a form: its clauses. Its cases become those of the operators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Family {
    /// The form that it is for.
    pub name: String,
    /// Its clauses, in the order of the file.
    pub clauses: Vec<FamilyClause>,
}

/// One normative statement about a form, in role terms. The clause of an operator that stands for it says where a page
/// has it, and how firmly it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FamilyClause {
    /// `<area>.<name>`, stable and never reused.
    pub id: String,
    /// What it says.
    pub text: String,
    /// The error codes that a breach of it gives.
    pub rejects: Vec<ErrorCode>,
}

/// A case of a family that an operator of its form does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The operator.
    pub operator: Operator,
    /// `<family>/<topic>/<name>`.
    pub case: String,
    /// Why it does not have it.
    pub why: String,
}

/// An entry of the errata ledger: what documents leave open, what is decided, and on what evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erratum {
    /// Stable id, such as `depth-zero`.
    pub id: String,
    /// The decision in a few words.
    pub title: String,
    /// The pages concerned.
    pub documents: Vec<String>,
    /// The operators concerned.
    pub operators: Vec<Operator>,
    /// What the documents say, paraphrased.
    pub says: String,
    /// What holds here.
    pub decision: String,
    /// Why.
    pub evidence: Vec<Evidence>,
}

/// What a ruling or a case rests on: a public link, or a call that anybody can repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A public address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// What to see there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Evidence {
    /// Whether it names a public link, or a tool with version and call.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.link {
            Some(link) => link.starts_with("https://"),
            None => self.tool.is_some() && self.version.is_some() && self.call.is_some(),
        }
    }
}
