//! The progress of a run on stderr, and what it is waiting for. On a terminal that is one line, which is drawn again and
//! again once the run takes more than a second; elsewhere, as in the log of a CI job, it is a further line every half a minute.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::Part;
use gather_conformance::internals::process::Event;
use gather_conformance::internals::words;

use super::output::complain;

/// Runs of at most this duration show nothing.
const QUIET: Duration = Duration::from_secs(1);

/// The interval between lines where stderr is no terminal.
const LIFE: Duration = Duration::from_secs(30);

/// The interval between updates of the line.
const REDRAW: Duration = Duration::from_millis(250);

/// How long a wait must last to be mentioned.
const PATIENT: Duration = Duration::from_secs(2);

/// The progress of a run.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The state that the line shows.
#[derive(Default)]
struct State {
    backend: String,
    /// Whether it has results.
    has_results: bool,
    /// What each worker is waiting for, and since when.
    waits: HashMap<ThreadId, (Instant, String)>,
    /// The progress of the campaign.
    campaign: String,
}

impl Progress {
    /// The progress of this many cases, which a `quiet` run does not show.
    pub(super) fn new(cases: usize, quiet: bool) -> Self {
        let bar = ProgressBar::hidden();
        bar.set_length(cases as u64);
        let state = Arc::default();
        let (own, of) = (bar.clone(), Arc::clone(&state));
        let drawing = match () {
            () if quiet => None,
            () if io::stderr().is_terminal() => draw(own, of),
            () => in_lines(own, of, LIFE, |line| complain(line)),
        };
        Self { bar, state, drawing }
    }

    /// Sets the backend that is running.
    pub(super) fn backend(&self, name: &str) {
        *lock(&self.state) = State { backend: words::name(name), ..State::default() };
    }

    /// Sets how many cases of a part of a campaign are done.
    pub(super) fn campaign(&self, part: Part, done: u64) {
        let mut state = lock(&self.state);
        state.waits.clear();
        state.campaign = format!(", {done} {}", part.title());
    }

    /// Records an event of the worker on this thread.
    pub(super) fn note(&self, event: Event<'_>) {
        let wait = match event {
            Event::Starting(0) => Some("start and imports".to_owned()),
            Event::Starting(number) => Some(format!("restart {number}")),
            Event::Waiting(case) => Some(words::name(case)),
            Event::Settled(..) => None,
            Event::Described(undeclared) => return self.bar.dec_length(undeclared as u64),
        };
        let mut state = lock(&self.state);
        match wait {
            Some(wait) => {
                state.waits.insert(thread::current().id(), (Instant::now(), wait));
            }
            None => {
                state.waits.remove(&thread::current().id());
                // The rate of a backend begins with its first result: neither its start nor other backends count.
                if !std::mem::replace(&mut state.has_results, true) {
                    self.bar.reset_eta();
                }
                self.bar.inc(1);
            }
        }
    }

    /// Prints a text to stderr, above the line.
    pub(super) fn say(&self, text: &str) {
        self.bar.suspend(|| complain(text));
    }

    /// Removes the line.
    pub(super) fn clear(mut self) {
        if let Some((stop, drawing)) = self.drawing.take() {
            drop(stop);
            let _ = drawing.join();
        }
        self.bar.finish_and_clear();
    }
}

impl State {
    /// The text after the bar. A narrow terminal cuts off its end.
    fn words(&self, now: Instant, pace: &str) -> String {
        let longest = self.waits.values().min_by_key(|(since, _)| *since);
        match longest.map(|(since, what)| (now.saturating_duration_since(*since), what)) {
            Some((time, what)) if time >= PATIENT => {
                format!("waiting {} s: {what}, {}", time.as_secs(), self.backend)
            }
            _ if self.campaign.is_empty() => format!("{}{pace}", self.backend),
            _ => format!("{}{}", self.backend, self.campaign),
        }
    }
}

/// The rate and the time left: `, 2.4/s, 13 s left`; nothing before there is a rate.
fn pace(per_second: f64, left: Duration) -> String {
    let left = match left.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    };
    match per_second {
        slow if slow < 0.05 => String::new(),
        slow if slow < 10.0 => format!(", {slow:.1}/s, {left} left"),
        fast => format!(", {fast:.0}/s, {left} left"),
    }
}

