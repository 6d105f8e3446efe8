//! Loads the specification, either the embedded one or that of a folder. Case files are found by walking the folders.

mod cases;
mod closed_form;
mod data;
mod dtypes;
mod elements;
mod expect;
mod families;
mod files;
mod fill;
mod filled;
mod grid;
mod ledgers;
mod names;
mod operator;
mod pairs;
mod questions;
mod raw;
#[cfg(test)]
mod schema;
mod single;
mod sizes;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use crate::case::Case;
use crate::clause::{Clause, Document, Erratum, Example, Family, LeftOut, OutOfScope, Renamed};
use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::question::Question;
use crate::yaml::{Spanned, Text};
use crate::{ErrorCode, Signature, Signatures};

use cases::{Context, Instances, read_cases, read_family};
use data::is_large;
use families::{Families, with_nearest};
use files::{read_all, read_file};
use operator::OperatorPage;
pub use single::{Ledger, family_folder};

/// The version of the file formats that this program reads.
pub const SCHEMA: u32 = 1;

static EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The embedded operators, without their clauses and cases, which take longer to read.
///
/// # Errors
/// Everything that is wrong with their files.
///
/// ```
/// use gather_spec::signature::AttributeRole;
///
/// let operators = gather_spec::load::operators().unwrap();
/// let gather = operators.iter().find(|one| one.operator.as_str() == "tf.gather").unwrap();
/// assert_eq!(gather.attribute_named("axis").unwrap().role, AttributeRole::Axis);
/// ```
pub fn operators() -> Result<Vec<Signature>, Vec<Diagnostic>> {
    let (mut spec, mut wrong) = (Specification::default(), Vec::new());
    for (name, bytes) in EMBEDDED {
        if let ["operators", ecosystem, operator, "operator.yaml"] = name.split('/').collect::<Vec<_>>()[..] {
            let folder = format!("{ecosystem}.{operator}");
            let read = Text::new(name, bytes).and_then(|text| spec.read_operator(text, Some(&folder)));
            wrong.extend(read.err());
        }
    }
    if wrong.is_empty() { Ok(spec.operators) } else { Err(wrong) }
}

/// The content of `spec/`.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The source documents.
    pub documents: Vec<Document>,
    /// The documented examples.
    pub examples: Vec<Example>,
    /// The errata ledger.
    pub errata: Vec<Erratum>,
    /// What is deliberately not an operator here, and why.
    pub out_of_scope: Vec<OutOfScope>,
    /// The cases whose ids have changed.
    pub renamed: Vec<Renamed>,
    /// The questions on which operators differ.
    pub questions: Vec<Question>,
    /// The operators, by name.
    pub operators: Vec<Signature>,
    /// The clauses, by operator and then in the order of the file.
    pub clauses: Vec<Clause>,
    /// The cases after expansion, by operator and then by topic.
    pub cases: Vec<Case>,
    /// The family cases that operators of the form do not have.
    pub left_out: Vec<LeftOut>,
    clause_at: HashMap<String, usize>,
    of_families: Families,
}

/// The cases that accept or reject under one clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage<'a> {
    /// The cases that cite the clause and allow an output.
    pub accepting: Vec<&'a str>,
    /// The cases that cite the clause and allow one of its error codes, by code.
    pub rejecting: BTreeMap<ErrorCode, Vec<&'a str>>,
}

/// What a case file's folder is named after.
enum Folder<'a> {
    /// An operator.
    Operator(String),
    /// The form of a family.
    Family(&'a str),
}

impl Specification {
    /// The embedded specification.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    ///
    /// ```
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// assert!(spec.operator("tf.gather_nd").is_some());
    /// ```
    pub fn embedded() -> Result<Self, Vec<Diagnostic>> {
        Self::load(EMBEDDED, false)
    }

