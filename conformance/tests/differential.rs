//! `optimized` against `reference`: every bit and every field of every error, over levels, threads, layouts, profiles.
//! Only here may the two meet.

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::generate::{Choices, Maker, grid};
use gather_conformance::layout::Layout;
use gather_optimized::{Element, Index, Level, Options, Plan, Settings};
use gather_spec::signature::{AttributeDefault, AttributeRole, EmptyIndex, OperandRole, RankRule};
use gather_spec::tensor::Stored;
use gather_spec::{
    Attribute, BadIndex, Call, DType, Form, NegativeIndex, Outcome, Profile, Refusal, ReportedError, Roles,
    Signature, Signatures, Tensor,
};
use ndarray::{ArrayD, ArrayViewD, IxDyn};
use proptest::prelude::*;

const THREADS: [usize; 3] = [1, 2, 5];

static SIGNATURES: LazyLock<Signatures> =
    LazyLock::new(|| gather_spec::load::operators().expect("the embedded files").into_iter().collect());

static MAKER: LazyLock<Maker> = LazyLock::new(|| {
    let optimized = builtin::backend("optimized", Profile::default(), MAX_OUTPUT).expect("its name");
    Maker::new(&optimized.describe(), &SIGNATURES).wide()
});

/// An operator that the typed functions answer too: the one of its form that has every attribute.
fn typed(form: Form) -> &'static Signature {
    let is_of_form =
        |one: &&Signature| one.form == form && has_typed_function(one) && has_every_attribute(one);
    SIGNATURES.iter().find(is_of_form).expect("one for each form")
}

/// Whether an operator has every attribute that the typed function of its form has.
fn has_every_attribute(signature: &Signature) -> bool {
    let has = |role| signature.attribute(role).is_some();
    match signature.form {
        Form::Take => has(AttributeRole::BatchDims) && has(AttributeRole::Axis),
        Form::Elements => has(AttributeRole::Axis),
        Form::Nd => has(AttributeRole::BatchDims),
    }
}

/// One way of running the optimized implementation.
#[derive(Clone, Copy, Debug)]
struct Way {
    level: Level,
    threads: usize,
    layout: Layout,
}

impl Way {
    /// Every combination that this machine allows.
    fn all() -> Vec<Self> {
        let mut ways = Vec::new();
        for level in Level::available() {
            for threads in THREADS {
                for layout in Layout::ALL {
                    ways.push(Self { level, threads, layout });
                }
            }
        }
        ways
    }

    fn options(self, profile: Profile) -> Options {
        let threads = NonZeroUsize::new(self.threads).expect("a positive number");
        Options::new().profile(profile).level(self.level).threads(threads)
    }
}

fn signature(call: &Call) -> &'static Signature {
    SIGNATURES.get(call.operator.as_str()).expect("a known operator")
}

fn optimized(call: &Call, settings: &Settings) -> Outcome {
    gather_optimized::answer(signature(call), call, settings)
}

fn reference(call: &Call, profile: Profile) -> Outcome {
    gather_reference::answer(call, gather_reference::Settings { profile, max_output: MAX_OUTPUT })
}

