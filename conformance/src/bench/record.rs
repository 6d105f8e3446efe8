//! The measurements of a run of `gatherspec bench`, in the form of its file.

use gather_benches::Roofline;
use serde::{Deserialize, Serialize};

use gather_conformance::backend::Identity;
use gather_conformance::protocol::OutputMemory;

/// The schema of the file.
pub(crate) const SCHEMA: u32 = 1;

/// The nanoseconds that a call can take: less than any processor needs, and eleven days.
const POSSIBLE: std::ops::RangeInclusive<f64> = 1e-3..=1e15;

/// A whole run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    /// [`SCHEMA`]
    pub(crate) schema: u32,
    /// The version of this program.
    pub(crate) version: String,
    /// Processor, cores, memory and system.
    pub(crate) machine: String,
    /// How many processors each backend and the floor could use.
    pub(crate) threads: usize,
    /// How often each backend had its turn.
    pub(crate) turns: u32,
    /// The rounds of a turn.
    pub(crate) rounds: u32,
    /// The least duration of a round, in nanoseconds.
    pub(crate) min_round_ns: u64,
    /// The byte of a line of 64 at which params, and an output that is reused, begin for the first backend and its levels; unknown in
    /// older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) align: Option<u8>,
    /// The signal by which the user ended the run early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interrupted: Option<String>,
    /// The limits of the memory system, if they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rooflines: Vec<Roofline>,
    /// The backends.
    pub(crate) backends: Vec<Backends>,
    /// The workloads.
    pub(crate) workloads: Vec<Measured>,
}

impl Record {
    /// Reads a record as it was written.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> std::result::Result<Self, String> {
        let record: Self = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if record.schema != SCHEMA {
            return Err(format!("schema {} is unknown: this program reads schema {SCHEMA}", record.schema));
        }
        record.check()?;
        Ok(record)
    }

    /// Checks that a run can have measured every duration: ratios of others would be 0, infinite or no number.
    fn check(&self) -> std::result::Result<(), String> {
        for (number, measured) in self.workloads.iter().enumerate() {
            for (kind, timed) in measured.timed.iter().enumerate() {
                let path = format!("workloads[{number}].timed[{kind}]");
                timed.floor.check(&format!("{path}.floor"))?;
                timed.copy.as_ref().map_or(Ok(()), |copy| copy.check(&format!("{path}.copy")))?;
                for (backend, result) in timed.backends.iter().enumerate() {
                    if let Some(durations) = &result.durations {
                        durations.check(&format!("{path}.backends[{backend}].durations"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// What an interruption means for the figures.
    pub(crate) fn interruption(&self) -> Option<String> {
        self.interrupted.as_ref().map(|signal| {
            format!(
                "Interrupted by {signal}: the last workload may have fewer turns than the others, and those after it were not \
                 timed."
            )
        })
    }

    /// The names of the backends, the one first that the others are compared with.
    pub(crate) fn names(&self) -> Vec<String> {
        self.backends.iter().map(|backend| backend.name.clone()).collect()
    }

    /// The backends with their versions.
    pub(crate) fn versions(&self) -> String {
        let versions =
            self.backends.iter().map(|Backends { name, identity }| format!("{name} {}", identity.version));
        versions.collect::<Vec<_>>().join(", ")
    }

    /// Which backends were left out of which workloads, and why: each reason once.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let results =
            self.workloads.iter().flat_map(|measured| &measured.timed).flat_map(|timed| &timed.backends);
        for Result { backend, left_out, .. } in results {
            let line = left_out.as_ref().map(|why| format!("{backend}: {why}"));
            lines.extend(line.filter(|line| !lines.contains(line)));
        }
        lines
    }
}

/// A backend of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Backends {
    /// As the command line names it.
    pub(crate) name: String,
    /// What it says of itself.
    pub(crate) identity: Identity,
}

/// One workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) id: String,
    pub(crate) output_bytes: usize,
    pub(crate) timed: Vec<Timed>,
}

/// The durations with one kind of output memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) output: OutputMemory,
    /// Of the best plain loop.
    pub(crate) floor: Durations,
    /// Of a copy of as many bytes, in order; none for strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<Durations>,
    pub(crate) backends: Vec<Result>,
}

/// What a backend took, or why it was left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Result {
    pub(crate) backend: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) durations: Option<Durations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) threads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
}

impl Timed {
    /// What the first backend took, with which the others are compared.
    pub(crate) fn ours(&self) -> Option<&Durations> {
        self.backends.first()?.durations.as_ref()
    }

    /// What the fastest other backend took.
    pub(crate) fn best_peer(&self) -> Option<&Durations> {
        let peers = self.backends.iter().skip(1).filter_map(|result| result.durations.as_ref());
        peers.min_by(|one, other| one.median.total_cmp(&other.median))
    }
}

/// The durations of rounds, in nanoseconds per call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Durations {
    pub(crate) median: f64,
    /// The first and the third quartile.
    pub(crate) quartiles: [f64; 2],
    /// All, in the order in which they were measured.
    pub(crate) all: Vec<f64>,
}

impl Durations {
    /// The durations of at least one round.
    pub(crate) fn new(all: Vec<f64>) -> Self {
        let mut sorted = all.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |quarter: usize| quantile(&sorted, quarter);
        Self { median: at(2), quartiles: [at(1), at(3)], all }
    }

    /// Checks that a run can have measured these durations; `field` is their path in the file.
    fn check(&self, field: &str) -> std::result::Result<(), String> {
        let [first, third] = self.quartiles;
        let figures = [("median", self.median), ("quartiles[0]", first), ("quartiles[1]", third)];
        let figures = figures.map(|(name, value)| (name.to_owned(), value)).into_iter();
        let all = self.all.iter().enumerate().map(|(number, value)| (format!("all[{number}]"), *value));
        for (name, value) in figures.chain(all) {
            if !POSSIBLE.contains(&value) {
                return Err(format!(
                    "{field}.{name} is {value:e}: expected nanoseconds from {:e} to {:e}",
                    POSSIBLE.start(),
                    POSSIBLE.end()
                ));
            }
        }
        if !(first..=third).contains(&self.median) {
            return Err(format!("{field}.median is {}, outside of the quartiles", self.median));
        }
        Ok(())
    }

    /// Half the distance between the quartiles, as a share of the median.
    pub(crate) fn spread(&self) -> f64 {
        (self.quartiles[1] - self.quartiles[0]) / 2.0 / self.median
    }
}

/// The interpolated quartile number `quarter` of the sorted values.
fn quantile(sorted: &[f64], quarter: usize) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let (whole, rest) = (last * quarter / 4, last * quarter % 4);
    let next = sorted[(whole + 1).min(last)];
    #[allow(clippy::cast_precision_loss, reason = "a number below 4")]
    let share = rest as f64 / 4.0;
    sorted[whole] + (next - sorted[whole]) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_interpolated() {
        let durations = Durations::new(vec![5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!((durations.median, durations.quartiles), (3.0, [2.0, 4.0]));
        let two = Durations::new(vec![2.0, 1.0]);
        assert_eq!((two.median, two.quartiles), (1.5, [1.25, 1.75]));
        assert_eq!(Durations::new(vec![7.0]).quartiles, [7.0, 7.0]);
        assert!((durations.spread() - 1.0 / 3.0).abs() < 1e-12);
    }
}
