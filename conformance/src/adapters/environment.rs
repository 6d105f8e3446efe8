//! The environment of an adapter: found in the cache, or created there by the system's Python and pip, or Node and npm.
//!
//! Python runs in isolated mode. Even if pip or npm is configured for other sources, they install only files
//! whose hashes are in the requirements. pip installs only built packages, and npm skips install scripts, so
//! no code of a package runs during installation.

mod node;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use gather_conformance::internals::files::open_lock;
use gather_conformance::internals::interrupt;

/// How often a lock that another run holds is tried.
const LOOK: Duration = Duration::from_millis(100);

/// The content of `backend.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The adapter's name.
    pub name: String,
    /// What it is, in one line.
    pub summary: String,
    /// The oldest Python version that it supports, if it is in Python.
    pub python: Option<String>,
    /// The oldest Node version that it supports, if it is in JavaScript.
    pub node: Option<u32>,
    /// The Python module, or the package of npm, that it imports.
    pub module: String,
    /// The size of the download on first use.
    pub download: String,
    /// How many minutes `run` takes without options on two cores, once the environment is installed; if measured.
    pub minutes: Option<u32>,
    /// How many calls the campaign of `run` draws, if not as many as for other backends.
    pub campaign: Option<u64>,
    /// How many processes `run` starts at most, if not one: each computes on one core.
    pub jobs: Option<NonZeroUsize>,
    /// How often `run` restarts it at most, if not as often as other programs: where the library is known to crash often.
    pub restarts: Option<usize>,
    /// Whether it reserves more address space than the default limit of programs, as browsers do.
    #[serde(default)]
    pub reserves_memory: bool,
}

/// What runs an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// Python, with what pip installs.
    Python,
    /// Node, with what npm installs.
    Node,
}

impl Manifest {
    /// What runs the adapter.
    #[must_use]
    pub(crate) const fn runtime(&self) -> Runtime {
        if self.node.is_some() { Runtime::Node } else { Runtime::Python }
    }
}

/// What is needed to create an environment.
pub(super) struct Environment<'a> {
    pub(super) manifest: &'a Manifest,
    /// The packages that pip or npm installs by name, with versions.
    pub(super) needs: &'a str,
    /// What it installs: that and all that it needs in turn, with hashes.
    pub(super) requirements: &'a str,
    pub(super) cache: &'a Path,
    /// Reports progress.
    pub(super) say: &'a dyn Fn(&str),
}

impl Environment<'_> {
    /// The interpreter of an environment in which the requirements are installed.
    pub(super) fn python(&self) -> Result<PathBuf, String> {
        let (system, version) = system_python()?;
        // Named by its content, so adapters with equal requirements share an environment.
        let name = format!("environment-{}-python-{version}", digest(&[self.requirements, &version]));
        let python =
            |folder: &Path| folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let what = format!("a Python {version} environment");
        let folder = self.made(&name, &what, |folder| self.make(&system, folder, &python(folder)))?;
        Ok(python(&folder))
    }

    /// The folder of an environment, in which `make` installs the requirements unless that has been done.
    fn made(
        &self,
        name: &str,
        what: &str,
        make: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<PathBuf, String> {
        let folder = self.cache.join(name);
        let ready = folder.join("gatherspec-ready");
        // If several runs need the environment at once, one creates it and the others wait.
        let _lock = self.locked(&self.cache.join(format!("{name}.lock")))?;
        if !ready.is_file() {
            let name = &self.manifest.name;
            (self.say)(&format!("{name}: making {what} in {}", folder.display()));
            make_empty(&folder)?;
            make(&folder)?;
            fs::write(&ready, "")
                .map_err(|error| format!("{} cannot be written: {error}", ready.display()))?;
            (self.say)(&format!("{name}: ready"));
        }
        Ok(folder)
    }

    /// Locks a file. If another run holds it, says so and waits until that one ends or the user stops this one.
    fn locked(&self, path: &Path) -> Result<File, String> {
        let cannot = |error: io::Error| format!("{} cannot be locked: {error}", path.display());
        let lock = open_lock(path).map_err(cannot)?;
        let mut said = false;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
                Err(TryLockError::WouldBlock) if interrupt::requested() => {
                    return Err(format!("interrupted while {} was locked by another run", path.display()));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !said {
                let name = &self.manifest.name;
                (self.say)(&format!("{name}: waiting for another run, which has locked {}", path.display()));
                said = true;
            }
            thread::sleep(LOOK);
        }
    }

    fn make(&self, system: &Path, folder: &Path, python: &Path) -> Result<(), String> {
        let (name, manifest) = (&self.manifest.name, self.manifest);
        run(isolated(system).args(["-m", "venv"]).arg(folder)).map_err(|said| {
            format!("Python's venv does not work; on Debian it is the package python3-venv\n{said}")
        })?;
        let requirements = folder.join("requirements.txt");
        fs::write(&requirements, self.requirements)
            .map_err(|error| format!("{} cannot be written: {error}", requirements.display()))?;
        (self.say)(&format!(
            "{name}: installing {} (a download of about {})",
            self.needs.split_whitespace().collect::<Vec<_>>().join(" "),
            manifest.download
        ));
        let mut pip = isolated(python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]);
        // They are all that is needed; what a package names beyond them may have no wheel.
        pip.args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "-r"]).arg(&requirements);
        run(&mut pip).map_err(|said| {
            format!(
                "pip cannot install the requirements of {name}: is there a network, and Python {} or later? \
                 --python PATH uses an interpreter that has them\n{said}",
                manifest.python.as_deref().unwrap_or("3")
            )
        })?;
        let is_there = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
        run(isolated(python).args(["-c", is_there, &manifest.module])).map_err(|_| {
            format!(
                "pip has installed {} elsewhere than in {}: does its configuration name a target or a prefix?",
                manifest.module,
                folder.display()
            )
        })
    }
}

