//! The command line `gatherspec`: one file per command, and what they share.

mod asked;
mod campaign;
mod cases;
mod check;
mod findings;
mod fuzz;
mod keep;
mod known;
mod list;
mod merge;
mod mutants;
mod output;
mod partial;
mod process;
mod progress;
mod run;
mod serve;
mod show;
mod standalone;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use clap::{CommandFactory, Parser, Subcommand};
use gather_spec::{BadIndex, Diagnostic, Signatures, Specification};

use crate::backend::Backend;
use crate::builtin::Policies;
use crate::{builtin, interrupt, native};

use output::{complain, print};
pub(crate) use standalone::validate;

/// What gather does: run it, check it, trust it.
///
/// Without a command, the whole suite runs on the built-in backends.
#[derive(Parser)]
#[command(name = "gatherspec", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Read the specification from this folder instead of the one built in
    #[arg(long, global = true, value_name = "DIR")]
    spec: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Validate backends, several side by side
    Run(Box<run::Run>),
    /// List what there is
    List(list::List),
    /// Show one case as a picture, a clause with its rulings and cases, an operator with its clauses, or a question with
    /// the answer of every operator
    Show(show::Show),
    /// Answer the backend protocol on stdin and stdout
    Serve(serve::Serve),
    /// Answer the backend protocol on behalf of a library: what `run --library` starts
    #[command(name = native::COMMAND, hide = true)]
    ServeLibrary {
        /// The shared library
        library: PathBuf,
    },
    /// Ask random calls by the million: compare with the reference, or hold to laws
    Fuzz(Box<fuzz::Fuzz>),
    /// Join the reports of the shards of a campaign
    Merge(merge::Merge),
    /// Lint case files and clause files, or compare a document with the text that its clauses were read from
    Check(check::Check),
    /// How strong the suite is: which cases catch which deliberately wrong implementation
    Mutants(mutants::Mutants),
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// How a command ended, as an exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Everything conforms.
    Conforms = 0,
    /// Something does not.
    DoesNotConform = 1,
    /// Wrong usage or a bad input file.
    Usage = 2,
    /// A backend could not be started.
    Broken = 3,
}

/// What stopped a command before it could judge anything.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// Files with something wrong in them.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))]
    Files(Vec<Diagnostic>),
    /// A wrong argument.
    #[error("error: {0}")]
    Usage(String),
    /// A backend that cannot be started.
    #[error("error: {0}")]
    Broken(String),
    /// Output that cannot be written.
    #[error("error: {0}")]
    Io(#[from] io::Error),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
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
    /// Does what was asked for.
    fn execute(&self) -> ExitCode {
        if matches!(self.command, None | Some(Command::Run(_) | Command::Fuzz(_) | Command::Merge(_))) {
            interrupt::watch();
        }
        let folder = self.spec.as_deref();
        let result = match &self.command {
            None => self.load().and_then(|spec| run::Run::default().execute(spec, folder)),
            Some(Command::Run(run)) => self.load().and_then(|spec| run.execute(spec, folder)),
            Some(Command::List(list)) => self.load().and_then(|spec| list.execute(spec)),
            Some(Command::Show(show)) => self.load().and_then(|spec| show.execute(spec)),
            Some(Command::Serve(serve)) => {
                self.signatures().and_then(|signatures| serve.execute(&signatures))
            }
            Some(Command::ServeLibrary { library }) => {
                self.signatures().and_then(|signatures| serve_library(library, &signatures))
            }
            Some(Command::Fuzz(fuzz)) => self.load().and_then(|spec| fuzz.execute(spec, folder)),
            Some(Command::Merge(merge)) => merge.execute(),
            Some(Command::Check(check)) => self.load().and_then(|spec| check.execute(spec)),
            Some(Command::Mutants(mutants)) => self.load().and_then(|spec| mutants.execute(spec)),
            Some(Command::Completions { shell }) => {
                let mut script = Vec::new();
                clap_complete::generate(*shell, &mut Cli::command(), "gatherspec", &mut script);
                print(&String::from_utf8_lossy(&script)).map(|()| Status::Conforms)
            }
        };
        let status = match result {
            Ok(status) => ExitCode::from(status as u8),
            // Whoever is served has had enough.
            Err(Failure::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(failure) => {
                complain(&failure);
                let broken = matches!(failure, Failure::Broken(_));
                ExitCode::from(if broken { Status::Broken } else { Status::Usage } as u8)
            }
        };
        interrupt::end_if_requested();
        status
    }

    /// The specification. It lives until the process ends, so that nobody walks over all cases to free them one by one.
    fn load(&self) -> Result<&'static Specification, Failure> {
        start_threads();
        let large = match &self.command {
            Some(Command::Run(run)) => run.wants_large(),
            Some(Command::List(list)) => list.wants_large(),
            _ => false,
        };
        match (&self.spec, large) {
            (None, false) => Specification::embedded(),
            (None, true) => Specification::embedded_with_large(),
            (Some(folder), false) => Specification::from_dir(folder),
            (Some(folder), true) => Specification::from_dir_with_large(folder),
        }
        .map(|spec| &*Box::leak(Box::new(spec)))
        .map_err(Failure::Files)
    }

    /// The operators alone: those built in are there without reading any case.
    fn signatures(&self) -> Result<Signatures, Failure> {
        match &self.spec {
            None => Ok(builtin::signatures().clone()),
            Some(_) => Ok(self.load()?.signatures()),
        }
    }
}

