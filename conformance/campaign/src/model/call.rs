//! What a gather works on, step by step: the call, its dims, and the steps themselves.

use std::cell::OnceCell;

use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, ModePolicy};
use gather_spec::{
    Attribute, BadIndex, DType, DimensionNumbers, DimensionRule, Element, EmptyAxis, ErrorCode, ErrorFields,
    Form, Profile, Roles, Signature, Tensor,
};

use super::memory::ParamsElements;

/// The source of a slice of the output: its offset in params in elements, or `None` for a slice to be filled.
pub type SliceSource = Option<i128>;

/// The steps of a gather, roughly in the order in which they are taken.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    unpredictable_function_pointer_comparisons,
    reason = "merged functions do the same, and a step that was not replaced is a copy"
)]
pub struct Model {
    /// The call as received, in role terms.
    pub received: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// The mode of a call, for operators with modes.
    pub mode: for<'a> fn(&'a Signature, &Roles<Tensor>) -> Option<&'a ModePolicy>,
    /// The policies to follow.
    pub policies: fn(Profile) -> Profile,
    /// What an index into an empty axis gives under the mode.
    pub empty_axis: fn(EmptyAxis) -> EmptyAxis,
    /// The element that stands where no params are read.
    pub filler: fn(&ModelCall<'_>) -> Element,
    /// The call with params, and indices, flattened if it asks for that.
    pub flatten: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// The checks, in this order.
    pub order: &'static [ErrorCode],
    /// Whether a call deserves an error.
    pub faulty: fn(ErrorCode, &ModelCall<'_>) -> bool,
    /// The number of batch dims, if it is in range.
    pub batch_dims: fn(&ModelCall<'_>) -> Option<usize>,
    /// The first gathered axis, counted from the start, if it is in range.
    pub axis: fn(&ModelCall<'_>) -> Option<usize>,
    /// Form elements: whether indices without elements are exempt from the rules about their shape.
    pub exempt: fn(&ModelCall<'_>) -> bool,
    /// The parts of both shapes.
    pub dims: fn(&ModelCall<'_>) -> ShapeParts,
    /// The shape of the output.
    pub output_shape: fn(&ShapeParts) -> Vec<usize>,
    /// The size of the output that is checked against the limit of 2^63 - 1 bytes.
    pub bytes: fn(&[usize], DType) -> u128,
    /// The elements of params, row-major.
    pub read_params: fn(&Tensor) -> ParamsElements,
    /// The elements of indices, row-major.
    pub read_indices: fn(&Tensor) -> Vec<Element>,
    /// The value of an index.
    pub index: fn(DType, u128) -> i128,
    /// The coordinate that an index selects, if it is in range of an axis of this size.
    pub within: fn(&ModelCall<'_>, i128, usize) -> Option<i128>,
    /// The position, among all index values, of the one that an error reports.
    pub offender: fn(&ModelCall<'_>, &ShapeParts, &[i128]) -> Option<usize>,
    /// The fields of the error about the index value at this position.
    pub offence: fn(&ModelCall<'_>, &ShapeParts, &[i128], usize) -> ErrorFields,
    /// The coordinates that an index row selects; `None` for a slice to be filled.
    pub resolve: fn(&ModelCall<'_>, &ShapeParts, &[i128]) -> Option<Vec<i128>>,
    /// The offset of a slice in params: by batch number, mid number and coordinates.
    pub offset: fn(&ModelCall<'_>, &ShapeParts, usize, usize, &[i128]) -> i128,
    /// Form elements: the position, among all index values, of the one for a position of the output.
    pub index_at: fn(&ModelCall<'_>, &[usize]) -> usize,
    /// Form elements: the offset in params of the element for a position of the output, given its index.
    pub origin: fn(&ModelCall<'_>, &[usize], i128) -> i128,
    /// How a call of windows reads its operands.
    pub numbers: fn(&ModelCall<'_>) -> WindowNumbers,
    /// Form window: whether a call breaks a rule.
    pub breaks: fn(DimensionRule, &ModelCall<'_>) -> bool,
    /// Form window: the dims of the output, from those of the rows and those of a window.
    pub combine: fn(&WindowNumbers, &[usize], &[usize]) -> Vec<usize>,
    /// Form window: how many starts fit along a dim.
    pub fit: fn(&ModelCall<'_>, i64) -> usize,
    /// Form window: the index values in row order.
    pub rows: fn(&ModelCall<'_>, Vec<i128>) -> Vec<i128>,
    /// Form window: the number of the row for a position of the output.
    pub row: fn(&ModelCall<'_>, &[usize]) -> usize,
    /// Form window: the start of a window, from the components of its row.
    pub full_start: fn(&ModelCall<'_>, &[i128]) -> Vec<i128>,
    /// Form window: the coordinates along batching dims, from the position of the row.
    pub full_batching: fn(&ModelCall<'_>, &[usize]) -> Vec<i128>,
    /// Form window: the coordinates within the window, by dims of params.
    pub full_offset: fn(&ModelCall<'_>, &[usize]) -> Vec<i128>,
    /// The slices of the output, in order.
    pub arrange: fn(&ModelCall<'_>, &ShapeParts, Vec<SliceSource>) -> Vec<SliceSource>,
    /// One element of a slice, by its position in the slice.
    pub element: fn(&ModelCall<'_>, &ShapeParts, &ParamsElements, SliceSource, usize) -> Element,
    /// An element as it is copied.
    pub moved: fn(DType, Element) -> Element,
    /// The elements of the output, before they are returned.
    pub finish: fn(&ModelCall<'_>, &ShapeParts, &mut Vec<Element>),
    /// The code to report for an error.
    pub code: fn(ErrorCode) -> Option<ErrorCode>,
}

/// How a call of windows reads its operands.
#[derive(Clone, Debug, Default)]
pub struct WindowNumbers {
    /// The dimension numbers.
    pub numbers: DimensionNumbers,
    /// The window size along each dim of params.
    pub slice_sizes: Vec<i64>,
}

impl WindowNumbers {
    /// The dims of indices other than the index vector.
    pub fn row_dims(&self, rank: usize) -> Vec<usize> {
        (0..rank).filter(|dim| Some(*dim) != place(self.numbers.index_vector_dim)).collect()
    }

    /// Whether the output lacks a dim of params.
    pub fn lacks(&self, dim: usize) -> bool {
        let DimensionNumbers { collapsed_slice_dims, operand_batching_dims, .. } = &self.numbers;
        collapsed_slice_dims.iter().chain(operand_batching_dims).any(|one| place(*one) == Some(dim))
    }

    /// The window size along a dim of params; 0 if that is no valid size.
    pub fn size(&self, dim: usize) -> usize {
        self.slice_sizes.get(dim).and_then(|size| usize::try_from(*size).ok()).unwrap_or(0)
    }
}

/// A dim as `usize`, unless it is negative.
pub fn place(dim: i64) -> Option<usize> {
    usize::try_from(dim).ok()
}

/// A call with everything that its answer depends on.
pub struct ModelCall<'a> {
    /// The steps to take.
    pub model: &'a Model,
    /// The operands and attributes by role.
    pub roles: &'a Roles<Tensor>,
    /// The shape of indices before they were flattened.
    pub sent_indices: &'a [usize],
    /// The signature of the operator.
    pub signature: &'a Signature,
    /// The policies.
    pub profile: Profile,
    /// What an index into an empty axis gives, if bad indices are not rejected.
    pub empty_axis: EmptyAxis,
    /// The number of threads.
    pub threads: usize,
    /// Cached by [`ModelCall::numbers`].
    pub numbers: OnceCell<WindowNumbers>,
}

impl ModelCall<'_> {
    /// The shape of params.
    pub fn params(&self) -> &[usize] {
        self.roles.params.shape()
    }

    /// The shape of indices.
    pub fn indices(&self) -> &[usize] {
        self.roles.indices.shape()
    }

    /// Whether the last axis of indices holds the components of index rows.
    pub const fn by_rows(&self) -> bool {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => false,
            Form::Nd => true,
        }
    }

    /// Whether index rows are starts of windows.
    pub const fn by_windows(&self) -> bool {
        matches!(self.signature.form, Form::Window)
    }

    /// How a call of windows reads its operands.
    pub fn numbers(&self) -> &WindowNumbers {
        self.numbers.get_or_init(|| (self.model.numbers)(self))
    }

    /// The first rule that a call of form window breaks.
    pub fn broken_rule(&self) -> Option<DimensionRule> {
        DimensionRule::ALL.into_iter().find(|rule| (self.model.breaks)(*rule, self))
    }

    /// The number of components of an index row, if there are index rows.
    pub fn components(&self) -> Option<usize> {
        self.indices().last().copied().filter(|_| self.by_rows())
    }

    /// The batch dims as they were sent, or as the signature has them where they were not.
    pub fn given_batch(&self) -> i64 {
        given_batch(self.signature, self.roles)
    }

    /// The axis as sent, or its default; `None` if that is the number of batch dims.
    pub fn given_axis(&self) -> Option<i64> {
        let default = self.signature.attribute(AttributeRole::Axis).map(|one| &one.default);
        match (self.roles.axis, default) {
            (Some(Axis::At(axis)), _) => Some(axis),
            (_, Some(AttributeDefault::Value(Attribute::Integer(value)))) => Some(*value),
            (_, Some(AttributeDefault::OnlyAxis)) => Some(0),
            _ => None,
        }
    }

    /// The number of batch dims, if it is in range; 0 for an operator without batches.
    pub fn batch_dims(&self) -> Option<usize> {
        if self.signature.has_batch() { (self.model.batch_dims)(self) } else { Some(0) }
    }

    /// The number of batch dims, or 0 if it is out of range.
    pub fn batch(&self) -> usize {
        self.batch_dims().unwrap_or(0)
    }

    /// Whether the operands join dim by dim.
    pub const fn by_elements(&self) -> bool {
        matches!(self.signature.form, Form::Elements)
    }

    /// Whether indices without elements are exempt from the rules about their shape.
    pub fn exempt(&self) -> bool {
        (self.model.exempt)(self)
    }

    /// The first gathered axis, counted from the start, if it is in range.
    pub fn axis(&self) -> Option<usize> {
        let has_axis = self.signature.attribute(AttributeRole::Axis).is_some();
        if has_axis {
            return (self.model.axis)(self);
        }
        Some(self.batch()).filter(|batch| self.by_rows() || *batch < self.params().len())
    }

    /// The coordinate that an index selects, if it is in range.
    pub fn within(&self, index: i128, bound: usize) -> Option<i128> {
        (self.model.within)(self, index, bound)
    }

    /// Whether bad indices are rejected.
    pub fn refuses(&self) -> bool {
        matches!(self.profile.bad, BadIndex::Error | BadIndex::Unspecified)
    }

    /// The place of the first bad component of an index row, if bad indices are rejected.
    pub fn refused(&self, dims: &ShapeParts, indices: &[i128]) -> Option<usize> {
        let refuses = self.refuses() || self.empty_axis == EmptyAxis::Error && dims.bounds.contains(&0);
        if refuses { (self.model.offender)(self, dims, indices) } else { None }
    }
}

/// The batch dims as they were sent, or as the signature has them where they were not.
pub fn given_batch(signature: &Signature, roles: &Roles<Tensor>) -> i64 {
    let default = signature.attribute(AttributeRole::BatchDims).map(|one| &one.default);
    roles.batch_dims.unwrap_or(match default {
        Some(AttributeDefault::Value(Attribute::Integer(value))) => *value,
        _ => 0,
    })
}

/// The parts of both shapes: params has batch, mid, bounds and inner dims; indices has batch and outer dims and, for
/// index rows, the depth. In form elements, `bounds` holds the size of the axis, and `outer` the whole output shape.
#[derive(Clone)]
pub struct ShapeParts {
    /// The batch dims of both.
    pub batch: Vec<usize>,
    /// The dims of params before the gathered ones.
    pub mid: Vec<usize>,
    /// The gathered dims of params.
    pub bounds: Vec<usize>,
    /// The dims of params behind the gathered ones.
    pub inner: Vec<usize>,
    /// The dims of indices that are neither batch dims nor the index row.
    pub outer: Vec<usize>,
    /// The number of components of an index row.
    pub depth: usize,
}
