//! The results of a campaign, for people.

use std::fmt::Write as _;

use gather_campaign::fuzz::{CampaignReport, Corpus, Failing, Shard};
use gather_conformance::internals::words::counted;

use super::ending::{Failure, Status};
use super::output::{complain, print};

/// Prints the results and a last line, and returns the exit status. A campaign without failures conforms only if it tested
/// something.
pub(super) fn conclude(report: &CampaignReport, last: &str) -> Result<Status, Failure> {
    print(&(summary(report) + last))?;
    Ok(match (report.is_clean(), report.gap()) {
        (false, _) => Status::DoesNotConform,
        (true, None) => Status::Conforms,
        (true, Some(gap)) => {
            complain(format_args!("error: {gap}"));
            Status::Usage
        }
    })
}

/// The results in a report, for people.
pub(super) fn summary(report: &CampaignReport) -> String {
    let mut text = String::new();
    for (row, columns) in &report.counts {
        let each: Vec<String> = columns.iter().map(|(column, count)| format!("{count} {column}")).collect();
        let _ = writeln!(text, "  {row:<32} {}", each.join(", "));
    }
    for failing in report.corpus.iter().flat_map(|corpus| &corpus.failing) {
        let Failing { file, id, verdict, expected, actual, replay } = failing;
        let _ = writeln!(text, "\nsaved before: {verdict} {id}, in {file}");
        let _ = writeln!(text, "  expected {expected}\n  actual   {actual}\n  {replay}");
    }
    for group in &report.groups {
        let _ = writeln!(text, "\n{} times {}, first in case {}", group.count, group.key, group.first);
        let Some(example) = &group.example else { continue };
        for call in &example.calls {
            let _ = writeln!(text, "  {call}");
        }
        let _ = writeln!(text, "  expected {}\n  actual   {}", example.expected, example.actual);
        for line in &example.replay {
            // A here-document is not indented: its end must be at the margin.
            let margin = if line.contains('\n') { "" } else { "  " };
            let _ = writeln!(text, "{margin}{line}");
        }
    }
    let mut examples = report.groups.iter().filter_map(|group| group.example.as_ref());
    if examples.any(|example| example.files.is_empty()) {
        let _ = writeln!(text, "\nhelp: `gatherspec fuzz --save DIR` writes such calls as case files");
    }
    if let Some(Corpus { cases, unsupported, unasked, failing }) = &report.corpus {
        let (mut judged, fail) = (format!("{} saved before", counted(*cases, "case")), failing.len());
        if *unsupported > 0 {
            let _ = write!(judged, ", {unsupported} of them unsupported");
        }
        if *unasked > 0 {
            let _ = write!(judged, ", {unasked} of them not asked");
        }
        let _ = writeln!(
            text,
            "{judged}: {}",
            match fail {
                0 => "none fails".to_owned(),
                1 => "1 fails".to_owned(),
                _ => format!("{fail} fail"),
            }
        );
    }
    let (campaign, rate) = (&report.campaign, rate(report));
    let shard =
        if report.shard == Shard::WHOLE { String::new() } else { format!(", shard {}", report.shard) };
    let state = if report.complete { "" } else { ", unfinished" };
    let verdict = match report.failures() {
        0 if report.tested() == 0 => "nothing tested".to_owned(),
        0 => "nothing found".to_owned(),
        failures => format!("{} of {}", counted(failures, "failure"), counted(report.groups.len(), "kind")),
    };
    let _ = writeln!(
        text,
        "{} of seed {}{shard}{state}, {} against {}, {rate}, digest {}: {verdict}",
        counted(report.done, "case"),
        campaign.seed,
        campaign.backend,
        campaign.against,
        report.digest
    );
    text
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shown only"
)]
fn rate(report: &CampaignReport) -> String {
    let rate = if report.seconds > 0.0 { report.done as f64 / report.seconds } else { 0.0 };
    format!("{:.1} s ({} a second)", report.seconds, rate as u64)
}
