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
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use globset::{Glob, GlobMatcher};

use judge::{Judge, Suspect};
use round::{Break, HARNESS, Round, file_name};
use scratch::Scratch;
use table::{Fate, target};

/// Find breaks of real code.
#[derive(Parser)]
struct Arguments {
    /// The round, a file of conformance/breaks, or `harness`
    #[arg(long, value_name = "N")]
    round: String,
    /// Only breaks with an id that matches; the table is not written then
    #[arg(long, value_name = "GLOB")]
    only: Option<Glob>,
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
    let only = arguments.only.as_ref().map(Glob::compile_matcher);
    let chosen = |broken: &&Break| only.as_ref().is_none_or(|glob: &GlobMatcher| glob.is_match(&broken.id));
    let breaks: Vec<&Break> = round.breaks.iter().filter(chosen).collect();
    let folder = arguments.scratch.clone().unwrap_or_else(|| root.join("target/broken"));
    let scratch = Scratch::new(root, &folder, arguments.jobs)?;
    let of_harness = arguments.round == HARNESS;
    let judge = if of_harness {
        harness::check_unbroken(&scratch, &folder, &breaks)?;
        None
    } else {
        Some(unbroken(&scratch, folder.clone())?)
    };
    let page = |rows: &[(&Break, Fate)]| {
        if of_harness { table::harness_page(rows) } else { table::page(&arguments.round, rows) }
    };

    let path = root.join(format!("conformance/results/breaks-{}.md", file_name(&arguments.round)));
    let mut rows = Vec::new();
    for broken in breaks {
        let fate = match &judge {
            Some(judge) => fate(&scratch, judge, broken),
            None => harness::fate(&scratch, &folder, broken),
        };
        let fate = fate.map_err(|wrong| format!("{}: {wrong}", broken.id))?;
        println!("{} | {}", broken.id, fate.words());
        rows.push((broken, fate));
        if only.is_none() {
            fs::write(&path, page(&rows)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    if only.is_some() {
        print!("\n{}", page(&rows));
    }
    Ok(())
}

/// The unbroken program, in which nothing is found.
fn unbroken(scratch: &Scratch, folder: PathBuf) -> Result<Judge, String> {
    let built = scratch.build()??;
    let judge = Judge { program: folder.join("gatherspec"), folder };
    fs::copy(&built, &judge.program).map_err(|error| format!("{}: {error}", built.display()))?;
    for (backend, level) in [("reference", None), ("optimized", None), ("optimized", Some("portable"))] {
        let suspect = Suspect { program: &judge.program, backend, level };
        if let Some(caught) = judge.catch(&suspect)? {
            return Err(format!("unbroken, {backend} fails: {}", caught.by));
        }
    }
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
