//! Counterexamples that were saved before: they are asked first, and those that still fail are reported.

use std::path::PathBuf;
use std::time::Instant;

use gather_spec::Case;
use sha2::{Digest, Sha256};

use crate::backend::Description;
use crate::judge::{Judgement, Strictness, Verdict, describe_outcome};
use crate::process::{self, Answers, Interrupted};
use crate::runner::Judged;

use super::check::{Answer, Question, Way};
use super::corpus::{Corpus, Failing};
use super::example::Saver;
use super::plan::Shard;
use super::subject::Subject;

/// How many questions are asked at a time.
const CHUNK: usize = 256;

/// A case that was saved before.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The file that holds it.
    pub file: PathBuf,
    /// The case.
    pub case: Case,
}

/// What becomes of a case over all ways of asking it.
#[derive(Default)]
struct Course {
    judged: bool,
    unasked: bool,
    failing: Option<Failing>,
}

impl Shard {
    /// Whether the cases of a file are asked by this shard: each by exactly one, whatever files there are beside it.
    #[must_use]
    pub fn has_file(self, name: &str) -> bool {
        let digest = Sha256::digest(name.as_bytes());
        let number = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        number % self.of == self.number - 1
    }
}

impl Corpus {
    /// Asks a backend all of them until `end`, as `run` would: in every way that campaigns have of it, held to what the
    /// cases expect. Of a case that fails in several ways the first is told.
    ///
    /// # Errors
    /// [`process::Broken`] if a process cannot be started again.
    pub fn ask(
        saved: &[Saved],
        subject: &mut Subject,
        strictness: Strictness,
        saver: &Saver<'_>,
        end: Option<Instant>,
    ) -> Result<Self, process::Broken> {
        let mut courses: Vec<(&Saved, Course)> =
            saved.iter().map(|saved| (saved, Course::default())).collect();
        // What is known to crash must not use up the restarts of what is to be found.
        subject.count_restarts(false);
        subject.stop_at(end);
        for way in subject.ways() {
            let description = under(subject.description(), way);
            for chunk in courses.chunks_mut(CHUNK) {
                if end.is_some_and(|end| Instant::now() >= end) {
                    chunk.iter_mut().for_each(|(_, course)| course.unasked = true);
                    continue;
                }
                ask_chunk(chunk, way.unwrap_or_default(), &description, subject, strictness, saver)?;
            }
        }
        subject.count_restarts(true);
        let count = |which: fn(&Course) -> bool| {
            courses.iter().filter(|(_, course)| course.failing.is_none() && which(course)).count() as u64
        };
        let unasked = count(|course| course.unasked);
        let unsupported = count(|course| !course.unasked && !course.judged);
        let failing = courses.into_iter().filter_map(|(_, course)| course.failing).collect();
        Ok(Self { cases: saved.len() as u64, unsupported, unasked, failing })
    }
}

fn ask_chunk(
    chunk: &mut [(&Saved, Course)],
    way: Way,
    description: &Description,
    subject: &mut Subject,
    strictness: Strictness,
    saver: &Saver<'_>,
) -> Result<(), process::Broken> {
    let mut asked = Vec::with_capacity(chunk.len());
    for (saved, course) in chunk.iter_mut().filter(|(_, course)| course.failing.is_none()) {
        if let Ok(judged) = Judged::new(description, &saved.case, strictness) {
            let question = Question { call: saved.case.call.clone(), way };
            asked.push((*saved, course, judged, question));
        }
    }
    let questions: Vec<&Question> = asked.iter().map(|(.., question)| question).collect();
    let Answers { answers, interrupted } = subject.ask(&questions);
    if let Some(Interrupted::Broken(broken)) = interrupted {
        return Err(broken);
    }
    let mut answers = answers.into_iter();
    for (saved, course, judged, _) in asked {
        let Some(answer) = answers.next() else {
            course.unasked = true;
            continue;
        };
        let (judgement, actual) = judge(&judged, &answer);
        course.judged |= judgement.verdict != Verdict::Unsupported;
        if !judgement.verdict.is_failure() {
            continue;
        }
        let result = judged.result(judgement, actual, None);
        course.failing = Some(Failing {
            file: saved.file.display().to_string(),
            id: result.id,
            verdict: result.verdict,
            expected: result.expected,
            actual: result.actual,
            replay: saver.replay(&saved.file, way),
        });
    }
    Ok(())
}

fn judge(judged: &Judged<'_>, answer: &Answer) -> (Judgement, String) {
    match answer {
        Ok(outcome) => (judged.judge(outcome), describe_outcome(outcome)),
        Err(trouble) => (Judgement { verdict: trouble.verdict, note: None }, trouble.what.clone()),
    }
}

/// What a backend says of itself, held to the policies of a way, if it has any of its own.
fn under(description: &Description, way: Option<Way>) -> Description {
    let mut description = description.clone();
    if let Some(way) = way {
        for capability in description.operators.values_mut() {
            capability.profile = way.profile;
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
