//! A signature filters the very cases that would expose it, so a wrong one must not hide itself: for every
//! change of a field in `optimized`'s copy, some written case of that operator fails.
//!
//! Not changed is what `optimized` does not read: the operator's id, summary and documents, `policy`, which the settings
//! choose and the judge reads, `tolerates`, which the judge reads, `most_elements`, which chooses cases, and default and
//! range of an attribute without effect. Nor are changes tried that no loader lets through.
//!
//! The table of changes and the cases that fail is written to the folder `tmp` of the target folder.

mod parts;

use std::fmt::Write as _;
use std::sync::LazyLock;

use gather_conformance::internals::judge::{Strictness, Verdict, judge};
use gather_optimized::{Settings, answer};
use gather_spec::signature::{
    CollapsedSize, EmptyDims, EmptyIndex, Fill, FillWord, Flatten, Join, ModePolicy, OperandRole,
    OutputBatch, Policy, SliceBound,
};
use gather_spec::{BadIndex, EmptyAxis, Form, NegativeIndex, Profile, Run, Signature, Specification};
use rayon::prelude::*;

use parts::{attributes, operands, word};

static SPEC: LazyLock<&Specification> = LazyLock::new(crate::embedded);

/// A signature with one field changed.
struct Perturbed {
    field: String,
    change: String,
    signature: Signature,
}

/// A perturbed signature, and the ids of the cases that fail with it.
struct CaughtSignature<'a> {
    perturbed: Perturbed,
    cases: Vec<&'a str>,
}

#[test]
fn every_field_of_every_signature_is_read_and_pinned_by_a_case() {
    let all: Vec<CaughtSignature<'_>> =
        SPEC.operators.par_iter().flat_map(perturbations).map(CaughtSignature::of).collect();
    let table = concat!(env!("CARGO_TARGET_TMPDIR"), "/perturbed-signatures.md");
    std::fs::write(table, markdown(&all)).unwrap();
    let missed: Vec<String> = all
        .iter()
        .filter(|caught| caught.cases.is_empty())
        .map(|caught| caught.perturbed.to_string())
        .collect();
    assert!(
        missed.is_empty(),
        "{} of {} changes are caught by no case:\n{}",
        missed.len(),
        all.len(),
        missed.join("\n")
    );
}

#[test]
fn every_case_passes_with_the_signature_as_it_is() {
    for signature in &SPEC.operators {
        assert_eq!(failing(signature), Vec::<&str>::new(), "{}", signature.operator);
    }
}

impl CaughtSignature<'_> {
    fn of(perturbed: Perturbed) -> Self {
        Self { cases: failing(&perturbed.signature), perturbed }
    }
}

impl std::fmt::Display for Perturbed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.signature.operator, self.field, self.change)
    }
}

/// The ids of the operator's cases that `optimized` fails by this signature.
fn failing(signature: &Signature) -> Vec<&'static str> {
    let cases = crate::embedded_runs()
        .iter()
        .filter(|case| !case.case.axes.has_sizes() && case.call.operator == signature.operator);
    cases.filter(|case| !passes(signature, case)).map(|case| case.id.as_str()).collect()
}

/// Whether the answer by a signature is the letter of the pages, also where they tolerate more.
fn passes(signature: &Signature, case: &Run) -> bool {
    // Far more than a case's output takes, and little enough to run many at a time.
    let settings = Settings { max_output: 256 << 20, ..Settings::default() };
    let outcome = answer(signature, &case.call, &settings);
    let allowed = case.expect.under(Profile::default());
    let letter = allowed.get(..1).unwrap_or_default();
    judge(letter, case.params(), &outcome, true, Strictness::Strict).verdict == Verdict::Pass
}

