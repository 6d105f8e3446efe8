//! Cases: the unit of lists, reports and deviations. A case is a template of a call and of the outcomes that
//! are allowed, and the axes along which both vary. Each combination of them is a run, which is made on
//! demand.

mod expectation;
mod provenance;

use std::sync::Arc;

use crate::clause::Evidence;
use crate::load::{Axes, Template};
use crate::signature::{OperandRole, Signature};
use crate::{Basis, Operator};

pub use expectation::{Allowed, Arm, Expectation, Filled, When};
pub use provenance::Provenance;

/// What one operator is tested for, with the runs that test it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `<operator>/<topic>/<name>`. It never changes.
    pub id: String,
    /// The family case that this is an instance of, as `<family>/<topic>/<name>`.
    pub family: Option<String>,
    /// The documented example that it transcribes.
    pub documented: Option<String>,
    /// The clauses that its runs test.
    pub clauses: Arc<[String]>,
    /// The weakest basis among its clauses.
    pub basis: Basis,
    /// What it distinguishes, if the name does not say so.
    pub why: Option<String>,
    /// Real bugs that it reproduces.
    pub history: Vec<Evidence>,
    /// Where the expectation comes from, unless it was derived from the documents by hand.
    pub provenance: Option<Provenance>,
    /// Whether it belongs to the suite of large calls, which only runs on request.
    pub large: bool,
    /// The names of its params and indices.
    pub names: OperandNames,
    /// The signature of its operator.
    pub signature: Arc<Signature>,
    /// The axes along which its runs vary.
    pub axes: Axes,
    /// What its runs are made from; `None` for a case that is not read from a file.
    pub(crate) template: Option<Template>,
}

impl Case {
    /// A case of an operator that is not read from a file, so that [`Case::runs`] gives none.
    #[must_use]
    pub fn new(id: String, signature: Arc<Signature>) -> Self {
        Self {
            id,
            family: None,
            documented: None,
            clauses: Arc::new([]),
            basis: Basis::Documented,
            why: None,
            history: Vec::new(),
            provenance: None,
            large: false,
            names: OperandNames::of(&signature),
            signature,
            axes: Axes::default(),
            template: None,
        }
    }

    /// The operator.
    #[must_use]
    pub fn operator(&self) -> &Operator {
        &self.signature.operator
    }

    /// The topic, which is the name of its file.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.id.rsplit('/').nth(1).unwrap_or_default()
    }
}

/// The document's names for the operands that every form has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandNames {
    /// The tensor to gather from.
    pub params: Arc<str>,
    /// The tensor that says what to gather.
    pub indices: Arc<str>,
}

impl OperandNames {
    pub(crate) fn of(signature: &Signature) -> Self {
        let name = |role| signature.operand(role).name.clone();
        Self { params: name(OperandRole::Params), indices: name(OperandRole::Indices) }
    }
}
