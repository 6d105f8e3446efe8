//! What a backend is: anything that describes itself and answers calls.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use gather_spec::{Call, DType, Outcome, Profile, Roles, Specification, Tensor};
use serde::{Deserialize, Serialize};

use crate::words::name;

/// Answers calls. One instance is used by one thread at a time; a panic counts as a crash, and the instance that
/// panicked is thrown away.
pub trait Backend: Send {
    /// Who this is and what it can do.
    fn describe(&self) -> Description;

    /// Answers one call. The tensors may have any strides.
    fn call(&mut self, call: &Call) -> Outcome;

    /// Makes this many threads share the work of each call from now on, however small it is; `false` says that there is
    /// no such setting. It is for tests, where more threads than pay are wanted.
    fn use_threads(&mut self, _threads: usize) -> bool {
        false
    }

    /// Lets each call from now on use at most this many threads, and fewer where more do not pay; `None` lifts the
    /// limit. `false` says that the backend cannot promise that.
    fn limit_threads(&mut self, _most: Option<NonZeroUsize>) -> bool {
        false
    }

    /// The most threads that a call may use now; `None` says that the backend does not know.
    fn most_threads(&self) -> Option<NonZeroUsize> {
        None
    }

    /// Asks that outputs be full of garbage before they are filled, or not, from the next call on; `false` says that
    /// there is no such setting. With it what is left unwritten shows every time, whatever the memory held before.
    fn poison_outputs(&mut self, _poison: bool) -> bool {
        false
    }
}

/// Who a backend is and what it can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Who it is.
    pub backend: Identity,
    /// What it can do, by operator; an operator that is missing is not supported.
    pub operators: BTreeMap<String, Capability>,
}

/// How many unknown operators are named, and how much of a name.
const NAMED: usize = 5;
const NAME: usize = 48;

impl Description {
    /// Why nothing can be tested, whatever is asked: no operator that the specification has is declared with dtypes.
    #[must_use]
    pub fn nothing_to_test(&self, spec: &Specification) -> Option<String> {
        let has_dtypes =
            |capability: &Capability| !capability.dtypes.is_empty() && !capability.index_dtypes.is_empty();
        if self.of_known_operators(spec).operators.values().any(has_dtypes) {
            return None;
        }
        let why = "it declares no operator that the specification has, with dtypes of params and of indices"
            .to_owned();
        let unknown = self.unknown_operators(spec).into_iter().map(|said| format!("\n  it {said}"));
        Some(std::iter::once(why).chain(unknown).collect())
    }

    /// What it declares of the operators that the specification has.
    #[must_use]
    pub fn of_known_operators(&self, spec: &Specification) -> Self {
        let known = self.operators.iter().filter(|(name, _)| spec.operator(name).is_some());
        let operators = known.map(|(name, capability)| (name.clone(), capability.clone())).collect();
        Self { backend: self.backend.clone(), operators }
    }

    /// The operators that it declares and the specification does not have, in sentences. Another version of the
    /// specification may have them; or they are misspelt, and then nothing of them is tested.
    #[must_use]
    pub fn unknown_operators(&self, spec: &Specification) -> Vec<String> {
        let unknown: Vec<&String> =
            self.operators.keys().filter(|name| spec.operator(name).is_none()).collect();
        let sentence = |name: &&String| {
            let meant = spec.operator_like(name).map(|meant| format!("; did you mean `{meant}`?"));
            let shown: String = name.chars().take(NAME).flat_map(char::escape_debug).collect();
            let more = if name.chars().count() > NAME { "…" } else { "" };
            format!(
                "declares `{shown}{more}`, which the specification does not have{}",
                meant.unwrap_or_default()
            )
        };
        let mut sentences: Vec<String> = unknown.iter().take(NAMED).map(sentence).collect();
        if unknown.len() > NAMED {
            let more = unknown.len() - NAMED;
            sentences.push(format!("declares {more} more that the specification does not have"));
        }
        sentences
    }
}

/// Who a backend is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The language it is written in.
    pub language: String,
}

/// What a backend can do of one operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The policies that it follows.
    #[serde(deserialize_with = "crate::protocol::object")]
    pub profile: Profile,
    /// The dtypes of params that it accepts.
    pub dtypes: Vec<DType>,
    /// The dtypes of indices that it accepts.
    pub index_dtypes: Vec<DType>,
}

impl Identity {
    /// The same in words that are fit to be shown, whatever the backend says of itself.
    #[must_use]
    pub fn shown(&self) -> Self {
        Self { name: name(&self.name), version: name(&self.version), language: name(&self.language) }
    }
}

impl Capability {
    /// Whether the dtypes of a call in role terms are declared.
    #[must_use]
    pub fn covers(&self, call: &Roles<&Tensor>) -> bool {
        self.dtypes.contains(&call.params.dtype()) && self.index_dtypes.contains(&call.indices.dtype())
    }
}
