//! Runs cases on one process after another. Several calls are in flight until a process fails with some of
//! them; from then on calls are sent one at a time, so that it is clear which of them fails.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use gather_spec::Run;
use gather_spec::load::Maker;

use crate::backend::Description;
use crate::declared::Probes;
use crate::entry::Entry;
use crate::interrupt;
use crate::judge::{Judgement, Verdict};
use crate::plan::{VariantCount, VariantPlan};
use crate::words::counted;

use super::batch::{Batch, Event, SendResult, Watch};
use super::client::{Answered, Blame, Client, Doubt, Sending};
use super::inputs::EncodedCall;
use super::program::{Broken, ProcessBackend};
use super::session::{SURVIVES, Said, StopResult};
use crate::trouble::Trouble;

/// After how many failed restarts in a row to give up.
const START_FAILURES: usize = 3;

/// What the workers of one run share.
#[derive(Debug)]
pub(super) struct RunState<'a> {
    pub(super) backend: &'a ProcessBackend,
    /// How many restarts have been used up.
    pub(super) restarts: AtomicUsize,
    pub(super) remarks: Mutex<Vec<String>>,
    pub(super) problems: Mutex<Vec<String>>,
    /// How many calls passed and wrote to standard error, and how many bytes of that are kept.
    pub(super) loud: AtomicUsize,
    pub(super) kept: AtomicUsize,
    /// The cases just outside the limits of the backend, once it has described itself.
    pub(super) probes: OnceLock<Probes>,
    /// The variants of its runs, likewise.
    pub(super) plan: OnceLock<VariantPlan>,
    /// By operator, how many variants a budget left out.
    pub(super) left_out: Mutex<BTreeMap<String, usize>>,
    /// The calls that are planned in variants.
    pub(super) varied: Mutex<VariantCount>,
}

/// Returns the next case: its number and its runs.
pub(super) type Next<'a> = &'a (dyn Fn(&mut Maker) -> Option<(usize, Vec<Run>)> + Sync);

/// How many bytes of passing calls' standard error to keep, over all workers.
const KEPT: usize = 256 << 10;

impl<'a> RunState<'a> {
    pub(super) fn new(backend: &'a ProcessBackend) -> Self {
        Self {
            backend,
            restarts: AtomicUsize::new(0),
            remarks: Mutex::default(),
            problems: Mutex::default(),
            loud: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            probes: OnceLock::new(),
            plan: OnceLock::new(),
            left_out: Mutex::default(),
            varied: Mutex::default(),
        }
    }

    /// Resets the counts of standard error, after the calls that are not part of the run.
    pub(super) fn forget_stderr(&self) {
        self.loud.store(0, Ordering::Relaxed);
        self.kept.store(0, Ordering::Relaxed);
    }

    /// Takes one restart from the budget and gives its number, from 1 on; `None` if none is left.
    fn next_restart(&self) -> Option<usize> {
        let before = self.restarts.fetch_add(1, Ordering::Relaxed);
        (before < self.backend.limits.restarts).then_some(before + 1)
    }

    fn remark(&self, remark: String) {
        if let Ok(mut remarks) = self.remarks.lock() {
            remarks.push(remark);
        }
    }

    fn problem(&self, problem: String) {
        if let Ok(mut problems) = self.problems.lock() {
            problems.push(problem);
        }
    }

    /// Adds what was planned in variants, and what a budget left out.
    fn note_variants(&self, batch: &Batch<'_>) {
        if let Ok(mut all) = self.left_out.lock() {
            for (operator, count) in batch.left_out() {
                *all.entry(operator.clone()).or_default() += count;
            }
        }
        if let Ok(mut all) = self.varied.lock() {
            all.add(batch.varied());
        }
    }

    /// Whether there is room for a text of a passing call.
    fn has_room(&self, text: &str) -> bool {
        let kept = self.kept.fetch_add(text.len(), Ordering::Relaxed);
        kept.saturating_add(text.len()) <= KEPT
    }
}

/// Runs cases on one process after another.
#[derive(Debug)]
pub(super) struct ProcessWorker<'a> {
    shared: &'a RunState<'a>,
    client: Client,
    /// Whether calls are sent one at a time.
    one_at_a_time: bool,
    /// Why the worker has given up.
    given_up: Option<Trouble>,
    /// The standard error that came with right replies, without what a failing call has reported.
    beside: Vec<(Sending, Said)>,
}

impl<'a> ProcessWorker<'a> {
    /// Starts the first process.
    pub(super) fn start(shared: &'a RunState<'a>, watch: Watch<'_>) -> Result<Self, Broken> {
        watch(Event::Starting(0));
        // Numbers start at random, so that a backend cannot answer a call before it is sent.
        let seq = RandomState::new().hash_one(0) % (1 << 30);
        let mut client = Client::start(shared.backend, seq)?;
        if let Some(report) = client.take_report_at_start() {
            shared.problem(format!("at the start of the backend, a sanitizer's report: {report}"));
        }
        for member in client.ignored() {
            shared.remark(format!(
                "its answer to `start` has a member `{member}`, which this version does not know"
            ));
        }
        Ok(Self { shared, client, one_at_a_time: false, given_up: None, beside: Vec::new() })
    }

