//! Where a case comes from: its history, the example that it restates, and what computed its expectation.

use crate::diagnostic::{Diagnostic, Quoted};

use super::case_reader::CaseReader;
use super::raw::CaseEntry;

impl CaseReader<'_> {
    /// Checks what an entry says of its sources.
    pub(super) fn check_sources(&self, entry: &CaseEntry) -> Result<(), Diagnostic> {
        if let Some(evidence) = entry.history.0.iter().find(|evidence| !evidence.value.is_complete()) {
            return Err(self
                .wrong(
                    evidence.defined,
                    "history needs a public `link` that begins with https://, or `tool`, `version` and `call`",
                )
                .help("history: { link: \"https://github.com/owner/repo/issues/1\" }"));
        }
        if let Some(id) = &entry.documented
            && !self.spec.examples.iter().any(|example| example.id == id.value)
        {
            return Err(self
                .wrong(id.defined, format!("{} is no documented example", Quoted(&id.value)))
                .help("its id in inventory.yaml is expected, such as `tf-gather-nd/2`"));
        }
        match &entry.provenance {
            Some(provenance) if self.in_spec && is_ours(&provenance.value.computed_by) => Err(self
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
