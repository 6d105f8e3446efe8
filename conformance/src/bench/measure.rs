//! Measures one workload: verifies what every backend gives, then lets them and the floor take turns.

use std::time::Instant;

use gather_benches::{Inputs, Subject, Workload, subject};
use gather_spec::{Outcome, Profile, Signatures, Tensor};

use gather_conformance::internals::interrupt;
use gather_conformance::internals::process::Timing;
use gather_conformance::protocol::OutputMemory;

use super::contender::{Contender, OperatorCall, TimingSettings};
use super::operands::{OperandFiles, OperandFolder};
use super::record::{Durations, Measured, Result, Timed};

/// A contender's share in a workload, as far as it has come.
struct Share<'a> {
    contender: &'a mut Contender,
    output: OutputMemory,
    asked: std::result::Result<OperatorCall, String>,
    nanoseconds: Vec<f64>,
    threads: Option<usize>,
}

/// Measures a workload. If the user interrupts the program, the result has what was measured until then.
///
/// # Errors
/// Why its inputs cannot be made or written, or what the reference did instead of answering. What a backend did is in the
/// result.
pub(crate) fn measure(
    workload: &Workload,
    contenders: &mut [Contender],
    signatures: &Signatures,
    settings: &TimingSettings,
    files: &mut OperandFolder,
) -> std::result::Result<Measured, String> {
    let inputs = Inputs::of(workload).map_err(|why| why.to_string())?;
    let mut operands = OperandFiles::new(&inputs, files)?;
    let mut floor = subject(workload, &inputs).map_err(|why| why.to_string())?;
    let mut expected = ExpectedOutputs { policies: workload.policy, known: Vec::new() };
    let mut results = Vec::new();
    let mut asked = Vec::new();
    for contender in contenders.iter_mut() {
        let mut one = verified(contender, signatures, workload, &operands, &mut expected)?;
        if let Some(why) = operands.changed(files)? {
            contender.is_wrong = true;
            one = Err(contender.exclude(why));
        }
        asked.push(one);
    }
    drop(expected);
    for output in &settings.outputs {
        let shares =
            contenders.iter_mut().zip(&asked).enumerate().map(|(number, (contender, asked))| Share {
                asked: contender.ended.clone().map_or_else(|| asked.clone(), Err),
                contender,
                output: if number == 0 { *output } else { memory_of_peers(*output) },
                nanoseconds: Vec::new(),
                threads: None,
            });
        let mut shares: Vec<Share<'_>> = shares.collect();
        let mut turns = Turns {
            operands: &mut operands,
            files: &mut *files,
            settings,
            output_bytes: workload.output_bytes(),
        };
        let (floor_ns, copy_ns) = turns.take(&mut shares, &mut *floor)?;
        if !floor_ns.is_empty() {
            results.push(Timed {
                output: *output,
                floor: Durations::new(floor_ns),
                copy: (!copy_ns.is_empty()).then(|| Durations::new(copy_ns)),
                backends: shares.into_iter().map(Share::result).collect(),
            });
        }
    }
    Ok(Measured { id: workload.id.clone(), output_bytes: workload.output_bytes(), timed: results })
}

/// The memory of the other backends' outputs. Most libraries keep the memory of freed outputs themselves, so that their fresh
/// outputs are the like of a pool.
const fn memory_of_peers(output: OutputMemory) -> OutputMemory {
    match output {
        OutputMemory::Fresh | OutputMemory::Pooled => OutputMemory::Fresh,
        OutputMemory::Into => OutputMemory::Into,
    }
}

/// The call of a backend for a workload, once its output is known to be right; or why it takes no part.
fn verified(
    contender: &mut Contender,
    signatures: &Signatures,
    workload: &Workload,
    operands: &OperandFiles,
    expected: &mut ExpectedOutputs,
) -> std::result::Result<std::result::Result<OperatorCall, String>, String> {
    if let Some(why) = &contender.ended {
        return Ok(Err(why.clone()));
    }
    let Some(asked) = contender.call(signatures, workload, operands) else {
        return Ok(Err("no operator that it declares can say this".to_owned()));
    };
    Ok(match contender.answer(&asked, operands) {
        Ok(Outcome::Output(output)) if output == *expected.of(&asked)? => Ok(asked),
        Ok(Outcome::Output(_)) => {
            contender.is_wrong = true;
            Err("its output is wrong".to_owned())
        }
        Ok(other) => Err(no_output(other)),
        Err(why) => Err(why),
    })
}

/// An answer without a duration or an output to compare, in words.
fn no_output(outcome: Outcome) -> String {
    match outcome {
        Outcome::Output(_) => "it answered a timing with an output".to_owned(),
        Outcome::Error(error) => format!("refused: {}", error.message),
        Outcome::Unsupported(why) => why,
        Outcome::TooLarge { .. } => "it says that the output is too large".to_owned(),
    }
}

/// The reference's outputs of a workload, by operator where the fill of bad indices may differ.
struct ExpectedOutputs {
    policies: Profile,
    known: Vec<(Option<String>, Tensor)>,
}

impl ExpectedOutputs {
    fn of(&mut self, asked: &OperatorCall) -> std::result::Result<&Tensor, String> {
        let fills = self.policies.bad != gather_spec::BadIndex::Error;
        let key = fills.then(|| asked.call.operator.to_string());
        if let Some(at) = self.known.iter().position(|(known, _)| *known == key) {
            return Ok(&self.known[at].1);
        }
        let settings =
            gather_reference::Settings { profile: self.policies, ..gather_reference::Settings::default() };
        match gather_reference::answer(&asked.call, settings) {
            Outcome::Output(output) => {
                self.known.push((key, output));
                Ok(&self.known.last().expect("one was pushed").1)
            }
            other => Err(format!("the reference does not answer {}: {other:?}", asked.call.operator)),
        }
    }
}

