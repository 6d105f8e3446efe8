//! One line per workload: verified, then timed against its floor, a copy of the same size, and one thread.

use std::num::NonZeroUsize;

use gather_benches::roofline::{self, Copy};
use gather_benches::timing::interleave;
use gather_benches::verify::Samples;
use gather_benches::{How, Inputs, Subject, Workload, subject};
use gather_spec::Refusal;

use super::Settings;

/// What is timed.
#[derive(Clone, Copy, Debug)]
enum Contender {
    Into,
    Floor,
    FloorPastCaches,
    Fresh,
    Pooled,
    IntoOnOneThread,
    FloorOnOneThread,
    FloorPastCachesOnOneThread,
    CopyPieces,
    CopyWhole,
}

/// Contenders on all threads and those on one take turns separately, because the other threads fall asleep meanwhile.
const GROUPS: [&[Contender]; 2] = [
    &[
        Contender::Into,
        Contender::Floor,
        Contender::FloorPastCaches,
        Contender::Fresh,
        Contender::Pooled,
        Contender::CopyPieces,
        Contender::CopyWhole,
    ],
    &[Contender::IntoOnOneThread, Contender::FloorOnOneThread, Contender::FloorPastCachesOnOneThread],
];

pub(super) fn print_head() {
    println!(
        "| workload | output MB | floor ms | past caches ms | into ms | fresh ms | pooled ms | of floor | of copy | into x 1 thread | floor x 1 thread | x reference |"
    );
    println!("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |");
}

/// Measures a workload and prints its line.
pub(super) fn print_row(workload: &Workload, settings: &Settings) -> Result<(), String> {
    let wrong = |why: String| format!("{}: {why}", workload.id);
    let inputs = Inputs::of(workload).map_err(|why| wrong(why.to_string()))?;
    let inputs = if settings.huge_params { inputs.on_huge_pages(workload) } else { Ok(inputs) };
    let inputs = inputs.map_err(|why| wrong(why.to_string()))?;
    let samples = Samples::of(workload, &inputs).map_err(wrong)?;
    let mut subject = subject(workload, &inputs).map_err(|why| wrong(why.to_string()))?;
    let mut arena = Arena::new(workload, &mut *subject, settings).map_err(|why| wrong(why.to_string()))?;
    for how in [arena.all, arena.one] {
        samples.verify(&mut *arena.subject, how).map_err(wrong)?;
    }
    let mut measured = Vec::new();
    for group in GROUPS {
        let group: Vec<_> = group.iter().copied().filter(|contender| arena.has(*contender)).collect();
        let medians = interleave(&group, settings.rounds, |contender| {
            // Verification has run every contender without an error.
            arena.run(contender).expect("what ran once runs again");
        });
        measured.extend(group.into_iter().zip(medians));
    }
    println!("{}", line(workload, &measured, samples.reference_ns_per_byte()));
    Ok(())
}

/// A subject with everything that its contenders need.
struct Arena<'a> {
    subject: &'a mut dyn Subject,
    strings: bool,
    /// Whether rows are long enough for a floor with stores past the caches.
    long_rows: bool,
    all: How,
    one: How,
    plan: gather_optimized::Plan,
    plan_one: gather_optimized::Plan,
    threads: usize,
    from: Vec<u8>,
    to: Vec<u8>,
}

impl<'a> Arena<'a> {
    fn new(workload: &Workload, subject: &'a mut dyn Subject, settings: &Settings) -> Result<Self, Refusal> {
        let (bytes, strings) = (workload.output_bytes(), workload.is_string());
        let all = How { level: settings.level, threads: None };
        let one = How { threads: Some(NonZeroUsize::MIN), ..all };
        let copied = if strings { 0 } else { bytes };
        let long_rows = subject.run_floor_past_caches(1);
        Ok(Self {
            subject,
            strings,
            long_rows,
            all,
            one,
            plan: all.plan(workload)?,
            plan_one: one.plan(workload)?,
            threads: settings.threads_for(bytes),
            from: roofline::on_huge_pages(vec![1; copied]),
            to: roofline::on_huge_pages(vec![2; copied]),
        })
    }

    fn has(&self, contender: Contender) -> bool {
        match contender {
            Contender::Into | Contender::Floor | Contender::Fresh => true,
            Contender::FloorPastCaches | Contender::FloorPastCachesOnOneThread => self.long_rows,
            _ => !self.strings,
        }
    }

    fn run(&mut self, contender: Contender) -> Result<(), Refusal> {
        match contender {
            Contender::Into => self.subject.run_into(&self.plan)?,
            Contender::IntoOnOneThread => self.subject.run_into(&self.plan_one)?,
            Contender::Fresh => self.subject.run_fresh(self.all)?,
            Contender::Pooled => self.subject.run_pooled(&self.plan)?,
            Contender::Floor => self.subject.run_floor(self.threads),
            Contender::FloorOnOneThread => self.subject.run_floor(1),
            Contender::FloorPastCaches => _ = self.subject.run_floor_past_caches(self.threads),
            Contender::FloorPastCachesOnOneThread => _ = self.subject.run_floor_past_caches(1),
            Contender::CopyPieces => roofline::copy(&self.from, &mut self.to, self.threads, Copy::Pieces),
            Contender::CopyWhole => roofline::copy(&self.from, &mut self.to, self.threads, Copy::Whole),
        }
        Ok(())
    }
}

/// The line of a workload. A dash stands for what was not measured.
#[allow(clippy::cast_precision_loss, reason = "sizes to be reported with three digits")]
fn line(workload: &Workload, measured: &[(Contender, f64)], reference_ns_per_byte: f64) -> String {
    use Contender::*;
    let seconds = |wanted: Contender| {
        let found = measured.iter().find(|(contender, _)| *contender as u8 == wanted as u8);
        found.map_or(f64::NAN, |(_, seconds)| *seconds)
    };
    let bytes = workload.output_bytes() as f64;
    let ms = |contender| shown(seconds(contender) * 1e3, 3);
    // `f64::min` ignores NaN, which stands for what was not measured.
    let floor = seconds(Floor).min(seconds(FloorPastCaches));
    let floor_on_one = seconds(FloorOnOneThread).min(seconds(FloorPastCachesOnOneThread));
    let times = |slow: f64, fast: f64| shown(slow / fast, 2);
    [
        workload.id.clone(),
        shown(bytes / 1e6, 3),
        ms(Floor),
        ms(FloorPastCaches),
        ms(Into),
        ms(Fresh),
        ms(Pooled),
        times(floor, seconds(Into)),
        times(seconds(CopyPieces).min(seconds(CopyWhole)), seconds(Into)),
        times(seconds(IntoOnOneThread), seconds(Into)),
        times(floor_on_one, floor),
        shown(reference_ns_per_byte * bytes / 1e9 / seconds(Into), 0),
    ]
    .iter()
    .fold("|".to_owned(), |line, cell| line + " " + cell + " |")
}

/// A number with this many digits after the point, or more if they would all be zeros; a dash for NaN.
fn shown(value: f64, digits: usize) -> String {
    let digits = if value.abs() < 0.01 { digits + 3 } else { digits };
    if value.is_finite() { format!("{value:.digits$}") } else { "-".to_owned() }
}
