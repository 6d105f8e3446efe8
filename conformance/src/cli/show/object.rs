//! What `show --format json` prints: a case, a clause or an operator as a JSON object.

use std::sync::Arc;

use gather_spec::{Case, Clause, Run, Signature, Specification};
use serde_json::{Value, json};

use gather_conformance::internals::judge::describe_allowed;
use gather_conformance::internals::words::call_line;
use gather_conformance::protocol::CallMessage;

/// A run, with what it has from its case: its call in words and as a message of the protocol, and in words what is allowed under which policies.
pub(super) fn run(spec: &Specification, run: &Run) -> Value {
    let case = &run.case;
    let clauses =
        run.clauses.iter().map(|id| json!({ "id": id, "text": spec.clause(id).map(|one| one.text.trim()) }));
    let expect = run.expect.arms.iter().map(|arm| {
        json!({
            "when": { "bad": arm.when.bad, "negative": arm.when.negative, "empty-axis": arm.when.empty_axis },
            "allowed": describe_allowed(&arm.allowed),
        })
    });
    let message = CallMessage::new(0, &run.call);
    json!({
        "id": run.id, "operator": run.call.operator, "clauses": clauses.collect::<Vec<_>>(), "basis": case.basis,
        "documented": case.documented, "family": case.family, "why": case.why, "history": case.history,
        "provenance": case.provenance, "call": call_line(&run.call), "operands": message.operands,
        "attributes": run.call.attributes, "expect": expect.collect::<Vec<_>>(),
    })
}

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
