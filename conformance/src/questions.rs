//! Renders a question as a table: for each operator the expected answer, its basis, and what libraries did according to
//! the stored results. `spec/QUESTIONS.md` consists of these tables.

use std::fmt::Write as _;

use comfy_table::{ContentArrangement, Table, presets};
use gather_spec::case::Arm;
use gather_spec::question::{Answer, Question};
use gather_spec::signature::{ModePolicy, PermittedPolicies};
use gather_spec::{BadIndex, Basis, NegativeIndex, Profile, Run, Signature, Specification, Variant};

use crate::answers::{LONGEST, in_words, shortened};
use crate::results::Results;
use gather_conformance::internals::style;
use gather_conformance::internals::words::call_line;

/// The width of a table in a terminal.
const WIDTH: u16 = 120;

/// The headings of a table.
const HEADINGS: [&str; 5] = ["operator", "answer", "basis", "case", "libraries"];

/// The beginning of the page.
const OPENING: &str = "\
<!-- Generated from questions.yaml and conformance/results, and checked by a test: see CONTRIBUTING.md. -->

# Where gathers differ

One case answers each question for an operator. The call of the case is above the table; the answer is the output or the
error code that the case expects.

- **Policies and modes.** Where the documents permit several policies for a bad index, each has its answer. *anything* is
  any output of the right shape, or any error. Where the call chooses a mode, each mode has its answer.
- **Basis** is the weakest basis of the clauses that the answer rests on: those of the case and of the policy. *ruling*
  means that the documents leave the answer open or disagree. Answers with several bases have one each, in their order.
- **A dash** means that the operator has no such case, with the reason. Operators of a form that the question does not
  concern are left out.
- **Libraries** are the recorded answers of real libraries. Older results record an answer only where it differs from the
  expected one. Where an answer depends on the way in which the call is made, such as with an operand that is a constant, the
  other answers follow, each with its ways.

`gatherspec show QUESTION` prints one of these tables.

";

/// A row of a table: an operator, or some of its modes.
#[derive(Default)]
struct QuestionRow {
    operator: String,
    answer: String,
    basis: String,
    case: String,
    libraries: Vec<String>,
}

/// The content of `spec/QUESTIONS.md`.
#[must_use]
pub fn page(spec: &Specification, results: &[Results]) -> String {
    let mut text = OPENING.to_owned();
    for question in &spec.questions {
        let _ = writeln!(text, "- [{}](#{})", question.question, question.id);
    }
    for question in &spec.questions {
        section(&mut text, spec, question, results);
    }
    text
}

fn section(text: &mut String, spec: &Specification, question: &Question, results: &[Results]) {
    let _ = writeln!(text, "\n## {}\n\n{}\n", question.id, question.question);
    for (case, call) in calls(spec, question) {
        let _ = writeln!(text, "- {case}: `{}`", call.replace('`', "'"));
    }
    let rows = rows(spec, question, results);
    let used = columns(&rows);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let _ = write!(text, "\n{}", line(used.iter().map(|at| HEADINGS[*at].to_owned()).collect()));
    text.push_str(&line(used.iter().map(|_| "---".to_owned()).collect()));
    for row in &rows {
        let basis = row.basis.replace(Basis::Ruling.name(), "*ruling*");
        let case = if row.case.is_empty() { String::new() } else { format!("`{}`", row.case) };
        let cells = [&row.operator, &row.answer, &basis, &case, &row.libraries.join("<br>")];
        text.push_str(&line(used.iter().map(|at| cells[*at].replace('|', "\\|")).collect()));
    }
}

