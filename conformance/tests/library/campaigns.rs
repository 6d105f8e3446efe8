//! Campaigns: laws and differences on the built-in backends, shards, interruptions, reports.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use gather_campaign::fuzz::{
    Campaign, CampaignReport, CampaignSubject, Corpus, Differential, GENERATORS, Pace, Saved, Saver, Shard,
    drive, merge,
};
use gather_campaign::generate::{CallGenerator, ChoiceSequence, EDGES_IN};
use gather_campaign::laws::{LAWS, Laws};
use gather_conformance::backend::Description;
use gather_conformance::internals::check::{
    CallRequest, CallResult, CallSettings, Check, Key, Step, Tally, Violation,
};
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};
use gather_conformance::internals::runner::InProcess;
use gather_conformance::{Backend, builtin};
use gather_spec::{Call, DType, Element, NegativeIndex, Outcome, Profile, Signatures, Specification, Tensor};
use rayon::prelude::*;

use crate::tiers;

fn signatures() -> Signatures {
    gather_spec::load::operators().unwrap().into_iter().collect()
}

fn subject(name: &str) -> CampaignSubject {
    CampaignSubject::built_in(name, builtin::signatures(), &Profile::all_specified().collect::<Vec<_>>())
        .unwrap()
}

fn report(name: &str, against: &str, seed: u64, cases: u64, shard: Shard) -> CampaignReport {
    let campaign = Campaign {
        suite: "0".to_owned(),
        generators: GENERATORS,
        backend: name.to_owned(),
        against: against.to_owned(),
        seed,
        operators: Vec::new(),
        edges_in: EDGES_IN,
        cases: Some(cases),
    };
    CampaignReport::new(campaign, shard, subject(name).description().backend.clone())
}

fn check(name: &str, laws: bool) -> Box<dyn Check> {
    let description = builtin::backend(name, Profile::default(), builtin::MAX_OUTPUT).unwrap().describe();
    let profiles: Vec<Profile> = Profile::all_specified().collect();
    if laws {
        Box::new(Laws::new(&description, &signatures(), &profiles, true, &[]).unwrap())
    } else {
        Box::new(Differential::new(&description, &signatures(), profiles, Strictness::Strict))
    }
}

const PACE: Pace = Pace { end: None, checkpoint: Duration::from_secs(5) };

fn run(report: CampaignReport, workers: usize, laws: bool) -> CampaignReport {
    let name = report.campaign.backend.clone();
    let spec = Specification::default();
    let saver = Saver {
        spec: &spec,
        folder: None,
        reproduction: &Reproduction::anywhere(BackendNaming::BuiltIn, &name, &[]),
    };
    let subjects = (0..workers).map(|_| subject(&name)).collect();
    let mut done = drive(report, &*check(&name, laws), subjects, PACE, &saver, &mut |_| Ok(())).unwrap();
    done.seconds = 0.0;
    done
}

#[test]
fn every_law_holds_on_the_built_in_backends_and_is_seldom_skipped() {
    for name in builtin::NAMES {
        let done = run(report(name, "laws", 7, 12_000, Shard::WHOLE), 2, true);
        assert!(done.is_clean(), "{name}: {:#?}", done.groups);
        for law in LAWS {
            let counts = &done.counts[law.name];
            assert!(counts["held"] * 5 > counts.values().sum::<u64>(), "{}: {counts:?}", law.name);
        }
    }
}

#[test]
fn the_optimized_backend_agrees_with_the_reference_at_every_level_and_policy() {
    let done = run(report("optimized", "reference", 11, 120_000, Shard::WHOLE), 2, false);
    assert!(done.is_clean(), "{:#?}", done.groups);
    // Most calls must gather something, and every error must occur.
    let total = |column: &str| done.counts.values().filter_map(|counts| counts.get(column)).sum::<u64>();
    assert!(total("output") > 72_000, "{:?}", done.counts);
    let spec = crate::embedded();
    for code in spec.clauses.iter().flat_map(|clause| &clause.rejects) {
        assert!(total(code.name()) > 0, "{code} never occurs");
    }
}

