//! Laws of form window, in which each index row is the start of a window.

mod drawn;

use gather_spec::signature::AttributeRole;
use gather_spec::{BadIndex, DimensionNumbers, Form, NegativeIndex, Roles, Shape, Signature, Tensor, Window};

use super::compare::{agree, equal, made_of};
use super::instance::{ALL, ANY, Instance, Law};
use super::policies::FILLS;
use super::stop::Stop;
use super::tensors::{build, counts, integers, transpose};
use drawn::WindowCall;
use gather_conformance::internals::shapes::of_windows;

pub(super) const ONE_ELEMENT_IS_ND: Law = Law {
    name: "windows-of-one-element-are-nd",
    statement: "gather_windows(P, I) with collapsed windows of 1 on the first dims = gather_nd(P, I)",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: one_element_is_nd,
};

pub(super) const LOOP_OF_SLICES: Law = Law {
    name: "windows-are-a-loop-of-slices",
    statement: "gather_windows(P, I)[row, offset] = gather_windows(P, I[row])[offset]",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: loop_of_slices,
};

pub(super) const BATCHING_IS_A_LOOP: Law = Law {
    name: "batching-dims-are-a-loop",
    statement: "gather_windows(P, I)[…, b, …] = gather_windows(P[…, b, …], I[…, b, …]) without that batching dim",
    example: None,
    forms: &[Form::Window],
    roles: &[AttributeRole::OperandBatchingDims, AttributeRole::StartIndicesBatchingDims],
    only: ALL,
    speaks: ANY,
    check: batching_is_a_loop,
};

pub(super) const OFFSET_DIMS_MOVED: Law = Law {
    name: "offset-dims-moved",
    statement: "gather_windows(P, I, offset dims last) = transpose(gather_windows(P, I, offset dims anywhere))",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: offset_dims_moved,
};

pub(super) const COMPONENTS_PERMUTED: Law = Law {
    name: "components-permuted",
    statement: "gather_windows(P, permute(I's components), permute(start index map)) = gather_windows(P, I)",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: components_permuted,
};

pub(super) const VECTOR_MOVED: Law = Law {
    name: "index-vector-moved",
    statement: "gather_windows(P, I with its components last) = gather_windows(P, I)",
    example: None,
    forms: &[Form::Window],
    roles: &[AttributeRole::IndexVectorDim],
    only: ALL,
    speaks: ANY,
    check: vector_moved,
};

pub(super) const CLAMPED_STARTS: Law = Law {
    name: "starts-are-clamped",
    statement: "bad: clamp: gather_windows(P, I) = gather_windows(P, clamp(I, 0, dim - slice size))",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: |profile| profile.bad == BadIndex::Clamp && profile.negative == NegativeIndex::Reject,
    check: clamped_starts,
};

pub(super) const BAD_WINDOWS_FILLED: Law = Law {
    name: "bad-windows-are-filled",
    statement: "bad: zero, fill: gather_windows(P, I) = gather_windows(P, I clamped), with each bad window filled",
    example: None,
    forms: &[Form::Window],
    roles: &[],
    only: ALL,
    speaks: |profile| FILLS.contains(&profile.bad) && profile.negative == NegativeIndex::Reject,
    check: bad_windows_filled,
};

fn one_element_is_nd(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.windows((0, 0), false)?;
    let takes = |other: &&Signature| {
        let known = instance.capability(other);
        other.form == Form::Nd
            && known.dtypes.contains(&drawn.params.dtype())
            && known.index_dtypes.contains(&drawn.indices.dtype())
    };
    let others: Vec<&Signature> = instance.declared().filter(takes).collect();
    if others.is_empty() {
        return Err(Stop::Skip("skipped: not both operators take it"));
    }
    let nd = instance.choices.pick(&others);
    let dims = drawn.params.shape().to_vec();
    let depth = nd.least_depth.max(instance.choices.below(dims.len() + 1)).min(dims.len());
    let rows = 1 + instance.choices.below(3);
    let counted = usize::try_from(counts(drawn.indices.dtype())).unwrap_or(usize::MAX);
    let choices = &mut *instance.choices;
    let value = |position: &[usize]| choices.below(dims[position[1]].min(counted)) as i128;
    let indices = integers(drawn.indices.dtype(), &[rows, depth], value)?;
    let first = |count: usize| (0..).take(count).collect::<Vec<i64>>();
    let size = |(dim, size): (usize, &usize)| if dim < depth { 1 } else { signed(*size) };
    let numbers = DimensionNumbers {
        offset_dims: (1..).take(dims.len() - depth).collect(),
        collapsed_slice_dims: first(depth),
        start_index_map: first(depth),
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    };
    let slice_sizes = dims.iter().enumerate().map(size).collect();
    let by_rows = nd.spell(Roles::new(drawn.params.clone(), indices.clone()));
    let by_windows = WindowCall { indices, numbers, slice_sizes, ..drawn };
    let sides = instance.outputs(vec![by_rows, by_windows.call()])?;
    equal(&sides[0], &sides[1])
}

