//! What can be wrong with the dimension numbers of windows: each rule broken alone, and the first of two.

use gather_optimized::{Options, Plan};
use gather_spec::{DimensionNumbers, DimensionRule, GatherError, Refusal, Shape};

/// The shapes and dimension numbers of a call.
#[derive(Clone, Debug)]
struct WindowedCall {
    params: Vec<usize>,
    indices: Vec<usize>,
    numbers: DimensionNumbers,
    sizes: Vec<i64>,
}

/// That of the example on StableHLO's page, with an output of rank 5.
fn right() -> WindowedCall {
    WindowedCall {
        params: vec![2, 3, 4, 2],
        indices: vec![2, 2, 3, 2],
        numbers: DimensionNumbers {
            offset_dims: vec![3, 4],
            collapsed_slice_dims: vec![1],
            operand_batching_dims: vec![0],
            start_indices_batching_dims: vec![1],
            start_index_map: vec![2, 1],
            index_vector_dim: 3,
        },
        sizes: vec![1, 1, 2, 2],
    }
}

fn plan(call: &WindowedCall) -> Result<Vec<usize>, Refusal> {
    let plan = Plan::gather_windows(&call.params, &call.indices, &call.numbers, &call.sizes, &Options::new());
    plan.map(|plan| plan.output_shape().to_vec())
}

fn changed(change: impl Fn(&mut WindowedCall)) -> Result<Vec<usize>, Refusal> {
    let mut call = right();
    change(&mut call);
    plan(&call)
}

#[track_caller]
fn breaks(rule: DimensionRule, change: impl Fn(&mut WindowedCall)) {
    assert_eq!(changed(change), Err(GatherError::DimensionNumbers { rule }.into()), "{rule}");
}

#[test]
fn the_right_one_has_a_plan() {
    assert_eq!(plan(&right()), Ok(vec![2, 2, 3, 2, 2]));
}

#[test]
fn counts_are_compared() {
    breaks(DimensionRule::SliceSizesCount, |call| call.sizes = vec![1, 1, 2]);
    breaks(DimensionRule::SliceSizesCount, |call| call.sizes = vec![1, 1, 2, 2, 1]);
    breaks(DimensionRule::ParamsDimsCount, |call| call.numbers.offset_dims = vec![2, 3, 4]);
    breaks(DimensionRule::ParamsDimsCount, |call| call.numbers.offset_dims = vec![3]);
    breaks(DimensionRule::StartIndexMapCount, |call| call.numbers.start_index_map = vec![2]);
    breaks(DimensionRule::StartIndexMapCount, |call| call.numbers.start_index_map = vec![2, 1, 3]);
    // Each index is a row of one component.
    breaks(DimensionRule::StartIndexMapCount, |call| call.numbers.index_vector_dim = 4);
    breaks(DimensionRule::BatchingDimsCount, |call| call.numbers.start_indices_batching_dims = vec![]);
    breaks(DimensionRule::BatchingDimsCount, |call| call.numbers.start_indices_batching_dims = vec![0, 1]);
}

#[test]
fn the_index_vector_is_a_dim_of_indices_or_implied() {
    let vector = |dim: i64| {
        move |call: &mut WindowedCall| {
            call.numbers.index_vector_dim = dim;
            call.numbers.start_index_map = vec![2];
        }
    };
    breaks(DimensionRule::IndexVectorDimOutOfRange, vector(5));
    breaks(DimensionRule::IndexVectorDimOutOfRange, vector(-1));
    breaks(DimensionRule::IndexVectorDimOutOfRange, vector(i64::MIN));
    breaks(DimensionRule::IndexVectorDimOutOfRange, vector(i64::MAX));
    assert!(changed(vector(4)).is_ok());
    // A dim of 2 that is a batching dim of params, too.
    breaks(DimensionRule::IndexVectorDimIsBatching, |call| {
        call.numbers.start_indices_batching_dims = vec![3];
    });
}

