//! `optimized` against `reference`: every bit and every field of every error, over levels, threads, layouts, profiles.
//! Only here may the two meet.

mod typed;

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use gather_campaign::generate::{CallGenerator, ChoiceSequence, grid};
use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::internals::layout::Layout;
use gather_optimized::{Level, Options, Settings};
use gather_spec::signature::AttributeRole;
use gather_spec::{
    BadIndex, Call, DType, ErrorCode, Form, NegativeIndex, Outcome, Profile, ReportedError, Roles, Signature,
    Signatures, Tensor,
};
use proptest::prelude::*;

use self::typed::{has_typed_function, into_poisoned};

const THREADS: [usize; 3] = [1, 2, 5];

static SIGNATURES: LazyLock<Signatures> =
    LazyLock::new(|| gather_spec::load::operators().expect("the embedded files").into_iter().collect());

static GENERATOR: LazyLock<CallGenerator> = LazyLock::new(|| {
    let optimized = builtin::backend("optimized", Profile::default(), MAX_OUTPUT).expect("its name");
    CallGenerator::new(&optimized.describe(), &SIGNATURES).wide()
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
        Form::Window => has(AttributeRole::OperandBatchingDims),
    }
}

/// A configuration of the optimized implementation.
#[derive(Clone, Copy, Debug)]
struct RunConfiguration {
    level: Level,
    threads: usize,
    layout: Layout,
}

impl RunConfiguration {
    /// Every combination that this machine allows.
    fn all() -> Vec<Self> {
        let mut configurations = Vec::new();
        for level in Level::available() {
            for threads in THREADS {
                for layout in Layout::ALL {
                    configurations.push(Self { level, threads, layout });
                }
            }
        }
        configurations
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
fn assert_same(
    expected: &Outcome,
    found: &Outcome,
    call: &Call,
    profile: Profile,
    configuration: RunConfiguration,
) {
    let same = match (expected, found) {
        (Outcome::Error(expected), Outcome::Error(found)) => {
            (expected.code, &expected.fields) == (found.code, &found.fields)
        }
        (Outcome::Unsupported(_), Outcome::Unsupported(_)) => true,
        (expected, found) => expected == found,
    };
    assert!(same, "{configuration:?} {profile}\n{call:?}\nexpected {expected:?}\nfound {found:?}",);
}

/// Compares one call under one profile in the given configurations, fresh and into poisoned outputs.
fn compare(call: &Call, profile: Profile, configurations: &[RunConfiguration]) {
    let expected = reference(call, profile);
    // No output of that size exists to be written into.
    let too_large = |error: &ReportedError| error.code == Some(ErrorCode::OutputTooLarge);
    let exists = !matches!(&expected, Outcome::Error(error) if too_large(error));
    for configuration in configurations {
        let laid_out = configuration.layout.apply(call).expect("memory for a small call");
        let settings = Settings {
            options: configuration.options(profile),
            max_output: MAX_OUTPUT,
            ..Settings::default()
        };
        assert_same(&expected, &optimized(&laid_out, &settings), call, profile, *configuration);
        let written = exists.then(|| into_poisoned(signature(call), &laid_out, settings.options));
        if let Some(found) = written.flatten() {
            assert_same(&expected, &found, call, profile, *configuration);
        }
    }
}

/// Compares each call under every profile, in one configuration each, which changes with a period that shares no factor
/// with that of the list.
fn compare_in_turn(calls: impl Iterator<Item = Result<Call, gather_spec::TensorError>>) {
    let configurations = RunConfiguration::all();
    let profiles: Vec<Profile> = Profile::all_specified().collect();
    for (at, call) in calls.enumerate() {
        let call = call.expect("memory for a small call");
        for (turn, profile) in profiles.iter().enumerate() {
            compare(&call, *profile, &[configurations[(at * 7 + turn * 11) % configurations.len()]]);
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
    let configurations: Vec<RunConfiguration> = RunConfiguration::all();
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
                    let mine: Vec<RunConfiguration> =
                        configurations.iter().copied().skip(turn % 13).step_by(13).collect();
                    compare(&call.expect("memory"), Profile::default(), &mine);
                }
            }
        }
    }
}

