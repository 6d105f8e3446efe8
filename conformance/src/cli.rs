//! The command line `gatherspec`: one file per command, and what the commands share.

mod ask;
mod backend;
mod bench;
mod campaign;
mod cases;
mod check;
mod ending;
mod export;
mod findings;
mod folders;
mod fuzz;
mod help;
mod init;
mod judge;
mod keep;
mod known;
mod list;
mod man;
mod merge;
mod mutants;
mod output;
mod process;
mod progress;
mod run;
mod serve;
mod show;
mod standalone;
mod target;

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum as _};
use gather_spec::load::Wanted;
use gather_spec::{Signatures, Specification};

use crate::native;
use crate::{signals, terminal};
use gather_conformance::builtin;

use ending::{Failure, Status};
use folders::Folders;
use output::{complain, print, print_raw};
pub(crate) use standalone::validate;

/// Test gather implementations against the public documents of gather operators.
///
/// Without a command, run the whole suite on the built-in backends.
#[derive(Parser)]
#[command(name = "gatherspec", version, max_term_width = 110, after_help = help::TOP)]
struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    folders: Folders,
    /// Colour the output: in a terminal unless NO_COLOR is set, always, or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

/// When to colour the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Applies the choice to stdout and stderr.
    fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::AlwaysAnsi,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }

    /// The choice in arguments that cannot be parsed otherwise, so that their error has the right colours.
    fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
        let given = words.iter().take_while(|word| *word != "--").enumerate().filter_map(|(at, word)| {
            let value = word.strip_prefix("--color")?;
            value
                .strip_prefix('=')
                .or_else(|| words.get(at + 1).map(String::as_str).filter(|_| value.is_empty()))
        });
        given.last().and_then(|value| Self::from_str(value, false).ok()).unwrap_or_default()
    }
}

#[derive(Subcommand)]
enum CliCommand {
    /// Run the suite on one or more backends
    #[command(after_help = help::RUN)]
    Run(Box<run::RunArgs>),
    /// List cases, clauses, operators, questions, backends or documents
    #[command(after_help = help::LIST)]
    List(list::ListArgs),
    /// Draw a case, or print a clause with its rulings and cases, an operator with its clauses, a question with the
    /// answer of every operator, or a finding as a text for an issue of its library
    #[command(after_help = help::SHOW)]
    Show(show::ShowArgs),
    /// Draw a typed call, with what the documents say of it and what backends answer
    #[command(after_help = help::ASK)]
    Ask(Box<ask::AskArgs>),
    /// Serve a built-in backend on stdin and stdout, by the backend protocol
    #[command(after_help = help::SERVE)]
    Serve(serve::ServeArgs),
    /// Answer the backend protocol on behalf of a library: what `run --library` starts
    #[command(name = native::COMMAND, hide = true)]
    ServeLibrary {
        /// The shared library
        library: PathBuf,
    },
    /// Judge a backend at the other end of stdin and stdout, case by case: what the plug-in for pytest starts
    #[command(hide = true)]
    Judge(judge::JudgeArgs),
    /// Test a backend with random calls, against the reference or by laws
    #[command(after_help = help::FUZZ)]
    Fuzz(Box<fuzz::FuzzArgs>),
    /// Time backends side by side, on workloads of real programs
    #[command(after_help = help::BENCH)]
    Bench(Box<bench::BenchArgs>),
    /// Write a starter, which runs as it is, with its workflow for GitHub Actions
    #[command(after_help = help::INIT)]
    Init(init::InitArgs),
    /// Write cases in a format that others run without an adapter
    #[command(after_help = help::EXPORT)]
    Export(export::ExportArgs),
    /// Merge the reports of the shards of a campaign
    #[command(after_help = help::MERGE)]
    Merge(merge::MergeArgs),
    /// Lint files of the specification, or compare a document with the text that its clauses were read from
    #[command(after_help = help::CHECK)]
    Check(check::CheckArgs),
    /// Measure the suite: which cases catch which deliberately wrong implementation
    #[command(after_help = help::MUTANTS)]
    Mutants(mutants::MutantsArgs),
    /// Print the C header that a shared library implements
    #[command(after_help = help::HEADER)]
    Header,
    /// Print manual pages
    #[command(after_help = help::MAN)]
    Man(man::ManArgs),
    /// Print shell completions
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    Color::of(std::env::args_os().skip(1)).apply();
    match Cli::try_parse() {
        Ok(cli) => cli.execute(),
        Err(error) => not_parsed(&error),
    }
}

