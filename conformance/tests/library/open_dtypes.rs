//! A case with `dtype: any` holds in every dtype that it leaves open: both built-in backends pass it in each.

use gather_conformance::builtin;
use gather_conformance::internals::judge::{Strictness, Verdict, judge};
use gather_conformance::internals::plan::turn;
use gather_spec::{DType, Profile, Run};
use rayon::prelude::*;

use crate::tiers;

/// The dtypes that are tried for an operand: those that the run leaves open, of one of many sizes one of them in turns,
/// or the one that it names.
fn dtypes(case: &Run, open: &[DType], named: DType) -> Vec<DType> {
    match open {
        [] => vec![named],
        open if case.case.axes.has_sizes() => vec![open[turn(&case.id) % open.len()]],
        open => open.to_vec(),
    }
}

/// What is wrong with a case in some dtypes, on some backend, under some profile. The tier quick takes one pair of dtypes, in
/// turns.
fn failures(turn: usize, case: &Run) -> Vec<String> {
    let mut failures = Vec::new();
    let some = |mut all: Vec<DType>| {
        let first = turn % all.len();
        all.rotate_left(first);
        all.truncate(tiers::OPEN_DTYPES.count());
        all
    };
    for params in some(dtypes(case, &case.open.params, case.params().dtype())) {
        for indices in some(dtypes(case, &case.open.indices, case.indices().dtype())) {
            let asked = case.within(&[params], &[indices]).unwrap();
            assert_eq!((asked.params().dtype(), asked.indices().dtype()), (params, indices));
            for (name, profile) in builtin::NAMES
                .iter()
                .flat_map(|name| Profile::all_specified().map(move |profile| (name, profile)))
                .filter(|(_, profile)| !case.case.axes.has_sizes() || *profile == Profile::default())
            {
                let mut backend = builtin::backend(name, profile, builtin::MAX_OUTPUT).unwrap();
                let outcome = backend.call(&asked.call);
                let allowed = asked.expect.under(profile);
                let judgement = judge(&allowed, asked.params(), &outcome, true, Strictness::Strict);
                if judgement.verdict != Verdict::Pass {
                    failures.push(format!("{} in {params} x {indices} on {name}, {profile}", case.id));
                }
            }
        }
    }
    failures
}

#[test]
fn open_cases_hold_in_every_dtype_that_they_leave_open() {
    let open: Vec<&Run> = crate::embedded_runs().iter().filter(|case| case.open.is_open()).collect();
    assert!(open.len() > 500, "{}", open.len());
    let failures: Vec<String> = open
        .par_iter()
        .enumerate()
        .step_by(tiers::EVERY_NTH_OPEN.count())
        .flat_map(|(turn, case)| failures(turn, case))
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Where a dtype is open, `data` is what the loader makes elements of: told by hand for one case.
#[test]
fn numbers_are_moved_as_the_elements_of_each_dtype() {
    let spec = crate::embedded();
    let case = spec.run("tf.gather/ranks/scalar-index-into-a-vector").unwrap();
    let params = |dtype| case.within(&[dtype], &[DType::I64]).unwrap().params().to_le_bytes();
    assert_eq!(params(DType::U8), Some(vec![11, 12, 13]));
    assert_eq!(params(DType::BF16), Some(vec![0x30, 0x41, 0x40, 0x41, 0x50, 0x41]));
    assert_eq!(params(DType::String), None);
}
