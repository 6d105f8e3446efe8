//! `gatherspec ask`: one typed call, drawn, with what the documents say of it and what backends answer.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use gather_spec::load::Wanted;
use gather_spec::{Basis, Clause, Run, Signatures, Specification, Variant};

use crate::ask::{self, DocumentedAnswer, TypedCall};
use crate::picture;
use gather_conformance::builtin;
use gather_conformance::internals::entry::Entry;
use gather_conformance::internals::judge::{Strictness, Verdict, describe_allowed, describe_outcome};
use gather_conformance::internals::judged::Judged;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process::{self, ProcessBackend, Trivial};
use gather_conformance::internals::runner::InProcess;
use gather_conformance::internals::style;
use gather_conformance::internals::words::call_line;

use super::backend::{BackendArgument, BuiltIn};
use super::ending::{Failure, Status};
use super::folders::Folders;
use super::output::{complain, print};
use super::process::ProcessOptions;
use super::show::write_svg;

#[derive(clap::Args)]
pub(super) struct AskArgs {
    /// Call, such as 'tf.gather([10, 20, 30], [2, 0])'
    ///
    /// It is the name of an operator, or an abbreviation that only one operator has, and its operands and attributes: in the
    /// order that `gatherspec show OPERATOR` lists, or by name. A tensor is a nested list of numbers, true, false, nan, inf
    /// or strings in quotes, with a dtype behind it if wanted: [[1, 2], [3, 4]]:f16. Without one, whole numbers are i64
    /// and others f32, where the operator has these dtypes.
    #[arg(value_name = "CALL")]
    text: String,
    /// Backend to make the call, named as for `run`
    #[arg(long = "backend", value_name = "NAME[:POLICIES]|PATH", value_parser = BackendArgument::parse)]
    backends: Vec<BackendArgument>,
    /// Shared library to make the call, which implements gatherspec.h
    #[arg(long = "library", value_name = "FILE", value_parser = BackendArgument::library)]
    libraries: Vec<BackendArgument>,
    /// Write the picture to this file, as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Make the call in this variant, such as indices=constant; params and indices stand for the operands of these roles
    #[arg(long, value_name = "VARIANT", help_heading = "Backends that are programs")]
    variant: Option<Variant>,
    #[command(flatten)]
    process: ProcessOptions,
    /// Program that answers the backend protocol (conformance/PROTOCOL.md), with its arguments
    #[arg(last = true, value_name = "CMD", help_heading = "Arguments")]
    command: Vec<OsString>,
}

/// What a backend made of the call: its name and result, or why it did not start.
type Replied = Result<(String, Entry), String>;

impl AskArgs {
    /// The cases of the operator.
    pub(super) fn wanted<'a>(&self, all: &'a Signatures) -> Wanted<'a> {
        Wanted::Of(ask::operator(&self.text, all).into_iter().collect())
    }

    pub(super) fn execute(&self, spec: &Specification, folders: &Folders) -> Result<Status, Failure> {
        let asked = ask::read(&self.text, &spec.signatures()).map_err(|wrong| Failure::Files(vec![wrong]))?;
        let answer = ask::answer(spec, &asked);
        if let Some(path) = &self.svg {
            write_svg(spec, &asked.call, &asked.names, answer.profile(), path)?;
        }
        print(&described(spec, &asked, &answer))?;
        let run = answer.as_run(spec, &asked);
        let mut status = Status::Conforms;
        // Each backend is started when its turn comes.
        for backend in BackendArgument::all(self.backends.iter().chain(&self.libraries), &self.command) {
            let replied = self.replied(&backend, spec, folders, &run);
            print(&format!("  {}\n", reply(&backend.argument(), &run, &replied)))?;
            status = match replied {
                Err(_) => Status::Broken,
                Ok((_, result)) if result.verdict.is_failure() && status == Status::Conforms => {
                    Status::DoesNotConform
                }
                Ok(_) => status,
            };
        }
        process::end_children();
        Ok(status)
    }

    /// Asks a backend.
    fn replied(
        &self,
        backend: &BackendArgument,
        spec: &Specification,
        folders: &Folders,
        run: &Run,
    ) -> Replied {
        if let BackendArgument::BuiltIn(backend) = backend {
            return Ok(built_in(backend, spec, run));
        }
        let program = backend.program(&self.process, folders, &|text| complain(text))?;
        let variant = self.variant.clone();
        let program = ProcessBackend { variants: VariantsAsked::None, variant, ..program };
        let findings = program
            .run_each(Trivial::Cases(&spec.cases), std::slice::from_ref(run), &|_| {})
            .map_err(|broken| broken.to_string())?;
        let backend = &findings.description.backend;
        let name = format!("{} {}", backend.name, backend.version);
        let not_sent = || {
            let result = Judged::new(&findings.description, run, Strictness::Lenient).err()?;
            Some(Entry::new(run, *result))
        };
        match findings.results.into_iter().next().or_else(not_sent) {
            Some(result) => Ok((name, result)),
            None => Err("it was interrupted".to_owned()),
        }
    }
}

