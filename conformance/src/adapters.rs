//! Adapters for third parties, embedded so that an installed program needs no checkout, and the Python environments
//! that they run in, made on first use in the user's cache directory.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// An adapter, as embedded.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Its name: the name of its folder.
    pub name: &'static str,
    /// What it is and what it needs: `backend.toml`.
    manifest: &'static str,
    /// What pip installs.
    requirements: &'static str,
    /// What it is known for.
    pub deviations: &'static str,
    program: &'static str,
}

/// What `backend.toml` says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name, once more.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// The oldest Python that it runs on.
    pub python: String,
    /// The module that it imports.
    pub module: String,
    /// How much is downloaded on first use.
    pub download: String,
    /// A package index that is asked before the usual one, since its builds are smaller.
    #[serde(default)]
    pub index: Option<String>,
}

/// The file that every adapter imports.
const KIT: (&str, &str) = ("gatherspec_kit.py", include_str!("../backends/kit/gatherspec_kit.py"));

macro_rules! adapters {
    ($($name:literal),+) => {
        &[$(Adapter {
            name: $name,
            manifest: include_str!(concat!("../backends/", $name, "/backend.toml")),
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
    "onnxruntime",
    "openvino",
    "paddle",
    "pytorch",
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

    /// The command that runs it: with the given interpreter, or in an environment of its own, which is made on first
    /// use while `say` is told what is going on.
    ///
    /// # Errors
    /// What is missing, and what to do about it.
    pub fn command(&self, python: Option<&Path>, say: &dyn Fn(&str)) -> Result<Vec<OsString>, String> {
        let cache = cache()?;
        let folder = self.place_program(&cache)?;
        let python = match python {
            Some(python) => python.to_owned(),
            None => self.environment(&cache, say)?,
        };
        // `-u` is not needed: the kit flushes. `-I` would hide the kit, which lies beside the adapter.
        Ok(vec![python.into(), folder.join("adapter.py").into()])
    }

    /// Writes the adapter and the kit into the cache, by their content, so that versions do not mix.
    fn place_program(&self, cache: &Path) -> Result<PathBuf, String> {
        let folder = cache.join(format!("{}-{}", self.name, digest(&[self.program, KIT.1])));
        let cannot = |error: io::Error| format!("{} cannot be written: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(cannot)?;
        for (name, text) in [("adapter.py", self.program), KIT] {
            let path = folder.join(name);
            if fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
                crate::report::write_whole(&path, text.as_bytes()).map_err(cannot)?;
            }
        }
        Ok(folder)
    }

    /// The interpreter of an environment that has the requirements.
    fn environment(&self, cache: &Path, say: &dyn Fn(&str)) -> Result<PathBuf, String> {
        let system = system_python()?;
        let version = version_of(&system)?;
        // Named by its content, so that adapters with the same requirements share it.
        let name = format!("environment-{}-python-{version}", digest(&[self.requirements, &version]));
        let folder = cache.join(name);
        let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let ready = folder.join("gatherspec-ready");
        // Of several runs at the same time one makes the environment and the others wait.
        let lock = File::create(folder.with_extension("lock")).and_then(|lock| lock.lock().map(|()| lock));
        let _lock = lock.map_err(|error| format!("{} cannot be locked: {error}", folder.display()))?;
        if ready.is_file() {
            return Ok(python);
        }
        let manifest = self.manifest();
        say(&format!("{}: making a Python {version} environment in {}", self.name, folder.display()));
        run(Command::new(&system).args(["-m", "venv", "--clear"]).arg(&folder)).map_err(|said| {
            format!("Python's venv does not work; on Debian it is the package python3-venv\n{said}")
        })?;
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, self.requirements)
            .map_err(|error| format!("{} cannot be written: {error}", requirements.display()))?;
        say(&format!(
            "{}: installing {} (a download of about {})",
            self.name,
            self.requirements.split_whitespace().collect::<Vec<_>>().join(" "),
            manifest.download
        ));
        install(&python, &requirements, manifest.index.as_deref()).map_err(|said| {
            format!(
                "pip cannot install the requirements of {}: is there a network, and Python {} or later? \
                 --python PATH uses an interpreter that has them\n{said}",
                self.name, manifest.python
            )
        })?;
        fs::write(&ready, "").map_err(|error| format!("{} cannot be written: {error}", ready.display()))?;
        say(&format!("{}: ready", self.name));
        Ok(python)
    }
}

/// Has pip install the requirements: from the index of smaller builds, if there is one and it can be reached, else
/// from the usual one.
fn install(python: &Path, requirements: &Path, index: Option<&str>) -> Result<(), String> {
    let pip = || {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(requirements);
        pip
    };
    let small = index.map(|index| run(pip().args(["--retries", "1", "--index-url", index])));
    if matches!(small, Some(Ok(()))) { Ok(()) } else { run(&mut pip()) }
}

/// Where environments lie: `gatherspec` in the user's cache directory.
fn cache() -> Result<PathBuf, String> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = from("XDG_CACHE_HOME")
        .or_else(|| from("HOME").map(|home| home.join(".cache")))
        .or_else(|| from("LOCALAPPDATA"))
        .ok_or("there is no cache directory: set XDG_CACHE_HOME")?
        .join("gatherspec");
    fs::create_dir_all(&cache).map_err(|error| format!("{} cannot be made: {error}", cache.display()))?;
    Ok(cache)
}

fn system_python() -> Result<PathBuf, String> {
    let works = |name: &&str| version_of(Path::new(name)).is_ok();
    let found = ["python3", "python"].into_iter().find(works);
    found.map(PathBuf::from).ok_or_else(|| {
        "there is no python3 on the path: install Python, or name an interpreter with --python PATH"
            .to_owned()
    })
}

fn version_of(python: &Path) -> Result<String, String> {
    let script = "import sys; assert sys.version_info[0] == 3; print('%d.%d.%d' % sys.version_info[:3])";
    let output = Command::new(python).args(["-c", script]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{}: {error}", python.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{} is no Python 3", python.display()))
    }
}

/// Runs a command to its end; an error is the end of what it said.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    Err(lines[lines.len().saturating_sub(15)..].join("\n"))
}

/// A short name for a content.
fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    texts.iter().for_each(|text| hash.update(text.as_bytes()));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
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
            assert!(adapter.requirements.lines().all(|line| line.contains("==")), "{}", adapter.name);
            assert!(adapter.program.lines().count() < 100, "{}", adapter.name);
            let deviations = Deviations::parse(adapter.name, adapter.deviations, &spec, &spec.cases).unwrap();
            assert_eq!(deviations.backend.as_deref(), Some(adapter.name));
        }
    }
}
