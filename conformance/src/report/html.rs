//! The page for people: one HTML file with its styles, script and data, which loads nothing and needs no network.
//!
//! `page.html` is the template of what is readable without JavaScript: the sentence of each backend and the matrix of
//! operators and backends. Everything else is drawn by `script/*.js` from [`PageData`], which stands in the page as JSON.
//! Texts of backends reach the page in two ways only: escaped by the template, or inside that JSON, from which the
//! script makes text nodes. A content security policy that names the digests of script and styles forbids the rest.
//!
//! # Changes of the page
//!
//! `script/*.js` is plain JavaScript without a build step. Every text from a backend becomes a text node
//! (`make` in `elements.js`). The scripts are named below in order; the columns of [`PageData`] are in `cases`,
//! `backends` and `clauses`. What a reader sees as a column has its heading in `page.html` and its cell in
//! `script/list.js`; the matrix of operators is in `overview`.
//!
//! `cargo test --test program page` checks the file. `cargo test --test program browser` checks the page in Chromium, with axe-core, and prints how fast it is; it needs Node, Debian's
//! package `chromium`, and `npm ci --ignore-scripts` in `conformance/tests/browser`. `node screenshots.mjs
//! REPORT.html FOLDER` there makes pictures: look at them.

mod backends;
mod cases;
mod clauses;
mod overview;
mod pictures;
mod texts;

use std::path::Path;
use std::sync::Arc;

use askama::Template;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gather_spec::{Basis, Case, Specification};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use gather_conformance::internals::files::write_whole_with;
use gather_conformance::internals::judge::Verdict;

use super::Label;
use super::Report;
use backends::BackendRecord;
use cases::Cases;
use clauses::Clauses;
use overview::{Overview, OverviewRow, state};
use pictures::Pictures;
use texts::TextTable;

/// The name of the page in the folder of a report.
pub(crate) const PAGE: &str = "report.html";

const STYLE: &str = include_str!("html/style.css");

/// The script. Its files share one scope, and only the last one does anything when it is read.
const SCRIPT: &str = concat!(
    "\"use strict\";\n",
    include_str!("html/script/elements.js"),
    include_str!("html/script/data.js"),
    include_str!("html/script/filters.js"),
    include_str!("html/script/outcome.js"),
    include_str!("html/script/case.js"),
    include_str!("html/script/list.js"),
    include_str!("html/script/clauses.js"),
    include_str!("html/script/causes.js"),
    include_str!("html/script/campaign.js"),
    include_str!("html/script/main.js"),
);

/// What the script reads. Cases and verdicts are columns and runs rather than an object per result, since nearly all of
/// them pass; every text stands once, in `texts`.
#[derive(Serialize)]
struct PageData<'a> {
    /// The names of verdicts, which others count from 0.
    verdicts: [&'static str; Verdict::ALL.len()],
    /// How each verdict counts: `pass`, `known`, `unasked` or `fail`.
    states: [&'static str; Verdict::ALL.len()],
    bases: [&'static str; Basis::ALL.len()],
    cases: Cases<'a>,
    #[serde(flatten)]
    clauses: Clauses<'a>,
    backends: Vec<BackendRecord<'a>>,
    texts: TextTable<'a>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct ReportPage<'a> {
    suite: &'a str,
    interrupted: Option<&'a str>,
    overviews: Vec<Overview<'a>>,
    rows: Vec<OverviewRow<'a>>,
    style: &'static str,
    script: &'static str,
    policy: String,
    data: String,
}

impl<'a> PageData<'a> {
    /// `all` are the cases of the run, in order; each backend has results in the same order, but not for operators that it
    /// does not declare, and not for all if the user interrupted the run.
    fn new(report: &'a Report, labels: &[Label], spec: &'a Specification, all: &[&'a Arc<Case>]) -> Self {
        let (mut texts, mut clauses) = (TextTable::default(), Clauses::default());
        let mut pictures = Pictures::of(labels.len());
        let declares =
            |case: &&&Arc<Case>| report.backends.iter().any(|one| one.declares(case.operator().as_str()));
        let all: Vec<&Arc<Case>> = all.iter().filter(declares).copied().collect();
        let cases = Cases::new(&all, spec, &mut clauses, &mut texts);
        let backends = report.backends.iter().zip(labels);
        let backends = backends
            .map(|(one, label)| {
                BackendRecord::new(one, label, &all, spec, (&mut clauses, &mut pictures, &mut texts))
            })
            .collect();
        Self {
            verdicts: Verdict::ALL.map(Verdict::name),
            states: Verdict::ALL.map(state),
            bases: Basis::ALL.map(Basis::name),
            cases,
            clauses,
            backends,
            texts,
        }
    }
}

impl ReportPage<'_> {
    fn new<'a>(report: &'a Report, spec: &'a Specification, cases: &[&'a Arc<Case>]) -> ReportPage<'a> {
        let labels = Label::of_all(&report.backends);
        let (data, (overviews, rows)) = rayon::join(
            || json(&PageData::new(report, &labels, spec, cases)),
            || (overview::sentences(report, &labels), overview::rows(report, spec)),
        );
        ReportPage {
            suite: &report.suite,
            interrupted: report.interrupted.as_deref(),
            overviews,
            rows,
            style: STYLE,
            script: SCRIPT,
            policy: policy(),
            data,
        }
    }
}

/// Data as JSON that no HTML parser takes for the end of its element: `<` occurs only in strings, where it may be escaped.
fn json(data: &PageData<'_>) -> String {
    serde_json::to_string(data).expect("it is plain data").replace('<', "\\u003c")
}

/// The content security policy: only this script and these styles, images from the page itself, and no network.
fn policy() -> String {
    let digest = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(STYLE)
    )
}

/// Writes the page atomically.
pub(super) fn write(
    report: &Report,
    path: &Path,
    spec: &Specification,
    cases: &[&Arc<Case>],
) -> std::io::Result<()> {
    let page = ReportPage::new(report, spec, cases);
    write_whole_with(path, |file| page.write_into(file))
}
