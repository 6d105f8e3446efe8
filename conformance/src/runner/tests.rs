//! A runner on backends that err in one layout, or with one number of threads.

use gather_spec::{DType, Tensor};

use super::*;
use crate::backend::{Backend, Poisonable};
use crate::builtin;

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

fn run(repeat: usize, has_threads: bool, slips: fn(usize, usize) -> bool) -> CaseResult {
    let spec = crate::embedded();
    let case = spec.case("tf.gather_nd/documented/rows-of-a-matrix").unwrap();
    let factory = move || {
        let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        Box::new(Moody { reference, runs: 0, threads: 1, has_threads, slips }) as Box<dyn Backend>
    };
    InProcess::new(factory, Strictness::Strict).repeat(repeat).run(case)
}

#[test]
fn repeated_runs_that_differ_are_nondeterministic_whichever_of_them_is_right() {
    let second = run(2, false, |runs, _| runs == 2);
    assert_eq!(second.verdict, Verdict::Nondeterministic);
    assert_eq!(second.at.as_deref(), Some("layout contiguous"));
    assert!(second.actual.contains(", then u8 [1] [7]"), "{}", second.actual);
    assert_eq!(run(2, false, |runs, _| runs == 1).verdict, Verdict::Nondeterministic);
    assert_eq!(run(3, false, |runs, _| runs == 6).at.as_deref(), Some("layout transposed"));
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
    let case = spec.case("tf.gather/long-rows/rows-of-17").unwrap();
    let factory = || {
        let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        Held::Poisonable(Box::new(WritesNothing(reference, false)))
    };
    let result = InProcess::new(factory, Strictness::Strict).run(case);
    assert_eq!(result.verdict, Verdict::Nondeterministic);
    assert_eq!(result.at.as_deref(), Some("layout contiguous, 2 threads"));
}

#[test]
fn numbers_of_threads_that_differ_are_nondeterministic() {
    let result = run(1, true, |_, threads| threads == 5);
    assert_eq!(result.verdict, Verdict::Nondeterministic);
    assert_eq!(result.at.as_deref(), Some("layout contiguous, 5 threads"));
}

#[test]
fn a_layout_that_is_always_answered_wrongly_is_a_wrong_output() {
    let result = run(1, false, |runs, _| runs == 2);
    assert_eq!((result.verdict, result.at.as_deref()), (Verdict::WrongOutput, Some("layout transposed")));
    let always = run(2, true, |_, _| true);
    assert_eq!((always.verdict, always.at), (Verdict::WrongOutput, None));
    assert_eq!(run(2, true, |_, _| false).verdict, Verdict::Pass);
}

#[test]
fn the_refusal_of_an_undeclared_dtype_is_asked() {
    let spec = crate::embedded();
    let reference = || builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    let description = reference().describe();
    let refuses = |case: &&Case| {
        let capability = &description.operators[case.call.operator.as_str()];
        let dtypes = (case.params().dtype(), case.indices().dtype());
        let declared = capability.dtypes.contains(&dtypes.0) && capability.index_dtypes.contains(&dtypes.1);
        !declared && case.expect.under(capability.profile).iter().all(crate::judge::is_dtype_error)
    };
    let case = spec.cases.iter().find(refuses).unwrap();
    let result = InProcess::new(reference, Strictness::Strict).run(case);
    assert_eq!((result.verdict, result.call.is_some()), (Verdict::Pass, true), "{}", case.id);
}

#[test]
fn turns_try_every_layout_with_every_number_of_threads_to_poisoned_outputs() {
    let threaded = || builtin::held(builtin::signatures(), "optimized", Profile::default(), 1 << 20).unwrap();
    let runs = (0..12).map(|turn| InProcess::new(threaded, Strictness::Strict).in_turn(turn));
    let runs =
        runs.map(|run| (run.layouts[0].name(), run.layouts[1].name(), run.threads[0], run.poisons_all));
    let runs: std::collections::BTreeSet<_> = runs.collect();
    assert_eq!(runs.len(), 12, "{runs:?}");
    assert!(runs.iter().all(|(first, .., poisons)| *first == "contiguous" && *poisons), "{runs:?}");
}

#[test]
fn every_size_of_a_case_is_run_in_two_layouts() {
    use Layout::{Broadcast, Contiguous, Offset, Reversed, Transposed};
    let layouts = |point| layouts(&Layout::ALL, false, point).collect::<Vec<_>>();
    assert_eq!(layouts(None), Layout::ALL);
    let second = [Transposed, Offset, Reversed, Broadcast];
    for point in 0..12 {
        assert_eq!(layouts(Some(point)), [Contiguous, second[point % 4]], "{point}");
    }
}

#[test]
fn a_call_that_differs_from_its_case_is_a_changed_input_whatever_it_gave() {
    let spec = crate::embedded();
    let reference = || builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
    // Other params, so that the second one is refused as before.
    for id in ["tf.gather_nd/documented/rows-of-a-matrix", "tf.gather_nd/bad-index/first-component"] {
        let case = spec.case(id).unwrap();
        let result = InProcess::new(reference, Strictness::Strict).run_laid_out(case, |call, layout| {
            let mut call = call.clone();
            if layout == Layout::Reversed {
                let params = call.operands.get("params").unwrap();
                let zeros = gather_spec::Element::zero(params.dtype());
                let zeros = Tensor::filled(params.dtype(), params.shape().clone(), &zeros).unwrap();
                call.operands.replace("params", zeros);
            }
            Cow::Owned(Ok(call))
        });
        assert_eq!(result.verdict, Verdict::InputChanged, "{id}");
        assert!(result.at.unwrap().starts_with("layout reversed"), "{id}");
    }
}
