//! Built-in backends on the command line.

use gather_spec::{BadIndex, Signatures, names};

use crate::backend::Held;
use crate::builtin::{self, Policies};

/// A built-in backend as named on the command line: `reference`, or `reference:bad=zero,negative=wrap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BackendArgument {
    /// The argument as given.
    pub(super) text: String,
    pub(super) name: String,
    pub(super) policies: Policies,
}

impl BackendArgument {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, policies) =
            text.split_once(':').map_or((text, None), |(name, policies)| (name, Some(policies)));
        let mut given = Policies::default();
        for policy in policies.iter().flat_map(|policies| policies.split(',')) {
            match policy.split_once('=') {
                Some(("bad", value)) => given.bad = Some(bad_index(value)?),
                Some(("negative", value)) => given.negative = Some(value.parse()?),
                _ => {
                    return Err(format!("`{policy}` is not a policy; expected bad=… or negative=…"));
                }
            }
        }
        if builtin::NAMES.contains(&name) {
            Ok(Self { text: text.to_owned(), name: name.to_owned(), policies: given })
        } else {
            Err(format!("unknown backend `{name}`; expected one of {}", builtin::NAMES.join(" ")))
        }
    }

    pub(super) fn make(&self, signatures: &Signatures, max_output: u64) -> Held {
        builtin::held(signatures, &self.name, self.policies, max_output)
            .expect("the name was checked when it was parsed")
    }
}

/// The policy of a name, if a backend may declare it.
fn bad_index(name: &str) -> Result<BadIndex, String> {
    let declared: Vec<&str> =
        BadIndex::ALL.into_iter().filter(|bad| bad.declared().is_ok()).map(BadIndex::name).collect();
    name.parse::<BadIndex>().map_err(|_| names::unknown("policy", name, &declared))?.declared()
}