/// Starts the threads that share the work, as many as the system gives. Without any, this thread does it all: left to
/// itself, rayon would panic.
fn start_threads() {
    let wished = std::env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok());
    let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let number = wished.filter(|number| *number > 0).unwrap_or_else(cores).min(process::MOST_JOBS);
    // They are started first and become the pool: how many there will be a moment later cannot be known.
    let (give, work) = mpsc::channel::<rayon::ThreadBuilder>();
    let work = Arc::new(Mutex::new(work));
    let started = (0..number).map_while(|_| start_thread(Arc::clone(&work)).ok()).count();
    let threads = rayon::ThreadPoolBuilder::new();
    // An error says that they have been started before, which is as good.
    let _ = match started {
        0 => threads.num_threads(1).use_current_thread().build_global(),
        some => {
            let give = |thread| give.send(thread).map_err(|_| io::ErrorKind::BrokenPipe.into());
            threads.num_threads(some).spawn_handler(give).build_global()
        }
    };
}

/// Starts a thread that becomes one of the pool, or ends if there is none.
fn start_thread(work: Arc<Mutex<mpsc::Receiver<rayon::ThreadBuilder>>>) -> io::Result<()> {
    let run = move || {
        let thread = work.lock().ok().and_then(|work| work.recv().ok());
        drop(work);
        thread.into_iter().for_each(rayon::ThreadBuilder::run);
    };
    thread::Builder::new().spawn(run).map(drop)
}

/// A built-in backend as the command line names it: `reference`, or `reference:bad=zero,negative=wrap`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BackendArgument {
    /// As given.
    text: String,
    name: String,
    policies: Policies,
}

impl BackendArgument {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, policies) =
            text.split_once(':').map_or((text, None), |(name, policies)| (name, Some(policies)));
        let mut given = Policies::default();
        for policy in policies.iter().flat_map(|policies| policies.split(',')) {
            match policy.split_once('=') {
                Some(("bad", value)) => given.bad = Some(value.parse::<BadIndex>()?.declared()?),
                Some(("negative", value)) => given.negative = Some(value.parse()?),
                _ => {
                    return Err(format!("`{policy}` is no policy: bad=… or negative=… is expected"));
                }
            }
        }
        if builtin::NAMES.contains(&name) {
            Ok(Self { text: text.to_owned(), name: name.to_owned(), policies: given })
        } else {
            Err(format!("unknown backend `{name}`: one of {} is expected", builtin::NAMES.join(" ")))
        }
    }

    fn make(&self, signatures: &Signatures, max_output: u64) -> Box<dyn Backend> {
        builtin::backend_of(signatures, &self.name, self.policies, max_output)
            .expect("the name was checked when it was parsed")
    }
}
