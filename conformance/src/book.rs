//! Renders `spec/SPECIFICATION.md`, the clauses and rulings as one text with a picture of each form, and `spec/families/LEFT-OUT.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gather_spec::clause::{Evidence, OutOfScope};
use gather_spec::load::Maker;
use gather_spec::signature::{AttributeSignature, ModePolicy};
use gather_spec::{Basis, Case, Clause, ErrorCode, Run, Signature, Specification};

use crate::picture;
use gather_conformance::builtin::Policies;
use gather_conformance::internals::words::counted;

/// The content of `spec/SPECIFICATION.md`.
#[must_use]
pub fn markdown(spec: &Specification) -> String {
    let mut text = String::from(OPENING);
    let codes = ErrorCode::ALL.map(|code| format!("`{code}`")).join(", ");
    let _ = writeln!(text, "{codes}.");
    forms(&mut text, spec);
    for page in &spec.operators {
        operator(&mut text, spec, page);
    }
    text.push_str(
        "\n## Rulings\n\nEach ruling decides a point on which the documents are silent or disagree, and gives the evidence.\n",
    );
    for erratum in &spec.errata {
        let _ = write!(text, "\n### {}: {}\n\n", erratum.id, sentence(&erratum.title));
        let _ = writeln!(text, "*Documents:* {}\n", flat(&erratum.says));
        let _ = writeln!(text, "*Decision:* {}\n", flat(&erratum.decision));
        text.push_str("*Evidence:*\n");
        for evidence in &erratum.evidence {
            let _ = writeln!(text, "- {}", evidence_line(evidence));
        }
    }
    text.push_str("\n## Out of scope\n\n");
    for left_out in &spec.out_of_scope {
        let OutOfScope { what, examples, why } = left_out;
        let _ = writeln!(
            text,
            "- {} ({}): {}",
            sentence(what).trim_end_matches('.'),
            examples.join(", "),
            full_stop(why)
        );
    }
    text.push_str("\n## Documents\n\n");
    for document in &spec.documents {
        let date = document.date.as_ref().map(|date| format!(", {date}")).unwrap_or_default();
        let _ = writeln!(
            text,
            "- **{}**: [{}]({}){date}. {} Licence: {}. SHA-256 of the text read: `{}`.",
            document.id,
            document.title,
            document.address,
            full_stop(&flat(&document.attribution)),
            flat(&document.licence).trim_end_matches('.'),
            document.sha256
        );
    }
    text
}

/// The family case that shows each form, and what the form is, in the words of its formula.
const DRAWN: [(&str, &str); 4] = [
    (
        "take/batch/axis-after-the-batch",
        "each index is a coordinate of params along one axis, and selects the slice there. Here params and indices share \
         their first dim, the batch: `output[n, i, j] = params[n, i, indices[n, j]]`.",
    ),
    (
        "nd/batch/rows-per-batch",
        "each row of indices, along its last dim, is a position in params, and selects the slice there. Here params and \
         indices share their first dim, the batch: `output[n, i, :] = params[n, indices[n, i, 0], :]`.",
    ),
    (
        "elements/axis/minus-two-of-three",
        "each index selects one element, that at its own position with the index in place of the coordinate along one \
         axis. Here that is the middle one: `output[i, j, k] = params[i, indices[i, j, k], k]`.",
    ),
    (
        "window/batching/windows-in-a-batch",
        "each row of indices is where a slice starts, and every slice has the same size. Here it has two columns, and the \
         first dim of both is a batching dim: `output[n, i, o] = params[n, indices[n, i, 0] + o]`.",
    ),
];

/// The pictures of the forms: the file of each and its content, an SVG.
#[must_use]
pub fn pictures(spec: &Specification) -> Vec<(String, String)> {
    let drawn = |(id, _): &(&str, &str)| {
        let case = drawn_case(spec, id)?;
        let profile = Policies::default().of(spec.operator(case.call.operator.as_str())?);
        Some((
            picture_file(id),
            picture::svg(&case.call, &case.case.names, profile, &picture::reference).ok()?,
        ))
    };
    DRAWN.iter().filter_map(drawn).collect()
}

