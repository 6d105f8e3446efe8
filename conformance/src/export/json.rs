//! A run as a JSON object, with what it allows as data: for formats that are not here.

use std::io;

use gather_conformance::internals::judge::describe_allowed;
use gather_conformance::internals::words::call_line;
use gather_conformance::protocol::{CallMessage, TensorMessage};
use gather_spec::case::Allowed;
use gather_spec::{Run, Specification};
use serde_json::{Map, Value, json};

use super::writer::{Export, Tests};

/// One line for each run, in a file for each operator.
pub(super) struct Lines<'s> {
    spec: &'s Specification,
    /// The operator of the last runs, their lines and their ids.
    last: (String, String, Vec<String>),
}

impl<'s> Lines<'s> {
    pub(super) const fn new(spec: &'s Specification) -> Self {
        Self { spec, last: (String::new(), String::new(), Vec::new()) }
    }
}

impl Tests for Lines<'_> {
    fn add(&mut self, made: &Run, to: &mut Export<'_>) -> io::Result<()> {
        let operator = made.call.operator.as_str();
        if self.last.0 != operator {
            self.finish(to)?;
            operator.clone_into(&mut self.last.0);
        }
        let (_, text, runs) = &mut self.last;
        text.push_str(&run(self.spec, made).to_string());
        text.push('\n');
        runs.push(made.id.clone());
        to.manifest.calls += 1;
        Ok(())
    }

    fn finish(&mut self, to: &mut Export<'_>) -> io::Result<()> {
        let (operator, text, runs) = std::mem::take(&mut self.last);
        if runs.is_empty() { Ok(()) } else { to.put(format!("{operator}.jsonl"), &text, false, runs) }
    }
}

/// A run, with what it has from its case: its call in words and as a message of the protocol, and what is allowed under which
/// policies, in words and as data.
pub(crate) fn run(spec: &Specification, run: &Run) -> Value {
    let case = &run.case;
    let clauses =
        run.clauses.iter().map(|id| json!({ "id": id, "text": spec.clause(id).map(|one| one.text.trim()) }));
    let expect = run.expect.arms.iter().map(|arm| {
        json!({
            "when": { "bad": arm.when.bad, "negative": arm.when.negative, "empty-axis": arm.when.empty_axis },
            "allowed": describe_allowed(&arm.allowed),
            "outcomes": arm.allowed.iter().map(allowed).collect::<Vec<_>>(),
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

/// An outcome that passes. Any of several does.
fn allowed(allowed: &Allowed) -> Value {
    match allowed {
        Allowed::Output(output) => json!({ "output": TensorMessage::new(output) }),
        Allowed::Filled(filled) => {
            let zeroed = TensorMessage::new(&filled.zeroed);
            let filled_at: &[usize] = &filled.at;
            json!({ "output": zeroed, "filled": { "at": filled_at, "with": filled.fill } })
        }
        Allowed::Shape(shape) => json!({ "any-output": { "shape": shape.to_vec() } }),
        Allowed::Error(code, fields) => {
            let fields = serde_json::to_value(fields).unwrap_or_default();
            let stated = fields.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
            let mut error = Map::from_iter([("code".to_owned(), json!(code))]);
            error.extend(stated.map(|(name, value)| (name.clone(), value.clone())));
            json!({ "error": error })
        }
        Allowed::AnyError => json!({ "error": {} }),
        Allowed::Unspecified => json!({ "anything": "but a crash" }),
    }
}