    /// Like [`Specification::embedded`], with the large cases, which take longer to read and are not for every run.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    pub fn embedded_with_large() -> Result<Self, Vec<Diagnostic>> {
        Self::load(EMBEDDED, true)
    }

    /// The specification in a folder that is laid out like this repository's `spec/`.
    ///
    /// # Errors
    /// Everything that is wrong with the files, or why the folder cannot be read.
    pub fn from_dir(root: &Path) -> Result<Self, Vec<Diagnostic>> {
        Self::read_dir(root, false)
    }

    /// Like [`Specification::from_dir`], with the large cases.
    ///
    /// # Errors
    /// As [`Specification::from_dir`].
    pub fn from_dir_with_large(root: &Path) -> Result<Self, Vec<Diagnostic>> {
        Self::read_dir(root, true)
    }

    fn read_dir(root: &Path, large: bool) -> Result<Self, Vec<Diagnostic>> {
        let files = read_all(root)?;
        let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
        let spec = Self::load(&files, large)?;
        // For the embedded files, a test checks this.
        for (name, bytes) in files.iter().filter(|(name, _)| *name == "questions.yaml") {
            let checked = Text::new(name, bytes).and_then(|text| spec.check_questions(text));
            checked.map_err(|diagnostic| vec![diagnostic])?;
        }
        Ok(spec)
    }

    fn load(files: &[(&str, &[u8])], large: bool) -> Result<Self, Vec<Diagnostic>> {
        let mut spec = Self::default();
        let mut wrong = Vec::new();
        let (mut operators, mut clause_files, mut case_files) = (Vec::new(), Vec::new(), Vec::new());
        // Ledgers, families and operators first, then clauses, then cases: each kind refers to the ones before it.
        for (name, bytes) in files.iter().filter(|(name, _)| large || !is_large(name)) {
            let text = match Text::new(name, bytes) {
                Ok(text) => text,
                Err(diagnostic) => {
                    wrong.push(diagnostic);
                    continue;
                }
            };
            let parts: Vec<&str> = name.split('/').collect();
            let read = match parts.as_slice() {
                ["documents.yaml"] => spec.read_documents(text),
                ["errata.yaml"] | ["operators", _, _, "errata.yaml"] => spec.read_errata(text),
                ["renamed.yaml"] => spec.read_renamed(text),
                ["questions.yaml"] => spec.read_questions(text),
                ["out-of-scope.yaml"] => spec.read_out_of_scope(text),
                ["operators", _, _, "inventory.yaml"] => spec.read_inventory(text),
                ["families", family, "clauses.yaml"] => spec.of_families.read_clauses(text, family),
                ["families", family, _] => {
                    case_files.push((text, Folder::Family(family)));
                    Ok(())
                }
                ["operators", ecosystem, operator, file] => {
                    let folder = format!("{ecosystem}.{operator}");
                    match *file {
                        "operator.yaml" => spec
                            .read_operator(text, Some(&folder))
                            .map(|read| operators.push((text, read))),
                        "clauses.yaml" => {
                            clause_files.push((text, folder));
                            Ok(())
                        }
                        _ => {
                            case_files.push((text, Folder::Operator(folder)));
                            Ok(())
                        }
                    }
                }
                _ => Err(Diagnostic::file(*name, "no file of the specification has this place").help(
                    "case files are operators/<ecosystem>/<operator>/<topic>.yaml and families/<form>/<topic>.yaml",
                )),
            };
            wrong.extend(read.err());
        }
        for (text, read) in &operators {
            wrong.extend(spec.of_families.read_map(*text, &read.signature, &read.families).err());
        }
        for (text, folder) in clause_files {
            wrong.extend(spec.read_clauses(text, Some(&folder)).err());
        }
        for (text, read) in &operators {
            wrong.extend(spec.check_targets(*text, read).err());
        }
        spec.read_all_cases(&case_files, &mut wrong);
        if wrong.is_empty() { Ok(spec) } else { Err(wrong) }
    }

    /// Reads case files in parallel and sorts their cases.
    fn read_all_cases(&mut self, files: &[(Text<'_>, Folder<'_>)], wrong: &mut Vec<Diagnostic>) {
        let read = |(text, folder): &(Text<'_>, Folder<'_>)| {
            let mut wrong = Vec::new();
            let instances = match folder {
                Folder::Family(family) => read_family(*text, self, family, &mut wrong),
                Folder::Operator(folder) => {
                    let context = Context { spec: self, folder: Some(folder) };
                    Instances { cases: read_cases(*text, &context, &mut wrong), left_out: Vec::new() }
                }
            };
            (instances, wrong)
        };
        let read: Vec<_> = files.par_iter().map(read).collect();
        self.cases.reserve_exact(read.iter().map(|(instances, _)| instances.cases.len()).sum());
        for (instances, diagnostics) in read {
            self.cases.extend(instances.cases);
            self.left_out.extend(instances.left_out);
            wrong.extend(diagnostics);
        }
        let order: HashMap<&str, usize> =
            self.operators.iter().map(|page| page.operator.as_str()).zip(0..).collect();
        self.cases.par_sort_by_cached_key(|case| {
            let place = order.get(case.call.operator.as_str()).copied();
            (place, case.topic().to_owned())
        });
        let mut ids = HashSet::new();
        for case in self.cases.iter().filter(|case| !ids.insert(case.id.as_str())) {
            let message = format!("the case `{}` stands here and in a family", case.id);
            let file = format!(
                "operators/{}/{}.yaml",
                case.call.operator.as_str().replacen('.', "/", 1),
                case.topic()
            );
            wrong.push(Diagnostic::file(file, message).help("give one of them another name"));
        }
    }

    fn check_targets(&self, text: Text<'_>, read: &OperatorPage) -> Result<(), Diagnostic> {
        let documents = || self.documents.iter().map(|document| document.id.as_str());
        if let Some(id) = read.documents.iter().find(|id| !documents().any(|known| known == id.value)) {
            let wrong =
                text.wrong(id.defined, format!("documents.yaml has no document {}", Quoted(&id.value)));
            return Err(with_nearest(wrong, &id.value, documents()));
        }
        let known: Vec<&str> = self.clauses.iter().map(|clause| clause.id.as_str()).collect();
        let clause = |id: &str| self.clause(id);
        self.of_families.check_targets(text, &read.signature, &read.families, clause, &known)
    }

    /// The new id of a renamed case.
    #[must_use]
    pub fn renamed(&self, id: &str) -> Option<String> {
        self.renamed.iter().find_map(|renamed| {
            let suffix = id.strip_prefix(renamed.from.as_str())?;
            (suffix.is_empty() || suffix.starts_with('[')).then(|| format!("{}{suffix}", renamed.to))
        })
    }

    /// The families, by form.
    #[must_use]
    pub fn families(&self) -> &[Family] {
        &self.of_families.all
    }

    /// The signature of an operator.
    #[must_use]
    pub fn operator(&self, name: &str) -> Option<&Signature> {
        self.operators.iter().find(|page| page.operator.as_str() == name)
    }

    /// The signatures of the operators, to be shared.
    #[must_use]
    pub fn signatures(&self) -> Signatures {
        self.operators.iter().cloned().collect()
    }

    /// The operator whose name is closest to a misspelt one.
    #[must_use]
    pub fn operator_like(&self, name: &str) -> Option<&str> {
        nearest(name, self.operators.iter().map(|page| page.operator.as_str()))
    }

    /// A clause by id.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.clause_at.get(id).map(|at| &self.clauses[*at])
    }

    /// A case by id.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// A question by id.
    #[must_use]
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// An entry of the errata ledger by id.
    #[must_use]
    pub fn erratum(&self, id: &str) -> Option<&Erratum> {
        self.errata.iter().find(|erratum| erratum.id == id)
    }

    /// For each clause, in order, the cases that accept and those that reject under it.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage<'_>> {
        let mut coverage = vec![Coverage::default(); self.clauses.len()];
        for case in &self.cases {
            for at in case.clauses.iter().filter_map(|id| self.clause_at.get(id)) {
                if case.expect.accepts() {
                    coverage[*at].accepting.push(&case.id);
                }
                for code in self.clauses[*at].rejects.iter().filter(|code| case.expect.rejects(**code)) {
                    coverage[*at].rejecting.entry(*code).or_default().push(&case.id);
                }
            }
        }
        coverage
    }

    fn read_operator(&mut self, text: Text<'_>, folder: Option<&str>) -> Result<OperatorPage, Diagnostic> {
        let read = Signature::read(text)?;
        let operator = &read.signature.operator;
        if let Some(folder) = folder.filter(|folder| operator.as_str() != *folder) {
            let message = format!("the operator is `{operator}`, but the folder is `{folder}`");
            return Err(text.wrong(read.named, message));
        }
        self.operators.push(read.signature.clone());
        Ok(read)
    }
}

fn check_schema(text: Text<'_>, schema: &Spanned<u32>, known: u32) -> Result<(), Diagnostic> {
    if schema.value == known {
        return Ok(());
    }
    Err(text
        .wrong(schema.defined, format!("schema {} is not known to this program", schema.value))
        .help(format!("write `schema: {known}`, or use a newer gatherspec")))
}