/// One question with its answers, for a terminal.
#[must_use]
pub fn question(spec: &Specification, question: &Question, results: &[Results]) -> String {
    let name = style::NAME;
    let mut text = format!("{name}{}{name:#}\n\n  {}\n\n", question.id, question.question);
    for (case, call) in calls(spec, question) {
        let _ = writeln!(text, "  {case}: {call}");
    }
    let rows = rows(spec, question, results);
    let used = columns(&rows);
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(used.iter().map(|at| HEADINGS[*at]));
    for row in rows {
        let cells = [row.operator, row.answer, row.basis, row.case, row.libraries.join("\n")];
        table.add_row(used.iter().map(|at| cells[*at].replace('`', "")));
    }
    let _ = writeln!(text, "\n{table}");
    text
}

/// The columns of a table. That of libraries is left out if no library answered.
fn columns(rows: &[QuestionRow]) -> Vec<usize> {
    let answered = rows.iter().any(|row| !row.libraries.is_empty());
    (0..HEADINGS.len() - usize::from(!answered)).collect()
}

/// The calls of a question: for each case as written, that of the first operator that has it.
fn calls(spec: &Specification, question: &Question) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for page in in_order(spec) {
        let Answer::Runs(runs) = question.answer(spec, page) else { continue };
        let Some(run) = runs.first() else { continue };
        let written = run.case.family.as_deref().unwrap_or(&run.case.id);
        if !calls.iter().any(|(known, _)| known == written) {
            calls.push((written.to_owned(), shortened(&call_line(&run.call), 2 * LONGEST)));
        }
    }
    calls
}

/// The operators, grouped by form.
fn in_order(spec: &Specification) -> Vec<&Signature> {
    let mut pages: Vec<&Signature> = spec.operators.iter().collect();
    pages.sort_by_key(|page| page.form);
    pages
}

/// The rows for all operators of the question's forms.
fn rows(spec: &Specification, question: &Question, results: &[Results]) -> Vec<QuestionRow> {
    let mut rows = Vec::new();
    for page in in_order(spec) {
        match question.answer(spec, page) {
            Answer::Runs(runs) => rows.extend(of_operator(spec, page, &runs, results)),
            Answer::LeftOut(why) => rows.push(QuestionRow {
                operator: page.operator.to_string(),
                answer: format!("– {why}"),
                ..QuestionRow::default()
            }),
            Answer::OtherForm => {}
        }
    }
    rows
}

/// The rows of an operator: one for all modes with the same answer, and one for each mode without a case.
fn of_operator(
    spec: &Specification,
    page: &Signature,
    runs: &[Run],
    results: &[Results],
) -> Vec<QuestionRow> {
    let mut rows: Vec<(Vec<&str>, QuestionRow)> = Vec::new();
    for case in runs {
        let mode = page.mode_sent(&case.call.attributes).map_or("", |mode| &mode.mode);
        let row = QuestionRow {
            operator: page.operator.to_string(),
            answer: answer(page, case),
            basis: basis(spec, page, case),
            case: local(case).to_owned(),
            libraries: libraries(page, case, results),
        };
        let same = |(_, known): &&mut (Vec<&str>, QuestionRow)| {
            (&known.answer, &known.basis, &known.libraries) == (&row.answer, &row.basis, &row.libraries)
        };
        match rows.iter_mut().find(same) {
            Some((modes, _)) => modes.push(mode),
            None => rows.push((vec![mode], row)),
        }
    }
    rows.extend(modes_left_out(spec, page, runs));
    if let [(_, row)] = &mut rows[..] {
        return vec![std::mem::take(row)];
    }
    let named = |(modes, row): (Vec<&str>, QuestionRow)| QuestionRow {
        operator: format!("{}, {}", page.operator, modes.join(", ")),
        ..row
    };
    rows.into_iter().map(named).collect()
}

/// The modes in which a family case does not run although its answer depends on policies, and why.
fn modes_left_out<'p>(
    spec: &Specification,
    page: &'p Signature,
    runs: &[Run],
) -> Vec<(Vec<&'p str>, QuestionRow)> {
    let Some(family) = runs.first().and_then(|run| run.case.family.as_deref()) else { return Vec::new() };
    let left_out = |mode: &'p ModePolicy| {
        let id = format!("{family}[{}]", mode.mode);
        let one = spec.left_out.iter().find(|one| one.operator == page.operator && one.case == id)?;
        Some((
            vec![mode.mode.as_str()],
            QuestionRow { answer: format!("– {}", one.why), ..QuestionRow::default() },
        ))
    };
    page.modes().iter().filter_map(left_out).collect()
}