/// The first run of a family case, of the first operator that has it.
fn drawn_case(spec: &Specification, id: &str) -> Option<Run> {
    let case = spec.cases.iter().find(|case| case.family.as_deref() == Some(id))?;
    Maker::default().first(case)
}

/// The file of a form's picture, beside `SPECIFICATION.md`.
fn picture_file(family_case: &str) -> String {
    format!("pictures/{}.svg", family_case.split('/').next().unwrap_or_default())
}

/// What each form does, with its picture.
fn forms(text: &mut String, spec: &Specification) {
    text.push_str(
        "\n## The forms\n\nThere are four kinds of gather. In the pictures, each row of indices has a colour and a letter, which \
         are also on\nwhat it selects and on where that goes. `gatherspec show CASE` draws any case like this.\n",
    );
    for (id, what) in DRAWN {
        let Some(case) = drawn_case(spec, id) else { continue };
        let form = id.split('/').next().unwrap_or_default();
        let _ = write!(text, "\n**{form}**: {what}\n\n");
        let _ = writeln!(text, "![The case {} of the form {form}, drawn]({})", case.id, picture_file(id));
    }
}

const OPENING: &str = "\
<!-- Generated from the YAML files beside it, and checked by a test: see CONTRIBUTING.md. -->

# What gather does

Each item below is a clause: one statement of one page, in our own words, with an id that never changes. Its **basis**
is *documented* (a page says so), *derived* (it follows from a formula of a page) or *ruling* (the pages are silent or
disagree; the [rulings](#rulings) at the end decide). After the bar are the error codes that a breach of the clause
gives. [README.md](README.md) explains the folder, and `gatherspec show CLAUSE` lists the cases of a clause.

Notation: params has rank r, indices has rank q, k is `indices.shape[-1]`, b is `batch_dims`. If several errors apply,
the first in this order is reported: ";

/// The content of `spec/families/LEFT-OUT.md`: for each operator, the cases of its form that it does not have, and why.
#[must_use]
pub fn left_out(spec: &Specification) -> String {
    let mut text = String::from(LEFT_OUT);
    for family in spec.families() {
        let all: BTreeSet<&str> =
            spec.cases.iter().filter_map(|case| of_family(case, &family.name)).collect();
        let _ = writeln!(text, "\n## {}\n\n{} in the family.", family.name, counted(all.len(), "case"));
        for page in spec.operators.iter().filter(|page| page.form.to_string() == family.name) {
            left_out_of(&mut text, spec, page);
        }
    }
    text
}

/// The id of a case within a family, if it belongs to that family.
fn of_family<'c>(case: &'c Case, family: &str) -> Option<&'c str> {
    case.family.as_deref().filter(|id| id.strip_prefix(family).is_some_and(|rest| rest.starts_with('/')))
}

fn left_out_of(text: &mut String, spec: &Specification, page: &Signature) {
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in spec.left_out.iter().filter(|one| one.operator == page.operator) {
        let topic = one.case.split_once('/').map_or(one.case.as_str(), |(_, rest)| rest);
        by_reason.entry(&one.why).or_default().push(topic);
    }
    let count = by_reason.values().map(Vec::len).sum::<usize>();
    let _ = writeln!(text, "\n### {}: {}\n", page.operator, counted(count, "case"));
    for (why, cases) in by_reason {
        let cases: Vec<String> = cases.iter().map(|case| format!("`{case}`")).collect();
        let _ = writeln!(text, "- {why}: {}", cases.join(", "));
    }
}

/// The beginning of `LEFT-OUT.md`.
const LEFT_OUT: &str = "<!-- Generated from the YAML files beside it, and checked by a test: see CONTRIBUTING.md. -->

# Family cases that an operator does not have

An operator has each case of its form's family whose clauses it maps, whose attributes it has and whose dtypes its page
lists. This page lists the other cases, by operator, with the reason. Read its changes: a case that appears here by
mistake no longer runs on any backend.
";

