//! A bar plot as numbers for the template: where each bar begins and ends, and what is written beside it.

use crate::bench::record::{Measured, Record, Timed};
use crate::bench::summary::{AHEAD, ComparisonSummary};
use crate::bench::table;
use gather_conformance::protocol::OutputMemory;

/// The bars of all workloads with one kind of output memory.
#[derive(Debug)]
pub(super) struct Plot<'a> {
    pub(super) memory: &'static str,
    /// What the plot shows, in words.
    pub(super) sentence: String,
    pub(super) ticks: Vec<Tick>,
    pub(super) groups: Vec<BarGroup<'a>>,
    pub(super) width: u32,
    pub(super) height: usize,
    /// Where bars may begin.
    pub(super) left: u32,
    /// The height of a bar.
    pub(super) bar: usize,
}

/// A line of the scale.
#[derive(Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) x: String,
    pub(super) label: String,
    pub(super) is_one: bool,
}

/// The bars of a workload.
#[derive(Debug)]
pub(super) struct BarGroup<'a> {
    pub(super) workload: &'a str,
    /// The base line of its name.
    pub(super) y: usize,
    pub(super) bars: Vec<Bar<'a>>,
}

/// How long a backend takes, as a multiple of what the first one does.
#[derive(Debug)]
pub(super) struct Bar<'a> {
    pub(super) name: &'a str,
    pub(super) ratio: String,
    /// The number of its colour: 0 for the floor.
    pub(super) colour: usize,
    pub(super) x: String,
    pub(super) y: usize,
    pub(super) width: String,
    pub(super) text_x: String,
    pub(super) text_y: usize,
    /// The end of the text that stands at the end of the bar.
    pub(super) anchor: &'static str,
}

const WIDTH: u32 = 1200;
/// Where the scale begins and ends, beyond which names have room.
const LEFT: u32 = 260;
const FROM: f64 = 400.0;
const TO: f64 = 1060.0;
/// The height of the scale, of a bar with its gap, and of the gap between workloads.
const HEAD: usize = 28;
const BAR: usize = 12;
const STEP: usize = 14;
const GAP: usize = 10;

/// The colours of backends, apart from the floor's.
const COLOURS: usize = 5;

impl<'a> Plot<'a> {
    /// The plots of a run, one for each kind of output memory that a workload was timed with.
    pub(super) fn all(record: &'a Record) -> Vec<Self> {
        let kinds = [OutputMemory::Fresh, OutputMemory::Into, OutputMemory::Pooled];
        kinds.into_iter().filter_map(|kind| Self::of(record, kind)).collect()
    }

    fn of(record: &'a Record, output: OutputMemory) -> Option<Self> {
        let timed: Vec<(&Measured, &Timed)> = record
            .workloads
            .iter()
            .flat_map(|measured| measured.timed.iter().map(move |timed| (measured, timed)))
            .filter(|(_, timed)| timed.output == output && timed.ours().is_some())
            .collect();
        if timed.is_empty() {
            return None;
        }
        let all: Vec<Vec<(&str, usize, f64)>> = timed.iter().map(|(_, timed)| ratios(timed)).collect();
        let scale = Scale::of(all.iter().flatten().map(|(_, _, ratio)| *ratio));
        let mut y = HEAD;
        let mut groups = Vec::new();
        for ((measured, _), ratios) in timed.iter().zip(&all) {
            let bars = ratios.iter().enumerate();
            let bars =
                bars.map(|(at, (name, colour, ratio))| scale.bar(name, *colour, *ratio, y + at * STEP));
            groups.push(BarGroup { workload: &measured.id, y: y + BAR - 2, bars: bars.collect() });
            y += ratios.len() * STEP + GAP;
        }
        let sentence = sentence(ComparisonSummary::of(record, output).as_ref());
        let memory = table::memory(output);
        Some(Self {
            memory,
            sentence,
            ticks: scale.ticks(),
            groups,
            width: WIDTH,
            height: y,
            left: LEFT,
            bar: BAR,
        })
    }
}

/// What each other backend and the floor take, as multiples of what the first backend does, with the number of a colour.
fn ratios(timed: &Timed) -> Vec<(&str, usize, f64)> {
    let Some(ours) = timed.ours() else { return Vec::new() };
    let peers = timed.backends.iter().enumerate().skip(1).filter_map(|(number, result)| {
        let durations = result.durations.as_ref()?;
        Some((result.backend.as_str(), (number - 1) % COLOURS + 1, durations.median / ours.median))
    });
    let floor = ("floor", 0, timed.floor.median / ours.median);
    peers.chain([floor]).collect()
}