/// The prefix of an answer to a negative index that counts from the end.
const WRAPS: &str = "wraps: ";

/// The basis of an answer: one word, or one for each of several answers where they differ.
fn basis(spec: &Specification, page: &Signature, case: &Run) -> String {
    let answers = answers(page, case);
    let bases = answers.iter().map(|(profile, _)| Basis::of(spec.clauses_under(case, *profile)).name());
    let bases: Vec<&str> = bases.collect();
    let all_alike = bases.iter().all(|basis| Some(basis) == bases.first());
    if all_alike { bases.first().copied().unwrap_or_default().to_owned() } else { bases.join("; ") }
}

/// The id of a case without its operator.
fn local(case: &Run) -> &str {
    let operator = case.call.operator.as_str();
    case.id.strip_prefix(operator).and_then(|rest| rest.strip_prefix('/')).unwrap_or(&case.id)
}

/// The answers of a case that differ, each with the first profile that has it.
fn answers(page: &Signature, case: &Run) -> Vec<(Profile, String)> {
    let mut answers: Vec<(Profile, String)> = Vec::new();
    for profile in profiles(page) {
        let words = in_words(&case.expect.under(profile));
        if !answers.iter().any(|(_, known)| *known == words) {
            answers.push((profile, words));
        }
    }
    answers
}

/// The profiles that the documents permit; where the call chooses by its mode, that of the default mode.
pub(crate) fn profiles(page: &Signature) -> Vec<Profile> {
    let Some(PermittedPolicies { bad, negative }) = page.permitted() else {
        return vec![page.modes().first().map_or_else(Profile::default, |mode| mode.profile)];
    };
    let pair = |bad: BadIndex, negative: &NegativeIndex| Profile { bad, negative: *negative };
    bad.iter().flat_map(|bad| negative.iter().map(|negative| pair(*bad, negative))).collect()
}

/// The expected outcome of a case, under each policy where it differs.
fn answer(page: &Signature, case: &Run) -> String {
    match (answers(page, case).as_slice(), page.permitted()) {
        ([(profile, words)], Some(_)) if wraps(case, *profile) => format!("{WRAPS}{words}"),
        ([(_, words)], _) => words.clone(),
        (several, permitted) => {
            let one = |(profile, words): &(Profile, String)| match policies(permitted, *profile) {
                label if label == "error" && words.starts_with("error") => words.clone(),
                label if label == "unspecified" => "or anything".to_owned(),
                label => format!("{label}: {words}"),
            };
            several.iter().map(one).collect::<Vec<_>>().join("; ")
        }
    }
}

/// Whether the expected outcome rests on a negative index that wraps.
fn wraps(case: &Run, profile: Profile) -> bool {
    let arm = case.expect.arms.iter().find(|arm: &&Arm| arm.when.matches(profile));
    arm.is_some_and(|arm| arm.when.negative == Some(NegativeIndex::Wrap))
}

