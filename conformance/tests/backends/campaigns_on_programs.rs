//! Campaigns on backends that are programs, by several workers: they find what one worker finds, even if
//! processes die meanwhile. This program is the tests and, if its environment says so, a backend.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use gather_campaign::fuzz::{
    Aborted, Campaign, CampaignReport, CampaignSubject, Corpus, Differential, GENERATORS, Pace, Saved, Saver,
    Shard, drive,
};
use gather_campaign::generate::EDGES_IN;
use gather_campaign::laws::Laws;
use gather_conformance::internals::check::Check;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::process::{Dialogue, ProcessBackend};
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};
use gather_spec::{DType, Run, Signatures, Specification};
use rustix::process::{Pid, Signal, kill_process};

use crate::miniatures::{MODE, NOTE};

const CASES: u64 = 600;

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("workers/their-number-does-not-matter", their_number_does_not_matter),
    ("workers/laws-hold-whatever-their-number", laws_hold_whatever_their_number),
    ("crashes/are-found-and-counted-alike", crashes_are_found_and_counted_alike),
    ("crashes/with-replies-unwritten-are-found-and-counted-alike", crashes_with_replies_unwritten),
    ("crashes/beyond-the-budget-cost-no-more-than-time", crashes_beyond_the_budget),
    ("crashes/a-death-from-outside-is-one-failure", a_death_from_outside),
    ("time/covers-a-call-that-hangs", a_call_that_hangs),
    ("time/covers-making-examples-small", examples_that_hang),
    ("time/covers-starting-again", a_start_that_hangs),
    ("time/covers-what-was-saved", saved_cases_that_hang),
    ("time/workers-that-do-not-stop-end-together", workers_that_do_not_stop),
    ("nothing/is-tested-where-nothing-is-done", nothing_is_done),
    ("nothing/is-tested-where-nothing-is-declared", nothing_is_declared),
    ("signals/an-interrupted-campaign-goes-on", an_interrupted_campaign_goes_on),
];

/// A backend of `miniatures`, started again as often as it may take.
fn backend(mode: &str, restarts: usize) -> ProcessBackend {
    let mut backend = ProcessBackend::new(std::env::current_exe().unwrap());
    backend.environment.push((MODE.into(), mode.into()));
    backend.limits.restarts = restarts;
    backend
}

fn start(backend: &ProcessBackend, against: &str) -> CampaignReport {
    let campaign = Campaign {
        suite: "0".to_owned(),
        generators: GENERATORS,
        backend: "miniature".to_owned(),
        against: against.to_owned(),
        seed: 2,
        operators: Vec::new(),
        edges_in: EDGES_IN,
        cases: Some(CASES),
    };
    let backend = Dialogue::start(backend.clone()).unwrap().description().backend.clone();
    CampaignReport::new(campaign, Shard::WHOLE, backend)
}

fn signatures() -> Signatures {
    gather_spec::load::operators().unwrap().into_iter().collect()
}

/// Goes on with a report until it is complete or a worker gives up; gives what was noted last.
fn go_on(
    from: CampaignReport,
    backend: &ProcessBackend,
    workers: usize,
) -> (CampaignReport, Option<Aborted>) {
    go_on_until(from, backend, workers, None)
}

fn go_on_until(
    from: CampaignReport,
    backend: &ProcessBackend,
    workers: usize,
    end: Option<Instant>,
) -> (CampaignReport, Option<Aborted>) {
    let dialogue = || CampaignSubject::Process(Box::new(Dialogue::start(backend.clone()).unwrap()));
    let subjects: Vec<CampaignSubject> = (0..workers).map(|_| dialogue()).collect();
    let description = subjects[0].description();
    let check: Box<dyn Check> = if from.campaign.against == "laws" {
        Box::new(Laws::new(description, &signatures(), &[], false, &[]).unwrap())
    } else {
        Box::new(Differential::new(description, &signatures(), Vec::new(), Strictness::Lenient))
    };
    let spec = Specification::default();
    let named = Reproduction::anywhere(BackendNaming::Command, "./miniature", &[]);
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let pace = Pace { end, checkpoint: Duration::from_secs(5) };
    let mut noted = from.clone();
    let ended = drive(from, &*check, subjects, pace, &saver, &mut |report| {
        noted = CampaignReport { seconds: 0.0, ..report.clone() };
        Ok(())
    });
    (noted, ended.err())
}

