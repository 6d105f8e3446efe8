//! Judges a file of breaks: one changed line of real code each. For each break, builds `gatherspec` from a broken copy of the
//! workspace, and lets the unbroken program test the broken one.
//!
//! ```sh
//! cargo run --release -p gatherspec --example breaks -- FILE [--only ID]… [--scratch DIR] [-- CARGO TEST ARGUMENTS…]
//! ```
//!
//! FILE holds `breaks:`, a list of `id`, `file` (from the root of the repository), `line` (whole lines that occur once in the
//! file, without the white space at their ends), `becomes` and, optionally, `level` (the instruction set of the break) and
//! `wrong-on`. With arguments after `--`, `cargo test` with these arguments judges each break too.
//!
//! Prints a table: each step with what it says of the break, or nothing if the break goes unnoticed. The unbroken copy runs
//! first and must pass every step.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::Deserialize;

/// A file of breaks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Breaks {
    breaks: Vec<Break>,
}

/// A mistake that a programmer of a gather could make.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Break {
    id: String,
    file: PathBuf,
    line: String,
    becomes: String,
    level: Option<String>,
    #[serde(default)]
    wrong_on: String,
}

/// Which `gatherspec` runs a step.
#[derive(Clone, Copy)]
enum Build {
    /// The unbroken one, which starts the broken one as a backend.
    Unbroken,
    Broken,
}

/// A step: its name, who runs it, and its arguments. `BROKEN` is the path of the broken program, `BACKEND` what it serves.
type TestStep = (&'static str, Build, &'static str);

const STEPS: [TestStep; 5] = [
    ("run", Build::Unbroken, "run --fail-fast -- BROKEN serve BACKEND"),
    ("run, wrap and zero", Build::Unbroken, "run --fail-fast -- BROKEN serve BACKEND:bad=zero,negative=wrap"),
    ("run, clamp", Build::Unbroken, "run --fail-fast -- BROKEN serve BACKEND:bad=clamp,negative=reject"),
    ("run in process", Build::Broken, "run --fail-fast --backend BACKEND"),
    ("fuzz in process", Build::Broken, "fuzz --cases 4000 --backend BACKEND"),
];

