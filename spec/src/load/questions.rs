//! Reads `questions.yaml`: for each question and form, the cases that answer it.
//!
//! Reading checks only the format. That the cases exist is checked when loading a folder, by `gatherspec check`, and for
//! the embedded file by a test.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use crate::diagnostic::{Diagnostic, Quoted};
use crate::question::Question;
use crate::signature::Form;
use crate::specification::Specification;
use crate::yaml::{Node, Spanned, Text};
use crate::{Case, Operator, Signature};

use super::families::with_nearest;
use super::files::read_file;
use super::raw::InOrder;
use super::version::{SCHEMA, check_schema};

/// The format of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionsFile {
    schema: Spanned<u32>,
    questions: Vec<QuestionEntry>,
}

/// The format of a question.
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

/// The names of a form's cases, with their positions in the file.
type CaseNames<'t> = Vec<(&'t str, serde_yaml::Location)>;

impl Specification {
    /// Reads the questions. [`Specification::check_questions`] checks later that their cases exist.
    pub(super) fn read_questions(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file = parse(text)?;
        for entry in &file.questions {
            self.define(text, entry.id.defined, "question", &entry.id.value)?;
            self.questions.push(question(text, entry)?);
        }
        Ok(())
    }

    /// Reads the questions of a file and checks them against the cases of this specification.
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

    /// Checks that every case that a question names exists.
    pub(super) fn check_questions(&self, text: Text<'_>) -> Result<(), Diagnostic> {
        let known: HashSet<String> = self.cases.iter().flat_map(|case| names_for(case)).collect();
        let own = |id: &str| {
            let case = self.case(id.split('[').next().unwrap_or_default());
            case.is_some_and(|case| case.run_ids().iter().any(|own| own == id))
        };
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
                if !id.value.starts_with(&prefix) || !own(&id.value) {
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
        let own = self.cases.iter().filter(|case| *case.operator() == page.operator);
        with_nearest(text.wrong(id.defined, message), &id.value, own.map(|case| case.id.as_str()))
            .or_help(&format!("see `gatherspec list cases --operator {}`", page.operator))
    }
}

/// The names by which a question may refer to a family case: its name, optionally with the dtypes of `for-each`.
fn names_for(case: &Case) -> Vec<String> {
    let Some(family) = &case.family else { return Vec::new() };
    let mut names = vec![family.clone()];
    for id in case.run_ids() {
        let choice = id[case.id.len()..].trim_start_matches('[').trim_end_matches(']');
        let ends = choice.match_indices(',').map(|(at, _)| at).chain([choice.len()]).filter(|end| *end > 0);
        names.extend(ends.map(|end| format!("{family}[{}]", &choice[..end])));
    }
    names
}

/// Parses the file. Each question needs a unique id.
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

/// Reads a name, or a list of names.
fn names_of<'t>(text: Text<'t>, written: &'t Spanned<Node>) -> Result<CaseNames<'t>, Diagnostic> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Answer;

    /// A part of a valid file, its replacement, the line and column of the error, and words of the message.
    type Row = (&'static str, &'static str, (usize, usize), &'static [&'static str]);

    const RIGHT: &str = "\
schema: 1
questions:
  - id: minus-one
    question: What does -1 mean?
    family: { take: bad-index/minus-one, nd: [rows/repeated, 'dtypes/numbers[i8]'] }
  - id: default
    question: What if no axis is sent?
    cases: { tf.gather: tf.gather/axis/default-of-a-matrix }
