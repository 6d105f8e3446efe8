//! The backends that a campaign can test: a built-in one at every level and under every profile, or a process.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use gather_spec::{Call, Profile, Signatures};

use gather_conformance::backend::Backend;
use gather_conformance::backend::Description;
use gather_conformance::internals::in_process::{self, InProcessBackend};
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process::{Answers, Dialogue};
use gather_conformance::internals::runner::panic_message;
use gather_conformance::internals::trouble::Trouble;

use super::expect::MAX_OUTPUT;
use gather_conformance::internals::check::{CallRequest, CallResult, CallSettings};
use gather_conformance::internals::choices::ChoiceSequence;

/// The backend that a worker asks.
pub enum CampaignSubject {
    /// In this process.
    InProcess(InProcessSubject),
    /// In a process of its own.
    Process(Box<Dialogue>),
}

/// The backends of all workers. They are dropped in parallel, since each may own a process that is slow to stop.
pub struct Subjects(pub Vec<CampaignSubject>);

impl Drop for Subjects {
    fn drop(&mut self) {
        std::thread::scope(|scope| {
            self.0.drain(..).for_each(|subject| {
                // If no thread can be started, the subject is dropped right here.
                let _ = std::thread::Builder::new().spawn_scoped(scope, || drop(subject));
            });
        });
    }
}

/// A backend in this process, once for each profile and level.
pub struct InProcessSubject {
    description: Description,
    profiles: Vec<Profile>,
    /// By profile, then by level, in the order of [`CallSettings::LEVELS`].
    backends: Vec<RestartableBackend>,
}

/// A backend, and how to remake it after a panic, which may have left it in any state.
struct RestartableBackend {
    make: Box<dyn Fn() -> InProcessBackend + Send>,
    held: Option<InProcessBackend>,
}

impl RestartableBackend {
    fn new(make: impl Fn() -> InProcessBackend + Send + 'static) -> Self {
        Self { held: Some(make()), make: Box::new(make) }
    }
}

thread_local! {
    /// Whether this thread is inside a backend, where a panic becomes a verdict.
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Stops panics of backends from being printed: the report covers them, and a campaign may meet thousands.
pub fn silence_backends() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |about| {
        if !ASKING.get() {
            loud(about);
        }
    }));
}

impl CampaignSubject {
    /// A built-in backend for some operators under these profiles; `None` if the name is unknown.
    #[must_use]
    pub fn built_in(name: &str, signatures: &Signatures, profiles: &[Profile]) -> Option<Self> {
        let mut description = in_process::built_in(signatures, name, *profiles.first()?, MAX_OUTPUT)?;
        let description = description.backend().describe();
        let signatures = Arc::new(signatures.clone());
        let is_optimized = name == "optimized";
        let mut backends = Vec::new();
        for profile in profiles.iter().copied() {
            for level in CallSettings::LEVELS.map(|level| level.filter(|_| is_optimized)) {
                let (signatures, name) = (Arc::clone(&signatures), name.to_owned());
                backends.push(RestartableBackend::new(move || {
                    let held = |level| in_process::optimized_at(&signatures, level, profile, MAX_OUTPUT);
                    let best = || in_process::built_in(&signatures, &name, profile, MAX_OUTPUT);
                    level.and_then(held).or_else(best).expect("the name is known")
                }));
            }
        }
        Some(Self::InProcess(InProcessSubject { description, profiles: profiles.to_vec(), backends }))
    }

    /// The backends that `make` makes, in this process, all with the same settings.
    #[must_use]
    pub fn backend(make: impl Fn() -> Box<dyn Backend> + Send + 'static) -> Self {
        let description = make().describe();
        let backends = vec![RestartableBackend::new(move || make().into())];
        Self::InProcess(InProcessSubject { description, profiles: Vec::new(), backends })
    }

    /// The backend's self-description.
    #[must_use]
    pub fn description(&self) -> &Description {
        match self {
            Self::InProcess(backend) => &backend.description,
            Self::Process(dialogue) => dialogue.description(),
        }
    }

    /// All settings to run it with: each level under each profile for a built-in backend, otherwise a single one without
    /// policies.
    pub(super) fn settings(&self) -> Vec<Option<CallSettings>> {
        match self {
            Self::InProcess(backend) if backend.backends.len() > 1 => {
                let of = |profile| {
                    let settings =
                        move |level| Some(CallSettings { profile, level, threads: 1, fresh: false });
                    CallSettings::LEVELS.into_iter().map(settings)
                };
                backend.profiles.iter().flat_map(|profile| of(*profile)).collect()
            }
            _ => vec![None],
        }
    }

