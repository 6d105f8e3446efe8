//! A correct gather in steps. Every step is a field of [`Model`], so a mutant replaces one step and nothing else; pictures
//! and what campaigns expect beyond the reference ask the model, too.
//!
//! `steps` holds the right steps, and `windowed` those of form window, which work on what `asked` and
//! `positions` hold; `memory` reads tensors, and `places` says what a call moves where. Every step is total:
//! it must accept any input that a mutated earlier step lets through. Reads outside a tensor give `GARBAGE`.

mod call;
pub mod memory;
pub mod places;
mod positions;
mod steps;
pub mod windowed;

use std::cell::OnceCell;

use gather_spec::shape::nonzero_bytes;
use gather_spec::signature::Misfit;
use gather_spec::{
    Call, Element, EmptyAxis, ErrorCode, ErrorFields, Form, Outcome, Profile, ReportedError, Signature,
};

pub use call::{Model, ModelCall, ShapeParts, SliceSource, given_batch, place};
pub use positions::{count, from_start, multi_index, row_major, row_major_signed, tensor};
pub use steps::{
    axis, batch_dims, bound_of, dims, element, exempt, faulty, filler, fits, flatten, index, index_at,
    offence, offender, offset, origin, output_shape, resolve, size, within,
};

/// The largest output that a model computes, in bytes.
const MOST_BYTES: u128 = 1 << 26;

