//! The text of a finding for an issue of the library, in Markdown: the call in the library's words, what is expected and why,
//! what came, versions, and how to repeat it. The first line is a comment, with the state of the finding in the library.

use std::fmt::Write as _;

use gather_spec::{Basis, Clause, DType, Run, Specification, Variant};

use super::script::language;
use super::{Finding, Notes, script};
use crate::results::{FailedRun, shortened};
use gather_conformance::internals::judge::Verdict;
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};
use gather_conformance::internals::words::call_line;

/// The text of a finding.
#[must_use]
pub fn text(spec: &Specification, finding: &Finding<'_>, notes: &Notes) -> String {
    let (shown, of) = (finding.shown(), finding.of);
    // The quotation and the lines are of this case alone.
    let upstream = notes.upstream.get(&finding.id());
    let run = run(spec, shown);
    let operator = shown.case.split('/').next().unwrap_or_default();
    let mut text = format!("<!-- {}, upstream: {} -->\n\n", finding.id(), notes.state(finding));
    let _ = writeln!(text, "# {operator}: {}\n\n{} {}.", finding.reason, operator, does(finding.observed));
    if let Some(link) = &shown.link {
        let _ = writeln!(text, "Related: {link}");
    }
    let before = upstream.and_then(|upstream| upstream.before.as_deref()).unwrap_or_default();
    let script = run.and_then(|run| script(&of.argument, &run.call, before));
    let _ = match &script {
        Some(script) => writeln!(text, "\n## Call\n\n```{}\n{script}```", language(&of.argument)),
        None => writeln!(text, "\n## Call\n\n{}", code(&shown.call)),
    };
    let _ = writeln!(text, "\n## Expected\n\n{}\n", code(&shown.expected));
    if let Some(quote) = upstream.and_then(|upstream| upstream.quote.as_ref()) {
        let _ = writeln!(text, "> {}\n", quote.trim());
    }
    let clauses: Vec<&Clause> = shown.clauses.iter().filter_map(|id| spec.clause(id)).collect();
    // A ruling of ours is no reason for others, unless the page gives none.
    let is_of_page = |clause: &&&Clause| clause.basis != Basis::Ruling;
    let any = clauses.iter().any(|clause| is_of_page(&clause));
    for clause in clauses.iter().filter(|clause| !any || is_of_page(clause)) {
        let _ = writeln!(text, "- {}", sentence(spec, clause));
    }
    let _ = writeln!(text, "\n## Actual\n\n{}", code(&shown.actual));
    // Of a short output it says nothing more.
    if let Some(difference) = shown.difference.as_ref().filter(|_| shown.actual.contains('…')) {
        let _ = writeln!(text, "\n{}", code(difference));
    }
    let _ =
        writeln!(text, "\n## Versions\n\n- {} {} on {}", of.backend.name, of.backend.version, of.platform);
    if let Some(since) = notes.since(finding) {
        let _ = writeln!(text, "- releases that were asked: {since}");
    }
    let line = Reproduction::anywhere(BackendNaming::Option, &of.argument, &[]).case(&shown.case);
    let first = if script.is_some() { "Run the script above. With" } else { "With" };
    let _ = writeln!(
        text,
        "\n## Repeat\n\n{first} GatherSpec, a conformance suite for gathers:\n\n```sh\n{line}\n```"
    );
    text
}

/// What an operator does wrong.
const fn does(observed: Verdict) -> &'static str {
    match observed {
        Verdict::WrongOutput => "gives a wrong output",
        Verdict::AcceptedBadInput => "gives an output where an error is expected",
        Verdict::RejectedGoodInput => "gives an error where an output is expected",
        Verdict::WrongError => "gives another error than is expected",
        Verdict::Crash => "ends the process",
        Verdict::Timeout => "does not end in time",
        _ => "does not do what is expected",
    }
}

/// An outcome or a call of results as code.
fn code(text: &str) -> String {
    let text = text.replace('`', "'");
    let is_output = DType::ALL.iter().any(|dtype| text.starts_with(&format!("{} [", dtype.name())));
    match text.strip_prefix("error ") {
        Some(error) => format!("An error: `{error}`"),
        None if is_output => format!("Dtype, shape and elements: `{text}`"),
        None => format!("`{text}`"),
    }
}

/// A clause, where the page has it, and how well the page supports it.
fn sentence(spec: &Specification, clause: &Clause) -> String {
    let source = clause.sources.first().and_then(|source| {
        let document = spec.documents.iter().find(|document| document.id == source.document)?;
        Some(format!("[{}]({}), section {}", document.title, document.address, source.section))
    });
    let source = source.unwrap_or_default();
    let basis = match clause.basis {
        Basis::Documented => format!("stated by {source}"),
        Basis::Derived => format!("follows from {source}"),
        Basis::Ruling => format!("the reading of GatherSpec: {source}, leaves it open or contradicts itself"),
    };
    format!("{} ({basis})", clause.text.trim())
}

/// The run that was kept, in the dtypes of its call; `None` if the case has changed since, or its operands are too large.
fn run(spec: &Specification, kept: &FailedRun) -> Option<Run> {
    let (id, variant) = Variant::split_id(&kept.case);
    let run = spec.run(&id)?;
    if run.sparse.is_some() {
        return None;
    }
    let open = |open: &[_], now| if open.is_empty() { vec![now] } else { open.to_vec() };
    let params = open(&run.open.params, run.params().dtype());
    let indices = open(&run.open.indices, run.indices().dtype());
    let pairs = params.iter().flat_map(|params| indices.iter().map(move |indices| (*params, *indices)));
    let made = |(params, indices)| {
        let mut run = run.in_dtypes(params, indices).ok()?.into_owned();
        run.call.variant = variant.clone();
        (shortened(&call_line(&run.call)) == kept.call).then_some(run)
    };
    pairs.into_iter().find_map(made)
}
