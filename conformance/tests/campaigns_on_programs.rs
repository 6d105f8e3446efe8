//! Campaigns on backends that are programs, by several workers: they find what one worker finds, whatever dies
//! meanwhile. This program is both the tests and, told so by its environment, the backends.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

#[cfg(unix)]
mod miniatures;

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: the backends of these tests need unix");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    miniatures::or_else(tests::main)
}

#[cfg(unix)]
mod tests {
    use std::path::Path;
    use std::process::{Command, ExitCode, Stdio};
    use std::time::Duration;

    use gather_conformance::fuzz::{
        Campaign, Check, Differential, GENERATORS, Named, Pace, Report, Saver, Shard, Stopped, Subject, drive,
    };
    use gather_conformance::judge::{Strictness, Verdict};
    use gather_conformance::laws::Laws;
    use gather_conformance::process::{Dialogue, ProcessBackend};
    use gather_spec::Specification;
    use libtest_mimic::{Arguments, Trial};
    use rustix::process::{Pid, Signal, kill_process};

    use super::miniatures::{MODE, NOTE};

    const CASES: u64 = 600;

    pub(super) fn main() -> ExitCode {
        let trials: [(&str, fn()); 7] = [
            ("workers/their-number-does-not-matter", their_number_does_not_matter),
            ("workers/laws-hold-whatever-their-number", laws_hold_whatever_their_number),
            ("crashes/are-found-and-counted-alike", crashes_are_found_and_counted_alike),
            ("crashes/with-replies-unwritten-are-found-and-counted-alike", crashes_with_replies_unwritten),
            ("crashes/beyond-the-budget-cost-no-more-than-time", crashes_beyond_the_budget),
            ("crashes/a-death-from-outside-is-one-failure", a_death_from_outside),
            ("signals/an-interrupted-campaign-goes-on", an_interrupted_campaign_goes_on),
        ];
        let trials = trials.map(|(name, test)| {
            Trial::test(name, move || {
                test();
                Ok(())
            })
        });
        libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
    }

    /// A backend of `miniatures`, started again as often as it may take.
    fn backend(mode: &str, restarts: usize) -> ProcessBackend {
        let mut backend = ProcessBackend::new(std::env::current_exe().unwrap());
        backend.environment.push((MODE.into(), mode.into()));
        backend.limits.restarts = restarts;
        backend
    }

    fn start(backend: &ProcessBackend, against: &str) -> Report {
        let campaign = Campaign {
            suite: "0".to_owned(),
            generators: GENERATORS,
            backend: "miniature".to_owned(),
            against: against.to_owned(),
            seed: 1,
            cases: Some(CASES),
        };
        let backend = Dialogue::start(backend.clone()).unwrap().description().backend.clone();
        Report::new(campaign, Shard::WHOLE, backend)
    }

    /// Goes on with a report until it is complete or a worker gives up; gives what was noted last.
    fn go_on(from: Report, backend: &ProcessBackend, workers: usize) -> (Report, Option<Stopped>) {
        let dialogue = || Subject::Process(Box::new(Dialogue::start(backend.clone()).unwrap()));
        let subjects: Vec<Subject> = (0..workers).map(|_| dialogue()).collect();
        let description = subjects[0].description();
        let check: Box<dyn Check> = if from.campaign.against == "laws" {
            Box::new(Laws::new(description, &[], false, &[]).unwrap())
        } else {
            Box::new(Differential::new(description, Vec::new(), Strictness::Lenient))
        };
        let spec = Specification::default();
        let named = Named::Command("./miniature".to_owned());
        let saver = Saver { spec: &spec, folder: None, backend: &named, options: "" };
        let pace = Pace { time: None, checkpoint: Duration::from_secs(5) };
        let mut noted = from.clone();
        let ended = drive(from, &*check, subjects, pace, &saver, &mut |report| {
            noted = Report { seconds: 0.0, ..report.clone() };
            Ok(())
        });
        (noted, ended.err())
    }

    fn run(backend: &ProcessBackend, against: &str, workers: usize) -> Report {
        let (report, stopped) = go_on(start(backend, against), backend, workers);
        assert!(report.complete && stopped.is_none(), "{stopped:?}");
        report
    }

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
        let backend = backend("dies-at-strings", usize::MAX);
        let one = run(&backend, "reference", 1);
        assert!(one.groups.iter().all(|group| group.key.strings && group.key.verdict == Verdict::Crash));
        assert!(one.failures() > CASES / 20, "{} failures", one.failures());
        for group in &one.groups {
            let example = group.example.as_ref().unwrap();
            assert!(example.actual.contains("exit status 3") && example.calls[0].len() < 160, "{example:?}");
        }
        assert_eq!(run(&backend, "reference", 3), one);
        let honest = run(&self::backend("honest", 0), "reference", 2);
        assert_eq!((&one.digest, &one.counts), (&honest.digest, &honest.counts));
    }

    /// The calls whose replies were lost are answered when they are asked alone.
    fn crashes_with_replies_unwritten() {
        let lost = run(&backend("when-idle-writes-but-dies-at-strings", usize::MAX), "reference", 2);
        assert_eq!(lost, run(&backend("dies-at-strings", usize::MAX), "reference", 1));
    }

    /// What was done before is kept, with its examples, so that going on leads to the end.
    fn crashes_beyond_the_budget() {
        let whole = run(&backend("dies-at-strings", usize::MAX), "reference", 1);
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
        assert_eq!(report, whole);
    }

    /// One call pays. It is shown although nobody can repeat it, and all others are as ever.
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
        assert_eq!(Report { groups: Vec::new(), ..found }, honest);
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
        let read = |path: &Path| Report { seconds: 0.0, ..Report::read(path).unwrap() };
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
}
