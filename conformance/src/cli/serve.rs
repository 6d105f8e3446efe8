//! `gatherspec serve`: serves a built-in backend over the protocol.

use std::io;

use gather_spec::{BadIndex, NegativeIndex, Signatures};

use crate::serve::Files;
use crate::{builtin, serve};

use super::{BackendArgument, Failure, Status};

#[derive(clap::Args)]
pub(super) struct Serve {
    /// A built-in backend
    #[arg(value_parser = BackendArgument::parse)]
    backend: BackendArgument,
    /// What happens to an index outside its axis: error, zero, clamp
    #[arg(long, value_parser = parse_bad_index)]
    bad: Option<BadIndex>,
    /// What a negative index means: reject, wrap
    #[arg(long)]
    negative: Option<NegativeIndex>,
    /// The most bytes that an output takes; a larger one is `unsupported`
    #[arg(long, value_name = "BYTES", default_value_t = builtin::MAX_OUTPUT)]
    max_output: u64,
    /// Answer `unsupported` to tensors in files; without this, any file that you may read is read for a client that
    /// names it
    #[arg(long)]
    no_files: bool,
}

impl Serve {
    pub(super) fn execute(&self, signatures: &Signatures) -> Result<Status, Failure> {
        let mut backend = self.backend.clone();
        backend.policies.bad = self.bad.or(backend.policies.bad);
        backend.policies.negative = self.negative.or(backend.policies.negative);
        let mut backend = backend.make(signatures, self.max_output);
        let files = if self.no_files { Files::Forbidden } else { Files::Allowed };
        serve::serve_with(&mut *backend, signatures, files, io::stdin().lock(), io::stdout().lock())?;
        Ok(Status::Conforms)
    }
}

/// Parses a policy that determines the outcome. A served backend cannot be `unspecified`.
fn parse_bad_index(name: &str) -> Result<BadIndex, String> {
    name.parse()
        .ok()
        .filter(|policy| BadIndex::SPECIFIED.contains(policy))
        .ok_or_else(|| format!("`{name}` is unknown: one of error zero clamp is expected"))
}
