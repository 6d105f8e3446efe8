//! Every operator that is read from a folder is drawn, tested by laws and mutated, without a line of Rust
//! about it: those of the specification, and made-up ones, some with joins that no other has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gather_campaign::fuzz::{
    Campaign, CampaignReport, CampaignSubject, GENERATORS, Pace, Saver, Shard, drive,
};
use gather_campaign::generate::{CallGenerator, ChoiceSequence, EDGES_IN};
use gather_campaign::laws::{LAWS, Law, Laws};
use gather_conformance::backend::Description;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::reproduction::{BackendNaming, Reproduction};
use gather_conformance::internals::runner::InProcess;
use gather_spec::signature::{AttributeDefault, Join, OperandRole};
use gather_spec::{Call, ErrorCode, Form, Outcome, Profile, Signature, Signatures, Specification};
use gather_strength::mutants::pairs::caught_in_programs;
use gather_strength::mutants::{all, concerns, correct};
use rayon::prelude::*;

use crate::tiers;

/// An operator and the right model of the mutants, which knows it by its signature alone.
struct LoneOperator<'a> {
    spec: &'a Specification,
    signature: &'a Signature,
    alone: Signatures,
}

impl<'a> LoneOperator<'a> {
    fn all(spec: &'a Specification) -> impl Iterator<Item = Self> {
        spec.operators.iter().map(move |signature| {
            let alone = std::iter::once(signature.clone()).collect();
            Self { spec, signature, alone }
        })
    }

    fn description(&self) -> Description {
        correct(&self.alone, Profile::default()).describe()
    }

    /// Calls, and what the model answers.
    fn drawn(&self) -> Vec<(Call, Outcome)> {
        let near = tiers::DRAWS_OF_AN_OPERATOR.count() as u64;
        let generator = CallGenerator::new(&self.description(), &self.alone);
        let mut model = correct(&self.alone, Profile::default());
        let call = |seed| {
            let mut choices = ChoiceSequence::from_seed(seed);
            // Some errors take shapes that tiny calls hardly ever have.
            let made =
                if seed < near { generator.call(&mut choices) } else { generator.far_call(&mut choices) };
            made.ok().flatten()
        };
        (0..near + 1000).filter_map(call).map(|call| (call.clone(), model.call(&call))).collect()
    }

    /// Most drawn calls are right; every error that its clauses speak of occurs, and so does every attribute.
    fn is_drawn(&self) {
        let name = &self.signature.operator;
        let drawn = self.drawn();
        let outputs = drawn.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Output(_))).count();
        assert!(outputs * 2 > drawn.len(), "{name}: {outputs} of {} give an output", drawn.len());
        let code = |(_, outcome): &(Call, Outcome)| match outcome {
            Outcome::Error(error) => error.code,
            _ => None,
        };
        let met: BTreeSet<ErrorCode> = drawn.iter().filter_map(code).collect();
        let prefix = format!("{name}.");
        for clause in self.spec.clauses.iter().filter(|clause| clause.id.starts_with(&prefix)) {
            for code in &clause.rejects {
                assert!(met.contains(code), "{}: {code} is never drawn", clause.id);
            }
        }
        for attribute in &self.signature.attributes {
            let sent = drawn.iter().filter(|(call, _)| call.attributes.contains_key(&attribute.name)).count();
            let always = attribute.role.is_of_windows() && attribute.default == AttributeDefault::None;
            let fits = sent > 0 && (sent < drawn.len() || always);
            assert!(fits, "{name}: {} is sent {sent} times", attribute.name);
        }
    }

    /// Every law that is about it holds under some policy, and none is broken under any.
    fn is_held_to_laws(&self) {
        let mut held: BTreeMap<String, u64> = BTreeMap::new();
        for profile in Profile::all_specified() {
            let report = self.campaign(profile);
            assert!(report.is_clean(), "{}, {profile}: {:#?}", self.signature.operator, report.groups);
            for (law, counts) in report.counts {
                *held.entry(law).or_default() += counts.get("held").copied().unwrap_or(0);
            }
        }
        for law in
            LAWS.iter().filter(|law| law.is_about(self.signature) && !does_not_apply(law, self.signature))
        {
            let held = held.get(law.name).copied().unwrap_or(0);
            assert!(held > 0, "{} never holds on {}", law.name, self.signature.operator);
        }
    }

    fn campaign(&self, profile: Profile) -> CampaignReport {
        let model = correct(&self.alone, profile);
        let laws = Laws::new(&model.describe(), &self.alone, &[], true, &[]).unwrap();
        let campaign = Campaign {
            suite: "0".to_owned(),
            generators: GENERATORS,
            backend: "model".to_owned(),
            against: "laws".to_owned(),
            seed: 1,
            operators: Vec::new(),
            edges_in: EDGES_IN,
            cases: Some(1500),
        };
        let report = CampaignReport::new(campaign, Shard::WHOLE, model.describe().backend);
        let named = Reproduction::anywhere(BackendNaming::Command, "model", &[]);
        let saver = Saver { spec: self.spec, folder: None, reproduction: &named };
        let pace = Pace { end: None, checkpoint: std::time::Duration::from_secs(60) };
        let alone = self.alone.clone();
        let subjects = vec![CampaignSubject::backend(move || correct(&alone, profile))];
        drive(report, &laws, subjects, pace, &saver, &mut |_| Ok(())).unwrap()
    }
}