/// Every signature that differs from this one in one field that `optimized` reads.
fn perturbations(signature: &Signature) -> Vec<Perturbed> {
    let mut all = Vec::new();
    let mut add = |field: String, change: String, signature: Signature| {
        all.push(Perturbed { field, change, signature });
    };
    for (at, operand) in signature.operands.iter().enumerate() {
        for (field, change, operand) in operands(signature, operand) {
            let mut signature = signature.clone();
            let field = format!("{}.{field}", signature.operands[at].name);
            signature.operands[at] = operand;
            add(field, change, signature);
        }
    }
    for (at, attribute) in signature.attributes.iter().enumerate() {
        for (field, change, attribute) in attributes(signature.form, attribute) {
            let mut signature = signature.clone();
            let field = format!("{}.{field}", signature.attributes[at].name);
            signature.attributes[at] = attribute;
            add(field, change, signature);
        }
        let mut without = signature.clone();
        let attribute = without.attributes.remove(at);
        add("attributes".to_owned(), format!("without {}", attribute.name), without);
    }
    let mut swapped = signature.clone();
    for operand in &mut swapped.operands {
        operand.role = match operand.role {
            OperandRole::Params => OperandRole::Indices,
            OperandRole::Indices => OperandRole::Params,
            other @ (OperandRole::Axis | OperandRole::SliceSizes) => other,
        };
    }
    add("operands".to_owned(), "roles swapped".to_owned(), swapped);
    if signature.flatten.is_some() {
        add("flatten".to_owned(), "never".to_owned(), Signature { flatten: None, ..signature.clone() });
    }
    for other in [Flatten::WhenAxisNull, Flatten::BothWhenAxisNull] {
        let has_both = signature.form == Form::Elements && !signature.is_always_flat();
        if has_both && signature.flatten.is_some_and(|its| its != other) {
            let changed = Signature { flatten: Some(other), ..signature.clone() };
            add("flatten".to_owned(), word(other), changed);
        }
    }
    for (field, change, fill) in fills(signature.fill) {
        add(field, change, Signature { fill: Some(fill), ..signature.clone() });
    }
    for (field, change, modes) in modes(signature) {
        add(field, change, Signature { policy: Policy::ByMode(modes), ..signature.clone() });
    }
    let empty_dims = match signature.empty_dims {
        EmptyDims::Allowed => EmptyDims::Rejected,
        EmptyDims::Rejected => EmptyDims::Allowed,
    };
    if signature.form != Form::Window {
        add("empty-dims".to_owned(), word(empty_dims), Signature { empty_dims, ..signature.clone() });
    }
    // Where every dim is at least 1, index rows have a component and indices an element, whatever else the page says.
    let some_index = signature.empty_dims == EmptyDims::Rejected;
    match signature.form {
        Form::Nd => {
            let least = signature.least_depth;
            let fewer = least.checked_sub(1).filter(|_| !some_index);
            for least_depth in [fewer, Some(least + 1)].into_iter().flatten() {
                let other = Signature { least_depth, ..signature.clone() };
                add("depth.least".to_owned(), format!("{least_depth}"), other);
            }
            if signature.has_batch() {
                let output_batch = match signature.output_batch {
                    OutputBatch::Kept => OutputBatch::Flattened,
                    OutputBatch::Flattened => OutputBatch::Kept,
                };
                let other = Signature { output_batch, ..signature.clone() };
                add("output-batch".to_owned(), word(output_batch), other);
            }
        }
        Form::Elements => {
            for join in [Join::Equal, Join::NotLarger, Join::Broadcast] {
                if signature.join != Some(join) {
                    let joined = Signature { join: Some(join), ..signature.clone() };
                    add("join".to_owned(), word(join), joined);
                }
            }
            let empty_index = match signature.empty_index {
                EmptyIndex::Checked => EmptyIndex::Unchecked,
                EmptyIndex::Unchecked => EmptyIndex::Checked,
            };
            if !some_index {
                let other = Signature { empty_index, ..signature.clone() };
                add("empty-index".to_owned(), word(empty_index), other);
            }
        }
        Form::Window => {
            let collapsed_size = match signature.collapsed_size {
                Some(CollapsedSize::AtMost1) => CollapsedSize::Exactly1,
                Some(CollapsedSize::Exactly1) | None => CollapsedSize::AtMost1,
            };
            let other = Signature { collapsed_size: Some(collapsed_size), ..signature.clone() };
            add("collapsed-size".to_owned(), word(collapsed_size), other);
            let slice_bound = match signature.slice_bound {
                SliceBound::Always => SliceBound::WithRows,
                SliceBound::WithRows => SliceBound::Always,
            };
            let other = Signature { slice_bound, ..signature.clone() };
            add("slice-bound".to_owned(), word(slice_bound), other);
        }
        // No index rows, and no depth.
        Form::Take => {}
    }
    all
}

