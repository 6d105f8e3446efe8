//! Loads the specification, either the embedded one or that of a folder. Case files are found by walking the folders.

mod case_reader;
mod cases;
mod closed_form;
mod data;
mod dtypes;
mod elements;
mod expect;
pub(crate) mod families;
mod files;
mod fill;
mod filled;
mod grid;
mod ledgers;
mod names;
mod operands;
mod operator;
mod overlay;
mod pairs;
mod questions;
mod raw;
mod reader;
mod runs;
#[cfg(test)]
mod schema;
mod single;
mod sizes;
mod sources;
mod template;
mod version;
mod wanted;
mod written;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rayon::prelude::*;

use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::Signature;
use crate::specification::Specification;
use crate::yaml::Text;

use cases::{Context, read_cases, read_family};
use families::with_nearest;
use files::{Root, SpecificationFile, read_all};
use operator::OperatorPage;
use reader::is_large;
pub use runs::Maker;
pub use single::{Ledger, family_folder, operator_folder};
pub use template::Axes;
pub(crate) use template::Template;
pub use version::SCHEMA;
pub use wanted::Wanted;

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

fn embedded_files() -> Vec<SpecificationFile<'static>> {
    EMBEDDED.iter().map(|(place, bytes)| SpecificationFile::new(place, place, bytes)).collect()
}

/// What a case file's folder is named after.
enum FolderOwner<'a> {
    /// An operator.
    Operator(String),
    /// The form of a family.
    Family(&'a str),
}

impl Specification {
    /// The embedded specification, without the large cases.
    ///
    /// # Errors
    /// Everything that is wrong with the files.
    ///
    /// ```
    /// let spec = gather_spec::Specification::embedded().unwrap();
    /// assert!(spec.operator("tf.gather_nd").is_some());
    /// ```
    pub fn embedded() -> Result<Self, Vec<Diagnostic>> {
        Self::embedded_with(&Wanted::Usual)
    }

    /// The embedded specification with the wanted cases alone.
    ///
    /// # Errors
    /// Everything that is wrong with the files that are read.
    ///
    /// ```
    /// use gather_spec::{Specification, load::Wanted};
    /// let spec = Specification::embedded_with(&Wanted::None).unwrap();
    /// assert!(spec.operator("tf.gather_nd").is_some() && spec.cases.is_empty());
    /// let spec = Specification::embedded_with(&Wanted::Of(vec!["tf.gather"])).unwrap();
    /// assert!(spec.case("tf.gather/bad-index/minus-one").is_some());
    /// assert!(spec.case("numpy.take/bad-index/minus-one").is_none());
    /// ```
    pub fn embedded_with(wanted: &Wanted<'_>) -> Result<Self, Vec<Diagnostic>> {
        Self::load(&embedded_files(), wanted, false)
    }

    /// The specification in a folder that is laid out like this repository's `spec/`, without the large cases.
    ///
    /// # Errors
    /// Everything that is wrong with the files, or why the folder cannot be read.
    pub fn from_dir(root: &Path) -> Result<Self, Vec<Diagnostic>> {
        Self::from_dir_with(root, &Wanted::Usual)
    }

    /// Like [`Specification::from_dir`], with the wanted cases alone.
    ///
    /// # Errors
    /// As [`Specification::from_dir`], but for case files that are not read.
    pub fn from_dir_with(root: &Path, wanted: &Wanted<'_>) -> Result<Self, Vec<Diagnostic>> {
        let files = read_all(root, Root::Whole)?;
        let files: Vec<SpecificationFile<'_>> =
            files.iter().map(|(place, bytes)| SpecificationFile::new(place, place, bytes)).collect();
        Self::load_checked(&files, &files, wanted)
    }

