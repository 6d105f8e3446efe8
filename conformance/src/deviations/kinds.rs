//! Known failures of the campaign: kinds of drawn calls, and violated laws. The campaign of a run is fixed, so a listed
//! kind must occur, unless its entry says that it need not.

use std::fmt::Write as _;

use gather_spec::Specification;
use serde::Deserialize;

use crate::fuzz::Key;
use crate::judge::Verdict;
use crate::laws::LAWS;
use crate::report::{BackendReport, Kind, Part, Problem};
use crate::select::Pattern;
use crate::words::quoted;

/// An entry: the operator, the kind of failure, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnownKind {
    /// The law, by name or glob; absent for drawn calls.
    #[serde(default)]
    law: Option<Pattern>,
    /// Operators, by name or glob.
    operator: Pattern,
    /// The rest of the failure's key as a report shows it, or a glob: `accepted-bad-input, index-dtype expected`.
    kind: Pattern,
    /// The reason.
    #[serde(default)]
    pub(super) reason: String,
    /// A public thread or page.
    #[serde(default)]
    link: Option<String>,
    /// Whether it need not occur, because the behaviour is random.
    #[serde(default)]
    may: bool,
    /// The affected versions of the backend, as a glob; `None` for all.
    #[serde(default)]
    versions: Option<Pattern>,
}

impl KnownKind {
    /// Everything that is wrong with it, as an entry about laws (`of_laws`) or about drawn calls.
    pub(super) fn wrong(&self, of_laws: bool, spec: &Specification) -> Vec<String> {
        let mut wrong = Vec::new();
        match &self.law {
            None if of_laws => wrong.push("needs a `law`".to_owned()),
            Some(_) if !of_laws => wrong.push("has a `law`, which belongs under `laws`".to_owned()),
            Some(law) if !LAWS.iter().any(|known| law.fits(known.name)) => {
                wrong.push("matches no law".to_owned());
            }
            _ => {}
        }
        if !spec.operators.iter().any(|page| self.operator.fits(page.operator.as_str())) {
            wrong.push("matches no operator".to_owned());
        }
        wrong.extend(self.versions.iter().filter_map(Pattern::wrong_version));
        if self.reason.trim().is_empty() {
            wrong.push("has no reason".to_owned());
        }
        wrong
    }

    /// The patterns of the entry, in words.
    pub(super) fn pattern(&self) -> String {
        let law = self.law.as_ref().map(|law| format!("law: {}, ", law.as_str())).unwrap_or_default();
        format!("{law}operator: {}, kind: {}", self.operator.as_str(), self.kind.as_str())
    }

    /// Whether it applies to this version of the backend.
    fn concerns(&self, version: &str) -> bool {
        self.versions.as_ref().is_none_or(|glob| glob.fits(version))
    }

    fn fits(&self, law: Option<&str>, operator: &str, kind: &str) -> bool {
        let by_law = match (&self.law, law) {
            (None, None) => true,
            (Some(pattern), Some(law)) => pattern.fits(law),
            _ => false,
        };
        by_law && self.operator.fits(operator) && self.kind.fits(kind)
    }

    fn covers(&self, kind: &Kind) -> bool {
        self.fits(kind.law.as_deref(), &kind.entry.operator, &kind.kind)
    }
}

/// Whether an entry matches a kind of failure of this version of a backend.
pub(super) fn knows(entries: &[KnownKind], key: &Key, version: &str) -> bool {
    let about = |entry: &&KnownKind| entry.concerns(version);
    entries.iter().filter(about).any(|entry| entry.fits(key.law.as_deref(), &key.operator, &key.kind()))
}

/// Gives known kinds the verdict `known-deviation`. If the campaign is `whole`, an entry that did not occur is a problem.
pub(super) fn apply(entries: &[KnownKind], report: &mut BackendReport, whole: bool) {
    let version = report.backend.version.clone();
    let entries: Vec<&KnownKind> = entries.iter().filter(|entry| entry.concerns(&version)).collect();
    for kind in report.campaign.iter_mut().flat_map(|campaign| &mut campaign.kinds) {
        let Some(known) = entries.iter().find(|entry| entry.covers(kind)) else { continue };
        kind.entry.observed = Some(kind.entry.verdict);
        kind.entry.verdict = Verdict::KnownDeviation;
        kind.entry.reason = Some(known.reason.trim().to_owned());
        kind.entry.link.clone_from(&known.link);
    }
    if !whole {
        return;
    }
    let occurs = |entry: &KnownKind| {
        report.campaign.iter().flat_map(|campaign| &campaign.kinds).any(|kind| entry.covers(kind))
    };
    let missing = entries.iter().filter(|entry| !entry.may && !occurs(entry));
    let missing: Vec<Problem> = missing.map(|entry| Problem::KindDidNotOccur(entry.pattern())).collect();
    report.problems.extend(missing);
}

/// Entries for every kind that failed or is known, with the reasons that are known.
pub(super) fn draft(report: &BackendReport) -> String {
    let mut text = String::new();
    for campaign in report.campaign.iter().filter(|campaign| !campaign.kinds.is_empty()) {
        text.push_str(if campaign.part == Part::Drawn { "drawn:\n" } else { "laws:\n" });
        for kind in &campaign.kinds {
            let one_line = |text: &Option<String>| -> String {
                let text = text.as_deref().unwrap_or_default().chars().take(160);
                text.map(|c| if c.is_control() { ' ' } else { c }).collect()
            };
            let (call, actual) = (one_line(&kind.entry.call), one_line(&kind.entry.actual));
            if !call.is_empty() {
                let _ = writeln!(text, "  # {call}: {actual}");
            }
            let law = kind.law.as_ref().map(|law| format!("law: {}\n    ", quoted(law))).unwrap_or_default();
            let _ = write!(
                text,
                "  - {law}operator: {}\n    kind: {}\n    reason: {}\n",
                quoted(&kind.entry.operator),
                quoted(&kind.kind),
                quoted(kind.entry.reason.as_deref().unwrap_or_default())
            );
            if let Some(link) = &kind.entry.link {
                let _ = writeln!(text, "    link: {}", quoted(link));
            }
        }
    }
    text
}