fn built_in(backend: &BuiltIn, spec: &Specification, run: &Run) -> (String, Entry) {
    let signatures = spec.signatures();
    let make = || backend.make(&signatures, builtin::MAX_OUTPUT);
    let mut runner = InProcess::new(make, Strictness::Strict);
    let name = format!("{} {}", backend.text, runner.description().backend.version);
    (name, Entry::new(run, runner.run(run)))
}

/// The call, its picture, and what the documents say.
fn described(spec: &Specification, asked: &TypedCall, answer: &DocumentedAnswer<'_>) -> String {
    let mut text = format!("{}\n\n", call_line(&asked.call));
    let width = picture::width_of_stdout();
    let (call, names) = (&asked.call, &asked.names);
    let make = picture::answerer(spec.signatures(), call.operator.as_str());
    text.push_str(&picture::terminal(call, names, answer.profile(), &make, width));
    text.push('\n');
    let by_mode = spec.operator(asked.call.operator.as_str()).is_some_and(|page| !page.modes().is_empty());
    let is_documented = answer.run.is_some() || builtin::has_reference(call.operator.as_str());
    for one in &answer.permitted {
        let with = if by_mode { String::new() } else { format!(", with {}", one.profile) };
        let said = match one.allowed.as_slice() {
            [] => describe_outcome(&one.outcome),
            allowed => describe_allowed(allowed),
        };
        let basis = if is_documented { one.basis().name() } else { "by its signature, without a reference" };
        let _ = writeln!(text, "  answer      {said} ({basis}{with})");
    }
    match (&answer.run, answer.permitted.iter().find_map(|one| one.alike.as_ref())) {
        (Some(run), _) => {
            let _ = writeln!(text, "  case        {}", run.id);
        }
        (None, Some(alike)) => {
            let _ = writeln!(text, "  case        none has this very call; most like it is {}", alike.id);
        }
        (None, None) => text.push_str("  case        none is like this call\n"),
    }
    for clause in answer.clauses() {
        clause_lines(&mut text, spec, clause);
    }
    text.push('\n');
    text
}

/// A clause with its basis, its first source and its rulings.
fn clause_lines(text: &mut String, spec: &Specification, clause: &Clause) {
    let source = clause.sources.first().map(|source| format!(": {}, {}", source.document, source.section));
    let source = source.unwrap_or_default();
    let said = clause.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "  clause      {}: {said} ({}{source})", clause.id, clause.basis);
    let rulings = clause.errata.iter().filter(|_| clause.basis == Basis::Ruling);
    for erratum in rulings.filter_map(|id| spec.erratum(id)) {
        let decision = erratum.decision.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  ruling      {}: {decision}", erratum.id);
    }
}

/// One line for a backend: its name, the verdict and what it gave.
fn reply(argument: &str, run: &Run, replied: &Replied) -> String {
    let painted = |style: anstyle::Style, text: &str| format!("{style}{text}{style:#}");
    match replied {
        Err(why) => format!("{argument}  {}: {why}", painted(style::BAD, "not started")),
        Ok((name, Entry { verdict: Verdict::Pass, profile, .. })) => {
            let gave = describe_allowed(&run.expect.under(profile.unwrap_or_default()));
            format!("{name}  {}  {gave}", painted(style::GOOD, "pass"))
        }
        Ok((name, result)) => {
            let style = if result.verdict.is_failure() { style::BAD } else { style::UNSURE };
            let expected = result.expected.as_deref().filter(|expected| !expected.is_empty());
            let expected = expected.map(|expected| format!("\n    expected  {expected}")).unwrap_or_default();
            format!(
                "{name}  {}{expected}\n    actual    {}",
                painted(style, result.verdict.name()),
                result.actual.as_deref().unwrap_or_default()
            )
        }
    }
}