/// Messages are not compared; codes, fields and outputs are.
#[track_caller]
fn assert_same(expected: &Outcome, found: &Outcome, call: &Call, profile: Profile, way: Way) {
    let same = match (expected, found) {
        (Outcome::Error(expected), Outcome::Error(found)) => {
            (expected.code, &expected.fields) == (found.code, &found.fields)
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => true,
        (expected, found) => expected == found,
    };
    assert!(same, "{way:?} {profile}\n{call:?}\nexpected {expected:?}\nfound {found:?}",);
}

/// Compares one call under one profile in the given ways, fresh and into poisoned outputs.
fn compare(call: &Call, profile: Profile, ways: &[Way]) {
    let expected = reference(call, profile);
    for way in ways {
        let laid_out = way.layout.apply(call).expect("memory for a small call");
        let settings =
            Settings { options: way.options(profile), max_output: MAX_OUTPUT, ..Settings::default() };
        assert_same(&expected, &optimized(&laid_out, &settings), call, profile, *way);
        if let Some(found) = into_poisoned(&laid_out, settings.options) {
            assert_same(&expected, &found, call, profile, *way);
        }
    }
}

/// The outcome of gathering into outputs full of 0x00 and of 0xFF, which must agree; `None` for calls that have no
/// typed function, or whose dtypes an operator refuses.
fn into_poisoned(call: &Call, options: Options) -> Option<Outcome> {
    let signature = signature(call);
    let roles = signature.roles(call).ok()?;
    let supported = has_typed_function(signature)
        && signature.operand(OperandRole::Params).dtypes.contains(&roles.params.dtype())
        && signature.operand(OperandRole::Indices).dtypes.contains(&roles.indices.dtype())
        && [DType::I32, DType::I64].contains(&roles.indices.dtype())
        && roles.params.dtype() != DType::String
        // The typed function takes any rank, and then has no axis to take.
        && (signature.form != Form::Elements || roles.params.rank() > 0);
    if !supported {
        return None;
    }
    let options = options.batch_dims(roles.batch_dims.unwrap_or(0));
    let axis = roles.axis.or_else(|| default_axis(signature));
    let options = axis.map_or(options, |axis| options.axis(axis));
    let options = signature.join.map_or(options, |join| options.join(join));
    let typed = Typed { form: signature.form, indices: roles.indices, options };
    Some(match roles.params.dtype().size() {
        1 => poisoned::<u8>(roles.params, typed, [0, u8::MAX]),
        2 => poisoned::<u16>(roles.params, typed, [0, u16::MAX]),
        4 => poisoned::<u32>(roles.params, typed, [0, u32::MAX]),
        8 => poisoned::<u64>(roles.params, typed, [0, u64::MAX]),
        _ => poisoned::<u128>(roles.params, typed, [0, u128::MAX]),
    })
}

/// The number that an absent axis stands for, whatever the call.
fn default_axis(signature: &Signature) -> Option<i64> {
    match signature.attribute(AttributeRole::Axis)?.default {
        AttributeDefault::Value(Attribute::Integer(axis)) => Some(axis),
        _ => None,
    }
}

/// Whether an operator differs in nothing but dtypes, attributes and scalars from the typed function of its form.
fn has_typed_function(signature: &Signature) -> bool {
    let ranks = [OperandRole::Params, OperandRole::Indices].map(|role| signature.operand(role).rank);
    match signature.form {
        Form::Take => {
            let axis = signature.attribute(AttributeRole::Axis);
            ranks == [RankRule::AtLeast1, RankRule::Any]
                && axis.is_some_and(|axis| axis.default == AttributeDefault::BatchDims)
        }
        Form::Elements => {
            ranks == [RankRule::AtLeast1, RankRule::Any] && signature.empty_index == EmptyIndex::Checked
        }
        Form::Nd => ranks == [RankRule::Any, RankRule::AtLeast1] && signature.least_depth == 0,
    }
}

/// A call of a typed function, params aside.
#[derive(Clone, Copy)]
struct Typed<'a> {
    form: Form,
    indices: &'a Tensor,
    options: Options,
}

fn poisoned<T: Element + Stored>(params: &Tensor, call: Typed<'_>, poisons: [T; 2]) -> Outcome {
    let dtype = params.dtype();
    let params = params.view::<T>().expect("the width of the dtype");
    let outcomes = poisons.map(|poison| {
        // The value decides the index type, so that all eight are used.
        let largest = call.indices.iter().count() % 3;
        let result = match (call.indices.dtype(), largest) {
            (DType::I64, 0) if fits::<u64>(call.indices) => into::<T, u64>(&params, call, poison),
            (DType::I64, 1) if fits::<u32>(call.indices) => into::<T, u32>(&params, call, poison),
            (DType::I64, _) => into::<T, i64>(&params, call, poison),
            (_, 0) if fits::<u8>(call.indices) => into::<T, u8>(&params, call, poison),
            (_, 0) if fits::<i8>(call.indices) => into::<T, i8>(&params, call, poison),
            (_, 1) if fits::<u16>(call.indices) => into::<T, u16>(&params, call, poison),
            (_, 1) if fits::<i16>(call.indices) => into::<T, i16>(&params, call, poison),
            _ => into::<T, i32>(&params, call, poison),
        };
        outcome(result, dtype)
    });
    assert_eq!(outcomes[0], outcomes[1], "something was not written");
    let [outcome, _] = outcomes;
    outcome
}

fn fits<I: TryFrom<i128>>(indices: &Tensor) -> bool {
    indices.shape().positions().all(|at| I::try_from(indices.integer(&at).expect("an integer")).is_ok())
}

