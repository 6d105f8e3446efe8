//! The folders that the specification is read from, as the command line names them.

use std::ffi::OsString;
use std::path::PathBuf;

use gather_spec::Specification;
use gather_spec::load::Wanted;

use gather_conformance::internals::reproduction::path;

use super::ending::Failure;

/// The folders of the specification; none for the built-in one.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Folders {
    /// Read the specification from this folder instead of the built-in one
    #[arg(long = "spec", global = true, value_name = "DIR")]
    pub(super) whole: Option<PathBuf>,
    /// Add the operators of this folder, which is laid out like `spec`, to the specification
    #[arg(long = "spec-add", global = true, value_name = "DIR")]
    pub(super) added: Option<PathBuf>,
}

impl Folders {
    /// Whether the specification is the built-in one as it is.
    pub(super) const fn are_none(&self) -> bool {
        self.whole.is_none() && self.added.is_none()
    }

    /// Loads the specification with the wanted cases.
    pub(super) fn load(&self, wanted: &Wanted<'_>) -> Result<Specification, Failure> {
        match (&self.whole, &self.added) {
            (None, None) => Specification::embedded_with(wanted),
            (Some(folder), None) => Specification::from_dir_with(folder, wanted),
            (whole, Some(added)) => Specification::with_added(whole.as_deref(), added, wanted),
        }
        .map_err(Failure::Files)
    }

    /// The options with their folders.
    fn given(&self) -> impl Iterator<Item = (&'static str, &PathBuf)> {
        let whole = self.whole.iter().map(|folder| ("--spec", folder));
        whole.chain(self.added.iter().map(|folder| ("--spec-add", folder)))
    }

    /// The options for a line that repeats a part of a run, quoted for a shell.
    pub(super) fn options(&self) -> Vec<String> {
        self.given().map(|(option, folder)| path(option, folder)).collect()
    }

    /// The options for a process of this program.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        self.given().flat_map(|(option, folder)| [option.into(), folder.clone().into()]).collect()
    }
}
