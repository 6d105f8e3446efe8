//! Breaks of real code: puts each break of a round into a copy of the sources, builds it, and asks the unbroken
//! `gatherspec` to find it; for breaks of the suite itself, runs the test that each names. See
//! conformance/breaks/README.md.

mod ended;
mod harness;
mod judge;
mod round;
mod scratch;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use gather_optimized::Level;
use globset::Glob;

use judge::{Judge, Suspect};
use round::{Break, HARNESS, Round, file_name};
use scratch::Scratch;
use table::{Fate, Table, target};

/// Find breaks of real code.
#[derive(Parser)]
struct Arguments {
    /// The round, a file of conformance/breaks, or `harness`
    #[arg(long, value_name = "N")]
    round: String,
    /// Only breaks with an id that matches; the page keeps what it says of the others
    #[arg(long, value_name = "GLOB")]
    only: Option<Glob>,
    /// Only breaks that the page has no result for, so that a round goes on where it stopped
    #[arg(long)]
    resume: bool,
    /// Only breaks of which the page says this: `survived`, or a step such as `campaign`
    #[arg(long, value_name = "RESULT", conflicts_with = "resume")]
    with_result: Vec<String>,
    /// Also ask these large cases of a break that no other case catches: all of them, `*`, take minutes
    #[arg(long, value_name = "GLOB")]
    large: Option<String>,
    /// How many jobs cargo has
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u32,
    /// Where the copy and its builds are kept [default: target/broken]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the crate lies in a workspace")?;
    let round = Round::read(root, &arguments.round)?;
    let path = root.join(format!("conformance/results/breaks-{}.md", file_name(&arguments.round)));
    let page = fs::read_to_string(&path).unwrap_or_default();
    let mut table = Table::read(&arguments.round, &round.breaks, &page);
    let breaks: Vec<&Break> = round.breaks.iter().filter(|broken| arguments.choose(broken, &table)).collect();
    let folder = arguments.scratch.clone().unwrap_or_else(|| root.join("target/broken"));
    let scratch = Scratch::new(root, &folder, arguments.jobs)?;
    let judge = if arguments.round == HARNESS {
        harness::check_unbroken(&scratch, &folder, &breaks)?;
        None
    } else {
        Some(Judge { large: arguments.large.clone(), ..unbroken(&scratch, folder.clone())? })
    };

    for broken in breaks {
        if let Some(level) = broken.level.as_deref().filter(|level| !available(level)) {
            println!("{} | not run: this machine lacks the level {level}", broken.id);
            continue;
        }
        let start = Instant::now();
        let fate = match &judge {
            Some(judge) => fate(&scratch, judge, broken),
            None => harness::fate(&scratch, &folder, broken),
        };
        let fate = fate.map_err(|wrong| format!("{}: {wrong}", broken.id))?;
        println!("{} | {} | {} s", broken.id, fate.words(broken), start.elapsed().as_secs());
        table.set(broken, fate);
        fs::write(&path, table.page()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn available(level: &str) -> bool {
    Level::available().any(|one| one.name() == level)
}

impl Arguments {
    /// Whether a break is to be run, after what the page says of it.
    fn choose(&self, broken: &Break, table: &Table<'_>) -> bool {
        let fate = table.fate(broken).map(|fate| fate.name().trim_matches('*'));
        let named = self.only.as_ref().is_none_or(|glob| glob.compile_matcher().is_match(&broken.id));
        let result = &self.with_result;
        let due = fate.map_or(result.is_empty(), |fate| result.iter().any(|one| one == fate));
        named && (due || (result.is_empty() && !self.resume))
    }
}

/// The unbroken program, in which nothing is found. What an earlier run checked is not checked again.
fn unbroken(scratch: &Scratch, folder: PathBuf) -> Result<Judge, String> {
    let built = scratch.build()??;
    let named = |error: io::Error| format!("{}: {error}", built.display());
    let checked = folder.join("gatherspec");
    let program = fs::read(&built).map_err(named)?;
    if fs::read(&checked).is_ok_and(|before| before == program) {
        return Ok(Judge { program: checked, folder, large: None });
    }
    let mut judge = Judge { program: folder.join("unchecked"), folder, large: None };
    fs::copy(&built, &judge.program).map_err(named)?;
    for (backend, level) in [("reference", None), ("optimized", None), ("optimized", Some("portable"))] {
        let suspect = Suspect { program: &judge.program, backend, level };
        if let Some(caught) = judge.catch(&suspect)? {
            return Err(format!("unbroken, {backend} fails: {}", caught.by));
        }
    }
    fs::rename(&judge.program, &checked).map_err(named)?;
    judge.program = checked;
    Ok(judge)
}

fn fate(scratch: &Scratch, judge: &Judge, broken: &Break) -> Result<Fate, String> {
    let program = match scratch.with(broken, || scratch.build())? {
        Ok(program) => program,
        Err(why) => return Ok(Fate::DoesNotCompile(why)),
    };
    let suspect = Suspect { program: &program, backend: target(broken), level: broken.level.as_deref() };
    Ok(judge.catch(&suspect)?.map_or(Fate::Survived, Fate::Caught))
}
