//! How long the calls of each backend took, and its slowest cases.

use std::fmt::Write as _;
use std::time::Duration;

use gather_conformance::internals::style;
use gather_conformance::internals::words::counted;

use super::super::Label;
use super::super::Report;
use super::{PageWidth, painted};
use gather_conformance::internals::entry::Entry;

/// How many of the slowest cases to show.
const SLOWEST: usize = 5;

pub(super) fn all(text: &mut String, report: &Report, labels: &[Label], page: PageWidth) {
    for (backend, label) in report.backends.iter().zip(labels) {
        let mut timed: Vec<(Duration, &Entry)> =
            backend.results.iter().filter_map(|entry| Some((entry.duration?, entry))).collect();
        if timed.is_empty() {
            continue;
        }
        let total: Duration = timed.iter().map(|(duration, _)| *duration).sum();
        let said = format!("  {} took {} in all; the slowest:", counted(timed.len(), "case"), seconds(total));
        let _ = writeln!(text, "{}", painted(style::NAME, &label.short()));
        let _ = writeln!(text, "{}", page.lines(2, &said).join("\n"));
        timed.sort_by_key(|(duration, _)| std::cmp::Reverse(*duration));
        for (duration, entry) in timed.into_iter().take(SLOWEST) {
            let _ = writeln!(text, "  {:>10}  {}", seconds(duration), entry.id);
        }
    }
}

/// A duration with three digits: `12.3 s`, `456 ms`, `7.89 ms`.
fn seconds(duration: Duration) -> String {
    let (value, unit) = match duration.as_secs_f64() {
        whole if whole >= 1.0 => (whole, "s"),
        whole => (whole * 1e3, "ms"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_three_digits_and_a_unit() {
        let said = [12_345_678, 1_234_567, 456_789, 78_912, 1_234, 5]
            .map(|micros| seconds(Duration::from_micros(micros)));
        assert_eq!(said, ["12.3 s", "1.23 s", "457 ms", "78.9 ms", "1.23 ms", "0.01 ms"]);
    }
}
