//! `gatherspec show`: one case as a picture, a clause, an operator, a question operator by operator, or the text of a
//! finding.

mod object;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gather_spec::case::OperandNames;
use gather_spec::load::Wanted;
use gather_spec::{Call, Case, Profile, Run, Signatures, Specification};

use crate::export::run_as_json;
use crate::finding::{self, Finding, Named, Notes};
use crate::{picture, questions, results, show};
use gather_conformance::internals::files;
use gather_conformance::internals::select::Pattern;
use gather_conformance::internals::words::name;

use super::cases::read_files;
use super::ending::{Failure, Status};
use super::output::print;

#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// Id of a case, of a case of a family, of a clause, of a question or of a finding (BACKEND:CASE, or BACKEND: for all
    /// of a backend), or name of an operator
    #[arg(value_name = "CASE|CLAUSE|OPERATOR|QUESTION|FINDING")]
    id: String,
    /// Folder of kept results: show what libraries answered to the question, or a finding of these results [default for a
    /// finding: the results that come with the program]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Show a case of this file, of the .yaml files in this folder, or of stdin (`-`)
    #[arg(long = "cases", value_name = "FILE|DIR|-", conflicts_with = "results")]
    files: Vec<PathBuf>,
    /// Write the picture of a case to this file, as SVG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["results", "format"])]
    svg: Option<PathBuf>,
    /// Format of the output: a text, or a JSON object
    #[arg(long, value_enum, default_value = "human", conflicts_with = "results")]
    format: ShowFormat,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum ShowFormat {
    Human,
    Json,
}

impl ShowArgs {
    /// The cases that are shown: those of the operator that the id begins with, if it does.
    pub(super) fn wanted<'a>(&self, all: &'a Signatures) -> Wanted<'a> {
        let id = self.id.split_once(':').map_or(self.id.as_str(), |(_, case)| case);
        let is_about = |operator: &&str| {
            let rest = id.strip_prefix(*operator);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
        };
        let operators: Vec<&str> = all.iter().map(|page| page.operator.as_str()).filter(is_about).collect();
        if operators.is_empty() { Wanted::Usual } else { Wanted::Of(operators) }
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        if self.format == ShowFormat::Json {
            return self.json(spec);
        }
        let question = spec.question(&self.id);
        let is_finding = self.id.contains(':');
        if question.is_none() && !is_finding && self.results.is_some() {
            return Err(Failure::Usage("--results needs a question or a finding".to_owned()));
        }
        let own = read_files(&self.files, spec)?;
        let run = self.run(spec, &own);
        if let Some(path) = &self.svg {
            let run = run.as_ref().ok_or_else(|| match self.is_something(spec) {
                true => Failure::Usage("--svg needs a case".to_owned()),
                false => Failure::Usage(self.unknown(spec)),
            })?;
            write_svg(spec, &run.call, &run.case.names, show::default_profile(spec, &run.call), path)?;
        }
        let text = if let Some(run) = run {
            let make = picture::answerer(spec.signatures(), run.call.operator.as_str());
            show::run(spec, &run, picture::width_of_stdout(), &make)
        } else if let Some(clause) = spec.clause(&self.id) {
            show::clause(spec, clause)
        } else if let Some(page) = spec.operator(&self.id) {
            show::operator(spec, page)
        } else if let Some(question) = question {
            questions::question(spec, question, &self.kept()?)
        } else if let Some(text) = show::family_case(spec, &self.id) {
            text
        } else if is_finding {
            self.finding(spec)?
        } else {
            return Err(Failure::Usage(self.unknown(spec)));
        };
        print(&text)?;
        Ok(Status::Conforms)
    }

    /// The first run that is named, by its id, by that of its case, or by some of its places: first among those of files.
    fn run(&self, spec: &Specification, own: &[Arc<Case>]) -> Option<Run> {
        let pattern = Pattern::new(&self.id).ok()?;
        let named = |case: &&Arc<Case>| pattern.names(case);
        let case = own.iter().chain(&spec.cases).find(named)?;
        let mut runs = case.runs();
        let at = runs.iter().position(|run| run.id == self.id);
        let at = at.or_else(|| runs.iter().position(|run| pattern.matches_run(case, &run.id)))?;
        Some(runs.swap_remove(at))
    }

    /// Prints what is named as a JSON object.
    fn json(&self, spec: &Specification) -> Result<Status, Failure> {
        let own = read_files(&self.files, spec)?;
        let value = if let Some(run) = self.run(spec, &own) {
            run_as_json(spec, &run)
        } else if let Some(clause) = spec.clause(&self.id) {
            object::clause(spec, clause)
        } else if let Some(page) = spec.operator(&self.id) {
            object::operator(spec, page)
        } else if let Some(question) = spec.question(&self.id) {
            serde_json::json!(question)
        } else {
            return Err(Failure::Usage(self.unknown(spec)));
        };
        print(&(serde_json::to_string_pretty(&value).expect("plain data") + "\n"))?;
        Ok(Status::Conforms)
    }

    /// The text of a finding, or a list of all findings of a backend.
    fn finding(&self, spec: &Specification) -> Result<String, Failure> {
        let (results, notes) = match &self.results {
            None => (results::embedded(), Notes::embedded()),
            Some(folder) => (self.kept()?, Notes::read(folder)?),
        };
        let line = |finding: &Finding<'_>| {
            format!("{}\n    {}: {}\n", finding.id(), finding.observed, finding.reason)
        };
        Ok(match finding::named(&self.id, &results, &notes, spec).map_err(Failure::Usage)? {
            Named::One(finding) => finding::text(spec, &finding, &notes),
            Named::All(findings) => findings.iter().map(line).collect(),
        })
    }

    /// Whether anything but a case has this id.
    fn is_something(&self, spec: &Specification) -> bool {
        spec.clause(&self.id).is_some()
            || spec.operator(&self.id).is_some()
            || spec.question(&self.id).is_some()
            || show::family_case(spec, &self.id).is_some()
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
        if let Ok(mut pattern) = Pattern::new(&self.id)
            && spec.cases.iter().any(|case| pattern.names(case))
        {
            pattern.settle(&spec.cases);
            return format!(
                "`{}` is no run{}\nhelp: {}",
                name(&self.id),
                pattern.not_a_glob(),
                pattern.help()
            );
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

/// Writes the picture of a call to a file.
pub(super) fn write_svg(
    spec: &Specification,
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    path: &Path,
) -> Result<(), Failure> {
    let make = picture::answerer(spec.signatures(), call.operator.as_str());
    let picture = picture::svg(call, names, profile, &make)
        .map_err(|why| Failure::Usage(format!("{why}\nhelp: leave out --svg to print them")))?;
    let written = files::write_whole(path, picture.as_bytes());
    written.map_err(|error| Failure::Usage(format!("{} cannot be written: {error}", path.display())))
}