/// Draws the line from a thread of its own, since waits are worth showing just when nothing else happens.
fn draw(bar: ProgressBar, state: Arc<Mutex<State>>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel::<()>();
    let drawing = thread::Builder::new().spawn(move || {
        let over = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Disconnected);
        if over(QUIET) {
            return;
        }
        let style = ProgressStyle::with_template("{bar:20} {pos}/{len} cases  {wide_msg}");
        bar.set_style(style.expect("a template without errors"));
        bar.set_draw_target(ProgressDrawTarget::stderr());
        while {
            let pace = pace(bar.per_sec(), bar.eta());
            bar.set_message(lock(&state).words(Instant::now(), &pace));
            !over(REDRAW)
        } {}
    });
    Some((stop, drawing.ok()?))
}

/// Says the same in lines of their own.
fn in_lines(
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
    interval: Duration,
    say: impl Fn(&str) + Send + 'static,
) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel::<()>();
    let telling = thread::Builder::new().spawn(move || {
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let words = lock(&state).words(Instant::now(), &pace(bar.per_sec(), bar.eta()));
            say(&format!("{}/{} cases  {words}", bar.position(), bar.length().unwrap_or_default()));
        }
    });
    Some((stop, telling.ok()?))
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // The state is consistent even if a thread panicked while holding the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use gather_spec::Profile;

    use super::*;
    use gather_conformance::builtin;
    use gather_conformance::internals::entry::Entry;
    use gather_conformance::internals::judge::{Judgement, Strictness, Verdict};
    use gather_conformance::internals::judged::Judged;

    fn result() -> Entry {
        let reference = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        let run = &crate::embedded().cases[0].runs()[0];
        let judged = Judged::new(&reference, run, Strictness::Lenient).unwrap();
        let pass = Judgement { verdict: Verdict::Pass, note: None };
        Entry::alone(run, judged.result(pass, String::new(), None))
    }

    #[test]
    fn the_longest_wait_of_two_seconds_or_more_is_said() {
        let settled = result();
        let progress = Progress::new(3, false);
        let words = |seconds| {
            let now = Instant::now() + Duration::from_millis(seconds);
            lock(&progress.state).words(now, ", 2.4/s, 13 s left")
        };
        progress.backend("numpy");
        assert_eq!(words(60_000), "numpy, 2.4/s, 13 s left");
        progress.note(Event::Starting(0));
        assert_eq!(
            [1900, 5100].map(words),
            ["numpy, 2.4/s, 13 s left", "waiting 5 s: start and imports, numpy"]
        );
        progress.note(Event::Starting(3));
        assert_eq!(words(2100), "waiting 2 s: restart 3, numpy");
        thread::scope(|scope| {
            scope.spawn(|| progress.note(Event::Waiting("tf.gather/size/a")));
        });
        assert_eq!(words(2100), "waiting 2 s: restart 3, numpy");
        progress.note(Event::Settled(&settled));
        let said = "waiting 9 s: tf.gather/size/a, numpy";
        assert_eq!((words(9100).as_str(), progress.bar.position()), (said, 1));
        progress.backend("jax");
        assert_eq!(words(60_000), "jax, 2.4/s, 13 s left");
        progress.campaign(Part::Laws, 30);
        assert_eq!(words(60_000), "jax, 30 laws");
    }

    #[test]
    fn without_a_terminal_a_line_comes_at_every_interval_until_the_end() {
        let settled = result();
        let progress = Progress::new(60, false);
        progress.backend("numpy");
        progress.note(Event::Described(53));
        progress.note(Event::Settled(&settled));
        let (said, lines) = mpsc::channel();
        let (bar, state) = (progress.bar.clone(), Arc::clone(&progress.state));
        let say = move |line: &str| said.send(line.to_owned()).unwrap();
        let (stop, telling) = in_lines(bar, state, Duration::from_millis(5), say).unwrap();
        for line in lines.iter().take(2) {
            assert!(line.starts_with("1/7 cases  numpy"), "{line}");
        }
        drop(stop);
        telling.join().unwrap();
        assert!(lines.iter().all(|line| line.starts_with("1/7 cases")));
    }

    #[test]
    fn a_pace_is_short_and_absent_until_there_is_one() {
        let said = |per_second, seconds| pace(per_second, Duration::from_secs(seconds));
        assert_eq!(said(0.0, 0), "");
        assert_eq!(said(2.44, 13), ", 2.4/s, 13 s left");
        assert_eq!(said(1234.5, 121), ", 1234/s, 3 min left");
    }
}
