//! The regression corpus: cases that earlier campaigns saved. They are replayed before new ones are generated.

use std::path::PathBuf;
use std::time::Instant;

use gather_spec::{Run, Variant};
use sha2::{Digest, Sha256};

use gather_conformance::backend::Description;
use gather_conformance::internals::judge::{Judgement, Strictness, Verdict, describe_outcome};
use gather_conformance::internals::judged::Judged;
use gather_conformance::internals::process::{self, Answers, Interrupted};

use super::corpus::{Corpus, Failing};
use super::example::Saver;
use super::plan::Shard;
use super::subject::CampaignSubject;
use gather_conformance::internals::check::{CallRequest, CallResult, CallSettings};

/// Requests per batch.
const CHUNK: usize = 256;

/// A case that an earlier campaign saved.
#[derive(Clone, Debug)]
pub struct Saved {
    /// Its file.
    pub file: PathBuf,
    /// The case.
    pub run: Run,
}

/// The state of a saved case while all settings are tried.
#[derive(Default)]
struct Attempt {
    judged: bool,
    unasked: bool,
    failing: Option<Failing>,
}

impl Shard {
    /// Whether this shard replays the cases of a file. Exactly one shard does, regardless of the other files.
    #[must_use]
    pub fn has_file(self, name: &str) -> bool {
        let digest = Sha256::digest(name.as_bytes());
        let number = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        number % self.of == self.number - 1
    }
}

impl Corpus {
    /// Replays all of them until `end`, as `run` would: with all settings of a built-in backend, judged by what
    /// the cases expect. If a case fails with several settings, only the first failure is reported.
    ///
    /// # Errors
    /// [`process::Broken`] if a process cannot be started again.
    pub fn ask(
        saved: &[Saved],
        subject: &mut CampaignSubject,
        strictness: Strictness,
        saver: &Saver<'_>,
        end: Option<Instant>,
    ) -> Result<Self, process::Broken> {
        let mut attempts: Vec<(&Saved, Attempt)> =
            saved.iter().map(|saved| (saved, Attempt::default())).collect();
        // Cases that are known to crash must not use up the restarts that new calls may need.
        subject.count_restarts(false);
        subject.stop_at(end);
        for settings in subject.settings() {
            let description = under(subject.description(), settings);
            for chunk in attempts.chunks_mut(CHUNK) {
                if end.is_some_and(|end| Instant::now() >= end) {
                    chunk.iter_mut().for_each(|(_, attempt)| attempt.unasked = true);
                    continue;
                }
                ask_chunk(chunk, settings.unwrap_or_default(), &description, subject, strictness, saver)?;
            }
        }
        subject.count_restarts(true);
        let count = |which: fn(&Attempt) -> bool| {
            attempts.iter().filter(|(_, attempt)| attempt.failing.is_none() && which(attempt)).count() as u64
        };
        let unasked = count(|attempt| attempt.unasked);
        let unsupported = count(|attempt| !attempt.unasked && !attempt.judged);
        let failing = attempts.into_iter().filter_map(|(_, attempt)| attempt.failing).collect();
        Ok(Self { cases: saved.len() as u64, unsupported, unasked, failing })
    }
}

fn ask_chunk(
    chunk: &mut [(&Saved, Attempt)],
    settings: CallSettings,
    description: &Description,
    subject: &mut CampaignSubject,
    strictness: Strictness,
    saver: &Saver<'_>,
) -> Result<(), process::Broken> {
    let mut asked = Vec::with_capacity(chunk.len());
    for (saved, attempt) in chunk.iter_mut().filter(|(_, attempt)| attempt.failing.is_none()) {
        if let Ok(judged) = Judged::new(description, &saved.run, strictness) {
            let request = CallRequest { call: saved.run.call.clone(), settings };
            asked.push((*saved, attempt, judged, request));
        }
    }
    let requests: Vec<&CallRequest> = asked.iter().map(|(.., request)| request).collect();
    let Answers { answers, interrupted } = subject.ask(&requests);
    if let Some(Interrupted::Broken(broken)) = interrupted {
        return Err(broken);
    }
    let mut answers = answers.into_iter();
    for (saved, attempt, judged, _) in asked {
        let Some(answer) = answers.next() else {
            attempt.unasked = true;
            continue;
        };
        let (judgement, actual) = judge(&judged, &answer);
        attempt.judged |= judgement.verdict != Verdict::Unsupported;
        if !judgement.verdict.is_failure() {
            continue;
        }
        let result = judged.result(judgement, actual, None);
        attempt.failing = Some(Failing {
            file: saved.file.display().to_string(),
            id: result.id,
            verdict: result.verdict,
            expected: result.expected,
            actual: result.actual,
            replay: saver.replay(&saved.file, settings, &Variant::default()),
        });
    }
    Ok(())
}

fn judge(judged: &Judged<'_>, answer: &CallResult) -> (Judgement, String) {
    match answer {
        Ok(outcome) => (judged.judge(outcome), describe_outcome(outcome)),
        Err(trouble) => (Judgement { verdict: trouble.verdict, note: None }, trouble.what.clone()),
    }
}

/// The description of the backend with the policies of `settings` in place of the declared ones.
fn under(description: &Description, settings: Option<CallSettings>) -> Description {
    let mut description = description.clone();
    if let Some(settings) = settings {
        for capability in description.operators.values_mut() {
            capability.profile = settings.profile;
        }
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_of_exactly_one_shard() {
        for name in ["tf.gather-00ff.yaml", "paddle.gather_nd-1.yaml", ""] {
            let of = |number| Shard { number, of: 7 }.has_file(name);
            assert_eq!((1..=7).filter(|number| of(*number)).count(), 1, "{name}");
            assert!(Shard::WHOLE.has_file(name));
        }
    }
}
