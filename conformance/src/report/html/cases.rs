//! The cases of a run as columns.

use std::collections::HashMap;
use std::sync::Arc;

use gather_spec::load::Maker;
use gather_spec::{Case, Run, Specification};
use rayon::prelude::*;
use serde::Serialize;

use gather_conformance::internals::judge::describe_allowed;
use gather_conformance::internals::words::call_line;

use super::clauses::Clauses;
use super::texts::TextTable;

/// The largest call that is shown though it passes everywhere, in elements of its operands.
pub(super) const SMALL: usize = 48;

/// The cases, with one column per property. Texts, sets of clauses and bases are numbers.
#[derive(Default, Serialize)]
pub(super) struct Cases<'a> {
    /// The operators with their forms.
    operators: Vec<OperatorRecord<'a>>,
    operator: Vec<usize>,
    /// What the id begins with, up to and with the last `/`.
    folder: Vec<usize>,
    /// The rest of the id, which the cases of a family share.
    name: Vec<usize>,
    /// How many runs the case has.
    runs: Vec<usize>,
    set: Vec<usize>,
    basis: Vec<u8>,
    why: Vec<usize>,
    example: Vec<usize>,
    /// The call of the first run without its operator, and what it allows, if it is small.
    call: Vec<usize>,
    allowed: Vec<usize>,
}

#[derive(Serialize)]
struct OperatorRecord<'a> {
    id: &'a str,
    form: &'static str,
}

impl<'a> Cases<'a> {
    pub(super) fn new(
        cases: &[&'a Arc<Case>],
        spec: &'a Specification,
        clauses: &mut Clauses<'a>,
        texts: &mut TextTable<'a>,
    ) -> Self {
        let shown = shown(cases);
        let (mut columns, mut operators) = (Self::default(), HashMap::new());
        for (case, shown) in cases.iter().zip(shown) {
            let (folder, name) = case.id.split_at(case.id.rfind('/').map_or(0, |slash| slash + 1));
            let operator = columns.operator_number(case, spec, &mut operators);
            columns.operator.push(operator);
            columns.folder.push(texts.number(folder));
            columns.name.push(texts.number(name));
            columns.runs.push(case.axes.combinations());
            columns.set.push(clauses.set(&case.clauses, spec));
            columns.basis.push(case.basis as u8);
            columns.why.push(texts.optional(case.why.as_deref()));
            columns.example.push(example(case, spec).map_or(0, |said| texts.number(said)));
            let (call, allowed) = shown.unwrap_or_default();
            columns.call.push(texts.number(call));
            columns.allowed.push(texts.number(allowed));
        }
        columns
    }

    fn operator_number(
        &mut self,
        case: &'a Case,
        spec: &Specification,
        numbers: &mut HashMap<&'a str, usize>,
    ) -> usize {
        let id = case.operator().as_str();
        *numbers.entry(id).or_insert_with(|| {
            let form = spec.operator(id).map_or("", |signature| signature.form.name());
            self.operators.push(OperatorRecord { id, form });
            self.operators.len() - 1
        })
    }
}

/// The documented example that a case transcribes: its id, and what it shows.
fn example(case: &Case, spec: &Specification) -> Option<String> {
    let id = case.documented.as_ref()?;
    let example = spec.examples.iter().find(|example| example.id == *id)?;
    Some(format!("{id} ({}: {})", example.section, example.what))
}

/// The call of the first run of each case and what it allows, unless they are long.
fn shown(cases: &[&Arc<Case>]) -> Vec<Option<(String, String)>> {
    let of_group = |group: Vec<usize>| {
        let mut maker = Maker::default();
        let shown = |at: usize| (at, maker.first(cases[at]).as_ref().and_then(small));
        group.into_iter().map(shown).collect::<Vec<_>>()
    };
    let mut shown: Vec<_> = Maker::groups(cases).into_par_iter().map(of_group).flatten_iter().collect();
    shown.sort_unstable_by_key(|(at, _)| *at);
    shown.into_iter().map(|(_, shown)| shown).collect()
}

fn small(run: &Run) -> Option<(String, String)> {
    let operands = run.call.operands.tensors();
    let elements = operands.map(|operand| operand.shape().element_count()).fold(0, usize::saturating_add);
    (elements <= SMALL && run.sparse.is_none()).then(|| {
        let line = call_line(&run.call);
        // Without its operator, one text serves several.
        let operands = line.strip_prefix(run.call.operator.as_str()).map(str::to_owned);
        (operands.unwrap_or(line), allowed(run))
    })
}

/// What a run allows, with a line per policy where they differ.
fn allowed(run: &Run) -> String {
    let arms = run.expect.arms.iter().map(|arm| {
        let bad = arm.when.bad.map(|policy| format!("bad={policy}"));
        let negative = arm.when.negative.map(|policy| format!("negative={policy}"));
        let when: Vec<String> = bad.into_iter().chain(negative).collect();
        let when = if when.is_empty() { String::new() } else { format!("with {}: ", when.join(", ")) };
        format!("{when}{}", describe_allowed(&arm.allowed))
    });
    arms.collect::<Vec<_>>().join("\n")
}
