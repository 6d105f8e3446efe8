//! Reads single files and checks them as if they were part of the specification.

use std::path::Path;
use std::sync::Arc;

use crate::case::Case;
use crate::clause::{Clause, FamilyClause};
use crate::diagnostic::Diagnostic;
use crate::signature::Signature;
use crate::specification::Specification;
use crate::yaml::Text;

use super::cases::{Context, read_cases, read_family};
use super::families::Families;
use super::files::read_file;
use super::wanted::Wanted;

impl Specification {
    /// Reads the cases of a file outside the specification and checks them against its clauses.
    ///
    /// # Errors
    /// Everything that is wrong with the file.
    pub fn read_case_file(&self, path: &Path) -> Result<Vec<Arc<Case>>, Vec<Diagnostic>> {
        let bytes = read_file(path).map_err(|diagnostic| vec![diagnostic])?;
        self.read_cases(path, &bytes)
    }

    /// Reads cases from the content of a file. The path is used for messages only.
    ///
    /// # Errors
    /// Everything that is wrong with the content.
    pub fn read_cases(&self, path: &Path, bytes: &[u8]) -> Result<Vec<Arc<Case>>, Vec<Diagnostic>> {
        let name = path.display().to_string();
        let text = Text::new(&name, bytes).map_err(|diagnostic| vec![diagnostic])?;
        let mut wrong = Vec::new();
        let context = Context { spec: self, wanted: &Wanted::Usual, checks: true };
        let read = match family_folder(path) {
            Some(family) => read_family(text, &family, context, &mut wrong),
            None => read_cases(text, operator_folder(path).as_deref(), context, &mut wrong),
        };
        if wrong.is_empty() { Ok(read.cases) } else { Err(wrong) }
    }

    /// Reads the clauses of a file outside the specification and checks them against its documents and errata.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read_clause_file(&self, path: &Path) -> Result<Vec<Clause>, Diagnostic> {
        let (bytes, name) = (read_file(path)?, path.display().to_string());
        let text = Text::new(&name, &bytes)?;
        let mut alone = Self {
            documents: self.documents.clone(),
            errata: self.errata.clone(),
            of_families: self.of_families.clone(),
            ..Self::default()
        };
        alone.read_clauses(text, operator_folder(path).as_deref())?;
        Ok(alone.clauses)
    }

    /// Reads an `operator.yaml` outside the specification.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read_operator_file(&self, path: &Path) -> Result<Signature, Diagnostic> {
        let (bytes, name) = (read_file(path)?, path.display().to_string());
        let text = Text::new(&name, &bytes)?;
        let mut alone = Self { of_families: self.of_families.clone(), ..Self::default() };
        let read = alone.read_operator(text, operator_folder(path).as_deref())?;
        alone.of_families.read_map(text, &read.signature, &read.families)?;
        self.check_targets(text, &read)?;
        Ok(read.signature)
    }

    /// Reads the clauses of a family from a file outside the specification.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read_family_clauses(path: &Path) -> Result<Vec<FamilyClause>, Diagnostic> {
        let (bytes, name) = (read_file(path)?, path.display().to_string());
        let text = Text::new(&name, &bytes)?;
        let mut families = Families::default();
        families.read_clauses(text, &family_folder(path).unwrap_or_default())?;
        Ok(families.all.remove(0).clauses)
    }

    /// Reads a ledger of an operator, errata or examples, and counts its entries.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read_ledger(path: &Path) -> Result<Ledger, Diagnostic> {
        let (bytes, name) = (read_file(path)?, path.display().to_string());
        let text = Text::new(&name, &bytes)?;
        let mut alone = Self::default();
        if path.ends_with("inventory.yaml") {
            alone.read_inventory(text)?;
            Ok(Ledger::Examples(alone.examples.len()))
        } else {
            alone.read_errata(text)?;
            Ok(Ledger::Rulings(alone.errata.len()))
        }
    }
}

/// The content of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ledger {
    /// This many documented examples.
    Examples(usize),
    /// This many rulings.
    Rulings(usize),
}

/// The family of a file in a checkout, according to its folder.
#[must_use]
pub fn family_folder(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| folder.parent().is_some_and(|up| up.ends_with("families")))?;
    folder.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The operator of a file in a checkout, according to its folder. The file must agree with it.
#[must_use]
pub fn operator_folder(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let ecosystem = folder.parent().filter(|up| up.parent().is_some_and(|up| up.ends_with("operators")))?;
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    Some(format!("{}.{}", name(ecosystem)?, name(folder)?))
}
