//! Adapters for third parties, embedded so that an installed program needs no checkout. They are placed in the user's
//! cache directory and run there, in Python environments that `environment` makes on first use.
//!
//! Nothing of the current folder is run: an adapter starts in Python's isolated mode, and neither a relative entry of
//! `PATH` or `PYTHONPATH` nor a relative cache directory counts.

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
    /// Its name: the name of its folder.
    pub name: &'static str,
    /// What it is and what it needs: `backend.toml`.
    manifest: &'static str,
    /// What pip is asked for by name, with the versions.
    needs: &'static str,
    /// What pip installs: that and all that it needs in turn, with the hashes of the files that count as each.
    requirements: &'static str,
    /// What it is known for.
    pub deviations: &'static str,
    program: &'static str,
}

/// How a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What is set in its environment.
    pub environment: Vec<(OsString, OsString)>,
}

impl From<&[OsString]> for Launch {
    /// A command in the environment as it is.
    fn from(command: &[OsString]) -> Self {
        Self { command: command.to_vec(), environment: Vec::new() }
    }
}

/// The variables that tell Python where modules lie, compiled ones included.
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

/// The adapter of that name.
#[must_use]
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

impl Adapter {
    /// What its `backend.toml` says.
    ///
    /// # Panics
    /// Never: a test reads them all.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        toml::from_str(self.manifest).expect("a test reads every manifest")
    }

    /// What starts it: the given interpreter, or that of an environment of its own, which is made on first use while
    /// `say` is told what is going on.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub fn launch(&self, python: Option<&Path>, say: &dyn Fn(&str)) -> Result<Launch, String> {
        let cache = cache()?;
        // Python puts a folder that it runs on its path, also in isolated mode: the kit lies in there.
        let folder = self.place_program(&cache)?;
        let Some(python) = python else {
            let (manifest, needs) = (&self.manifest(), self.needs);
            let environment =
                Environment { manifest, needs, requirements: self.requirements, cache: &cache, say };
            let command = vec![environment.python()?.into(), "-I".into(), folder.into()];
            return Ok(Launch { command, environment: Vec::new() });
        };
        // The libraries of an interpreter that the user names may be the user's own or come by PYTHONPATH, both of
        // which isolated mode would hide.
        let given = |name: &&str| std::env::var_os(name).map(|path| (name.into(), absolute_entries(&path)));
        let environment = PLACES_OF_MODULES.iter().filter_map(given).collect();
        Ok(Launch { command: vec![python.into(), folder.into()], environment })
    }

    /// Writes the adapter and the kit into the cache, by their content, so that versions do not mix.
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

/// Where environments lie: `gatherspec` in the user's cache directory.
fn cache() -> Result<PathBuf, String> {
    // What a relative one holds is up to whoever made the current folder.
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
