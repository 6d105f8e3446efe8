//! A report that an earlier run wrote as JSON, read again.

use std::path::Path;

use serde::Deserialize;

use crate::backend::{Capability, Identity};
use crate::files;
use crate::reproduction::Named;
use crate::words::name;

use super::campaign::Campaign;
use super::departure::Problem;
use super::found::{BackendReport, SCHEMA, Summary};
use crate::entry::Entry;

/// The largest report to read, in bytes: many times that of the whole suite on all adapters.
const LARGEST: u64 = 1 << 30;

/// What later commands need of a report.
#[derive(Debug, Deserialize)]
pub struct Saved {
    /// The version of the suite.
    pub suite: String,
    /// The signal with which the user ended the run, if so.
    pub interrupted: Option<String>,
    /// The results of each backend.
    pub backends: Vec<BackendReport>,
}

/// What tells whether a file is a report, and of which version.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    suite: String,
    #[serde(rename = "backends")]
    _backends: Vec<serde::de::IgnoredAny>,
}

impl Saved {
    /// Reads a report.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = files::read_bytes(path, LARGEST)?;
        let wrong = |what: String| format!("{}: {what}", path.display());
        let help = "help: name a report.json that `gatherspec run` wrote";
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| {
            wrong(format!("this is no report of a run: {}\n{help}", name(&error.to_string())))
        })?;
        if head.schema != SCHEMA {
            return Err(wrong(format!(
                "this report has schema {}, and {SCHEMA} is expected\nhelp: it is of suite {}; read it with that version",
                head.schema,
                name(&head.suite)
            )));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| wrong(format!("this report is damaged: {}\n{help}", name(&error.to_string()))))
    }
}

/// The fields of a backend's report that are read again.
#[derive(Deserialize)]
struct Part {
    argument: String,
    #[serde(default)]
    sources: Vec<String>,
    backend: Identity,
    summary: Summary,
    broken: Option<String>,
    #[serde(default)]
    problems: Vec<String>,
    results: Vec<Entry>,
    #[serde(default)]
    campaign: Vec<Campaign>,
}

impl<'de> Deserialize<'de> for BackendReport {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = Part::deserialize(deserializer)?;
        let named = part.summary.operators.keys();
        let declared = named.map(|name| (name.clone(), Capability::default())).collect();
        Ok(Self {
            argument: part.argument,
            sources: part.sources,
            backend: part.backend,
            summary: part.summary,
            clauses: std::collections::BTreeMap::new(),
            broken: part.broken,
            departures: Vec::new(),
            problems: part.problems.into_iter().map(Problem::Said).collect(),
            remarks: Vec::new(),
            // Older reports have entries of operators that were not declared, without a profile.
            results: part.results.into_iter().filter(|entry| entry.profile.is_some()).collect(),
            campaign: part.campaign,
            named: Named::Option,
            declared,
        })
    }
}