fn run(backend: &ProcessBackend, against: &str, workers: usize) -> CampaignReport {
    let (report, stopped) = go_on(start(backend, against), backend, workers);
    assert!(report.complete && stopped.is_none(), "{stopped:?}");
    report
}

/// What one worker finds of a backend that dies at strings.
static DEATHS: LazyLock<CampaignReport> =
    LazyLock::new(|| run(&backend("dies-at-strings", usize::MAX), "reference", 1));

fn their_number_does_not_matter() {
    let backend = backend("honest", 0);
    let one = run(&backend, "reference", 1);
    assert!(one.is_clean(), "{:#?}", one.groups);
    assert_eq!(run(&backend, "reference", 3), one);
}

fn laws_hold_whatever_their_number() {
    let backend = backend("honest", 0);
    let one = run(&backend, "laws", 1);
    assert!(one.is_clean(), "{:#?}", one.groups);
    assert_eq!(run(&backend, "laws", 3), one);
}

fn crashes_are_found_and_counted_alike() {
    let one = &*DEATHS;
    assert!(one.groups.iter().all(|group| group.key.strings && group.key.verdict == Verdict::Crash));
    assert!(one.failures() > CASES / 20, "{} failures", one.failures());
    for group in &one.groups {
        let example = group.example.as_ref().unwrap();
        assert!(example.actual.contains("exit status 3") && example.calls[0].len() < 160, "{example:?}");
    }
    assert_eq!(&run(&backend("dies-at-strings", usize::MAX), "reference", 3), one);
    // Every call is counted with its operator: what got no answer as what happened, the others as ever.
    let honest = run(&backend("honest", 0), "reference", 2);
    let mut counts = one.counts.clone();
    let row = counts.get_mut("tf.gather_nd").unwrap();
    assert_eq!(row.remove("crash"), Some(one.failures()));
    for group in &one.groups {
        let expected = group.key.expected.clone().unwrap_or_else(|| "output".to_owned());
        *row.entry(expected).or_default() += group.count;
    }
    assert_eq!((&one.digest, &counts), (&honest.digest, &honest.counts));
}

/// The calls whose replies were lost are answered when they are asked alone.
fn crashes_with_replies_unwritten() {
    let lost = run(&backend("when-idle-writes-but-dies-at-strings", usize::MAX), "reference", 2);
    assert_eq!(lost, *DEATHS);
}

/// What was done before is kept, with its examples, so that going on leads to the end.
fn crashes_beyond_the_budget() {
    let backend = backend("dies-at-strings", 20);
    let mut report = start(&backend, "reference");
    let mut stops = 0;
    while !report.complete {
        let before = report.done;
        let (after, stopped) = go_on(report, &backend, 2);
        assert!(after.done > before, "no case is done before the budget is used up");
        assert!(after.groups.iter().all(|group| group.example.is_some()), "{:#?}", after.groups);
        if let Some(stopped) = stopped {
            let why = stopped.to_string();
            assert!(
                why.contains("20 restarts is used up; at last") && why.contains("exit status 3"),
                "{why}"
            );
            stops += 1;
        }
        report = after;
    }
    assert!(stops > 1, "the budget was used up {stops} times");
    assert_eq!(report, *DEATHS);
}

/// One call is blamed. It is shown although the failure does not recur, and all other calls are as before.
fn a_death_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = backend("dies-once", 1);
    backend.environment.push((NOTE.into(), folder.path().join("was here").into()));
    let found = run(&backend, "reference", 2);
    let [group] = &found.groups[..] else { panic!("{:#?}", found.groups) };
    assert_eq!((group.key.verdict, group.count), (Verdict::Crash, 1));
    let example = group.example.as_ref().unwrap();
    assert_eq!((example.actual.as_str(), example.calls.len()), ("it did not fail again", 1));
    let honest = run(&self::backend("honest", 0), "reference", 1);
    let mut counts = honest.counts.clone();
    let row = counts.get_mut("tf.gather_nd").unwrap();
    row.insert("crash".to_owned(), 1);
    let expected = group.key.expected.as_deref().unwrap_or("output");
    *row.get_mut(expected).unwrap() -= 1;
    assert_eq!(CampaignReport { groups: Vec::new(), ..found }, CampaignReport { counts, ..honest });
}

