//! What `show --format json` prints of a clause or an operator.

use std::sync::Arc;

use gather_spec::{Case, Clause, Signature, Specification};
use serde_json::{Value, json};

/// A clause, with the cases that test it.
pub(super) fn clause(spec: &Specification, clause: &Clause) -> Value {
    let tests = |case: &&Arc<Case>| case.clauses.contains(&clause.id);
    let cases: Vec<&str> = spec.cases.iter().filter(tests).map(|case| case.id.as_str()).collect();
    json!({ "id": clause.id, "basis": clause.basis, "text": clause.text.trim(), "rejects": clause.rejects, "cases": cases })
}

/// An operator: its signature and its clauses.
pub(super) fn operator(spec: &Specification, page: &Signature) -> Value {
    let prefix = format!("{}.", page.operator);
    let clauses = spec.clauses.iter().filter(|clause| clause.id.starts_with(&prefix));
    let clauses: Vec<&str> = clauses.map(|clause| clause.id.as_str()).collect();
    json!({
        "id": page.operator, "summary": page.summary.trim(), "documents": page.documents, "clauses": clauses,
        "signature": page,
    })
}
