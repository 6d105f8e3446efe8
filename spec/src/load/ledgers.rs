//! Reads the files that are lists: documents, examples, errata, clauses, renamed cases, and what is out of scope.

use serde_yaml::Location;

use crate::Basis;
use crate::clause::{Clause, Section};
use crate::diagnostic::Diagnostic;
use crate::specification::Specification;
use crate::yaml::Text;

use super::raw::{ClausesFile, DocumentsFile, ErrataFile, InventoryFile, OutOfScopeFile, RenamedFile};
use super::version::{SCHEMA, check_schema};

impl Specification {
    pub(super) fn read_documents(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file: DocumentsFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        for document in file.documents {
            self.define(text, document.defined, "document", &document.value.id)?;
            self.documents.push(document.value);
        }
        Ok(())
    }

    /// Notes that an entry of a list is defined here.
    pub(super) fn define(
        &mut self,
        text: Text<'_>,
        at: Location,
        kind: &'static str,
        id: &str,
    ) -> Result<(), Diagnostic> {
        let before = self.defined_in.insert((kind, id.to_owned()), text.file.to_owned());
        let Some(other) = before else { return Ok(()) };
        let message = if other == text.file {
            format!("the {kind} `{id}` stands here twice")
        } else {
            format!("the {kind} `{id}` is already in {other}")
        };
        Err(text.wrong(at, message))
    }

    pub(super) fn read_inventory(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file: InventoryFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        self.examples.extend(file.examples);
        Ok(())
    }

    pub(super) fn read_out_of_scope(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file: OutOfScopeFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        self.out_of_scope.extend(file.out_of_scope);
        Ok(())
    }

    pub(super) fn read_renamed(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file: RenamedFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        self.renamed.extend(file.renamed);
        Ok(())
    }

    pub(super) fn read_errata(&mut self, text: Text<'_>) -> Result<(), Diagnostic> {
        let file: ErrataFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        for entry in file.errata {
            self.define(text, entry.defined, "erratum", &entry.value.id)?;
            if entry.value.evidence.iter().any(|evidence| !evidence.is_complete()) {
                let message = format!(
                    "evidence of `{}` needs a public `link`, or `tool`, `version` and `call`",
                    entry.value.id
                );
                return Err(text.wrong(entry.defined, message));
            }
            self.errata.push(entry.value);
        }
        Ok(())
    }

    pub(super) fn read_clauses(&mut self, text: Text<'_>, folder: Option<&str>) -> Result<(), Diagnostic> {
        let file: ClausesFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        let folder = folder.unwrap_or(&file.operator.value);
        if file.operator.value != folder {
            return Err(text.wrong(file.operator.defined, format!("the folder is `{folder}`")));
        }
        for entry in file.clauses {
            let (statement, rejects, stands_for) = self.of_families.complete(text, folder, &entry)?;
            let id = entry.id;
            let prefix = format!("{folder}.");
            if id.value.strip_prefix(&prefix).is_none_or(|rest| rest.split('.').count() != 2) {
                return Err(
                    text.wrong(id.defined, format!("a clause of {folder} is named {prefix}<area>.<name>"))
                );
            }
            if let Some(erratum) = entry.errata.iter().find(|erratum| self.erratum(&erratum.value).is_none())
            {
                return Err(text.wrong(erratum.defined, format!("unknown erratum `{}`", erratum.value)));
            }
            if entry.basis == Basis::Ruling && entry.errata.is_empty() {
                return Err(text
                    .wrong(id.defined, "a ruling names its entries in the errata ledger")
                    .help("add `errata: [id]`"));
            }
            if self.clause(&id.value).is_some() {
                return Err(text.wrong(id.defined, format!("two clauses have the id `{}`", id.value)));
            }
            let mut sources = vec![Section { document: entry.document, section: entry.section }];
            sources.extend(entry.also);
            if let Some(unknown) = sources.iter().find(|source| !self.has_section(source)) {
                let message =
                    format!("documents.yaml has no section `{}` of `{}`", unknown.section, unknown.document);
                return Err(text.wrong(id.defined, message));
            }
            self.clause_at.insert(id.value.clone(), self.clauses.len());
            self.clauses.push(Clause {
                id: id.value,
                text: statement,
                sources,
                basis: entry.basis,
                rejects,
                stands_for,
                errata: entry.errata.into_iter().map(|erratum| erratum.value).collect(),
            });
        }
        Ok(())
    }

    fn has_section(&self, source: &Section) -> bool {
        self.documents
            .iter()
            .any(|document| document.id == source.document && document.sections.contains(&source.section))
    }
}