#[test]
fn a_campaign_is_the_same_whatever_the_number_of_workers() {
    let one = run(report("optimized", "reference", 3, 5000, Shard::WHOLE), 1, false);
    assert_eq!(one, run(report("optimized", "reference", 3, 5000, Shard::WHOLE), 3, false));
    let other = run(report("optimized", "reference", 4, 5000, Shard::WHOLE), 1, false);
    assert_ne!(one.digest, other.digest);
}

fn shards(of: u64) -> Vec<(String, CampaignReport)> {
    let shard = |number| run(report("optimized", "reference", 3, 5000, Shard { number, of }), 1, false);
    (1..=of).map(|number| (format!("{number}.json"), shard(number))).collect()
}

#[test]
fn the_shards_of_a_campaign_are_exactly_the_whole() {
    let whole = run(report("optimized", "reference", 3, 5000, Shard::WHOLE), 2, false);
    for of in [2, 3, 7] {
        assert_eq!(merge(&shards(of)).unwrap(), whole);
    }
    // With failures of a kind that several shards found.
    let found =
        |number, of| CampaignReport { seconds: 0.0, ..run_on_one_that_wraps_in(Shard { number, of }) };
    let three = [3, 1, 2].map(|number| (format!("{number}.json"), found(number, 3)));
    let whole = found(1, 1);
    assert!(three.iter().map(|(_, report)| report.groups.len()).sum::<usize>() > whole.groups.len());
    assert_eq!(merge(&three).unwrap(), whole);
}

#[test]
fn what_is_not_a_whole_campaign_is_not_joined() {
    type Change = fn(&mut Vec<(String, CampaignReport)>);
    let changes: [(Change, &str); 15] = [
        (Vec::clear, "there is no report to merge"),
        (|all| all.truncate(6), "1 of 7 shards are missing: 7"),
        (|all| all[0].1.complete = false, "1 of 7 shards are unfinished (--resume continues them): 1"),
        (
            |all| {
                all[6].1.complete = false;
                all.retain(|(_, report)| ![1, 2, 3, 6].contains(&report.shard.number));
            },
            "4 of 7 shards are missing: 1-3,6\n1 of 7 shards are unfinished (--resume continues them): 7",
        ),
        (|all| all.push(all[0].clone()), "1.json and 1.json are both shard 1/7"),
        (|all| all[1].1.campaign.suite.push('1'), "their versions differ"),
        (|all| all[1].1.campaign.generators += 1, "their versions differ"),
        (|all| all[1].1.campaign.backend.push('1'), "their backends differ"),
        (|all| all[1].1.backend.version.push('1'), "their backends differ"),
        (|all| all[1].1.campaign.against.push('1'), "their comparisons differ"),
        (|all| all[1].1.campaign.operators.push("tf.gather".to_owned()), "their operators differ"),
        (|all| all[1].1.campaign.seed += 1, "their seeds differ"),
        (|all| all[1].1.campaign.edges_in += 1, "their shares of edges differ"),
        (|all| all[1].1.campaign.cases = None, "their numbers of cases differ"),
        (|all| all[1].1.shard.of += 1, "their numbers of shards differ"),
    ];
    let seven = shards(7);
    for (change, words) in changes {
        let mut changed = seven.clone();
        change(&mut changed);
        let words = words.replace("their", "1.json and 2.json are not shards of one campaign: their");
        assert_eq!(merge(&changed).unwrap_err().to_string(), words);
    }
}

/// What a report says when it is written, changed by hand and read again.
fn contradicts(report: &CampaignReport, change: impl FnOnce(&mut CampaignReport)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fuzz.json");
    let mut changed = report.clone();
    change(&mut changed);
    changed.write(&file).unwrap();
    let said = CampaignReport::read(&file).unwrap_err();
    let joined = merge(&[("fuzz.json".to_owned(), changed)]).unwrap_err().to_string();
    assert!(said.ends_with(&joined), "{said} is not {joined}");
    joined.strip_prefix("fuzz.json contradicts itself: ").unwrap_or(&joined).to_owned()
}

