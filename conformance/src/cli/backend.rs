//! The backends that a command line names: by `--backend`, by `--library`, or as a command after `--`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gather_spec::{BadIndex, Signatures, names};

use crate::adapters::{self, ADAPTERS, Adapter, Launch};
use crate::native;
use gather_conformance::builtin::{self, Policies};
use gather_conformance::internals::in_process::{self, InProcessBackend};
use gather_conformance::internals::process::ProcessBackend;
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};
use gather_conformance::internals::shell::quoted;

use super::folders::Folders;
use super::process::ProcessOptions;

/// A backend, as a command line names it.
#[derive(Clone, Debug)]
pub(super) enum BackendArgument {
    /// One that is built in, under policies.
    BuiltIn(BuiltIn),
    /// An adapter that is embedded.
    Adapter(&'static Adapter),
    /// The path of a program.
    Program(PathBuf),
    /// A shared library.
    Library(PathBuf),
    /// A program with its arguments.
    Command(Vec<OsString>),
}

impl BackendArgument {
    /// Parses the value of `--backend`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let name = text.split(':').next().unwrap_or_default();
        if builtin::NAMES.contains(&name) {
            return BuiltIn::parse(text).map(Self::BuiltIn);
        }
        if let Some(adapter) = adapters::adapter(text) {
            return Ok(Self::Adapter(adapter));
        }
        let path = Path::new(text);
        let is_path = text.contains(std::path::MAIN_SEPARATOR);
        if is_path && path.is_file() {
            return Ok(Self::Program(path.to_owned()));
        }
        let adapters = ADAPTERS.iter().map(|adapter| adapter.name);
        let names = builtin::NAMES.into_iter().chain(adapters).collect::<Vec<_>>().join(" ");
        Err(if is_path {
            format!("no such program: `{text}`")
        } else {
            format!(
                "unknown backend `{text}`\nhelp: name one of {names}, or the path of a program, such as ./{text}; put a program \
                 with arguments after --"
            )
        })
    }

    /// Parses the value of `--library`: an existing file. Whether it is a library shows when it is loaded.
    pub(super) fn library(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        match path.metadata() {
            Ok(found) if found.is_file() => Ok(Self::Library(path)),
            Ok(_) => Err(format!("`{text}` is not a file")),
            Err(_) => Err(format!("no such file: `{text}`")),
        }
    }

    /// All backends that a command line names: those of the options, then the command after `--` unless it is empty.
    pub(super) fn all<'a>(options: impl IntoIterator<Item = &'a Self>, command: &[OsString]) -> Vec<Self> {
        let command = (!command.is_empty()).then(|| Self::Command(command.to_vec()));
        options.into_iter().cloned().chain(command).collect()
    }

    /// The one that is built in, if it is.
    pub(super) const fn built_in(&self) -> Option<&BuiltIn> {
        if let Self::BuiltIn(backend) = self { Some(backend) } else { None }
    }

    /// The word or words of the command line that name it, quoted for a shell.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::BuiltIn(built_in) => built_in.text.clone(),
            Self::Adapter(adapter) => adapter.name.to_owned(),
            Self::Program(path) | Self::Library(path) => quoted(&[path.clone().into_os_string()]),
            Self::Command(command) => quoted(command),
        }
    }

    /// How a command line names it.
    pub(super) const fn named(&self) -> BackendNaming {
        match self {
            Self::BuiltIn(_) => BackendNaming::BuiltIn,
            Self::Adapter(_) | Self::Program(_) => BackendNaming::Option,
            Self::Library(_) => BackendNaming::Library,
            Self::Command(_) => BackendNaming::Command,
        }
    }

    /// The command lines that repeat a campaign on it and what the campaign finds.
    pub(super) fn reproduction(&self, options: &ProcessOptions, folders: &Folders) -> Reproduction {
        let given = if self.named() == BackendNaming::BuiltIn { Vec::new() } else { options.given() };
        Reproduction::new(self.named(), &self.argument(), &[folders.options(), given].concat())
    }

    /// How to start it, as one process that is asked everything once. An adapter is installed first if need be; `say` reports
    /// the progress.
    ///
    /// # Errors
    /// What is missing, and how to fix that.
    pub(super) fn program(
        &self,
        options: &ProcessOptions,
        folders: &Folders,
        say: &dyn Fn(&str),
    ) -> Result<ProcessBackend, String> {
        let command = match self {
            Self::BuiltIn(built_in) => std::env::current_exe().map(|program| {
                let serve = [program.into_os_string(), "serve".into(), built_in.text.clone().into()];
                [serve.to_vec(), folders.arguments()].concat()
            }),
            Self::Adapter(adapter) => {
                return Ok(options.backend(adapter.launch(options.python.as_deref(), say)?));
            }
            Self::Program(path) => Ok(vec![path.clone().into_os_string()]),
            Self::Library(path) => native::command(path, folders.arguments()),
            Self::Command(command) => Ok(command.clone()),
        };
        command.map(|command| options.backend(Launch::from(command))).map_err(|error| error.to_string())
    }
}

/// A built-in backend as named on the command line: `reference`, or `reference:bad=zero,negative=wrap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BuiltIn {
    /// The argument as given.
    pub(super) text: String,
    pub(super) name: String,
    pub(super) policies: Policies,
}

impl BuiltIn {
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

    pub(super) fn make(&self, signatures: &Signatures, max_output: u64) -> InProcessBackend {
        in_process::built_in(signatures, &self.name, self.policies, max_output)
            .expect("the name was checked when it was parsed")
    }
}

/// The policy of a name, if a backend may declare it.
fn bad_index(name: &str) -> Result<BadIndex, String> {
    let declared: Vec<&str> =
        BadIndex::ALL.into_iter().filter(|bad| bad.declared().is_ok()).map(BadIndex::name).collect();
    name.parse::<BadIndex>().map_err(|_| names::unknown("policy", name, &declared))?.declared()
}
