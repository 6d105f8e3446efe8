//! How a question is answered for an operator, by the cases of a specification.

use super::{Answer, Question};
use crate::case::Case;
use crate::signature::Signature;
use crate::specification::Specification;

impl Question {
    /// The cases that answer the question for an operator.
    #[must_use]
    pub fn answer<'s>(&self, spec: &'s Specification, page: &Signature) -> Answer<'s> {
        if let Some(case) = self.cases.get(&page.operator).and_then(|id| spec.case(id)) {
            return Answer::Cases(vec![case]);
        }
        let form = page.form.to_string();
        let Some(names) = self.family.get(&form) else { return Answer::OtherForm };
        let own: Vec<&Case> = spec.cases.iter().filter(|case| case.call.operator == page.operator).collect();
        let asked = names.iter().map(|name| one_per_mode(&own, page, &form, name));
        match asked.into_iter().find(|cases| !cases.is_empty()) {
            Some(cases) => Answer::Cases(cases),
            None => Answer::LeftOut(why_not(spec, page, &form, names)),
        }
    }
}

/// Whether a case is the family case called `name`: `<topic>/<name>`, optionally followed by the dtypes of `for-each`, as in
/// `dtypes/numbers[i8]`.
fn is_named(case: &Case, form: &str, name: &str) -> bool {
    let (plain, choice) = split(name);
    let family = case.family.as_deref().and_then(|id| id.strip_prefix(form)?.strip_prefix('/'));
    let suffix = case.id.strip_prefix(case.written.as_str()).unwrap_or_default().strip_prefix('[');
    let chosen = |choice: &str| {
        let rest = suffix.and_then(|suffix| suffix.strip_prefix(choice));
        rest.is_some_and(|rest| rest.starts_with([',', ']']))
    };
    family == Some(plain) && choice.is_none_or(chosen)
}

/// Splits a name into the plain name and the dtypes of `for-each`.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        Some((plain, choice)) => (plain, Some(choice)),
        None => (name, None),
    }
}

/// The first case with that name in each mode, the default mode first.
fn one_per_mode<'s>(own: &[&'s Case], page: &Signature, form: &str, name: &str) -> Vec<&'s Case> {
    let named = || own.iter().copied().filter(|case| is_named(case, form, name));
    if page.modes().is_empty() {
        return named().take(1).collect();
    }
    let modes = page.modes().iter();
    modes
        .filter_map(|mode| named().find(|case| page.mode_sent(&case.call.attributes) == Some(mode)))
        .collect()
}

/// Why an operator has none of the cases.
fn why_not(spec: &Specification, page: &Signature, form: &str, names: &[String]) -> String {
    let left_out = names.iter().find_map(|name| {
        let id = format!("{form}/{}", split(name).0);
        spec.left_out.iter().find(|one| one.operator == page.operator && one.case == id)
    });
    left_out.map_or_else(|| "it takes no case of the family".to_owned(), |one| one.why.clone())
}
