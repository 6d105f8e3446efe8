//! The suite catches every mutant. `gatherspec mutants` prints the cases that catch each.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use gather_campaign::generate::{CallGenerator, ChoiceSequence};
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::runner::InProcess;
use gather_conformance::{Backend, builtin};
use gather_spec::{Outcome, Profile, Signatures, Specification};
use gather_strength::mutants::pairs::{MutantOnOperator, NARROW, open, wrong, wrong_within};
use gather_strength::mutants::strength::measure;
use gather_strength::mutants::{all, correct, wrong_on_draws};
use rayon::prelude::*;

use crate::tiers;

static SPEC: LazyLock<&Specification> = LazyLock::new(crate::embedded);
/// Each mutant with each operator that it is wrong on.
static WRONG: LazyLock<Vec<MutantOnOperator<'static>>> = LazyLock::new(|| {
    static SIGNATURES: LazyLock<Signatures> = LazyLock::new(|| SPEC.signatures());
    let pairs = wrong(&SIGNATURES, tiers::DRAWS_OF_MUTANTS.count() as u64);
    let operators: BTreeSet<&str> = pairs.iter().map(|(_, operator)| *operator).collect();
    assert!(operators.len() == SPEC.operators.len() && pairs.len() > 1000, "{}", pairs.len());
    pairs
});

fn assert_none(pairs: &[MutantOnOperator<'_>], declared: &str) {
    let line =
        |(mutant, operator): &MutantOnOperator<'_>| format!("{} on {operator}: {}", mutant.id, mutant.does);
    let lines: Vec<String> = pairs.iter().map(line).collect();
    assert!(lines.is_empty(), "{declared}: {} are not caught:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn no_mutant_survives() {
    above_quick!();
    let cases: Vec<_> = crate::embedded_runs().iter().collect();
    assert_none(&open(&SPEC.signatures(), &cases, &WRONG, None), "all dtypes");
}

/// A mutant that a case catches is also wrong on a drawn call; so one that no case catches does not go unnoticed.
#[test]
fn drawn_calls_tell_as_much_as_the_cases() {
    above_quick!();
    let strength = measure(&SPEC.signatures(), &crate::embedded_runs().iter().collect::<Vec<_>>());
    let mut missed = Vec::new();
    for signature in &SPEC.signatures() {
        let operator = signature.operator.as_str();
        let caught =
            strength.results.iter().filter(|one| one.kills.iter().any(|kill| kill.operator == operator));
        let caught: BTreeSet<&str> = caught.map(|one| one.mutant).collect();
        let seen = wrong_on_draws(signature, &caught);
        missed.extend(caught.difference(&seen).map(|mutant| format!("{mutant} on {operator}")));
    }
    assert!(missed.is_empty(), "no drawn call differs: {missed:#?}");
}

/// A kernel that declares one dtype pair is asked in that pair, and caught as surely as one that declares all.
#[test]
fn no_mutant_survives_behind_a_narrow_declaration() {
    above_quick!();
    let (signatures, cases) = (SPEC.signatures(), crate::embedded_runs().iter().collect::<Vec<_>>());
    for declared in NARROW {
        let open = open(&signatures, &cases, &WRONG, Some(declared));
        assert_none(&wrong_within(&signatures, &open, declared), &declared.to_string());
    }
}

#[test]
fn mutants_have_names_and_reasons_of_their_own() {
    let ids: BTreeSet<&str> = all().iter().map(|mutant| mutant.id).collect();
    assert_eq!(ids.len(), all().len());
    assert!(ids.len() >= 60, "{}", ids.len());
    let does: BTreeSet<&str> = all().iter().map(|mutant| mutant.does).collect();
    assert_eq!(does.len(), all().len());
}

/// Every mutant differs from a correct implementation by its mutation alone. Cases of a grid, which no mutant is asked, are
/// run under one profile.
#[test]
fn the_model_without_a_mutation_passes_every_case() {
    above_quick!();
    for profile in Profile::all_specified() {
        let failed: Vec<_> = crate::embedded_runs()
            .par_iter()
            .filter(|case| !case.case.axes.has_sizes() || profile == Profile::default())
            .map(|case| {
                InProcess::new(|| correct(&SPEC.signatures(), profile), Strictness::Strict)
                    .product()
                    .run(case)
            })
            .filter(|result| result.verdict != Verdict::Pass)
            .map(|result| format!("{}: {} {}", result.id, result.verdict, result.actual))
            .collect();
        assert!(failed.is_empty(), "{profile}: {failed:#?}");
    }
}

#[test]
fn the_model_without_a_mutation_answers_random_calls_like_the_reference() {
    let signatures = SPEC.signatures();
    for profile in Profile::all_specified() {
        let mut reference = builtin::backend("reference", profile, builtin::MAX_OUTPUT).unwrap();
        let mut model = correct(&signatures, profile);
        let generator = CallGenerator::new(&model.describe(), &signatures).wide();
        for seed in 0..tiers::CALLS_OF_THE_MODEL.count() as u64 {
            // Dims that are too large for a tensor are drawn to be refused.
            let Ok(Some(call)) = generator.call(&mut ChoiceSequence::from_seed(seed)) else { continue };
            let (expected, actual) = (comparable(&mut *reference, &call), comparable(&mut *model, &call));
            if matches!(expected, Outcome::Unsupported(_)) {
                // The output is larger than the reference makes, whatever the indices are.
                continue;
            }
            assert_eq!(expected, actual, "seed {seed}, {profile}, {call:?}");
        }
    }
}

/// What a backend answers, without texts.
fn comparable(backend: &mut dyn Backend, call: &gather_spec::Call) -> Outcome {
    match backend.call(call) {
        Outcome::Error(error) => {
            Outcome::Error(gather_spec::ReportedError { message: String::new(), ..error })
        }
        outcome => outcome,
    }
}
