//! How a question is answered for an operator, by the cases of a specification.

use super::{Answer, Question};
use std::sync::Arc;

use crate::Run;
use crate::case::Case;
use crate::signature::Signature;
use crate::specification::Specification;

impl Question {
    /// The runs that answer the question for an operator.
    #[must_use]
    pub fn answer(&self, spec: &Specification, page: &Signature) -> Answer {
        if let Some(run) = self.cases.get(&page.operator).and_then(|id| spec.run(id)) {
            return Answer::Runs(vec![run]);
        }
        let form = page.form.to_string();
        let Some(names) = self.family.get(&form) else { return Answer::OtherForm };
        let own: Vec<&Arc<Case>> =
            spec.cases.iter().filter(|case| *case.operator() == page.operator).collect();
        let asked = names.iter().map(|name| one_per_mode(&own, page, &form, name));
        match asked.into_iter().find(|runs| !runs.is_empty()) {
            Some(runs) => Answer::Runs(runs),
            None => Answer::LeftOut(why_not(spec, page, &form, names)),
        }
    }
}

/// The runs of the family case called `name`: `<topic>/<name>`, optionally followed by the dtypes of `for-each`, as in
/// `dtypes/numbers[i8]`.
fn named(own: &[&Arc<Case>], form: &str, name: &str) -> Vec<Run> {
    let (plain, choice) = split(name);
    let is_it = |case: &&&Arc<Case>| {
        let family = case.family.as_deref().and_then(|id| id.strip_prefix(form)?.strip_prefix('/'));
        family == Some(plain)
    };
    let chosen = |run: &Run| {
        let rest =
            choice.map(|choice| run.place().strip_prefix('[').and_then(|rest| rest.strip_prefix(choice)));
        rest.is_none_or(|rest| rest.is_some_and(|rest| rest.starts_with([',', ']'])))
    };
    own.iter().filter(is_it).flat_map(|case| case.runs()).filter(chosen).collect()
}

/// Splits a name into the plain name and the dtypes of `for-each`.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((plain, choice)) => (plain, Some(choice)),
        None => (name, None),
    }
}

/// The first run with that name in each mode, the default mode first.
fn one_per_mode(own: &[&Arc<Case>], page: &Signature, form: &str, name: &str) -> Vec<Run> {
    let mut named = named(own, form, name);
    if page.modes().is_empty() {
        named.truncate(1);
        return named;
    }
    let of_mode = |mode| named.iter().find(|run| page.mode_sent(&run.call.attributes) == Some(mode));
    page.modes().iter().filter_map(of_mode).cloned().collect()
}

/// Why an operator has none of the cases.
fn why_not(spec: &Specification, page: &Signature, form: &str, names: &[String]) -> String {
    let left_out = names.iter().find_map(|name| {
        let id = format!("{form}/{}", split(name).0);
        spec.left_out.iter().find(|one| one.operator == page.operator && one.case == id)
    });
    left_out.map_or_else(|| "it takes no case of the family".to_owned(), |one| one.why.clone())
}