/// The model without a mutation. All other models are copies of it, so that unchanged steps compare equal.
pub static CORRECT: Model = Model::correct();

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
            read_params: memory::read,
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
    pub const fn take_over_unused(&mut self, form: Form, other: &Self) {
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
    pub fn is_wrong_for(&self, form: Form) -> bool {
        let mut used = *self;
        used.take_over_unused(form, &CORRECT);
        used != CORRECT
    }

    /// Whether answers may depend on how tensors lie in memory: whether a step that sees stored tensors is not the right one.
    pub fn depends_on_layout(&self) -> bool {
        let mut right = CORRECT;
        (right.received, right.flatten, right.numbers) = (self.received, self.flatten, self.numbers);
        (right.read_params, right.read_indices) = (self.read_params, self.read_indices);
        right != CORRECT
    }

    /// Answers a call of the signature's operator.
    pub fn answer(&self, signature: &Signature, call: &Call, profile: Profile, threads: usize) -> Outcome {
        self.look(signature, call, profile, threads, |call, dims, indices| self.outcome(call, dims, indices))
            .unwrap_or_else(|foreign| Outcome::Unsupported(foreign.to_string()))
    }

    /// Splits a call into its parts and passes them, with the index values, to a function.
    pub fn look<T>(
        &self,
        signature: &Signature,
        call: &Call,
        profile: Profile,
        threads: usize,
        then: impl FnOnce(&ModelCall<'_>, &ShapeParts, &[i128]) -> T,
    ) -> Result<T, Misfit> {
        let sent = signature.roles(call)?.cloned();
        let received = (self.received)(signature, sent);
        let mode = (self.mode)(signature, &received);
        let profile = (self.policies)(mode.map_or(profile, |mode| mode.profile));
        let empty_axis = mode.map_or(EmptyAxis::Zero, |mode| (self.empty_axis)(mode.empty_axis));
        let sent_indices = received.indices.shape().to_vec();
        let roles = (self.flatten)(signature, received);
        let call = ModelCall {
            model: self,
            roles: &roles,
            sent_indices: &sent_indices,
            signature,
            profile,
            empty_axis,
            threads,
            numbers: OnceCell::new(),
        };
        let dims = (self.dims)(&call);
        let indices = (self.read_indices)(&roles.indices);
        let value = |element| match element {
            Element::Bits(bits) => (self.index)(roles.indices.dtype(), bits),
            Element::Bytes(_) => 0,
        };
        let mut indices: Vec<i128> = indices.into_iter().map(value).collect();
        if call.by_windows() {
            indices = (self.rows)(&call, indices);
        }
        Ok(then(&call, &dims, &indices))
    }

    fn outcome(&self, call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Outcome {
        for code in self.order {
            if (self.faulty)(*code, call) {
                let bytes = (*code == ErrorCode::OutputTooLarge).then(|| size(call));
                let is_rule = *code == ErrorCode::DimensionNumbers;
                let rule = if is_rule { call.broken_rule() } else { None };
                return self.refuse(*code, ErrorFields { bytes, rule, ..ErrorFields::default() });
            }
            if *code == ErrorCode::OutputTooLarge && call.by_windows() && windowed::reads_nothing(call, dims)
            {
                return Outcome::Unsupported("nothing to read".to_owned());
            }
            if *code == ErrorCode::IndexOutOfRange
                && let Some(at) = call.refused(dims, indices)
            {
                return self.refuse(*code, (self.offence)(call, dims, indices, at));
            }
        }
        self.gather(call, dims, indices)
    }

    fn refuse(&self, code: ErrorCode, fields: ErrorFields) -> Outcome {
        let code = (self.code)(code);
        Outcome::Error(ReportedError { message: "refused".to_owned(), code, fields })
    }

    fn gather(&self, call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Outcome {
        let dtype = call.roles.params.dtype();
        let shape = (self.output_shape)(dims);
        let empty = shape.contains(&0);
        if !empty && nonzero_bytes(&shape, dtype) > MOST_BYTES {
            return Outcome::Unsupported("larger than a model answers".to_owned());
        }
        let mut elements = Vec::new();
        if !empty {
            let params = (self.read_params)(&call.roles.params);
            let picks = match call.signature.form {
                Form::Take | Form::Nd => self.picks(call, dims, indices),
                Form::Elements => self.element_picks(call, dims, indices),
                Form::Window => self.window_picks(call, dims, indices),
            };
            let picks = (self.arrange)(call, dims, picks);
            let slice = 0..count(&dims.inner);
            let all = picks.iter().flat_map(|pick| slice.clone().map(move |at| (pick, at)));
            let element = |(pick, at): (&SliceSource, usize)| (self.element)(call, dims, &params, *pick, at);
            elements.extend(all.map(element).map(|element| (self.moved)(dtype, element)));
            (self.finish)(call, dims, &mut elements);
        }
        tensor(dtype, shape, elements)
            .map_or_else(|| Outcome::Unsupported("no such tensor".to_owned()), Outcome::Output)
    }

    /// The source of each slice of the output, by batch, mid position and row.
    fn picks(&self, call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Vec<SliceSource> {
        let rows = count(&dims.outer);
        let mut picks = Vec::new();
        for batch in 0..count(&dims.batch) {
            let coordinates: Vec<_> = (0..rows)
                .map(|row| {
                    let start = (batch * rows + row) * dims.depth;
                    let row = indices.get(start..start + dims.depth).unwrap_or_default();
                    (self.resolve)(call, dims, row)
                })
                .collect();
            for mid in 0..count(&dims.mid) {
                let place =
                    |at: &Option<Vec<i128>>| at.as_ref().map(|at| (self.offset)(call, dims, batch, mid, at));
                picks.extend(coordinates.iter().map(place));
            }
        }
        picks
    }

    /// Form elements: the source of each element of the output.
    fn element_picks(&self, call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Vec<SliceSource> {
        let pick = |at: usize| {
            let position = multi_index(at, &dims.outer);
            let index = indices.get((self.index_at)(call, &position)).copied().unwrap_or(0);
            let at = (self.resolve)(call, dims, &[index])?.first().copied()?;
            Some((self.origin)(call, &position, at))
        };
        (0..count(&dims.outer)).map(pick).collect()
    }

    /// Form window: the source of each element of the output.
    fn window_picks(&self, call: &ModelCall<'_>, dims: &ShapeParts, indices: &[i128]) -> Vec<SliceSource> {
        let rows = indices.len().checked_div(dims.depth).unwrap_or(0);
        let starts: Vec<_> = (0..rows)
            .map(|row| (self.resolve)(call, dims, &indices[row * dims.depth..(row + 1) * dims.depth]))
            .collect();
        let pick = |at: usize| {
            let position = multi_index(at, &dims.outer);
            let starts = match starts.get((self.row)(call, &position)) {
                Some(starts) => starts.clone()?,
                None => Vec::new(),
            };
            Some(windowed::origin(call, &position, &starts))
        };
        (0..count(&dims.outer)).map(pick).collect()
    }
}

/// The answer of the model without a mutation.
pub fn answer(signature: &Signature, call: &Call, profile: Profile) -> Outcome {
    CORRECT.answer(signature, call, profile, 1)
}

/// The checks, in order of precedence.
pub const ORDER: [ErrorCode; 20] = [
    ErrorCode::ParamsDtype,
    ErrorCode::IndexDtype,
    ErrorCode::OperandDtype,
    ErrorCode::ModeUnknown,
    ErrorCode::AxisRequired,
    ErrorCode::ParamsRank,
    ErrorCode::IndicesRank,
    ErrorCode::OperandShape,
    ErrorCode::RankMismatch,
    ErrorCode::EmptyDim,
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
