//! A correct gather in steps. Every step is a field of [`Model`], so a mutant replaces one step and nothing else.
//!
//! `steps` holds the right steps. Every step is total: it must go on with whatever a mutant in front of it lets through.
//! Reads outside a tensor give [`GARBAGE`].

use std::cell::OnceCell;

use gather_spec::shape::nonzero_bytes;
use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, Misfit, ModePolicy};
use gather_spec::{
    Attribute, BadIndex, Call, DType, DimensionRule, Element, EmptyAxis, ErrorCode, ErrorFields, Form,
    Outcome, Profile, ReportedError, Roles, Signature, Tensor,
};

use super::memory;
use super::windowed::{self, Numbers};

pub(super) use super::steps::{
    axis, batch_dims, bound_of, count, dims, element, exempt, faulty, filler, fits, flatten, from_start,
    index, index_at, multi_index, offence, offender, offset, origin, output_shape, resolve, row_major,
    row_major_signed, size, tensor, within,
};

/// The contents of memory that was never written.
pub(super) const GARBAGE: u128 = 0xA5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5;

/// The largest output that a model computes, in bytes.
const MOST_BYTES: u128 = 1 << 26;

/// The source of a slice of the output: its offset in params in elements, or `None` for a slice to be filled.
pub(super) type Pick = Option<i128>;

