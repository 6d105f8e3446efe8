//! What a case rests on: its clauses, its history, the example that it restates, and what computed its expectation.

use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::specification::Specification;
use crate::yaml::Spanned;

use super::case_reader::{CaseReader, NamingScheme};
use super::raw::CaseEntry;

impl CaseReader<'_> {
    /// The operator's clauses that a case tests.
    pub(super) fn clauses(&self, entry: &CaseEntry, spec: &Specification) -> Result<Vec<String>, Diagnostic> {
        let own = |id: &Spanned<String>| match self.names {
            NamingScheme::Page => id.value.clone(),
            NamingScheme::Family => self.map.get(&id.value).unwrap_or(&id.value).clone(),
        };
        let mut clauses: Vec<String> = Vec::new();
        for id in &entry.clauses.value {
            let clause = own(id);
            if spec.clause(&clause).is_none() {
                return Err(self.unknown_clause(id, spec));
            }
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        match clauses.is_empty() {
            true => Err(self.wrong(entry.clauses.defined, "a case tests at least one clause")),
            false => Ok(clauses),
        }
    }

    fn unknown_clause(&self, id: &Spanned<String>, spec: &Specification) -> Diagnostic {
        let list = format!("see `gatherspec list clauses --operator {}`", self.page.operator);
        let known = spec.clauses.iter().map(|clause| clause.id.as_str());
        let help =
            nearest(&id.value, known).map_or(list.clone(), |meant| format!("did you mean `{meant}`? {list}"));
        self.wrong(id.defined, format!("unknown clause {}", Quoted(&id.value))).help(help)
    }

    /// Checks what an entry says of its sources.
    pub(super) fn check_sources(
        &self,
        entry: &CaseEntry,
        spec: &Specification,
        in_spec: bool,
    ) -> Result<(), Diagnostic> {
        if let Some(evidence) = entry.history.0.iter().find(|evidence| !evidence.value.is_complete()) {
            return Err(self
                .wrong(
                    evidence.defined,
                    "history needs a public `link` that begins with https://, or `tool`, `version` and `call`",
                )
                .help("history: { link: \"https://github.com/owner/repo/issues/1\" }"));
        }
        if let Some(id) = &entry.documented
            && !spec.examples.iter().any(|example| example.id == id.value)
        {
            return Err(self
                .wrong(id.defined, format!("{} is no documented example", Quoted(&id.value)))
                .help("its id in inventory.yaml is expected, such as `tf-gather-nd/2`"));
        }
        match &entry.provenance {
            Some(provenance) if in_spec && is_ours(&provenance.value.computed_by) => Err(self
                .wrong(
                    provenance.defined,
                    "an expectation under spec/ must not come from our own implementations",
                )
                .help("derive it by hand from the documents and leave `provenance` out")),
            _ => Ok(()),
        }
    }
}

/// Whether a tool is one of our own implementations.
fn is_ours(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["reference", "optimized", "gatherspec", "gather-reference", "gather-optimized"].contains(&tool.as_str())
}
