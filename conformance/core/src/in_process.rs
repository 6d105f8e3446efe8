//! Backends in this process, among them this project's own two, whose outputs can be poisoned.

use std::num::NonZeroUsize;

use gather_optimized::{Level, Memory, Options};
use gather_reference::Settings;
use gather_spec::signature::OperandRole;
use gather_spec::{
    BadIndex, Call, DType, NegativeIndex, Outcome, Profile, Refusal, Signature, Signatures, Tensor,
};

use crate::backend::{Backend, Capability, Description, Identity, Prepared};
use crate::protocol::OutputMemory;

/// A backend of this project that can fill its output buffers with garbage first.
pub trait Poisonable: Backend {
    /// Poisons the output buffers of later calls, or stops doing so. Poison reveals elements that a kernel does not write.
    fn poison_outputs(&mut self, poison: bool);
}

/// A backend in this process: one whose outputs can be poisoned, or any other.
pub enum InProcessBackend {
    /// A backend that allocates its outputs as it likes.
    Any(Box<dyn Backend>),
    /// A backend of this project.
    Poisonable(Box<dyn Poisonable>),
}

impl InProcessBackend {
    /// The backend.
    pub fn backend(&mut self) -> &mut dyn Backend {
        match self {
            Self::Any(backend) => &mut **backend,
            Self::Poisonable(backend) => &mut **backend,
        }
    }

    /// Answers a call on exactly this many threads, with a poisoned output or with memory as it is, where the backend has
    /// such settings.
    pub fn call(&mut self, call: &Call, threads: usize, poison: bool) -> Outcome {
        if let Self::Poisonable(backend) = self {
            backend.poison_outputs(poison);
        }
        let backend = self.backend();
        backend.use_threads(threads);
        backend.call(call)
    }
}

impl From<Box<dyn Backend>> for InProcessBackend {
    fn from(backend: Box<dyn Backend>) -> Self {
        Self::Any(backend)
    }
}

/// The policies of a built-in backend. Where one is `None`, each operator uses the first that its pages permit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policies {
    /// What happens to an index outside its axis.
    pub bad: Option<BadIndex>,
    /// What a negative index means.
    pub negative: Option<NegativeIndex>,
}

impl From<Profile> for Policies {
    fn from(profile: Profile) -> Self {
        Self { bad: Some(profile.bad), negative: Some(profile.negative) }
    }
}

impl Policies {
    /// The policies for an operator. They have no meaning for an operator whose calls choose.
    #[must_use]
    pub fn of(self, signature: &Signature) -> Profile {
        let Some(permitted) = signature.permitted() else { return Profile::default() };
        Profile {
            bad: self.bad.or(permitted.bad.first().copied()).unwrap_or_default(),
            negative: self.negative.or(permitted.negative.first().copied()).unwrap_or_default(),
        }
    }

    /// The policies for the operator with this name.
    fn of_operator(self, signatures: &Signatures, operator: &str) -> Profile {
        match (signatures.get(operator), self) {
            (Some(signature), _) => self.of(signature),
            (None, Self { bad, negative }) => {
                Profile { bad: bad.unwrap_or_default(), negative: negative.unwrap_or_default() }
            }
        }
    }
}

/// The built-in backend of this name, as runs and campaigns use it: the outputs of `optimized` can be poisoned.
#[must_use]
pub fn built_in(
    signatures: &Signatures,
    name: &str,
    policies: impl Into<Policies>,
    max_output: u64,
) -> Option<InProcessBackend> {
    let (signatures, policies) = (signatures.clone(), policies.into());
    match name {
        "reference" => Some(InProcessBackend::Any(Box::new(Reference { signatures, policies, max_output }))),
        "optimized" => {
            let optimized = Optimized::new(signatures, Options::new(), policies, max_output);
            Some(InProcessBackend::Poisonable(Box::new(optimized)))
        }
        _ => None,
    }
}

/// The built-in backend `optimized` at one level; `None` if this machine lacks it.
pub fn optimized_at(
    signatures: &Signatures,
    level: Level,
    profile: Profile,
    max_output: u64,
) -> Option<InProcessBackend> {
    let level = Level::available().find(|available| *available == level)?;
    let (signatures, options) = (signatures.clone(), Options::new().level(level));
    Some(InProcessBackend::Poisonable(Box::new(Optimized::new(
        signatures,
        options,
        profile.into(),
        max_output,
    ))))
}

struct Reference {
    signatures: Signatures,
    policies: Policies,
    max_output: u64,
}

impl Backend for Reference {
    fn describe(&self) -> Description {
        let listed = gather_reference::operators().map(|it| (it.name, it.params_dtypes, it.index_dtypes));
        describe("reference", &self.signatures, self.policies, listed)
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let profile = self.policies.of_operator(&self.signatures, call.operator.as_str());
        gather_reference::answer(call, Settings { profile, max_output: self.max_output })
    }

