//! What an operator of the reference is, and what a caller chooses beside the call.

use gather_spec::{Call, DType, Profile, Refusal, Tensor};

/// Choices of the caller besides the call itself.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What bad and negative indices give.
    pub profile: Profile,
    /// The largest output in bytes. A larger one is `unsupported`, regardless of its indices.
    pub max_output: u64,
}

impl Default for Settings {
    /// `bad: error`, `negative: reject`, 4 GiB.
    fn default() -> Self {
        Self { profile: Profile::default(), max_output: 4 << 30 }
    }
}

/// An operator of the reference.
#[derive(Clone, Copy, Debug)]
pub struct Implemented {
    /// Its name.
    pub name: &'static str,
    /// The dtypes of params that its page lists.
    pub params_dtypes: &'static [DType],
    /// The dtypes of indices that its page lists.
    pub index_dtypes: &'static [DType],
    pub(crate) answer: fn(&Call, Settings) -> Result<Tensor, Refusal>,
}