#[test]
fn a_report_that_cannot_be_true_is_not_read_and_not_joined() {
    let shard = Shard { number: 2, of: 3 };
    let found = run_on_one_that_wraps_in(shard);
    assert!(found.groups.len() > 1 && found.complete && found.done == 1000);
    let folder = tempfile::tempdir().unwrap();
    found.write(&folder.path().join("fuzz.json")).unwrap();
    assert_eq!(CampaignReport::read(&folder.path().join("fuzz.json")).unwrap(), found);

    type Change = fn(&mut CampaignReport);
    let changes: [(Change, &str); 13] = [
        (|report| report.done -= 1, "it is complete, and 999 of 1000 cases are done"),
        (|report| report.done += 1, "1001 cases are done, of 1000"),
        (|report| report.campaign.cases = Some(3004), "it is complete, and 1000 of 1001 cases are done"),
        (|report| report.campaign.cases = Some(u64::MAX), "at most 1152921504606846976 cases"),
        (|report| report.shard.number = 4, "there is no shard 4/3"),
        (
            |report| report.shard = Shard { number: 1, of: u64::MAX },
            "there is no shard 1/18446744073709551615",
        ),
        (
            |report| *report.counts.get_mut("tf.gather").unwrap().get_mut("output").unwrap() -= 7,
            "1000 cases are done, and 993 are counted",
        ),
        (
            |report| *report.counts.get_mut("tf.gather").unwrap().get_mut("output").unwrap() = u64::MAX,
            "1000 cases are done, and more than can be are counted",
        ),
        (|report| report.groups[0].first += 1, "a group of failures has no case that is done"),
        (|report| report.groups[0].first = 3001, "a group of failures has no case that is done"),
        (|report| report.groups[0].count = 1001, "more cases failed than were tested"),
        (|report| report.groups[1].key = report.groups[0].key.clone(), "failures of one kind are two groups"),
        (|report| report.seconds = -1.0, "it took -1e0 s"),
    ];
    for (change, words) in changes {
        let said = contradicts(&found, change);
        assert!(said.contains(words), "{said} has no {words}");
    }
}