#[test]
fn offset_dims_are_ascending_dims_of_the_output() {
    for dims in [[4, 3], [3, 3]] {
        breaks(DimensionRule::OffsetDimsNotAscending, |call| call.numbers.offset_dims = dims.to_vec());
    }
    for dims in [[3, 5], [-1, 4], [i64::MIN, i64::MAX]] {
        breaks(DimensionRule::OffsetDimOutOfRange, |call| call.numbers.offset_dims = dims.to_vec());
    }
    assert_eq!(changed(|call| call.numbers.offset_dims = vec![0, 3]), Ok(vec![2, 2, 2, 2, 3]));
}

/// One dim of the window less, so that the counts are right.
fn with_one_offset(change: impl Fn(&mut WindowedCall)) -> impl Fn(&mut WindowedCall) {
    move |call| {
        call.numbers.offset_dims = vec![3];
        change(call);
    }
}

#[test]
fn collapsed_dims_are_sorted_dims_of_params_each_once() {
    breaks(DimensionRule::CollapsedDimsRepeated, |call| call.numbers.collapsed_slice_dims = vec![0]);
    let collapsed = |dims: [i64; 2]| {
        with_one_offset(move |call| {
            call.numbers.collapsed_slice_dims = dims.to_vec();
            call.sizes = vec![1, 1, 1, 2];
        })
    };
    breaks(DimensionRule::CollapsedDimsRepeated, collapsed([1, 1]));
    breaks(DimensionRule::CollapsedDimsUnsorted, collapsed([2, 1]));
    assert_eq!(changed(collapsed([1, 2])), Ok(vec![2, 2, 3, 2]));
    for dim in [4, -1] {
        breaks(DimensionRule::CollapsedDimOutOfRange, |call| call.numbers.collapsed_slice_dims = vec![dim]);
    }
    breaks(DimensionRule::CollapsedSliceSize, |call| call.sizes[1] = 2);
    assert!(changed(|call| call.sizes[1] = 0).is_ok());
}

#[test]
fn batching_dims_are_sorted_dims_of_params_each_once() {
    let batching = |dims: [i64; 2], shared: [i64; 2]| {
        with_one_offset(move |call| {
            call.numbers.operand_batching_dims = dims.to_vec();
            call.numbers.start_indices_batching_dims = shared.to_vec();
            call.sizes = vec![1, 1, 2, 1];
        })
    };
    assert_eq!(changed(batching([0, 3], [1, 0])), Ok(vec![2, 2, 3, 2]));
    breaks(DimensionRule::CollapsedDimsRepeated, batching([0, 0], [1, 0]));
    breaks(DimensionRule::ParamsBatchingDimsUnsorted, batching([3, 0], [1, 0]));
    breaks(DimensionRule::IndicesBatchingDimsRepeated, batching([0, 3], [1, 1]));
    for dim in [4, -1] {
        let params = |call: &mut WindowedCall| call.numbers.operand_batching_dims = vec![dim];
        breaks(DimensionRule::ParamsBatchingDimOutOfRange, params);
        let indices = |call: &mut WindowedCall| call.numbers.start_indices_batching_dims = vec![dim];
        breaks(DimensionRule::IndicesBatchingDimOutOfRange, indices);
    }
    breaks(DimensionRule::BatchingSliceSize, |call| call.sizes[0] = 2);
}

#[test]
fn starts_are_on_dims_of_params_each_once() {
    for map in [[2, 2], [2, 0]] {
        breaks(DimensionRule::StartIndexMapRepeated, |call| call.numbers.start_index_map = map.to_vec());
    }
    for map in [[2, 4], [-1, 1]] {
        breaks(DimensionRule::StartIndexMapOutOfRange, |call| call.numbers.start_index_map = map.to_vec());
    }
}

