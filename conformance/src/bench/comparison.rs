//! Several records in one table: how far ahead the first backend is on each machine, or with other threads.

use gather_conformance::internals::words::counted;
use gather_conformance::protocol::OutputMemory;

use super::record::{Record, Timed};
use super::summary::ComparisonSummary;
use super::table::{memory, row};

/// What a cell without a figure shows.
const NONE: &str = "–";

/// The records by number, then for each kind of output memory and each workload the time of the best peer over that of the first
/// backend, and after it the time of a copy over it.
pub(crate) fn comparison(records: &[Record]) -> String {
    let numbers: Vec<String> = (1..=records.len()).map(|number| number.to_string()).collect();
    let mut text = String::new();
    for (number, record) in numbers.iter().zip(records) {
        let begin =
            record.align.map_or_else(String::new, |byte| format!(", params {byte} bytes into a line"));
        let threads = counted(record.threads, "thread");
        text += &format!("{number}. {}, {threads}{begin}. {}.\n", record.machine, record.versions());
    }
    let titles = ["workload", "memory"].map(str::to_owned).into_iter().chain(numbers);
    text += "\n";
    text += &row(titles);
    text += &row(["---", "---"].into_iter().chain(vec!["--:"; records.len()]).map(str::to_owned));
    for output in [OutputMemory::Fresh, OutputMemory::Pooled, OutputMemory::Into] {
        let summaries: Vec<_> = records.iter().map(|record| ComparisonSummary::of(record, output)).collect();
        if summaries.iter().all(Option::is_none) {
            continue;
        }
        let means = summaries.iter().map(|summary| {
            let mean = summary.as_ref().and_then(ComparisonSummary::mean);
            mean.map_or_else(|| NONE.to_owned(), |mean| format!("**{mean:.2}**"))
        });
        text += &row(["geometric mean".to_owned(), memory(output).to_owned()].into_iter().chain(means));
    }
    for (id, output) in all_workloads(records) {
        let cells = records.iter().map(|record| cell(record, id, output));
        text += &row([id.to_owned(), memory(output).to_owned()].into_iter().chain(cells));
    }
    text
}

/// Each workload with each kind of output memory that some record has, in the order in which they come first.
fn all_workloads(records: &[Record]) -> Vec<(&str, OutputMemory)> {
    let mut all = Vec::new();
    for measured in records.iter().flat_map(|record| &record.workloads) {
        for timed in &measured.timed {
            let one = (&*measured.id, timed.output);
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    all
}

fn cell(record: &Record, id: &str, output: OutputMemory) -> String {
    let measured = record.workloads.iter().find(|measured| measured.id == id);
    let timed = measured.and_then(|measured| measured.timed.iter().find(|timed| timed.output == output));
    let Some((timed, ours)) = timed.and_then(|timed: &Timed| Some((timed, timed.ours()?))) else {
        return NONE.to_owned();
    };
    let over = |other: Option<f64>| {
        other.map_or_else(|| NONE.to_owned(), |other| format!("{:.2}", other / ours.median))
    };
    let (peer, copy) = (timed.best_peer(), timed.copy.as_ref());
    format!("{} ({})", over(peer.map(|peer| peer.median)), over(copy.map(|copy| copy.median)))
}

#[cfg(test)]
mod tests {
    use super::super::record::{Durations, Measured, Result, SCHEMA};
    use super::*;

    fn record(threads: usize, align: Option<u8>, peer: Option<f64>) -> Record {
        let result = |backend: &str, median: Option<f64>| Result {
            backend: backend.to_owned(),
            operator: None,
            durations: median.map(|median| Durations::new(vec![median; 3])),
            threads: None,
            left_out: None,
        };
        let timed = Timed {
            output: OutputMemory::Pooled,
            floor: Durations::new(vec![1.0]),
            copy: Some(Durations::new(vec![1.0])),
            backends: vec![result("ours", Some(2.0)), result("peer", peer)],
        };
        Record {
            schema: SCHEMA,
            version: String::new(),
            machine: "a machine".to_owned(),
            threads,
            turns: 1,
            rounds: 3,
            min_round_ns: 1,
            align,
            interrupted: None,
            rooflines: Vec::new(),
            backends: Vec::new(),
            workloads: vec![Measured { id: "rows".to_owned(), output_bytes: 8, timed: vec![timed] }],
        }
    }

    #[test]
    fn each_record_has_a_column_with_the_best_peer_and_the_copy() {
        let other = Record { workloads: Vec::new(), ..record(1, None, None) };
        assert_eq!(
            comparison(&[record(2, None, Some(6.0)), record(1, Some(16), None), other]),
            "1. a machine, 2 threads. .\n2. a machine, 1 thread, params 16 bytes into a line. .\n3. a machine, 1 thread. .\n\n\
             | workload | memory | 1 | 2 | 3 |\n| --- | --- | --: | --: | --: |\n\
             | geometric mean | pooled | **3.00** | – | – |\n| rows | pooled | 3.00 (0.50) | – (0.50) | – |\n"
        );
    }
}