/// How the first backend compares with the best of the others.
fn sentence(summary: Option<&ComparisonSummary<'_>>) -> String {
    let Some((summary, mean)) = summary.and_then(|summary| Some((summary, summary.mean()?))) else {
        return "No other backend takes part.".to_owned();
    };
    let (all, ahead) = (summary.peers.len(), summary.ahead());
    let slower = summary.peers.iter().filter(|ratio| **ratio < 1.0).count();
    format!(
        "The fastest other backend takes {mean:.2} times as long in the geometric mean of {all} workloads: at least {AHEAD} times in \
         {ahead}, and less time in {slower}."
    )
}

/// A logarithmic scale between two powers of 2, among which 1 is.
#[derive(Debug)]
struct Scale {
    low: i32,
    high: i32,
}

impl Scale {
    fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (-1, 1);
        for ratio in ratios {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the exponent of a finite number is below 1100"
            )]
            let (under, over) = (ratio.log2().floor() as i32, ratio.log2().ceil() as i32);
            (low, high) = (low.min(under), high.max(over));
        }
        Self { low, high }
    }

    /// Where the logarithm of a ratio is.
    fn x(&self, exponent: f64) -> f64 {
        let share = (exponent - f64::from(self.low)) / f64::from(self.high - self.low);
        share.mul_add(TO - FROM, FROM)
    }

    fn bar<'a>(&self, name: &'a str, colour: usize, ratio: f64, y: usize) -> Bar<'a> {
        let (one, end) = (self.x(0.0), self.x(ratio.log2()));
        let slower = end >= one;
        Bar {
            name,
            ratio: format!("{ratio:.2}"),
            colour,
            x: format!("{:.1}", one.min(end)),
            y,
            // A bar of no width would not be seen.
            width: format!("{:.1}", (end - one).abs().max(1.0)),
            text_x: format!("{:.1}", if slower { end + 5.0 } else { end - 5.0 }),
            text_y: y + BAR - 2,
            anchor: if slower { "start" } else { "end" },
        }
    }

    /// A line for each power of 2, or for fewer of them if there are many.
    fn ticks(&self) -> Vec<Tick> {
        let every = (self.high - self.low) / 12 + 1;
        let exponents = (self.low..=self.high).filter(|exponent| exponent % every == 0);
        let label = |exponent: i32| {
            let power = 2f64.powi(exponent.abs());
            if exponent < 0 { format!("1/{power}") } else { format!("{power}") }
        };
        exponents
            .map(|exponent| Tick {
                x: format!("{:.1}", self.x(f64::from(exponent))),
                label: label(exponent),
                is_one: exponent == 0,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_reaches_from_the_power_below_to_the_power_above() {
        let scale = Scale::of([0.3, 1.0, 5.0].into_iter());
        assert_eq!((scale.low, scale.high), (-2, 3));
        assert_eq!((scale.x(-2.0), scale.x(3.0)), (FROM, TO));
        let labels: Vec<String> = scale.ticks().into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, ["1/4", "1/2", "1", "2", "4", "8"]);
        let alike = Scale::of([1.0].into_iter());
        assert_eq!((alike.low, alike.high), (-1, 1), "never of no width");
        let wide = Scale::of([1e-9, 1e9].into_iter());
        assert!(wide.ticks().len() <= 13 && wide.ticks().iter().any(|tick| tick.is_one));
    }

    #[test]
    fn bars_begin_at_1_and_reach_to_their_ratio() {
        let scale = Scale { low: -1, high: 1 };
        let (slower, faster, same) =
            (scale.bar("a", 1, 2.0, 10), scale.bar("b", 2, 0.5, 24), scale.bar("c", 3, 1.0, 38));
        assert_eq!((slower.x.as_str(), slower.width.as_str(), slower.anchor), ("730.0", "330.0", "start"));
        assert_eq!((faster.x.as_str(), faster.width.as_str(), faster.anchor), ("400.0", "330.0", "end"));
        assert_eq!((same.x.as_str(), same.width.as_str(), same.ratio.as_str()), ("730.0", "1.0", "1.00"));
    }
}
