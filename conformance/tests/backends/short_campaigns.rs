//! The campaign behind the cases of `run`: it finds what no case has, respects what is known, and keeps what it has when it
//! ends early. This program is both the tests and, told so by its environment, the backends.

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use gather_conformance::backend::{Backend, Description};
use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::serve::serve;
use gather_spec::{Call, DType, Element, Outcome, Profile, Tensor};
use serde_json::Value;

/// What makes this program a backend: its habit.
const HABIT: &str = "GATHERSPEC_TEST_HABIT";

/// Where a backend that hangs says so.
const NOTE: &str = "GATHERSPEC_TEST_NOTE";

/// The reference of two operators and two dtypes, with one habit at calls that no case has.
struct Odd {
    reference: Box<dyn Backend>,
    habit: String,
}

/// Whether a dim of params is one that cases of grids have.
fn is_of_a_grid(call: &Call) -> bool {
    call.operands.tensors().next().unwrap().shape().contains(&33)
}

/// Whether params have many axes: calls that cases and the campaign have.
fn is_of_high_rank(call: &Call) -> bool {
    call.operands.tensors().next().unwrap().shape().len() > 4
}

/// Whether a dim of params is one that no case has, and only few drawn calls.
fn is_odd(call: &Call) -> bool {
    call.operands.tensors().next().unwrap().shape().iter().any(|dim| (380..390).contains(dim))
}

impl Backend for Odd {
    fn describe(&self) -> Description {
        let mut description = self.reference.describe();
        description
            .operators
            .retain(|operator, _| ["tf.gather", "paddle.gather_nd"].contains(&operator.as_str()));
        for capability in description.operators.values_mut() {
            capability.dtypes = vec![DType::F32, DType::I64];
        }
        if self.habit == "declares less" {
            description.operators.remove("paddle.gather_nd");
        }
        description
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let outcome = self.reference.call(call);
        match (self.habit.as_str(), outcome) {
            (habit @ ("zeros" | "zeros of grids"), Outcome::Output(output))
                if is_odd(call) || habit == "zeros of grids" && is_of_a_grid(call) =>
            {
                let zero = Element::zero(output.dtype());
                Outcome::Output(Tensor::filled(output.dtype(), output.shape().clone(), &zero).unwrap())
            }
            ("refuses" | "refuses more", _) if is_of_high_rank(call) => Outcome::refused("no rank above 4"),
            ("refuses more", _) if is_odd(call) => Outcome::refused("no kernel"),
            ("dies", _) if is_odd(call) => std::process::exit(3),
            ("hangs", _) if is_odd(call) => {
                std::fs::write(std::env::var_os(NOTE).unwrap(), "here").unwrap();
                loop {
                    std::thread::park();
                }
            }
            (_, outcome) => outcome,
        }
    }
}

/// The backend that the environment asks for.
pub(crate) fn be() -> Option<ExitCode> {
    let habit = std::env::var(HABIT).ok()?;
    let reference = builtin::backend("reference", Profile::default(), MAX_OUTPUT).unwrap();
    serve(&mut Odd { reference, habit }, std::io::stdin().lock(), std::io::stdout().lock()).unwrap();
    Some(ExitCode::SUCCESS)
}

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("what no case has is found by the campaign alone", found_by_the_campaign_alone),
    ("a line repeats each kind of failures", lines_repeat),
    ("a crash is found and the rest compared", crashes),
    ("a kind that is listed is known and another is not", known_kinds),
    ("an entry hides no other failure of its operator", hides_nothing),
    ("what an entry covers must fail", covered_passes),
    ("more and fewer calls than an entry says are failures", counted_calls),
    ("a file of schema 1 is drafted again with its reasons", renewed),
    ("under a baseline an operator that is no longer declared is a failure", declares_less),
    ("a kind that is listed and does not occur is a failure", unexpected_passes),
    ("a draft lists every kind", drafts),
    ("a choice of cases leaves the campaign out and one of operators restricts it", choices),
    ("the reference is held to laws alone", the_reference),
    ("an interrupted campaign keeps what it has", interrupted),
];

/// A folder to run in.
struct CampaignFolder(tempfile::TempDir);

/// The result of a run.
struct CampaignRun {
    status: Option<i32>,
    text: String,
    report: Value,
}