fn loop_of_slices(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let whole = instance.windows((0, 0), true)?;
    let dims = whole.indices.shape().to_vec();
    let row_dims: Vec<usize> = (0..dims.len()).filter(|dim| Some(*dim) != whole.vector()).collect();
    let rows = Shape::new(row_dims.iter().map(|dim| dims[*dim]).collect::<Vec<_>>())?;
    let offset_dims: Vec<i64> = (0..).take(whole.numbers.offset_dims.len()).collect();
    let numbers = DimensionNumbers { offset_dims, index_vector_dim: 0, ..whole.numbers.clone() };
    let mut calls = Vec::new();
    for row in rows.positions() {
        let starts = whole.starts(&row);
        let indices = integers(whole.indices.dtype(), &[starts.len()], |component| starts[component[0]])?;
        calls.push(WindowCall { numbers: numbers.clone(), ..whole.with_indices(indices) }.call());
    }
    calls.push(whole.call());
    let mut outcomes = instance.ask(calls)?;
    let all = outcomes.pop().ok_or(Stop::Skip("skipped: no answer"))?;
    let (of_rows, of_window) = (whole.output_dims(false), whole.output_dims(true));
    let shape = output_shape_of(&whole)?;
    let strides = rows.row_major_strides();
    made_of(&outcomes, &all, |parts| {
        build(whole.params.dtype(), &shape, |position| {
            let row = of_rows.iter().zip(&strides).map(|(dim, step)| position[*dim] * step.unsigned_abs());
            let window: Vec<usize> = of_window.iter().map(|dim| position[*dim]).collect();
            parts[row.sum::<usize>()].element(&window)
        })
    })
}

fn batching_is_a_loop(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let whole = instance.windows((1, 2), true)?;
    let place = |dim: i64| usize::try_from(dim).unwrap_or_default();
    let (Some(own), Some(other)) = (
        whole.numbers.operand_batching_dims.first().map(|dim| place(*dim)),
        whole.numbers.start_indices_batching_dims.first().map(|dim| place(*dim)),
    ) else {
        return Err(Stop::Skip("skipped: no batching dim"));
    };
    // The dim of the output that corresponds to the batching dim of indices.
    let before = (0..other).filter(|dim| Some(*dim) != whole.vector()).count();
    let axis = whole.output_dims(false)[before];
    let mut calls = Vec::new();
    for turn in 0..whole.params.shape()[own] {
        calls.push(without_batching(&whole, own, other, axis, turn)?.call());
    }
    calls.push(whole.call());
    let mut outcomes = instance.ask(calls)?;
    let all = outcomes.pop().ok_or(Stop::Skip("skipped: no answer"))?;
    let shape = output_shape_of(&whole)?;
    made_of(&outcomes, &all, |parts| {
        build(whole.params.dtype(), &shape, |position| {
            let mut rest = position.to_vec();
            let turn = rest.remove(axis);
            parts[turn].element(&rest)
        })
    })
}

/// One iteration of the loop over a batching dim, which is `own` of params, `other` of indices and `axis` of the output.
fn without_batching<'a>(
    whole: &WindowCall<'a>,
    own: usize,
    other: usize,
    axis: usize,
    turn: usize,
) -> Result<WindowCall<'a>, Stop> {
    let less = |dims: &[i64], gone: usize| -> Vec<i64> {
        let left = dims.iter().copied().filter(|dim| *dim != signed(gone));
        left.map(|dim| if dim > signed(gone) { dim - 1 } else { dim }).collect()
    };
    let numbers = &whole.numbers;
    let vector = numbers.index_vector_dim;
    let mut slice_sizes = whole.slice_sizes.clone();
    slice_sizes.remove(own);
    let numbers = DimensionNumbers {
        offset_dims: less(&numbers.offset_dims, axis),
        collapsed_slice_dims: less(&numbers.collapsed_slice_dims, own),
        operand_batching_dims: less(&numbers.operand_batching_dims, own),
        start_indices_batching_dims: less(&numbers.start_indices_batching_dims, other),
        start_index_map: less(&numbers.start_index_map, own),
        index_vector_dim: if vector > signed(other) { vector - 1 } else { vector },
    };
    let (params, indices) = (at_turn(&whole.params, own, turn)?, at_turn(&whole.indices, other, turn)?);
    Ok(WindowCall { params, indices, numbers, slice_sizes, ..whole.clone() })
}

