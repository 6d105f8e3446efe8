//! Every form of a report counts the same failures, and an output that differs late is shown where it differs. This
//! program is the tests and, told so by its first argument, the backends that they start.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::LazyLock;

use gather_conformance::backend::{Backend, Description, Identity};
use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::serve::serve;
use gather_spec::diagnostic::is_invisible;
use gather_spec::{BadIndex, Call, DType, Element, Outcome, Profile, Tensor};
use jsonschema::Validator;
use serde_json::Value;

const CASE: &str = "tf.gather_nd/documented/rows-of-a-matrix";
const LATE: &str = "tf.gather_nd/rows/forty-thousand-rows-in-order";

/// The reference with one habit.
struct FlawedReference {
    reference: Box<dyn Backend>,
    habit: String,
    calls: usize,
}

impl FlawedReference {
    fn new(habit: &str) -> Self {
        let bad = if habit == "departs" { BadIndex::Clamp } else { BadIndex::Error };
        let profile = Profile { bad, ..Profile::default() };
        let reference = builtin::backend("reference", profile, MAX_OUTPUT).unwrap();
        Self { reference, habit: habit.to_owned(), calls: 0 }
    }

    /// Whether this is the call of [`CASE`].
    fn is_it(call: &Call) -> bool {
        let params = call.operands.tensors().next().unwrap();
        params.dtype() == DType::String && params.shape()[..] == [2, 3]
    }
}

impl Backend for FlawedReference {
    fn describe(&self) -> Description {
        let mut description = self.reference.describe();
        if self.habit == "escapes" {
            let Identity { name, version, language } = &mut description.backend;
            [name, version, language].into_iter().for_each(|said| said.push_str(EVIL));
        }
        if ["departs", "errs at odd sizes"].contains(&self.habit.as_str()) {
            description.operators.retain(|operator, _| operator == "tf.gather_nd");
        }
        if self.habit == "declares nothing of it" {
            description.operators.retain(|operator, _| operator == "tf.gather");
        }
        description
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.calls += 1;
        let outcome = self.reference.call(call);
        match (self.habit.as_str(), outcome) {
            ("dies", _) if Self::is_it(call) => std::process::abort(),
            ("wavers", Outcome::Output(output)) if Self::is_it(call) && self.calls.is_multiple_of(2) => {
                Outcome::Output(with_last(&output, "z"))
            }
            ("errs late", Outcome::Output(output)) if output.shape().element_count() > 100_000 => {
                let mut bytes = output.to_le_bytes().unwrap();
                let at = bytes.len() - 16;
                bytes[at] ^= 1;
                Outcome::Output(
                    Tensor::from_le_bytes(output.dtype(), output.shape().clone(), &bytes).unwrap(),
                )
            }
            ("errs at odd sizes", Outcome::Output(output)) if is_odd(call) => {
                let zero = Element::zero(output.dtype());
                Outcome::Output(Tensor::filled(output.dtype(), output.shape().clone(), &zero).unwrap())
            }
            ("escapes", outcome) => match self.calls {
                20 => Outcome::Unsupported(format!("no {EVIL}")),
                21 => Outcome::refused(format!("no {EVIL}")),
                22 => panic!("no {EVIL}"),
                _ => outcome,
            },
            ("chatters", _) if self.calls >= 20 => Outcome::refused("long\n".repeat(100_000)),
            (_, outcome) => outcome,
        }
    }
}

/// Whether a dim of params is one that no case has, and only few drawn calls.
fn is_odd(call: &Call) -> bool {
    call.operands.tensors().next().unwrap().shape().iter().any(|dim| (380..390).contains(dim))
}

/// Enough cases for every kind of failure, of a backend that dies so often that all would take a minute.
const SOME_CASES: &[&str] =
    &["--operator", "tf.gather_nd", "--case", "*/rows/*", "--case", "*/batch/*", "--case", "*/bad-index/*"];

/// What a terminal would obey: it clears the screen, sets the title, in 7 bits and in 8, and turns the direction of text.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{85}\u{7f}\r\u{202e}\u{2028}<b>";

/// A tensor of strings with another last element.
fn with_last(tensor: &Tensor, last: &str) -> Tensor {
    let mut elements: Vec<_> = tensor.view().unwrap().iter().cloned().collect();
    *elements.last_mut().unwrap() = gather_spec::ByteString::from(last);
    Tensor::new(tensor.dtype(), tensor.shape().to_vec(), elements).unwrap()
}