/// What all turns of a workload have in common.
struct Turns<'a> {
    operands: &'a mut OperandFiles,
    files: &'a mut OperandFolder,
    settings: &'a TimingSettings,
    output_bytes: usize,
}

impl Turns<'_> {
    /// Lets the contenders take turns, and the floor and the copy between them; gives the durations of these two, none if the user
    /// interrupts the program before there are others.
    ///
    /// # Errors
    /// Why inputs that a backend has changed cannot be written again.
    fn take(
        &mut self,
        shares: &mut [Share<'_>],
        floor: &mut dyn Subject,
    ) -> std::result::Result<(Vec<f64>, Vec<f64>), String> {
        let mut ways = Ways::new(floor, self.settings.threads);
        for turn in 0..self.settings.turns {
            for share in &mut *shares {
                self.of(share)?;
            }
            // What was measured in the first turn needs a floor.
            let is_needed = turn == 0 && shares.iter().any(|share| !share.nanoseconds.is_empty());
            if interrupt::requested() && !is_needed {
                break;
            }
            ways.turn(floor, self.settings);
        }
        Ok((ways.fastest(&[Way::Plain, Way::PastCaches]), ways.fastest(&[Way::Copy])))
    }

    /// Times one contender once.
    fn of(&mut self, share: &mut Share<'_>) -> std::result::Result<(), String> {
        let Ok(asked) = &share.asked else { return Ok(()) };
        if interrupt::requested() {
            return Ok(());
        }
        let timing =
            share.contender.time(asked, self.operands, share.output, self.settings, self.output_bytes);
        if let Some(why) = self.operands.changed(self.files)? {
            share.contender.is_wrong = true;
            share.asked = Err(share.contender.exclude(why));
            return Ok(());
        }
        match timing {
            Ok(Timing::Timed(reply, _)) => {
                share.nanoseconds.extend(&reply.nanoseconds);
                share.threads = reply.threads.map(usize::from);
            }
            Ok(Timing::Instead(other)) => share.asked = Err(no_output(other)),
            Err(_) if interrupt::requested() => {}
            Err(why) => share.asked = Err(why),
        }
        Ok(())
    }
}

impl Share<'_> {
    fn result(self) -> Result {
        let backend = self.contender.name.clone();
        let measured = self.asked.and_then(|asked| {
            if self.nanoseconds.is_empty() { Err("interrupted".to_owned()) } else { Ok(asked) }
        });
        match measured {
            Err(why) => {
                Result { backend, operator: None, durations: None, threads: None, left_out: Some(why) }
            }
            Ok(asked) => Result {
                backend,
                operator: Some(asked.call.operator.to_string()),
                durations: Some(Durations::new(self.nanoseconds)),
                threads: self.threads,
                left_out: None,
            },
        }
    }
}

/// The ways of the floor and the copy, each on one thread and on all. The fastest of each is shown.
struct Ways(Vec<WayTimes>);

/// What runs between the backends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The floor, through the caches.
    Plain,
    /// The floor, with stores past the caches.
    PastCaches,
    /// A copy of as many bytes.
    Copy,
}

impl Way {
    /// Runs it; `false` if the workload has none.
    fn run(self, floor: &mut dyn Subject, threads: usize) -> bool {
        match self {
            Self::Plain => {
                floor.run_floor(threads);
                true
            }
            Self::PastCaches => floor.run_floor_past_caches(threads),
            Self::Copy => floor.run_copy(threads),
        }
    }
}

struct WayTimes {
    way: Way,
    threads: usize,
    nanoseconds: Vec<f64>,
}

impl Ways {
    fn new(floor: &mut dyn Subject, threads: usize) -> Self {
        let mut ways = Vec::new();
        for way in [Way::Plain, Way::PastCaches, Way::Copy] {
            if way.run(floor, 1) {
                let each = if threads > 1 { vec![1, threads] } else { vec![1] };
                ways.extend(each.into_iter().map(|threads| WayTimes {
                    way,
                    threads,
                    nanoseconds: Vec::new(),
                }));
            }
        }
        Self(ways)
    }

    fn turn(&mut self, floor: &mut dyn Subject, settings: &TimingSettings) {
        for WayTimes { way, threads, nanoseconds } in &mut self.0 {
            nanoseconds.extend(
                (0..settings.rounds).map(|_| round(settings.min_round_ns, || _ = way.run(floor, *threads))),
            );
        }
    }

    /// The durations of the fastest of these ways, if there is one.
    fn fastest(&self, ways: &[Way]) -> Vec<f64> {
        let by_median = |one: &&WayTimes| Durations::new(one.nanoseconds.clone()).median;
        let some = self.0.iter().filter(|one| ways.contains(&one.way));
        let fastest = some.min_by(|a, b| by_median(a).total_cmp(&by_median(b)));
        fastest.map(|one| one.nanoseconds.clone()).unwrap_or_default()
    }
}

/// The nanoseconds per call of one round, as backends measure it.
#[allow(clippy::cast_precision_loss, reason = "durations and counts far below 2^53")]
fn round(min_round_ns: u64, mut run: impl FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0u64);
    loop {
        run();
        calls += 1;
        let elapsed = start.elapsed().as_nanos();
        if elapsed >= min_round_ns.into() {
            return elapsed as f64 / calls as f64;
        }
    }
}