/// The sub-tensor at a coordinate of an axis, without that axis.
fn at_turn(tensor: &Tensor, axis: usize, turn: usize) -> Result<Tensor, Stop> {
    let mut dims = tensor.shape().to_vec();
    dims.remove(axis);
    build(tensor.dtype(), &dims, |position| {
        let mut from = position.to_vec();
        from.insert(axis, turn);
        tensor.element(&from)
    })
}

fn offset_dims_moved(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.windows((0, 2), true)?;
    let (rows, window) = (first.output_dims(false), first.output_dims(true));
    let from = signed(rows.len());
    let mut second = first.clone();
    second.numbers.offset_dims = (from..).take(window.len()).collect();
    let order = [rows, window].concat();
    let outcomes = instance.ask(vec![first.call(), second.call()])?;
    made_of(&outcomes[..1], &outcomes[1], |parts| transpose(&parts[0], &order))
}

fn components_permuted(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.windows((0, 2), false)?;
    let Some(vector) = first.vector() else {
        return Err(Stop::Skip("skipped: a row has one component"));
    };
    let depth = first.indices.shape()[vector];
    let mut order: Vec<usize> = (0..depth).collect();
    for at in 1..depth {
        // The simplest draw swaps neighbours.
        let other = at - 1 - instance.choices.below(at).min(at - 1);
        order.swap(at, other);
    }
    let mut second = first.clone();
    second.numbers.start_index_map = order.iter().map(|at| first.numbers.start_index_map[*at]).collect();
    second.indices = build(first.indices.dtype(), first.indices.shape(), |position| {
        let mut from = position.to_vec();
        from[vector] = order[position[vector]];
        first.indices.element(&from)
    })?;
    let sides = instance.outputs(vec![first.call(), second.call()])?;
    equal(&sides[0], &sides[1])
}

fn vector_moved(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.windows((0, 2), true)?;
    let Some(vector) = first.vector() else {
        return Err(Stop::Skip("skipped: the vector is implied"));
    };
    let rank = first.indices.rank();
    let order: Vec<usize> = (0..rank).filter(|dim| *dim != vector).chain([vector]).collect();
    let mut second = first.with_indices(transpose(&first.indices, &order)?);
    second.numbers.index_vector_dim = signed(rank - 1);
    let moved = |dim: &i64| if *dim > signed(vector) { dim - 1 } else { *dim };
    second.numbers.start_indices_batching_dims =
        first.numbers.start_indices_batching_dims.iter().map(moved).collect();
    let outcomes = instance.ask(vec![first.call(), second.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn clamped_starts(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.windows((0, 2), true)?;
    if first.profile.bad != BadIndex::Clamp || first.profile.negative != NegativeIndex::Reject {
        return Err(Stop::Skip("skipped: another policy"));
    }
    let outcomes = instance.ask(vec![clamped(&first)?.call(), first.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

fn bad_windows_filled(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let first = instance.windows((0, 2), true)?;
    if !FILLS.contains(&first.profile.bad) || first.profile.negative != NegativeIndex::Reject {
        return Err(Stop::Skip("skipped: another policy"));
    }
    let within = clamped(&first)?;
    let filler = first.signature.filler(first.profile, first.params.dtype(), first.fill_value.as_ref());
    let (of_rows, shape) = (first.output_dims(false), output_shape_of(&first)?);
    let outcomes = instance.ask(vec![within.call(), first.call()])?;
    made_of(&outcomes[..1], &outcomes[1], |parts| {
        build(first.params.dtype(), &shape, |position| {
            let row: Vec<usize> = of_rows.iter().map(|dim| position[*dim]).collect();
            let starts = first.starts(&row);
            if starts == within.starts(&row) { parts[0].element(position) } else { filler.clone() }
        })
    })
}

/// The call with each start moved to the nearest one at which the window is in bounds.
fn clamped<'a>(drawn: &WindowCall<'a>) -> Result<WindowCall<'a>, Stop> {
    let indices = integers(drawn.indices.dtype(), drawn.indices.shape(), |position| {
        let start = drawn.indices.integer(position).unwrap_or_default();
        start.clamp(0, drawn.bound(position) as i128 - 1)
    })?;
    Ok(drawn.with_indices(indices))
}

fn output_shape_of(drawn: &WindowCall<'_>) -> Result<Vec<usize>, Stop> {
    let window = Some(Window::new(drawn.numbers.clone(), drawn.slice_sizes.clone()));
    let roles = Roles { window, ..Roles::new(&drawn.params, &drawn.indices) };
    of_windows(drawn.signature, &roles).ok_or(Stop::Skip("skipped: no output"))
}

fn signed(dim: usize) -> i64 {
    i64::try_from(dim).unwrap_or(i64::MAX)
}
