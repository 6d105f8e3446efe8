//! The measurements as a page: one HTML file with a table and a bar plot for each kind of output memory, which loads nothing
//! and runs no script. `side-by-side.html` is the template, which escapes the texts of backends; a content security policy that
//! names the digest of the styles forbids the rest.

mod plot;

use askama::Template;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use super::record::Record;
use super::table;
use plot::Plot;

const STYLE: &str = include_str!("side-by-side.css");

#[derive(Template)]
#[template(path = "side-by-side.html")]
struct TimingPage<'a> {
    policy: String,
    style: &'static str,
    versions: String,
    machine: &'a str,
    threads: usize,
    turns: u32,
    rounds: u32,
    interruption: Option<String>,
    ours: &'a str,
    plots: Vec<Plot<'a>>,
    titles: Vec<String>,
    rows: Vec<Vec<String>>,
    left_out: Vec<String>,
}

/// The page of a run.
pub(crate) fn page(record: &Record) -> String {
    let rows = record
        .workloads
        .iter()
        .flat_map(|measured| measured.timed.iter().map(move |timed| table::cells(measured, timed)));
    let page = TimingPage {
        policy: policy(),
        style: STYLE,
        versions: record.versions(),
        machine: &record.machine,
        threads: record.threads,
        turns: record.turns,
        rounds: record.rounds,
        interruption: record.interruption(),
        ours: record.backends.first().map_or("the first backend", |backend| &backend.name),
        plots: Plot::all(record),
        titles: table::titles(&record.names()),
        rows: rows.collect(),
        left_out: record.left_out(),
    };
    page.render().expect("a page is written to memory")
}

/// The content security policy: only these styles, no script and no network.
fn policy() -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'")
}

#[cfg(test)]
mod tests;
