//! `gatherspec show`: one case as a picture, a clause, an operator, or a question operator by operator.

use std::path::PathBuf;

use gather_spec::load::Wanted;
use gather_spec::{Profile, Signatures, Specification};

use crate::backend::Backend;
use crate::words::name;
use crate::{builtin, questions, results, show};

use super::ending::{Failure, Status};
use super::output::print;

#[derive(clap::Args)]
pub(super) struct Show {
    /// Id of a case, of a case of a family, of a clause or of a question, or name of an operator
    #[arg(value_name = "CASE|CLAUSE|OPERATOR|QUESTION")]
    id: String,
    /// Folder of kept results: show what libraries answered to the question
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Show {
    /// The cases that are shown: those of the operator that the id begins with, if it does.
    pub(super) fn wanted<'a>(&self, all: &'a Signatures) -> Wanted<'a> {
        let is_about = |operator: &&str| {
            let rest = self.id.strip_prefix(*operator);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
        };
        let operators: Vec<&str> = all.iter().map(|page| page.operator.as_str()).filter(is_about).collect();
        if operators.is_empty() { Wanted::Usual } else { Wanted::Of(operators) }
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        let question = spec.question(&self.id);
        if question.is_none() && self.results.is_some() {
            return Err(Failure::Usage("--results needs a question".to_owned()));
        }
        let text = if let Some(case) = spec.case(&self.id) {
            show::case(spec, case, &reference)
        } else if let Some(clause) = spec.clause(&self.id) {
            show::clause(spec, clause)
        } else if let Some(page) = spec.operator(&self.id) {
            show::operator(spec, page)
        } else if let Some(question) = question {
            questions::question(spec, question, &self.kept()?)
        } else if let Some(text) = show::family_case(spec, &self.id) {
            text
        } else {
            return Err(Failure::Usage(self.unknown(spec)));
        };
        print(&text)?;
        Ok(Status::Conforms)
    }

    /// The stored results of libraries, if a folder was given.
    fn kept(&self) -> Result<Vec<results::Results>, Failure> {
        let Some(folder) = &self.results else { return Ok(Vec::new()) };
        results::read(folder).map_err(|error| {
            Failure::Usage(format!("results cannot be read from {}: {error}", folder.display()))
        })
    }

    fn unknown(&self, spec: &Specification) -> String {
        if let Some(renamed) = spec.renamed(&self.id) {
            return format!("the case `{}` was renamed to `{renamed}`", name(&self.id));
        }
        let clauses = spec.clauses.iter().map(|clause| &clause.id);
        let questions = spec.questions.iter().map(|question| &question.id);
        let ids = spec.cases.iter().map(|case| &case.id).chain(clauses).chain(questions);
        let near: Vec<&str> = ids.filter(|id| id.contains(&self.id)).map(String::as_str).take(5).collect();
        let hint = if near.is_empty() {
            "see `gatherspec list cases`".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        format!("no case, clause, operator or question is called `{}`; {hint}", name(&self.id))
    }
}

/// The reference, with which every picture is drawn.
fn reference(profile: Profile) -> Box<dyn Backend> {
    builtin::backend("reference", profile, builtin::MAX_OUTPUT).expect("the reference is built in")
}
