//! A report that an earlier run wrote as JSON, read again.

use std::path::Path;

use serde::Deserialize;

use crate::backend::{Capability, Identity};
use crate::files;
use crate::reproduction::BackendNaming;
use crate::words::name;

use super::campaign::PartReport;
use super::departure::Problem;
use super::found::{BackendReport, Report, SCHEMA, Summary};
use crate::entry::Entry;

/// The largest report to read, in bytes: many times that of the whole suite on all adapters.
const LARGEST: u64 = 1 << 30;

/// The members that show whether a file is a report, and of which version.
#[derive(Deserialize)]
struct Head {
    schema: u32,
    suite: String,
    #[serde(rename = "backends")]
    _backends: Vec<serde::de::IgnoredAny>,
}

impl Report {
    /// Reads a report that `gatherspec run` wrote: what later commands need of it.
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
struct Fields {
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
    campaign: Vec<PartReport>,
}

impl<'de> Deserialize<'de> for BackendReport {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let named = fields.summary.operators.keys();
        let declared = named.map(|name| (name.clone(), Capability::default())).collect();
        Ok(Self {
            argument: fields.argument,
            sources: fields.sources,
            backend: fields.backend,
            summary: fields.summary,
            clauses: std::collections::BTreeMap::new(),
            broken: fields.broken,
            departures: Vec::new(),
            problems: fields.problems.into_iter().map(Problem::Said).collect(),
            remarks: Vec::new(),
            // Older reports have entries of operators that were not declared, without a profile.
            results: fields.results.into_iter().filter(|entry| entry.profile.is_some()).collect(),
            campaign: fields.campaign,
            named: BackendNaming::Option,
            declared,
        })
    }
}