/// Those policies of a pair that the documents leave open.
fn policies(permitted: Option<&PermittedPolicies>, Profile { bad, negative }: Profile) -> String {
    let Some(permitted) = permitted else { return String::new() };
    let open = [
        (permitted.bad.len() > 1).then(|| bad.to_string()),
        (permitted.negative.len() > 1).then(|| negative.to_string()),
    ];
    open.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Where the answer of a library depends on the way in which the call is made.
fn in_other_ways(of: &Results, case: &Run, usual: &str) -> String {
    let others = of.answers_in_other_ways(&case.id).into_iter().filter(|(words, _)| words != usual);
    let said = |(words, ways): (String, Vec<Variant>)| {
        let ways: Vec<String> = ways.iter().map(ToString::to_string).collect();
        format!("; {} with {}", shortened(&words, LONGEST), ways.join(" or "))
    };
    // An answer that was taken from a run in such a way names it already.
    others.filter(|(words, _)| !usual.starts_with(&format!("{words} with "))).map(said).collect()
}

/// What libraries did, grouped by answer. The group that agrees with the case is first.
fn libraries(page: &Signature, case: &Run, results: &[Results]) -> Vec<String> {
    let expected = answer(page, case);
    let expected = expected.strip_prefix(WRAPS).unwrap_or(&expected);
    let mut alike: Vec<(String, Vec<String>)> = vec![("as expected".to_owned(), Vec::new())];
    for of in results {
        let Some(words) = of.answer(&case.id) else { continue };
        let others = in_other_ways(of, case, &words);
        let words = if words == expected { "as expected".to_owned() } else { shortened(&words, LONGEST) };
        let words = words + &others;
        let name = format!("{} {}", of.backend.name, of.backend.version);
        match alike.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(name),
            None => alike.push((words, vec![name])),
        }
    }
    alike.retain(|(_, names)| !names.is_empty());
    alike.into_iter().map(|(words, names)| format!("{}: {words}", names.join(", "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::FailedRun;
    use gather_conformance::internals::judge::Verdict;

    #[test]
    fn every_question_is_answered_for_two_operators_at_least() {
        let spec = crate::embedded();
        for question in &spec.questions {
            let asked = |page: &&Signature| matches!(question.answer(spec, page), Answer::Runs(_));
            assert!(spec.operators.iter().filter(asked).count() > 1, "{}", question.id);
        }
    }

    #[test]
    fn libraries_that_did_the_same_stand_together() {
        let spec = crate::embedded();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let mut results = crate::results::read(&folder).unwrap();
        results.truncate(4);
        for of in &mut results {
            of.answers.clear();
            of.deviations.clear();
        }
        let case = &spec.run("tf.gather/bad-index/minus-one").unwrap();
        let page = spec.operator("tf.gather").unwrap();
        let answers = ["`[[11, 12], [31, 32]]`", "an error", "`[[11, 12], [31, 32]]`"];
        for (of, words) in results.iter_mut().zip(answers) {
            of.backend.version = "1".to_owned();
            of.answers.insert(case.id.clone(), words.to_owned());
        }
        let names: Vec<String> = results.iter().map(|of| of.backend.name.clone()).collect();
        let expected = [
            format!("{} 1, {} 1: `[[11, 12], [31, 32]]`", names[0], names[2]),
            format!("{} 1: an error", names[1]),
        ];
        assert_eq!(libraries(page, case, &results), expected);
        let run = FailedRun {
            case: "tf.gather/bad-index/minus-one[indices=constant]".to_owned(),
            clauses: Vec::new(),
            observed: Verdict::AcceptedBadInput,
            call: String::new(),
            expected: String::new(),
            actual: "i32 [1] [7]".to_owned(),
            difference: None,
            reason: None,
            link: None,
            finding: false,
        };
        let compiled = "tf.gather/bad-index/minus-one[execution=compiled]".to_owned();
        results[1].deviations = vec![run.clone(), FailedRun { case: compiled, ..run }];
        let depends = format!("{} 1: an error; `[7]` with indices=constant or execution=compiled", names[1]);
        assert_eq!(libraries(page, case, &results), [expected[0].clone(), depends]);
        let wrapping = &spec.run("onnx.GatherND-13/bad-index/minus-one-in-the-first-component").unwrap();
        let page = spec.operator("onnx.GatherND-13").unwrap();
        results[0].answers.insert(wrapping.id.clone(), "`[45]`".to_owned());
        assert_eq!(answer(page, wrapping), "wraps: `[45]`");
        assert_eq!(libraries(page, wrapping, &results), [format!("{} 1: as expected", names[0])]);
    }
}