    /// Makes calls in variants that the backend declares and that are asked for. Draws a number if there are any.
    pub(super) fn vary(&self, requests: &mut [CallRequest], choices: &mut ChoiceSequence) {
        // A multiple of the numbers of values that an axis may have, and more axes than a call has.
        const VALUES: usize = 840;
        const AXES: usize = 6;
        const COMPILED_IN: usize = 16;
        let (asked, chosen) = match self {
            Self::InProcess(_) => (VariantsAsked::Turns, None),
            Self::Process(dialogue) => dialogue.variants(),
        };
        let operators = &self.description().operators;
        if asked == VariantsAsked::None || operators.values().all(|one| one.variants.is_empty()) {
            return;
        }
        // A number for each axis, so that a failure loses one after the other where it is made small.
        let drawn: [usize; AXES] = std::array::from_fn(|_| choices.below(VALUES));
        // Where compilations are few, most calls are made without.
        let compiles =
            operators.values().all(|one| one.compilations.is_none()) || choices.once_in(COMPILED_IN);
        for CallRequest { call, .. } in requests {
            let Some(capability) = operators.get(call.operator.as_str()) else { continue };
            let mut drawn = drawn.into_iter();
            let drawn = |values| drawn.next().unwrap_or_default() % (values + 1);
            call.variant = match chosen {
                Some(chosen) => chosen.clone(),
                None if compiles => capability.variants.chosen(call, drawn),
                None => capability.variants.chosen(call, drawn).layouts(),
            };
        }
    }

    /// Sets whether restarts of a process count towards the limit.
    pub(super) fn count_restarts(&mut self, counted: bool) {
        if let Self::Process(dialogue) = self {
            dialogue.count_restarts(counted);
        }
    }

    /// Sets the deadline of a process. A backend in this process cannot be interrupted.
    pub fn stop_at(&mut self, deadline: Option<Instant>) {
        if let Self::Process(dialogue) = self {
            dialogue.stop_at(deadline);
        }
    }

    /// Makes the requests.
    #[must_use]
    pub fn ask(&mut self, requests: &[&CallRequest]) -> Answers {
        match self {
            Self::InProcess(backend) => {
                let answers = requests.iter().map(|request| backend.ask(request)).collect();
                Answers { answers, interrupted: None }
            }
            Self::Process(dialogue) => {
                let calls: Vec<&Call> = requests.iter().map(|request| &request.call).collect();
                dialogue.ask(&calls)
            }
        }
    }
}

impl InProcessSubject {
    fn ask(&mut self, request: &CallRequest) -> CallResult {
        let CallSettings { profile, level, threads, fresh } = request.settings;
        let profile = self.profiles.iter().position(|known| *known == profile).unwrap_or(0);
        let level = CallSettings::LEVELS.iter().position(|known| *known == level).unwrap_or(0);
        let at = if self.backends.len() == 1 { 0 } else { profile * CallSettings::LEVELS.len() + level };
        let RestartableBackend { make, held } = &mut self.backends[at];
        let backend = held.get_or_insert_with(make);
        ASKING.set(true);
        let answered = catch_unwind(AssertUnwindSafe(|| backend.call(&request.call, threads.max(1), !fresh)));
        ASKING.set(false);
        answered.map_err(|panic| {
            *held = None;
            Trouble { verdict: Verdict::Crash, what: format!("panic: {}", panic_message(&*panic)) }
        })
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::Outcome;

    use gather_conformance::builtin;

    use super::*;

    /// Panics at its first call, and answers every later one with what the panic has left of it.
    struct Fragile {
        has_panicked: bool,
    }

    impl Backend for Fragile {
        fn describe(&self) -> Description {
            builtin::backend("reference", Profile::default(), MAX_OUTPUT).unwrap().describe()
        }

        fn call(&mut self, _: &Call) -> Outcome {
            assert!(std::mem::replace(&mut self.has_panicked, true), "the first call");
            Outcome::Unsupported("a consequence of the panic".to_owned())
        }
    }

    #[test]
    fn after_a_panic_the_next_question_goes_to_a_new_backend() {
        let spec = crate::embedded();
        let call = spec.cases[0].runs()[0].call.clone();
        let mut subject = CampaignSubject::backend(|| Box::new(Fragile { has_panicked: false }));
        let request = CallRequest { call, settings: CallSettings::default() };
        for _ in 0..2 {
            let Answers { answers, .. } = subject.ask(&[&request]);
            let trouble = answers[0].as_ref().unwrap_err();
            assert_eq!((trouble.verdict, trouble.what.as_str()), (Verdict::Crash, "panic: the first call"));
        }
    }
}