impl CampaignFolder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, habit: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path()).env(HABIT, habit).env(NOTE, self.0.path().join("note"));
        command.env_remove("GATHERSPEC_LEVEL");
        command
    }

    /// Runs `gatherspec run` on the backend with a habit.
    fn run(&self, options: &[&str], habit: &str) -> CampaignRun {
        let mut command = self.command(env!("CARGO_BIN_EXE_gatherspec"), habit);
        command.arg("run").args(options).arg("--").arg(std::env::current_exe().unwrap());
        self.ran(command.output().unwrap())
    }

    fn ran(&self, output: Output) -> CampaignRun {
        let usual = self.0.path().join("gatherspec-report");
        let read = std::fs::read(usual.join("chosen/report.json"));
        let read = read.or_else(|_| std::fs::read(usual.join("report.json")));
        // What an earlier run chose would be read again.
        drop(std::fs::remove_dir_all(usual.join("chosen")));
        CampaignRun {
            status: output.status.code(),
            text: String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
            report: serde_json::from_slice(&read.unwrap_or_else(|_| b"null".to_vec())).unwrap(),
        }
    }
}

impl CampaignRun {
    fn backend(&self) -> &Value {
        &self.report["backends"][0]
    }

    fn part(&self, part: usize) -> &Value {
        &self.backend()["campaign"][part]
    }

    fn kinds(&self, part: usize) -> &[Value] {
        self.part(part)["kinds"].as_array().unwrap()
    }

