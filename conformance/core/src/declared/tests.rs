use std::collections::BTreeMap;
use std::sync::Arc;

use gather_spec::signature::Axis;
use gather_spec::{Outcome, Profile, Tensor};

use super::*;
use crate::backend::{Backend, Identity};
use crate::builtin;
use crate::judge::{Strictness, Verdict};
use crate::limits::Limits;
use crate::report::{BackendReport, Ending, Entry};
use crate::runner::InProcess;

fn call(attributes: &[&str]) -> Call {
    let one = |name: &&str| ((*name).to_owned(), gather_spec::Attribute::Integer(0));
    let scalar = Tensor::filled(DType::F32, gather_spec::Shape::new([]).unwrap(), &Element::Bits(0)).unwrap();
    let attributes = attributes.iter().map(one).collect();
    Call::new(gather_spec::Operator::new("tf.gather"), [("params", scalar)].into(), attributes)
}

/// The limits that a call of params 2 x 3 and indices 4 with an output 4 x 3 of f32 exceeds, after some change of it.
fn exceeded(limits: &Limits, change: impl FnOnce(&mut CallExtent<'_>)) -> Vec<Limit> {
    let call = call(&["batch_dims"]);
    let operands = [&[2, 3][..], &[4][..]];
    let output = Some((DType::F32, &[4, 3][..]));
    let mut extent = CallExtent { call: &call, operands, axis: Some(Axis::At(0)), output };
    change(&mut extent);
    limits.exceeded_by(&extent)
}

#[test]
fn each_limit_separates_what_is_just_within_it_from_what_is_just_outside() {
    let unchanged = |_: &mut CallExtent<'_>| ();
    let none = Limits::default();
    assert_eq!(exceeded(&none, |extent| extent.operands = [&[0; 9], &[]]), []);
    let rank = |most| Limits { max_rank: Some(most), ..Limits::default() };
    assert_eq!(exceeded(&rank(2), unchanged), []);
    assert_eq!(exceeded(&rank(1), unchanged), [Limit::MaxRank(1)]);
    assert_eq!(exceeded(&rank(2), |extent| extent.output = Some((DType::F32, &[1; 3]))), [Limit::MaxRank(2)]);
    assert_eq!(exceeded(&rank(2), |extent| extent.operands[1] = &[1; 3]), [Limit::MaxRank(2)]);
    let scalars = Limits { no_scalars: true, ..Limits::default() };
    assert_eq!(exceeded(&scalars, unchanged), []);
    assert_eq!(exceeded(&scalars, |extent| extent.operands[1] = &[]), [Limit::NoScalars]);
    assert_eq!(exceeded(&scalars, |extent| extent.output = Some((DType::F32, &[]))), [Limit::NoScalars]);
    assert_eq!(exceeded(&scalars, |extent| extent.output = None), []);
    let empty = Limits { no_empty: true, ..Limits::default() };
    assert_eq!(exceeded(&empty, |extent| extent.operands[1] = &[]), []);
    assert_eq!(exceeded(&empty, |extent| extent.operands[0] = &[2, 0]), [Limit::NoEmpty]);
    let elements = |most| Limits { max_elements: Some(most), ..Limits::default() };
    assert_eq!(exceeded(&elements(12), unchanged), []);
    assert_eq!(exceeded(&elements(11), unchanged), [Limit::MaxElements(11)]);
    assert_eq!(exceeded(&elements(11), |extent| extent.output = Some((DType::F32, &[12, 0]))), []);
    let bytes = |most| Limits { max_output_bytes: Some(most), ..Limits::default() };
    assert_eq!(exceeded(&bytes(48), unchanged), []);
    assert_eq!(exceeded(&bytes(47), unchanged), [Limit::MaxOutputBytes(47)]);
    let axes = Limits { axes: Some(vec![-1, 0]), ..Limits::default() };
    assert_eq!(exceeded(&axes, unchanged), []);
    assert_eq!(exceeded(&axes, |extent| extent.axis = None), []);
    for axis in [Axis::At(1), Axis::Null] {
        assert_eq!(exceeded(&axes, |extent| extent.axis = Some(axis)), [Limit::Axes(vec![-1, 0])]);
    }
    let without = |name: &str| Limits { without_attributes: [name.to_owned()].into(), ..Limits::default() };
    assert_eq!(exceeded(&without("batch"), unchanged), []);
    assert_eq!(exceeded(&without("batch_dims"), unchanged), [Limit::WithoutAttribute("batch_dims".into())]);
}

/// The reference of some operators in f32 by i64, for calls of low rank with elements, with a bug or without one.
struct Limited {
    reference: Box<dyn Backend>,
    operators: BTreeMap<String, Capability>,
    bug: OutputBug,
}

#[derive(Clone, Copy, PartialEq)]
enum OutputBug {
    None,
    /// Of an output of the highest rank, the last element is the first.
    LastElement,
    /// Calls beyond the limits give zeros.
    ZerosBeyond,
}

const OPERATORS: [&str; 3] = ["onnx.Gather-13", "onnx.GatherElements-13", "onnx.GatherND-13"];
const MOST: usize = 4;

impl Limited {
    fn new(bug: OutputBug) -> Self {
        let reference = builtin::backend("reference", Profile::default(), builtin::MAX_OUTPUT).unwrap();
        let mut operators = reference.describe().operators;
        operators.retain(|operator, _| OPERATORS.contains(&operator.as_str()));
        for known in operators.values_mut() {
            let limits = Limits { max_rank: Some(MOST), no_empty: true, ..Limits::default() };
            *known = Capability {
                profile: known.profile,
                dtypes: vec![DType::F32],
                index_dtypes: vec![DType::I64],
                limits,
                ..Capability::default()
            };
        }
        Self { reference, operators, bug }
    }
}

impl Backend for Limited {
    fn describe(&self) -> Description {
        let [name, version, language] = ["limited", "1", "Rust"].map(str::to_owned);
        Description { backend: Identity { name, version, language }, operators: self.operators.clone() }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let outcome = self.reference.call(call);
        let Outcome::Output(output) = outcome else { return outcome };
        let is_beyond = |tensor: &Tensor| tensor.rank() > MOST || tensor.shape().contains(&0);
        let beyond = call.operands.tensors().any(is_beyond) || is_beyond(&output);
        match self.bug {
            OutputBug::ZerosBeyond if beyond => {
                let zeros =
                    Tensor::filled(output.dtype(), output.shape().clone(), &Element::zero(output.dtype()));
                Outcome::Output(zeros.unwrap())
            }
            _ if beyond => Outcome::Unsupported("more than this kernel does".to_owned()),
            OutputBug::LastElement if output.rank() == MOST => {
                let mut elements: Vec<Element> = output.iter().collect();
                let first = elements[0].clone();
                *elements.last_mut().unwrap() = first;
                let mut builder =
                    gather_spec::TensorBuilder::new(output.dtype(), output.shape().clone()).unwrap();
                elements.into_iter().for_each(|element| builder.push(element));
                Outcome::Output(builder.finish().unwrap())
            }
            _ => Outcome::Output(output),
        }
    }
}

/// The report on all cases of the operators.
fn report(bug: OutputBug) -> BackendReport {
    let spec = crate::embedded();
    let of_operators = |case: &&Arc<Case>| OPERATORS.contains(&case.operator().as_str());
    let cases: Vec<&Arc<Case>> = spec.cases.iter().filter(of_operators).collect();
    let description = Limited::new(bug).describe();
    let probes = Arc::new(Probes::new(&description, cases.iter().copied()));
    assert_eq!(probes.0.len(), 2 * OPERATORS.len(), "{probes:?}");
    let make = move || Box::new(Limited::new(bug)) as Box<dyn Backend>;
    let mut runner = InProcess::new(make, Strictness::Lenient).probing(probes);
    let mut report = BackendReport::new("limited".to_owned(), &description, spec);
    let mut result = |run: &Run| Entry::with_facts(run, runner.run(run));
    let mut of_case = |case: &&Arc<Case>| Entry::of_case(case, case.runs().iter().map(&mut result).collect());
    report.results = cases.iter().map(&mut of_case).collect();
    report.conclude(&cases, spec);
    report
}

#[test]
fn a_right_kernel_conforms_for_what_it_declares() {
    let report = report(OutputBug::None);
    let failures: Vec<&str> = report.failures().map(|entry| entry.id.as_str()).collect();
    assert_eq!(failures, [""; 0]);
    assert_eq!(report.summary.ending, Ending::Conforms, "{:#?}", report.summary);
    let sentence = &report.summary.sentence;
    assert!(sentence.ends_with(" runs: conforms for f32 by i64, rank <= 4, no empty tensors"), "{sentence}");
    let runs = report.results.iter().flat_map(|entry| &entry.all);
    let refused = runs.filter(|run| run.note.is_some()).count();
    assert_eq!(refused, 2 * OPERATORS.len(), "each operator has a probe for each limit");
}

#[test]
fn a_bug_within_the_limits_fails_and_so_does_a_wrong_answer_to_a_probe() {
    let within = report(OutputBug::LastElement);
    assert!(within.failures().count() > 10, "{}", within.summary.sentence);
    let beyond = report(OutputBug::ZerosBeyond);
    let failed: Vec<&Entry> = beyond.failures().collect();
    assert_eq!(failed.len(), OPERATORS.len(), "{}", beyond.summary.sentence);
    for entry in failed {
        assert_eq!(entry.verdict, Verdict::WrongOutput, "{}", entry.id);
    }
}

/// GatherND of ONNX takes indices of i64 alone.
#[test]
fn a_dtype_beyond_the_page_is_tested_in_turns_and_its_refusal_is_not() {
    let mut known = Limited::new(OutputBug::None).operators.remove("onnx.GatherND-13").unwrap();
    known.extends.index_dtypes = vec![DType::I32];
    known.limits = Limits::default();
    let mut turns = BTreeMap::new();
    for case in crate::embedded_runs().iter().filter(|run| run.call.operator.as_str() == "onnx.GatherND-13") {
        let sent = known.in_declared_dtypes(case).unwrap();
        if case.open.indices == [DType::I64] {
            *turns.entry(sent.indices().dtype()).or_insert(0) += 1;
        }
        if sent.indices().dtype() == DType::I32 && sent.params().dtype() == DType::F32 {
            let refuses = sent.expect.under(known.profile).iter().any(is_dtype_error);
            assert_eq!(known.excludes(&sent), refuses.then_some(Outside::Extension), "{}", case.id);
        }
    }
    assert!(turns[&DType::I32] > 100 && turns[&DType::I64] > 100, "{turns:?}");
}

#[test]
fn an_attribute_that_an_operator_lacks_is_named_with_the_one_that_was_meant() {
    let without = |name: &str| {
        let limits = Limits { without_attributes: [name.to_owned()].into(), ..Limits::default() };
        let operators = [("tf.gather_nd".to_owned(), Capability { limits, ..Capability::default() })];
        let backend = Identity { name: "mine".into(), version: "1".into(), language: "C".into() };
        Description { backend, operators: operators.into() }.unknown_names(crate::embedded())
    };
    assert_eq!(without("batch_dims"), [""; 0]);
    let said = "declares `tf.gather_nd` without the attribute `batch_dim`, which it does not have; did you mean `batch_dims`?";
    assert_eq!(without("batch_dim"), [said]);
}
