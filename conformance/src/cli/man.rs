//! `gatherspec man`: manual pages, made from the same texts as `--help`.

use std::path::PathBuf;

use clap::Command;

use gather_conformance::internals::files::write_whole;
use gather_conformance::internals::words::name;

use super::ending::{Failure, Status};
use super::output::print_raw;

#[derive(clap::Args)]
pub(super) struct ManArgs {
    /// Command to print the page of; without one, the page of the program
    command: Option<String>,
    /// Write the pages of all commands to this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

impl ManArgs {
    pub(super) fn execute(&self, program: Command) -> Result<Status, Failure> {
        let mut program = program.disable_help_subcommand(true);
        program.build();
        if let Some(folder) = &self.out {
            std::fs::create_dir_all(folder)?;
            for (page, text) in pages(&program)? {
                write_whole(&folder.join(format!("{page}.1")), &text)?;
            }
            return Ok(Status::Conforms);
        }
        let wanted = self.command.as_ref().map_or("gatherspec".to_owned(), |one| format!("gatherspec-{one}"));
        let found = pages(&program)?.into_iter().find(|(page, _)| *page == wanted);
        let (_, text) = found.ok_or_else(|| {
            let unknown = name(self.command.as_deref().unwrap_or_default());
            Failure::Usage(format!("there is no command `{unknown}`\nhelp: `gatherspec --help` lists them"))
        })?;
        print_raw(&text)?;
        Ok(Status::Conforms)
    }
}

/// The pages of the program and its commands, by name.
fn pages(program: &Command) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let page = |command: &Command, title: String| {
        let mut text = Vec::new();
        clap_mangen::Man::new(command.clone()).title(title.to_uppercase()).render(&mut text)?;
        Ok::<_, std::io::Error>((title, text))
    };
    let own = page(program, "gatherspec".to_owned());
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    let of_commands = shown.map(|command| page(command, format!("gatherspec-{}", command.get_name())));
    Ok(std::iter::once(own).chain(of_commands).collect::<Result<_, _>>()?)
}