/// The backend that the first argument asks for.
pub(crate) fn be() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != "as" {
        return None;
    }
    let mut backend = FlawedReference::new(&arguments.next()?);
    serve(&mut backend, std::io::stdin().lock(), std::io::stdout().lock()).unwrap();
    Some(ExitCode::SUCCESS)
}

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("every form counts the same failures", every_form),
    ("a late difference is shown in every form", late_difference),
    ("answers that differ are compared", wavering),
    ("nothing asked does not conform", nothing_asked),
    ("no form holds results of operators that are not declared", undeclared),
    ("an operator that is no longer declared fails against a baseline", no_longer_declared),
    ("no form holds what a terminal would obey", no_escapes),
    ("long messages are cut in every form", no_floods),
    ("the schema refuses what no report has", schema_refuses),
    ("Markdown fits into the summary of a job", fits_into_a_summary),
    ("JUnit follows the schema of Jenkins", junit_is_valid),
];

/// The result of a run, in every form.
struct ReportForms {
    status: Option<i32>,
    text: String,
    json: Value,
    junit: String,
    markdown: String,
    page: String,
}

/// Runs `gatherspec run` with these options on a backend with this habit.
fn run(options: &[&str], habit: &str) -> ReportForms {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.arg("run").args(options).arg("--out").arg(folder.path()).arg("--");
    match habit {
        "is not there" => command.arg("/no/such/program"),
        _ => command.arg(std::env::current_exe().unwrap()).args(["as", habit]),
    };
    let output = command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).output().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let ran = ReportForms {
        status: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
        json: serde_json::from_str(&read("report.json")).unwrap(),
        junit: read("report.xml"),
        markdown: read("report.md"),
        page: read("report.html"),
    };
    assert_valid(&ran.json);
    ran
}

/// The schema of reports, which all of them follow.
static SCHEMA: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&gatherspec::internals::report::schema()).unwrap());