fn into<T: Element, I: Index + TryFrom<i128>>(
    params: &ArrayViewD<'_, T>,
    call: Typed<'_>,
    poison: T,
) -> Result<ArrayD<T>, Refusal> {
    let values = call.indices.shape().positions();
    let values = values.map(|at| {
        let value = call.indices.integer(&at).expect("an integer");
        I::try_from(value).ok().expect("a type that fits")
    });
    let indices =
        ArrayD::from_shape_vec(IxDyn(call.indices.shape()), values.collect()).expect("its own shape");
    let plan = match call.form {
        Form::Take => Plan::gather(params.shape(), indices.shape(), &call.options),
        Form::Elements => Plan::take_along_axis(params.shape(), indices.shape(), &call.options),
        Form::Nd => Plan::gather_nd(params.shape(), indices.shape(), &call.options),
    }?;
    let bytes = plan.output_shape().iter().map(|dim| *dim as u128).product::<u128>() * size_of::<T>() as u128;
    if bytes > u128::from(MAX_OUTPUT) {
        return Err(Refusal::Unsupported("too large for a test".to_owned()));
    }
    let mut output = ArrayD::from_elem(IxDyn(plan.output_shape()), poison);
    plan.run_into(params, &indices, &mut output)?;
    Ok(output)
}

fn outcome<T: Stored>(result: Result<ArrayD<T>, Refusal>, dtype: DType) -> Outcome {
    match result {
        Ok(output) => {
            let shape = output.shape().to_vec();
            let (elements, _) = output.into_raw_vec_and_offset();
            Outcome::Output(Tensor::new(dtype, shape, elements).expect("an output of its own shape"))
        }
        Err(Refusal::Error(error)) => Outcome::Error(ReportedError::from(error)),
        Err(Refusal::Unsupported(why)) => Outcome::Unsupported(why),
    }
}

/// Compares each call under every profile, in one way each, which changes with a period that shares no factor with that
/// of the list.
fn compare_in_turn(calls: impl Iterator<Item = Result<Call, gather_spec::TensorError>>) {
    let ways = Way::all();
    let profiles: Vec<Profile> = Profile::all_specified().collect();
    for (at, call) in calls.enumerate() {
        let call = call.expect("memory for a small call");
        for (turn, profile) in profiles.iter().enumerate() {
            compare(&call, *profile, &[ways[(at * 7 + turn * 11) % ways.len()]]);
        }
    }
}

#[test]
fn all_small_shapes_of_gather_nd() {
    compare_in_turn(grid::small(typed(Form::Nd), 3, 3));
}

#[test]
fn all_small_shapes_of_gather() {
    compare_in_turn(grid::small(typed(Form::Take), 3, 3));
}

#[test]
fn all_small_shapes_of_gather_elements() {
    compare_in_turn(grid::small(typed(Form::Elements), 3, 3));
}

/// Lines of every length around an edge, along the last axis, the first and one between, element by element and in whole
/// rows, for every width and index type.
#[test]
fn line_lengths_around_every_edge() {
    let widths = [DType::U8, DType::F16, DType::F32, DType::F64, DType::C128];
    let ways: Vec<Way> = Way::all();
    let mut turn = 0;
    for count in grid::around(&grid::ROW_EDGES) {
        for dtype in widths {
            for (dims, along) in
                [([3, 50, 1], count), ([1, 40, count], 3), ([2, 40, 5], count), ([2, 7, count], 4)]
            {
                for (index_dtype, rows) in [(DType::I32, false), (DType::I64, false), (DType::I64, true)] {
                    turn += 1;
                    let dtypes = (dtype, index_dtype);
                    let call =
                        grid::elements(typed(Form::Elements), dtypes, dims, along, rows, turn % 5 == 0);
                    let mine: Vec<Way> = ways.iter().copied().skip(turn % 13).step_by(13).collect();
                    compare(&call.expect("memory"), Profile::default(), &mine);
                }
            }
        }
    }
}

/// Every profile, level and number of threads; the layout changes from call to call.
#[test]
fn all_tiny_shapes_in_every_profile() {
    let ways = Way::all();
    let calls = SIGNATURES.iter().flat_map(|signature| grid::small(signature, 2, 2));
    for (at, call) in calls.enumerate() {
        let call = call.expect("memory for a small call");
        let layout = Layout::ALL[at % Layout::ALL.len()];
        let mine: Vec<Way> = ways.iter().copied().filter(|way| way.layout == layout).collect();
        for profile in Profile::all_specified() {
            compare(&call, profile, &mine);
        }
    }
}