#[test]
fn slice_sizes_lie_within_their_dims() {
    let size = |dim: usize, size| changed(move |call| call.sizes[dim] = size);
    let wrong = |dim, size, bound| Err(GatherError::SliceSizeOutOfRange { dim, size, bound }.into());
    assert_eq!(size(2, 5), wrong(2, 5, 4));
    assert_eq!(size(3, -1), wrong(3, -1, 2));
    assert_eq!(size(1, -1), wrong(1, -1, 3), "collapsed");
    assert_eq!(size(2, i64::MAX), wrong(2, i64::MAX, 4));
    assert_eq!(size(2, 4), Ok(vec![2, 2, 3, 4, 2]));
    assert_eq!(size(2, 0), Ok(vec![2, 2, 3, 0, 2]));
    let without_rows = changed(|call| {
        call.indices[2] = 0;
        call.sizes[2] = 5;
    });
    assert_eq!(without_rows, wrong(2, 5, 4), "also without an index row");
}

#[test]
fn batching_dims_are_as_long_in_indices() {
    let shape = |dims: &[usize]| Shape::new(dims).expect("a shape");
    let mismatch = GatherError::BatchShapeMismatch { params: shape(&[5]), indices: shape(&[2]) };
    assert_eq!(changed(|call| call.params[0] = 5), Err(mismatch.into()));
    // In the order of the batching dims of params, which is not that of indices.
    let crossed = changed(|call| {
        call.params = vec![2, 3, 4, 7];
        call.numbers.offset_dims = vec![3];
        call.numbers.operand_batching_dims = vec![0, 3];
        call.numbers.start_indices_batching_dims = vec![2, 1];
        call.sizes = vec![1, 1, 2, 1];
    });
    let mismatch = GatherError::BatchShapeMismatch { params: shape(&[2, 7]), indices: shape(&[3, 2]) };
    assert_eq!(crossed, Err(mismatch.into()));
}

/// A way to break one rule and leave fields alone that another way changes.
type RuleBreak = (DimensionRule, fn(&mut WindowedCall));

/// In the order in which rules are looked for.
const FAULTS: [RuleBreak; 11] = [
    (DimensionRule::SliceSizesCount, |call| call.sizes.push(1)),
    (DimensionRule::StartIndexMapCount, |call| call.numbers.start_index_map.push(1)),
    (DimensionRule::OffsetDimsNotAscending, |call| call.numbers.offset_dims.reverse()),
    (DimensionRule::OffsetDimOutOfRange, |call| {
        call.numbers.offset_dims = call.numbers.offset_dims.iter().map(|dim| dim - 9).collect();
    }),
    (DimensionRule::CollapsedDimOutOfRange, |call| call.numbers.collapsed_slice_dims[0] = 9),
    (DimensionRule::CollapsedSliceSize, |call| call.sizes[1] = 3),
    (DimensionRule::ParamsBatchingDimOutOfRange, |call| call.numbers.operand_batching_dims[0] = -9),
    (DimensionRule::BatchingSliceSize, |call| call.sizes[0] = 2),
    (DimensionRule::IndicesBatchingDimOutOfRange, |call| call.numbers.start_indices_batching_dims[0] = 9),
    (DimensionRule::BatchingDimsCount, |call| call.numbers.start_indices_batching_dims.push(0)),
    (DimensionRule::StartIndexMapOutOfRange, |call| call.numbers.start_index_map[0] = 9),
];

/// Wherever two faults come together, the rule that is looked for first is the answer; and whatever comes with them, faults
/// of sizes and batches come behind those of rules.
#[test]
fn the_first_broken_rule_is_the_answer() {
    assert!(FAULTS.is_sorted_by_key(|(rule, _)| *rule));
    for (at, (first, fault)) in FAULTS.into_iter().enumerate() {
        breaks(first, fault);
        for (second, other) in FAULTS.into_iter().skip(at + 1) {
            let both = changed(|call| {
                fault(call);
                other(call);
            });
            assert_eq!(
                both,
                Err(GatherError::DimensionNumbers { rule: first }.into()),
                "{first} and {second}"
            );
        }
        breaks(first, |call| {
            fault(call);
            call.sizes[2] = -1;
            call.params[0] = 5;
        });
    }
    let sizes_and_batch = changed(|call| {
        call.sizes[2] = 9;
        call.params[0] = 5;
    });
    assert_eq!(sizes_and_batch, Err(GatherError::SliceSizeOutOfRange { dim: 2, size: 9, bound: 4 }.into()));
}
