//! Draws a case as a picture, a clause with its rulings and cases, and an operator with its clauses.

use std::fmt::Write as _;

use anstyle::Style;
use gather_spec::clause::Evidence;
use gather_spec::signature::{AttributeSignature, EmptyDims, EmptyIndex, Join, ModePolicy};
use gather_spec::{
    BadIndex, Basis, Call, Case, Clause, Coverage, EmptyAxis, Profile, Run, Signature, Specification,
};

use crate::picture::{self, BackendMaker};
use gather_conformance::builtin::Policies;
use gather_conformance::internals::judge::describe_allowed;
use gather_conformance::internals::style;
pub use gather_conformance::internals::words::call_line;

/// Draws a run in a terminal of this width: what its case tests, its picture, and the expected outcome.
#[must_use]
pub fn run(spec: &Specification, run: &Run, width: usize, make: BackendMaker<'_>) -> String {
    let case = &run.case;
    let mut text = format!("{}\n\n", painted(style::NAME, &run.id));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<11} {value}");
    };
    line("basis", &case.basis.to_string());
    if let Some(id) = &case.documented {
        let example = spec.examples.iter().find(|example| example.id == *id);
        let what = example.map(|example| format!(" ({}: {})", example.section, example.what));
        line("documented", &format!("{id}{}", what.unwrap_or_default()));
    }
    if let Some(family) = &case.family {
        line("family", family);
    }
    if let Some(why) = &case.why {
        line("why", why);
    }
    for evidence in &case.history {
        line("history", &evidence_line(evidence));
    }
    for id in run.clauses.iter() {
        let said = spec.clause(id).map(|clause| clause.text.as_str()).unwrap_or_default();
        line("clause", &format!("{id}: {}", said.trim()));
    }
    if let Some(open) = open_dtypes(run) {
        line("dtypes", &open);
    }
    let ids = case.run_ids();
    if ids.len() > 1 {
        line("runs", &places(&case.id, &ids));
    }
    text.push('\n');
    let profile = default_profile(spec, &run.call);
    text.push_str(&picture::terminal(&run.call, &case.names, profile, make, width));
    text.push('\n');
    for arm in &run.expect.arms {
        let policies = [
            arm.when.bad.map(|policy| format!("bad={policy}")),
            arm.when.negative.map(|policy| format!("negative={policy}")),
        ];
        let when: Vec<String> = policies.into_iter().flatten().collect();
        let when = if when.is_empty() { String::new() } else { format!("with {}: ", when.join(", ")) };
        let basis = Basis::of(spec.clauses_of(run, Some(arm)));
        let basis = if basis == case.basis { String::new() } else { format!(" ({basis})") };
        let _ = writeln!(text, "  expected    {when}{}{basis}", describe_allowed(&arm.allowed));
    }
    text
}

/// The most places of runs to list one by one.
const FEW: usize = 6;

/// Where the runs of a case are on its axes, in words: each place or, of many, the words of each axis.
fn places(case: &str, ids: &[String]) -> String {
    let places = ids.iter().map(|id| if id == case { "[]" } else { &id[case.len()..] });
    if ids.len() <= FEW {
        return format!("{}: {}", ids.len(), places.collect::<Vec<_>>().join(" "));
    }
    // Sizes have names; other words are distinguished by their position.
    let mut axes: Vec<((usize, &str), Vec<&str>)> = Vec::new();
    for (at, word) in places.flat_map(|place| place.trim_matches(['[', ']']).split(',').enumerate()) {
        let (axis, value) = word.split_once('=').map_or(((at, ""), word), |(name, value)| ((0, name), value));
        match axes.iter_mut().find(|(known, _)| *known == axis) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => axes.push((axis, vec![value])),
        }
    }
    let is_product = axes.iter().map(|(_, values)| values.len()).product::<usize>() == ids.len();
    let of = if is_product { "all" } else { "some combinations" };
    let axes = axes.iter().map(|((_, name), values)| {
        let equals = if name.is_empty() { "" } else { "=" };
        format!("{name}{equals}{}", values.join("|"))
    });
    format!("{}: {of} of [{}]", ids.len(), axes.collect::<Vec<_>>().join(", "))
}

/// The profile that a call is drawn under: the first that the pages of its operator permit.
#[must_use]
pub fn default_profile(spec: &Specification, call: &Call) -> Profile {
    let page = spec.operator(call.operator.as_str());
    page.map_or_else(Profile::default, |page| Policies::default().of(page))
}

/// Lists the operators that have a case of a family, and why others do not.
#[must_use]
pub fn family_case(spec: &Specification, id: &str) -> Option<String> {
    let is_it = |case: &&std::sync::Arc<Case>| case.family.as_deref() == Some(id);
    let first = spec.cases.iter().find(is_it)?;
    let mut text = format!("{}\n\n", painted(style::NAME, id));
    if let Some(why) = &first.why {
        let _ = writeln!(text, "  {:<11} {why}", "why");
    }
    for case in spec.cases.iter().filter(is_it) {
        let _ = writeln!(text, "  {:<11} {}", "case", case.id);
    }
    for left_out in spec.left_out.iter().filter(|one| one.case == id) {
        let _ = writeln!(text, "  {:<11} {}: {}", "left out", left_out.operator, left_out.why);
    }
    Some(text)
}

