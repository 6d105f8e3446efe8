//! The clauses that the cases of a run test, with the documents and rulings that they rest on.

use std::collections::HashMap;
use std::sync::Arc;

use gather_spec::Specification;
use serde::Serialize;

/// The tables of clauses, of sets of clauses, and of their documents and rulings. Rows refer to each other by number.
#[derive(Default, Serialize)]
pub(super) struct Clauses<'a> {
    clauses: Vec<ClauseRecord<'a>>,
    /// The sets of clauses that cases test.
    sets: Vec<Vec<usize>>,
    documents: Vec<DocumentRecord<'a>>,
    rulings: Vec<RulingRecord<'a>>,
    #[serde(skip)]
    numbers: RecordNumbers<'a>,
}

#[derive(Default)]
struct RecordNumbers<'a> {
    clauses: HashMap<&'a str, usize>,
    sets: HashMap<Vec<usize>, usize>,
    documents: HashMap<&'a str, usize>,
    rulings: HashMap<&'a str, usize>,
}

#[derive(Serialize)]
struct ClauseRecord<'a> {
    id: &'a str,
    text: &'a str,
    basis: &'static str,
    /// The number of a document, and the section.
    sources: Vec<(usize, &'a str)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rulings: Vec<usize>,
}

#[derive(Serialize)]
struct DocumentRecord<'a> {
    title: &'a str,
    address: &'a str,
}

#[derive(Serialize)]
struct RulingRecord<'a> {
    id: &'a str,
    title: &'a str,
    says: &'a str,
    decision: &'a str,
}

impl<'a> Clauses<'a> {
    /// The number of the set of these clauses. Ids that the specification lacks are left out.
    pub(super) fn set(&mut self, ids: &'a Arc<[String]>, spec: &'a Specification) -> usize {
        let set: Vec<usize> = ids.iter().filter_map(|id| self.clause(id, spec)).collect();
        if let Some(number) = self.numbers.sets.get(&set) {
            return *number;
        }
        self.sets.push(set.clone());
        self.numbers.sets.insert(set, self.sets.len() - 1);
        self.sets.len() - 1
    }

    fn clause(&mut self, id: &'a str, spec: &'a Specification) -> Option<usize> {
        if let Some(number) = self.numbers.clauses.get(id) {
            return Some(*number);
        }
        let clause = spec.clause(id)?;
        let of_document = |source: &'a gather_spec::clause::Section| {
            Some((self.document(&source.document, spec)?, source.section.as_str()))
        };
        let sources = clause.sources.iter().filter_map(of_document).collect();
        let rulings = clause.errata.iter().filter_map(|id| self.ruling(id, spec)).collect();
        let (text, basis) = (clause.text.trim(), clause.basis.name());
        self.clauses.push(ClauseRecord { id, text, basis, sources, rulings });
        self.numbers.clauses.insert(id, self.clauses.len() - 1);
        Some(self.clauses.len() - 1)
    }

    fn document(&mut self, id: &'a str, spec: &'a Specification) -> Option<usize> {
        if let Some(number) = self.numbers.documents.get(id) {
            return Some(*number);
        }
        let document = spec.documents.iter().find(|document| document.id == id)?;
        self.documents.push(DocumentRecord { title: &document.title, address: &document.address });
        self.numbers.documents.insert(id, self.documents.len() - 1);
        Some(self.documents.len() - 1)
    }

    fn ruling(&mut self, id: &'a str, spec: &'a Specification) -> Option<usize> {
        if let Some(number) = self.numbers.rulings.get(id) {
            return Some(*number);
        }
        let ruling = spec.erratum(id)?;
        let (title, says, decision) = (&*ruling.title, ruling.says.trim(), ruling.decision.trim());
        self.rulings.push(RulingRecord { id: &ruling.id, title, says, decision });
        self.numbers.rulings.insert(id, self.rulings.len() - 1);
        Some(self.rulings.len() - 1)
    }
}
