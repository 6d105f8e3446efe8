//! What the loader says of wrong questions, and which cases answer right ones.

use super::*;
use crate::question::Answer;

/// A part of a right file, what stands in its place, the line and column of what is wrong, and words that say so.
type Row = (&'static str, &'static str, (usize, usize), &'static [&'static str]);

const RIGHT: &str = "\
schema: 1
questions:
  - id: minus-one
    question: What does -1 mean?
    family: { take: bad-index/minus-one, nd: [rows/repeated, 'dtypes/numbers[i8]'] }
  - id: default
    question: What if no axis is sent?
    cases: { tf.gather: tf.gather/axis/default-of-a-matrix }
";

fn checked(spec: &Specification, text: &str) -> Result<Vec<Question>, Diagnostic> {
    let text = Text { file: "questions.yaml", text };
    let mut alone = Specification::default();
    alone.read_questions(text)?;
    spec.check_questions(text)?;
    Ok(alone.questions)
}

#[test]
fn what_is_wrong_with_a_question_is_said_where_it_stands_with_what_would_be_right() {
    let spec = Specification::embedded().unwrap();
    assert_eq!(checked(&spec, RIGHT).unwrap().len(), 2);
    let table: &[Row] = &[
        ("schema: 1", "schema: 2", (1, 9), &["schema 2 is not known"]),
        ("id: minus-one", "id: Minus one", (3, 9), &["`Minus one` is no id of a question", "`minus-one`"]),
        ("id: minus-one", "id: ''", (3, 9), &["is no id of a question"]),
        ("id: default", "id: minus-one", (6, 9), &["two questions have the id `minus-one`"]),
        ("What does -1 mean?", "' '", (4, 15), &["the question is missing"]),
        ("    question: What does -1 mean?\n", "", (3, 5), &["`question`"]),
        ("family:", "families:", (5, 5), &["unknown key `families`", "id question family cases"]),
        ("{ take:", "{ takes:", (5, 15), &["there is no form `takes`", "take"]),
        (
            "bad-index/minus-one,",
            "bad-index/minus-won,",
            (5, 21),
            &["`bad-index/minus-won` of the family `take`", "did you mean `bad-index/minus-one`?"],
        ),
        ("bad-index/minus-one,", "take/bad-index/minus-one,", (5, 21), &["no operator has the case"]),
        (
            "bad-index/minus-one,",
            "far/away,",
            (5, 21),
            &["no operator has the case", "gatherspec list cases"],
        ),
        (
            "numbers[i8]",
            "numbers[i9]",
            (5, 62),
            &["`dtypes/numbers[i9]` of the family `nd`", "did you mean `dtypes/numbers`?"],
        ),
        ("numbers[i8]", "numbers[", (5, 62), &["no operator has the case"]),
        (
            "[rows/repeated, 'dtypes/numbers[i8]']",
            "[]",
            (5, 46),
            &["the name of a case is expected, not a sequence"],
        ),
        ("rows/repeated,", "[rows/repeated],", (5, 47), &["the name of a case is expected, not a sequence"]),
        ("rows/repeated,", "{ a: b },", (5, 47), &["not a mapping"]),
        ("rows/repeated,", "~,", (5, 47), &["the name of a case is expected"]),
        (
            "    cases: { tf.gather: tf.gather/axis/default-of-a-matrix }\n",
            "",
            (6, 9),
            &["no case answers the question `default`"],
        ),
        (
            "{ tf.gather:",
            "{ tf.gathers:",
            (8, 14),
            &["unknown operator `tf.gathers`", "did you mean `tf.gather`?"],
        ),
        (
            ": tf.gather/axis/default-of-a-matrix",
            ": tf.gather/axis/default-of-a-matrx",
            (8, 25),
            &["tf.gather has no case", "did you mean `tf.gather/axis/default-of-a-matrix`?"],
        ),
        (
            ": tf.gather/axis/default-of-a-matrix",
            ": tf.gather_nd/rows/repeated",
            (8, 25),
            &["tf.gather has no case `tf.gather_nd/rows/repeated`"],
        ),
        (
            ": tf.gather/axis/default-of-a-matrix }",
            ": tf.gather/axis/minus-one, tf.gather: tf.gather/axis/minus-one }",
            (8, 51),
            &["stands here a second time"],
        ),
    ];
    for (part, instead, at, words) in table {
        let text = RIGHT.replacen(part, instead, 1);
        assert_ne!(text, RIGHT, "{part}");
        let wrong = checked(&spec, &text).map(|_| ()).unwrap_err();
        let (place, said) = (wrong.place.unwrap(), wrong.to_string());
        assert_eq!((place.line, place.column), *at, "{instead}\n{said}");
        words.iter().for_each(|word| assert!(said.contains(word), "{word} is missing in\n{said}"));
    }
}

#[test]
fn the_questions_that_are_built_in_name_cases_that_exist() {
    let spec = Specification::embedded().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("questions.yaml");
    let read = spec.read_question_file(&path).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(read == spec.questions && read.len() >= 25);
}

#[test]
fn the_first_case_that_an_operator_has_answers_once_per_mode_unless_it_has_its_own() {
    let spec = Specification::embedded().unwrap();
    let file = "schema: 1\nquestions:\n  - id: a\n    question: b?\n    family:\n      take: bad-index/minus-one\n      \
                elements: [join/fewer-columns, broadcast/smaller-but-not-one]\n      nd: 'dtypes/numbers[i32]'\n    \
                cases: { tf.gather: tf.gather/axis/default-of-a-matrix }\n";
    let questions = checked(&spec, file).unwrap();
    let answer = |operator| match questions[0].answer(&spec, spec.operator(operator).unwrap()) {
        Answer::Cases(cases) => cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>().join(" "),
        Answer::LeftOut(why) => format!("– {why}"),
        Answer::OtherForm => String::new(),
    };
    assert_eq!(answer("tf.gather"), "tf.gather/axis/default-of-a-matrix");
    let modes = ["", "[wrap]", "[clip]"].map(|mode| format!("numpy.take/bad-index/minus-one{mode}"));
    assert_eq!(answer("numpy.take"), modes.join(" "));
    assert_eq!(answer("torch.gather"), "torch.gather/join/fewer-columns");
    assert_eq!(answer("numpy.take_along_axis"), "numpy.take_along_axis/broadcast/smaller-but-not-one");
    assert_eq!(answer("onnx.GatherElements-13"), "– no clause for join.smaller");
    assert_eq!(answer("tf.gather_nd"), "tf.gather_nd/dtypes/numbers[i32,i32]");
    let alone = file.replace("      nd: 'dtypes/numbers[i32]'\n", "");
    let questions = checked(&spec, &alone).unwrap();
    let page = spec.operator("tf.gather_nd").unwrap();
    assert!(matches!(questions[0].answer(&spec, page), Answer::OtherForm));
}