/// Rows of every length around an edge, a few at a time.
#[test]
fn row_lengths_around_every_edge() {
    let ways: Vec<Way> = Way::all().into_iter().filter(|way| way.layout != Layout::Transposed).collect();
    for row in grid::around(&grid::ROW_EDGES) {
        for (count, bad) in [(1, false), (2, true), (19, false), (19, true)] {
            let call =
                grid::rows(typed(Form::Nd), (DType::U8, DType::I64), &[23], row, count, bad).expect("memory");
            compare(&call, Profile::default(), &ways);
        }
    }
}

/// Numbers of rows around an edge, for every width, depth and index type.
#[test]
fn row_counts_around_every_edge() {
    let widths = [DType::U8, DType::F16, DType::F32, DType::F64, DType::C128];
    let axes: [&[usize]; 4] = [&[300], &[7, 40], &[5, 6, 7], &[3, 4, 3, 4]];
    let ways: Vec<Way> = Way::all();
    let mut turn = 0;
    for count in grid::around(&grid::COUNT_EDGES) {
        for dtype in widths {
            for axes in axes {
                for (index_dtype, row) in [(DType::I32, 1), (DType::I64, 1), (DType::I32, 3)] {
                    turn += 1;
                    let call =
                        grid::rows(typed(Form::Nd), (dtype, index_dtype), axes, row, count, turn % 5 == 0)
                            .expect("memory");
                    let mine: Vec<Way> = ways.iter().copied().skip(turn % 13).step_by(13).collect();
                    compare(&call, Profile::default(), &mine);
                }
            }
        }
    }
}

/// Every depth with a base that moves from row to row.
#[test]
fn one_row_per_batch_of_every_depth() {
    for depth in 0..=5 {
        for (batches, row) in [(1, 1), (7, 1), (33, 3), (1030, 1)] {
            let call = grid::one_row_per_batch(typed(Form::Nd), depth, batches, row).expect("memory");
            for profile in Profile::all_specified() {
                compare(&call, profile, &Way::all());
            }
        }
    }
}

/// Outputs beyond the sizes at which stores go past the caches and long rows are cut.
#[test]
fn outputs_past_the_caches() {
    let cases = [(DType::C128, 8, 135_000), (DType::C128, 63, 17_000), (DType::C128, 1 << 13, 130)];
    for (dtype, row, count) in cases {
        let call =
            grid::rows(typed(Form::Nd), (dtype, DType::I32), &[50], row, count, false).expect("memory");
        let expected = reference(&call, Profile::default());
        for level in Level::available() {
            for threads in [1, 2] {
                let way = Way { level, threads, layout: Layout::Contiguous };
                let settings = Settings {
                    options: way.options(Profile::default()),
                    max_output: MAX_OUTPUT,
                    ..Settings::default()
                };
                assert!(expected == optimized(&call, &settings), "{way:?}, rows of {row} {dtype}");
            }
        }
    }
}

/// The first offender is the same whichever thread meets one first.
#[test]
fn the_first_offender_does_not_depend_on_threads() {
    let mut values: Vec<u32> = (0..40_000).map(|at| at % 100).collect();
    values[20_001] = 100;
    values[20_000] = 101;
    values[39_999] = u32::MAX;
    let params = Tensor::new(DType::F32, [100], vec![7u32; 100]).expect("a tensor");
    let indices = Tensor::new(DType::I32, [200, 200], values).expect("a tensor");
    let call = typed(Form::Take).spell(Roles::new(params, indices));
    let ways: Vec<Way> = Way::all().into_iter().filter(|way| way.layout == Layout::Contiguous).collect();
    compare(&call, Profile::default(), &ways);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// Drawn calls of all operators; proptest shrinks the draws, and smaller draws mean simpler calls.
    #[test]
    fn drawn_calls(draws in prop::collection::vec(any::<u64>(), 0..48), way in any::<usize>(), profile in 0usize..6) {
        let drawn = MAKER.call(&mut Choices::from_draws(draws));
        // Dims that are too large for a tensor are drawn to be refused.
        let Ok(Some(call)) = drawn else { return Ok(()) };
        let ways = Way::all();
        let profile = Profile::all_specified().nth(profile).expect("one of six");
        compare(&call, profile, &[ways[way % ways.len()]]);
    }
}

/// Most drawn calls must gather something, or the test above says little.
#[test]
fn most_drawn_calls_are_right() {
    let profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
    let outputs = (0..1000).filter(|seed| {
        let call = MAKER.call(&mut Choices::from_seed(*seed)).ok().flatten();
        call.is_some_and(|call| matches!(reference(&call, profile), Outcome::Output(_)))
    });
    let outputs = outputs.count();
    assert!((500..950).contains(&outputs), "{outputs} of 1000 calls give an output");
}
