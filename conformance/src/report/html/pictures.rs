//! Pictures of the calls that do not pass, as many as the page has room for.

use std::collections::HashMap;
use std::sync::Arc;

use gather_spec::{Case, Profile};

use crate::picture;
use gather_conformance::internals::judge::Verdict;

use super::cases::SMALL;
use super::texts::TextTable;
use gather_conformance::internals::entry::Entry;

/// The bytes that all pictures of a page may take together. One takes some 10 KB.
const ROOM: usize = 3 << 20;

/// The pictures of a page, by run and profile: backends that fail alike share one.
pub(super) struct Pictures {
    /// What each backend may add, in bytes.
    share: usize,
    drawn: HashMap<(String, Profile), usize>,
}

impl Pictures {
    /// Room for the pictures of this many backends.
    pub(super) fn of(backends: usize) -> Self {
        Self { share: ROOM / backends.max(1), drawn: HashMap::new() }
    }

    /// Draws the small calls among entries with the numbers of their cases, unknown failures first.
    pub(super) fn draw(
        &mut self,
        entries: &[(usize, &Entry)],
        cases: &[&Arc<Case>],
        texts: &mut TextTable<'_>,
    ) {
        let small = |entry: &Entry| entry.size.elements <= SMALL && entry.verdict != Verdict::Unsupported;
        let mut wanted: Vec<_> = entries.iter().filter(|(_, entry)| small(entry)).collect();
        wanted.sort_by_key(|(_, entry)| entry.verdict == Verdict::KnownDeviation);
        let mut left = self.share;
        for (number, entry) in wanted {
            let Some(profile) = entry.profile else { continue };
            let (case, key) = (cases[*number], (entry.run_id().to_owned(), profile));
            if self.drawn.contains_key(&key) {
                continue;
            }
            let Some(run) = case.run(entry.run_id()) else { continue };
            let signatures = std::iter::once((*case.signature).clone()).collect();
            let make = picture::answerer(signatures, case.operator().as_str());
            let Ok(svg) = picture::svg(&run.call, &case.names, profile, &make) else { continue };
            let Some(rest) = left.checked_sub(svg.len()) else { return };
            left = rest;
            self.drawn.insert(key, texts.number(svg));
        }
    }

    /// The number of the text that is the picture of an entry, or 0.
    pub(super) fn number(&self, entry: &Entry) -> usize {
        let drawn = entry.profile.and_then(|profile| self.drawn.get(&(entry.run_id().to_owned(), profile)));
        drawn.copied().unwrap_or(0)
    }
}
