//! Calls with extreme attributes and shapes, which every backend may refuse: each is drawn in every form, within bounds on
//! the work, the time and the text. `GATHERSPEC_SEED=N` draws the calls of one seed again; a failure prints its seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gather_campaign::generate::ChoiceSequence;
use gather_conformance::backend::{Backend, Description};
use gather_conformance::builtin;
use gather_conformance::internals::judge::Strictness;
use gather_conformance::internals::runner::InProcess;
use gather_spec::case::OperandNames;
use gather_spec::load::Wanted;
use gather_spec::signature::{AttributeType, OperandRole};
use gather_spec::{
    Attribute, Attributes, BadIndex, ByteString, Call, Case, DType, Element, NegativeIndex, Outcome, Profile,
    Run, Shape, Signature, Specification, Tensor, TensorBuilder,
};
use gatherspec::internals::ask::{self, TypedCall};
use gatherspec::internals::picture::{self, Picture};
use gatherspec::internals::report::{self, BackendReport, Entry, Report};
use gatherspec::internals::show;

use crate::tiers;

/// The most calls that a picture makes: one to show, and in two numberings one for each of 256 indices and two more.
const MOST_CALLS: usize = 1 + 2 * (256 + 3);

/// The most elements of an output that a picture makes: 256 KiB.
const MOST_ELEMENTS: usize = 1 << 18;

/// The most bytes of a picture: three grids of 256 cells, the first 64 elements of each operand, and 1,000 characters of
/// each attribute.
const MOST_BYTES: usize = 600_000;

/// Far more than a picture takes, so that no load of the machine exceeds it: what counts up to an attribute never ends.
const PATIENCE: Duration = Duration::from_secs(20);

const STRICT: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };

const DIMS: [usize; 14] =
    [1, 2, 3, 0, 4, 33, 256, 257, 65_536, 1 << 31, 1 << 32, (1 << 32) + 1, 1 << 62, (1 << 63) - 1];

const INTEGERS: [i64; 16] = [
    0,
    1,
    -1,
    2,
    3,
    -2,
    64,
    65,
    1 << 31,
    -(1 << 31),
    (1 << 32) + 1,
    1 << 62,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN + 1,
    i64::MIN,
];

/// The most elements of a drawn tensor.
const MOST_DRAWN: usize = 600;

/// A shape that is tiny, or of high rank, or one that only an empty tensor can have.
fn shape(choices: &mut ChoiceSequence, dtype: DType) -> Shape {
    let rank = choices.pick(&[1, 2, 3, 0, 4, 5, 63, 64]);
    let reach = choices.pick(&[3, DIMS.len()]);
    let mut dims: Vec<usize> = (0..rank).map(|_| choices.pick(&DIMS[..reach])).collect();
    let small = dims.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
    if small.is_none_or(|count| count > MOST_DRAWN) {
        let at = choices.below(rank);
        dims[at] = 0;
    }
    // Products at the limit itself stay; those beyond it exist in no tensor.
    let exists = |dims: &[usize]| {
        Shape::new(dims.to_vec()).is_ok_and(|shape| {
            // One with elements is small.
            shape.element_count() > 0
                || TensorBuilder::new(dtype, shape).is_ok_and(|empty| empty.finish().is_ok())
        })
    };
    while !exists(&dims) {
        let largest = (0..rank).max_by_key(|at| dims[*at]).unwrap();
        dims[largest] = 1;
    }
    Shape::new(dims).unwrap()
}

fn element(choices: &mut ChoiceSequence, dtype: DType) -> Element {
    if dtype == DType::String {
        let text = choices.pick(&["", "a", "\u{1b}[2J\n", "é"]);
        let times = if choices.once_in(50) { 20_000 } else { choices.pick(&[1, 2, 300]) };
        return Element::Bytes(ByteString::from(text.repeat(times).as_bytes()));
    }
    let bits = u128::from(choices.pick(&INTEGERS).cast_unsigned());
    let bits = if choices.once_in(4) { bits << 64 | bits } else { bits };
    Element::Bits(if dtype == DType::Bool {
        bits & 1
    } else {
        bits & (u128::MAX >> (128 - 8 * dtype.size()))
    })
}

fn tensor(choices: &mut ChoiceSequence, dtype: DType, shape: &Shape) -> Tensor {
    let mut tensor = TensorBuilder::new(dtype, shape.clone()).unwrap();
    (0..shape.element_count()).for_each(|_| tensor.push(element(choices, dtype)));
    tensor.finish().unwrap()
}

fn attribute(
    choices: &mut ChoiceSequence,
    r#type: AttributeType,
    signature: &Signature,
    dtype: DType,
) -> Attribute {
    match r#type {
        AttributeType::Integer => Attribute::Integer(choices.pick(&INTEGERS)),
        AttributeType::Boolean => Attribute::Boolean(choices.once_in(2)),
        AttributeType::String => {
            let modes: Vec<&str> = signature.modes().iter().map(|mode| mode.mode.as_str()).collect();
            match choices.below(modes.len() + 1) {
                at if at < modes.len() => Attribute::String(modes[at].to_owned()),
                _ => Attribute::String("\u{1b}\"".repeat(choices.pick(&[1, 5_000]))),
            }
        }
        AttributeType::Integers => {
            let length = choices.pick(&[1, 2, 0, 3, 64, 5_000]);
            Attribute::Integers((0..length).map(|_| choices.pick(&INTEGERS)).collect())
        }
        AttributeType::Element => {
            let element = element(choices, dtype);
            Attribute::Element(Box::new(Tensor::filled(dtype, Shape::new([]).unwrap(), &element).unwrap()))
        }
    }
}

