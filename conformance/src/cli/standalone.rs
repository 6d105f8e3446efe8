//! The command line of a program that validates itself: the options of `gatherspec run`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use super::folders::Folders;
use super::run::RunArgs;
use super::{Cli, CliCommand, Color, not_parsed};

#[derive(Parser)]
#[command(max_term_width = 110)]
struct StandaloneArgs {
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    folders: Folders,
    /// Colour the output: in a terminal unless NO_COLOR is set, always, or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

impl StandaloneArgs {
    fn parse_from_all(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        // Each panic costs a restart.
        let command = Self::command().mut_arg("restarts", |restarts| restarts.default_value("1000"));
        command.try_get_matches_from(arguments).and_then(|matches| Self::from_arg_matches(&matches))
    }
}

/// Runs the cases on a program that answers the backend protocol, as the arguments of this process say.
pub(crate) fn validate(program: Vec<OsString>, deviations: &Path) -> ExitCode {
    Color::of(std::env::args_os().skip(1)).apply();
    match StandaloneArgs::parse_from_all(std::env::args_os()) {
        Ok(StandaloneArgs { run, folders, color }) => {
            let run = run.of_program(program, deviations);
            Cli { command: Some(CliCommand::Run(Box::new(run))), folders, color }.execute()
        }
        Err(error) => not_parsed(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_validates_itself_is_started_again_more_often() {
        let line = |arguments: &[&str]| {
            let arguments = std::iter::once("mine").chain(arguments.iter().copied());
            StandaloneArgs::parse_from_all(arguments.map(OsString::from))
        };
        StandaloneArgs::command().debug_assert();
        assert_eq!(line(&[]).unwrap().run.process.given(), ["--restarts 1000"]);
        assert_eq!(line(&["--restarts", "7"]).unwrap().run.process.given(), ["--restarts 7"]);
        let folders = line(&["--spec", "there", "--spec-add", "mine"]).unwrap().folders;
        assert!(folders.whole.is_some() && folders.added.is_some() && line(&["list"]).is_err());
    }
}
