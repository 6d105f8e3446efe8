//! A drawn call of windows, in parts that a law changes one by one.

use gather_spec::{BadIndex, Call, DimensionNumbers, Profile, Roles, Shape, Signature, Tensor, Window};

use crate::generate::values::Values;
use crate::generate::windows::{WindowRequirements, WindowShapes};
use crate::generate::{SizeClass, paint};
use crate::laws::instance::Instance;
use crate::laws::stop::Stop;
use crate::laws::tensors::{counts, integers};

/// A call in parts.
#[derive(Clone)]
pub(super) struct WindowCall<'a> {
    pub(super) signature: &'a Signature,
    pub(super) params: Tensor,
    pub(super) indices: Tensor,
    pub(super) numbers: DimensionNumbers,
    pub(super) slice_sizes: Vec<i64>,
    pub(super) bounds: Vec<usize>,
    pub(super) mode: Option<String>,
    pub(super) fill_value: Option<Tensor>,
    pub(super) profile: Profile,
}

impl WindowCall<'_> {
    pub(super) fn call(&self) -> Call {
        let window = Some(Window::new(self.numbers.clone(), self.slice_sizes.clone()));
        let roles = Roles::new(self.params.clone(), self.indices.clone());
        let (mode, fill_value) = (self.mode.clone(), self.fill_value.clone());
        self.signature.spell(Roles { window, mode, fill_value, ..roles })
    }

    /// The dim of indices that holds the components, if there is one.
    pub(super) fn vector(&self) -> Option<usize> {
        usize::try_from(self.numbers.index_vector_dim).ok().filter(|dim| *dim < self.indices.rank())
    }

    pub(super) fn bound(&self, position: &[usize]) -> usize {
        let component = self.vector().map_or(0, |dim| position[dim]);
        self.bounds.get(component).copied().unwrap_or(1)
    }

    /// The components of an index row, which is the start of a window.
    pub(super) fn starts(&self, row: &[usize]) -> Vec<i128> {
        let start = |position: &[usize]| self.indices.integer(position).unwrap_or_default();
        let Some(vector) = self.vector() else { return vec![start(row)] };
        let mut position = row.to_vec();
        position.insert(vector, 0);
        let component = |at| {
            position[vector] = at;
            start(&position)
        };
        (0..self.indices.shape()[vector]).map(component).collect()
    }

    pub(super) fn is_offset(&self, dim: usize) -> bool {
        self.numbers.offset_dims.iter().any(|one| usize::try_from(*one) == Ok(dim))
    }

    /// The dims of the output that are a window's (`of_window`), or the others.
    pub(super) fn output_dims(&self, of_window: bool) -> Vec<usize> {
        let rows = self.indices.rank() - usize::from(self.vector().is_some());
        let rank = rows + self.numbers.offset_dims.len();
        (0..rank).filter(|dim| self.is_offset(*dim) == of_window).collect()
    }

    pub(super) fn with_indices(&self, indices: Tensor) -> Self {
        Self { indices, ..self.clone() }
    }
}

impl<'a> Instance<'a> {
    /// Draws a call in which every window has an element. With `bad`, some windows are out of range.
    pub(super) fn windows(&mut self, batching: (usize, usize), bad: bool) -> Result<WindowCall<'a>, Stop> {
        let signature = self.operator()?;
        let (dtype, index_dtype) = self.dtypes(signature)?;
        let size = SizeClass::draw(self.choices, None);
        let wanted = WindowRequirements { batching, some: true, size };
        let windows = WindowShapes::draw(self.choices, signature, &wanted);
        let (mode, profile) = self.policies(signature);
        let fill_value = if bad { self.fill_value(signature, dtype)? } else { None };
        let bad = bad && profile.bad != BadIndex::Unspecified && self.choices.once_in(3);
        let bounds = windows.bounds();
        let WindowShapes { params, indices, numbers, slice_sizes } = windows;
        let params = paint::params(dtype, Shape::new(params)?)?;
        let shape = Shape::new(indices)?;
        let zeros = Tensor::filled(index_dtype, shape, &gather_spec::Element::Bits(0))?;
        let indices = zeros;
        let drawn = WindowCall {
            signature,
            params,
            indices,
            numbers,
            slice_sizes,
            bounds,
            mode,
            fill_value,
            profile,
        };
        let counted = usize::try_from(counts(index_dtype)).unwrap_or(usize::MAX);
        let values = Values { style: 0, bad_in: if bad { 4 } else { 0 }, reach: Values::NEAR };
        let choices = &mut *self.choices;
        let value =
            |position: &[usize]| i128::from(values.value(choices, 0, drawn.bound(position).min(counted)));
        let indices = integers(index_dtype, drawn.indices.shape(), value)?;
        Ok(drawn.with_indices(indices))
    }
}