    /// Loads files, makes every run once, and checks that the cases of the questions in `checked` exist. For the embedded files,
    /// tests do both.
    fn load_checked(
        files: &[SpecificationFile<'_>],
        checked: &[SpecificationFile<'_>],
        wanted: &Wanted<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let spec = Self::load(files, wanted, true)?;
        for file in checked.iter().filter(|file| file.place == "questions.yaml" && wanted.is_whole()) {
            let checked = Text::new(file.name, file.bytes).and_then(|text| spec.check_questions(text));
            checked.map_err(|diagnostic| vec![diagnostic])?;
        }
        Ok(spec)
    }

    fn load(
        files: &[SpecificationFile<'_>],
        wanted: &Wanted<'_>,
        checks: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut spec = Self::default();
        let mut wrong = Vec::new();
        let (mut operators, mut clause_files, mut case_files) = (Vec::new(), Vec::new(), Vec::new());
        // Ledgers, families and operators first, then clauses, then cases: each kind refers to the ones before it.
        for file in files.iter().filter(|file| *wanted == Wanted::Large || !is_large(file.place)) {
            let text = match Text::new(file.name, file.bytes) {
                Ok(text) => text,
                Err(diagnostic) => {
                    wrong.push(diagnostic);
                    continue;
                }
            };
            let parts: Vec<&str> = file.place.split('/').collect();
            let read = match parts.as_slice() {
                ["documents.yaml"] => spec.read_documents(text),
                ["errata.yaml"] | ["operators", _, _, "errata.yaml"] => spec.read_errata(text),
                ["renamed.yaml"] => spec.read_renamed(text),
                ["questions.yaml"] => spec.read_questions(text),
                ["out-of-scope.yaml"] => spec.read_out_of_scope(text),
                ["operators", _, _, "inventory.yaml"] => spec.read_inventory(text),
                ["families", family, "clauses.yaml"] => spec.of_families.read_clauses(text, family),
                ["families", family, _] => {
                    case_files.push((text, FolderOwner::Family(family)));
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
                            case_files.push((text, FolderOwner::Operator(folder)));
                            Ok(())
                        }
                    }
                }
                _ => Err(Diagnostic::file(file.name, "no file of the specification has this place").help(
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
        spec.read_all_cases(&case_files, wanted, checks, &mut wrong);
        if wrong.is_empty() { Ok(spec) } else { Err(wrong) }
    }

    /// Reads case files in parallel and sorts their cases.
    fn read_all_cases(
        &mut self,
        files: &[(Text<'_>, FolderOwner<'_>)],
        wanted: &Wanted<'_>,
        checks: bool,
        wrong: &mut Vec<Diagnostic>,
    ) {
        let is_wanted = |(_, folder): &&(Text<'_>, FolderOwner<'_>)| match folder {
            FolderOwner::Operator(operator) => wanted.has(operator),
            FolderOwner::Family(family) => {
                wanted.is_whole() || self.with_form(family).any(|page| wanted.has(page.operator.as_str()))
            }
        };
        let context = Context { spec: self, wanted, checks };
        let read = |(text, folder): &(Text<'_>, FolderOwner<'_>)| {
            let mut wrong = Vec::new();
            let instances = match folder {
                FolderOwner::Family(family) => read_family(*text, family, context, &mut wrong),
                FolderOwner::Operator(folder) => read_cases(*text, Some(folder), context, &mut wrong),
            };
            (instances, wrong)
        };
        let read: Vec<_> = files.par_iter().filter(is_wanted).map(read).collect();
        self.cases.reserve_exact(read.iter().map(|(instances, _)| instances.cases.len()).sum());
        for (instances, diagnostics) in read {
            self.cases.extend(instances.cases);
            self.left_out.extend(instances.left_out);
            wrong.extend(diagnostics);
        }
        let order: HashMap<&str, usize> =
            self.operators.iter().map(|page| page.operator.as_str()).zip(0..).collect();
        self.cases.par_sort_by_cached_key(|case| {
            let place = order.get(case.operator().as_str()).copied();
            (place, case.topic().to_owned())
        });
        let mut ids = HashSet::new();
        for case in self.cases.iter().filter(|case| !ids.insert(case.id.as_str())) {
            let message = format!("the case `{}` stands here and in a family", case.id);
            let file =
                format!("operators/{}/{}.yaml", case.operator().as_str().replacen('.', "/", 1), case.topic());
            wrong.push(Diagnostic::file(file, message).help("give one of them another name"));
        }
    }

    /// The operators of a form.
    fn with_form(&self, form: &str) -> impl Iterator<Item = &Signature> {
        self.operators.iter().filter(move |page| page.form.to_string() == form)
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

/// The specification, read once for all unit tests.
#[cfg(test)]
pub(crate) fn embedded() -> &'static Specification {
    static SPEC: std::sync::LazyLock<Specification> = std::sync::LazyLock::new(|| {
        Specification::embedded().expect("every file of the specification is right")
    });
    &SPEC
}
