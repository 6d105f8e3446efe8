//! Adapters for third-party libraries. They are embedded, so an installed program needs no checkout. An adapter is written
//! to the user's cache directory and runs there, in an environment of its runtime, Python or Node, that `environment` creates
//! on first use.
//!
//! Nothing from the current folder is run: adapters start in Python's isolated mode, those in JavaScript without the options
//! and modules that the environment names, and relative entries of `PATH` and `PYTHONPATH` and a relative cache directory are
//! ignored.

mod environment;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use environment::{Environment, absolute_entries, digest};
pub(crate) use environment::{Manifest, Runtime};

use gather_conformance::internals::files;

/// An adapter, as embedded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adapter {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// `backend.toml`.
    manifest: &'static str,
    /// The packages that it needs, with versions: `requirements.in` or `package.json`.
    needs: &'static str,
    /// What pip or npm installs: those packages with all their dependencies, each with the hashes of its files.
    requirements: &'static str,
    /// Its known deviations.
    pub deviations: &'static str,
    program: &'static str,
}

/// How to start a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Additional environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it reserves more address space than any limit would allow.
    pub reserves_memory: bool,
    /// How often it is restarted at most, if not as often as other programs.
    pub restarts: Option<usize>,
}

impl From<Vec<OsString>> for Launch {
    /// Starts a command without additional environment variables.
    fn from(command: Vec<OsString>) -> Self {
        Self { command, environment: Vec::new(), reserves_memory: false, restarts: None }
    }
}

/// The variables that tell Python where to find modules and their bytecode.
const PLACES_OF_MODULES: [&str; 4] = ["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"];

/// The variables that give Node options and folders of modules.
const OPTIONS_OF_NODE: [&str; 2] = ["NODE_OPTIONS", "NODE_PATH"];

/// The file that every adapter in Python imports.
const KIT: (&str, &str) = ("gatherspec.py", include_str!("../python/gatherspec/__init__.py"));

macro_rules! adapters {
    (python: $($python:literal),+; node: $($node:literal),+) => {
        &[
            $(adapters!(@one $python, "requirements.in", "requirements.txt", "adapter.py"),)+
            $(adapters!(@one $node, "package.json", "package-lock.json", "adapter.mjs"),)+
        ]
    };
    (@one $name:literal, $needs:literal, $requirements:literal, $program:literal) => {
        Adapter {
            name: $name,
            manifest: include_str!(concat!("../backends/", $name, "/backend.toml")),
            needs: include_str!(concat!("../backends/", $name, "/", $needs)),
            requirements: include_str!(concat!("../backends/", $name, "/", $requirements)),
            deviations: include_str!(concat!("../backends/", $name, "/deviations.yaml")),
            program: include_str!(concat!("../backends/", $name, "/", $program)),
        }
    };
}

/// Every adapter.
pub(crate) const ADAPTERS: &[Adapter] = adapters![
    python:
    "executorch",
    "iree",
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
    "tensorflow-xla",
    "tflite-micro",
    "tvm";
    node:
    "onnxruntime-web",
    "webnn"
];

/// The adapter with this name.
#[must_use]
pub(crate) fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

impl Adapter {
    /// Parses its `backend.toml`.
    ///
    /// # Panics
    /// Never: a test parses them all.
    #[must_use]
    pub(crate) fn manifest(&self) -> Manifest {
        toml::from_str(self.manifest).expect("a test reads every manifest")
    }

    /// How to start the adapter: one in Python with the given interpreter, or with that of an environment of its own, which is
    /// created on first use. `say` reports progress.
    ///
    /// # Errors
    /// What is missing, and how to fix that.
    pub(crate) fn launch(&self, python: Option<&Path>, say: &dyn Fn(&str)) -> Result<Launch, String> {
        let cache = cache()?;
        let manifest = &self.manifest();
        let environment =
            Environment { manifest, needs: self.needs, requirements: self.requirements, cache: &cache, say };
        let Manifest { reserves_memory, restarts, .. } = *manifest;
        let launch = |command, environment| Launch { command, environment, reserves_memory, restarts };
        if manifest.runtime() == Runtime::Node {
            let program = self.place_program(&cache, &[("adapter.mjs", self.program)])?.join("adapter.mjs");
            let (node, folder) = environment.node()?;
            let command = vec![node.into(), program.into(), folder.into()];
            let environment = OPTIONS_OF_NODE.map(|name| (name.into(), OsString::new())).to_vec();
            return Ok(launch(command, environment));
        }
        // Even in isolated mode, Python adds the folder that it runs to its path. That is how the adapter finds the kit.
        let folder = self.place_program(&cache, &[("__main__.py", self.program), KIT])?;
        let Some(python) = python else {
            let command = vec![environment.python()?.into(), "-I".into(), folder.into()];
            return Ok(launch(command, Vec::new()));
        };
        // Not in isolated mode: the libraries of an interpreter that the user names may be in the user's site-packages or on
        // PYTHONPATH, both of which isolated mode ignores.
        let given = |name: &&str| std::env::var_os(name).map(|path| (name.into(), absolute_entries(&path)));
        let environment = PLACES_OF_MODULES.iter().filter_map(given).collect();
        Ok(launch(vec![python.into(), folder.into()], environment))
    }