#[test]
fn a_broken_law_that_is_counted_is_not_left_out_of_the_groups() {
    let only = ["index-dtype-blind".to_owned()];
    let check = Laws::new(&zeros_for_wide().describe(), &signatures(), &[], true, &only).unwrap();
    let (spec, named) =
        (Specification::default(), Reproduction::anywhere(BackendNaming::Command, "./wide", &[]));
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let start = report("reference", "laws", 1, 500, Shard::WHOLE);
    let subjects = vec![CampaignSubject::backend(zeros_for_wide)];
    let found = drive(start, &check, subjects, PACE, &saver, &mut |_| Ok(())).unwrap();
    let failures = found.failures();
    assert!(failures > 0);
    let said = contradicts(&found, |report| report.groups.clear());
    assert_eq!(said, format!("0 failures of laws are grouped, and {failures} are counted"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_no_report_and_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let zeros = folder.path().join("zeros");
    std::os::unix::fs::symlink("/dev/zero", &zeros).unwrap();
    for (path, kind) in
        [(pipe.as_path(), "a named pipe"), (&zeros, "a device"), (folder.path(), "a directory")]
    {
        let said = CampaignReport::read(path).unwrap_err();
        assert!(said.ends_with(&format!(": this is {kind}, not a regular file")), "{said}");
    }
    let large = folder.path().join("large");
    std::fs::File::create(&large).unwrap().set_len(1 << 40).unwrap();
    assert!(CampaignReport::read(&large).unwrap_err().ends_with("this file has more than 268435456 bytes"));
}

#[test]
fn a_checkpoint_at_once_is_one_after_every_chunk() {
    let spec = Specification::default();
    let named = Reproduction::anywhere(BackendNaming::BuiltIn, "optimized", &[]);
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let pace = Pace { end: None, checkpoint: Duration::ZERO };
    let start = report("optimized", "reference", 3, 1000, Shard::WHOLE);
    let mut done = Vec::new();
    let check = check("optimized", false);
    let ended = drive(start, &*check, vec![subject("optimized")], pace, &saver, &mut |report| {
        done.push(report.done);
        Ok(())
    });
    let whole = run(report("optimized", "reference", 3, 1000, Shard::WHOLE), 1, false);
    assert_eq!(CampaignReport { seconds: 0.0, ..ended.unwrap() }, whole);
    assert!(done.len() > 10 && done.is_sorted() && done[0] > 0, "{done:?}");
}

#[test]
fn a_campaign_without_time_or_cases_says_that_nothing_was_tested() {
    let spec = Specification::default();
    let named = Reproduction::anywhere(BackendNaming::BuiltIn, "optimized", &[]);
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let ended = |cases, end| {
        let start = report("optimized", "reference", 3, cases, Shard::WHOLE);
        let pace = Pace { end, ..PACE };
        let check = check("optimized", false);
        drive(start, &*check, vec![subject("optimized")], pace, &saver, &mut |_| Ok(())).unwrap()
    };
    let late = ended(100, Some(Instant::now()));
    assert_eq!((late.done, late.complete, late.is_clean()), (0, false, true));
    assert_eq!(late.gap().unwrap(), "nothing was tested: no case was done before the time was up");
    let none = ended(0, None);
    assert_eq!(
        (none.complete, none.gap().unwrap().as_str()),
        (true, "nothing was tested: the campaign has no case")
    );
    let beyond = report("optimized", "reference", 3, 1, Shard { number: 2, of: 2 });
    assert_eq!(
        (beyond.is_empty(), beyond.gap()),
        (true, None),
        "a shard without cases of a campaign that has some"
    );
    let some = ended(100, None);
    assert_eq!((some.tested() > 90, some.gap()), (true, None), "{:#?}", some.counts);
    let corpus = Corpus { cases: 3, unsupported: 2, ..Corpus::default() };
    assert_eq!(CampaignReport { corpus: Some(corpus.clone()), ..none.clone() }.gap(), None);
    let corpus = Corpus { unsupported: 3, ..corpus };
    assert!(CampaignReport { corpus: Some(corpus), ..none }.gap().is_some());
}

/// Writing a checkpoint fails now and then; what the last one holds is gone on with, and nothing is lost or doubled.
#[test]
fn an_interrupted_campaign_goes_on_where_it_was() {
    let whole = run(report("optimized", "reference", 5, 30_000, Shard::WHOLE), 1, false);
    let spec = Specification::default();
    let saver = Saver {
        spec: &spec,
        folder: None,
        reproduction: &Reproduction::anywhere(BackendNaming::BuiltIn, "optimized", &[]),
    };
    let pace = Pace { end: None, checkpoint: Duration::from_millis(3) };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fuzz.json");
    report("optimized", "reference", 5, 30_000, Shard::WHOLE).write(&file).unwrap();
    let mut interruptions = 0;
    let mut done = loop {
        let before = CampaignReport::read(&file).unwrap();
        let mut left = 3;
        let ended = drive(
            before,
            &*check("optimized", false),
            vec![subject("optimized")],
            pace,
            &saver,
            &mut |report| {
                left -= 1;
                if left == 0 { Err(io::Error::other("killed")) } else { report.write(&file) }
            },
        );
        match ended {
            Ok(report) => break report,
            Err(_) => interruptions += 1,
        }
    };
    assert!(interruptions > 2, "{interruptions}");
    done.seconds = 0.0;
    assert_eq!(done, whole);
}

#[test]
fn a_counterexample_that_cannot_be_saved_is_not_blamed_on_the_report() {
    let spec = crate::embedded();
    let file = tempfile::NamedTempFile::new().unwrap();
    let folder = file.path().join("found");
    let check = Differential::new(&wraps().describe(), &signatures(), Vec::new(), Strictness::Strict);
    let named = Reproduction::anywhere(BackendNaming::Option, "./wraps", &[]);
    let saver = Saver { spec, folder: Some(&folder), reproduction: &named };
    let start = report("reference", "reference", 1, 40_000, Shard::WHOLE);
    let mut noted = start.clone();
    let ended = drive(start, &check, vec![CampaignSubject::backend(wraps)], PACE, &saver, &mut |report| {
        noted = report.clone();
        Ok(())
    });
    let said = ended.unwrap_err().to_string();
    // What was found is in the report, with lines that need no file.
    let example = noted.groups[0].example.as_ref().unwrap();
    assert!(example.files.is_empty() && example.replay[0].contains("--cases - "), "{example:?}");
    assert!(
        said.starts_with(folder.to_str().unwrap()) && said.contains(".yaml cannot be written: "),
        "{said}"
    );

    let report = report("reference", "reference", 1, 1, Shard::WHOLE);
    let said = report.write(&folder.join("fuzz.json")).unwrap_err().to_string();
    assert!(said.contains("found/fuzz.json cannot be written: "), "{said}");
}

/// Wraps negative indices, and says that it refuses them.
struct Wraps(Box<dyn Backend>);

impl Backend for Wraps {
    fn describe(&self) -> Description {
        builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap().describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.0.call(call)
    }
}

fn wraps() -> Box<dyn Backend> {
    let profile = Profile { negative: NegativeIndex::Wrap, ..Profile::default() };
    Box::new(Wraps(builtin::backend("reference", profile, builtin::MAX_OUTPUT).unwrap()))
}

/// A shard of a campaign on the backend that wraps.
fn run_on_one_that_wraps_in(shard: Shard) -> CampaignReport {
    let check = Differential::new(&wraps().describe(), &signatures(), Vec::new(), Strictness::Strict);
    let (spec, named) =
        (Specification::default(), Reproduction::anywhere(BackendNaming::Option, "./wraps", &[]));
    let saver = Saver { spec: &spec, folder: None, reproduction: &named };
    let start = report("reference", "reference", 1, 3000, shard);
    drive(start, &check, vec![CampaignSubject::backend(wraps)], PACE, &saver, &mut |_| Ok(())).unwrap()
}

/// Runs a campaign on the backend that wraps; counterexamples go into a folder.
fn run_on_one_that_wraps(folder: &Path, spec: &Specification) -> CampaignReport {
    let check = Differential::new(&wraps().describe(), &signatures(), Vec::new(), Strictness::Strict);
    let named = Reproduction::anywhere(BackendNaming::Option, "./wraps", &[]);
    let saver = Saver { spec, folder: Some(folder), reproduction: &named };
    let start = report("reference", "reference", 1, 40_000, Shard::WHOLE);
    drive(start, &check, vec![CampaignSubject::backend(wraps)], PACE, &saver, &mut |_| Ok(())).unwrap()
}

#[test]
fn a_counterexample_is_small_and_a_case_that_fails_until_the_bug_is_mended() {
    let spec = crate::embedded();
    let folder = tempfile::tempdir().unwrap();
    let found = run_on_one_that_wraps(folder.path(), spec);
    assert!(!found.is_clean());
    assert!(
        found.failures() > 5 * found.groups.len() as u64,
        "{} failures of one kind are one group: {}",
        found.failures(),
        found.groups.len()
    );
    for group in &found.groups {
        assert_eq!(group.key.expected.as_deref(), Some("index-out-of-range"), "{}", group.key);
        let example = group.example.as_ref().unwrap();
        let (operator, _) = example.calls[0].split_once('(').unwrap();
        let operands =
            spec.operators.iter().find(|one| one.operator.as_str() == operator).unwrap().operands.len();
        // A third operand stands in the call with its name, dtype and shape.
        assert!(example.calls[0].len() < 160 + 32 * (operands - 2), "{}", example.calls[0]);
        assert!(example.replay[0].ends_with("--backend ./wraps"), "{:?}", example.replay);
        let cases = spec.read_case_file(&folder.path().join(&example.files[0])).unwrap();
        assert_eq!(cases[0].provenance.as_ref().unwrap().seed, Some(1));
        let verdict = |make: fn() -> Box<dyn Backend>| {
            InProcess::new(make, Strictness::Strict).run(&cases[0].runs()[0]).verdict
        };
        assert_eq!(verdict(wraps), group.key.verdict);
        let reference = || builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        assert_eq!(verdict(reference), Verdict::Pass);
    }
    // The same campaign finds the same, and writes the same files.
    let again = tempfile::tempdir().unwrap();
    let names = |report: &CampaignReport| -> Vec<String> {
        report.groups.iter().flat_map(|group| group.example.clone().unwrap().files).collect()
    };
    assert_eq!(names(&run_on_one_that_wraps(again.path(), spec)), names(&found));
}

#[test]
fn a_saved_call_fails_in_every_command_until_the_bug_is_mended() {
    let spec = crate::embedded();
    let folder = tempfile::tempdir().unwrap();
    run_on_one_that_wraps(folder.path(), spec);
    let mut saved: Vec<Saved> = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let file = entry.unwrap().path();
        let cases = spec.read_case_file(&file).unwrap();
        let runs = cases.iter().flat_map(gather_spec::Case::runs);
        saved.extend(runs.map(|run| Saved { file: file.clone(), run }));
    }
    saved.sort_by(|one, other| one.file.cmp(&other.file));
    let named = Reproduction::anywhere(BackendNaming::Option, "./wraps", &[]);
    let saver = Saver { spec, folder: Some(folder.path()), reproduction: &named };
    let ask = |saved: &[Saved], mut subject: CampaignSubject| {
        Corpus::ask(saved, &mut subject, Strictness::Strict, &saver, None).unwrap()
    };
    let found = ask(&saved, CampaignSubject::backend(wraps));
    assert_eq!((found.cases, found.unsupported), (saved.len() as u64, 0));
    let ids = |corpus: &Corpus| corpus.failing.iter().map(|failing| failing.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&found), saved.iter().map(|saved| saved.run.id.clone()).collect::<Vec<_>>());
    assert!(found.failing[0].replay.ends_with("--backend ./wraps"), "{}", found.failing[0].replay);
    let mended = ask(&saved, subject("reference"));
    assert_eq!(mended, Corpus { cases: saved.len() as u64, ..Corpus::default() });

    // Shards ask each file once, and their reports are joined to that of the whole.
    let mut shards = shards(3);
    for (_, report) in &mut shards {
        let mine: Vec<Saved> = saved
            .iter()
            .filter(|saved| report.shard.has_file(&saved.file.file_name().unwrap().to_string_lossy()))
            .cloned()
            .collect();
        report.corpus = Some(ask(&mine, CampaignSubject::backend(wraps)));
    }
    let whole = merge(&shards).unwrap();
    assert!(!whole.is_clean(), "what fails again is a failure");
    assert_eq!(whole.corpus, Some(found));
}

