//! `questions.yaml`: which case answers which question for which form.
//!
//! Reading it checks the form of the file alone. Whether the cases exist is checked where the file itself is at hand: for
//! a folder, for `gatherspec check`, and by a test for the file that is built in.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use crate::diagnostic::{Diagnostic, Quoted};
use crate::question::Question;
use crate::signature::Form;
use crate::yaml::{Node, Spanned, Text};
use crate::{Case, Operator, Signature};

use super::families::with_nearest;
use super::raw::InOrder;
use super::{SCHEMA, Specification, check_schema, read_file};

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionsFile {
    schema: Spanned<u32>,
    questions: Vec<QuestionEntry>,
}

/// A question as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionEntry {
    id: Spanned<String>,
    question: Spanned<String>,
    #[serde(default)]
    family: InOrder<Spanned<Node>>,
    #[serde(default)]
    cases: InOrder<Spanned<String>>,
}

/// The names of cases that a form is asked, each with its place.
type Names<'t> = Vec<(&'t str, serde_yaml::Location)>;

impl Specification {
    /// Reads the questions; whether their cases exist is for [`Specification::check_questions`].
    pub(super) fn read_questions(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file = parse(text)?;
        self.questions =
            file.questions.iter().map(|entry| question(text, entry)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// The questions of a file, checked against the cases of this specification.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read_question_file(&self, path: &Path) -> Result<Vec<Question>, Diagnostic> {
        let (bytes, name) = (read_file(path)?, path.display().to_string());
        let text = Text::new(&name, &bytes)?;
        let mut alone = Self::default();
        alone.read_questions(text)?;
        self.check_questions(text)?;
        Ok(alone.questions)
    }

    /// Whether every case that a question names exists.
    pub(super) fn check_questions(&self, text: Text<'_>) -> Result<(), Diagnostic> {
        let known: HashSet<String> = self.cases.iter().flat_map(names_for).collect();
        let own: HashSet<&str> = self.cases.iter().map(|case| case.id.as_str()).collect();
        for entry in parse(text)?.questions {
            for (form, names) in &entry.family.0 {
                let names = names_of(text, names)?;
                let unknown =
                    names.iter().find(|(name, _)| !known.contains(&format!("{}/{name}", form.value)));
                if let Some((name, at)) = unknown {
                    return Err(self.no_family_case(text, &form.value, name, *at));
                }
            }
            for (operator, id) in &entry.cases.0 {
                let page = self.operator(&operator.value).ok_or_else(|| self.no_operator(text, operator))?;
                let prefix = format!("{}/", page.operator);
                if !id.value.starts_with(&prefix) || !own.contains(id.value.as_str()) {
                    return Err(self.no_own_case(text, page, id));
                }
            }
        }
        Ok(())
    }

    fn no_family_case(&self, text: Text<'_>, form: &str, name: &str, at: serde_yaml::Location) -> Diagnostic {
        let message = format!("no operator has the case {} of the family `{form}`", Quoted(name));
        let families = self.cases.iter().filter_map(|case| case.family.as_deref());
        let known: BTreeSet<&str> =
            families.filter_map(|id| id.strip_prefix(form)?.strip_prefix('/')).collect();
        let plain = name.split('[').next().unwrap_or_default();
        with_nearest(text.wrong(at, message), plain, known.into_iter())
            .or_help("`gatherspec list cases --format json` has their names under `family`")
    }

    fn no_operator(&self, text: Text<'_>, name: &Spanned<String>) -> Diagnostic {
        let message = format!("unknown operator {}", Quoted(&name.value));
        let known = self.operators.iter().map(|page| page.operator.as_str());
        with_nearest(text.wrong(name.defined, message), &name.value, known)
            .or_help("see `gatherspec list operators`")
    }

    fn no_own_case(&self, text: Text<'_>, page: &Signature, id: &Spanned<String>) -> Diagnostic {
        let message = format!("{} has no case {}", page.operator, Quoted(&id.value));
        let own = self.cases.iter().filter(|case| case.call.operator == page.operator);
        with_nearest(text.wrong(id.defined, message), &id.value, own.map(|case| case.id.as_str()))
            .or_help(&format!("see `gatherspec list cases --operator {}`", page.operator))
    }
}

/// What a question may call a case of a family, with its form: by its name, or with dtypes of `for-each` behind it.
fn names_for(case: &Case) -> Vec<String> {
    let Some(family) = &case.family else { return Vec::new() };
    let suffix = case.id.strip_prefix(case.written.as_str()).unwrap_or_default();
    let choice = suffix.trim_start_matches('[').trim_end_matches(']');
    let ends = choice.match_indices(',').map(|(at, _)| at).chain([choice.len()]).filter(|end| *end > 0);
    let chosen = ends.map(|end| format!("{family}[{}]", &choice[..end]));
    std::iter::once(family.clone()).chain(chosen).collect()
}

/// The file, with an id for each question that no other has.
fn parse(text: Text<'_>) -> Result<QuestionsFile, Diagnostic> {
    let file: QuestionsFile = text.parse()?;
    check_schema(text, &file.schema, SCHEMA)?;
    let mut ids = HashSet::new();
    for QuestionEntry { id, .. } in &file.questions {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if id.value.is_empty() || !id.value.bytes().all(plain) {
            return Err(text
                .wrong(id.defined, format!("{} is no id of a question", Quoted(&id.value)))
                .help("lower-case letters, digits and hyphens are allowed, such as `minus-one`"));
        }
        if !ids.insert(&id.value) {
            return Err(text.wrong(id.defined, format!("two questions have the id `{}`", id.value)));
        }
    }
    Ok(file)
}

fn question(text: Text<'_>, entry: &QuestionEntry) -> Result<Question, Diagnostic> {
    let QuestionEntry { id, question, family, cases } = entry;
    if question.value.trim().is_empty() {
        return Err(text.wrong(question.defined, "the question is missing").help("write it as a sentence"));
    }
    if family.0.is_empty() && cases.0.is_empty() {
        return Err(text
            .wrong(id.defined, format!("no case answers the question `{}`", id.value))
            .help("name one under `family`, such as `family: { take: bad-index/minus-one }`"));
    }
    let mut by_form = BTreeMap::new();
    for (form, names) in &family.0 {
        check_form(text, form)?;
        let names = names_of(text, names)?.into_iter().map(|(name, _)| name.to_owned()).collect();
        by_form.insert(form.value.clone(), names);
    }
    let own = cases.0.iter().map(|(operator, id)| (Operator::new(operator.value.as_str()), id.value.clone()));
    Ok(Question {
        id: id.value.clone(),
        question: question.value.trim().to_owned(),
        family: by_form,
        cases: own.collect(),
    })
}

fn check_form(text: Text<'_>, form: &Spanned<String>) -> Result<(), Diagnostic> {
    let word: StrDeserializer<'_, Error> = form.value.as_str().into_deserializer();
    match Form::deserialize(word) {
        Ok(_) => Ok(()),
        Err(error) => Err(text
            .wrong(form.defined, format!("there is no form {}", Quoted(&form.value)))
            .help(error.to_string())),
    }
}

/// One name, or a list of them.
fn names_of<'t>(text: Text<'t>, written: &'t Spanned<Node>) -> Result<Names<'t>, Diagnostic> {
    let wrong = |node: &Spanned<Node>| {
        text.wrong(node.defined, format!("the name of a case is expected, not {}", node.value.kind()))
            .help("write `<topic>/<name>`, or several as a list: the first that an operator has answers")
    };
    let name = |node: &'t Spanned<Node>| {
        let name = text.scalar(node).filter(|_| !text.is_null(node)).ok_or_else(|| wrong(node))?;
        Ok((name, node.defined))
    };
    match &written.value {
        Node::Sequence(nodes) if nodes.is_empty() => Err(wrong(written)),
        Node::Sequence(nodes) => nodes.iter().map(name).collect(),
        _ => Ok(vec![name(written)?]),
    }
}
