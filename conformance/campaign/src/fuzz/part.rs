//! A campaign as a part of a report.

use gather_conformance::internals::entry::{CallSize, Entry};
use gather_conformance::internals::report::{FailureKind, Part, PartReport};
use gather_conformance::internals::words::shown;

use crate::laws::LAWS;

use super::report::{CampaignReport, FailureGroup, ShrunkExample};

impl CampaignReport {
    /// The result of a campaign. `repeat` is the command line that repeats it.
    #[must_use]
    pub fn part(&self, part: Part, repeat: String) -> PartReport {
        PartReport {
            part,
            left_out: None,
            seed: self.campaign.seed,
            cases: self.len(),
            done: self.done,
            compared: self.tested(),
            digest: self.digest.clone(),
            counts: self.counts.clone(),
            kinds: self.groups.iter().map(|group| kind(part, group)).collect(),
            repeat,
            drawn: Vec::new(),
            is_usual: false,
        }
    }
}

/// All failures of one kind.
fn kind(part: Part, group: &FailureGroup) -> FailureKind {
    let key = &group.key;
    let id = match &key.law {
        Some(law) => format!("{} {law}: {} {}", part.id(), key.operator, key.kind()),
        None => format!("{} {}: {}", part.id(), key.operator, key.kind()),
    };
    let example = group.example.as_ref();
    let text = |of: fn(&ShrunkExample) -> &str| example.map(|example| shown(of(example)));
    let entry = Entry {
        id,
        operator: key.operator.clone(),
        clauses: example.map(|example| example.clauses.clone()).unwrap_or_default().into(),
        dtypes: None,
        profile: None,
        verdict: key.verdict,
        observed: None,
        reason: None,
        link: None,
        finding: false,
        call: example.map(|example| example.calls.join("\n")),
        expected: text(|example| &example.expected),
        actual: text(|example| &example.actual),
        difference: example.and_then(|example| example.difference.clone()),
        at: None,
        note: None,
        stderr: None,
        duration: None,
        size: CallSize::default(),
        run: None,
        runs: None,
        all: Vec::new(),
        facts: None,
        tested: Vec::new(),
    };
    let law = LAWS.iter().find(|law| Some(law.name) == key.law.as_deref());
    FailureKind {
        entry,
        law: key.law.clone(),
        statement: law.map(|law| law.statement.to_owned()),
        kind: key.kind(),
        count: group.count,
        first: group.first,
        known: key.known,
        files: example.map(|example| example.files.clone()).unwrap_or_default(),
        reproduce: example.map(|example| example.replay.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gather_conformance::internals::check::Key;
    use gather_conformance::internals::judge::Verdict;

    #[test]
    fn calls_that_were_not_compared_do_not_agree() {
        let key = Key {
            law: None,
            operator: "tf.gather".to_owned(),
            verdict: Verdict::Crash,
            index_dtype: None,
            strings: false,
            expected: None,
            known: None,
        };
        let crashes = kind(Part::Drawn, &FailureGroup { key, count: 5, first: 3, example: None });
        let nothing = PartReport::left_out(Part::Drawn, 1, 100, "");
        let campaign =
            PartReport { left_out: None, done: 100, compared: 90, kinds: vec![crashes], ..nothing };
        assert_eq!(campaign.in_words(), ["compared 90 of 100:", "85 agree,", "5 crash"]);
    }
}