/// Gives zeros where the indices are wide.
struct ZerosForWide(Box<dyn Backend>);

impl Backend for ZerosForWide {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.0.call(call) {
            Outcome::Output(output) if call.operands.tensors().last().unwrap().dtype() == DType::I64 => {
                let zero = Element::zero(output.dtype());
                Outcome::Output(Tensor::filled(output.dtype(), output.shape().clone(), &zero).unwrap())
            }
            outcome => outcome,
        }
    }
}

fn zeros_for_wide() -> Box<dyn Backend> {
    let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    Box::new(ZerosForWide(reference))
}

#[test]
fn a_broken_law_is_shown_with_its_calls_which_become_cases() {
    let spec = crate::embedded();
    let folder = tempfile::tempdir().unwrap();
    let only = ["index-dtype-blind".to_owned()];
    let check = Laws::new(&zeros_for_wide().describe(), &signatures(), &[], true, &only).unwrap();
    let saver = Saver {
        spec,
        folder: Some(folder.path()),
        reproduction: &Reproduction::anywhere(BackendNaming::Command, "./wide", &[]),
    };
    let start = report("reference", "laws", 1, 2000, Shard::WHOLE);
    let subjects = vec![CampaignSubject::backend(zeros_for_wide)];
    let found = drive(start, &check, subjects, PACE, &saver, &mut |_| Ok(())).unwrap();
    assert!(!found.is_clean());
    for group in &found.groups {
        let example = group.example.as_ref().unwrap();
        assert_eq!((group.key.law.as_deref(), example.calls.len()), (Some("index-dtype-blind"), 2));
        let cases = spec.read_case_file(&folder.path().join(&example.files[0])).unwrap();
        let mut runner = InProcess::new(zeros_for_wide, Strictness::Strict);
        let runs: Vec<_> = cases.iter().flat_map(gather_spec::Case::runs).collect();
        assert!(runs.iter().any(|run| runner.run(run).verdict == Verdict::WrongOutput));
    }
    let wrong =
        Laws::new(&zeros_for_wide().describe(), &signatures(), &[], true, &["no-such-law".to_owned()]);
    assert!(wrong.unwrap_err().contains("composed-gathers"));
}

