//! What a gather works on, step by step: the call, its dims, and the steps themselves.

use std::cell::OnceCell;

use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, ModePolicy};
use gather_spec::{
    Attribute, BadIndex, DType, DimensionNumbers, DimensionRule, Element, EmptyAxis, ErrorCode, ErrorFields,
    Form, Profile, Roles, Signature, Tensor,
};

/// Where a slice of the output comes from: its place in params, counted in elements; `None` if it is zero.
pub(super) type Pick = Option<i128>;

/// The steps of a gather.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    unpredictable_function_pointer_comparisons,
    reason = "merged functions do the same, and a step that nobody replaced is a copy"
)]
pub(super) struct Model {
    /// The call as it is received, in role terms.
    pub(super) received: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// The mode of a call, of an operator with modes.
    pub(super) mode: for<'a> fn(&'a Signature, &Roles<Tensor>) -> Option<&'a ModePolicy>,
    /// The policies that are followed.
    pub(super) policies: fn(Profile) -> Profile,
    /// What an index into an empty axis gives by the mode.
    pub(super) empty_axis: fn(EmptyAxis) -> EmptyAxis,
    pub(super) filler: fn(&Asked<'_>) -> Element,
    /// The call with its params flattened, where it asks for that.
    pub(super) flatten: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// What is checked, in this order.
    pub(super) order: &'static [ErrorCode],
    /// Whether a call deserves an error.
    pub(super) faulty: fn(ErrorCode, &Asked<'_>) -> bool,
    /// The batch dims, counted from the start, if they are in range.
    pub(super) batch_dims: fn(&Asked<'_>) -> Option<usize>,
    /// The first gathered axis, counted from the start, if it is in range.
    pub(super) axis: fn(&Asked<'_>) -> Option<usize>,
    /// Whether indices without elements excuse their shape, of form elements.
    pub(super) exempt: fn(&Asked<'_>) -> bool,
    /// The parts of both shapes.
    pub(super) dims: fn(&Asked<'_>) -> Dims,
    /// The shape of the output.
    pub(super) output_shape: fn(&Dims) -> Vec<usize>,
    /// The size that is held against the limit of 2^63 - 1 bytes.
    pub(super) bytes: fn(&[usize], DType) -> u128,
    /// The elements of params, row-major.
    pub(super) read_params: fn(&Tensor) -> Vec<Element>,
    /// The elements of indices, row-major.
    pub(super) read_indices: fn(&Tensor) -> Vec<Element>,
    /// The value of an index.
    pub(super) index: fn(DType, u128) -> i128,
    /// Where an index points, if it is in range of an axis of this size.
    pub(super) within: fn(&Asked<'_>, i128, usize) -> Option<i128>,
    /// The place, among all index values, of the one that is named in an error.
    pub(super) offender: fn(&Asked<'_>, &Dims, &[i128]) -> Option<usize>,
    /// What an error says of the index value at this place.
    pub(super) offence: fn(&Asked<'_>, &Dims, &[i128], usize) -> ErrorFields,
    /// The coordinates that an index row stands for; `None` for a slice of zeros.
    pub(super) resolve: fn(&Asked<'_>, &Dims, &[i128]) -> Option<Vec<i128>>,
    /// The place of a slice in params: by number of batch, number of mid position and coordinates.
    pub(super) offset: fn(&Asked<'_>, &Dims, usize, usize, &[i128]) -> i128,
    /// The place, among all index values, of the one for a position of the output, of form elements.
    pub(super) index_at: fn(&Asked<'_>, &[usize]) -> usize,
    /// The place in params of the element for a position of the output, of form elements: by its index.
    pub(super) origin: fn(&Asked<'_>, &[usize], i128) -> i128,
    /// How a call of windows reads its operands.
    pub(super) numbers: fn(&Asked<'_>) -> Numbers,
    /// Whether a call of windows breaks a rule.
    pub(super) breaks: fn(DimensionRule, &Asked<'_>) -> bool,
    /// The dims of an output of windows, from those of the rows and those of a window.
    pub(super) combine: fn(&Numbers, &[usize], &[usize]) -> Vec<usize>,
    /// How many starts of a window fit along a dim.
    pub(super) fit: fn(&Asked<'_>, i64) -> usize,
    /// The index values of windows, row by row.
    pub(super) rows: fn(&Asked<'_>, Vec<i128>) -> Vec<i128>,
    /// The number of the row for a position of an output of windows.
    pub(super) row: fn(&Asked<'_>, &[usize]) -> usize,
    /// Where a window begins, by its row's components.
    pub(super) full_start: fn(&Asked<'_>, &[i128]) -> Vec<i128>,
    /// Where it lies along batching dims, by the position of its row.
    pub(super) full_batching: fn(&Asked<'_>, &[usize]) -> Vec<i128>,
    /// A position within the window, by dims of params.
    pub(super) full_offset: fn(&Asked<'_>, &[usize]) -> Vec<i128>,
    /// The slices of the output, in their order.
    pub(super) arrange: fn(&Asked<'_>, &Dims, Vec<Pick>) -> Vec<Pick>,
    /// One element of a slice: by its place in the slice.
    pub(super) element: fn(&Asked<'_>, &Dims, &[Element], Pick, usize) -> Element,
    /// An element on its way.
    pub(super) moved: fn(DType, Element) -> Element,
    /// The elements of the output, before they are handed over.
    pub(super) finish: fn(&Asked<'_>, &Dims, &mut Vec<Element>),
    /// The code that is reported for an error.
    pub(super) code: fn(ErrorCode) -> Option<ErrorCode>,
}

/// How a call of windows reads its operands.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    pub(super) numbers: DimensionNumbers,
    pub(super) slice_sizes: Vec<i64>,
}

impl Numbers {
    /// The dims of indices that number rows.
    pub(super) fn row_dims(&self, rank: usize) -> Vec<usize> {
        (0..rank).filter(|dim| Some(*dim) != place(self.numbers.index_vector_dim)).collect()
    }

    /// Whether a dim of params is not in the output.
    pub(super) fn lacks(&self, dim: usize) -> bool {
        let DimensionNumbers { collapsed_slice_dims, operand_batching_dims, .. } = &self.numbers;
        collapsed_slice_dims.iter().chain(operand_batching_dims).any(|one| place(*one) == Some(dim))
    }

    /// The size of the window along a dim of params, 0 where there is none.
    pub(super) fn size(&self, dim: usize) -> usize {
        self.slice_sizes.get(dim).and_then(|size| usize::try_from(*size).ok()).unwrap_or(0)
    }
}

/// A dim as a place, if it is one.
pub(super) fn place(dim: i64) -> Option<usize> {
    usize::try_from(dim).ok()
}

/// A call, and under which circumstances it is answered.
pub(super) struct Asked<'a> {
    pub(super) model: &'a Model,
    pub(super) roles: &'a Roles<Tensor>,
    pub(super) signature: &'a Signature,
    pub(super) profile: Profile,
    /// What an index into an empty axis gives, where bad indices are not refused.
    pub(super) empty_axis: EmptyAxis,
    pub(super) threads: usize,
    /// How a call of windows reads its operands, once it was looked at.
    pub(super) numbers: OnceCell<Numbers>,
}

impl Asked<'_> {
    /// The shape of params.
    pub(super) fn params(&self) -> &[usize] {
        self.roles.params.shape()
    }

    /// The shape of indices.
    pub(super) fn indices(&self) -> &[usize] {
        self.roles.indices.shape()
    }

    /// Whether the last axis of indices holds index rows.
    pub(super) const fn by_rows(&self) -> bool {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => false,
            Form::Nd => true,
        }
    }

    /// Whether index rows are the starts of windows.
    pub(super) const fn by_windows(&self) -> bool {
        matches!(self.signature.form, Form::Window)
    }

    /// How a call of windows reads its operands.
    pub(super) fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| (self.model.numbers)(self))
    }

    /// The first rule that a call of windows breaks.
    pub(super) fn broken_rule(&self) -> Option<DimensionRule> {
        DimensionRule::ALL.into_iter().find(|rule| (self.model.breaks)(*rule, self))
    }

    /// The number of components of an index row, where there are rows.
    pub(super) fn components(&self) -> Option<usize> {
        self.indices().last().copied().filter(|_| self.by_rows())
    }

    /// The batch dims as they were sent, or as the signature has them where they were not.
    pub(super) fn given_batch(&self) -> i64 {
        given_batch(self.signature, self.roles)
    }

    /// The axis as it was sent, or as the signature has it where it was not; `None` if it is the batch dims.
    pub(super) fn given_axis(&self) -> Option<i64> {
        let default = self.signature.attribute(AttributeRole::Axis).map(|one| &one.default);
        match (self.roles.axis, default) {
            (Some(Axis::At(axis)), _) => Some(axis),
            (_, Some(AttributeDefault::Value(Attribute::Integer(value)))) => Some(*value),
            (_, Some(AttributeDefault::OnlyAxis)) => Some(0),
            _ => None,
        }
    }

    /// The batch dims, counted from the start, if they are in range; none for an operator without.
    pub(super) fn batch_dims(&self) -> Option<usize> {
        if self.signature.has_batch() { (self.model.batch_dims)(self) } else { Some(0) }
    }

    /// The batch dims, 0 if they are out of range.
    pub(super) fn batch(&self) -> usize {
        self.batch_dims().unwrap_or(0)
    }

    /// Whether both operands join dim by dim.
    pub(super) const fn by_elements(&self) -> bool {
        matches!(self.signature.form, Form::Elements)
    }

    /// Whether indices without elements excuse their shape.
    pub(super) fn exempt(&self) -> bool {
        (self.model.exempt)(self)
    }

    /// The first gathered axis, counted from the start, if it is in range.
    pub(super) fn axis(&self) -> Option<usize> {
        let has_axis = self.signature.attribute(AttributeRole::Axis).is_some();
        if has_axis {
            return (self.model.axis)(self);
        }
        Some(self.batch()).filter(|batch| self.by_rows() || *batch < self.params().len())
    }

    /// Where an index points, if it is in range.
    pub(super) fn within(&self, index: i128, bound: usize) -> Option<i128> {
        (self.model.within)(self, index, bound)
    }

    /// Whether bad indices are refused.
    pub(super) fn refuses(&self) -> bool {
        matches!(self.profile.bad, BadIndex::Error | BadIndex::Unspecified)
    }

    pub(super) fn refused(&self, dims: &Dims, indices: &[i128]) -> Option<usize> {
        let refuses = self.refuses() || self.empty_axis == EmptyAxis::Error && dims.bounds.contains(&0);
        if refuses { (self.model.offender)(self, dims, indices) } else { None }
    }
}

/// The batch dims as they were sent, or as the signature has them where they were not.
pub(super) fn given_batch(signature: &Signature, roles: &Roles<Tensor>) -> i64 {
    let default = signature.attribute(AttributeRole::BatchDims).map(|one| &one.default);
    roles.batch_dims.unwrap_or(match default {
        Some(AttributeDefault::Value(Attribute::Integer(value))) => *value,
        _ => 0,
    })
}

/// The parts of both shapes: params is batch, mid, bounds, inner; indices is batch, outer and, of rows, the depth. Of form
/// elements there are the bound of the axis and, as outer, the whole shape of the output.
#[derive(Clone)]
pub(super) struct Dims {
    pub(super) batch: Vec<usize>,
    pub(super) mid: Vec<usize>,
    /// The gathered dims of params.
    pub(super) bounds: Vec<usize>,
    pub(super) inner: Vec<usize>,
    pub(super) outer: Vec<usize>,
    /// The number of components of an index row.
    pub(super) depth: usize,
}