    fn problems(&self) -> String {
        self.backend()["problems"].as_array().map_or(String::new(), |all| format!("{all:?}"))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn found_by_the_campaign_alone() {
    let folder = CampaignFolder::new();
    let cases = folder.run(&["--no-campaign"], "zeros");
    assert_eq!(cases.status, Some(0), "{}", cases.text);
    assert!(cases.backend()["campaign"].is_null(), "{}", cases.report);
    let right = folder.run(&[], "is right");
    assert_eq!(right.status, Some(0), "{}", right.text);
    let said = "drawn calls compared, ";
    assert!(right.text.contains(said) && right.text.contains(": all agree"), "{}", right.text);
    assert!(right.text.contains(" laws checked: ") && right.text.contains(": all hold"), "{}", right.text);
    let ran = folder.run(&[], "zeros");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    assert!(!ran.kinds(0).is_empty() && !ran.kinds(1).is_empty(), "{}", ran.text);
    for kind in ran.kinds(0) {
        assert_eq!(kind["verdict"], "wrong-output");
        let shown =
            ["call", "expected", "actual", "difference", "clauses"].map(|field| !kind[field].is_null());
        assert_eq!(shown, [true; 5], "{kind}");
        assert!(ran.text.contains(text(&kind["id"])), "{}", ran.text);
    }
    for kind in ran.kinds(1) {
        assert!(ran.text.contains(&format!("  law        {}: ", text(&kind["law"]))), "{}", ran.text);
    }
}

fn lines_repeat() {
    let folder = CampaignFolder::new();
    let ran = folder.run(&["--call-limit", "19"], "zeros");
    for kind in ran.kinds(0).iter().chain(ran.kinds(1)) {
        for line in kind["reproduce"].as_array().unwrap() {
            assert!(text(line).contains("--call-limit 19 "), "{line}");
            let bin = Path::new(env!("CARGO_BIN_EXE_gatherspec")).parent().unwrap();
            let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
            let mut shell = folder.command("sh", "zeros");
            let again = folder.ran(shell.args(["-c", text(line)]).env("PATH", path).output().unwrap());
            let results = again.backend()["results"].as_array().unwrap();
            assert_eq!(again.status, Some(1), "{}", again.text);
            assert!(results.iter().any(|result| result["verdict"] == "wrong-output"), "{}", again.text);
        }
    }
}

fn crashes() {
    let folder = CampaignFolder::new();
    let ran = folder.run(&["--campaign", "2000"], "dies");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    assert!(ran.kinds(0).iter().all(|kind| kind["verdict"] == "crash"), "{}", ran.text);
    assert!(
        !ran.kinds(0).is_empty() && ran.part(0)["done"] == 2000 && ran.problems().is_empty(),
        "{}",
        ran.text
    );
    // Without restarts it ends at the first crash, and says so.
    let ran = folder.run(&["--restarts", "0"], "dies");
    assert!(ran.status == Some(1) && ran.problems().contains("0 restarts is used up"), "{}", ran.text);
    assert!(ran.part(0)["done"].as_u64().unwrap() > 0 && ran.part(1).is_null(), "{}", ran.text);
}

/// A file that lists failures of all operators of the backend.
fn file(drawn: &str, laws: &str) -> String {
    format!("schema: 2\ndrawn:\n{drawn}laws:\n{laws}")
}

const DRAWN: &str =
    "  - { operator: '*', verdict: [wrong-output, pass], calls: 1.., reason: odd sizes give zeros }\n";
const LAWS: &str = "  - { law: '*', operator: paddle.gather_nd, verdict: [wrong-output, pass], calls: 1.., reason: odd sizes give zeros }\n";

/// A file for a backend that refuses what has a high rank, which its message says.
const REFUSES: &str = "schema: 2
deviations:
  - { case: '*', where: { message: no rank above 4 }, verdict: rejected-good-input, reason: four axes }
drawn:
  - { operator: '*', where: { message: no rank above 4 }, verdict: rejected-good-input, reason: four axes }
laws:
  - { law: '*', operator: '*', where: { message: no rank above 4 }, verdict: rejected-good-input, reason: four axes }
";

fn known_kinds() {
    let folder = CampaignFolder::new();
    folder.write("known.yaml", &file(DRAWN, LAWS));
    let known = folder.run(&["--deviations", "known.yaml"], "zeros");
    assert_eq!(known.status, Some(0), "{}", known.text);
    assert!(known.kinds(0).iter().all(|kind| kind["verdict"] == "known-deviation"), "{}", known.report);
    assert!(known.text.contains(" known-deviation (wrong-output): odd sizes give zeros"), "{}", known.text);
    // A part of the kinds, and a part of the operators.
    folder.write("drawn.yaml", &format!("schema: 2\ndrawn:\n{DRAWN}"));
    let laws = folder.run(&["--deviations", "drawn.yaml"], "zeros");
    assert_eq!(laws.status, Some(1), "{}", laws.text);
    assert!(laws.kinds(0).iter().all(|kind| kind["verdict"] == "known-deviation"), "{}", laws.report);
    assert!(laws.kinds(1).iter().all(|kind| kind["verdict"] == "wrong-output"), "{}", laws.report);
    folder.write("one.yaml", &file(&DRAWN.replace("'*'", "tf.gather"), LAWS));
    let one = folder.run(&["--deviations", "one.yaml"], "zeros");
    let other = one.kinds(0).iter().find(|kind| kind["operator"] == "paddle.gather_nd").unwrap();
    assert_eq!((one.status, text(&other["verdict"])), (Some(1), "wrong-output"), "{}", one.text);
    for (wrong, said) in [
        (file(&DRAWN.replace("'*'", "tf.gahter"), LAWS), "matches no operator"),
        (file(DRAWN, &LAWS.replace("law: '*'", "law: no-such")), "matches no law"),
        (file(DRAWN, DRAWN), "needs a `law`"),
        ("schema: 2\n".to_owned(), "has none of `deviations`, `drawn` and `laws`"),
        (file(&DRAWN.replace("calls: 1.., ", ""), LAWS), "lists `pass`, and so needs `calls`"),
        (file(&DRAWN.replace("verdict: [wrong-output, pass], ", ""), LAWS), "needs a `verdict`"),
        (file(DRAWN, &LAWS.replace("verdict", "where: { expected: output }, verdict")), "which no law has"),
        (file(LAWS, LAWS), "belongs under `laws`"),
        (file(&DRAWN.replace("odd sizes give zeros", "''"), LAWS), "has no reason"),
    ] {
        folder.write("wrong.yaml", &wrong);
        let refused = folder.run(&["--deviations", "wrong.yaml"], "zeros");
        assert!(refused.status == Some(2) && refused.text.contains(said), "{said}: {}", refused.text);
    }
}

fn hides_nothing() {
    let folder = CampaignFolder::new();
    folder.write("known.yaml", REFUSES);
    let known = folder.run(&["--deviations", "known.yaml"], "refuses");
    assert_eq!(known.status, Some(0), "{}", known.text);
    assert!(!known.kinds(0).is_empty() && !known.kinds(1).is_empty(), "{}", known.report);
    let before: u64 = known.kinds(0).iter().map(|kind| kind["count"].as_u64().unwrap()).sum();
    // A new bug of the same operators, with the same verdict.
    let ran = folder.run(&["--deviations", "known.yaml"], "refuses more");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    let (new, old): (Vec<&Value>, Vec<&Value>) =
        ran.kinds(0).iter().partition(|kind| kind["verdict"] == "rejected-good-input");
    assert!(new.iter().all(|kind| text(&kind["actual"]).contains("no kernel")), "{new:?}");
    assert!(!new.is_empty() && old.iter().all(|kind| kind["verdict"] == "known-deviation"), "{old:?}");
    assert_eq!(old.iter().map(|kind| kind["count"].as_u64().unwrap()).sum::<u64>(), before);
    // Each has an id of its own, and any number of processes finds the same.
    let ids: std::collections::BTreeSet<&str> = ran.kinds(0).iter().map(|kind| text(&kind["id"])).collect();
    assert_eq!(ids.len(), ran.kinds(0).len(), "{ids:?}");
    let more = folder.run(&["--deviations", "known.yaml", "--jobs", "3"], "refuses more");
    let counts = |ran: &CampaignRun| -> Vec<(String, u64)> {
        ran.kinds(0).iter().map(|one| (text(&one["id"]).to_owned(), one["count"].as_u64().unwrap())).collect()
    };
    assert_eq!(counts(&more), counts(&ran));
}

fn covered_passes() {
    let folder = CampaignFolder::new();
    let entry = "schema: 2\ndrawn:\n  - { operator: tf.gather, where: { rank: 5.., expected: output }, verdict: \
                 rejected-good-input, reason: four axes }\n";
    folder.write("known.yaml", entry);
    let kinds = |habit| folder.run(&["--deviations", "known.yaml"], habit);
    let exact = kinds("refuses");
    let of_gather = |ran: &CampaignRun| -> Vec<String> {
        let of = ran.kinds(0).iter().filter(|kind| kind["operator"] == "tf.gather");
        of.map(|kind| text(&kind["verdict"]).to_owned()).collect()
    };
    assert!(of_gather(&exact).iter().all(|verdict| verdict == "known-deviation"), "{}", exact.text);
    let right = kinds("is right");
    assert_eq!(right.status, Some(1), "{}", right.text);
    assert!(!of_gather(&right).is_empty(), "{}", right.text);
    assert!(of_gather(&right).iter().all(|verdict| verdict == "unexpected-pass"), "{}", right.text);
    let said = "the deviation operator: tf.gather, where: { expected: output, rank: 5.. }, verdict: rejected-good-input";
    assert!(right.text.contains(said), "{}", right.text);
    // The example is a call that passes, reduced as far as the entry covers it.
    let call = right.kinds(0).iter().find_map(|kind| kind["call"].as_str()).unwrap();
    assert!(call.contains("tf.gather"), "{call}");
}

fn counted_calls() {
    let folder = CampaignFolder::new();
    let with = |calls: u64, options: &[&str]| {
        let drawn = DRAWN.replace("'*'", "tf.gather").replace("1..", &calls.to_string());
        folder.write("known.yaml", &format!("schema: 2\ndrawn:\n{drawn}"));
        folder.run(&[&["--deviations", "known.yaml", "--operator", "tf.gather"], options].concat(), "zeros")
    };
    let ran = with(0, &[]);
    let count: u64 = ran.kinds(0).iter().map(|kind| kind["count"].as_u64().unwrap()).sum();
    let said = format!("occurred in {count} calls of the campaign on tf.gather, and says 0");
    assert!(count > 1 && ran.problems().contains(&said), "{}", ran.problems());
    assert_eq!(with(count, &[]).problems(), "");
    for wrong in [count - 1, count + 1] {
        assert!(with(wrong, &[]).problems().contains(&format!("and says {wrong}")));
    }
    // A longer campaign has the same calls and more; a shorter one lacks some.
    assert_eq!(with(count, &["--campaign", "6000"]).problems(), "");
    assert_eq!(with(count, &["--campaign", "1000"]).problems(), "");
}

fn renewed() {
    let folder = CampaignFolder::new();
    let old = "schema: 1\ndrawn:\n  - { operator: '*', kind: 'wrong-output*', reason: odd sizes give zeros }\n\
               laws:\n  - { law: '*', operator: '*', kind: 'wrong-output*', reason: odd sizes give zeros }\n";
    folder.write("old.yaml", old);
    let refused = folder.run(&["--deviations", "old.yaml"], "zeros");
    let said = "help: `gatherspec run --deviations old.yaml --write-deviations NEW`";
    assert!(refused.status == Some(2) && refused.text.contains(said), "{}", refused.text);
    let ran = folder.run(&["--deviations", "old.yaml", "--write-deviations", "new.yaml"], "zeros");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    let new = std::fs::read_to_string(folder.0.path().join("new.yaml")).unwrap();
    assert!(new.contains("\nschema: 2\n") && !new.contains("reason: \"\""), "{new}");
    let ran = folder.run(&["--deviations", "new.yaml"], "zeros");
    assert_eq!(ran.status, Some(0), "{}{new}", ran.text);
}

fn declares_less() {
    let folder = CampaignFolder::new();
    let cases = ["--no-campaign", "--operator", "tf.gather", "--operator", "paddle.gather_nd"];
    let before = folder.run(&cases, "is right");
    assert_eq!(before.status, Some(0), "{}", before.text);
    folder.write("before.json", &before.report.to_string());
    let against = [&cases[..], &["--baseline", "before.json"]].concat();
    let same = folder.run(&against, "is right");
    assert_eq!(same.status, Some(0), "{}", same.text);
    let less = folder.run(&against, "declares less");
    assert_eq!(less.status, Some(1), "{}", less.text);
    assert!(less.text.contains("paddle.gather_nd is no longer declared: "), "{}", less.text);
    assert!(less.text.contains(": 1 new failure, "), "{}", less.text);
    // It is of no concern to a run of other operators.
    let other = ["--no-campaign", "--operator", "tf.gather", "--baseline", "before.json"];
    assert_eq!(folder.run(&other, "declares less").status, Some(0));
}

fn unexpected_passes() {
    let folder = CampaignFolder::new();
    folder.write("known.yaml", &format!("schema: 2\ndrawn:\n{DRAWN}"));
    let said = |operator: &str| {
        format!(
            "unexpected-pass: the deviation `operator: *, verdict: pass or wrong-output` did not occur in the campaign on \
             {operator}"
        )
    };
    for (options, operators) in [
        (&[][..], &["tf.gather", "paddle.gather_nd"][..]),
        (&["--operator", "tf.gather"], &["tf.gather"]),
        (&["--campaign", "4001"], &["tf.gather", "paddle.gather_nd"]),
    ] {
        let ran = folder.run(&[&["--deviations", "known.yaml"], options].concat(), "is right");
        assert_eq!(ran.status, Some(1), "{}", ran.text);
        assert_eq!(ran.problems().matches("did not occur").count(), operators.len(), "{}", ran.problems());
        assert!(
            operators.iter().all(|operator| ran.problems().contains(&said(operator))),
            "{}",
            ran.problems()
        );
    }
    // A shorter campaign need not have it.
    let ran = folder.run(&["--deviations", "known.yaml", "--campaign", "100"], "is right");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    folder.write("known.yaml", &format!("schema: 2\ndrawn:\n{}", DRAWN.replace("1..", "0..")));
    let ran = folder.run(&["--deviations", "known.yaml"], "is right");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    // An entry about an operator that the backend does not declare fails where that operator is chosen.
    folder.write("known.yaml", &format!("schema: 2\ndrawn:\n{}", DRAWN.replace("'*'", "numpy.take")));
    let ran = folder.run(&["--deviations", "known.yaml"], "is right");
    assert!(ran.status == Some(1) && ran.problems().contains("does not declare numpy.take"), "{}", ran.text);
    let ran = folder.run(&["--deviations", "known.yaml", "--operator", "tf.gather"], "is right");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
}

fn drafts() {
    let folder = CampaignFolder::new();
    let ran = folder.run(&["--write-deviations", "draft.yaml"], "zeros of grids");
    assert_eq!(ran.status, Some(1), "{}", ran.text);
    let draft = std::fs::read_to_string(folder.0.path().join("draft.yaml")).unwrap();
    assert!(draft.contains("\ndrawn:\n") && draft.contains("\nlaws:\n"), "{draft}");
    // No selector describes the sizes that fail, so each has an entry.
    let of_a_grid = |line: &&str| line.starts_with("  - case: ") && line.contains("element-bytes=");
    assert!(draft.lines().filter(of_a_grid).count() > 1, "{draft}");
    folder.write("draft.yaml", &draft.replace("reason: \"\"", "reason: odd sizes give zeros"));
    let found = folder.0.path().join("gatherspec-report/found");
    assert!(std::fs::read_dir(&found).unwrap().count() > 0);
    std::fs::write(found.join("mine.yaml"), "schema: 2\n").unwrap();
    let ran = folder.run(&["--deviations", "draft.yaml"], "zeros of grids");
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    // A campaign that finds nothing new leaves nothing of an earlier one, and files of others alone.
    let left: Vec<_> = std::fs::read_dir(&found).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.yaml"]);
    // It holds reasons now.
    let ran = folder.run(&["--write-deviations", "draft.yaml"], "zeros");
    assert!(ran.status == Some(2) && ran.text.contains("holds reasons"), "{}", ran.text);
}

fn choices() {
    let folder = CampaignFolder::new();
    for options in [
        &["--case", "tf.gather/documented/*"][..],
        &["--basis", "documented"],
        &["--suite", "smoke"],
        &["--campaign", "0"],
    ] {
        let ran = folder.run(options, "zeros");
        assert!(ran.status == Some(0) && ran.backend()["campaign"].is_null(), "{}", ran.text);
    }
    let both = folder.run(&["--case", "tf.gather/documented/*", "--campaign", "500"], "is right");
    assert_eq!(both.part(0)["done"], 500, "{}", both.text);
    // The same calls, less those of other operators.
    let all = folder.run(&[], "is right");
    let some = folder.run(&["--operator", "tf.gather"], "is right");
    let of = |ran: &CampaignRun, operator: &str| ran.part(0)["counts"][operator].clone();
    assert_eq!(of(&all, "tf.gather"), of(&some, "tf.gather"));
    let columns = of(&some, "paddle.gather_nd");
    let columns: Vec<&String> = columns.as_object().unwrap().keys().collect();
    assert!(columns.iter().all(|column| column.starts_with("not ")), "{columns:?}");
    let refused = folder.run(&["--campaign", "5", "--no-campaign"], "is right");
    assert_eq!(refused.status, Some(2), "{}", refused.text);
}

fn the_reference() {
    let folder = CampaignFolder::new();
    let mut command = folder.command(env!("CARGO_BIN_EXE_gatherspec"), "");
    let ran =
        folder.ran(command.args(["run", "--backend", "reference", "--campaign", "300"]).output().unwrap());
    assert_eq!(ran.status, Some(0), "{}", ran.text);
    assert!(ran.text.contains("compared with itself: left out"), "{}", ran.text);
    assert!(ran.part(0)["compared"] == 0 && ran.part(1)["compared"].as_u64().unwrap() > 100, "{}", ran.text);
}

#[cfg(unix)]
fn interrupted() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = CampaignFolder::new();
    let mut command = folder.command(env!("CARGO_BIN_EXE_gatherspec"), "hangs");
    command.args(["run", "--call-limit", "600", "--", std::env::current_exe().unwrap().to_str().unwrap()]);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let note = folder.0.path().join("note");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !note.exists() {
        assert!(std::time::Instant::now() < deadline, "no call hangs");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15));
    let ran = folder.ran(output);
    let done = ran.part(0)["done"].as_u64().unwrap();
    let said = format!("interrupted by SIGTERM: {done} of 4000 drawn calls were done");
    assert!((1..4000).contains(&done) && ran.problems().contains(&said), "{}", ran.text);
    assert!(
        ran.backend()["results"].as_array().unwrap().len() > 100 && ran.part(1).is_null(),
        "{}",
        ran.text
    );
}

#[cfg(not(unix))]
fn interrupted() {}