fn main() -> ExitCode {
    match judge() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn judge() -> Result<(), String> {
    let (mut file, mut only, mut scratch, mut tests) = (None, BTreeSet::new(), None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--only" => only.extend(arguments.next()),
            "--scratch" => scratch = arguments.next().map(PathBuf::from),
            "--" => tests = Some(arguments.by_ref().collect::<Vec<String>>()),
            _ => file = Some(argument),
        }
    }
    let file = file.ok_or("name a file of breaks")?;
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let Breaks { breaks } = serde_yaml::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the crate is not in a workspace")?;
    let copy = WorkspaceCopy::new(root, &scratch.unwrap_or_else(|| root.join("target/broken")), tests)?;

    let unbroken = copy.build()?.map_err(|why| format!("the unbroken copy does not compile: {why}"))?;
    let kept = unbroken.with_file_name("unbroken");
    fs::copy(&unbroken, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    for backend in ["reference", "optimized"] {
        if let Some(found) = copy.caught(&kept, &unbroken, backend, None)? {
            return Err(format!("the unbroken {backend} fails: {found}"));
        }
    }
    println!("| break | caught by | wrong on |\n| --- | --- | --- |");
    for broken in breaks.iter().filter(|one| only.is_empty() || only.contains(&one.id)) {
        let caught = copy.with(broken, || {
            let Ok(program) = copy.build()? else { return Ok(Some("does not compile".to_owned())) };
            let backend = if broken.file.starts_with("optimized") { "optimized" } else { "reference" };
            copy.caught(&kept, &program, backend, broken.level.as_deref())
        })?;
        let caught = caught.unwrap_or_else(|| "nothing".to_owned()).replace('|', "\\|");
        println!("| {} | {caught} | {} |", broken.id, broken.wrong_on);
    }
    Ok(())
}

/// A copy of the workspace, with a target folder that is kept, so that builds are incremental.
struct WorkspaceCopy {
    source: PathBuf,
    target: PathBuf,
    tests: Option<Vec<String>>,
}

impl WorkspaceCopy {
    fn new(root: &Path, folder: &Path, tests: Option<Vec<String>>) -> Result<Self, String> {
        let (source, target) = (folder.join("source"), folder.join("target"));
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
        let listed = list.output().map_err(|error| format!("git: {error}"))?;
        for file in String::from_utf8_lossy(&listed.stdout).split_terminator('\0') {
            let (from, to) = (root.join(file), source.join(file));
            let Ok(bytes) = fs::read(&from) else { continue };
            // An equal file is left alone, so that cargo takes it for unchanged.
            if !fs::read(&to).is_ok_and(|there| there == bytes) {
                let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
                folder
                    .and_then(|()| fs::write(&to, bytes))
                    .map_err(|error| format!("{}: {error}", to.display()))?;
            }
        }
        Ok(Self { source, target, tests })
    }

    fn cargo(&self, command: &str) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.args([command, "--locked", "--target-dir"]).arg(&self.target).current_dir(&self.source);
        cargo.env("INSTA_UPDATE", "no");
        cargo
    }

    /// Builds `gatherspec`; the inner error is what the compiler says.
    fn build(&self) -> Result<Result<PathBuf, String>, String> {
        let mut build = self.cargo("build");
        build.args(["--quiet", "--profile", "breaks", "-p", "gatherspec", "--bin", "gatherspec"]);
        let built = build.output().map_err(|error| format!("cargo: {error}"))?;
        let said = || String::from_utf8_lossy(&built.stderr).into_owned();
        Ok(if built.status.success() { Ok(self.target.join("breaks/gatherspec")) } else { Err(said()) })
    }

    /// What the first step that notices the break says, after the step's name; with tests, what they say too.
    fn caught(
        &self,
        unbroken: &Path,
        broken: &Path,
        backend: &str,
        level: Option<&str>,
    ) -> Result<Option<String>, String> {
        let steps = STEPS.iter().map(|(name, who, arguments)| {
            let mut command = Command::new(if matches!(who, Build::Broken) { broken } else { unbroken });
            let filled = |word: &str| {
                word.replace("BROKEN", &broken.display().to_string()).replace("BACKEND", backend)
            };
            command.args(arguments.split(' ').map(filled)).current_dir(&self.target);
            (*name, command)
        });
        let tests = self.tests.as_ref().map(|arguments| {
            let mut command = self.cargo("test");
            command.args(arguments);
            ("cargo test", command)
        });
        let mut caught = Vec::new();
        for (name, mut command) in steps.chain(tests) {
            if name != "cargo test" && !caught.is_empty() {
                continue;
            }
            command.env_remove("GATHERSPEC_LEVEL").envs(level.map(|level| ("GATHERSPEC_LEVEL", level)));
            // A hang is ended, and counts as caught.
            let mut limited = Command::new("timeout");
            limited.arg("1800").arg(command.get_program()).args(command.get_args());
            limited.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
            if let Some(folder) = command.get_current_dir() {
                limited.current_dir(folder);
            }
            let ended = limited.output().map_err(|error| format!("timeout: {error}"))?;
            if !ended.status.success() {
                caught.push(format!("{name}: {}", first_failure(&ended.stdout, &ended.stderr)));
            }
        }
        Ok((!caught.is_empty()).then(|| caught.join("<br>")))
    }

    /// Does something with a break in the source, and mends the source again.
    fn with<T>(&self, broken: &Break, work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        let path = self.source.join(&broken.file);
        let named = |error| format!("{}: {}: {error}", broken.id, path.display());
        let original = fs::read_to_string(&path).map_err(named)?;
        fs::write(&path, broken.applied(&original)?).map_err(named)?;
        let done = work();
        fs::write(&path, original).map_err(named)?;
        done
    }
}

impl Break {
    /// The source with the break in it.
    fn applied(&self, source: &str) -> Result<String, String> {
        let wanted: Vec<&str> = self.line.lines().map(str::trim).collect();
        let becomes: Vec<&str> = self.becomes.lines().map(str::trim).collect();
        let lines: Vec<&str> = source.lines().collect();
        let is_there = |at: &usize| {
            lines[*at..].iter().map(|line| line.trim()).take(wanted.len()).eq(wanted.iter().copied())
        };
        let found: Vec<usize> = (0..lines.len()).filter(is_there).collect();
        let [at] = found[..] else {
            return Err(format!(
                "{}: its line occurs {} times in {}",
                self.id,
                found.len(),
                self.file.display()
            ));
        };
        let after = &lines[at + wanted.len()..];
        Ok([&lines[..at], &becomes[..], after].concat().join("\n") + "\n")
    }
}

/// The first line that names a failure, else the last line.
fn first_failure(stdout: &[u8], stderr: &[u8]) -> String {
    let said = [stdout, b"\n", stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let failed = lines().find(|line| line.starts_with("test ") && line.ends_with("FAILED"));
    let line =
        failed.or_else(|| lines().find(|line| !line.starts_with("running") && !line.starts_with("test ")));
    line.unwrap_or_default().chars().take(160).collect()
}
