//! The calls that one worker runs, and the results of their cases.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use gather_spec::{Case, Outcome, Run, Variant};

use crate::backend::Description;
use crate::declared::Probes;
use crate::entry::Entry;
use crate::judge::{Judgement, Strictness, Verdict};
use crate::judged::{Judged, RunResult};
use crate::plan::{VariantCount, VariantPlan};
use crate::trouble::Trouble;

use super::client::Sending;

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A process is starting. The number is that of the restart; 0 for the first start and for a restart that
    /// does not count.
    Starting(usize),
    /// The backend has described itself. This many cases have operators that it does not declare, and no
    /// event of their own.
    Described(usize),
    /// The reply to the call of this id is due.
    Waiting(&'a str),
    /// A case has its result.
    Settled(&'a Entry),
}

/// Receives the events of a run, on the thread of the worker that they concern.
pub type Watch<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// The result of sending a call once.
#[derive(Clone, Debug)]
pub(super) struct SendResult {
    pub(super) result: Result<(Outcome, Judgement), Trouble>,
    pub(super) stderr: Option<String>,
}

/// A call that has no result yet.
#[derive(Debug)]
struct PendingCall {
    judged: Judged<'static>,
    ran: Vec<Option<SendResult>>,
    /// The time spent waiting for replies, over all sendings.
    took: Duration,
}

/// A run to ask, or the result of one that is not sent; with the run, if its case cannot make it again.
type Taken = (Option<Run>, Result<Judged<'static>, Box<Entry>>);

/// A failure in a variant that is not the usual one.
#[derive(Debug)]
pub(super) struct VariantFailure {
    /// The number of its case, and which of its runs it is.
    pub(super) place: (usize, usize),
    /// The run, as it is made usually.
    pub(super) run: Run,
    pub(super) variant: Variant,
    pub(super) verdict: Verdict,
}

/// The calls of one worker and their results, across restarts of its process.
#[derive(Debug)]
pub(super) struct Batch<'p> {
    repeat: usize,
    description: Description,
    probes: Option<&'p Probes>,
    /// What variants are asked; none but those that runs have already if absent.
    plan: Option<&'p VariantPlan>,
    /// By operator, how many variants a budget left out.
    left_out: BTreeMap<String, usize>,
    /// The calls that are planned in variants.
    varied: VariantCount,
    /// For each call, the number of its case and which of its runs it is.
    places: Vec<(usize, usize)>,
    asked: HashMap<usize, PendingCall>,
    cases: HashMap<usize, Arc<Case>>,
    /// By call, runs that their cases cannot make again because they do not come from a file.
    kept: HashMap<usize, Run>,
    /// The results so far of cases with open calls.
    unsettled: HashMap<usize, Vec<Option<Entry>>>,
    settled: BTreeMap<usize, Entry>,
    /// The sendings of this session, indexed by `seq - first_seq`.
    numbered: Vec<Sending>,
    first_seq: u64,
}

impl<'p> Batch<'p> {
    /// A batch without calls. Each call is sent `repeat` times, and numbers start at `first_seq`.
    pub(super) fn new(
        repeat: usize,
        first_seq: u64,
        description: Description,
        probes: Option<&'p Probes>,
        plan: Option<&'p VariantPlan>,
    ) -> Self {
        Self {
            repeat,
            description,
            probes,
            plan,
            left_out: BTreeMap::new(),
            varied: VariantCount::default(),
            places: Vec::new(),
            asked: HashMap::new(),
            cases: HashMap::new(),
            kept: HashMap::new(),
            unsettled: HashMap::new(),
            settled: BTreeMap::new(),
            numbered: Vec::new(),
            first_seq,
        }
    }

    /// The results, each with the number of its case.
    pub(super) fn into_results(self) -> Vec<(usize, Entry)> {
        // If the user interrupted the run, some calls of a case may have no result.
        let in_part = self.unsettled.into_iter().filter_map(|(case, runs)| {
            let runs: Vec<Entry> = runs.into_iter().flatten().collect();
            (!runs.is_empty()).then(|| (case, Entry::of_case(&self.cases[&case], runs)))
        });
        self.settled.into_iter().chain(in_part).collect()
    }

    /// Adds the runs of the case with this number, each in its variants, and returns the sendings to make.
    pub(super) fn take(&mut self, case: usize, runs: Vec<Run>, watch: Watch<'_>) -> Vec<Sending> {
        let Some(first) = runs.first() else { return Vec::new() };
        self.cases.insert(case, Arc::clone(&first.case));
        let judged: Vec<_> = runs.into_iter().flat_map(|run| self.in_variants(run)).collect();
        self.unsettled.insert(case, vec![None; judged.len()]);
        let mut sendings = Vec::new();
        for (at, (run, judged)) in judged.into_iter().enumerate() {
            let call = self.places.len();
            self.places.push((case, at));
            self.kept.extend(run.map(|run| (call, run)));
            match judged {
                Ok(judged) => {
                    let ran = vec![None; self.repeat];
                    self.asked.insert(call, PendingCall { judged, ran, took: Duration::ZERO });
                    sendings.extend((0..self.repeat).map(|run| Sending { call, run }));
                }
                Err(result) => self.settle(call, *result, watch),
            }
        }
        sendings
    }

    /// A run in each of its variants.
    fn in_variants(&mut self, run: Run) -> Vec<Taken> {
        let judged = match Judged::or_probe(&self.description, &run, Strictness::Lenient, self.probes) {
            Ok(judged) => judged.into_owned(),
            Err(result) => {
                let result = Box::new(Entry::with_facts(&run, *result));
                return vec![(None, Err(result))];
            }
        };
        let variants = self.variants_of(&judged);
        let kept = (run.case.axes.combinations() == 0).then_some(run);
        variants.iter().map(|variant| (kept.clone(), Ok(judged.in_variant(variant)))).collect()
    }

    /// The variants of a run: the one that it has, or what is planned.
    fn variants_of(&mut self, judged: &Judged<'_>) -> Vec<Variant> {
        let (chosen, operator) = (&judged.run.call.variant, judged.run.call.operator.as_str());
        let capability = self.description.operators.get(operator);
        let (Some(plan), Some(capability), true, false) =
            (self.plan, capability, chosen.is_usual(), judged.is_probe())
        else {
            return vec![chosen.clone()];
        };
        let (variants, left_out) = plan.of(capability, &judged.run);
        if left_out > 0 {
            *self.left_out.entry(operator.to_owned()).or_default() += left_out;
        }
        variants.iter().for_each(|variant| self.varied.count(variant));
        variants
    }

    /// The calls that are planned in variants.
    pub(super) const fn varied(&self) -> &VariantCount {
        &self.varied
    }

    /// By operator, how many variants a budget left out.
    pub(super) const fn left_out(&self) -> &BTreeMap<String, usize> {
        &self.left_out
    }

    /// Records the result of a call, and that of its case once no call of it is open.
    fn settle(&mut self, call: usize, result: Entry, watch: Watch<'_>) {
        let (case, run) = self.places[call];
        let Some(runs) = self.unsettled.get_mut(&case) else { return };
        runs[run] = Some(result);
        if runs.iter().all(Option::is_some)
            && let Some(runs) = self.unsettled.remove(&case)
        {
            let result = Entry::of_case(&self.cases[&case], runs.into_iter().flatten().collect());
            watch(Event::Settled(&result));
            self.settled.insert(case, result);
        }
    }

    /// Records that a sending was made.
    pub(super) fn sent(&mut self, sending: Sending) {
        self.numbered.push(sending);
    }

    /// The sending with this number in this session.
    pub(super) fn numbered(&self, seq: u64) -> Option<Sending> {
        let place = usize::try_from(seq.checked_sub(self.first_seq)?).ok()?;
        self.numbered.get(place).copied()
    }

    /// Adds to the time spent waiting for a call.
    pub(super) fn waited(&mut self, sending: Sending, took: Duration) {
        if let Some(asked) = self.asked.get_mut(&sending.call) {
            asked.took += took;
        }
    }

    /// Records that a call cannot be sent.
    pub(super) fn not_sent(&mut self, sending: Sending, why: &str, watch: Watch<'_>) {
        if let Some(PendingCall { judged, .. }) = self.asked.remove(&sending.call) {
            let result = judged.not_sent(why);
            self.settle(sending.call, Entry::with_facts(&judged.run, result), watch);
        }
    }

    /// The call of a sending; `None` if it already has its result and must not be sent again.
    pub(super) fn judged(&self, sending: Sending) -> Option<&Judged<'static>> {
        self.asked.get(&sending.call).map(|asked| &asked.judged)
    }

    /// Records the result of one sending, and calls `watch` if it completes the case.
    pub(super) fn finish(&mut self, sending: Sending, ran: SendResult, watch: Watch<'_>) {
        let Some(asked) = self.asked.get_mut(&sending.call) else { return };
        let failed = ran.result.is_err();
        asked.ran[sending.run] = Some(ran);
        if (failed || asked.ran.iter().all(Option::is_some))
            && let Some(PendingCall { judged, ran, took }) = self.asked.remove(&sending.call)
        {
            let ran: Vec<SendResult> = ran.into_iter().flatten().collect();
            let result = result_of(&judged, &ran, sending.run, self.repeat);
            let result = Entry::with_facts(&judged.run, RunResult { duration: Some(took), ..result });
            self.settle(sending.call, result, watch);
        }
    }

    /// Overrules the result of a call that seemed fine.
    pub(super) fn amend(&mut self, sending: Sending, trouble: &Trouble, stderr: Option<String>) {
        // The call was dropped when it got its first result.
        let Some((run, variant)) = self.made_again(sending) else { return };
        let judged = Judged::or_probe(&self.description, &run, Strictness::Lenient, self.probes);
        let Ok(judged) = judged.map(|judged| judged.in_variant(&variant)) else { return };
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        let result = RunResult { stderr, ..judged.result(judgement, trouble.what.clone(), None) };
        let result = Entry::with_facts(&judged.run, result);
        self.change(sending, |known| *known = result);
    }

    /// The run and the variant of a call that already has a result.
    fn made_again(&self, sending: Sending) -> Option<(Run, Variant)> {
        let (id, variant) = Variant::split_id(&self.known(sending)?.id);
        let kept = self.kept.get(&sending.call).cloned();
        let run = kept.or_else(|| self.cases.get(&self.places[sending.call].0)?.run(&id))?;
        Some((run, variant))
    }

    /// The result of a call, if it has one.
    fn known(&self, sending: Sending) -> Option<&Entry> {
        let (case, at) = self.places[sending.call];
        let settled = self.settled.get(&case).and_then(|result| result.all.get(at));
        settled.or_else(|| self.unsettled.get(&case).and_then(|runs| runs[at].as_ref()))
    }

    /// The failures that cases show, of those that are not made as usual.
    pub(super) fn varied_failures(&self) -> Vec<VariantFailure> {
        let varied = |place: (usize, usize)| {
            let call = self.places.iter().position(|one| *one == place)?;
            let (run, variant) = self.made_again(Sending { call, run: 0 })?;
            let verdict = self.settled.get(&place.0)?.verdict;
            (!variant.is_usual()).then_some(VariantFailure { place, run, variant, verdict })
        };
        let failing = self.settled.iter().filter(|(_, entry)| entry.verdict.is_failure());
        failing.filter_map(|(case, entry)| varied((*case, entry.worst()?))).collect()
    }

    /// Replaces the result of a run by that of the same run in another variant.
    pub(super) fn replace(&mut self, (case, at): (usize, usize), result: Entry) {
        if let Some(entry) = self.settled.get_mut(&case) {
            entry.all[at] = result;
            entry.settle();
        }
    }

    /// Adds what a call wrote to standard error.
    pub(super) fn add_stderr(&mut self, sending: Sending, text: String) {
        if !text.is_empty() {
            self.change(sending, |known| known.add_stderr(text));
        }
    }

    /// Changes the result of a call, and updates that of its case.
    fn change(&mut self, sending: Sending, change: impl FnOnce(&mut Entry)) {
        let (case, at) = self.places[sending.call];
        if let Some(result) = self.settled.get_mut(&case) {
            result.all.get_mut(at).map(change);
            result.settle();
        } else if let Some(runs) = self.unsettled.get_mut(&case) {
            runs[at].as_mut().map(change);
        }
    }

    /// The call that was sent last in this session.
    pub(super) fn last_sent(&self) -> Option<Sending> {
        self.numbered.last().copied()
    }

    /// Whether a call has passed.
    pub(super) fn has_passed(&self, sending: Sending) -> bool {
        self.known(sending).is_some_and(|run| run.verdict == Verdict::Pass)
    }

    /// Forgets the numbers of the previous process.
    pub(super) fn new_session(&mut self, first_seq: u64) {
        self.numbered.clear();
        self.first_seq = first_seq;
    }
}

