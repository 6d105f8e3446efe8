//! Consistency checks for a report that was read from a file: every case is counted once, every failure
//! belongs to a case that is done, and derived numbers match those that they derive from. A report that was
//! edited by hand, or written by an older program, must not be merged or resumed.

use std::collections::{BTreeMap, BTreeSet};

use super::corpus::Corpus;
use super::plan::MOST_CASES;
use super::report::CampaignReport;
use gather_conformance::internals::check::BROKEN;
use gather_conformance::internals::check::Key;

/// The longest duration of a campaign that is believed: a million years.
const MOST_SECONDS: f64 = 3e13;

/// What in the report contradicts itself, if anything.
pub(super) fn contradiction(report: &CampaignReport) -> Option<String> {
    of_cases(report).or_else(|| of_failures(report)).or_else(|| of_the_rest(report))
}

/// Contradictions among the numbers of cases.
fn of_cases(report: &CampaignReport) -> Option<String> {
    let (shard, done) = (report.shard, report.done);
    if !shard.exists() {
        return Some(format!("there is no shard {shard}"));
    }
    if report.campaign.cases.is_some_and(|cases| cases > MOST_CASES) {
        return Some(format!("a campaign has at most {MOST_CASES} cases"));
    }
    let cases = report.len();
    if done > cases {
        return Some(format!("{done} cases are done, of {cases}"));
    }
    if report.complete && report.campaign.cases.is_some() && done < cases {
        return Some(format!("it is complete, and {done} of {cases} cases are done"));
    }
    match sum(report.counts.values().flat_map(BTreeMap::values).copied()) {
        Some(counted) if counted == done => None,
        Some(counted) => Some(format!("{done} cases are done, and {counted} are counted")),
        None => Some(format!("{done} cases are done, and more than can be are counted")),
    }
}

/// Contradictions among the failures, provided that the numbers of cases are consistent.
fn of_failures(report: &CampaignReport) -> Option<String> {
    let (shard, groups) = (report.shard, &report.groups);
    let is_done = |case: u64| {
        let at = case.checked_sub(shard.number - 1).filter(|at| at % shard.of == 0);
        at.is_some_and(|at| at / shard.of < report.done)
    };
    if !groups.iter().all(|group| group.count > 0 && is_done(group.first)) {
        return Some("a group of failures has no case that is done".to_owned());
    }
    if groups.iter().map(|group| &group.key).collect::<BTreeSet<&Key>>().len() < groups.len() {
        return Some("failures of one kind are two groups".to_owned());
    }
    let failures = sum(groups.iter().map(|group| group.count));
    if failures.is_none_or(|failures| failures > report.tested()) {
        return Some("more cases failed than were tested".to_owned());
    }
    // Broken laws are counted twice: in the counts and in the groups.
    let broken = report.counts.values().filter_map(|columns| columns.get(BROKEN)).sum::<u64>();
    let of_laws = groups.iter().filter(|group| group.key.law.is_some()).map(|group| group.count).sum::<u64>();
    (broken != of_laws).then(|| format!("{of_laws} failures of laws are grouped, and {broken} are counted"))
}

fn of_the_rest(report: &CampaignReport) -> Option<String> {
    if !(0.0..MOST_SECONDS).contains(&report.seconds) {
        return Some(format!("it took {:e} s", report.seconds));
    }
    if u64::from_str_radix(&report.digest, 16).is_err() {
        return Some("its digest is no hexadecimal number".to_owned());
    }
    let corpus = report.corpus.as_ref();
    (!corpus.is_none_or(Corpus::adds_up)).then(|| "its saved cases do not add up".to_owned())
}

/// The sum, or `None` if it overflows.
fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0u64, u64::checked_add)
}