/// Every profile, level and number of threads; the layout changes from call to call.
#[test]
fn all_tiny_shapes_in_every_profile() {
    let configurations = RunConfiguration::all();
    let calls = SIGNATURES.iter().flat_map(|signature| grid::small(signature, 2, 2));
    for (at, call) in calls.enumerate() {
        let call = call.expect("memory for a small call");
        let layout = Layout::ALL[at % Layout::ALL.len()];
        let mine: Vec<RunConfiguration> =
            configurations.iter().copied().filter(|configuration| configuration.layout == layout).collect();
        for profile in Profile::all_specified() {
            compare(&call, profile, &mine);
        }
    }
}

/// Rows of every length around an edge, a few at a time.
#[test]
fn row_lengths_around_every_edge() {
    let configurations: Vec<RunConfiguration> = RunConfiguration::all()
        .into_iter()
        .filter(|configuration| configuration.layout != Layout::Transposed)
        .collect();
    for row in grid::around(&grid::ROW_EDGES) {
        for (count, bad) in [(1, false), (2, true), (19, false), (19, true)] {
            let call =
                grid::rows(typed(Form::Nd), (DType::U8, DType::I64), &[23], row, count, bad).expect("memory");
            compare(&call, Profile::default(), &configurations);
        }
    }
}

/// Numbers of rows around an edge, for every width, depth and index type.
#[test]
fn row_counts_around_every_edge() {
    let widths = [DType::U8, DType::F16, DType::F32, DType::F64, DType::C128];
    let axes: [&[usize]; 4] = [&[300], &[7, 40], &[5, 6, 7], &[3, 4, 3, 4]];
    let configurations: Vec<RunConfiguration> = RunConfiguration::all();
    let mut turn = 0;
    for count in grid::around(&grid::COUNT_EDGES) {
        for dtype in widths {
            for axes in axes {
                for (index_dtype, row) in [(DType::I32, 1), (DType::I64, 1), (DType::I32, 3)] {
                    turn += 1;
                    let call =
                        grid::rows(typed(Form::Nd), (dtype, index_dtype), axes, row, count, turn % 5 == 0)
                            .expect("memory");
                    let mine: Vec<RunConfiguration> =
                        configurations.iter().copied().skip(turn % 13).step_by(13).collect();
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
                compare(&call, profile, &RunConfiguration::all());
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
                let configuration = RunConfiguration { level, threads, layout: Layout::Contiguous };
                let settings = Settings {
                    options: configuration.options(Profile::default()),
                    max_output: MAX_OUTPUT,
                    ..Settings::default()
                };
                assert!(expected == optimized(&call, &settings), "{configuration:?}, rows of {row} {dtype}");
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
    let configurations: Vec<RunConfiguration> = RunConfiguration::all()
        .into_iter()
        .filter(|configuration| configuration.layout == Layout::Contiguous)
        .collect();
    compare(&call, Profile::default(), &configurations);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// Drawn calls of all operators; proptest shrinks the draws, and smaller draws mean simpler calls.
    #[test]
    fn drawn_calls(draws in prop::collection::vec(any::<u64>(), 0..48), configuration in any::<usize>(), profile in 0usize..6) {
        let drawn = GENERATOR.call(&mut ChoiceSequence::from_draws(draws));
        // Dims that are too large for a tensor are drawn to be refused.
        let Ok(Some(call)) = drawn else { return Ok(()) };
        let configurations = RunConfiguration::all();
        let profile = Profile::all_specified().nth(profile).expect("one of six");
        compare(&call, profile, &[configurations[configuration % configurations.len()]]);
    }
}

/// Most drawn calls must gather something, or the test above says little.
#[test]
fn most_drawn_calls_are_right() {
    let profile = Profile { bad: BadIndex::Zero, negative: NegativeIndex::Reject };
    let outputs = (0..1000).filter(|seed| {
        let call = GENERATOR.call(&mut ChoiceSequence::from_seed(*seed)).ok().flatten();
        call.is_some_and(|call| matches!(reference(&call, profile), Outcome::Output(_)))
    });
    let outputs = outputs.count();
    assert!((500..950).contains(&outputs), "{outputs} of 1000 calls give an output");
}