/// The result of all sendings of a call; `last` is the one that completed it. As for backends in this
/// process, any failure decides.
fn result_of(judged: &Judged<'_>, sendings: &[SendResult], last: usize, repeat: usize) -> RunResult {
    let stderr = sendings.iter().find_map(|ran| ran.stderr.clone());
    let at = (last > 0).then(|| format!("run {} of {repeat}", last + 1));
    let fail = |trouble: &Trouble, at| {
        let judgement = Judgement { verdict: trouble.verdict, note: None };
        judged.result(judgement, trouble.what.clone(), at)
    };
    let answers: Vec<_> = sendings.iter().filter_map(|ran| ran.result.as_ref().ok()).collect();
    let wrong = answers.iter().position(|(_, judgement)| judgement.verdict != Verdict::Pass);
    let trouble = sendings.iter().find_map(|ran| ran.result.as_ref().err());
    // A sending that did not run must not hide a wrong answer to another.
    let result = match trouble.filter(|trouble| trouble.verdict != Verdict::NotRun || wrong.is_none()) {
        Some(trouble) => fail(trouble, at),
        None => {
            let (first, _) = answers[0];
            let other = answers.iter().position(|(outcome, _)| !first.agrees(outcome));
            match other.filter(|_| !judged.may_vary()) {
                Some(other) => {
                    judged.varies(first, &answers[other].0, format!("run {} of {repeat}", other + 1))
                }
                None => {
                    let decides = wrong.unwrap_or(0);
                    let at = (decides > 0).then(|| format!("run {} of {repeat}", decides + 1));
                    judged.result_of(&answers[decides].0, answers[decides].1, at)
                }
            }
        }
    };
    RunResult { stderr, ..result }
}