    /// Always `true`: the reference has a single thread.
    fn limit_threads(&mut self, _: Option<NonZeroUsize>) -> bool {
        true
    }

    fn most_threads(&self) -> Option<NonZeroUsize> {
        Some(NonZeroUsize::MIN)
    }
}

/// The byte of a line of 64, as a number, at which params of timed calls of `optimized`, and outputs that they reuse, begin.
pub const ALIGN_VARIABLE: &str = "GATHERSPEC_ALIGN";

/// What [`ALIGN_VARIABLE`] says, if it is set.
fn begin() -> Result<Option<u8>, String> {
    let Ok(text) = std::env::var(ALIGN_VARIABLE) else { return Ok(None) };
    let byte = text.parse().ok().filter(|byte| *byte < 64);
    byte.map(Some).ok_or_else(|| format!("{ALIGN_VARIABLE} is `{text}`: a number from 0 to 63 is expected"))
}

/// The environment variable `GATHERSPEC_LEVEL` forces an instruction-set level. If the processor lacks it, every answer is
/// `unsupported`.
struct Optimized {
    signatures: Signatures,
    settings: gather_optimized::Settings,
    policies: Policies,
    most_threads: Option<NonZeroUsize>,
}

impl Optimized {
    fn new(signatures: Signatures, options: Options, policies: Policies, max_output: u64) -> Self {
        let defaults = gather_optimized::Settings::default();
        let settings = gather_optimized::Settings { options, max_output, ..defaults };
        Self { signatures, settings, policies, most_threads: None }
    }
}

impl Backend for Optimized {
    fn describe(&self) -> Description {
        let listed = self.signatures.iter().map(|signature| {
            let dtypes = |role| &*signature.operand(role).dtypes;
            (signature.operator.as_str(), dtypes(OperandRole::Params), dtypes(OperandRole::Indices))
        });
        describe("optimized", &self.signatures, self.policies, listed)
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.signatures.get(call.operator.as_str()) {
            Some(signature) => {
                self.settings.options = self.settings.options.profile(self.policies.of(signature));
                gather_optimized::answer(signature, call, &self.settings)
            }
            None => Outcome::Unsupported(format!("there is no operator `{}`", call.operator)),
        }
    }

    fn prepare<'a>(&'a mut self, call: &'a Call, output: OutputMemory) -> Option<Prepared<'a>> {
        let signature = self.signatures.get(call.operator.as_str())?;
        self.settings.options = self.settings.options.profile(self.policies.of(signature));
        let memory = match output {
            OutputMemory::Fresh => Memory::Fresh,
            OutputMemory::Pooled => Memory::Pooled,
            OutputMemory::Into => Memory::Reused,
        };
        let instead = |refusal: Refusal| Box::new(Outcome::from(Err::<Tensor, _>(refusal)));
        self.settings.begin = match begin() {
            Ok(begin) => begin,
            Err(why) => return Some(Err(instead(Refusal::Unsupported(why)))),
        };
        match gather_optimized::prepare(signature, call, &self.settings, memory).transpose()? {
            Ok(mut run) => Some(Ok(Box::new(move || run().map_err(instead)))),
            Err(refusal) => Some(Err(instead(refusal))),
        }
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        let Some(threads) = NonZeroUsize::new(threads) else { return false };
        self.settings.options = self.settings.options.exactly_threads(threads);
        true
    }

    fn limit_threads(&mut self, most: Option<NonZeroUsize>) -> bool {
        let options = self.settings.options;
        self.settings.options = options.threads(most.unwrap_or(NonZeroUsize::MAX));
        self.most_threads = most;
        true
    }

    fn most_threads(&self) -> Option<NonZeroUsize> {
        let pool = NonZeroUsize::new(rayon::current_num_threads())?;
        Some(self.most_threads.map_or(pool, |most| most.min(pool)))
    }
}

impl Poisonable for Optimized {
    fn poison_outputs(&mut self, poison: bool) {
        self.settings.poison = poison;
    }
}

/// The description of a built-in backend, from its table of operators with the dtypes of params and indices.
fn describe<'a>(
    name: &str,
    signatures: &Signatures,
    policies: Policies,
    operators: impl Iterator<Item = (&'a str, &'a [DType], &'a [DType])>,
) -> Description {
    let capability = |(operator, dtypes, index_dtypes): (&str, &[DType], &[DType])| {
        let profile = policies.of_operator(signatures, operator);
        let (dtypes, index_dtypes) = (dtypes.to_vec(), index_dtypes.to_vec());
        let capability = Capability { profile, dtypes, index_dtypes, ..Capability::default() };
        (operator.to_owned(), capability)
    };
    Description {
        backend: Identity {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            language: "Rust".to_owned(),
        },
        operators: operators.map(capability).collect(),
    }
}
