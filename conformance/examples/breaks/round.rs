//! A round of breaks as its file has it, and how one is put into a source file.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// A file of breaks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Round {
    pub(crate) breaks: Vec<Break>,
}

/// A mistake that a programmer of a gather could make.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Break {
    pub(crate) id: String,
    /// From the root of the repository.
    pub(crate) file: String,
    /// Whole lines that occur once in the file; white space at their ends does not count.
    pub(crate) line: String,
    pub(crate) becomes: String,
    /// The smallest kind of call on which it gives a wrong answer.
    pub(crate) wrong_on: String,
    /// What a judge must do to come upon it.
    #[serde(default)]
    pub(crate) reach: Reach,
    /// The instruction set that it takes, if not that of the machine.
    pub(crate) level: Option<String>,
    /// Of a break of the suite itself, the test that catches it.
    pub(crate) test: Option<Test>,
}

/// A test, written as `-p gather-spec --lib -- load::sizes::tests::sums`: what `cargo test` builds, and its whole name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Test {
    pub(crate) built: String,
    pub(crate) name: String,
}

impl Test {
    /// The folder of its crate.
    pub(crate) fn package(&self) -> &'static str {
        if self.built.contains("gather-spec") { "spec" } else { "conformance" }
    }
}

impl TryFrom<String> for Test {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts = text.split_once(" -- ").map(|(built, name)| (built.to_owned(), name.to_owned()));
        let (built, name) =
            parts.ok_or_else(|| format!("`{text}` has no ` -- ` before the name of a test"))?;
        Ok(Self { built, name })
    }
}

/// The breaks of the suite itself.
pub(crate) const HARNESS: &str = "harness";

/// What a judge must do to come upon a break.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reach {
    /// Send a call.
    #[default]
    Call,
    /// Hand over arrays that are not row-major, which only calls within one process do.
    Layout,
    /// Call functions that no backend has: plans that are run again, pools, outputs of the caller's.
    Rust,
}

impl Round {
    /// Reads a round of a repository: one that has a number, or [`HARNESS`].
    pub(crate) fn read(root: &Path, name: &str) -> Result<Self, String> {
        let path = Self::path(root, name);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_yaml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn path(root: &Path, name: &str) -> PathBuf {
        root.join("conformance/breaks").join(file_name(name)).with_extension("yaml")
    }
}

/// What a round's file and page are called after.
pub(crate) fn file_name(round: &str) -> String {
    if round == HARNESS { round.to_owned() } else { format!("round-{round}") }
}

impl Break {
    /// The file with this break in it.
    ///
    /// # Errors
    /// Why the break does not fit the file.
    pub(crate) fn applied(&self, source: &str) -> Result<String, String> {
        let wanted: Vec<&str> = self.line.lines().map(str::trim).collect();
        let becomes: Vec<&str> = self.becomes.lines().map(str::trim).collect();
        if wanted.is_empty() || wanted == becomes {
            return Err(format!("{}: nothing is broken", self.id));
        }
        let lines: Vec<&str> = source.lines().collect();
        let is_there = |at: &usize| {
            lines[*at..].iter().map(|line| line.trim()).take(wanted.len()).eq(wanted.iter().copied())
        };
        let found: Vec<usize> = (0..lines.len()).filter(is_there).collect();
        let [at] = found[..] else {
            return Err(format!("{}: its line occurs {} times in {}", self.id, found.len(), self.file));
        };
        let (before, after) = (&lines[..at], &lines[at + wanted.len()..]);
        Ok([before, &becomes[..], after].concat().join("\n") + "\n")
    }
}
