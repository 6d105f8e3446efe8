//! The backend of a campaign: its workers, and how a command line names it.

use std::num::NonZeroUsize;

use gather_spec::{Profile, Signatures};

use crate::adapters::Launch;
use crate::builtin::Policies;
use crate::fuzz::{Subject, Subjects};
use crate::judge::Strictness;
use crate::process::{Dialogue, ProcessBackend};
use crate::reproduction::Reproduction;

use super::built_in::BackendArgument;
use super::process::ProcessOptions;

/// The backend of a campaign, ready for use.
pub(super) struct Target {
    pub(super) subjects: Subjects,
    /// For the command lines that repeat what it did.
    pub(super) reproduction: Reproduction,
    /// Its name in the report, as given on the command line.
    pub(super) argument: String,
    /// The policies to draw from, for a built-in backend.
    pub(super) profiles: Vec<Profile>,
    pub(super) strictness: Strictness,
}

impl Target {
    /// A built-in backend, under the given policies or, without any, under all of them.
    pub(super) fn built_in(
        backend: &BackendArgument,
        signatures: &Signatures,
        reproduction: Reproduction,
        jobs: Option<NonZeroUsize>,
    ) -> Self {
        let free = !backend.text.contains(':');
        let Policies { bad, negative } = backend.policies;
        let given = Profile { bad: bad.unwrap_or_default(), negative: negative.unwrap_or_default() };
        let profiles: Vec<Profile> = if free { Profile::all_specified().collect() } else { vec![given] };
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let make = |_| Subject::built_in(&backend.name, signatures, &profiles).expect("the name was checked");
        let subjects = Subjects((0..jobs.unwrap_or_else(cores).get()).map(make).collect());
        let argument = backend.text.clone();
        Self { subjects, reproduction, argument, profiles, strictness: Strictness::Strict }
    }

    /// A program, started once per worker.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(super) fn program(
        options: &ProcessOptions,
        launch: &Launch,
        (argument, reproduction): (String, Reproduction),
        jobs: Option<NonZeroUsize>,
    ) -> Result<Self, String> {
        let backend: ProcessBackend = options.backend(launch, 1, 1);
        let jobs = jobs.map_or(1, NonZeroUsize::get);
        let start = |_| Dialogue::start(backend.clone()).map(|dialogue| Subject::Process(Box::new(dialogue)));
        let subjects: Vec<Subject> =
            (0..jobs).map(start).collect::<Result<_, _>>().map_err(|broken| broken.to_string())?;
        let (subjects, profiles) = (Subjects(subjects), Vec::new());
        Ok(Self { subjects, reproduction, argument, profiles, strictness: Strictness::Lenient })
    }
}
