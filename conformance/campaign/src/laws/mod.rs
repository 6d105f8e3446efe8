//! Laws: relations between calls that hold for every input. They need no reference, so they also test a
//! backend whose right answers are not known.
//!
//! A law draws an instance, asks calls that the backend declares, and compares the answers; `instance` runs it. `documented`
//! holds the laws that documents state. `batches`, `rows`, `axes`, `elements`, `windows`, `blind` and `policies` hold those
//! that follow from the formulas. `gathers` draws calls, `shapes` gives the shapes of their outputs, `tensors` takes tensors
//! apart and `compare` compares them, all without any gather of ours.

mod axes;
mod batches;
mod blind;
mod compare;
mod documented;
mod elements;
mod gathers;
mod instance;
mod policies;
mod rows;
mod stop;
mod tensors;
mod windows;

use gather_spec::{Profile, Signatures};

use crate::generate::{ChoiceSequence, EDGES_IN};
use gather_conformance::backend::Description;
use gather_conformance::internals::check::{
    BROKEN, CallRequest, CallResult, CallSettings, Check, Key, SKIPPED, Step, Tally, Violation,
};

pub use instance::Law;
use instance::{Instance, TestedBackend};
use stop::Stop;

/// Every law.
pub const LAWS: &[Law] = &[
    documented::SLICE_AT_LOCATION,
    documented::BATCH_IS_A_LOOP,
    documented::ARGSORT_SORTS,
    batches::BATCH_OF_ROWS_IS_A_LOOP,
    batches::DEFAULTS_ARE_WHAT_THEY_STAND_FOR,
    batches::NEGATIVE_COUNTS_FROM_THE_END,
    rows::CONCATENATED,
    rows::PERMUTED,
    rows::REPEATED,
    rows::RESHAPED,
    axes::IDENTITY,
    axes::COMPOSED,
    axes::SCALARS_ARE_FLAT,
    axes::DEPTH_ONE_IS_AXIS_ZERO,
    axes::AXIS_BY_TRANSPOSING,
    axes::NULL_AXIS_IS_FLATTENING,
    elements::ARGSORT_SORTS,
    elements::IS_ND_ON_COORDINATES,
    elements::AXES_PERMUTED,
    elements::SMALLER_IS_SLICED,
    windows::ONE_ELEMENT_IS_ND,
    windows::LOOP_OF_SLICES,
    windows::BATCHING_IS_A_LOOP,
    windows::OFFSET_DIMS_MOVED,
    windows::COMPONENTS_PERMUTED,
    windows::VECTOR_MOVED,
    windows::CLAMPED_STARTS,
    windows::BAD_WINDOWS_FILLED,
    blind::PAYLOAD,
    blind::DTYPE,
    blind::INDEX_DTYPE,
    blind::LAYOUT,
    policies::FILLING_IS_PADDING,
    policies::CLAMP_IS_CLAMPING,
    policies::WRAP_IS_ADDING,
    policies::MODULO_IS_THE_REMAINDER,
    policies::LATER_ROWS,
];

/// The check that tests a backend against laws, one instance per case.
#[derive(Debug)]
pub struct Laws {
    backend: TestedBackend,
    /// Each law with the profiles to draw it under. If there are none, the declared ones apply.
    laws: Vec<(Law, Vec<Profile>)>,
}

impl Laws {
    /// All laws, or those in `chosen`, for a backend with this description. They are drawn under the declared policies,
    /// or under those of `profiles` to which the law applies. Only a backend in this process sees layouts.
    ///
    /// # Errors
    /// The first name in `chosen` that is not a law's.
    pub fn new(
        description: &Description,
        signatures: &Signatures,
        profiles: &[Profile],
        in_process: bool,
        chosen: &[String],
    ) -> Result<Self, String> {
        let law = |name: &String| {
            LAWS.iter().find(|law| law.name == name).copied().ok_or_else(|| {
                let names: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
                format!("unknown law `{name}`: one of {} is expected", names.join(" "))
            })
        };
        let laws = if chosen.is_empty() {
            LAWS.to_vec()
        } else {
            chosen.iter().map(law).collect::<Result<_, String>>()?
        };
        let under = |law: Law| {
            let spoken_of: Vec<Profile> =
                profiles.iter().copied().filter(|profile| law.speaks_of(*profile)).collect();
            (law, if spoken_of.is_empty() { profiles.to_vec() } else { spoken_of })
        };
        let laws = laws.into_iter().map(under).collect();
        let (mut description, signatures) = (description.clone(), signatures.clone());
        description.operators.values_mut().for_each(|known| *known = known.with_extensions());
        Ok(Self { backend: TestedBackend { description, signatures, in_process, edges_in: EDGES_IN }, laws })
    }

    /// Draws one gather in `edges_in` at a size at which kernels switch between code paths.
    #[must_use]
    pub fn edges_in(self, edges_in: usize) -> Self {
        Self { backend: TestedBackend { edges_in, ..self.backend }, ..self }
    }
}

impl Check for Laws {
    fn step(
        &self,
        choices: &mut ChoiceSequence,
        asked: &[CallRequest],
        answers: &[CallResult],
        tally: &mut Tally,
    ) -> Step {
        let (law, profiles) = &self.laws[choices.below(self.laws.len())];
        let profile = if profiles.is_empty() { None } else { Some(choices.pick(profiles)) };
        let settings = CallSettings::draw(choices, profile.unwrap_or_default());
        let mut instance = Instance::new(law, choices, &self.backend, profile, settings, answers);
        let (column, step) = match (law.check)(&mut instance) {
            Err(Stop::Ask(requests)) => return Step::Ask(requests),
            Ok(()) => ("held", Step::Held { law: Some(law.name), expected: None }),
            Err(Stop::Skip(why)) => {
                debug_assert!(why.starts_with(SKIPPED), "{why} is counted as if it had been tested");
                (why, Step::Done)
            }
            Err(Stop::Broken { verdict, expected, actual, difference }) => {
                let key = Key::new(Some(law.name), &self.backend.signatures, asked, verdict, None);
                (BROKEN, Step::Violated(Box::new(Violation { key, expected, actual, difference })))
            }
        };
        tally.count(law.name, column);
        step
    }
}
