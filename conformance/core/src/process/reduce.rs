//! Reduces the variant of a failure to the axes that it needs: the call is asked again with one axis after the other as usual.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_spec::Run;
use gather_spec::load::Maker;

use crate::entry::Entry;
use crate::interrupt;
use crate::judge::Verdict;

use super::batch::{Batch, Event, VariantFailure, Watch};
use super::worker::ProcessWorker;

/// How many failures of a worker are reduced.
const MOST: usize = 200;

/// How many of them if the process ends with each, which takes a restart.
const MOST_CRASHES: usize = 10;

/// Whether a failure may be asked again: not if each time is long, or the restarts may run out.
fn can_be_asked(verdict: Verdict, crashes: &mut usize) -> bool {
    let ends_the_process = matches!(verdict, Verdict::Crash | Verdict::InputChanged);
    *crashes += usize::from(ends_the_process);
    match verdict {
        Verdict::Timeout | Verdict::ProtocolError | Verdict::NotRun => false,
        _ => !ends_the_process || *crashes <= MOST_CRASHES,
    }
}

impl ProcessWorker<'_> {
    /// Reduces the variants of the failures that the cases of a batch show.
    pub(super) fn reduce(&mut self, batch: &mut Batch<'_>, watch: Watch<'_>) {
        let mut crashes = 0;
        let found = batch.varied_failures().into_iter().filter(|one| can_be_asked(one.verdict, &mut crashes));
        let mut open: Vec<(VariantFailure, Vec<Arc<str>>)> = found
            .take(MOST)
            .map(|one| {
                let axes = one.variant.iter().map(|(axis, _)| Arc::clone(axis)).collect();
                (one, axes)
            })
            .collect();
        // In each round every failure loses one axis, if it can.
        while !open.is_empty() && !interrupt::requested() && !self.has_given_up() {
            let without = |(one, axes): &mut (VariantFailure, Vec<Arc<str>>)| {
                let axis = axes.pop().expect("a failure without axes is closed");
                let mut run = one.run.clone();
                run.call.variant = one.variant.without(&axis);
                run
            };
            let runs: Vec<Run> = open.iter_mut().map(without).collect();
            for (at, answer) in self.ask_again(&runs, watch) {
                let (one, _) = &mut open[at];
                if answer.verdict == one.verdict {
                    one.variant.clone_from(&runs[at].call.variant);
                    batch.replace(one.place, answer);
                }
            }
            open.retain(|(_, axes)| !axes.is_empty());
        }
    }

    /// Asks runs in the variants that they have. Returns the results by the number of the run.
    fn ask_again(&mut self, runs: &[Run], watch: Watch<'_>) -> Vec<(usize, Entry)> {
        let counter = AtomicUsize::new(0);
        let next = |_: &mut Maker| {
            let at = counter.fetch_add(1, Ordering::Relaxed);
            Some((at, vec![runs.get(at)?.clone()]))
        };
        // The cases are settled already.
        let without_cases = |event: Event<'_>| {
            if !matches!(event, Event::Settled(_)) {
                watch(event);
            }
        };
        let answered = self.ask(&next, None, &without_cases).into_results();
        answered.into_iter().filter_map(|(at, mut entry)| Some((at, entry.all.pop()?))).collect()
    }
}