/// Whether a law does not apply to an operator. A law may compare it with an operator of another form, which
/// is not there, compare two dtypes where it has one, be about dims that are repeated, or gather from
/// indices, whose dtype params cannot have.
fn does_not_apply(law: &Law, signature: &Signature) -> bool {
    match law.name {
        "depth-one-is-axis-zero" | "elements-are-nd-on-coordinates" | "windows-of-one-element-are-nd" => true,
        "composed-gathers" => {
            let dtypes = |role| &signature.operand(role).dtypes;
            !dtypes(OperandRole::Indices).iter().any(|one| dtypes(OperandRole::Params).contains(one))
        }
        "index-dtype-blind" => signature.operand(OperandRole::Indices).dtypes.len() == 1,
        "smaller-indices-are-slices" => signature.join == Some(Join::Broadcast),
        _ => false,
    }
}

fn is_drawn_and_held_to_laws(spec: &Specification) {
    assert!(!spec.operators.is_empty());
    let operators: Vec<LoneOperator<'_>> = LoneOperator::all(spec).collect();
    operators.par_iter().for_each(|operator| {
        operator.is_drawn();
        operator.is_held_to_laws();
    });
}

fn made_up() -> Specification {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/made_up");
    Specification::from_dir(&folder).unwrap_or_else(|wrong| panic!("{}", wrong[0]))
}

/// `mutants.rs` mutates them.
#[test]
fn every_operator_is_drawn_and_held_to_laws() {
    above_quick!();
    is_drawn_and_held_to_laws(crate::embedded());
}

#[test]
fn operators_without_any_rust_are_drawn_held_to_laws_and_mutated() {
    let spec = made_up();
    is_drawn_and_held_to_laws(&spec);
    let of = |form| spec.operators.iter().filter(move |signature| signature.form == form);
    let signature = of(Form::Nd).next().unwrap();
    assert!(of(Form::Elements).any(|one| one.join == Some(Join::Broadcast)));
    // Its attribute of another name is known for what it is.
    let concerned = concerns(signature);
    assert!(
        concerned.contains(&"ignores-batch-dims") && !concerned.contains(&"ignores-axis"),
        "{concerned:?}"
    );
    assert!(concerned.len() > 100, "{} mutants are wrong on it", concerned.len());
}

#[test]
fn the_cases_of_made_up_operators_are_answered_by_their_signatures_and_catch_mutants() {
    let spec = made_up();
    let signatures = spec.signatures();
    let profile = Profile { negative: gather_spec::NegativeIndex::Wrap, ..Profile::default() };
    let runs = spec.runs();
    for case in &runs {
        let result = InProcess::new(|| correct(&signatures, profile), Strictness::Strict).run(case);
        assert_eq!(result.verdict, Verdict::Pass, "{}: {}", result.id, result.actual);
    }
    let caught = caught_in_programs(&signatures, &runs.iter().collect::<Vec<_>>(), None, true);
    let caught: BTreeSet<&str> = caught.into_values().flatten().map(|(mutant, _)| mutant).collect();
    assert!((21..all().len()).contains(&caught.len()), "few cases catch {} mutants", caught.len());
}

/// In this process, behind the protocol, and in campaigns: `optimized` has the operators of the folder, and no others.
#[test]
fn the_fast_gather_answers_a_made_up_operator_by_the_folder_that_it_is_read_from() {
    above_quick!();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/made_up");
    let program = env!("CARGO_BIN_EXE_gatherspec");
    let out = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(program);
        let ended =
            command.args(arguments).args(["--spec", folder]).current_dir(out.path()).assert().success();
        String::from_utf8(ended.get_output().stdout.clone()).unwrap()
    };
    let operators: Vec<String> =
        made_up().operators.iter().map(|signature| signature.operator.to_string()).collect();
    let listed = said(&["list", "backends"]);
    assert!(listed.contains(&format!("\noptimized  0.1.0  {}  levels ", operators.join(" "))), "{listed}");
    let all = made_up().cases.len();
    let everything = |text: &str| {
        let asked = format!("optimized 0.1.0  {all} of {all} cases asked, 0 drawn calls compared, ");
        text.contains(&asked) && text.contains(" laws checked: everything conforms")
    };
    let in_process = said(&["run", "--out", "run", "--campaign", "400", "--backend", "optimized"]);
    // The reference does not know them.
    assert!(everything(&in_process), "{in_process}");
    let mut served = assert_cmd::Command::new(program);
    served.args([
        "run",
        "--out",
        "served",
        "--campaign",
        "400",
        "--spec",
        folder,
        "--",
        program,
        "serve",
        "optimized",
    ]);
    let served = served.args(["--spec", folder]).current_dir(out.path()).assert().success();
    let served = String::from_utf8_lossy(&served.get_output().stdout).into_owned();
    assert!(everything(&served), "{served}");
    let laws =
        said(&["fuzz", "--backend", "optimized", "--laws", "--cases", "2000", "--report", "laws.json"]);
    assert!(laws.contains("nothing found") && !laws.contains("unsupported"), "{laws}");
}
