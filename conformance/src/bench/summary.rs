//! How the first backend of a run compares with the best of the others and with the floor.

use std::fmt::Write as _;

use gather_conformance::protocol::OutputMemory;

use super::record::{Durations, Record, Timed};
use super::table;

/// The first backend is ahead on a workload if the best peer takes this many times as long.
pub(super) const AHEAD: f64 = 1.2;
/// It is at the floor if the floor takes at least this share of its time.
const AT_THE_FLOOR: f64 = 0.95;

/// The comparison on all workloads that were timed with one kind of output memory.
#[derive(Debug)]
pub(super) struct ComparisonSummary<'a> {
    pub(super) memory: &'static str,
    /// The time of the best peer over that of the first backend, where there is a peer.
    pub(super) peers: Vec<f64>,
    floors: Vec<f64>,
    /// Workloads on which the best peer is faster, and by more than both spreads.
    behind: Vec<(&'a str, f64)>,
    /// Other workloads on which the first backend is neither ahead nor at the floor.
    short: Vec<(&'a str, f64, f64)>,
}

impl<'a> ComparisonSummary<'a> {
    /// The comparison for one kind of output memory, or `None` if the first backend was timed with it on no workload.
    pub(super) fn of(record: &'a Record, output: OutputMemory) -> Option<Self> {
        let mut summary = Self {
            memory: table::memory(output),
            peers: Vec::new(),
            floors: Vec::new(),
            behind: Vec::new(),
            short: Vec::new(),
        };
        for measured in &record.workloads {
            for timed in measured.timed.iter().filter(|timed| timed.output == output) {
                summary.add(&measured.id, timed);
            }
        }
        (!summary.floors.is_empty()).then_some(summary)
    }

    fn add(&mut self, id: &'a str, timed: &Timed) {
        let Some(ours) = timed.ours() else { return };
        let floor = timed.floor.median / ours.median;
        self.floors.push(floor);
        let peer = timed.best_peer();
        let ratio = peer.map_or(f64::INFINITY, |peer| peer.median / ours.median);
        if peer.is_some() {
            self.peers.push(ratio);
        }
        if peer.is_some_and(|peer| is_apart(peer, ours)) {
            self.behind.push((id, ratio));
        } else if (peer.is_none() || ratio < AHEAD) && floor < AT_THE_FLOOR {
            self.short.push((id, ratio, floor));
        }
    }

    /// The best peer's times over those of the first backend, in one figure, if there are any.
    pub(super) fn mean(&self) -> Option<f64> {
        (!self.peers.is_empty()).then(|| geometric_mean(&self.peers))
    }

    /// On how many workloads the first backend is ahead.
    pub(super) fn ahead(&self) -> usize {
        self.peers.iter().filter(|ratio| **ratio >= AHEAD).count()
    }

    fn row(&self) -> String {
        let ahead = self.ahead();
        let (memory, peers, behind) = (self.memory, self.peers.len(), self.behind.len());
        let mean = self.mean().map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"));
        let (floors, short) = (geometric_mean(&self.floors), self.short.len());
        format!("| {memory} | {peers} | {mean} | {ahead} | {behind} | {short} | {floors:.2} |\n")
    }
}

/// Whether even the slow rounds of one are faster than the fast rounds of the other.
fn is_apart(faster: &Durations, slower: &Durations) -> bool {
    faster.quartiles[1] < slower.quartiles[0]
}

#[allow(clippy::cast_precision_loss, reason = "a number of workloads")]
fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

/// The comparison for every kind of output memory, as Markdown; empty if nothing was compared.
pub(crate) fn summary(record: &Record) -> String {
    let kinds = [OutputMemory::Fresh, OutputMemory::Pooled, OutputMemory::Into];
    let all: Vec<_> = kinds.into_iter().filter_map(|kind| ComparisonSummary::of(record, kind)).collect();
    if all.iter().all(|summary| summary.peers.is_empty()) {
        return String::new();
    }
    let ours = record.backends.first().map_or("the first", |backend| &backend.name);
    let mut text = format!(
        "\n| memory | workloads with a peer | best peer / {ours}, geometric mean | at least {AHEAD} | behind beyond the spread | \
         others below {AHEAD} and {AT_THE_FLOOR} of the floor | floor / {ours}, geometric mean |\n\
         | --- | --: | --: | --: | --: | --: | --: |\n"
    );
    text.extend(all.iter().map(ComparisonSummary::row));
    for summary in &all {
        let behind = summary.behind.iter().map(|(id, ratio)| format!("`{id}` {ratio:.2}"));
        list(&mut text, summary.memory, "behind the best peer beyond the spread", behind);
        let short = summary.short.iter().map(|(id, ratio, floor)| {
            let peer = if ratio.is_finite() { format!("{ratio:.2} and ") } else { String::new() };
            format!("`{id}` {peer}{floor:.2}")
        });
        list(&mut text, summary.memory, "close to the best peer, and slower than the floor", short);
    }
    text
}

fn list(text: &mut String, memory: &str, what: &str, ids: impl Iterator<Item = String>) {
    let ids: Vec<String> = ids.collect();
    if !ids.is_empty() {
        let _ = write!(text, "\nOutputs in {memory} memory, {what}: {}.\n", ids.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::{Backends, Measured, Result, SCHEMA};
    use super::*;
    use gather_conformance::backend::Identity;

    /// A workload with the rounds of the first backend, of a peer and of the floor.
    fn workload(id: &str, ours: [f64; 3], peer: Option<[f64; 3]>, floor: f64) -> Measured {
        let result = |backend: &str, rounds: Option<[f64; 3]>| Result {
            backend: backend.to_owned(),
            operator: None,
            durations: rounds.map(|rounds| Durations::new(rounds.to_vec())),
            threads: None,
            left_out: None,
        };
        let timed = Timed {
            output: OutputMemory::Fresh,
            floor: Durations::new(vec![floor]),
            copy: None,
            backends: vec![result("ours", Some(ours)), result("peer", peer)],
        };
        Measured { id: id.to_owned(), output_bytes: 8, timed: vec![timed] }
    }

    fn record(workloads: Vec<Measured>) -> Record {
        let identity = Identity { name: String::new(), version: String::new(), language: String::new() };
        Record {
            schema: SCHEMA,
            version: String::new(),
            machine: String::new(),
            threads: 1,
            turns: 1,
            rounds: 3,
            min_round_ns: 1,
            align: None,
            interrupted: None,
            rooflines: Vec::new(),
            backends: vec![Backends { name: "ours".to_owned(), identity }],
            workloads,
        }
    }

    #[test]
    fn workloads_are_ahead_at_the_floor_behind_or_short_of_both() {
        let text = summary(&record(vec![
            workload("ahead", [100.0; 3], Some([120.0; 3]), 50.0),
            workload("at-the-floor", [100.0; 3], Some([110.0; 3]), 95.0),
            workload("behind", [90.0, 100.0, 110.0], Some([80.0; 3]), 100.0),
            workload("within-the-spread", [60.0, 100.0, 110.0], Some([78.0, 80.0, 90.0]), 80.0),
            workload("no-peer", [100.0; 3], None, 90.0),
            workload("no-peer-at-the-floor", [100.0; 3], None, 100.0),
        ]));
        // The means are the fourth root of 1.2 * 1.1 * 0.8 * 0.8, and the sixth root of 0.5 * 0.95 * 1 * 0.8 * 0.9 * 1.
        assert!(text.contains("\n| fresh | 4 | 0.96 | 1 | 1 | 2 | 0.84 |\n"), "{text}");
        assert!(
            text.contains("fresh memory, behind the best peer beyond the spread: `behind` 0.80.\n"),
            "{text}"
        );
        let short = "slower than the floor: `within-the-spread` 0.80 and 0.80, `no-peer` 0.90.\n";
        assert!(text.ends_with(short), "{text}");
    }

    #[test]
    fn a_memory_without_peers_has_no_mean() {
        let mut alone = workload("alone", [100.0; 3], None, 50.0);
        alone.timed[0].output = OutputMemory::Into;
        let text = summary(&record(vec![alone, workload("both", [100.0; 3], Some([120.0; 3]), 50.0)]));
        assert!(
            text.contains(
                "\n| fresh | 1 | 1.20 | 1 | 0 | 0 | 0.50 |\n| reused | 0 | – | 0 | 0 | 1 | 0.50 |\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_run_without_peers_has_no_summary() {
        assert_eq!(summary(&record(vec![workload("alone", [1.0; 3], None, 2.0)])), "");
        assert_eq!(summary(&record(Vec::new())), "");
    }
}