/// Other modes: one less, another default, and each with one of its words changed.
fn modes(signature: &Signature) -> Vec<(String, String, Vec<ModePolicy>)> {
    let (all, mut changes) = (signature.modes(), Vec::new());
    for (at, mode) in all.iter().enumerate() {
        let name = &mode.mode;
        let mut without = all.to_vec();
        without.remove(at);
        changes.push(("modes".to_owned(), format!("without {name}"), without));
        let mut first = all.to_vec();
        first[..=at].rotate_right(1);
        // Where the default promises nothing, calls without a mode hold good indices.
        if at > 0 && all[0].profile.bad != BadIndex::Unspecified {
            changes.push(("modes".to_owned(), format!("{name} by default"), first));
        }
        let mut change = |field: &str, word: String, mode: ModePolicy| {
            let mut modes = all.to_vec();
            modes[at] = mode;
            changes.push((format!("modes.{name}.{field}"), word, modes));
        };
        let ModePolicy { profile, empty_axis, .. } = *mode;
        change("name", format!("{name}_"), ModePolicy { mode: format!("{name}_"), ..mode.clone() });
        if profile.bad == BadIndex::Unspecified {
            // Whatever the policy says instead, nothing is promised.
            continue;
        }
        let fill = signature.fill.map(|_| BadIndex::Fill);
        let others = [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo];
        for bad in others.into_iter().chain(fill) {
            if bad != profile.bad {
                let other = ModePolicy { profile: Profile { bad, ..profile }, ..mode.clone() };
                change("bad", bad.to_string(), other);
            }
        }
        for negative in NegativeIndex::ALL {
            // The remainder gives negative indices a meaning.
            if negative != profile.negative && profile.bad != BadIndex::Modulo {
                let other = ModePolicy { profile: Profile { negative, ..profile }, ..mode.clone() };
                change("negative", negative.to_string(), other);
            }
        }
        for empty in EmptyAxis::ALL {
            // Where bad is an error, an empty axis needs no word of its own; the remainder by 0 is none. On every dim some
            // start of a window fits.
            let has_word = ![BadIndex::Error, BadIndex::Modulo].contains(&profile.bad);
            // Where both outcomes are tolerated, no case tells one from the other.
            let has_word = has_word && ![empty, empty_axis].contains(&EmptyAxis::Either);
            if empty != empty_axis && has_word && signature.form != Form::Window {
                change("empty-axis", word(empty), ModePolicy { empty_axis: empty, ..mode.clone() });
            }
        }
    }
    changes
}

/// Another fill for each kind of dtype.
fn fills(fill: Option<Fill>) -> Vec<(String, String, Fill)> {
    let Some(fill) = fill else { return Vec::new() };
    let other = |word| if word == FillWord::Zero { FillWord::Largest } else { FillWord::Zero };
    [
        ("inexact", Fill { inexact: other(fill.inexact), ..fill }),
        ("signed", Fill { signed: other(fill.signed), ..fill }),
        ("unsigned", Fill { unsigned: other(fill.unsigned), ..fill }),
        ("bool", Fill { bool: other(fill.bool), ..fill }),
    ]
    .into_iter()
    .map(|(kind, fill)| (format!("fill.{kind}"), "another".to_owned(), fill))
    .collect()
}

fn markdown(all: &[CaughtSignature<'_>]) -> String {
    let mut text = "# Wrong signatures\n\n\
        Each row changes one field of the signature that `optimized` answers by, and counts the cases of that operator that\n\
        then fail.\n\n\
        | operator | field | changed to | cases that fail | one of them |\n| --- | --- | --- | --: | --- |\n"
        .to_owned();
    for CaughtSignature { perturbed, cases } in all {
        let Perturbed { field, change, signature } = perturbed;
        let operator = &signature.operator;
        let one = cases.first().and_then(|id| id.strip_prefix(&format!("{operator}/"))).unwrap_or_default();
        writeln!(text, "| {operator} | {field} | {change} | {} | {one} |", cases.len()).unwrap();
    }
    text
}
