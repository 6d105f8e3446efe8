//! A runner on backends that err in one layout, or with one number of threads.

use std::collections::BTreeSet;

use gather_spec::{DType, Profile, Tensor};

use super::*;
use crate::backend::Backend;
use crate::builtin;
use crate::in_process::{self, InProcessBackend, Poisonable};

/// The reference, except that the outcome of some runs depends on the number of earlier runs and on the threads.
struct Moody {
    reference: Box<dyn Backend>,
    runs: usize,
    threads: usize,
    has_threads: bool,
    slips: fn(usize, usize) -> bool,
}

impl Backend for Moody {
    fn describe(&self) -> Description {
        self.reference.describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.runs += 1;
        if (self.slips)(self.runs, self.threads) {
            return Outcome::Output(Tensor::new(DType::U8, [1], vec![7u8]).unwrap());
        }
        self.reference.call(call)
    }

    fn use_threads(&mut self, threads: usize) -> bool {
        self.threads = threads;
        self.has_threads
    }
}

fn run(repeat: usize, has_threads: bool, slips: fn(usize, usize) -> bool) -> RunResult {
    let spec = crate::embedded();
    let case = &spec.run("tf.gather_nd/documented/rows-of-a-matrix").unwrap();
    let factory = move || {
        let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        Box::new(Moody { reference, runs: 0, threads: 1, has_threads, slips }) as Box<dyn Backend>
    };
    InProcess::new(factory, Strictness::Strict).product().repeat(repeat).run(case)
}

#[test]
fn repeated_runs_that_differ_are_nondeterministic_whichever_of_them_is_right() {
    let second = run(2, false, |runs, _| runs == 2);
    assert_eq!(second.verdict, Verdict::Nondeterministic);
    assert_eq!(second.at.as_deref(), Some("row-major"));
    assert!(second.actual.contains(", then u8 [1] [7]"), "{}", second.actual);
    assert_eq!(run(2, false, |runs, _| runs == 1).verdict, Verdict::Nondeterministic);
    assert!(run(3, false, |runs, _| runs == 6).at.unwrap().contains("params=transposed"));
}

/// The reference, but where outputs are poisoned it leaves them as they were.
struct WritesNothing(Box<dyn Backend>, bool);

impl Backend for WritesNothing {
    fn describe(&self) -> Description {
        self.0.describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.0.call(call) {
            Outcome::Output(output) if self.1 => {
                let garbage = gather_spec::Element::Bits(0xA5);
                let garbage = Tensor::filled(output.dtype(), output.shape().clone(), &garbage);
                Outcome::Output(garbage.unwrap())
            }
            outcome => outcome,
        }
    }

    fn use_threads(&mut self, _: usize) -> bool {
        true
    }
}

impl Poisonable for WritesNothing {
    fn poison_outputs(&mut self, poison: bool) {
        self.1 = poison;
    }
}

#[test]
fn memory_that_held_the_right_output_by_chance_does_not_pass_for_it() {
    let spec = crate::embedded();
    let case = &spec.run("tf.gather/long-rows/rows-of-17").unwrap();
    let factory = || {
        let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        InProcessBackend::Poisonable(Box::new(WritesNothing(reference, false)))
    };
    let result = InProcess::new(factory, Strictness::Strict).product().run(case);
    assert_eq!(result.verdict, Verdict::Nondeterministic);
    assert_eq!(result.at.as_deref(), Some("row-major, 2 threads"));
}

#[test]
fn numbers_of_threads_that_differ_are_nondeterministic() {
    let result = run(1, true, |_, threads| threads == 5);
    assert_eq!(result.verdict, Verdict::Nondeterministic);
    assert_eq!(result.at.as_deref(), Some("row-major, 5 threads"));
}

#[test]
fn a_layout_that_is_always_answered_wrongly_is_a_wrong_output() {
    let result = run(1, false, |runs, _| runs == 2);
    assert_eq!(result.verdict, Verdict::WrongOutput);
    assert!(result.at.unwrap().contains("params=transposed"));
    let always = run(2, true, |_, _| true);
    assert_eq!((always.verdict, always.at), (Verdict::WrongOutput, None));
    assert_eq!(run(2, true, |_, _| false).verdict, Verdict::Pass);
}

#[test]
fn the_refusal_of_an_undeclared_dtype_is_asked() {
    let reference = || builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    let description = reference().describe();
    let refuses = |case: &&Run| {
        let capability = &description.operators[case.call.operator.as_str()];
        let dtypes = (case.params().dtype(), case.indices().dtype());
        let declared = capability.dtypes.contains(&dtypes.0) && capability.index_dtypes.contains(&dtypes.1);
        !declared && case.expect.under(capability.profile).iter().all(crate::judge::is_dtype_error)
    };
    let case = crate::embedded_runs().iter().find(refuses).unwrap();
    let result = InProcess::new(reference, Strictness::Strict).run(case);
    assert_eq!((result.verdict, result.call.is_some()), (Verdict::Pass, true), "{}", case.id);
}

