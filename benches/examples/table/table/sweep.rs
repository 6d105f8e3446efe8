//! The same 64 KiB table with more and more indices. The time per element should not grow.

use gather_benches::timing::interleave;
use gather_benches::verify::Samples;
use gather_benches::{How, Inputs, Workload, subject, workloads};

use super::Settings;

const COUNTS: [usize; 3] = [1_000_000, 10_000_000, 100_000_000];

/// Measures and prints the time per element for each number of indices.
#[allow(clippy::cast_precision_loss, reason = "counts to be reported with three digits")]
pub(super) fn print(settings: &Settings) -> Result<(), String> {
    let workloads = COUNTS.iter().map(|count| workload(*count)).collect::<Result<Vec<_>, _>>()?;
    let inputs = workloads.iter().map(Inputs::of).collect::<Result<Vec<_>, _>>();
    let inputs = inputs.map_err(|why| why.to_string())?;
    let how = How { level: settings.level, threads: None };
    let (mut subjects, mut plans) = (Vec::new(), Vec::new());
    for (workload, inputs) in workloads.iter().zip(&inputs) {
        let mut subject = subject(workload, inputs).map_err(|why| why.to_string())?;
        Samples::of(workload, inputs)?.verify(&mut *subject, how)?;
        subjects.push(subject);
        plans.push(how.plan(workload).map_err(|why| why.to_string())?);
    }
    let contenders: Vec<_> = (0..COUNTS.len()).flat_map(|at| [(at, false), (at, true)]).collect();
    let medians = interleave(&contenders, settings.rounds, |(at, floor)| {
        if floor {
            subjects[at].run_floor(settings.threads);
        } else {
            subjects[at].run_into(&plans[at]).expect("what ran once runs again");
        }
    });
    println!(
        "| indices into a 64 KiB table of f32 | into, ns per element | floor, ns per element | into, against 10^6 |"
    );
    println!("| --: | --: | --: | --: |");
    let per_element = |at: usize, floor: usize| medians[2 * at + floor] * 1e9 / COUNTS[at] as f64;
    for (at, count) in COUNTS.iter().enumerate() {
        let (into, floor) = (per_element(at, 0), per_element(at, 1));
        println!("| {count} | {into:.3} | {floor:.3} | {:.2} |", into / per_element(0, 0));
    }
    println!();
    Ok(())
}

fn workload(count: usize) -> Result<Workload, String> {
    let text = format!(
        "schema: 2\nworkloads:\n  - id: sweep-{count}\n    form: take\n    seed: 1\n    \
         params: {{ dtype: f32, shape: [16384] }}\n    \
         indices: {{ dtype: i32, shape: [{count}], distribution: random }}\n"
    );
    let mut read = workloads::parse(&text).map_err(|why| why.to_string())?;
    read.pop().ok_or_else(|| "an empty list".to_owned())
}