/// Half of what waiting for a call that hangs would take, and far more than a loaded machine needs to end a campaign.
const PATIENCE: Duration = Duration::from_secs(10);

/// Goes on for some seconds; gives what was noted last, and checks that it waited for nothing that hangs.
fn run_for(from: CampaignReport, backend: &ProcessBackend, workers: usize, seconds: f64) -> CampaignReport {
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let (report, stopped) = go_on_until(from, backend, workers, Some(end));
    assert!(stopped.is_none(), "{stopped:?}");
    assert!(end.elapsed() < PATIENCE, "{:?}, of {seconds} s", start.elapsed());
    report
}

/// The calls before it have their answers, and it is asked again when the campaign goes on.
fn a_call_that_hangs() {
    let backend = backend("hangs-at-strings", 3);
    let begun = run_for(start(&backend, "reference"), &backend, 1, 1.0);
    assert!(begun.is_clean() && !begun.complete, "{:#?}", begun.groups);
    assert!((1..100).contains(&begun.done) && begun.tested() > 0, "{} are done", begun.done);
    assert_eq!(begun.counts.values().flat_map(|row| row.values()).sum::<u64>(), begun.done);
    let honest = self::backend("honest", 0);
    let (whole, _) = go_on(begun, &honest, 2);
    assert_eq!(whole, run(&honest, "reference", 1));
}

/// Each of these takes a fifth of a second every time that it is asked, and there are 400 tries for each kind.
fn examples_that_hang() {
    let mut backend = backend("hangs-at-strings", usize::MAX);
    backend.limits.call = Duration::from_millis(200);
    let found = run_for(start(&backend, "reference"), &backend, 1, 3.0);
    let timeouts = found.counts["tf.gather_nd"]["timeout"];
    assert!(timeouts > 0 && timeouts == found.failures(), "{:#?}", found.counts);
    for group in &found.groups {
        assert_eq!(group.key.verdict, Verdict::Timeout);
        let example = group.example.as_ref().unwrap();
        assert!(example.actual.contains("did not come within 200ms"), "{example:?}");
        assert!(!example.calls.is_empty() && !example.replay.is_empty(), "{example:?}");
    }
}

fn a_start_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let mut backend = backend("hangs-when-started-again", 3);
    backend.environment.push((NOTE.into(), folder.path().join("was here").into()));
    // The campaign's own process is the first one that is started.
    let honest = start(&self::backend("honest", 0), "reference");
    let found = run_for(honest, &backend, 1, 1.0);
    assert!(!found.complete && found.done < 100, "{} are done", found.done);
}

fn saved_cases_that_hang() {
    let spec = Specification::embedded().unwrap();
    let runs = spec.runs();
    let saved = |dtype: DType| {
        let fits =
            |case: &&Run| case.call.operator.as_str() == "tf.gather_nd" && case.params().dtype() == dtype;
        Saved { file: "saved.yaml".into(), run: runs.iter().find(fits).unwrap().clone() }
    };
    let cases = [DType::F32, DType::String, DType::F32].map(saved);
    let mut subject =
        CampaignSubject::Process(Box::new(Dialogue::start(backend("hangs-at-strings", 3)).unwrap()));
    let named = Reproduction::anywhere(BackendNaming::Command, "./miniature", &[]);
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let end = Instant::now() + Duration::from_millis(500);
    let corpus = Corpus::ask(&cases, &mut subject, Strictness::Lenient, &saver, Some(end)).unwrap();
    assert!(end.elapsed() < PATIENCE, "{:?}", end.elapsed());
    assert_eq!((corpus.cases, corpus.judged(), corpus.unasked), (3, 1, 2), "{corpus:#?}");
    let report = CampaignReport { corpus: Some(corpus), ..start(&backend("honest", 0), "reference") };
    assert_eq!(report.gap().unwrap(), "2 of 3 saved cases were not asked before the time was up");
}

fn workers_that_do_not_stop() {
    let mut backend = backend("ignores-stop", 0);
    backend.limits.stop = Duration::from_secs(2);
    let start = start(&self::backend("honest", 0), "reference");
    let began = Instant::now();
    let (report, stopped) = go_on(start, &backend, 6);
    assert!(report.complete && stopped.is_none(), "{stopped:?}");
    // One after the other, they would take as long as this for their ends alone.
    assert!(began.elapsed() < 6 * backend.limits.stop, "{:?}", began.elapsed());
}

