//! The backend of a campaign: its workers, and how a command line names it.

use std::num::NonZeroUsize;

use gather_spec::{Profile, Signatures};

use gather_campaign::fuzz::{CampaignSubject, Subjects};
use gather_conformance::builtin::Policies;
use gather_conformance::internals::judge::Strictness;
use gather_conformance::internals::process::{Dialogue, ProcessBackend};
use gather_conformance::internals::reproduction::Reproduction;

use super::backend::BuiltIn;

/// The backend of a campaign, ready for use.
pub(super) struct CampaignTarget {
    pub(super) subjects: Subjects,
    /// For the command lines that repeat what it did.
    pub(super) reproduction: Reproduction,
    /// The policies to draw from, for a built-in backend.
    pub(super) profiles: Vec<Profile>,
    pub(super) strictness: Strictness,
}

impl CampaignTarget {
    /// A built-in backend, under the given policies or, without any, under all of them.
    pub(super) fn built_in(
        backend: &BuiltIn,
        signatures: &Signatures,
        reproduction: Reproduction,
        jobs: Option<NonZeroUsize>,
    ) -> Self {
        let free = !backend.text.contains(':');
        let Policies { bad, negative } = backend.policies;
        let given = Profile { bad: bad.unwrap_or_default(), negative: negative.unwrap_or_default() };
        let profiles: Vec<Profile> = if free { Profile::all_specified().collect() } else { vec![given] };
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let make = |_| {
            CampaignSubject::built_in(&backend.name, signatures, &profiles).expect("the name was checked")
        };
        let subjects = Subjects((0..jobs.unwrap_or_else(cores).get()).map(make).collect());
        Self { subjects, reproduction, profiles, strictness: Strictness::Strict }
    }

    /// A program, started once per worker.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub(super) fn program(
        program: &ProcessBackend,
        reproduction: Reproduction,
        jobs: Option<NonZeroUsize>,
    ) -> Result<Self, String> {
        let start =
            |_| Dialogue::start(program.clone()).map(|dialogue| CampaignSubject::Process(Box::new(dialogue)));
        let subjects: Vec<CampaignSubject> = (0..jobs.map_or(1, NonZeroUsize::get))
            .map(start)
            .collect::<Result<_, _>>()
            .map_err(|broken| broken.to_string())?;
        let subjects = Subjects(subjects);
        Ok(Self { subjects, reproduction, profiles: Vec::new(), strictness: Strictness::Lenient })
    }
}