/// The steps of a gather, roughly in the order in which they are taken.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    unpredictable_function_pointer_comparisons,
    reason = "merged functions do the same, and a step that nobody replaced is a copy"
)]
pub(super) struct Model {
    /// The call as received, in role terms.
    pub(super) received: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// The mode of a call, for operators with modes.
    pub(super) mode: for<'a> fn(&'a Signature, &Roles<Tensor>) -> Option<&'a ModePolicy>,
    /// The policies to follow.
    pub(super) policies: fn(Profile) -> Profile,
    /// What an index into an empty axis gives under the mode.
    pub(super) empty_axis: fn(EmptyAxis) -> EmptyAxis,
    pub(super) filler: fn(&Asked<'_>) -> Element,
    /// The call with params flattened, if it asks for that.
    pub(super) flatten: fn(&Signature, Roles<Tensor>) -> Roles<Tensor>,
    /// The checks, in this order.
    pub(super) order: &'static [ErrorCode],
    /// Whether a call deserves an error.
    pub(super) faulty: fn(ErrorCode, &Asked<'_>) -> bool,
    /// The number of batch dims, if it is in range.
    pub(super) batch_dims: fn(&Asked<'_>) -> Option<usize>,
    /// The first gathered axis, counted from the start, if it is in range.
    pub(super) axis: fn(&Asked<'_>) -> Option<usize>,
    /// Form elements: whether indices without elements are exempt from the rules about their shape.
    pub(super) exempt: fn(&Asked<'_>) -> bool,
    /// The parts of both shapes.
    pub(super) dims: fn(&Asked<'_>) -> Dims,
    /// The shape of the output.
    pub(super) output_shape: fn(&Dims) -> Vec<usize>,
    /// The size of the output that is checked against the limit of 2^63 - 1 bytes.
    pub(super) bytes: fn(&[usize], DType) -> u128,
    /// The elements of params, row-major.
    pub(super) read_params: fn(&Tensor) -> Vec<Element>,
    /// The elements of indices, row-major.
    pub(super) read_indices: fn(&Tensor) -> Vec<Element>,
    /// The value of an index.
    pub(super) index: fn(DType, u128) -> i128,
    /// The coordinate that an index selects, if it is in range of an axis of this size.
    pub(super) within: fn(&Asked<'_>, i128, usize) -> Option<i128>,
    /// The position, among all index values, of the one that an error reports.
    pub(super) offender: fn(&Asked<'_>, &Dims, &[i128]) -> Option<usize>,
    /// The fields of the error about the index value at this position.
    pub(super) offence: fn(&Asked<'_>, &Dims, &[i128], usize) -> ErrorFields,
    /// The coordinates that an index row selects; `None` for a slice to be filled.
    pub(super) resolve: fn(&Asked<'_>, &Dims, &[i128]) -> Option<Vec<i128>>,
    /// The offset of a slice in params: by batch number, mid number and coordinates.
    pub(super) offset: fn(&Asked<'_>, &Dims, usize, usize, &[i128]) -> i128,
    /// Form elements: the position, among all index values, of the one for a position of the output.
    pub(super) index_at: fn(&Asked<'_>, &[usize]) -> usize,
    /// Form elements: the offset in params of the element for a position of the output, given its index.
    pub(super) origin: fn(&Asked<'_>, &[usize], i128) -> i128,
    /// Form window: the dimension numbers of the call.
    pub(super) numbers: fn(&Asked<'_>) -> Numbers,
    /// Form window: whether a call breaks a rule.
    pub(super) breaks: fn(DimensionRule, &Asked<'_>) -> bool,
    /// Form window: the dims of the output, from those of the rows and those of a window.
    pub(super) combine: fn(&Numbers, &[usize], &[usize]) -> Vec<usize>,
    /// Form window: how many starts fit along a dim.
    pub(super) fit: fn(&Asked<'_>, i64) -> usize,
    /// Form window: the index values in row order.
    pub(super) rows: fn(&Asked<'_>, Vec<i128>) -> Vec<i128>,
    /// Form window: the number of the row for a position of the output.
    pub(super) row: fn(&Asked<'_>, &[usize]) -> usize,
    /// Form window: the start of a window, from the components of its row.
    pub(super) full_start: fn(&Asked<'_>, &[i128]) -> Vec<i128>,
    /// Form window: the coordinates along batching dims, from the position of the row.
    pub(super) full_batching: fn(&Asked<'_>, &[usize]) -> Vec<i128>,
    /// Form window: the coordinates within the window, by dims of params.
    pub(super) full_offset: fn(&Asked<'_>, &[usize]) -> Vec<i128>,
    /// The slices of the output, in order.
    pub(super) arrange: fn(&Asked<'_>, &Dims, Vec<Pick>) -> Vec<Pick>,
    /// One element of a slice, by its position in the slice.
    pub(super) element: fn(&Asked<'_>, &Dims, &[Element], Pick, usize) -> Element,
    /// An element as it is copied.
    pub(super) moved: fn(DType, Element) -> Element,
    /// The elements of the output, before they are returned.
    pub(super) finish: fn(&Asked<'_>, &Dims, &mut Vec<Element>),
    /// The code to report for an error.
    pub(super) code: fn(ErrorCode) -> Option<ErrorCode>,
}

/// The model without a mutation. All other models are copies of it, so that unchanged steps compare equal.
pub(super) static CORRECT: Model = Model::correct();

impl Model {
    /// The model without a mutation.
    const fn correct() -> Self {
        Self {
            received: |_, roles| roles,
            mode: |signature, roles| signature.mode(roles),
            policies: |profile| profile,
            empty_axis: |empty_axis| empty_axis,
            filler,
            flatten,
            order: &ORDER,
            faulty,
            batch_dims,
            axis,
            exempt,
            dims,
            output_shape,
            bytes: nonzero_bytes,
            read_params: memory::row_major,
            read_indices: memory::row_major,
            index,
            within,
            offender,
            offence,
            resolve,
            offset,
            index_at,
            origin,
            numbers: windowed::numbers,
            breaks: windowed::breaks,
            combine: windowed::combine,
            fit: windowed::fit,
            rows: windowed::by_rows,
            row: windowed::row,
            full_start: windowed::full_start,
            full_batching: windowed::full_batching,
            full_offset: windowed::full_offset,
            arrange: |_, _, picks| picks,
            element,
            moved: |_, element| element,
            finish: |_, _, _| (),
            code: Some,
        }
    }

    /// Copies the steps that calls of a form never take. A test in `concern` checks this against drawn calls.
    pub(super) const fn take_over_unused(&mut self, form: Form, other: &Self) {
        if !matches!(form, Form::Window) {
            (self.numbers, self.breaks, self.combine) = (other.numbers, other.breaks, other.combine);
            (self.fit, self.rows, self.row) = (other.fit, other.rows, other.row);
            self.full_start = other.full_start;
            (self.full_batching, self.full_offset) = (other.full_batching, other.full_offset);
        }
        if !matches!(form, Form::Elements) {
            (self.exempt, self.index_at, self.origin) = (other.exempt, other.index_at, other.origin);
        }
    }

    /// Whether calls of a form take a step that differs from the right one.
    pub(super) fn is_wrong_for(&self, form: Form) -> bool {
        let mut used = *self;
        used.take_over_unused(form, &CORRECT);
        used != CORRECT
    }

    /// Answers a call of the signature's operator.
    pub(super) fn answer(
        &self,
        signature: &Signature,
        call: &Call,
        profile: Profile,
        threads: usize,
    ) -> Outcome {
        self.look(signature, call, profile, threads, |asked, dims, indices| {
            self.outcome(asked, dims, indices)
        })
        .unwrap_or_else(|foreign| Outcome::Unsupported(foreign.to_string()))
    }

    /// Splits a call into its parts and passes them, with the index values, to a function.
    pub(super) fn look<T>(
        &self,
        signature: &Signature,
        call: &Call,
        profile: Profile,
        threads: usize,
        then: impl FnOnce(&Asked<'_>, &Dims, &[i128]) -> T,
    ) -> Result<T, Misfit> {
        let sent = signature.roles(call)?.cloned();
        let received = (self.received)(signature, sent);
        let mode = (self.mode)(signature, &received);
        let profile = (self.policies)(mode.map_or(profile, |mode| mode.profile));
        let empty_axis = mode.map_or(EmptyAxis::Zero, |mode| (self.empty_axis)(mode.empty_axis));
        let roles = (self.flatten)(signature, received);
        let asked = Asked {
            model: self,
            roles: &roles,
            signature,
            profile,
            empty_axis,
            threads,
            numbers: OnceCell::new(),
        };
        let dims = (self.dims)(&asked);
        let indices = (self.read_indices)(&roles.indices);
        let value = |element| match element {
            Element::Bits(bits) => (self.index)(roles.indices.dtype(), bits),
            Element::Bytes(_) => 0,
        };
        let mut indices: Vec<i128> = indices.into_iter().map(value).collect();
        if asked.by_windows() {
            indices = (self.rows)(&asked, indices);
        }
        Ok(then(&asked, &dims, &indices))
    }

    fn outcome(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Outcome {
        for code in self.order {
            if (self.faulty)(*code, asked) {
                let bytes = (*code == ErrorCode::OutputTooLarge).then(|| size(asked));
                let is_rule = *code == ErrorCode::DimensionNumbers;
                let rule = if is_rule { asked.broken_rule() } else { None };
                return self.refuse(*code, ErrorFields { bytes, rule, ..ErrorFields::default() });
            }
            if *code == ErrorCode::OutputTooLarge
                && asked.by_windows()
                && windowed::reads_nothing(asked, dims)
            {
                return Outcome::Unsupported("nothing to read".to_owned());
            }
            if *code == ErrorCode::IndexOutOfRange
                && let Some(at) = asked.refused(dims, indices)
            {
                return self.refuse(*code, (self.offence)(asked, dims, indices, at));
            }
        }
        self.gather(asked, dims, indices)
    }

    fn refuse(&self, code: ErrorCode, fields: ErrorFields) -> Outcome {
        let code = (self.code)(code);
        Outcome::Error(ReportedError { message: "refused".to_owned(), code, fields })
    }

    fn gather(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Outcome {
        let dtype = asked.roles.params.dtype();
        let shape = (self.output_shape)(dims);
        let empty = shape.contains(&0);
        if !empty && nonzero_bytes(&shape, dtype) > MOST_BYTES {
            return Outcome::Unsupported("larger than a model answers".to_owned());
        }
        let mut elements = Vec::new();
        if !empty {
            let params = (self.read_params)(&asked.roles.params);
            let picks = match asked.signature.form {
                Form::Take | Form::Nd => self.picks(asked, dims, indices),
                Form::Elements => self.element_picks(asked, dims, indices),
                Form::Window => self.window_picks(asked, dims, indices),
            };
            let picks = (self.arrange)(asked, dims, picks);
            let slice = 0..count(&dims.inner);
            let all = picks.iter().flat_map(|pick| slice.clone().map(move |at| (pick, at)));
            let element = |(pick, at): (&Pick, usize)| (self.element)(asked, dims, &params, *pick, at);
            elements.extend(all.map(element).map(|element| (self.moved)(dtype, element)));
            (self.finish)(asked, dims, &mut elements);
        }
        tensor(dtype, shape, elements)
            .map_or_else(|| Outcome::Unsupported("no such tensor".to_owned()), Outcome::Output)
    }

    /// The source of each slice of the output, by batch, mid position and row.
    fn picks(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Vec<Pick> {
        let rows = count(&dims.outer);
        let mut picks = Vec::new();
        for batch in 0..count(&dims.batch) {
            let coordinates: Vec<_> = (0..rows)
                .map(|row| {
                    let start = (batch * rows + row) * dims.depth;
                    let row = indices.get(start..start + dims.depth).unwrap_or_default();
                    (self.resolve)(asked, dims, row)
                })
                .collect();
            for mid in 0..count(&dims.mid) {
                let place =
                    |at: &Option<Vec<i128>>| at.as_ref().map(|at| (self.offset)(asked, dims, batch, mid, at));
                picks.extend(coordinates.iter().map(place));
            }
        }
        picks
    }

    /// Form elements: the source of each element of the output.
    fn element_picks(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Vec<Pick> {
        let pick = |at: usize| {
            let position = multi_index(at, &dims.outer);
            let index = indices.get((self.index_at)(asked, &position)).copied().unwrap_or(0);
            let at = (self.resolve)(asked, dims, &[index])?.first().copied()?;
            Some((self.origin)(asked, &position, at))
        };
        (0..count(&dims.outer)).map(pick).collect()
    }

    /// Form window: the source of each element of the output.
    fn window_picks(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Vec<Pick> {
        let rows = indices.len().checked_div(dims.depth).unwrap_or(0);
        let starts: Vec<_> = (0..rows)
            .map(|row| (self.resolve)(asked, dims, &indices[row * dims.depth..(row + 1) * dims.depth]))
            .collect();
        let pick = |at: usize| {
            let position = multi_index(at, &dims.outer);
            let starts = match starts.get((self.row)(asked, &position)) {
                Some(starts) => starts.clone()?,
                None => Vec::new(),
            };
            Some(windowed::origin(asked, &position, &starts))
        };
        (0..count(&dims.outer)).map(pick).collect()
    }
}

/// The checks, in order of precedence.
pub(super) const ORDER: [ErrorCode; 19] = [
    ErrorCode::ParamsDtype,
    ErrorCode::IndexDtype,
    ErrorCode::OperandDtype,
    ErrorCode::ModeUnknown,
    ErrorCode::AxisRequired,
    ErrorCode::ParamsRank,
    ErrorCode::IndicesRank,
    ErrorCode::OperandShape,
    ErrorCode::RankMismatch,
    ErrorCode::BatchDimsOutOfRange,
    ErrorCode::AxisOutOfRange,
    ErrorCode::AxisBeforeBatch,
    ErrorCode::DimensionNumbers,
    ErrorCode::SliceSizeOutOfRange,
    ErrorCode::BatchShapeMismatch,
    ErrorCode::JoinMismatch,
    ErrorCode::IndexDepth,
    ErrorCode::OutputTooLarge,
    ErrorCode::IndexOutOfRange,
];

/// A call with everything that its answer depends on.
pub(super) struct Asked<'a> {
    pub(super) model: &'a Model,
    pub(super) roles: &'a Roles<Tensor>,
    pub(super) signature: &'a Signature,
    pub(super) profile: Profile,
    /// What an index into an empty axis gives, if bad indices are not rejected.
    pub(super) empty_axis: EmptyAxis,
    pub(super) threads: usize,
    /// Cached by [`Asked::numbers`].
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

    /// Whether the last axis of indices holds the components of index rows.
    pub(super) const fn by_rows(&self) -> bool {
        match self.signature.form {
            Form::Take | Form::Elements | Form::Window => false,
            Form::Nd => true,
        }
    }

    /// Whether index rows are starts of windows.
    pub(super) const fn by_windows(&self) -> bool {
        matches!(self.signature.form, Form::Window)
    }

    /// The dimension numbers of a call of form window.
    pub(super) fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| (self.model.numbers)(self))
    }

    /// The first rule that a call of form window breaks.
    pub(super) fn broken_rule(&self) -> Option<DimensionRule> {
        DimensionRule::ALL.into_iter().find(|rule| (self.model.breaks)(*rule, self))
    }

    /// The number of components of an index row, if there are index rows.
    pub(super) fn components(&self) -> Option<usize> {
        self.indices().last().copied().filter(|_| self.by_rows())
    }

    /// The number of batch dims as sent, or its default.
    pub(super) fn given_batch(&self) -> i64 {
        given_batch(self.signature, self.roles)
    }

    /// The axis as sent, or its default; `None` if that is the number of batch dims.
    pub(super) fn given_axis(&self) -> Option<i64> {
        let default = self.signature.attribute(AttributeRole::Axis).map(|one| &one.default);
        match (self.roles.axis, default) {
            (Some(Axis::At(axis)), _) => Some(axis),
            (_, Some(AttributeDefault::Value(Attribute::Integer(value)))) => Some(*value),
            (_, Some(AttributeDefault::OnlyAxis)) => Some(0),
            _ => None,
        }
    }

    /// The number of batch dims, if it is in range; 0 for an operator without batches.
    pub(super) fn batch_dims(&self) -> Option<usize> {
        if self.signature.has_batch() { (self.model.batch_dims)(self) } else { Some(0) }
    }

    /// The number of batch dims, or 0 if it is out of range.
    pub(super) fn batch(&self) -> usize {
        self.batch_dims().unwrap_or(0)
    }

    /// Whether the operands join dim by dim.
    pub(super) const fn by_elements(&self) -> bool {
        matches!(self.signature.form, Form::Elements)
    }

    /// Whether indices without elements are exempt from the rules about their shape.
    pub(super) fn exempt(&self) -> bool {
        (self.model.exempt)(self)
    }

    /// The first gathered axis, counted from the start, if it is in range.
    pub(super) fn axis(&self) -> Option<usize> {
        let has_axis = self.signature.attribute(AttributeRole::Axis).is_some();
        if has_axis { (self.model.axis)(self) } else { axis(self) }
    }

    /// The coordinate that an index selects, if it is in range.
    pub(super) fn within(&self, index: i128, bound: usize) -> Option<i128> {
        (self.model.within)(self, index, bound)
    }

    /// Whether bad indices are rejected.
    pub(super) fn refuses(&self) -> bool {
        matches!(self.profile.bad, BadIndex::Error | BadIndex::Unspecified)
    }

    fn refused(&self, dims: &Dims, indices: &[i128]) -> Option<usize> {
        let refuses = self.refuses() || self.empty_axis == EmptyAxis::Error && dims.bounds.contains(&0);
        if refuses { (self.model.offender)(self, dims, indices) } else { None }
    }
}

/// The number of batch dims as sent, or its default.
pub(super) fn given_batch(signature: &Signature, roles: &Roles<Tensor>) -> i64 {
    let default = signature.attribute(AttributeRole::BatchDims).map(|one| &one.default);
    roles.batch_dims.unwrap_or(match default {
        Some(AttributeDefault::Value(Attribute::Integer(value))) => *value,
        _ => 0,
    })
}

/// The parts of both shapes: params has batch, mid, bounds and inner dims; indices has batch and outer dims and, for
/// index rows, the depth. In form elements, `bounds` holds the size of the axis, and `outer` the whole output shape.
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