    /// The backend's self-description.
    pub(super) const fn description(&self) -> &Description {
        self.client.description()
    }

    /// Kills the process. No call is sent any more.
    pub(super) fn give_up(&mut self, why: &str) {
        self.client.kill();
        self.given_up = Some(not_sent(why));
    }

    /// Whether no call is sent any more.
    pub(super) const fn has_given_up(&self) -> bool {
        self.given_up.is_some()
    }

    /// Runs cases from `next` until there are no more, and asks the process to stop if these are the `last`.
    /// Returns the results by the number of the case.
    pub(super) fn run(&mut self, next: Next<'_>, last: bool, watch: Watch<'_>) -> Vec<(usize, Entry)> {
        let plan = if last { self.shared.plan.get() } else { None };
        let mut batch = self.ask(next, plan, watch);
        if last {
            self.reduce(&mut batch, watch);
            self.stop(&mut batch);
            self.shared.note_variants(&batch);
        }
        batch.into_results()
    }

    /// Runs cases from `next`, in the planned variants, until there are no more.
    pub(super) fn ask(
        &mut self,
        next: Next<'_>,
        plan: Option<&'a VariantPlan>,
        watch: Watch<'_>,
    ) -> Batch<'a> {
        let (repeat, probes) = (self.shared.backend.repeat, self.shared.probes.get());
        let first_seq = self.client.next_request().0;
        let mut batch = Batch::new(repeat, first_seq, self.description().clone(), probes, plan);
        let mut maker = Maker::default();
        while !interrupt::requested() {
            if self.given_up.is_none() && !self.client.is_up() {
                self.restart(&mut batch, watch);
            }
            self.fill(&mut batch, &mut maker, next, watch);
            if self.client.is_quiet() {
                break;
            }
            self.take_one(&mut batch, watch);
        }
        if let Some(doubt) = self.client.unexplained() {
            self.settle(&mut batch, doubt);
        }
        self.note_stderr(&mut batch, u64::MAX);
        batch
    }

    /// Sends calls until the window is full or there are none.
    fn fill(&mut self, batch: &mut Batch<'_>, maker: &mut Maker, next: Next<'_>, watch: Watch<'_>) {
        let limits = self.shared.backend.limits;
        let window = if self.one_at_a_time { 1 } else { limits.window };
        while self.client.has_room(window) {
            let Some(sending) = self.client.next_sending() else {
                let Some((case, runs)) = next(maker) else { return };
                self.client.queue(batch.take(case, runs, watch));
                continue;
            };
            let Some(judged) = batch.judged(sending) else { continue };
            if !self.client.is_up() {
                let trouble = self.given_up.clone().expect("there is a process or a reason why not");
                batch.finish(sending, SendResult { result: Err(trouble), stderr: None }, watch);
                continue;
            }
            let (seq, folder) = self.client.next_request();
            match EncodedCall::of_run(seq, &judged.run, limits.file_above, folder) {
                Ok(request) => {
                    self.client.send(sending, request);
                    batch.sent(sending);
                }
                Err(why) => {
                    batch.not_sent(sending, &why, watch);
                }
            }
        }
    }

    /// Receives one reply, or the reason why there is none.
    fn take_one(&mut self, batch: &mut Batch<'_>, watch: Watch<'_>) {
        let Some(due) = self.client.due() else { return };
        if let Some(judged) = batch.judged(due) {
            watch(Event::Waiting(&judged.run.id));
        }
        match self.client.receive(self.client.limit()) {
            Ok(answered) => {
                let Answered { sending, result, mark, took, said } = answered;
                let result = result.map(|outcome| {
                    let judged = batch.judged(sending);
                    let pass = Judgement { verdict: Verdict::Pass, note: None };
                    let judgement = judged.map_or(pass, |judged| judged.judge(&outcome));
                    (outcome, judgement)
                });
                let fine = result.as_ref().is_ok_and(|(_, judgement)| judgement.verdict == Verdict::Pass);
                let stderr = if fine { None } else { self.client.stderr(mark) };
                match said {
                    Some(Said { end, text }) if fine => {
                        let text = if self.shared.has_room(&text) { text } else { String::new() };
                        self.beside.push((sending, Said { end, text }));
                    }
                    _ if fine => {}
                    // The failing call reports all that arrived since it was sent.
                    _ => self.beside.retain(|(_, said)| said.end <= mark),
                }
                batch.waited(sending, took);
                batch.finish(sending, SendResult { result, stderr }, watch);
            }
            // After an interrupt, the calls in flight get no result.
            Err(_) if interrupt::requested() => {}
            Err((blame, trouble)) => self.fail(batch, blame, &trouble, watch),
        }
    }

    /// Kills the process, and finds the call to blame.
    fn fail(&mut self, batch: &mut Batch<'_>, blame: Blame, trouble: &Trouble, watch: Watch<'_>) {
        let earlier = earlier(batch, blame);
        let blame = if earlier.is_none() && blame != Blame::Due { Blame::InFlight } else { blame };
        let (payer, end) = self.client.fail(blame, trouble);
        self.note_stderr(batch, end.mark);
        if let Some(Answered { sending, took, .. }) = payer {
            batch.waited(sending, took);
            batch.finish(sending, SendResult { result: Err(trouble.clone()), stderr: end.stderr }, watch);
        } else if let Some(sending) = earlier {
            batch.amend(sending, &answered_twice(), end.stderr);
        } else {
            self.one_at_a_time = true;
        }
        if end.survives {
            self.given_up = Some(not_sent(SURVIVES));
        }
    }

    /// Records the standard error of passing calls up to byte `until`. Other calls report the rest.
    fn note_stderr(&mut self, batch: &mut Batch<'_>, until: u64) {
        for (sending, said) in self.beside.drain(..).filter(|(_, said)| said.end <= until) {
            self.shared.loud.fetch_add(1, Ordering::Relaxed);
            batch.add_stderr(sending, said.text);
        }
    }

    /// Starts the next process, if the budget allows it.
    fn restart(&mut self, batch: &mut Batch<'_>, watch: Watch<'_>) {
        batch.new_session(self.client.next_request().0);
        let mut failures = 0;
        while self.given_up.is_none() {
            let restarts = self.shared.backend.limits.restarts;
            let restart = self.client.take_free_restart().then_some(0);
            let restart = restart.or_else(|| self.shared.next_restart());
            match restart.map(|number| {
                watch(Event::Starting(number));
                self.client.restart(self.shared.backend)
            }) {
                Some(Ok(true)) => return,
                Some(Ok(false)) => {
                    self.given_up =
                        Some(not_sent("after a restart the backend describes itself differently"));
                }
                Some(Err(broken)) => {
                    failures += 1;
                    if failures == START_FAILURES {
                        let why = format!("{failures} restarts failed: {}", broken.why);
                        self.given_up = Some(not_sent(&why));
                    }
                }
                None => {
                    let why = format!("the budget of {} is used up", counted(restarts, "restart"));
                    self.given_up = Some(not_sent(&why));
                }
            }
        }
    }

    /// Reports a failure with several calls in flight that none of them repeated alone. A crash or a protocol
    /// error must not go unseen; a timeout is no failure then.
    fn settle(&self, batch: &mut Batch<'_>, doubt: Doubt) {
        if interrupt::requested() {
            let what = doubt.in_words("; the run ended before each of them was asked alone");
            return self.shared.remark(format!("{}: {what}", doubt.trouble.verdict));
        }
        let alone = if self.given_up.is_none() { "; alone, each of them was answered" } else { "" };
        let (due, what) = (doubt.due(), doubt.in_words(alone));
        if doubt.trouble.verdict == Verdict::Timeout || !(batch.has_passed(due) || self.given_up.is_some()) {
            let from_then_on = "from then on calls were sent one at a time";
            self.shared.remark(format!("{}: {what}; {from_then_on}", doubt.trouble.verdict));
        } else {
            batch.amend(due, &Trouble { what, ..doubt.trouble }, doubt.stderr);
        }
    }

    /// Ends the session. Its last lines may still concern a call.
    fn stop(&mut self, batch: &mut Batch<'_>) {
        if !self.client.is_quiet() {
            // The run ends early: replies that are missing are no failures.
            self.client.kill();
            return;
        }
        let Some(session) = self.client.take_session() else { return };
        let StopResult { lines, remark, problem } = session.stop();
        remark.into_iter().for_each(|remark| self.shared.remark(remark));
        problem.into_iter().for_each(|problem| self.shared.problem(problem));
        if let Some(line) = lines.first() {
            let (blame, trouble) = match self.client.read(line) {
                Err(blamed) => blamed,
                Ok(_) => (Blame::Due, Trouble::protocol("a line without a request")),
            };
            match (earlier(batch, blame), batch.last_sent()) {
                (Some(sending), _) => batch.amend(sending, &answered_twice(), None),
                (None, Some(sending)) => batch.amend(sending, &trouble, None),
                (None, None) => self.shared.remark(trouble.what),
            }
        }
    }
}

/// The call of this session that a stray reply names.
fn earlier(batch: &Batch<'_>, blame: Blame) -> Option<Sending> {
    match blame {
        Blame::Stray(seq) => batch.numbered(seq),
        Blame::Due | Blame::InFlight => None,
    }
}

/// The result of a call that is not sent, since there is no process any more.
fn not_sent(why: &str) -> Trouble {
    Trouble { verdict: Verdict::NotRun, what: format!("not sent: {why}") }
}

fn answered_twice() -> Trouble {
    Trouble::protocol("the call was answered twice")
}