fn draw(choices: &mut ChoiceSequence, signature: &Signature) -> TypedCall {
    let named = |role| signature.operands.iter().find(|operand| operand.role == role).unwrap();
    let names = OperandNames {
        params: named(OperandRole::Params).name.clone(),
        indices: named(OperandRole::Indices).name.clone(),
    };
    let params = choices.pick(&named(OperandRole::Params).dtypes);
    // Shapes that go together by chance are rare: half the calls have one shape for all operands.
    let one = shape(choices, DType::C128);
    let is_one = choices.once_in(2);
    let operands = signature.operands.iter().map(|operand| {
        let dtype = if operand.role == OperandRole::Params { params } else { choices.pick(&operand.dtypes) };
        let shape = if is_one { one.clone() } else { shape(choices, dtype) };
        (operand.name.clone(), tensor(choices, dtype, &shape))
    });
    let operands = operands.collect();
    let attributes: Attributes = signature
        .attributes
        .iter()
        .filter_map(|one| {
            let value = attribute(choices, one.r#type, signature, params);
            (!choices.once_in(3)).then(|| (one.name.clone(), value))
        })
        .collect();
    TypedCall { call: Call::new(signature.operator.clone(), operands, attributes), names }
}

/// The reference of pictures, which counts what it does.
struct CountingReference {
    reference: Box<dyn Backend>,
    calls: Arc<AtomicUsize>,
}

impl Backend for CountingReference {
    fn describe(&self) -> Description {
        self.reference.describe()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        self.calls.fetch_add(1, Relaxed);
        let outcome = self.reference.call(call);
        if let Outcome::Output(output) = &outcome {
            assert!(output.shape().element_count() <= MOST_ELEMENTS, "{}", output.shape());
        }
        outcome
    }
}

/// A backend that declares everything and refuses every call.
struct Refusing(bool);

impl Backend for Refusing {
    fn describe(&self) -> Description {
        picture::reference(STRICT).describe()
    }

    fn call(&mut self, _: &Call) -> Outcome {
        if self.0 {
            return Outcome::Unsupported("not at all".to_owned());
        }
        Outcome::refused("no")
    }
}

fn within_bounds(what: &str, text: &str, began: Instant) {
    assert!(text.len() <= MOST_BYTES, "{what}: {} bytes", text.len());
    assert!(began.elapsed() < PATIENCE, "{what}: {:?}", began.elapsed());
}

/// Draws a call in every form that has no report.
fn drawn(what: &str, TypedCall { call, names }: &TypedCall, profile: Profile) {
    let calls = Arc::new(AtomicUsize::new(0));
    let make = |profile| {
        let counting =
            CountingReference { reference: picture::reference(profile), calls: Arc::clone(&calls) };
        Box::new(counting) as Box<dyn Backend>
    };
    let began = Instant::now();
    let picture = Picture::new(call, names, profile, &make).unwrap();
    let calls = calls.load(Relaxed);
    assert!(calls <= MOST_CALLS, "{what}: {calls} calls");
    for width in [1, 80, usize::MAX] {
        within_bounds(what, &picture.terminal(width), began);
    }
    within_bounds(what, &picture.svg().unwrap_or_default(), began);
}

/// The requested seed, otherwise another one in each run.
fn seed() -> u64 {
    let asked = std::env::var("GATHERSPEC_SEED").ok();
    asked.map_or_else(
        || {
            u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() & 0xFFFF_FFFF)
                .unwrap()
        },
        |seed| seed.parse().expect("GATHERSPEC_SEED is a number"),
    )
}

/// Says on a panic how to repeat the draws.
struct Seeded(u64);

impl Drop for Seeded {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat: GATHERSPEC_SEED={}", self.0);
        }
    }
}

#[test]
fn a_call_of_any_operator_with_extreme_attributes_and_shapes_is_drawn_in_bounded_time_and_size() {
    let seed = Seeded(seed());
    let mut choices = ChoiceSequence::from_seed(seed.0);
    // No case is like such a call.
    let spec = &Specification::embedded_with(&Wanted::None).unwrap();
    let profiles: Vec<Profile> = Profile::all_specified().collect();
    let mut runs: Vec<Run> = Vec::new();
    for signature in builtin::signatures() {
        for at in 0..tiers::EXTREME_CALLS.count() {
            let asked = draw(&mut choices, signature);
            let what = format!("{} {at}: {:.2000}", signature.operator, show::call_line(&asked.call));
            drawn(&what, &asked, choices.pick(&profiles));
            let mut run = ask::answer(spec, &asked).as_run(spec, &asked);
            run.id = format!("{}/drawn/{at}", signature.operator);
            let mut case = (*run.case).clone();
            case.id.clone_from(&run.id);
            run.case = Arc::new(case);
            runs.push(run);
        }
    }
    let cases: Vec<&Arc<Case>> = runs.iter().map(|run| &run.case).collect();
    let began = Instant::now();
    let backends = [true, false].map(|unsupported| {
        let make = || Box::new(Refusing(unsupported)) as Box<dyn Backend>;
        let mut runner = InProcess::new(make, Strictness::Strict);
        let mut backend = BackendReport::new(format!("refusing-{unsupported}"), runner.description(), spec);
        backend.results = runs.iter().map(|run| Entry::alone(run, runner.run(run))).collect();
        backend.conclude(&cases, spec);
        backend
    });
    let report = Report { backends: backends.into(), ..Report::new() };
    let folder = tempfile::tempdir().unwrap();
    report::write(&report, folder.path(), spec, &cases).unwrap();
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.len() > 100_000, "the page has {} bytes", page.len());
    assert!(began.elapsed() < 10 * PATIENCE, "the reports took {:?}", began.elapsed());
}
