//! A copy of the workspace that is broken and built again and again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::round::{Break, Test};

/// A copy of the sources, with a target folder that is kept, so that builds are incremental.
pub(crate) struct Scratch {
    source: PathBuf,
    target: PathBuf,
    jobs: u32,
}

impl Scratch {
    /// A copy of the sources as they are now, in `folder`, where an earlier one may lie.
    pub(crate) fn new(root: &Path, folder: &Path, jobs: u32) -> Result<Self, String> {
        let (source, target) = (folder.join("source"), folder.join("target"));
        let listed = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("git: {error}"))?;
        let listed = String::from_utf8(listed.stdout).map_err(|error| format!("git ls-files: {error}"))?;
        let files: BTreeSet<PathBuf> = listed
            .split_terminator('\0')
            .filter(|file| root.join(file).is_file())
            .map(|file| source.join(file))
            .collect();
        remove_others(&source, &files)?;
        for file in &files {
            let original = root.join(file.strip_prefix(&source).unwrap_or(file));
            let bytes = fs::read(&original).map_err(|error| format!("{}: {error}", original.display()))?;
            write_if_other(file, &bytes)?;
        }
        Ok(Self { source, target, jobs })
    }

    /// Builds `gatherspec`; the inner error is what the compiler says.
    pub(crate) fn build(&self) -> Result<Result<PathBuf, String>, String> {
        let mut build = self.cargo("build");
        build.args([
            "--quiet",
            "--profile",
            "breaks",
            "--package",
            "gather-conformance",
            "--bin",
            "gatherspec",
        ]);
        Ok(output(&mut build)?.map(|_| self.target.join("breaks/gatherspec")))
    }

    /// Builds the program that holds a test; likewise.
    pub(crate) fn build_test(&self, test: &Test) -> Result<Result<PathBuf, String>, String> {
        let mut build = self.cargo("test");
        build
            .args(test.built.split_whitespace())
            .args(["--no-run", "--message-format=json-render-diagnostics"]);
        build.env("CARGO_PROFILE_TEST_DEBUG", "false").env("CARGO_PROFILE_DEV_DEBUG", "false");
        let said = match output(&mut build)? {
            Ok(said) => said,
            Err(why) => return Ok(Err(why)),
        };
        let artifacts = said.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
        let mut programs =
            artifacts.filter(|artifact| artifact.profile.test).filter_map(|test| test.executable);
        Ok(Ok(programs.next().ok_or_else(|| format!("`cargo test {}` builds no program", test.built))?))
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args([command, "--locked", "--jobs", &self.jobs.to_string(), "--target-dir"]).arg(&self.target);
        cargo.current_dir(&self.source);
        cargo
    }

    /// Does something with a break in the source, and mends the source again.
    pub(crate) fn with<T>(
        &self,
        broken: &Break,
        work: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let path = self.source.join(&broken.file);
        let named = |error| format!("{}: {}: {error}", broken.id, path.display());
        let original = fs::read_to_string(&path).map_err(named)?;
        fs::write(&path, broken.applied(&original)?).map_err(named)?;
        let done = work();
        fs::write(&path, original).map_err(named)?;
        done
    }

    /// Where the copy lies.
    pub(crate) fn source(&self) -> &Path {
        &self.source
    }
}

/// What cargo says of a program that it has built.
#[derive(Deserialize)]
struct Artifact {
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// What a command writes; the inner error is the compiler's.
fn output(command: &mut Command) -> Result<Result<String, String>, String> {
    let built = command.output().map_err(|error| format!("cargo: {error}"))?;
    if built.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&built.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    let error = said.lines().find(|line| line.starts_with("error")).unwrap_or(&said);
    Ok(Err(error.to_owned()))
}

/// Leaves an equal file alone, so that cargo takes it for unchanged.
fn write_if_other(file: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(file).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(file, bytes)).map_err(|error| format!("{}: {error}", file.display()))
}

/// Removes all files but these.
fn remove_others(folder: &Path, files: &BTreeSet<PathBuf>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            remove_others(&path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}
