//! Drawn gathers: a call by its parts, so that laws can exchange one of them.

use std::ops::Range;

use gather_spec::{
    Attribute, Attributes, BadIndex, Call, DType, NegativeIndex, Operator, Profile, Shape, Tensor,
};

use crate::generate::paint;

use super::lab::{Lab, Stop};
use super::tensors::integers;

/// The operator of one axis; all others take rows of indices.
pub(super) const ONE_AXIS: &str = "tf.gather";
/// The one operator of rows that knows batches.
const BATCHED_ROWS: &str = "tf.gather_nd";
/// Its page asks for indices of rank 2.
const PADDLE: &str = "paddle.gather_nd";

/// Dims, the simplest first.
const DIMS: [usize; 8] = [2, 1, 3, 4, 2, 3, 5, 0];

/// What a law asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) family: Family,
    /// At least so many batch dims, where the operator knows them.
    pub(super) batch: Range2,
    /// The least number of axes of indices that are neither batch nor row.
    pub(super) outer: usize,
    /// Whether some indices may be bad, where a policy says what happens then.
    pub(super) bad: bool,
    /// Whether there must be an index: then no dim is 0 and no row is without components.
    pub(super) some_index: bool,
}

/// From and to, the latter included.
pub(super) type Range2 = (usize, usize);

/// Which operators a law is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Any,
    Rows,
    OneAxis,
}

impl Wish {
    /// Any right call without a batch.
    pub(super) const PLAIN: Self =
        Self { family: Family::Any, batch: (0, 0), outer: 0, bad: false, some_index: false };
}

/// A call by its parts.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    pub(super) operator: Operator,
    pub(super) params: Tensor,
    pub(super) indices: Tensor,
    /// Of the operator of one axis.
    pub(super) axis: usize,
    pub(super) batch: usize,
    pub(super) profile: Profile,
}

impl Gather {
    /// The call; attributes are sent where they differ from the default.
    pub(super) fn call(&self) -> Call {
        let mut attributes = Attributes::new();
        let integer = |value: usize| Attribute::Integer(i64::try_from(value).unwrap_or(i64::MAX));
        if self.batch > 0 {
            attributes.insert("batch_dims".to_owned(), integer(self.batch));
        }
        if self.is_one_axis() && self.axis != self.batch {
            attributes.insert("axis".to_owned(), integer(self.axis));
        }
        let Self { operator, params, indices, .. } = self.clone();
        Call { operator, params, indices, attributes }
    }

    pub(super) fn is_one_axis(&self) -> bool {
        self.operator.as_str() == ONE_AXIS
    }

    pub(super) fn with_indices(&self, indices: Tensor) -> Self {
        Self { indices, ..self.clone() }
    }

    pub(super) fn with_params(&self, params: Tensor) -> Self {
        Self { params, ..self.clone() }
    }

    /// The axes of indices that stand neither for the batch nor for the components of a row.
    pub(super) fn outer_axes(&self) -> Range<usize> {
        self.batch..self.indices.rank() - usize::from(!self.is_one_axis())
    }

    /// The axis of the output that an outer axis of indices becomes.
    pub(super) fn output_axis(&self, outer: usize) -> usize {
        if self.is_one_axis() { self.axis + outer - self.batch } else { outer }
    }

    /// The axes of params that are selected from.
    pub(super) fn selected_axes(&self) -> Range<usize> {
        if self.is_one_axis() {
            return self.axis..self.axis + 1;
        }
        let depth = self.indices.shape().last().copied().unwrap_or(0);
        self.batch..self.batch + depth
    }

    /// The shape of the output, after the pages' formulas.
    pub(super) fn output_shape(&self) -> Vec<usize> {
        let (params, indices, selected) = (self.params.shape(), self.indices.shape(), self.selected_axes());
        let outer = &indices[self.outer_axes()];
        [&params[..selected.start], outer, &params[selected.end..]].concat()
    }

    /// The size of the axis that the index at a position of indices selects from.
    pub(super) fn bound(&self, position: &[usize]) -> usize {
        let component = if self.is_one_axis() { 0 } else { position.last().copied().unwrap_or(0) };
        self.params.shape()[self.selected_axes().start + component]
    }

    /// Where an index points under the policy on negative ones; `None` if it is bad.
    pub(super) fn within(&self, index: i128, bound: usize) -> Option<usize> {
        let wraps = self.profile.negative == NegativeIndex::Wrap && index < 0;
        let from_start = if wraps { index + bound as i128 } else { index };
        usize::try_from(from_start).ok().filter(|at| *at < bound)
    }

    /// The same call with each index changed by a function of it and its bound.
    pub(super) fn map_indices(&self, change: impl Fn(i128, usize) -> i128) -> Result<Self, Stop> {
        let value = |position: &[usize]| {
            let index = self.indices.integer(position).unwrap_or_default();
            change(index, self.bound(position))
        };
        let indices = integers(self.indices.dtype(), self.indices.shape(), value)?;
        Ok(self.with_indices(indices))
    }
}