/// Makes a new folder in the place of one that an earlier run left unfinished. What a link leads to is not ours to empty.
fn make_empty(folder: &Path) -> Result<(), String> {
    let cannot = |error: io::Error| format!("{} cannot be made: {error}", folder.display());
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(cannot(error)),
        Ok(found) if found.is_dir() => fs::remove_dir_all(folder).map_err(cannot)?,
        Ok(found) => {
            let what = if found.is_symlink() { "a symbolic link" } else { "no directory" };
            return Err(format!(
                "{} is {what}, and an environment is to be made there\nhelp: remove it, or set XDG_CACHE_HOME to move all \
                 environments",
                folder.display()
            ));
        }
    }
    fs::create_dir(folder).map_err(cannot)
}

/// A Python that ignores the current folder, `PYTHONPATH` and the user's packages, and that searches for programs where
/// this program does.
fn isolated(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.arg("-I").env("PATH", search_path()).stdin(Stdio::null());
    // Programs that Python starts, as venv does, are not in isolated mode by themselves.
    let is_python = |name: &OsString| name.to_string_lossy().starts_with("PYTHON");
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_python(name)) {
        command.env_remove(name);
    }
    command
}

/// The folders to search for programs that the user did not name.
fn search_path() -> OsString {
    absolute_entries(&std::env::var_os("PATH").unwrap_or_default())
}

/// The first Python 3 on the path, with its version.
fn system_python() -> Result<(PathBuf, String), String> {
    let path = search_path();
    let mut there = programs(&path, "python3").chain(programs(&path, "python"));
    let found = there.find_map(|python| version_of(&python).map(|version| (python, version)));
    found.ok_or_else(|| {
        "there is no python3 on the path: install Python, or name an interpreter with --python PATH"
            .to_owned()
    })
}

/// The programs of this name in the folders of a search path, in their order.
fn programs(path: &OsStr, name: &str) -> impl Iterator<Item = PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .map(move |folder| folder.join(&name))
        .filter(|path| path.symlink_metadata().is_ok())
}

/// The version of a Python 3; `None` for any other program.
fn version_of(python: &Path) -> Option<String> {
    let script = "import sys; assert sys.version_info[0] == 3; print('%d.%d.%d' % sys.version_info[:3])";
    let output = isolated(python).args(["-c", script]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a command to completion. The error is the end of its output.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().collect();
    Err(lines[lines.len().saturating_sub(15)..].join("\n"))
}

/// The absolute entries of a search path. Any other entry, the empty one included, depends on the current folder.
pub(super) fn absolute_entries(path: &OsStr) -> OsString {
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    std::env::join_paths(entries).expect("what was split can be joined")
}

/// A short hash of texts.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    texts.iter().for_each(|text| hash.update(text.as_bytes()));
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_depend_on_the_current_folder_do_not_count() {
        let path = std::env::join_paths(["", "/a", ".", "b/c", "/d e"]).unwrap();
        assert_eq!(absolute_entries(&path), std::env::join_paths(["/a", "/d e"]).unwrap());
        assert_eq!(absolute_entries(OsStr::new("")), "");
    }
}
