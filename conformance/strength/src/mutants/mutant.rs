//! A mutant: the right model with one step changed, and either of them as a backend.

use gather_spec::signature::OperandRole;
use gather_spec::{BadIndex, Call, DType, Form, NegativeIndex, Outcome, Profile, Signature, Signatures};

use gather_conformance::backend::Dtypes;
use gather_conformance::backend::{Backend, Capability, Description, Identity};
use gather_conformance::internals::layout::Layout;

use gather_campaign::model::{CORRECT, Model};

/// The profile of most mutants: a bad index is an error, and so is a negative one.
pub(super) const ERROR: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };
/// A bad index gives zeros.
pub(super) const ZERO: Profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
/// A bad index is clamped.
pub(super) const CLAMP: Profile = Profile { bad: BadIndex::Clamp, negative: NegativeIndex::Reject };
/// Negative indices count from the end.
pub(super) const WRAP: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Wrap };

/// A correct implementation except for one step.
pub struct Mutant {
    /// Its stable name.
    pub id: &'static str,
    /// What it does wrong.
    pub does: &'static str,
    /// The real bug that it stands for: a public thread, or a tool with its version, or the class of bugs.
    pub stands_for: &'static str,
    /// The profiles to run it under.
    pub profiles: &'static [Profile],
    /// Whether it lets the runner set the number of threads.
    pub(super) threaded: bool,
    change: fn(&mut Model),
}

impl Mutant {
    pub(super) const fn new(
        id: &'static str,
        does: &'static str,
        stands_for: &'static str,
        change: fn(&mut Model),
    ) -> Self {
        Self { id, does, stands_for, profiles: &[ERROR], threaded: false, change }
    }

    pub(super) const fn under(mut self, profiles: &'static [Profile]) -> Self {
        self.profiles = profiles;
        self
    }

    pub(super) const fn threaded(mut self) -> Self {
        self.threaded = true;
        self
    }

    /// The mutant as a backend for some operators, which declares a profile and every dtype that the pages list.
    #[must_use]
    pub fn backend(&self, signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
        self.declaring(signatures, profile, None, true)
    }

    /// The same, declaring one dtype of params and one of indices only, and with or without the codes of its errors.
    pub(super) fn declaring(
        &self,
        signatures: &Signatures,
        profile: Profile,
        narrow: Option<Dtypes>,
        has_codes: bool,
    ) -> Box<dyn Backend> {
        let signatures = signatures.clone();
        let (name, threaded, mut model) = (self.id, self.threaded, self.model());
        if !has_codes {
            model.code = |_| None;
        }
        Box::new(Modelled { name, model, signatures, profile, narrow, threaded, threads: 1 })
    }

    /// Whether calls of a form take its wrong step.
    pub(super) fn is_wrong_for(&self, form: Form) -> bool {
        self.model().is_wrong_for(form)
    }

    /// The layouts to run it in. Where no step sees how tensors are stored, all of them give one answer.
    pub(super) fn layouts(&self) -> &'static [Layout] {
        if self.model().depends_on_layout() { &Layout::ALL } else { &Layout::ALL[..1] }
    }

    pub(super) fn model(&self) -> Model {
        let mut model = CORRECT;
        (self.change)(&mut model);
        model
    }
}

/// The model without a mutation, as a backend for some operators. It must answer like the reference.
#[must_use]
pub fn correct(signatures: &Signatures, profile: Profile) -> Box<dyn Backend> {
    declaring(signatures, profile, None)
}

/// The same, declaring one dtype of params and one of indices only.
pub(super) fn declaring(
    signatures: &Signatures,
    profile: Profile,
    narrow: Option<Dtypes>,
) -> Box<dyn Backend> {
    let (name, model, signatures) = ("model", CORRECT, signatures.clone());
    Box::new(Modelled { name, model, signatures, profile, narrow, threaded: false, threads: 1 })
}

/// A model as a backend.
struct Modelled {
    name: &'static str,
    model: Model,
    signatures: Signatures,
    profile: Profile,
    /// The only dtypes to declare, if not all.
    narrow: Option<Dtypes>,
    threaded: bool,
    threads: usize,
}

impl Backend for Modelled {
    fn describe(&self) -> Description {
        let declared = |listed: &[DType], only: Option<DType>| -> Vec<DType> {
            listed.iter().copied().filter(|dtype| only.is_none_or(|only| only == *dtype)).collect()
        };
        let capability = |signature: &Signature| {
            let listed = |role| &*signature.operand(role).dtypes;
            let dtypes = declared(listed(OperandRole::Params), self.narrow.map(|only| only.params));
            let index_dtypes = declared(listed(OperandRole::Indices), self.narrow.map(|only| only.indices));
            let capability =
                Capability { profile: self.profile, dtypes, index_dtypes, ..Capability::default() };
            (signature.operator.to_string(), capability)
        };
        Description {
            backend: Identity {
                name: self.name.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                language: "Rust".to_owned(),
            },
            operators: self.signatures.iter().map(capability).collect(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.signatures.get(call.operator.as_str()) {
            Some(signature) => self.model.answer(signature, call, self.profile, self.threads),
            None => Outcome::Unsupported(format!("the operator `{}` is not modelled", call.operator)),
        }
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        self.threads = threads;
        self.threaded
    }
}
