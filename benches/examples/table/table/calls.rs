//! Small and middle calls: what threads bring, if other work lies between the calls, so that the other threads sleep.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use gather_benches::timing::median;
use gather_benches::verify::Samples;
use gather_benches::{How, Inputs, Subject, Workload, subject, workloads};
use gather_optimized::Plan;

use super::Settings;

/// What the calls gather: params, and the bytes of a row.
const KINDS: [(&str, &str, usize); 3] = [
    ("rows of 1 KiB, cached", "dtype: f32, shape: [1000, 256]", 1024),
    ("f32, cached", "dtype: f32, shape: [65536]", 4),
    ("f32 from DRAM", "dtype: f32, shape: [64000000]", 4),
];

/// Bytes of output.
const SIZES: [usize; 6] = [8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, 8 << 20];

/// How long a caller does something else between two calls: long enough for the other threads to fall asleep.
const PAUSE: Duration = Duration::from_micros(300);

/// Calls per round.
const CALLS: usize = 20;

/// Measures and prints the time of a call on each number of threads, and on as many as pay.
pub(super) fn print(settings: &Settings) -> Result<(), String> {
    let counts: Vec<usize> =
        [1, 2, 4, 8, 16].into_iter().take_while(|count| *count <= settings.threads).collect();
    let heads: Vec<String> = counts.iter().map(|count| format!("on {count}, µs")).collect();
    println!("| output, after a pause | {} | as many as pay, µs |", heads.join(" | "));
    println!("| --- |{}", " --: |".repeat(counts.len() + 1));
    for (what, params, row) in KINDS {
        for bytes in SIZES {
            let workload = workload(params, bytes / row)?;
            let inputs = Inputs::of(&workload).map_err(|why| why.to_string())?;
            let mut subject = subject(&workload, &inputs).map_err(|why| why.to_string())?;
            let how = |threads| How { level: settings.level, threads };
            Samples::of(&workload, &inputs)?.verify(&mut *subject, how(None))?;
            let ways = counts.iter().map(|count| NonZeroUsize::new(*count)).chain([None]);
            let plans = ways.map(|threads| how(threads).plan(&workload)).collect::<Result<Vec<_>, _>>();
            let plans = plans.map_err(|why| why.to_string())?;
            let medians = after_pauses(&mut *subject, &plans, settings.rounds);
            let cells: Vec<String> = medians.iter().map(|seconds| format!("{:.1}", seconds * 1e6)).collect();
            println!("| {} KiB of {what} | {} |", bytes >> 10, cells.join(" | "));
        }
    }
    println!();
    Ok(())
}

/// The median duration of a call of each plan, in seconds. The plans take turns.
fn after_pauses(subject: &mut dyn Subject, plans: &[Plan], rounds: usize) -> Vec<f64> {
    let mut all = vec![Vec::new(); plans.len()];
    for _ in 0..rounds.max(1) {
        for (plan, seconds) in plans.iter().zip(&mut all) {
            for _ in 0..CALLS {
                let waited = Instant::now();
                while waited.elapsed() < PAUSE {
                    std::hint::spin_loop();
                }
                let start = Instant::now();
                subject.run_into(plan).expect("what ran once runs again");
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
    }
    all.iter_mut().map(|seconds| median(seconds)).collect()
}

fn workload(params: &str, indices: usize) -> Result<Workload, String> {
    let text = format!(
        "schema: 2\nworkloads:\n  - id: calls\n    form: take\n    seed: 1\n    params: {{ {params} }}\n    \
         indices: {{ dtype: i64, shape: [{indices}], distribution: random }}\n"
    );
    let mut read = workloads::parse(&text).map_err(|why| why.to_string())?;
    read.pop().ok_or_else(|| "an empty list".to_owned())
}
