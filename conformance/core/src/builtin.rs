//! The built-in backends, by name.

use std::sync::LazyLock;

use gather_optimized::Level;
use gather_spec::{Profile, Signatures, load};

use crate::backend::Backend;
use crate::in_process::{InProcessBackend, built_in};

pub use crate::in_process::Policies;

/// The names of the built-in backends.
pub const NAMES: [&str; 2] = ["reference", "optimized"];

/// A built-in backend for the embedded operators; `None` if the name is unknown.
///
/// ```
/// use gather_conformance::builtin;
/// let reference = builtin::backend("reference", builtin::Policies::default(), builtin::MAX_OUTPUT).unwrap();
/// assert!(reference.describe().operators.contains_key("tf.gather"));
/// ```
#[must_use]
pub fn backend(name: &str, policies: impl Into<Policies>, max_output: u64) -> Option<Box<dyn Backend>> {
    backend_of(signatures(), name, policies, max_output)
}

/// A built-in backend for the operators of a specification; `None` if the name is unknown. `optimized` follows these
/// signatures. The reference answers the operators that it implements, and takes only policies from the signatures.
#[must_use]
pub fn backend_of(
    signatures: &Signatures,
    name: &str,
    policies: impl Into<Policies>,
    max_output: u64,
) -> Option<Box<dyn Backend>> {
    Some(match built_in(signatures, name, policies, max_output)? {
        InProcessBackend::Any(backend) => backend,
        InProcessBackend::Poisonable(backend) => backend,
    })
}

/// Whether the reference answers an operator, so that drawn calls can be compared with it.
pub fn has_reference(operator: &str) -> bool {
    gather_reference::operators().any(|known| known.name == operator)
}

/// The reference or, for an operator that it lacks, `optimized`, which follows the operator's signature.
pub fn answerer(
    signatures: &Signatures,
    operator: &str,
    profile: Profile,
    max_output: u64,
) -> Box<dyn Backend> {
    let [reference, by_signature] = NAMES;
    let name = if has_reference(operator) { reference } else { by_signature };
    backend_of(signatures, name, profile, max_output).expect("both are built in")
}

/// The embedded operators.
///
/// # Panics
/// If the embedded files are invalid, which tests exclude.
#[must_use]
pub fn signatures() -> &'static Signatures {
    static BUILT_IN: LazyLock<Signatures> = LazyLock::new(|| {
        let operators = load::operators().expect("a test reads the embedded operators");
        operators.into_iter().collect()
    });
    &BUILT_IN
}

/// The default limit on the output of a built-in backend, in bytes: 4 GiB.
pub const MAX_OUTPUT: u64 = 4 << 30;

/// The instruction-set levels of a built-in backend that this machine supports, by name.
#[must_use]
pub fn levels(name: &str) -> Vec<&'static str> {
    match name {
        "optimized" => Level::available().map(Level::name).collect(),
        _ => Vec::new(),
    }
}
