//! `list`, `show` and `check`: what is named is found or refused, and files are linted by what they are.

use std::path::Path;
use std::process::Command;

/// Status, stdout and stderr.
fn ended(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    let output =
        command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn out(arguments: &[&str]) -> String {
    let (status, out, said) = ended(arguments);
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    out
}

fn refused(arguments: &[&str]) -> String {
    let (status, out, said) = ended(arguments);
    assert_eq!((status, out.as_str()), (2, ""), "{said}");
    said
}

#[test]
fn clauses_of_an_operator_are_not_those_of_one_whose_name_begins_alike() {
    let spec = crate::embedded();
    let begins_alike = |name: &str| {
        spec.operators
            .iter()
            .any(|other| other.operator.as_str() != name && other.operator.as_str().starts_with(name))
    };
    let pages: Vec<_> = spec.operators.iter().filter(|page| begins_alike(page.operator.as_str())).collect();
    assert!(pages.len() > 3, "{}", pages.len());
    for page in pages {
        let prefix = format!("{}.", page.operator);
        let own: Vec<&str> = spec
            .clauses
            .iter()
            .map(|clause| clause.id.as_str())
            .filter(|id| id.starts_with(&prefix))
            .collect();
        let listed = out(&["list", "clauses", "--operator", page.operator.as_str()]);
        let listed: Vec<&str> = listed.lines().map(|line| line.split("  ").next().unwrap()).collect();
        assert!(!own.is_empty() && listed == own, "{prefix} {listed:?}");
    }
}

#[test]
fn a_filter_that_a_list_does_not_have_is_refused_and_so_is_a_name_that_does_not_exist() {
    let fits: &[(&str, &[&str])] = &[
        ("cases", &["--operator", "--case", "--basis"]),
        ("clauses", &["--operator", "--basis"]),
        ("operators", &[]),
        ("questions", &[]),
        ("backends", &[]),
        ("documents", &[]),
    ];
    let filters = [
        ("--operator", "made.pick_rows", "made.nope"),
        ("--case", "made.pick_rows/picking/*", "made.pick_rows/nope/*"),
        ("--basis", "documented", "nope"),
    ];
    for (list, of_list) in fits {
        for (filter, right, wrong) in filters {
            if of_list.contains(&filter) {
                assert!(!out(&["--spec", "made_up", "list", list, filter, right]).is_empty());
                assert!(refused(&["--spec", "made_up", "list", list, filter, wrong]).contains(wrong));
            } else {
                let said = refused(&["--spec", "made_up", "list", list, filter, right]);
                assert_eq!(said, format!("error: `list {list}` has no {filter}\n"));
            }
        }
    }
}

#[test]
fn an_operator_is_shown_with_its_page_and_its_clauses() {
    let text = out(&["show", "tf.gather"]);
    let page = "tf-gather: tf.gather (https://www.tensorflow.org/api_docs/python/tf/gather)";
    for words in [
        "\n  document         ",
        page,
        "\n  indices          i32 i64\n",
        "\n  batch_dims       an integer, default: 0\n",
        "\n  bad index        error zero\n",
        "\n  negative         reject\n",
        "\nclauses\n  tf.gather.",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("tf.gather_nd."), "{text}");
    let said = refused(&["show", "tf.gath"]);
    assert!(said.contains("no case, clause, operator or question is called `tf.gath`"), "{said}");
}

#[test]
fn questions_are_listed_and_shown_operator_by_operator() {
    above_quick!();
    let spec = crate::embedded();
    let listed = out(&["list", "questions"]);
    assert!(listed.starts_with("minus-one  What does the index -1 mean?\n"), "{listed}");
    let listed: serde_json::Value =
        serde_json::from_str(&out(&["list", "questions", "--format", "json"])).unwrap();
    assert_eq!(listed.as_array().unwrap().len(), spec.questions.len());
    assert_eq!(listed[0]["family"]["take"][0], "bad-index/minus-one");
    // The widths of the columns depend on the operators that there are.
    let text = out(&["show", "minus-one"]);
    let text = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = text.collect::<Vec<_>>().join("\n");
    for page in &spec.operators {
        assert!(text.contains(page.operator.as_str()), "{} is missing in\n{text}", page.operator);
    }
    for words in [
        "minus-one\n\nWhat does the index -1 mean?\n\ntake/bad-index/minus-one: ",
        "\n│ numpy.take, raise, wrap ┆ [[11, 12], [31, 32]] ┆ ruling ┆ bad-index/minus-one │\n",
        "\n│ numpy.take, clip ┆ [[11, 12], [11, 12]] ┆ ruling ┆ bad-index/minus-one[clip] │\n",
        "\n│ numpy.take_along_axis ┆ wraps: [[11, 13], [23, 22]] ┆ ruling ┆ bad-index/minus-one │\n",
        "\n│ paddle.gather_nd ┆ error index-out-of-range ┆ ruling ┆ ",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    assert!(!text.contains("libraries"), "{text}");
    let text = out(&["show", "index-rows-without-components", "--results", "../results"]);
    // The only library that has this operator, so that its name begins a cell and is on one line.
    assert!(text.contains("libraries") && text.contains(" webnn 153."), "{text}");
    assert_eq!(
        refused(&["show", "tf.gather", "--results", "../results"]),
        "error: --results needs a question or a finding\n"
    );
    assert!(refused(&["show", "minus-one", "--results", "nowhere"]).contains("nowhere"));
    assert!(refused(&["show", "minus-on"]).contains("minus-one"));
}

#[test]
fn a_finding_is_a_text_for_an_issue_and_a_backend_alone_lists_its_own() {
    let id = "numpy:numpy.take/index-width/largest-of-u64[wrap]";
    insta::assert_snapshot!("show-finding-numpy", out(&["show", id]));
    insta::assert_snapshot!(
        "show-finding-openvino",
        out(&["show", "openvino:openvino.Gather-8/bad-index/largest-i32"])
    );
    assert_eq!(out(&["show", id, "--results", "../results"]), out(&["show", id]));
    // Of a case and verdict one run is kept: the others name it, too.
    let kept = out(&["show", "openvino:openvino.Gather-7/payload/of-64-bits[i64]"]);
    for run in ["", "[u64]", "[u64,data=constant]"] {
        assert_eq!(out(&["show", &format!("openvino:openvino.Gather-7/payload/of-64-bits{run}")]), kept);
    }
    let listed = out(&["show", "numpy:"]);
    assert!(
        listed.contains("\n    wrong-output: indices become i64, so that 2^64 - 1 is taken for -1\n"),
        "{listed}"
    );
    assert_eq!(listed.lines().count(), 10);
    for (wrong, said) in [
        (
            "nunpy:numpy.take",
            "error: no results of a backend `nunpy` are kept\nhelp: did you mean `numpy:numpy.take`?\n",
        ),
        ("zzz:", "help: there are executorch jax litert numpy onnx-reference"),
        (
            "numpy:numpy.take/index-width/largest-of-u64[wrp]",
            "error: `numpy.take/index-width/largest-of-u64[wrp]` is no case of a finding of numpy\nhelp: did you mean `numpy:",
        ),
        ("numpy:nothing", "help: `gatherspec show numpy:` lists its findings\n"),
    ] {
        let refused = refused(&["show", wrong]);
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn a_file_of_questions_is_checked_against_the_cases() {
    assert!(out(&["check", "../../spec/questions.yaml"]).ends_with(" questions\n"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("questions.yaml");
    let text =
        "schema: 1\nquestions:\n  - id: a\n    question: b?\n    family: { take: bad-index/minus-won }\n";
    std::fs::write(&file, text).unwrap();
    let said = refused(&["check", file.to_str().unwrap()]);
    for words in
        ["no operator has the case `bad-index/minus-won`", "questions.yaml:5:21", "`bad-index/minus-one`"]
    {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

#[test]
fn an_expectation_that_the_reference_does_not_answer_is_a_warning() {
    let (status, text, said) = ended(&["check", "cases/wrong.yaml"]);
    assert_eq!((status, text.as_str()), (0, "cases/wrong.yaml: 4 cases\n"));
    let warned: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    let verdicts = ["wrong-output", "accepted-bad-input", "rejected-good-input", "wrong-error"];
    assert_eq!(warned.len(), 4, "{said}");
    for (line, verdict) in warned.iter().zip(verdicts) {
        assert!(line.ends_with(&format!(": the reference does not answer this ({verdict})")), "{line}");
    }
    assert!(said.contains("\n  expected   error indices-rank\n  reference  error index-depth: "), "{said}");
}

#[test]
fn every_file_of_an_operator_is_linted_without_a_warning() {
    let operators = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/operators");
    let ecosystems = std::fs::read_dir(operators).unwrap().map(|ecosystem| ecosystem.unwrap().path());
    let folders = ecosystems.flat_map(|ecosystem| std::fs::read_dir(ecosystem).unwrap());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let files: Vec<String> = files.map(|file| file.unwrap().path().to_str().unwrap().to_owned()).collect();
    let arguments: Vec<&str> = std::iter::once("check").chain(files.iter().map(String::as_str)).collect();
    let text = out(&arguments);
    for (words, name) in [("/clauses.yaml: ", "clauses"), ("operator.yaml: 1 operator\n", "operators")] {
        assert_eq!(text.matches(words).count(), crate::embedded().operators.len(), "{name}: {text}");
    }
}

#[test]
fn a_clause_file_is_checked_against_documents_errata_and_cases() {
    above_quick!();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clauses.yaml");
    let path = file.to_str().unwrap();
    let clause = "schema: 1\noperator: tf.gather\nclauses:\n  - id: tf.gather.value.new\n    text: It is new.\n    \
                  document: tf-gather\n    section: Args\n    basis: documented\n    rejects: [params-rank]\n";
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        ended(&["check", path])
    };
    let (status, text, said) = check(clause);
    assert_eq!((status, text), (0, format!("{path}: 1 clause\n")));
    assert_eq!(
        said,
        "warning: no case accepts under tf.gather.value.new\nwarning: no case rejects under tf.gather.value.new \
         (params-rank)\n"
    );
    for (from, to, wrong) in [
        ("section: Args", "section: Nowhere", "documents.yaml has no section `Nowhere` of `tf-gather`"),
        ("basis: documented", "basis: ruling", "a ruling names its entries in the errata ledger"),
        ("id: tf.gather.value.new", "id: tf.gather_nd.value.new", "a clause of tf.gather is named"),
        ("text: It", "txt: It", "unknown key `txt`"),
    ] {
        let (status, _, said) = check(&clause.replace(from, to));
        assert!(status == 2 && said.contains(wrong), "{wrong}: {said}");
    }
}
