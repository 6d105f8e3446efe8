//! The measurements as a Markdown table, row by row, so that what was measured is printed at once.

use gather_benches::Roofline;

use gather_conformance::internals::words::counted;
use gather_conformance::protocol::OutputMemory;

use super::record::{Durations, Measured, Result, Timed};

/// The head of the table. The first backend is the one that the others are compared with.
pub(crate) fn head(backends: &[String]) -> String {
    let rule = std::iter::repeat_n("---".to_owned(), 3).chain(vec!["--:".to_owned(); backends.len() + 5]);
    row(titles(backends).into_iter()) + &row(rule)
}

/// The titles of its columns.
pub(super) fn titles(backends: &[String]) -> Vec<String> {
    let ours = backends.first().map_or("", String::as_str);
    let names = backends.iter().map(String::as_str);
    let cells = ["workload", "output", "memory"].into_iter().chain(names).chain(["floor", "GB/s"]);
    let ratios = [format!("best peer / {ours}"), format!("floor / {ours}"), format!("copy / {ours}")];
    cells.map(str::to_owned).chain(ratios).collect()
}

/// The limits of the memory system, as a table of its own; empty if they were not measured.
pub(crate) fn rooflines(all: &[Roofline], threads: usize) -> String {
    if all.is_empty() {
        return String::new();
    }
    let titles = ["roofline".to_owned(), "1 thread".to_owned(), counted(threads, "thread")];
    let head = row(titles.into_iter()) + &row(["---", "--:", "--:"].map(str::to_owned).into_iter());
    let line = |Roofline { name, unit, one_thread, all_threads }: &Roofline| {
        let shown = |rate: f64| format!("{} {unit}", three_digits(rate));
        row([name.clone(), shown(*one_thread), shown(*all_threads)].into_iter())
    };
    head + &all.iter().map(line).collect::<String>() + "\n"
}

/// The rows of a workload, one for each kind of output memory.
pub(crate) fn rows(measured: &Measured) -> String {
    measured.timed.iter().map(|timed| row(cells(measured, timed).into_iter())).collect()
}

/// The cells of a row.
pub(super) fn cells(measured: &Measured, timed: &Timed) -> Vec<String> {
    let ours = timed.ours();
    let ratio = |other: Option<f64>| match (other, ours) {
        (Some(other), Some(ours)) => format!("{:.2}", other / ours.median),
        _ => "–".to_owned(),
    };
    #[allow(clippy::cast_precision_loss, reason = "a size to be shown with three digits")]
    let bytes = measured.output_bytes as f64;
    let speed = ours.map_or_else(|| "–".to_owned(), |ours| format!("{:.1}", bytes / ours.median));
    let first = [measured.id.clone(), size(bytes), memory(timed.output).to_owned()];
    let backends = timed
        .backends
        .iter()
        .map(|Result { durations, .. }| durations.as_ref().map_or_else(|| "–".to_owned(), shown));
    let last = [
        shown(&timed.floor),
        speed,
        ratio(timed.best_peer().map(|peer| peer.median)),
        ratio(Some(timed.floor.median)),
        ratio(timed.copy.as_ref().map(|copy| copy.median)),
    ];
    first.into_iter().chain(backends).chain(last).collect()
}

/// What the table calls a kind of output memory.
pub(super) const fn memory(output: OutputMemory) -> &'static str {
    match output {
        OutputMemory::Fresh => "fresh",
        OutputMemory::Pooled => "pooled",
        OutputMemory::Into => "reused",
    }
}

pub(super) fn row(cells: impl Iterator<Item = String>) -> String {
    cells.fold("|".to_owned(), |row, cell| row + " " + &cell + " |") + "\n"
}

/// A median with its spread: `4.33 ms ±2 %`.
fn shown(durations: &Durations) -> String {
    let spread = (durations.spread() * 100.0).ceil();
    format!("{} ±{spread} %", time(durations.median))
}

/// A duration with three digits.
pub(super) fn time(nanoseconds: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let (unit, name) = units.into_iter().find(|(unit, _)| nanoseconds >= *unit).unwrap_or((1.0, "ns"));
    format!("{} {name}", three_digits(nanoseconds / unit))
}

pub(super) fn size(bytes: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| bytes >= *unit).unwrap_or((1.0, "B"));
    format!("{} {name}", three_digits(bytes / unit))
}

fn three_digits(value: f64) -> String {
    let decimals = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(backend: &str, median: Option<f64>) -> Result {
        Result {
            backend: backend.to_owned(),
            operator: None,
            durations: median.map(|median| Durations::new(vec![median; 3])),
            threads: None,
            left_out: None,
        }
    }

    #[test]
    fn a_row_compares_the_first_backend_with_the_fastest_other_and_with_the_floor() {
        let backends = vec![
            result("ours", Some(2e6)),
            result("none", None),
            result("slow", Some(8e6)),
            result("fast", Some(3e6)),
        ];
        let copy = Some(Durations::new(vec![5e5]));
        let timed = Timed { output: OutputMemory::Into, floor: Durations::new(vec![1e6]), copy, backends };
        let measured = Measured { id: "rows".to_owned(), output_bytes: 4_000_000, timed: vec![timed] };
        assert_eq!(
            rows(&measured),
            "| rows | 4.00 MB | reused | 2.00 ms ±0 % | – | 8.00 ms ±0 % | 3.00 ms ±0 % | 1.00 ms ±0 % | 2.0 | 1.50 | 0.50 | 0.25 |\n"
        );
    }

    #[test]
    fn rooflines_have_a_column_for_one_thread_and_one_for_all() {
        let one = |name: &str, unit: &str, one_thread, all_threads| {
            let (name, unit) = (name.to_owned(), unit.to_owned());
            Roofline { name, unit, one_thread, all_threads }
        };
        assert_eq!(rooflines(&[], 2), "");
        assert_eq!(
            rooflines(&[one("copy", "GB/s", 17.24, 19.5), one("reads", "ns", 9.184, 4.72)], 2),
            "| roofline | 1 thread | 2 threads |\n| --- | --: | --: |\n| copy | 17.2 GB/s | 19.5 GB/s |\n\
             | reads | 9.18 ns | 4.72 ns |\n\n"
        );
    }

    #[test]
    fn durations_and_sizes_have_three_digits() {
        assert_eq!(
            [time(12.34), time(1234.0), time(123_456.0), time(2e9)],
            ["12.3 ns", "1.23 µs", "123 µs", "2.00 s"]
        );
        assert_eq!([size(8.0), size(67_108_864.0)], ["8.00 B", "67.1 MB"]);
    }
}
