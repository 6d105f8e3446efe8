//! The command lines that repeat a case, the cases of a file or a campaign. Every such line that is printed or saved is
//! composed here: the environment, the options and the backend of the run that it repeats, quoted for a shell.

use std::ffi::OsString;
use std::path::Path;

use gather_spec::Variant;

use crate::check::CallSettings;
use crate::shell::quoted;

/// The environment variables that a line repeats if they are set: those of the loader and of sanitizers, and
/// those that choose what a backend runs on. `LD_LIBRARY_PATH` is not among them, because Cargo sets it for
/// every program that it runs.
const VARIABLES: [&str; 11] = [
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "ASAN_OPTIONS",
    "LSAN_OPTIONS",
    "MSAN_OPTIONS",
    "TSAN_OPTIONS",
    "UBSAN_OPTIONS",
    "PYTHONPATH",
    "CUDA_VISIBLE_DEVICES",
    "JAX_PLATFORMS",
    gather_optimized::LEVEL_VARIABLE,
];

/// How a command line names a backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendNaming {
    /// By `--backend`: one that is built in.
    BuiltIn,
    /// By `--backend`: an adapter, or the path of a program.
    #[default]
    Option,
    /// By `--library`: a file.
    Library,
    /// By `--`: a command.
    Command,
}

/// What the command lines that repeat parts of a run have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reproduction {
    /// Assignments of variables, quoted.
    environment: Vec<(&'static str, String)>,
    /// Options besides the backend, quoted.
    options: Vec<String>,
    named: BackendNaming,
    /// The backend, quoted.
    backend: String,
}

impl Reproduction {
    /// Lines for a backend in the environment of this process. Its name and the options are quoted.
    #[must_use]
    pub fn new(named: BackendNaming, backend: &str, options: &[String]) -> Self {
        let set = |name: &'static str| Some((name, quoted(&[std::env::var_os(name)?])));
        let environment = VARIABLES.into_iter().filter_map(set).collect();
        Self { environment, ..Self::anywhere(named, backend, options) }
    }

    /// Lines for a backend that do not depend on the environment.
    #[must_use]
    pub fn anywhere(named: BackendNaming, backend: &str, options: &[String]) -> Self {
        Self { environment: Vec::new(), options: options.to_vec(), named, backend: backend.to_owned() }
    }

    /// How the backend is named.
    #[must_use]
    pub const fn named(&self) -> BackendNaming {
        self.named
    }

    /// The word or words that name the backend, quoted.
    #[must_use]
    pub fn backend(&self) -> &str {
        &self.backend
    }

    /// Whether the backend is the built-in one of this name.
    #[must_use]
    pub fn is_built_in(&self, name: &str) -> bool {
        self.named == BackendNaming::BuiltIn && self.backend.split(':').next() == Some(name)
    }

    /// The line that repeats a case, before its id and after it. No id needs more than the quotes around it.
    pub fn around_id(&self) -> (String, String) {
        const ID: char = '\0';
        let line = self.line("run", "", &format!("--case '{ID}'"));
        line.split_once(ID)
            .map_or_else(Default::default, |(before, after)| (before.to_owned(), after.to_owned()))
    }

    /// The line that repeats a case.
    pub fn case(&self, id: &str) -> String {
        let (before, after) = self.around_id();
        format!("{before}{id}{after}")
    }

    /// The line that repeats the cases of a file, `-` for standard input, in a variant. A built-in backend answers in this way.
    pub fn cases(&self, file: &Path, settings: CallSettings, variant: &Variant) -> String {
        let mut with_settings = self.clone();
        if self.named == BackendNaming::BuiltIn {
            let name = self.backend.split(':').next().unwrap_or_default();
            with_settings.backend = format!("{name}:{}", settings.profile);
            if let Some(level) = settings.level.filter(|_| name == "optimized") {
                with_settings.environment.retain(|(name, _)| *name != gather_optimized::LEVEL_VARIABLE);
                with_settings.environment.push((gather_optimized::LEVEL_VARIABLE, level.to_string()));
            }
        }
        let cases = path("--cases", file);
        let made = if variant.is_usual() { String::new() } else { format!(" --variant {variant}") };
        with_settings.line("run", &format!("{cases}{made}"), "")
    }

    /// The line that repeats a campaign, given what is drawn.
    pub fn campaign(&self, drawn: &str) -> String {
        self.line("fuzz", drawn, "")
    }

    fn line(&self, command: &str, before: &str, after: &str) -> String {
        let variables = self.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let words = ["gatherspec", command, before].map(str::to_owned);
        let (backend, last) = match self.named {
            BackendNaming::BuiltIn | BackendNaming::Option => {
                (format!("--backend {}", self.backend), String::new())
            }
            BackendNaming::Library => (format!("--library {}", self.backend), String::new()),
            BackendNaming::Command => (String::new(), format!("-- {}", self.backend)),
        };
        let words = variables.chain(words).chain(self.options.iter().cloned());
        // What was read from standard input has no name that is known here.
        let is_piped = self.options.iter().any(|option| option == "--cases -");
        let input = if is_piped { "< FILE" } else { "" }.to_owned();
        let words = words.chain([backend, after.to_owned(), last, input]).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// An option with a path, quoted.
pub fn path(name: &str, path: &Path) -> String {
    format!("{name} {}", quoted(&[OsString::from(path)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_cases_of_standard_input_needs_a_file_and_does_not_wait() {
        let line = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            Reproduction::anywhere(BackendNaming::Command, "./mine", &options).case("o/t/a")
        };
        assert_eq!(line(&[]), "gatherspec run --case 'o/t/a' -- ./mine");
        assert_eq!(line(&["--cases -"]), "gatherspec run --cases - --case 'o/t/a' -- ./mine < FILE");
    }
}