/// Every law is skipped where every answer is `unsupported`; compared with the reference, all of it fails.
fn nothing_is_done() {
    let backend = backend("does-nothing-that-it-declares", 0);
    let laws = run(&backend, "laws", 1);
    assert_eq!((laws.is_clean(), laws.tested()), (true, 0), "{:#?}", laws.counts);
    let why = laws.gap().unwrap();
    assert_eq!(why, "nothing was tested: of 600 cases none has an answer that can be compared");
    let compared = run(&backend, "reference", 1);
    assert!(compared.tested() > 500 && compared.failures() > 500, "{:#?}", compared.counts);
    assert_eq!(run(&self::backend("honest", 0), "laws", 1).gap(), None);
}

/// `run` and `fuzz` as a user meets them: the status, and words of what is said.
fn nothing_is_declared() {
    let folder = tempfile::tempdir().unwrap();
    let ended = |arguments: &[&str], mode: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        command.args(arguments).arg("--").arg(std::env::current_exe().unwrap());
        let output = command.env(MODE, mode).current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let fuzz = ["fuzz", "--cases", "200", "--report", "fuzz.json"];
    let run = ["run", "--case", "tf.gather_nd/*", "--out", "."];
    let laws = [&fuzz[..], &["--laws"]].concat();
    let meant =
        "declares `tf.gather_dn`, which the specification does not have; did you mean `tf.gather_nd`?";
    for (mode, words) in [
        ("declares-nothing", "it declares no operator that the specification has"),
        ("declares-no-dtypes", "with dtypes of params and of indices"),
        ("misspells-its-operator", meant),
    ] {
        for arguments in [&fuzz[..], &laws, &run] {
            let (status, text) = ended(arguments, mode);
            assert!(status == Some(3) && text.contains(words), "{mode} {arguments:?}: {status:?} {text}");
        }
    }
    // Nothing else fails, but a misspelt operator is not tested.
    for arguments in [&fuzz[..], &laws, &run] {
        let (status, text) = ended(arguments, "misspells-an-operator");
        assert_eq!(status, Some(1), "{text}");
        assert!(text.replace('\n', " ").contains("did you mean `tf.gather`?"), "{text}");
        assert!(!text.contains("tf.Gather  "), "nothing is drawn for it: {text}");
    }
    let (status, text) = ended(&laws, "does-nothing-that-it-declares");
    assert!(status == Some(2) && text.contains("error: nothing was tested"), "{status:?} {text}");
    let (status, text) = ended(&["run", "--operator", "tf.gather", "--out", "."], "honest");
    assert!(status == Some(2) && text.contains("error: nothing was tested"), "{status:?} {text}");
    let (status, text) = ended(&["run", "--failed", "--out", "."], "honest");
    assert!(status == Some(2) && text.contains("the last run tested nothing"), "{status:?} {text}");
}

/// The program itself, ended from outside as a scheduler does it.
fn an_interrupted_campaign_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let fuzz = |report: &Path, jobs: &str| {
        let gatherspec = env!("CARGO_BIN_EXE_gatherspec");
        let mut fuzz = Command::new(gatherspec);
        fuzz.args([
            "fuzz",
            "--cases",
            "60000",
            "--checkpoint",
            "0.05",
            "--resume",
            "--jobs",
            jobs,
            "--report",
        ]);
        fuzz.arg(report).args(["--", gatherspec, "serve", "optimized"]).stdout(Stdio::null());
        // What it leaves goes with the folder.
        fuzz.env("TMPDIR", folder.path());
        fuzz
    };
    let read = |path: &Path| CampaignReport { seconds: 0.0, ..CampaignReport::read(path).unwrap() };
    let (whole, file) = (folder.path().join("whole.json"), folder.path().join("fuzz.json"));
    assert!(fuzz(&whole, "1").status().unwrap().success());
    for signal in [Signal::TERM, Signal::KILL] {
        let before = if file.exists() { read(&file).done } else { 0 };
        let mut campaign = fuzz(&file, "2").spawn().unwrap();
        while !file.exists() || read(&file).done == before {
            assert!(campaign.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&campaign), signal).unwrap();
        assert!(!campaign.wait().unwrap().success());
        assert!(!read(&file).complete);
    }
    assert!(fuzz(&file, "3").status().unwrap().success());
    assert_eq!(read(&file), read(&whole));
}