/// The operands of a run that may have any dtype, with the dtypes that are shown.
fn open_dtypes(run: &Run) -> Option<String> {
    let operands = [
        (!run.open.params.is_empty(), &run.case.names.params, run.params().dtype()),
        (!run.open.indices.is_empty(), &run.case.names.indices, run.indices().dtype()),
    ];
    let shown: Vec<String> = operands
        .iter()
        .filter(|(open, ..)| *open)
        .map(|(_, operand, dtype)| format!("any for {operand}, shown as {dtype}"))
        .collect();
    (!shown.is_empty()).then(|| shown.join("; "))
}

/// Shows a clause: its text, source and rulings, and the cases that test it.
#[must_use]
pub fn clause(spec: &Specification, clause: &Clause) -> String {
    let mut text = format!("{}\n\n  {}\n\n", painted(style::NAME, &clause.id), clause.text.trim());
    let _ = writeln!(text, "  basis       {}", clause.basis);
    for source in &clause.sources {
        let _ = writeln!(text, "  source      {}, section {}", source.document, source.section);
    }
    for id in &clause.errata {
        if let Some(erratum) = spec.erratum(id) {
            let _ = writeln!(text, "  erratum     {id}: {}", erratum.decision.trim());
        }
    }
    for Coverage { accepting, rejecting } in spec.coverage_of(&[clause]) {
        for id in accepting {
            let _ = writeln!(text, "  accepting   {id}");
        }
        for (code, id) in rejecting.iter().flat_map(|(code, ids)| ids.iter().map(move |id| (code, id))) {
            let _ = writeln!(text, "  rejecting   {id} ({code})");
        }
    }
    text
}

/// Shows an operator: what its pages say about it as a whole, and its clauses.
#[must_use]
pub fn operator(spec: &Specification, page: &Signature) -> String {
    let name = page.operator.as_str();
    let mut text = format!("{}\n\n  {}\n\n", painted(style::NAME, name), page.summary.trim());
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<16} {value}");
    };
    for id in &page.documents {
        let document = spec.documents.iter().find(|document| document.id == *id);
        line("document", &document.map_or(id.clone(), |of| format!("{id}: {} ({})", of.title, of.address)));
    }
    for operand in &page.operands {
        line(&operand.name, &listed(&operand.dtypes));
    }
    for AttributeSignature { name, r#type, default, .. } in &page.attributes {
        line(name, &format!("{type}, default: {default}"));
    }
    if page.empty_dims == EmptyDims::Rejected {
        line("dims", "at least 1");
    }
    if let Some(join) = page.join {
        let dims = match join {
            Join::Equal => "equal to those of params",
            Join::NotLarger => "not larger than those of params",
            Join::Broadcast => "equal to those of params, or one of the two is 1",
        };
        line("dims off axis", dims);
        if page.empty_index == EmptyIndex::Unchecked {
            line("without indices", "neither ranks nor dims are compared");
        }
    }
    if let Some(permitted) = page.permitted() {
        line("bad index", &listed(&permitted.bad));
        line("negative", &listed(&permitted.negative));
    }
    for ModePolicy { mode, profile, empty_axis } in page.modes() {
        let Profile { bad, negative } = profile;
        let empty = match (bad, empty_axis) {
            (BadIndex::Error, _) => String::new(),
            (_, EmptyAxis::Either) => ", of an empty axis: fill, or an error".to_owned(),
            (_, EmptyAxis::Error) => ", of an empty axis: error".to_owned(),
            (_, EmptyAxis::Zero) => ", of an empty axis: zero".to_owned(),
        };
        line(mode, &format!("bad index: {bad}, negative: {negative}{empty}"));
    }
    line("cases", &spec.cases.iter().filter(|case| *case.operator() == page.operator).count().to_string());
    let of_this = |id: &str| id.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    text.push_str("\nclauses\n");
    for clause in spec.clauses.iter().filter(|clause| of_this(&clause.id)) {
        let _ = writeln!(text, "  {}: {}", clause.id, clause.text.trim());
    }
    text
}

fn listed(values: &[impl ToString]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn evidence_line(evidence: &Evidence) -> String {
    let tool = [&evidence.tool, &evidence.version, &evidence.call];
    let tool: Vec<&str> = tool.into_iter().flatten().map(String::as_str).collect();
    let mut line = evidence.link.clone().unwrap_or_else(|| tool.join(" "));
    for more in [&evidence.observed, &evidence.note].into_iter().flatten() {
        let _ = write!(line, ": {more}");
    }
    line
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_few_runs_are_listed_and_many_are_told_by_axis() {
        let said = |places: &[String]| {
            let ids: Vec<String> = places.iter().map(|place| format!("o/t/c{place}")).collect();
            super::places("o/t/c", &ids)
        };
        assert_eq!(said(&[String::new(), "[clip]".to_owned()]), "2: [] [clip]");
        let sizes = (1..=4).flat_map(|n| [8, 16].map(|m| format!("[f32,n={n},m={m}]"))).collect::<Vec<_>>();
        assert_eq!(said(&sizes), "8: all of [f32, n=1|2|3|4, m=8|16]");
        assert_eq!(said(&sizes[1..]), "7: some combinations of [f32, n=1|2|3|4, m=16|8]");
    }
}
