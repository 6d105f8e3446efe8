//! Whether the durations of a reply can be: the time until the reply bounds them from above, and what a processor can do
//! from below.

use std::time::Duration;

use super::table::{size, time};

/// No call is faster, in nanoseconds: a few clocks of any processor.
const LEAST: f64 = 1.0;

/// No machine writes more bytes of an output in a nanosecond: 100 TB/s.
const MOST_BYTES: f64 = 100_000.0;

/// The clock of a backend may be as coarse as this, in nanoseconds, and run fast by this share.
const COARSE: f64 = 1e6;
const FAST: f64 = 0.01;

/// The longest duration that is printed, in nanoseconds: a number beyond it would fill lines.
const LONGEST: f64 = 1e15;

/// What is wrong with the durations of rounds, in nanoseconds per call, if anything.
#[allow(clippy::cast_precision_loss, reason = "durations and sizes far below 2^53")]
pub(super) fn implausible(
    nanoseconds: &[f64],
    min_round_ns: u64,
    output_bytes: usize,
    took: Duration,
) -> Option<String> {
    let bytes = output_bytes as f64;
    let least = LEAST.max(bytes / MOST_BYTES);
    if let Some(one) = nanoseconds.iter().find(|one| **one < least) {
        let output = size(bytes);
        return Some(format!(
            "it claims {one:?} ns a call, and no machine writes {output} in less than {least:?} ns"
        ));
    }
    // A round lasts as long as was asked for, and at least one call.
    let rounds: f64 = nanoseconds.iter().map(|one| one.max(min_round_ns as f64)).sum();
    let took = took.as_nanos() as f64;
    (rounds > took * (1.0 + FAST) + COARSE).then(|| {
        format!(
            "its rounds last at least {}, and its reply came after {}",
            time(rounds.min(LONGEST)),
            time(took)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_believed_that_fit_the_time_until_the_reply_and_no_others() {
        let ms = Duration::from_millis;
        let round = 10_000_000;
        for (nanoseconds, bytes, took) in [
            (&[250.0; 3][..], 8, ms(30)),
            (&[1.0], 8, ms(10)),
            // One call that takes longer than a round, and a clock of whole milliseconds.
            (&[40e6, 10e6], 8, ms(50)),
            (&[40e6, 10e6], 8, Duration::from_micros(49_500)),
            (&[640.0], 64_000_000, ms(10)),
        ] {
            assert_eq!(implausible(nanoseconds, round, bytes, took), None, "{nanoseconds:?}");
        }
        for (nanoseconds, bytes, took, words) in [
            (
                &[250.0; 3][..],
                8,
                Duration::from_micros(12),
                "its rounds last at least 30.0 ms, and its reply came after 12.0 µs",
            ),
            (&[40e6, 10e6], 8, ms(40), "its rounds last at least 50.0 ms, and its reply came after 40.0 ms"),
            (&[1e308], 8, ms(10), "its rounds last at least 1000000 s, and its reply came after 10.0 ms"),
            (
                &[250.0, 0.25],
                8,
                ms(3000),
                "it claims 0.25 ns a call, and no machine writes 8.00 B in less than 1.0 ns",
            ),
            (
                &[600.0],
                64_000_000,
                ms(3000),
                "it claims 600.0 ns a call, and no machine writes 64.0 MB in less than 640.0 ns",
            ),
        ] {
            assert_eq!(implausible(nanoseconds, round, bytes, took).as_deref(), Some(words));
        }
    }
}
