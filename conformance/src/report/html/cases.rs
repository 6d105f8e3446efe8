//! The cases of a run as columns. A row is a case as it is written; the instances that `for-each` makes of it follow each
//! other and differ only in the end of their ids.

use std::collections::HashMap;

use gather_spec::{Case, Specification};
use rayon::prelude::*;
use serde::Serialize;

use crate::judge::describe_allowed;
use crate::words::call_line;

use super::clauses::Clauses;
use super::texts::Texts;

/// The largest call that is shown though it passes everywhere, in elements of its operands.
pub(super) const SMALL: usize = 48;

/// The cases, with one column per property. Texts, sets of clauses and bases are numbers.
#[derive(Default, Serialize)]
pub(super) struct Cases<'a> {
    /// The operators with their forms.
    operators: Vec<Operator<'a>>,
    /// The ends of ids of a row's instances, as rows share them.
    ends: Vec<Vec<&'a str>>,
    operator: Vec<usize>,
    /// What the ids of the row begin with, up to and with the last `/`.
    folder: Vec<usize>,
    name: Vec<&'a str>,
    end: Vec<usize>,
    set: Vec<usize>,
    basis: Vec<u8>,
    why: Vec<usize>,
    example: Vec<usize>,
    /// The call of the first instance and what it allows, if it is small.
    call: Vec<usize>,
    allowed: Vec<usize>,
}

#[derive(Serialize)]
struct Operator<'a> {
    id: &'a str,
    form: &'static str,
}

impl<'a> Cases<'a> {
    pub(super) fn new(
        cases: &[&'a Case],
        spec: &'a Specification,
        clauses: &mut Clauses<'a>,
        texts: &mut Texts<'a>,
    ) -> Self {
        let rows: Vec<&[&'a Case]> =
            cases.chunk_by(|one, next| common(one) == common(next) && one.clauses == next.clauses).collect();
        let shown: Vec<Option<(String, String)>> = rows.par_iter().map(|row| small(row[0])).collect();
        let (mut columns, mut numbers) = (Self::default(), Numbers::default());
        for (row, shown) in rows.iter().zip(shown) {
            let (folder, name) = split(common(row[0]));
            let (operator, end) =
                (columns.operator_number(row[0], spec, &mut numbers), columns.end_number(row, &mut numbers));
            columns.operator.push(operator);
            columns.folder.push(texts.number(folder));
            columns.name.push(name);
            columns.end.push(end);
            columns.set.push(clauses.set(&row[0].clauses, spec));
            columns.basis.push(row[0].basis as u8);
            columns.why.push(texts.optional(row[0].why.as_deref()));
            columns.example.push(example(row[0], spec).map_or(0, |said| texts.number(said)));
            let (call, allowed) = shown.unwrap_or_default();
            columns.call.push(texts.number(call));
            columns.allowed.push(texts.number(allowed));
        }
        columns
    }

    fn operator_number(&mut self, case: &'a Case, spec: &Specification, numbers: &mut Numbers<'a>) -> usize {
        let id = case.call.operator.as_str();
        *numbers.operators.entry(id).or_insert_with(|| {
            let form = spec.operator(id).map_or("", |signature| signature.form.name());
            self.operators.push(Operator { id, form });
            self.operators.len() - 1
        })
    }

    fn end_number(&mut self, row: &[&'a Case], numbers: &mut Numbers<'a>) -> usize {
        let ends: Vec<&str> = row.iter().map(|case| &case.id[common(case).len()..]).collect();
        if let Some(number) = numbers.ends.get(&ends) {
            return *number;
        }
        self.ends.push(ends.clone());
        numbers.ends.insert(ends, self.ends.len() - 1);
        self.ends.len() - 1
    }
}

/// The numbers of what was mentioned.
#[derive(Default)]
struct Numbers<'a> {
    operators: HashMap<&'a str, usize>,
    ends: HashMap<Vec<&'a str>, usize>,
}

/// The part of an id that all instances of a case share.
fn common(case: &Case) -> &str {
    if case.id.starts_with(&case.written) { &case.written } else { &case.id }
}

fn split(id: &str) -> (&str, &str) {
    id.split_at(id.rfind('/').map_or(0, |slash| slash + 1))
}

/// The documented example that a case transcribes: its id, and what it shows.
fn example(case: &Case, spec: &Specification) -> Option<String> {
    let id = case.documented.as_ref()?;
    let example = spec.examples.iter().find(|example| example.id == *id)?;
    Some(format!("{id} ({}: {})", example.section, example.what))
}

/// The call and what it allows, unless they are long.
fn small(case: &Case) -> Option<(String, String)> {
    let operands = case.call.operands.tensors();
    let elements = operands.map(|operand| operand.shape().element_count()).fold(0, usize::saturating_add);
    (elements <= SMALL && case.sparse.is_none()).then(|| (call_line(&case.call), allowed(case)))
}

/// What a case allows, with a line per policy where they differ.
fn allowed(case: &Case) -> String {
    let arms = case.expect.arms.iter().map(|arm| {
        let bad = arm.when.bad.map(|policy| format!("bad={policy}"));
        let negative = arm.when.negative.map(|policy| format!("negative={policy}"));
        let when: Vec<String> = bad.into_iter().chain(negative).collect();
        let when = if when.is_empty() { String::new() } else { format!("with {}: ", when.join(", ")) };
        format!("{when}{}", describe_allowed(&arm.allowed))
    });
    arms.collect::<Vec<_>>().join("\n")
}