/// The layouts and the numbers of threads of the calls of a run in its turn.
fn in_turn(run: &Run) -> Vec<(Variant, Vec<usize>)> {
    let threaded =
        || in_process::built_in(builtin::signatures(), "optimized", Profile::default(), 1 << 20).unwrap();
    InProcess::new(threaded, Strictness::Strict).calls(run)
}

#[test]
fn turns_of_many_runs_try_every_layout_with_every_number_of_threads() {
    let runs = crate::embedded_runs().iter().filter(|run| run.call.operator.as_str().starts_with("tf."));
    let calls: Vec<_> = runs.filter(|run| !run.case.large && !meets_all(run)).map(in_turn).collect();
    assert!(calls.iter().all(|calls| calls.len() == 1 && calls[0].1.len() == 1), "{calls:?}");
    let calls = || calls.iter().flatten().map(|(layouts, threads)| (layouts, threads[0]));
    // Row-major and four others; indices may be a view of params, too.
    let pairs = calls().map(|(layouts, _)| ["params", "indices"].map(|operand| layouts.of(operand)));
    let pairs: BTreeSet<_> = pairs.collect();
    assert!(pairs.len() >= 25, "{pairs:?}");
    for operand in ["params", "indices"] {
        let with_threads = calls().map(|(layouts, threads)| (layouts.of(operand), threads));
        assert!(with_threads.collect::<BTreeSet<_>>().len() >= 15, "{operand}");
    }
}

#[test]
fn a_documented_example_and_a_bad_index_meet_every_layout_and_every_number_of_threads() {
    let spec = crate::embedded();
    for id in ["tf.gather_nd/documented/rows-of-a-matrix", "tf.gather_nd/bad-index/first-component"] {
        let calls = in_turn(&spec.run(id).unwrap());
        assert!(calls[0].0.is_usual(), "{id}");
        for operand in ["params", "indices"] {
            let layouts: BTreeSet<_> = calls.iter().filter_map(|(layouts, _)| layouts.of(operand)).collect();
            assert!([Way::Offset, Way::Reversed].iter().all(|way| layouts.contains(way)), "{id} {layouts:?}");
        }
        let threads: BTreeSet<usize> =
            calls.iter().flat_map(|(_, threads)| threads.iter().copied()).collect();
        assert_eq!(threads.into_iter().collect::<Vec<_>>(), THREADS, "{id}");
    }
}

#[test]
fn the_turn_of_a_run_follows_from_its_id_alone() {
    assert_eq!(turn("tf.gather/rows/permuted"), turn("tf.gather/rows/permuted"));
    let turns: BTreeSet<usize> = (0..100).map(|n| turn(&format!("a[n={n}]")) % 15).collect();
    assert_eq!(turns.len(), 15);
}

#[test]
fn a_failure_that_the_plainest_call_shows_too_is_no_matter_of_the_layout() {
    let spec = crate::embedded();
    let run = crate::embedded_runs().iter().find(|run| {
        let calls = in_turn(run);
        calls.len() == 1 && !calls[0].0.is_usual() && run.case.operator().as_str() == "tf.gather"
    });
    let wrong = |slips: fn(usize, usize) -> bool| {
        let factory = move || {
            let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
            Box::new(Moody { reference, runs: 0, threads: 1, has_threads: false, slips }) as Box<dyn Backend>
        };
        InProcess::new(factory, Strictness::Strict).run(run.unwrap())
    };
    let always = wrong(|_, _| true);
    assert_eq!((always.verdict, always.at), (Verdict::WrongOutput, None), "{}", spec.cases.len());
    let once = wrong(|runs, _| runs == 1);
    assert_eq!(once.verdict, Verdict::WrongOutput);
    assert!(once.at.unwrap().contains('='));
}

#[test]
fn a_call_that_differs_from_its_case_is_a_changed_input_whatever_it_gave() {
    let spec = crate::embedded();
    let reference = || builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    // Other params, so that the second one is refused as before.
    for id in ["tf.gather_nd/documented/rows-of-a-matrix", "tf.gather_nd/bad-index/first-component"] {
        let case = &spec.run(id).unwrap();
        let result =
            InProcess::new(reference, Strictness::Strict).product().run_laid_out(case, |call, layouts| {
                let mut call = call.clone();
                if layouts.of("params") == Some(Way::Reversed) {
                    let params = call.operands.get("params").unwrap();
                    let zeros = gather_spec::Element::zero(params.dtype());
                    let zeros = Tensor::filled(params.dtype(), params.shape().clone(), &zeros).unwrap();
                    call.operands.replace("params", zeros);
                }
                Cow::Owned(Ok(call))
            });
        assert_eq!(result.verdict, Verdict::InputChanged, "{id}");
        assert!(result.at.unwrap().contains("params=reversed"), "{id}");
    }
}