/// Says what is wrong with a command line. Help and version are no errors; the rest exits with 2.
fn not_parsed(error: &clap::Error) -> ExitCode {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        complain(text.trim_end());
    } else if let Err(failure) = print(&text) {
        complain(failure);
        return ExitCode::from(Status::Usage as u8);
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn serve_library(library: &Path, signatures: &Signatures) -> Result<Status, Failure> {
    match native::serve(library, signatures) {
        Ok(()) => Ok(Status::Conforms),
        Err(native::NotServed::Io(error)) => Err(error.into()),
        Err(broken) => Err(Failure::Broken(broken.to_string())),
    }
}

impl Cli {
    /// Does what the command line asks for.
    fn execute(&self) -> ExitCode {
        if matches!(
            self.command,
            None | Some(
                CliCommand::Run(_)
                    | CliCommand::Ask(_)
                    | CliCommand::Fuzz(_)
                    | CliCommand::Bench(_)
                    | CliCommand::Export(_)
                    | CliCommand::Merge(_)
            )
        ) {
            signals::watch();
        }
        let folders = &self.folders;
        let result = match &self.command {
            None => self.load().and_then(|spec| run::RunArgs::default().execute(spec, folders)),
            Some(CliCommand::Run(run)) => self.load().and_then(|spec| run.execute(spec, folders)),
            Some(CliCommand::List(list)) => self.load().and_then(|spec| list.execute(spec)),
            Some(CliCommand::Show(show)) => self.load().and_then(|spec| show.execute(spec)),
            Some(CliCommand::Ask(ask)) => self.load().and_then(|spec| ask.execute(spec, folders)),
            Some(CliCommand::Serve(serve)) => {
                self.signatures().and_then(|signatures| serve.execute(&signatures))
            }
            Some(CliCommand::ServeLibrary { library }) => {
                self.signatures().and_then(|signatures| serve_library(library, &signatures))
            }
            Some(CliCommand::Judge(judge)) => self.load().and_then(|spec| judge.execute(spec)),
            Some(CliCommand::Fuzz(fuzz)) => self.load().and_then(|spec| fuzz.execute(spec, folders)),
            Some(CliCommand::Bench(bench)) => {
                self.signatures().and_then(|signatures| bench.execute(&signatures, folders))
            }
            Some(CliCommand::Init(init)) => init.execute(),
            Some(CliCommand::Export(export)) => self.load().and_then(|spec| export.execute(spec)),
            Some(CliCommand::Merge(merge)) => merge.execute(),
            Some(CliCommand::Check(check)) => self.load().and_then(|spec| check.execute(spec)),
            Some(CliCommand::Mutants(mutants)) => self.load().and_then(|spec| mutants.execute(spec)),
            Some(CliCommand::Header) => print_raw(native::HEADER.as_bytes()).map(|()| Status::Conforms),
            Some(CliCommand::Man(man)) => man.execute(Cli::command()),
            Some(CliCommand::Completions { shell }) => {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut Cli::command(), "gatherspec", &mut script);
                print(&String::from_utf8_lossy(&script)).map(|()| Status::Conforms)
            }
        };
        terminal::restore();
        let status = match result {
            Ok(status) => ExitCode::from(status as u8),
            // The client closed the pipe.
            Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(failure) => {
                complain(&failure);
                let broken = matches!(failure, Failure::Broken(_));
                ExitCode::from(if broken { Status::Broken } else { Status::Usage } as u8)
            }
        };
        signals::end_if_requested();
        status
    }

    /// Loads the specification with the cases that the command needs, once. It lives until the process ends, because freeing
    /// all cases one by one takes time.
    fn load(&self) -> Result<&'static Specification, Failure> {
        start_threads();
        let all = self.signatures()?;
        let wanted = match &self.command {
            Some(CliCommand::Run(run)) => run.wanted(&all),
            Some(CliCommand::List(list)) => list.wanted(&all),
            Some(CliCommand::Show(show)) => show.wanted(&all),
            Some(CliCommand::Ask(ask)) => ask.wanted(&all),
            Some(CliCommand::Export(export)) => export.wanted(&all),
            Some(CliCommand::Check(check)) => check.wanted(&all),
            Some(CliCommand::Mutants(mutants)) => mutants.wanted(&all),
            Some(CliCommand::Judge(judge)) => judge.wanted(),
            // A campaign draws its calls.
            Some(CliCommand::Fuzz(_)) => Wanted::None,
            _ => Wanted::Usual,
        };
        static LOADED: OnceLock<Specification> = OnceLock::new();
        let spec = self.folders.load(&wanted)?;
        Ok(LOADED.get_or_init(|| spec))
    }

    /// The operators alone. The embedded ones need nothing else to be read.
    fn signatures(&self) -> Result<Signatures, Failure> {
        if self.folders.are_none() {
            return Ok(builtin::signatures().clone());
        }
        Ok(self.folders.load(&Wanted::None)?.signatures())
    }
}

/// Starts the pool of worker threads, as many as the system provides. Without any, this thread does all the work; rayon
/// by itself would panic.
fn start_threads() {
    let wished = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let number = wished.filter(|number| *number > 0).unwrap_or_else(cores).min(process::MOST_JOBS);
    // They are started before the pool, which then takes them over: how many will start later cannot be known in advance.
    let (give, work) = mpsc::channel::<rayon::ThreadBuilder>();
    let work = Arc::new(Mutex::new(work));
    let started = (0..number).map_while(|_| start_thread(Arc::clone(&work)).ok()).count();
    let threads = rayon::ThreadPoolBuilder::new();
    // An error means that the pool exists already, which is fine.
    let _ = match started {
        0 => threads.num_threads(1).use_current_thread().build_global(),
        some => {
            let give = |thread| give.send(thread).map_err(|_| io::ErrorKind::BrokenPipe.into());
            threads.num_threads(some).spawn_handler(give).build_global()
        }
    };
}

/// Starts a thread that becomes part of the pool, or ends if there is no pool.
fn start_thread(work: Arc<Mutex<mpsc::Receiver<rayon::ThreadBuilder>>>) -> io::Result<()> {
    let run = move || {
        let thread = work.lock().ok().and_then(|work| work.recv().ok());
        drop(work);
        thread.into_iter().for_each(rayon::ThreadBuilder::run);
    };
    thread::Builder::new().spawn(run).map(drop)
}