fn operator(text: &mut String, spec: &Specification, page: &Signature) {
    let _ = write!(text, "\n## {}\n\n{}\n\n", page.operator, sentence(&page.summary));
    let listed =
        |dtypes: &[gather_spec::DType]| dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(" ");
    let names = |names: Vec<String>| names.join(" or ");
    let _ = writeln!(text, "| | |\n| --- | --- |");
    let _ = writeln!(text, "| pages | {} |", page.documents.join(", "));
    for operand in &page.operands {
        let _ = writeln!(text, "| `{}` | {} |", operand.name, listed(&operand.dtypes));
    }
    for AttributeSignature { name, r#type, default, .. } in &page.attributes {
        let _ = writeln!(text, "| `{name}` | {type}, default: {default} |");
    }
    if let Some(permitted) = page.permitted() {
        let bad = permitted.bad.iter().map(ToString::to_string).collect();
        let negative = permitted.negative.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "| a bad index | {} |", names(bad));
        let _ = writeln!(text, "| a negative index | {} |", names(negative));
    }
    for ModePolicy { mode, profile, .. } in page.modes() {
        let _ = writeln!(text, "| in the mode {mode} | {profile} |");
    }

    let prefix = format!("{}.", page.operator);
    let own: Vec<&Clause> = spec.clauses.iter().filter(|clause| area(clause, &prefix).is_some()).collect();
    let mut areas: Vec<&str> = Vec::new();
    let mut by_area: BTreeMap<&str, Vec<(&Clause, usize)>> = BTreeMap::new();
    for (clause, coverage) in own.iter().copied().zip(spec.coverage_of(&own)) {
        let area = area(clause, &prefix).unwrap_or_default();
        if !areas.contains(&area) {
            areas.push(area);
        }
        let cases: BTreeSet<&str> =
            coverage.accepting.iter().chain(coverage.rejecting.values().flatten()).copied().collect();
        by_area.entry(area).or_default().push((clause, cases.len()));
    }
    for area in areas {
        let _ = write!(text, "\n### {}, {area}\n\n", page.operator);
        for (clause, cases) in &by_area[area] {
            clause_line(text, clause, *cases);
        }
    }
}

/// The area part of a clause's id, if the clause belongs to the operator.
fn area<'a>(clause: &'a Clause, prefix: &str) -> Option<&'a str> {
    let (area, name) = clause.id.strip_prefix(prefix)?.split_once('.')?;
    (!name.contains('.')).then_some(area)
}

fn clause_line(text: &mut String, clause: &Clause, cases: usize) {
    let _ = write!(text, "- **{}** {} *{}", clause.id, full_stop(&flat(&clause.text)), clause.basis);
    let sources: Vec<String> =
        clause.sources.iter().map(|source| format!("{}, {}", source.document, source.section)).collect();
    let _ = write!(text, ": {}", sources.join("; "));
    let _ = match clause.basis {
        Basis::Ruling => write!(text, "; see {}*", clause.errata.join(", ")),
        _ if !clause.errata.is_empty() => write!(text, "; compare {}*", clause.errata.join(", ")),
        _ => write!(text, "*"),
    };
    if !clause.rejects.is_empty() {
        let codes: Vec<String> = clause.rejects.iter().map(|code| format!("`{code}`")).collect();
        let _ = write!(text, " | {}", codes.join(" "));
    }
    let _ = writeln!(text, " ({})", counted(cases, "case"));
}

fn evidence_line(evidence: &Evidence) -> String {
    let mut line = match (&evidence.link, &evidence.tool, &evidence.version, &evidence.call) {
        (Some(link), ..) => format!("<{link}>"),
        (None, tool, version, call) => format!(
            "{} {}: `{}`",
            tool.as_deref().unwrap_or_default(),
            version.as_deref().unwrap_or_default(),
            call.as_deref().unwrap_or_default()
        ),
    };
    if let Some(observed) = &evidence.observed {
        let _ = write!(line, " gives {}", flat(observed));
    }
    if let Some(note) = &evidence.note {
        let _ = write!(line, ": {}", flat(note));
    }
    line
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn full_stop(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// The text on one line, ending with a full stop.
fn sentence(text: &str) -> String {
    full_stop(&flat(text))
}
