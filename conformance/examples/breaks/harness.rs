//! Breaks of the suite itself: the judge, the loader, the runner, the process client, the campaign. Each is caught by the
//! test that it names, which passes without it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::ended::Ended;
use crate::round::{Break, Test};
use crate::scratch::Scratch;
use crate::table::Fate;

/// What became of a test.
enum Outcome {
    Passes,
    /// It fails, with these words.
    Fails(String),
    /// There is no test of this name.
    Missing,
}

/// Requires that the tests of some breaks pass in the unbroken copy.
pub(crate) fn check_unbroken(scratch: &Scratch, folder: &Path, breaks: &[&Break]) -> Result<(), String> {
    let tests: BTreeSet<&Test> = breaks.iter().filter_map(|broken| broken.test.as_ref()).collect();
    for test in tests {
        let program = scratch.build_test(test)??;
        let wrong = match run(scratch, folder, &program, test)? {
            Outcome::Passes => continue,
            Outcome::Fails(words) => format!("fails: {words}"),
            Outcome::Missing => "does not exist".to_owned(),
        };
        return Err(format!("unbroken, `{}` {wrong}", test.name));
    }
    Ok(())
}

/// What becomes of a break.
pub(crate) fn fate(scratch: &Scratch, folder: &Path, broken: &Break) -> Result<Fate, String> {
    let test = broken.test.as_ref().ok_or("it names no test")?;
    let outcome = scratch.with(broken, || match scratch.build_test(test)? {
        Ok(program) => run(scratch, folder, &program, test).map(Ok),
        Err(why) => Ok(Err(why)),
    })?;
    Ok(match outcome {
        Err(why) => Fate::DoesNotCompile(why),
        Ok(Outcome::Fails(words)) => Fate::Failed(words),
        Ok(Outcome::Passes | Outcome::Missing) => Fate::Survived,
    })
}

/// Runs one test of a program.
fn run(scratch: &Scratch, folder: &Path, program: &Path, test: &Test) -> Result<Outcome, String> {
    let mut command = Command::new(program);
    command.args(["--exact", &test.name, "--test-threads=1"]);
    command.env("INSTA_UPDATE", "no").current_dir(scratch.source().join(test.package()));
    let Some(ended) = Ended::run(&mut command, folder)? else {
        return Ok(Outcome::Fails("hangs".to_owned()));
    };
    let said = String::from_utf8_lossy(&[&ended.stdout[..], b"\n", &ended.stderr].concat()).into_owned();
    let said = said.replace(&format!("{}/", scratch.source().display()), "");
    Ok(match ended.code {
        Some(0) if said.contains("running 0 tests") => Outcome::Missing,
        Some(0) => Outcome::Passes,
        _ => Outcome::Fails(complaint(&said)),
    })
}

/// What the test says first: the message of its panic, with both sides of what is not equal.
fn complaint(said: &str) -> String {
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at ")).skip(1).map(str::trim);
    let first = lines.next().filter(|line| !line.is_empty()).unwrap_or("fails").to_owned();
    let sides = lines.take(2).filter(|line| line.starts_with("left: ") || line.starts_with("right: "));
    let sides: String = sides.map(|side| format!(" {}", cut(side))).collect();
    format!("{}{sides}", cut(&first)).replace('|', "\\|")
}

fn cut(line: &str) -> String {
    line.chars().take(90).collect()
}
