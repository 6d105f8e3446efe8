//! Adapters for third-party libraries. They are embedded, so an installed program needs no checkout. An adapter is written
//! to the user's cache directory and runs there, in a Python environment that `environment` creates on first use.
//!
//! Nothing from the current folder is run: adapters start in Python's isolated mode, and relative entries of `PATH` and
//! `PYTHONPATH` and a relative cache directory are ignored.

mod environment;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use environment::Manifest;
use environment::{Environment, absolute_entries, digest};

/// An adapter, as embedded.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// `backend.toml`.
    manifest: &'static str,
    /// The packages that it needs, with versions: `requirements.in`.
    needs: &'static str,
    /// What pip installs: those packages with all their dependencies, each with the hashes of its files.
    requirements: &'static str,
    /// Its known deviations.
    pub deviations: &'static str,
    program: &'static str,
}

/// How to start a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Additional environment variables.
    pub environment: Vec<(OsString, OsString)>,
}

impl From<&[OsString]> for Launch {
    /// Starts a command without additional environment variables.
    fn from(command: &[OsString]) -> Self {
        Self { command: command.to_vec(), environment: Vec::new() }
    }
}

/// The variables that tell Python where to find modules and their bytecode.
const PLACES_OF_MODULES: [&str; 4] = ["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"];

/// The file that every adapter imports.
const KIT: (&str, &str) = ("gatherspec_kit.py", include_str!("../backends/kit/gatherspec_kit.py"));

macro_rules! adapters {
    ($($name:literal),+) => {
        &[$(Adapter {
            name: $name,
            manifest: include_str!(concat!("../backends/", $name, "/backend.toml")),
            needs: include_str!(concat!("../backends/", $name, "/requirements.in")),
            requirements: include_str!(concat!("../backends/", $name, "/requirements.txt")),
            deviations: include_str!(concat!("../backends/", $name, "/deviations.yaml")),
            program: include_str!(concat!("../backends/", $name, "/adapter.py")),
        }),+]
    };
}

/// Every adapter.
pub const ADAPTERS: &[Adapter] = adapters![
    "jax",
    "litert",
    "numpy",
    "onnx-reference",
    "onnxruntime",
    "openvino",
    "paddle",
    "pytorch",
    "stablehlo",
    "tensorflow",
    "tensorflow-xla"
];

/// The adapter with this name.
#[must_use]
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

impl Adapter {
    /// Parses its `backend.toml`.
    ///
    /// # Panics
    /// Never: a test parses them all.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        toml::from_str(self.manifest).expect("a test reads every manifest")
    }

    /// How to start the adapter: with the given interpreter, or with that of an environment of its own, which is created
    /// on first use. `say` reports progress.
    ///
    /// # Errors
    /// What is missing, and how to fix that.
    pub fn launch(&self, python: Option<&Path>, say: &dyn Fn(&str)) -> Result<Launch, String> {
        let cache = cache()?;
        // Even in isolated mode, Python adds the folder that it runs to its path. That is how the adapter finds the kit.
        let folder = self.place_program(&cache)?;
        let Some(python) = python else {
            let (manifest, needs) = (&self.manifest(), self.needs);
            let environment =
                Environment { manifest, needs, requirements: self.requirements, cache: &cache, say };
            let command = vec![environment.python()?.into(), "-I".into(), folder.into()];
            return Ok(Launch { command, environment: Vec::new() });
        };
        // Not in isolated mode: the libraries of an interpreter that the user names may be in the user's site-packages or on
        // PYTHONPATH, both of which isolated mode ignores.
        let given = |name: &&str| std::env::var_os(name).map(|path| (name.into(), absolute_entries(&path)));
        let environment = PLACES_OF_MODULES.iter().filter_map(given).collect();
        Ok(Launch { command: vec![python.into(), folder.into()], environment })
    }

    /// Writes adapter and kit to the cache, in a folder named by a hash of their content, to keep versions apart.
    fn place_program(&self, cache: &Path) -> Result<PathBuf, String> {
        let folder = cache.join(format!("{}-{}", self.name, digest(&[self.program, KIT.1])));
        let cannot = |error: io::Error| format!("{} cannot be written: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (name, text) in [("__main__.py", self.program), KIT] {
            let path = folder.join(name);
            if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                crate::report::write_whole(&path, text.as_bytes()).map_err(cannot)?;
            }
        }
        Ok(folder)
    }
}

/// The folder of all environments: `gatherspec` in the user's cache directory.
fn cache() -> Result<PathBuf, String> {
    // A relative one would depend on the current folder, whose content may come from anybody.
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = from("XDG_CACHE_HOME")
        .or_else(|| from("HOME").map(|home| home.join(".cache")))
        .or_else(|| from("LOCALAPPDATA"))
        .ok_or("there is no cache directory: set XDG_CACHE_HOME to an absolute path")?
        .join("gatherspec");
    fs::create_dir_all(&cache).map_err(|error| format!("{} cannot be made: {error}", cache.display()))?;
    Ok(cache)
}

#[cfg(test)]
mod tests {
    use gather_spec::Specification;

    use super::*;
    use crate::deviations::Deviations;

    #[test]
    fn every_folder_of_an_adapter_is_embedded_and_pinned_and_its_deviations_match_cases() {
        let spec = Specification::embedded().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("backends");
        for entry in fs::read_dir(folder).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap();
            let python = folder.join("adapter.py").is_file();
            assert!(!python || adapter(name).is_some(), "{name} is not in ADAPTERS");
        }
        for adapter in ADAPTERS {
            assert_eq!(adapter.manifest().name, adapter.name);
            assert_is_locked(adapter);
            assert!(adapter.program.lines().count() < 100, "{}", adapter.name);
            let deviations = Deviations::parse(adapter.name, adapter.deviations, &spec, &spec.cases).unwrap();
            assert_eq!(deviations.backend.as_deref(), Some(adapter.name));
        }
    }

    /// Nothing but versions and hashes, and all that the adapter imports is among them.
    fn assert_is_locked(adapter: &Adapter) {
        let name = adapter.name;
        let text = adapter.requirements.replace("\\\n", " ");
        let pinned: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).map(str::trim).collect();
        for line in &pinned {
            let (package, hashes) = line.split_once(" --hash=").unwrap_or_else(|| panic!("{name}: {line}"));
            let version = package.split(';').next().unwrap().split_once("==");
            assert!(version.is_some_and(|(_, version)| !version.contains('*')), "{name}: {line}");
            for hash in hashes.split(" --hash=") {
                let hash = hash.trim().strip_prefix("sha256:").unwrap_or_else(|| panic!("{name}: {line}"));
                assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{name}: {line}");
            }
        }
        assert!(adapter.needs.lines().count() > 0, "{name}");
        for need in adapter.needs.lines() {
            assert!(pinned.iter().any(|line| line.split_whitespace().next() == Some(need)), "{name}: {need}");
        }
    }

    #[test]
    fn the_adapter_of_private_functions_names_the_version_that_it_is_for() {
        let adapter = adapter("stablehlo").unwrap();
        let pinned = adapter.needs.lines().find_map(|need| need.strip_prefix("jaxlib==")).unwrap();
        assert!(adapter.program.contains(&format!("\nPINNED = \"{pinned}\"")), "{pinned}");
    }
}
