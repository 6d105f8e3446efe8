//! Laws that relate gathers along different axes, with different depths, or by different operators.

use gather_spec::signature::{AttributeRole, Flatten, OperandRole};
use gather_spec::{Attribute, Form, Shape, Signature};

use super::compare::{agree, equal};
use super::gathers::{Gather, Needs};
use super::instance::{ALL, ANY, EVERY_FORM, Instance, Law};
use super::stop::Stop;
use super::tensors::{integers, reshape, transpose};
use crate::generate::paint;

pub(super) const IDENTITY: Law = Law {
    name: "identity-indices",
    statement: "G(P, every position in order) = P",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: identity,
};

pub(super) const COMPOSED: Law = Law {
    name: "composed-gathers",
    statement: "G(G(P, I), J) = G(P, G(I, J))",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: composed,
};

pub(super) const SCALARS_ARE_FLAT: Law = Law {
    name: "scalars-are-flat-indexing",
    statement: "gather_nd(P, I) = gather_nd(flat P, sum(I * strides)) where I.shape[-1] = rank(P)",
    example: None,
    forms: &[Form::Nd],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: scalars_are_flat,
};

pub(super) const DEPTH_ONE_IS_AXIS_ZERO: Law = Law {
    name: "depth-one-is-axis-zero",
    statement: "gather_nd(P, I[..., newaxis]) = gather(P, I, axis = 0)",
    example: None,
    forms: &[Form::Nd],
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: depth_one_is_axis_zero,
};

pub(super) const AXIS_BY_TRANSPOSING: Law = Law {
    name: "axis-by-transposing",
    statement: "gather(P, I, axis) = transpose back(gather(transpose(P), I, 0))",
    example: None,
    forms: &[Form::Take],
    roles: &[AttributeRole::Axis],
    only: ALL,
    speaks: ANY,
    check: axis_by_transposing,
};

pub(super) const NULL_AXIS_IS_FLATTENING: Law = Law {
    name: "null-axis-is-flattening",
    statement: "G(P, I, axis = null) = G(P row-major along one axis, I, 0)",
    example: None,
    forms: &[Form::Take, Form::Elements],
    roles: &[],
    only: |signature| signature.flatten.is_some(),
    speaks: ANY,
    check: null_axis_is_flattening,
};

fn identity(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs::PLAIN)?;
    let dims = drawn.params.shape();
    let dtype = drawn.indices.dtype();
    let indices = match drawn.signature.form {
        Form::Take => integers(dtype, &[dims[drawn.axis]], |position| position[0] as i128)?,
        Form::Elements => integers(dtype, dims, |position| position[drawn.axis] as i128)?,
        Form::Nd | Form::Window => {
            let least_rank = drawn.signature.operand(OperandRole::Indices).rank.least();
            let depth = drawn.selected_axes().len().max(least_rank.saturating_sub(1)).min(dims.len());
            let grid = [&dims[..depth], &[depth]].concat();
            integers(dtype, &grid, |position| position[position[depth]] as i128)?
        }
    };
    let output = instance.output(drawn.with_indices(indices).call())?;
    equal(&drawn.params, &output)
}

fn composed(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs { outer: 1, ..Needs::PLAIN })?;
    let known = instance.capability(drawn.signature);
    if !known.dtypes.contains(&drawn.indices.dtype()) {
        return Err(Stop::Skip("skipped: the dtype of indices is none of params"));
    }
    if drawn.signature.form == Form::Elements {
        return composed_along_the_axis(instance, &drawn);
    }
    // Flattens the rows of indices into one axis.
    let count: usize = drawn.indices.shape()[drawn.outer_axes()].iter().product();
    let first_dims = drawn.index_dims(&[count], drawn.selected_axes().len());
    let first = drawn.with_indices(reshape(&drawn.indices, &first_dims)?);
    let wanted = if count > 0 { 1 + instance.choices.below(5) } else { 0 };
    let second_dims = drawn.index_dims(&[wanted], 1);
    let second = integers(drawn.indices.dtype(), &second_dims, |_| instance.choices.below(count) as i128)?;
    let of_indices =
        Gather { params: first.indices.clone(), indices: second.clone(), axis: 0, ..first.clone() };
    let inner = instance.outputs(vec![first.call(), of_indices.call()])?;
    let twice = Gather { params: inner[0].clone(), indices: second, ..first.clone() };
    let sides = instance.outputs(vec![twice.call(), first.with_indices(inner[1].clone()).call()])?;
    equal(&sides[0], &sides[1])
}

/// Along a single axis: off it, the second indices have the shape of the first.
fn composed_along_the_axis(instance: &mut Instance<'_>, first: &Gather<'_>) -> Result<(), Stop> {
    let mut dims = first.indices.shape().to_vec();
    let count = dims[first.axis];
    dims[first.axis] = if count > 0 { 1 + instance.choices.below(5) } else { 0 };
    let second = integers(first.indices.dtype(), &dims, |_| instance.choices.below(count) as i128)?;
    let of_indices = first.with_params(first.indices.clone()).with_indices(second.clone());
    let inner = instance.outputs(vec![first.call(), of_indices.call()])?;
    let twice = first.with_params(inner[0].clone()).with_indices(second);
    let sides = instance.outputs(vec![twice.call(), first.with_indices(inner[1].clone()).call()])?;
    equal(&sides[0], &sides[1])
}