fn assert_valid(report: &Value) {
    let wrong: Vec<String> =
        SCHEMA.iter_errors(report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

impl ReportForms {
    /// How many failures each form shows: JSON, its summary, JUnit, Markdown, and on the terminal the last sentence
    /// and what stands above it.
    fn failures(&self) -> [usize; 6] {
        let backend = &self.json["backends"][0];
        let count = |key: &str| backend[key].as_array().map_or(0, Vec::len);
        let fine = ["pass", "unsupported", "known-deviation"];
        let results = backend["results"].as_array().unwrap().iter();
        let failed = results.filter(|result| !fine.contains(&result["verdict"].as_str().unwrap())).count();
        let parts = backend["campaign"].as_array().into_iter().flatten();
        let kinds = parts.flat_map(|part| part["kinds"].as_array().unwrap());
        let kinds = kinds.filter(|kind| !fine.contains(&kind["verdict"].as_str().unwrap())).count();
        let json = failed + kinds + count("problems") + usize::from(backend["broken"].is_string());
        let summary = usize::try_from(backend["summary"]["failures"].as_u64().unwrap()).unwrap();
        let attribute = |name: &str| -> usize {
            let root = self.junit.split("<testsuites").nth(1).unwrap().split('>').next().unwrap();
            root.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let is_ending = |line: &&str| line.contains(" case asked") || line.contains(" cases asked");
        let ending = self.text.lines().find(is_ending).unwrap_or_default();
        let sentence = before(ending, " verdict")
            + before(ending, " problem")
            + self.text.matches("the backend was not run").count();
        let problems =
            self.text.matches(" must say why").count() + self.text.matches("unexpected-pass: ").count();
        let shown = self.text.matches("\n  reproduce ").count()
            + also(&self.text)
            + problems
            + self.text.matches("not run: ").count();
        [json, summary, attribute("failures") + attribute("errors"), self.in_markdown(), sentence, shown]
    }

    /// How many failures Markdown shows, each in a section of its own or by its id in that of its cause.
    fn in_markdown(&self) -> usize {
        self.markdown.lines().filter(|line| line.starts_with("### ")).count() + also(&self.markdown)
    }
}

/// The number before some words, in the first line that has them.
fn before(text: &str, words: &str) -> usize {
    let counted = text.lines().find_map(|line| line.split_once(words)).map(|(before, _)| before);
    counted.map_or(0, |before| before.rsplit(' ').next().unwrap().parse().unwrap())
}

/// How many failures a form names beside those that it shows.
fn also(text: &str) -> usize {
    text.lines().map(|line| before(line, " more of this verdict")).sum()
}

fn every_form() {
    let folder = tempfile::tempdir().unwrap();
    let known = |name: &str, entry: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("schema: 2\ndeviations:\n  - {entry}\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unexpected = known("case.yaml", &format!("{{ case: {CASE}, verdict: crash, reason: it did }}"));
    let undeparted = known("profile.yaml", "{ profile: tf.gather_nd, reason: it did }");
    let covered = known("covered.yaml", &format!("{{ case: {CASE}, verdict: crash, reason: it does }}"));
    let one = ["--case", CASE];
    let with =
        |file: &str| [&one[..], &["--deviations", file]].concat().into_iter().map(str::to_owned).collect();
    let plain: Vec<String> = one.map(str::to_owned).to_vec();
    let wrong = ["--cases", "cases/wrong.yaml"].map(str::to_owned).to_vec();
    let twice = ["--case", CASE, "--repeat", "2"].map(str::to_owned).to_vec();
    let campaign: Vec<String> =
        ["--operator", "tf.gather_nd", "--campaign", "4000"].map(str::to_owned).to_vec();
    let kinds =
        run(&campaign.iter().map(String::as_str).collect::<Vec<_>>(), "errs at odd sizes").failures()[0];
    assert!(kinds > 0, "drawn calls and laws find what errs at odd sizes: {kinds} kinds");
    let table: [(&str, Vec<String>, &str, usize, i32); 10] = [
        ("kinds of failures of a campaign", campaign, "errs at odd sizes", kinds, 1),
        ("nothing", plain.clone(), "is right", 0, 0),
        ("four wrong verdicts of one clause", wrong, "is right", 4, 1),
        ("a crash", plain.clone(), "dies", 1, 1),
        ("a crash that is known", with(&covered), "dies", 0, 0),
        ("answers that differ", twice, "wavers", 1, 1),
        ("a departure without a reason", plain.clone(), "departs", 1, 1),
        ("a deviation that does not occur", with(&unexpected), "is right", 1, 1),
        ("a departure that does not occur", with(&undeparted), "is right", 1, 1),
        ("a backend that does not start", plain, "is not there", 1, 3),
    ];
    for (what, options, habit, failures, status) in table {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let ran = run(&options, habit);
        assert_eq!(ran.status, Some(status), "{what}\n{}", ran.text);
        assert_eq!(ran.failures(), [failures; 6], "{what}\n{}\n{}\n{}", ran.text, ran.markdown, ran.junit);
        let sentence = ran.json["backends"][0]["summary"]["sentence"].as_str().unwrap();
        for form in [&ran.text, &ran.markdown, &ran.junit] {
            assert!(form.contains(sentence), "{what}: {sentence}\n{form}");
        }
    }
}

fn late_difference() {
    let ran = run(&["--case", LATE], "errs late");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    let difference = &ran.json["backends"][0]["results"][0]["difference"]["elements"];
    let (first, of) = (difference["first"].to_string().replace(',', ", "), &difference["of"]);
    let (expected, actual) =
        (difference["expected"].as_str().unwrap(), difference["actual"].as_str().unwrap());
    assert_eq!((first.as_str(), expected, actual), ("[39998, 2]", "18", "19"));
    let said = format!(
        "first difference at {first}: expected {expected}, actual {actual}; 1 of {of} elements differs"
    );
    for form in [&ran.text, &ran.markdown, &ran.junit] {
        assert!(form.contains(&said), "{said}\n{form}");
        let line = |name: &str| form.lines().find(|line| line.starts_with(name)).unwrap();
        let [one, other, marks] = ["  expected ", "  actual ", "                    "].map(line);
        let at = marks.find('^').unwrap_or_else(|| panic!("no mark in\n{form}"));
        let column =
            |line: &str| line.chars().skip(at).take_while(|c| !",]".contains(*c)).collect::<String>();
        assert_eq!((column(one).trim(), column(other).trim()), (expected, actual), "{form}");
    }
    let clause = ran.json["backends"][0]["clauses"].as_object().unwrap().iter().next().unwrap();
    let (id, text) = (clause.0, clause.1.as_str().unwrap());
    assert!(ran.text.contains(&format!("clause     {id}: {text}")), "{}", ran.text);
    assert!(ran.junit.contains("classname=\"reference.tf.gather_nd.rows\" time=\""), "{}", ran.junit);
}

fn wavering() {
    let ran = run(&["--case", CASE, "--repeat", "2"], "wavers");
    let result = &ran.json["backends"][0]["results"][0];
    assert_eq!(result["verdict"], "nondeterministic");
    assert_eq!(result["difference"]["elements"]["first"].to_string(), "[1,2]");
    assert!(ran.text.contains("  difference first difference at [1, 2]: at first "), "{}", ran.text);
    assert!(ran.text.contains("\n  expected   string [2, 3] [[d, e, f], [a, b, c]]\n"), "{}", ran.text);
    assert!(ran.text.contains("\n  at first   string [2, 3] [["), "{}", ran.text);
}

fn nothing_asked() {
    let ran = run(&["--case", CASE], "declares nothing of it");
    let said = "nothing was asked: of 1 chosen case the backend declares none";
    assert!(
        ran.status == Some(2) && ran.text.contains(said) && !ran.text.contains("conforms"),
        "{}",
        ran.text
    );
    assert!(ran.text.contains("  does not declare 1 operator: tf.gather_nd\n"), "{}", ran.text);
    assert_eq!(ran.json["backends"][0]["summary"]["ending"], "nothing-asked");
}

/// The documented examples of TensorFlow's operators, of which this backend declares one.
const EXAMPLES: &str = "tf.*/documented*/*";

fn undeclared() {
    let ran = run(&["--case", EXAMPLES], "declares nothing of it");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    let results = ran.json["backends"][0]["results"].as_array().unwrap();
    assert!(results.len() > 10 && results.iter().all(|one| one["operator"] == "tf.gather"), "{results:#?}");
    let others = ["tf.gather_nd", "tf.raw_ops.GatherNd"];
    assert_eq!(ran.json["backends"][0]["summary"]["undeclared"], serde_json::json!(others));
    let said = format!("does not declare 2 operators: {}", others.join(", "));
    assert!(ran.text.contains(&format!("\n  {said}\n")), "{}", ran.text);
    assert!(ran.markdown.replace('\\', "").contains(&format!("\nIt {said}.\n")), "{}", ran.markdown);
    assert!(ran.page.contains("<summary>Does not declare 2 operators</summary>"), "{}", ran.page);
    for (form, once) in
        [(&ran.text, 1), (&ran.markdown.replace('\\', ""), 1), (&ran.junit, 1), (&ran.page, 1)]
    {
        assert_eq!(form.matches(others[1]).count(), once, "{form}");
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let entry = format!("schema: 2\ndeviations:\n  - {{ case: {CASE}, verdict: crash, reason: it does }}\n");
    std::fs::write(file.path(), entry).unwrap();
    let known = ["--case", EXAMPLES, "--deviations", file.path().to_str().unwrap()];
    let ran = run(&known, "declares nothing of it");
    let idle =
        format!("the deviation `case: {CASE}` did not occur, the backend does not declare tf.gather_nd");
    assert!(ran.status == Some(1) && ran.text.contains(&idle), "{}", ran.text);
    assert_eq!(ran.failures(), [1; 6], "{}", ran.text);
}

fn no_longer_declared() {
    let before = run(&["--case", EXAMPLES], "is right").json;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), before.to_string()).unwrap();
    let baseline = ["--case", EXAMPLES, "--baseline", file.path().to_str().unwrap()];
    assert_eq!(run(&baseline, "is right").status, Some(0));
    let ran = run(&baseline, "declares nothing of it");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    for operator in ["tf.gather_nd", "tf.raw_ops.GatherNd"] {
        let asked = &before["backends"][0]["summary"]["operators"][operator]["asked"];
        let said = format!("{operator} is no longer declared: {asked} cases that ran before did not run\n");
        assert!(ran.text.contains(&said), "{said}{}", ran.text);
    }
    assert!(ran.text.contains(": 2 new failures, 0 fixed, 0 changed, 0 new cases, 0 gone\n"), "{}", ran.text);
}

fn no_escapes() {
    let ran = run(SOME_CASES, "escapes");
    let failures = ran.failures();
    assert!(ran.status == Some(1) && failures[0] > 3 && failures == [failures[0]; 6], "{}", ran.text);
    let json = serde_json::to_string(&ran.json).unwrap();
    for form in [&ran.text, &ran.markdown, &ran.junit, &json, &ran.page] {
        let obeyed: Vec<char> = form.chars().filter(|c| is_invisible(*c) && !"\n\t".contains(*c)).collect();
        assert_eq!(obeyed, [' '; 0], "{form}");
    }
    let seen = r"no \u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{85}\u{7f}\r\u{202e}\u{2028}<b>";
    for kind in ["unsupported: ", "error without a code: ", "\n             "] {
        assert!(ran.text.contains(&format!("{kind}{seen}")), "{kind}{}", ran.text);
    }
    let name = ran.json["backends"][0]["backend"]["name"].as_str().unwrap();
    assert_eq!(name, seen.replace("no ", "reference"));
    // Outside a fence nothing is markup.
    assert!(
        ran.markdown.contains("\nWritten in Rust\\\\u{1b}\\[2J") && !ran.markdown.contains("title\n"),
        "{}",
        ran.markdown
    );
    let outside: Vec<&str> = ran.markdown.split("```").step_by(2).collect();
    assert!(outside.iter().all(|text| !text.contains("<b>")), "{outside:?}");
}

fn no_floods() {
    let ran = run(SOME_CASES, "chatters");
    let failures = ran.failures()[0];
    assert!(ran.status == Some(1) && failures > 5, "{failures} failures");
    let json = serde_json::to_string(&ran.json).unwrap();
    for form in [&ran.text, &ran.markdown, &ran.junit, &json] {
        assert!(form.len() < failures * 16_000, "{} bytes of {failures} failures", form.len());
        assert!(form.contains(" characters left out … "), "{form}");
    }
}

/// Every run of these tests is checked against the schema, so the schema must not accept everything.
fn schema_refuses() {
    let ran = run(&["--cases", "cases/wrong.yaml"], "is right");
    let alter = |pointer: &str, value: Value| {
        let mut report = ran.json.clone();
        *report.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
        report
    };
    for (pointer, value) in [
        ("/schema", "1".into()),
        ("/backends/0/results/0/verdict", "wrong".into()),
        ("/backends/0/results/0/id", Value::Null),
        ("/backends/0/results/0/profile", serde_json::json!({ "bad": "ignore", "negative": "reject" })),
        ("/backends/0/results/0/difference/elements/dtype", "float32".into()),
        ("/backends/0/summary/failures", (-1).into()),
        ("/backends/0/summary/ending", "conform".into()),
        (
            "/backends/0/backend",
            serde_json::json!({ "name": "n", "version": "1", "language": "C", "more": 1 }),
        ),
    ] {
        let altered = alter(pointer, value);
        assert!(!SCHEMA.is_valid(&altered), "{pointer}: {}", altered.pointer(pointer).unwrap());
    }
    for key in ["schema", "suite", "backends"] {
        let mut report = ran.json.clone();
        report.as_object_mut().unwrap().remove(key);
        assert!(!SCHEMA.is_valid(&report), "without {key}");
    }
    let mut report = ran.json.clone();
    report["backends"][0]["results"][0]["surprise"] = 1.into();
    assert!(!SCHEMA.is_valid(&report), "a field that is not described");
}

/// GitHub refuses the summary of a step that has more than 1 MiB.
fn fits_into_a_summary() {
    let ran = run(&["--operator", "tf.gather_nd"], "chatters");
    let failures = ran.failures()[0];
    let shown = ran.in_markdown();
    let (markdown, junit) = (ran.markdown.len(), ran.junit.len());
    assert!(markdown <= 1 << 20 && junit > 2 * markdown, "{markdown} and {junit} bytes");
    // Failures of one cause share a section, so all of them fit; `markdown.rs` tests what is left out where they do not.
    assert!(shown > 100 && shown == failures, "{shown} of {failures}");
}

/// What the xUnit plug-in of Jenkins holds files to.
fn junit_is_valid() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        println!("skipped: there is no `xmllint`");
        return;
    }
    let known = tempfile::NamedTempFile::new().unwrap();
    let entry = format!("schema: 2\ndeviations:\n  - {{ case: {CASE}, verdict: crash, reason: it does }}\n");
    std::fs::write(known.path(), entry).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let is_valid = |junit: &str| {
        std::fs::write(file.path(), junit).unwrap();
        let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/junit/junit-10.xsd");
        let output =
            Command::new("xmllint").args(["--noout", "--schema"]).arg(schema).arg(file.path()).output();
        let output = output.unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let wrong = run(&["--cases", "cases/wrong.yaml"], "is right").junit;
    let campaign = ["--operator", "tf.gather_nd", "--campaign", "4000"];
    for junit in [
        &wrong,
        &run(&["--case", CASE], "is not there").junit,
        &run(&["--case", CASE, "--deviations", known.path().to_str().unwrap()], "dies").junit,
        &run(SOME_CASES, "escapes").junit,
        &run(&campaign, "errs at odd sizes").junit,
    ] {
        let (valid, said) = is_valid(junit);
        assert!(valid, "{said}");
    }
    for (part, instead) in
        [("<testcase name=", "<testcase nome="), ("<testsuites ", "<testsuites skipped=\"0\" ")]
    {
        let (valid, said) = is_valid(&wrong.replacen(part, instead, 1));
        assert!(!valid, "{part}: {said}");
    }
}