impl Lab<'_> {
    /// A gather as wished, of an operator and dtypes that the backend declares.
    pub(super) fn gather(&mut self, wish: Wish) -> Result<Gather, Stop> {
        let operator = self.operator(wish)?;
        let one_axis = operator.as_str() == ONE_AXIS;
        let batched = one_axis || operator.as_str() == BATCHED_ROWS;
        let (dtype, index_dtype) = self.dtypes(&operator)?;
        let batch =
            if batched { wish.batch.0 + self.choices.below(wish.batch.1 - wish.batch.0 + 1) } else { 0 };
        let mut params = self.dims_for(wish, batch);
        let mut rest = {
            let rank = usize::from(one_axis || wish.some_index) + self.choices.below(3);
            self.dims_for(wish, rank)
        };
        params.append(&mut rest);
        let mut indices = params[..batch].to_vec();
        let outer = wish.outer.max(usize::from(operator.as_str() == PADDLE));
        let mut outer = {
            let rank = outer + self.choices.below(2);
            self.dims_for(wish, rank)
        };
        indices.append(&mut outer);
        let mut axis = 0;
        if one_axis {
            axis = batch + self.choices.below(params.len() - batch);
        } else {
            let depth = params.len() - batch;
            indices.push(depth - self.choices.below(depth + usize::from(!wish.some_index)));
        }
        let profile = self.profile(operator.as_str());
        let params = paint::params(dtype, Shape::new(params)?)?;
        let indices = Tensor::filled(index_dtype, Shape::new(indices)?, &gather_spec::Element::Bits(0))?;
        let gather = Gather { operator, params, indices, axis, batch, profile };
        let bad = wish.bad && profile.bad != BadIndex::Unspecified && self.choices.once_in(3);
        self.with_drawn_indices(gather, bad)
    }

    fn operator(&mut self, wish: Wish) -> Result<Operator, Stop> {
        let fits = |name: &&String| {
            let one_axis = name.as_str() == ONE_AXIS;
            let batched = one_axis || name.as_str() == BATCHED_ROWS;
            let family = match wish.family {
                Family::Any => true,
                Family::Rows => !one_axis,
                Family::OneAxis => one_axis,
            };
            family && (batched || wish.batch.0 == 0)
        };
        let names: Vec<&String> = self.description.operators.keys().filter(fits).collect();
        if names.is_empty() {
            return Err(Stop::Skip("skipped: the operator is not declared"));
        }
        Ok(Operator::new(self.choices.pick(&names).as_str()))
    }

    fn dtypes(&mut self, operator: &Operator) -> Result<(DType, DType), Stop> {
        let known = &self.description.operators[operator.as_str()];
        if known.dtypes.is_empty() || known.index_dtypes.is_empty() {
            return Err(Stop::Skip("skipped: no dtype is declared"));
        }
        Ok((self.choices.pick(&known.dtypes), self.choices.pick(&known.index_dtypes)))
    }

    fn dims_for(&mut self, wish: Wish, rank: usize) -> Vec<usize> {
        let mut dims = self.dims(rank);
        if wish.some_index {
            dims.iter_mut().for_each(|dim| *dim = (*dim).max(1));
        }
        dims
    }

    pub(super) fn dims(&mut self, rank: usize) -> Vec<usize> {
        (0..rank).map(|_| self.choices.pick(&DIMS)).collect()
    }

    /// Draws the indices, all of them good, or some of them bad if so wished. Where an axis is empty, no index is
    /// good: then there is none.
    fn with_drawn_indices(&mut self, gather: Gather, bad: bool) -> Result<Gather, Stop> {
        let gather = if bad { gather } else { without_rows_of_nothing(gather)? };
        let wraps = gather.profile.negative == NegativeIndex::Wrap;
        let choices = &mut *self.choices;
        let value = |position: &[usize]| {
            let bound = gather.bound(position);
            let good = choices.below(bound) as i128;
            let drawn = choices.below(24);
            match drawn {
                23 if bad => bound as i128,
                22 if bad => -(bound as i128) - 1,
                21 if bad => 1000,
                18..=20 if wraps && bound > 0 => good - bound as i128,
                18..=20 if bad => -1,
                _ => good,
            }
        };
        let indices = integers(gather.indices.dtype(), gather.indices.shape(), value)?;
        Ok(gather.with_indices(indices))
    }
}

/// A gather without any index, if an axis that is selected from is empty.
fn without_rows_of_nothing(gather: Gather) -> Result<Gather, Stop> {
    let mut dims = gather.indices.shape().to_vec();
    let selects_nothing = gather.params.shape()[gather.selected_axes()].contains(&0);
    if !selects_nothing || dims.contains(&0) {
        return Ok(gather);
    }
    let outer = gather.outer_axes();
    if outer.is_empty() {
        return Err(Stop::Skip("skipped: an index into an empty axis"));
    }
    dims[outer.start] = 0;
    let indices = Tensor::filled(gather.indices.dtype(), Shape::new(dims)?, &gather_spec::Element::Bits(0))?;
    Ok(gather.with_indices(indices))
}
