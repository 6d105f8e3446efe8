//! `gatherspec serve`: serves a built-in backend over the protocol.

use std::fmt::Debug;
use std::io;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use gather_spec::{BadIndex, NegativeIndex, Signatures};

use gather_conformance::builtin;
use gather_conformance::serve;
use gather_conformance::serve::Files;

use super::backend::BuiltIn;
use super::ending::{Failure, Status};

#[derive(clap::Args)]
pub(super) struct ServeArgs {
    /// Built-in backend to serve
    #[arg(value_parser = BuiltIn::parse)]
    backend: BuiltIn,
    /// What an index outside its axis gives
    #[arg(long, value_parser = policies::<BadIndex>(BadIndex::SPECIFIED.map(BadIndex::name)))]
    bad: Option<BadIndex>,
    /// Meaning of a negative index
    #[arg(long, value_parser = policies::<NegativeIndex>(NegativeIndex::ALL.map(NegativeIndex::name)))]
    negative: Option<NegativeIndex>,
    /// Largest output, in bytes; a larger one is answered `unsupported`
    #[arg(long, value_name = "BYTES", default_value_t = builtin::MAX_OUTPUT)]
    max_output: u64,
    /// Answer `unsupported` to tensors in files; without this, a client may name any regular file that you may read
    #[arg(long)]
    no_files: bool,
}

impl ServeArgs {
    pub(super) fn execute(&self, signatures: &Signatures) -> Result<Status, Failure> {
        let mut backend = self.backend.clone();
        backend.policies.bad = self.bad.or(backend.policies.bad);
        backend.policies.negative = self.negative.or(backend.policies.negative);
        let mut backend = backend.make(signatures, self.max_output);
        let files = if self.no_files { Files::Forbidden } else { Files::Allowed };
        serve::serve_with(backend.backend(), signatures, files, io::stdin().lock(), io::stdout().lock())?;
        Ok(Status::Conforms)
    }
}

/// Parses policies of these names, which determine the outcome: a served backend cannot be `unspecified`.
fn policies<T>(names: impl Into<PossibleValuesParser>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: Debug> + Clone + Send + Sync + 'static,
{
    names.into().map(|name| name.parse().expect("a name of the list"))
}
