//! Campaigns: laws and differences on the built-in backends, shards, interruptions, reports.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::io;
use std::time::Duration;

use gather_conformance::builtin;
use gather_conformance::fuzz::{
    Campaign, Check, Differential, GENERATORS, MergeError, Named, Pace, Report, Saver, Shard, Subject, drive,
    merge,
};
use gather_conformance::judge::Strictness;
use gather_conformance::laws::{LAWS, Laws};
use gather_spec::{Profile, Specification};

fn subject(name: &str) -> Subject {
    Subject::built_in(name, &Profile::all_specified().collect::<Vec<_>>()).unwrap()
}

fn report(name: &str, against: &str, seed: u64, cases: u64, shard: Shard) -> Report {
    let campaign = Campaign {
        suite: "0".to_owned(),
        generators: GENERATORS,
        backend: name.to_owned(),
        against: against.to_owned(),
        seed,
        cases: Some(cases),
    };
    Report::new(campaign, shard, subject(name).description().backend.clone())
}

fn check(name: &str, laws: bool) -> Box<dyn Check> {
    let description = builtin::backend(name, Profile::default(), builtin::MAX_OUTPUT).unwrap().describe();
    let profiles = Profile::all_specified().collect();
    if laws {
        Box::new(Laws::new(&description, profiles, true, &[]).unwrap())
    } else {
        Box::new(Differential::new(&description, profiles, Strictness::Strict))
    }
}

const PACE: Pace = Pace { time: None, checkpoint: Duration::from_secs(5) };

fn run(report: Report, workers: usize, laws: bool) -> Report {
    let name = report.campaign.backend.clone();
    let spec = Specification::default();
    let saver = Saver { spec: &spec, folder: None, backend: &Named::BuiltIn(name.clone()) };
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
            assert!(counts["held"] * 10 > counts.values().sum::<u64>(), "{}: {counts:?}", law.name);
        }
    }
}

#[test]
fn the_optimized_backend_agrees_with_the_reference_at_every_level_and_policy() {
    let done = run(report("optimized", "reference", 11, 40_000, Shard::WHOLE), 2, false);
    assert!(done.is_clean(), "{:#?}", done.groups);
    // Most calls must gather something, and every error must occur.
    let total = |column: &str| done.counts.values().filter_map(|counts| counts.get(column)).sum::<u64>();
    assert!(total("output") > 24_000, "{:?}", done.counts);
    for code in gather_spec::ErrorCode::ALL {
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

fn shards(of: u64) -> Vec<(String, Report)> {
    let shard = |number| run(report("optimized", "reference", 3, 5000, Shard { number, of }), 1, false);
    (1..=of).map(|number| (format!("{number}.json"), shard(number))).collect()
}

#[test]
fn the_shards_of_a_campaign_are_exactly_the_whole() {
    let whole = run(report("optimized", "reference", 3, 5000, Shard::WHOLE), 2, false);
    for of in [2, 3, 7] {
        assert_eq!(merge(&shards(of)).unwrap(), whole);
    }
    let cases = |shard: Shard| (0..shard.len(Some(5000))).map(move |at| shard.case(at));
    let mut all: Vec<u64> = (1..=7).flat_map(|number| cases(Shard { number, of: 7 })).collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..5000));
}

#[test]
fn what_is_not_a_whole_campaign_is_not_joined() {
    let three = shards(3);
    let fails = |reports: &[(String, Report)]| merge(reports).unwrap_err();
    assert_eq!(fails(&[]), MergeError::Nothing);
    assert!(matches!(fails(&three[..2]), MergeError::Missing { count: 1, .. }));
    let twice = [three.clone(), three[..1].to_vec()].concat();
    assert!(matches!(fails(&twice), MergeError::Twice { .. }));
    let mut foreign = three.clone();
    foreign[1].1.campaign.seed = 4;
    assert!(matches!(fails(&foreign), MergeError::Campaigns { what: "seeds", .. }));
    let mut split = three.clone();
    split[2].1.shard.of = 4;
    assert!(matches!(fails(&split), MergeError::Split { .. }));
    let mut unfinished = three;
    unfinished[0].1.complete = false;
    assert!(matches!(fails(&unfinished), MergeError::Unfinished { .. }));
}

/// Writing a checkpoint fails now and then; what the last one holds is gone on with, and nothing is lost or doubled.
#[test]
fn an_interrupted_campaign_goes_on_where_it_was() {
    let whole = run(report("optimized", "reference", 5, 30_000, Shard::WHOLE), 1, false);
    let spec = Specification::default();
    let saver = Saver { spec: &spec, folder: None, backend: &Named::BuiltIn("optimized".to_owned()) };
    let pace = Pace { time: None, checkpoint: Duration::from_millis(3) };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fuzz.json");
    report("optimized", "reference", 5, 30_000, Shard::WHOLE).write(&file).unwrap();
    let mut interruptions = 0;
    let mut done = loop {
        let before = Report::read(&file).unwrap();
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