    /// Writes the files of an adapter to the cache, in a folder named by a hash of their content, to keep versions apart.
    fn place_program(&self, cache: &Path, files: &[(&str, &str)]) -> Result<PathBuf, String> {
        let texts: Vec<&str> = files.iter().map(|(_, text)| *text).collect();
        let folder = cache.join(format!("{}-{}", self.name, digest(&texts)));
        let cannot = |error: io::Error| format!("{} cannot be written: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (name, text) in files {
            let path = folder.join(name);
            // A file of another length is another version, or not ours.
            let is_there =
                files::read_bytes(&path, text.len() as u64).is_ok_and(|found| found == text.as_bytes());
            if !is_there {
                files::write_whole(&path, text.as_bytes()).map_err(cannot)?;
            }
        }
        Ok(folder)
    }
}

/// The folder of all environments: `gatherspec` in the user's cache directory.
fn cache() -> Result<PathBuf, String> {
    // A relative path would depend on the current folder, whose content may be untrusted.
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
    use super::*;
    use gather_conformance::internals::deviations::Deviations;

    #[test]
    fn every_folder_of_an_adapter_is_embedded_and_pinned_and_its_deviations_match_cases() {
        let spec = crate::embedded();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("backends");
        for entry in fs::read_dir(folder).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap();
            let is_adapter = ["adapter.py", "adapter.mjs"].iter().any(|file| folder.join(file).is_file());
            assert!(!is_adapter || adapter(name).is_some(), "{name} is not in ADAPTERS");
        }
        for adapter in ADAPTERS {
            let manifest = adapter.manifest();
            assert_eq!(manifest.name, adapter.name);
            assert!(manifest.python.is_some() != manifest.node.is_some(), "{} has one runtime", adapter.name);
            // One in JavaScript speaks the protocol itself.
            let most = match manifest.runtime() {
                Runtime::Python => {
                    assert_is_locked(adapter);
                    100
                }
                Runtime::Node => {
                    assert_is_locked_by_npm(adapter);
                    200
                }
            };
            assert!(adapter.program.lines().count() < most, "{}", adapter.name);
            let deviations = Deviations::parse(adapter.name, adapter.deviations, spec, &spec.cases).unwrap();
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

    /// The same of an adapter for Node. npm runs no script at the installation of a package: none has one but `protobufjs`, whose
    /// script warns of versions.
    fn assert_is_locked_by_npm(adapter: &Adapter) {
        let name = adapter.name;
        let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let (needs, lock) = (json(adapter.needs), json(adapter.requirements));
        assert_eq!(needs["dependencies"], lock["packages"][""]["dependencies"], "{name}");
        for (need, version) in needs["dependencies"].as_object().unwrap() {
            let locked = &lock["packages"][format!("node_modules/{need}")]["version"];
            assert_eq!(version, locked, "{name}: the version of {need} is exact");
        }
        for (path, package) in
            lock["packages"].as_object().unwrap().iter().filter(|(path, _)| !path.is_empty())
        {
            let integrity = package["integrity"].as_str().unwrap_or_default();
            assert!(integrity.starts_with("sha512-"), "{name}: {path}");
            let has_script = !package["hasInstallScript"].is_null();
            assert!(!has_script || path == "node_modules/protobufjs", "{name}: {path}");
        }
    }

    #[test]
    fn the_adapter_of_private_functions_names_the_version_that_it_is_for() {
        let adapter = adapter("stablehlo").unwrap();
        let pinned = adapter.needs.lines().find_map(|need| need.strip_prefix("jaxlib==")).unwrap();
        assert!(adapter.program.contains(&format!("\nPINNED = \"{pinned}\"")), "{pinned}");
    }
}