";

    fn checked(spec: &Specification, text: &str) -> Result<Vec<Question>, Diagnostic> {
        let text = Text { file: "questions.yaml", text };
        let mut alone = Specification::default();
        alone.read_questions(text)?;
        spec.check_questions(text)?;
        Ok(alone.questions)
    }

    #[test]
    fn what_is_wrong_with_a_question_is_said_where_it_stands_with_what_would_be_right() {
        let spec = crate::load::embedded();
        assert_eq!(checked(spec, RIGHT).unwrap().len(), 2);
        let table: &[Row] = &[
            ("schema: 1", "schema: 2", (1, 9), &["schema 2 is not known"]),
            (
                "id: minus-one",
                "id: Minus one",
                (3, 9),
                &["`Minus one` is no id of a question", "`minus-one`"],
            ),
            ("id: minus-one", "id: ''", (3, 9), &["is no id of a question"]),
            ("id: default", "id: minus-one", (6, 9), &["two questions have the id `minus-one`"]),
            ("What does -1 mean?", "' '", (4, 15), &["the question is missing"]),
            ("    question: What does -1 mean?\n", "", (3, 5), &["`question`"]),
            ("family:", "families:", (5, 5), &["unknown key `families`", "id question family cases"]),
            ("{ take:", "{ takes:", (5, 15), &["there is no form `takes`", "take"]),
            (
                "bad-index/minus-one,",
                "bad-index/minus-won,",
                (5, 21),
                &["`bad-index/minus-won` of the family `take`", "did you mean `bad-index/minus-one`?"],
            ),
            ("bad-index/minus-one,", "take/bad-index/minus-one,", (5, 21), &["no operator has the case"]),
            (
                "bad-index/minus-one,",
                "far/away,",
                (5, 21),
                &["no operator has the case", "gatherspec list cases"],
            ),
            (
                "numbers[i8]",
                "numbers[i9]",
                (5, 62),
                &["`dtypes/numbers[i9]` of the family `nd`", "did you mean `dtypes/numbers`?"],
            ),
            ("numbers[i8]", "numbers[", (5, 62), &["no operator has the case"]),
            (
                "[rows/repeated, 'dtypes/numbers[i8]']",
                "[]",
                (5, 46),
                &["the name of a case is expected, not a sequence"],
            ),
            (
                "rows/repeated,",
                "[rows/repeated],",
                (5, 47),
                &["the name of a case is expected, not a sequence"],
            ),
            ("rows/repeated,", "{ a: b },", (5, 47), &["not a mapping"]),
            ("rows/repeated,", "~,", (5, 47), &["the name of a case is expected"]),
            (
                "    cases: { tf.gather: tf.gather/axis/default-of-a-matrix }\n",
                "",
                (6, 9),
                &["no case answers the question `default`"],
            ),
            (
                "{ tf.gather:",
                "{ tf.gathers:",
                (8, 14),
                &["unknown operator `tf.gathers`", "did you mean `tf.gather`?"],
            ),
            (
                ": tf.gather/axis/default-of-a-matrix",
                ": tf.gather/axis/default-of-a-matrx",
                (8, 25),
                &["tf.gather has no case", "did you mean `tf.gather/axis/default-of-a-matrix`?"],
            ),
            (
                ": tf.gather/axis/default-of-a-matrix",
                ": tf.gather_nd/rows/repeated",
                (8, 25),
                &["tf.gather has no case `tf.gather_nd/rows/repeated`"],
            ),
            (
                ": tf.gather/axis/default-of-a-matrix }",
                ": tf.gather/axis/minus-one, tf.gather: tf.gather/axis/minus-one }",
                (8, 51),
                &["stands here a second time"],
            ),
        ];
        for (part, instead, at, words) in table {
            let text = RIGHT.replacen(part, instead, 1);
            assert_ne!(text, RIGHT, "{part}");
            let wrong = checked(spec, &text).map(|_| ()).unwrap_err();
            let (place, said) = (wrong.place.unwrap(), wrong.to_string());
            assert_eq!((place.line, place.column), *at, "{instead}\n{said}");
            words.iter().for_each(|word| assert!(said.contains(word), "{word} is missing in\n{said}"));
        }
    }

    #[test]
    fn the_questions_that_are_built_in_name_cases_that_exist() {
        let spec = crate::load::embedded();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("questions.yaml");
        let read = spec.read_question_file(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(read == spec.questions && read.len() >= 25);
    }

    #[test]
    fn the_first_case_that_an_operator_has_answers_once_per_mode_unless_it_has_its_own() {
        let spec = crate::load::embedded();
        let file = "schema: 1\nquestions:\n  - id: a\n    question: b?\n    family:\n      take: bad-index/minus-one\n      \
                    elements: [join/fewer-columns, broadcast/smaller-but-not-one]\n      nd: 'dtypes/numbers[i32]'\n    \
                    cases: { tf.gather: tf.gather/axis/default-of-a-matrix }\n";
        let questions = checked(spec, file).unwrap();
        let answer = |operator| match questions[0].answer(spec, spec.operator(operator).unwrap()) {
            Answer::Runs(runs) => runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(" "),
            Answer::LeftOut(why) => format!("– {why}"),
            Answer::OtherForm => String::new(),
        };
        assert_eq!(answer("tf.gather"), "tf.gather/axis/default-of-a-matrix");
        let modes = ["", "[wrap]", "[clip]"].map(|mode| format!("numpy.take/bad-index/minus-one{mode}"));
        assert_eq!(answer("numpy.take"), modes.join(" "));
        assert_eq!(answer("torch.gather"), "torch.gather/join/fewer-columns");
        assert_eq!(answer("numpy.take_along_axis"), "numpy.take_along_axis/broadcast/smaller-but-not-one");
        assert_eq!(answer("onnx.GatherElements-13"), "– no clause for join.smaller");
        assert_eq!(answer("tf.gather_nd"), "tf.gather_nd/dtypes/numbers[i32,i32]");
        let alone = file.replace("      nd: 'dtypes/numbers[i32]'\n", "");
        let questions = checked(spec, &alone).unwrap();
        let page = spec.operator("tf.gather_nd").unwrap();
        assert!(matches!(questions[0].answer(spec, page), Answer::OtherForm));
    }
}