fn scalars_are_flat(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs { outer: 1, ..Needs::PLAIN })?;
    let dims = drawn.params.shape();
    let count = if dims.contains(&0) { 0 } else { drawn.indices.shape()[0] };
    let rank = dims.len();
    let dtype = drawn.indices.dtype();
    let rows = integers(dtype, &[count, rank], |position| instance.choices.below(dims[position[1]]) as i128)?;
    let strides = dims.row_major_strides();
    let flat = integers(dtype, &[count, 1], |position| {
        let index = |axis: usize| rows.integer(&[position[0], axis]).unwrap_or_default();
        (0..rank).map(|axis| index(axis) * strides[axis] as i128).sum()
    })?;
    let line = reshape(&drawn.params, &[dims.element_count()])?;
    let by_rows = drawn.with_indices(rows);
    let by_place = Gather { params: line, indices: flat, ..drawn.clone() };
    let sides = instance.outputs(vec![by_rows.call(), by_place.call()])?;
    equal(&sides[1], &sides[0])
}

fn depth_one_is_axis_zero(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let rows = instance.gather(Needs { outer: 1, ..Needs::PLAIN })?;
    let takes = |other: &&Signature| {
        let known = instance.capability(other);
        other.form == Form::Take
            && !other.is_always_flat()
            && known.dtypes.contains(&rows.params.dtype())
            && known.index_dtypes.contains(&rows.indices.dtype())
    };
    let others: Vec<&Signature> = instance.declared().filter(takes).collect();
    if others.is_empty() || rows.params.rank() == 0 {
        return Err(Stop::Skip("skipped: not both operators take it"));
    }
    let signature = instance.choices.pick(&others);
    let bound = rows.params.shape()[0];
    let mut dims = rows.indices.shape()[rows.outer_axes()].to_vec();
    if bound == 0 {
        dims[0] = 0;
    }
    let dtype = rows.indices.dtype();
    let indices = integers(dtype, &dims, |_| instance.choices.below(bound) as i128)?;
    let deep = reshape(&indices, &[&dims[..], &[1]].concat())?;
    let axis = Gather { signature, indices, axis: 0, ..rows.clone() };
    let sides = instance.outputs(vec![axis.call(), rows.with_indices(deep).call()])?;
    equal(&sides[0], &sides[1])
}

fn null_axis_is_flattening(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs::PLAIN)?;
    let signature = drawn.signature;
    // Those of an operator that always flattens are a vector.
    let params = match signature.is_always_flat() {
        true => {
            let dims = [&drawn.params.shape()[..], &[1 + instance.choices.below(3)]].concat();
            paint::params(drawn.params.dtype(), Shape::new(dims)?)?
        }
        false => drawn.params.clone(),
    };
    let line = params.flattened()?;
    let count = line.shape()[0];
    let mut dims = match signature.form {
        Form::Elements => vec![drawn.indices.shape()[drawn.axis]],
        Form::Take | Form::Nd | Form::Window => drawn.indices.shape().to_vec(),
    };
    if count == 0 {
        dims = vec![0];
    }
    let most = instance.choices.pick(&[count, count + 1]);
    let indices = integers(drawn.indices.dtype(), &dims, |_| instance.choices.below(most) as i128)?;
    let along = Gather { params: line, indices, axis: 0, ..drawn.clone() };
    // The position of a bad index would have another rank.
    let upright = signature.flatten == Some(Flatten::BothWhenAxisNull) && most == count;
    let indices = if upright { reshape(&along.indices, &[dims[0], 1])? } else { along.indices.clone() };
    let mut whole = along.with_params(params).with_indices(indices).call();
    let axis = signature.attribute(AttributeRole::Axis).map(|axis| axis.name.clone());
    whole.attributes.extend(axis.map(|name| (name, Attribute::Null)));
    let outcomes = instance.ask(vec![along.call(), whole])?;
    agree(&outcomes[0], &outcomes[1])
}

fn axis_by_transposing(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs::PLAIN)?;
    let (axis, rank) = (gather.axis, gather.params.rank());
    let order: Vec<usize> = [axis].into_iter().chain((0..rank).filter(|other| *other != axis)).collect();
    let turned = Gather { params: transpose(&gather.params, &order)?, axis: 0, ..gather.clone() };
    let sides = instance.outputs(vec![gather.call(), turned.call()])?;
    let taken = gather.indices.rank();
    // Moves the axes of indices back behind the axes that precede the gathered one.
    let back: Vec<usize> =
        (taken..taken + axis).chain(0..taken).chain(taken + axis..taken + rank - 1).collect();
    equal(&transpose(&sides[1], &back)?, &sides[0])
}