/// Every form that a saved case can have is read back as the call that it was drawn as.
#[test]
fn whatever_is_drawn_can_be_saved_and_read_back() {
    struct Never(CallGenerator);
    impl Check for Never {
        fn step(
            &self,
            choices: &mut ChoiceSequence,
            asked: &[CallRequest],
            answers: &[CallResult],
            _: &mut Tally,
        ) -> Step {
            let Some(first) = asked.first() else {
                let number = choices.below(1 << 40);
                // Dims that are too large for a tensor are drawn to be refused.
                let drawn = self.0.call(&mut ChoiceSequence::from_seed(number as u64));
                let Some(call) = drawn.unwrap_or_default() else { return Step::Done };
                let settings = CallSettings { threads: number, ..CallSettings::default() };
                return Step::Ask(vec![CallRequest { call, settings }]);
            };
            assert!(answers.len() == 1);
            // Each case is a kind of its own, so that each is saved.
            let mut key = Key::new(None, &signatures(), asked, Verdict::Crash, None);
            key.law = Some(first.settings.threads.to_string());
            let nothing = String::new();
            Step::Violated(Box::new(Violation {
                key,
                expected: nothing.clone(),
                actual: nothing,
                difference: None,
            }))
        }
    }
    let spec = crate::embedded();
    let folder = tempfile::tempdir().unwrap();
    let named = Reproduction::anywhere(BackendNaming::BuiltIn, "reference", &[]);
    let saver = Saver { spec, folder: Some(folder.path()), reproduction: &named };
    let generator = Never(CallGenerator::new(&wraps().describe(), &signatures()));
    let calls = tiers::SAVED_CALLS.count() as u64;
    let start = report("reference", "nothing", 9, calls, Shard::WHOLE);
    let subjects = (0..4).map(|_| subject("reference")).collect();
    let found = drive(start, &generator, subjects, PACE, &saver, &mut |_| Ok(())).unwrap();
    assert!(found.groups.len() as u64 >= calls * 29 / 30, "{}", found.groups.len());
    found.groups.par_iter().for_each(|group| {
        let example = group.example.as_ref().unwrap();
        let number = group.key.law.as_ref().unwrap().parse().unwrap();
        let call = generator.0.call(&mut ChoiceSequence::from_seed(number)).unwrap().unwrap();
        let cases = spec
            .read_case_file(&folder.path().join(&example.files[0]))
            .unwrap_or_else(|wrong| panic!("{}", wrong[0]));
        let run = &cases[0].runs()[0];
        let read = &run.call;
        assert_eq!((&read.operands, &read.attributes), (&call.operands, &call.attributes));
        let turn = usize::try_from(number % 6).unwrap();
        let profile = Profile::all_specified().nth(turn).unwrap();
        let make = || builtin::backend("reference", profile, 16 << 20).unwrap();
        let verdict = InProcess::new(make, Strictness::Strict).run(run).verdict;
        assert!(
            [Verdict::Pass, Verdict::RejectedGoodInput].contains(&verdict),
            "{verdict}: {}",
            example.calls[0]
        );
    });
}
