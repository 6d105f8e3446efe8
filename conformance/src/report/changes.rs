//! What changed against an earlier report: new failures in full, the rest as lists. Backends are matched by
//! name, regardless of version, and cases by id.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gather_spec::Specification;

use gather_conformance::internals::style;
use gather_conformance::internals::words::{counted, cut, name};

use super::{BackendReport, Report};
use super::{Label, identity};
use super::{PageWidth, failures, painted};
use gather_conformance::internals::entry::Entry;

/// The most ids to name in a list.
const IDS: usize = 20;

/// What changed, for each backend of a run.
pub(crate) struct Changes<'a> {
    backends: Vec<BackendChanges<'a>>,
    suite: &'a str,
}

/// What changed for one backend.
struct BackendChanges<'a> {
    now: &'a BackendReport,
    /// Its name and version in the earlier report.
    before: String,
    new_failures: BTreeSet<&'a str>,
    new_problems: Vec<String>,
    /// The operators that it no longer declares, with the number of their cases that it was asked.
    lost: BTreeMap<&'a str, usize>,
    fixed: Vec<String>,
    other: Vec<String>,
    new_cases: Vec<String>,
    gone: Vec<String>,
}

impl<'a> Changes<'a> {
    /// Compares a report with an earlier one. If the run is `whole`, cases that are missing from it are gone.
    ///
    /// # Errors
    /// If the earlier report does not hold a backend of this run.
    pub(crate) fn between(
        before: &'a Report,
        now: &'a Report,
        spec: &Specification,
        whole: bool,
    ) -> Result<Self, String> {
        let changed = |now: &'a BackendReport| {
            Ok(BackendChanges::between(earlier(before, now)?, now, spec, whole && now.broken.is_none()))
        };
        let backends = now.backends.iter().map(changed).collect::<Result<_, String>>()?;
        Ok(Self { backends, suite: &before.suite })
    }

    /// Whether something fails that did not fail before.
    pub(crate) fn fail(&self) -> bool {
        self.backends.iter().any(|one| one.failures() > 0)
    }

    /// The changes for people, with colours. If `quiet`, only how many there are.
    pub(crate) fn render(&self, quiet: bool) -> String {
        let page = PageWidth::of_stdout();
        let mut text = String::new();
        let shown = if quiet { &[] } else { self.backends.as_slice() };
        for one in shown {
            one.write_failures(&mut text, page);
        }
        for one in shown {
            one.write_lists(&mut text, page);
        }
        for one in &self.backends {
            let style = if one.failures() > 0 { style::BAD } else { style::GOOD };
            let _ = writeln!(text, "{}", painted(style, &one.sentence(self.suite)));
        }
        text
    }
}

/// The earlier report on a backend: the one of its name; if several have it, that of the same argument.
fn earlier<'a>(before: &'a Report, now: &BackendReport) -> Result<&'a BackendReport, String> {
    let same = |one: &&BackendReport| one.backend.name == now.backend.name;
    let named: Vec<&BackendReport> = before.backends.iter().filter(same).collect();
    let exact = before.backends.iter().find(|one| one.argument == now.argument);
    match named.as_slice() {
        [only] if now.broken.is_none() => Ok(*only),
        _ => exact.ok_or_else(|| {
            let names: Vec<String> = before.backends.iter().map(|one| one.argument.clone()).collect();
            format!(
                "the baseline is of another backend: it holds {}, and not {}\nhelp: name the report of an earlier run of {}",
                name(&names.join(", ")),
                name(&now.argument),
                name(&now.argument)
            )
        }),
    }
}

impl<'a> BackendChanges<'a> {
    fn between(before: &BackendReport, now: &'a BackendReport, spec: &Specification, whole: bool) -> Self {
        // An id may have become that of a run.
        let case = |id: String| id.split('[').next().unwrap_or_default().to_owned();
        let id = |entry: &'_ Entry| spec.renamed(&entry.id).map_or_else(|| entry.id.clone(), case);
        let old: BTreeMap<String, &Entry> = before.entries().map(|entry| (id(entry), entry)).collect();
        let lost = now.summary.undeclared.iter();
        let lost = lost.filter_map(|name| Some((name.as_str(), before.summary.operators.get(name)?.asked)));
        let old_problems: BTreeSet<String> = before.problems.iter().map(ToString::to_string).collect();
        let mut changed = Self {
            now,
            before: identity(before),
            new_failures: BTreeSet::new(),
            lost: lost.collect(),
            new_problems: now
                .problems
                .iter()
                .map(ToString::to_string)
                .filter(|problem| !old_problems.contains(problem))
                .collect(),
            fixed: Vec::new(),
            other: Vec::new(),
            new_cases: Vec::new(),
            gone: Vec::new(),
        };
        for entry in now.entries() {
            changed.note(old.get(&entry.id).copied(), entry);
        }
        if whole {
            let kept: BTreeSet<&str> = now.entries().map(|entry| entry.id.as_str()).collect();
            let gone = old.iter().filter(|(id, entry)| {
                !kept.contains(id.as_str()) && !changed.lost.contains_key(entry.operator.as_str())
            });
            let (kinds, cases): (Vec<_>, Vec<_>) = gone.partition(|(_, entry)| is_kind(before, entry));
            changed.gone = cases.into_iter().map(|(id, _)| id.clone()).collect();
            if !now.campaign.is_empty() {
                let failed = kinds.into_iter().filter(|(_, entry)| entry.verdict.is_failure());
                changed.fixed.extend(failed.map(|(id, _)| id.clone()));
            }
        }
        changed
    }

    /// Notes one entry, with what it was before.
    fn note(&mut self, before: Option<&Entry>, now: &'a Entry) {
        let id = now.id.clone();
        match before {
            None if now.verdict.is_failure() => _ = self.new_failures.insert(&now.id),
            None => self.new_cases.push(id),
            Some(before) => match (before.verdict.is_failure(), now.verdict.is_failure()) {
                (false, true) => _ = self.new_failures.insert(&now.id),
                (true, false) => self.fixed.push(id),
                _ if before.label() != now.label() => {
                    self.other.push(format!("{id} ({}, now {})", before.label(), now.label()));
                }
                _ if before.actual != now.actual => {
                    self.other.push(format!("{id} ({} with another outcome)", now.label()));
                }
                _ => {}
            },
        }
    }

    fn failures(&self) -> usize {
        self.new_failures.len()
            + self.new_problems.len()
            + self.lost.len()
            + usize::from(self.now.broken.is_some())
    }

    /// The report with nothing but the new failures.
    fn only_new(&self) -> BackendReport {
        let is_new = |entry: &&Entry| self.new_failures.contains(entry.id.as_str());
        let campaign = self.now.campaign.iter().map(|campaign| {
            let mut campaign = campaign.clone();
            campaign.kinds.retain(|kind| is_new(&&kind.entry));
            campaign
        });
        BackendReport {
            argument: self.now.argument.clone(),
            sources: self.now.sources.clone(),
            backend: self.now.backend.clone(),
            summary: self.now.summary.clone(),
            clauses: self.now.clauses.clone(),
            broken: self.now.broken.clone(),
            departures: Vec::new(),
            problems: Vec::new(),
            remarks: Vec::new(),
            results: self.now.results.iter().filter(is_new).cloned().collect(),
            campaign: campaign.collect(),
            named: self.now.named,
            declared: self.now.declared.clone(),
        }
    }

    fn write_failures(&self, text: &mut String, page: PageWidth) {
        let only = self.only_new();
        for label in Label::of_all(std::slice::from_ref(&only)) {
            failures(text, &only, &label, page);
        }
        let lost = self.lost.iter().map(|(operator, asked)| {
            format!(
                "{operator} is no longer declared: {} that ran before did not run",
                counted(*asked, "case")
            )
        });
        for problem in self.new_problems.iter().cloned().chain(lost) {
            let _ = writeln!(text, "{}\n", painted(style::BAD, &page.lines(2, &problem).join("\n  ")));
        }
    }

    fn write_lists(&self, text: &mut String, page: PageWidth) {
        for (what, ids) in [
            ("fixed", &self.fixed),
            ("changed", &self.other),
            ("new cases", &self.new_cases),
            ("gone", &self.gone),
        ] {
            if !ids.is_empty() {
                let list = format!("{}: {}", ids.len(), cut(ids, IDS, "report.json"));
                let _ = writeln!(text, "  {what:<10} {}", page.lines(13, &list).join("\n             "));
            }
        }
    }

    fn sentence(&self, suite: &str) -> String {
        if self.now.broken.is_some() {
            return format!("{} was not run", identity(self.now));
        }
        format!(
            "{} against {} (suite {}): {}, {} fixed, {} changed, {}, {} gone",
            identity(self.now),
            self.before,
            name(suite),
            counted(self.failures(), "new failure"),
            self.fixed.len(),
            self.other.len(),
            counted(self.new_cases.len(), "new case"),
            self.gone.len()
        )
    }
}

/// Whether an entry is a kind of failures of a campaign.
fn is_kind(report: &BackendReport, entry: &Entry) -> bool {
    let mut kinds = report.campaign.iter().flat_map(|campaign| &campaign.kinds);
    kinds.any(|kind| kind.entry.id == entry.id)
}
