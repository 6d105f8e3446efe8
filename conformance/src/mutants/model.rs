//! A correct gather taken apart: every step is a field of [`Model`], so that a mutant replaces one and nothing else.
//!
//! The steps are total: whatever a mutant lets through, the next step goes on with something, and memory outside a
//! tensor reads as [`GARBAGE`].

use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{
    Attribute, BadIndex, Call, DType, Element, ErrorCode, ErrorFields, NegativeIndex, Outcome, Profile,
    ReportedError, Shape, Tensor, TensorBuilder,
};

use super::memory;

/// What lies in memory that nobody wrote.
pub(super) const GARBAGE: u128 = 0xA5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5_A5A5;

/// The most bytes that a model answers with.
const MOST_BYTES: u128 = 1 << 26;

/// Where a slice of the output comes from: its place in params, counted in elements; `None` if it is zero.
pub(super) type Pick = Option<i128>;

/// The steps of a gather.
pub(super) struct Model {
    /// The call as it is received.
    pub(super) received: fn(Call) -> Call,
    /// The policies that are followed.
    pub(super) policies: fn(Profile) -> Profile,
    /// What is checked, in this order.
    pub(super) order: &'static [ErrorCode],
    /// Whether a call deserves an error.
    pub(super) faulty: fn(ErrorCode, &Asked<'_>) -> bool,
    /// The batch dims, counted from the start, if they are in range.
    pub(super) batch_dims: fn(&Asked<'_>) -> Option<usize>,
    /// The first gathered axis, counted from the start, if it is in range.
    pub(super) axis: fn(&Asked<'_>) -> Option<usize>,
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

impl Model {
    /// The model without a mutation.
    pub(super) const fn correct() -> Self {
        Self {
            received: |call| call,
            policies: |profile| profile,
            order: &ErrorCode::ALL,
            faulty,
            batch_dims,
            axis,
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
            arrange: |_, _, picks| picks,
            element,
            moved: |_, element| element,
            finish: |_, _, _| (),
            code: Some,
        }
    }

    /// Answers a call.
    pub(super) fn answer(&self, call: &Call, profile: Profile, threads: usize) -> Outcome {
        let Some(rules) = Rules::of(call.operator.as_str()) else {
            return Outcome::Unsupported(format!("the operator `{}` is not modelled", call.operator));
        };
        let (call, profile) = ((self.received)(call.clone()), (self.policies)(profile));
        let asked = Asked { model: self, call: &call, rules, profile, threads };
        let dims = (self.dims)(&asked);
        let indices = (self.read_indices)(&call.indices);
        let value = |element| match element {
            Element::Bits(bits) => (self.index)(call.indices.dtype(), bits),
            Element::Bytes(_) => 0,
        };
        let indices: Vec<i128> = indices.into_iter().map(value).collect();
        for code in self.order {
            if (self.faulty)(*code, &asked) {
                let bytes = (*code == ErrorCode::OutputTooLarge).then(|| size(&asked));
                return self.refuse(*code, ErrorFields { bytes, ..ErrorFields::default() });
            }
            if *code == ErrorCode::IndexOutOfRange
                && let Some(at) = asked.refused(&dims, &indices)
            {
                return self.refuse(*code, (self.offence)(&asked, &dims, &indices, at));
            }
        }
        self.gather(&asked, &dims, &indices)
    }

    fn refuse(&self, code: ErrorCode, fields: ErrorFields) -> Outcome {
        let code = (self.code)(code);
        Outcome::Error(ReportedError { message: "refused".to_owned(), code, fields })
    }

    fn gather(&self, asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Outcome {
        let dtype = asked.call.params.dtype();
        let shape = (self.output_shape)(dims);
        let empty = shape.contains(&0);
        if !empty && nonzero_bytes(&shape, dtype) > MOST_BYTES {
            return Outcome::Unsupported("larger than a model answers".to_owned());
        }
        let mut elements = Vec::new();
        if !empty {
            let params = (self.read_params)(&asked.call.params);
            let picks = (self.arrange)(asked, dims, self.picks(asked, dims, indices));
            let slice = 0..count(&dims.inner);
            let all = picks.iter().flat_map(|pick| slice.clone().map(move |at| (pick, at)));
            let element = |(pick, at): (&Pick, usize)| (self.element)(asked, dims, &params, *pick, at);
            elements.extend(all.map(element).map(|element| (self.moved)(dtype, element)));
            (self.finish)(asked, dims, &mut elements);
        }
        tensor(dtype, shape, elements)
            .map_or_else(|| Outcome::Unsupported("no such tensor".to_owned()), Outcome::Output)
    }

    /// Where each slice of the output comes from: batch by batch, mid position by mid position, row by row.
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
}

/// What an operator's page says, as far as it matters here.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) name: &'static str,
    pub(super) params_dtypes: &'static [DType],
    pub(super) index_dtypes: &'static [DType],
    /// Whether the last axis of indices holds index rows, as in the `gather_nd` family.
    pub(super) by_rows: bool,
    least_indices_rank: usize,
}

/// The operators that are modelled.
pub(super) static RULES: [Rules; 4] = [
    Rules {
        name: "paddle.gather_nd",
        params_dtypes: &[DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64],
        index_dtypes: &[DType::I32, DType::I64],
        by_rows: true,
        least_indices_rank: 2,
    },
    Rules {
        name: "tf.gather",
        params_dtypes: &DType::ALL,
        index_dtypes: &[DType::I32, DType::I64],
        by_rows: false,
        least_indices_rank: 0,
    },
    Rules {
        name: "tf.gather_nd",
        params_dtypes: &DType::ALL,
        index_dtypes: &[DType::I32, DType::I64],
        by_rows: true,
        least_indices_rank: 1,
    },
    Rules {
        name: "tf.raw_ops.GatherNd",
        params_dtypes: &DType::ALL,
        index_dtypes: &[DType::I16, DType::I32, DType::I64],
        by_rows: true,
        least_indices_rank: 1,
    },
];

impl Rules {
    fn of(operator: &str) -> Option<Self> {
        RULES.iter().find(|rules| rules.name == operator).copied()
    }
}

/// A call, and under which circumstances it is answered.
pub(super) struct Asked<'a> {
    pub(super) model: &'a Model,
    pub(super) call: &'a Call,
    pub(super) rules: Rules,
    pub(super) profile: Profile,
    pub(super) threads: usize,
}

impl Asked<'_> {
    /// The shape of params.
    pub(super) fn params(&self) -> &[usize] {
        self.call.params.shape()
    }

    /// The shape of indices.
    pub(super) fn indices(&self) -> &[usize] {
        self.call.indices.shape()
    }

    /// An integer attribute, if it was sent.
    pub(super) fn given(&self, name: &str) -> Option<i64> {
        match self.call.attributes.get(name) {
            Some(Attribute::Integer(value)) => Some(*value),
            _ => None,
        }
    }

    /// The batch dims, 0 if they are out of range.
    pub(super) fn batch(&self) -> usize {
        (self.model.batch_dims)(self).unwrap_or(0)
    }

    /// Where an index points, if it is in range.
    pub(super) fn within(&self, index: i128, bound: usize) -> Option<i128> {
        (self.model.within)(self, index, bound)
    }

    /// Whether bad indices are refused.
    pub(super) fn refuses(&self) -> bool {
        matches!(self.profile.bad_index, BadIndex::Error | BadIndex::Unspecified)
    }

    fn refused(&self, dims: &Dims, indices: &[i128]) -> Option<usize> {
        if self.refuses() { (self.model.offender)(self, dims, indices) } else { None }
    }
}

/// The parts of both shapes: params is batch, mid, bounds, inner; indices is batch, outer and, of rows, the depth.
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

/// The product of dims, 2^63 and more for any that is larger.
pub(super) fn count(dims: &[usize]) -> usize {
    if dims.contains(&0) { 0 } else { dims.iter().fold(1, |count, dim| count.saturating_mul(*dim)) }
}

/// A tensor of some elements, if there are as many as its shape says.
pub(super) fn tensor(dtype: DType, shape: Vec<usize>, elements: Vec<Element>) -> Option<Tensor> {
    let mut tensor = TensorBuilder::new(dtype, Shape::new(shape).ok()?).ok()?;
    elements.into_iter().for_each(|element| tensor.push(element));
    tensor.finish().ok()
}

/// Counts from the end where the value is negative.
pub(super) fn from_start(value: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let value = if value < 0 { value.checked_add(rank)? } else { value };
    usize::try_from(value).ok()
}

/// The right answer to whether a call deserves an error.
pub(super) fn faulty(code: ErrorCode, asked: &Asked<'_>) -> bool {
    let (params, indices, rules) = (asked.params(), asked.indices(), asked.rules);
    let batch = asked.batch();
    match code {
        ErrorCode::ParamsDtype => !rules.params_dtypes.contains(&asked.call.params.dtype()),
        ErrorCode::IndexDtype => !rules.index_dtypes.contains(&asked.call.indices.dtype()),
        ErrorCode::ParamsRank => !rules.by_rows && params.is_empty(),
        ErrorCode::IndicesRank => indices.len() < rules.least_indices_rank,
        ErrorCode::BatchDimsOutOfRange => (asked.model.batch_dims)(asked).is_none(),
        ErrorCode::AxisOutOfRange => (asked.model.axis)(asked).is_none(),
        ErrorCode::AxisBeforeBatch => (asked.model.axis)(asked).is_some_and(|axis| axis < batch),
        ErrorCode::BatchShapeMismatch => params.get(..batch) != indices.get(..batch),
        ErrorCode::IndexDepthExceedsRank => {
            let depth = indices.last().copied().unwrap_or(0);
            rules.by_rows && batch.saturating_add(depth) > params.len()
        }
        ErrorCode::OutputTooLarge => size(asked) > MAX_BYTES,
        _ => false,
    }
}

/// The size of the output that is held against the limit.
fn size(asked: &Asked<'_>) -> u128 {
    let shape = (asked.model.output_shape)(&(asked.model.dims)(asked));
    (asked.model.bytes)(&shape, asked.call.params.dtype())
}

/// The right batch dims.
pub(super) fn batch_dims(asked: &Asked<'_>) -> Option<usize> {
    let given = asked.given("batch_dims").unwrap_or(0);
    let rank = asked.indices().len();
    if asked.rules.by_rows {
        let most = asked.params().len().min(rank.saturating_sub(1));
        usize::try_from(given).ok().filter(|batch| *batch <= most)
    } else {
        from_start(given, rank).filter(|batch| *batch <= rank)
    }
}

/// The right axis.
pub(super) fn axis(asked: &Asked<'_>) -> Option<usize> {
    if asked.rules.by_rows {
        return Some(asked.batch());
    }
    let rank = asked.params().len();
    let axis = asked.given("axis").map_or_else(|| Some(asked.batch()), |axis| from_start(axis, rank));
    axis.filter(|axis| *axis < rank)
}

/// The right parts of the shapes.
pub(super) fn dims(asked: &Asked<'_>) -> Dims {
    let (params, indices) = (asked.params(), asked.indices());
    let (outer, depth) = match (asked.rules.by_rows, indices.split_last()) {
        (true, Some((depth, rows))) => (rows, *depth),
        (true, None) => (indices, 0),
        (false, _) => (indices, 1),
    };
    let batch = asked.batch().min(params.len()).min(outer.len());
    let start = (asked.model.axis)(asked).unwrap_or(batch).clamp(batch, params.len());
    let end = start.saturating_add(depth).min(params.len());
    Dims {
        batch: outer[..batch].to_vec(),
        mid: params[batch..start].to_vec(),
        bounds: params[start..end].to_vec(),
        inner: params[end..].to_vec(),
        outer: outer[batch..].to_vec(),
        depth,
    }
}

/// The right shape of the output.
pub(super) fn output_shape(dims: &Dims) -> Vec<usize> {
    [&*dims.batch, &dims.mid, &dims.outer, &dims.inner].concat()
}

/// The right value of an index.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the bits of an index are as wide as its dtype"
)]
pub(super) fn index(dtype: DType, bits: u128) -> i128 {
    match dtype {
        DType::I8 => (bits as i8).into(),
        DType::I16 => (bits as i16).into(),
        DType::I32 => (bits as i32).into(),
        DType::I64 => (bits as i64).into(),
        _ => bits as i128,
    }
}

/// The right bounds check.
pub(super) fn within(asked: &Asked<'_>, index: i128, bound: usize) -> Option<i128> {
    let wraps = asked.profile.negative_index == NegativeIndex::Wrap;
    let at = if wraps && index < 0 { index + bound as i128 } else { index };
    (0..bound as i128).contains(&at).then_some(at)
}

/// The component of each index value, with its bound.
pub(super) fn bound_of(dims: &Dims, at: usize) -> usize {
    dims.bounds.get(at % dims.depth.max(1)).copied().unwrap_or(1)
}

/// The right choice of the index that an error names: the first bad one.
pub(super) fn offender(asked: &Asked<'_>, dims: &Dims, indices: &[i128]) -> Option<usize> {
    (0..indices.len()).find(|at| asked.within(indices[*at], bound_of(dims, *at)).is_none())
}

/// What an error rightly says.
pub(super) fn offence(asked: &Asked<'_>, dims: &Dims, indices: &[i128], at: usize) -> ErrorFields {
    let (shape, depth) = (asked.indices(), dims.depth.max(1));
    let (rows, component) = match shape.split_last() {
        Some((_, rows)) if asked.rules.by_rows => (rows, Some(at % depth)),
        _ => (shape, None),
    };
    ErrorFields {
        position: Some(multi_index(at / depth, rows)),
        component,
        index: Some(indices[at]),
        bound: Some(bound_of(dims, at)),
        bytes: None,
    }
}

/// The multi-index of a place in row-major order.
pub(super) fn multi_index(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (coordinate, dim) in position.iter_mut().zip(shape).rev() {
        *coordinate = at % dim;
        at /= dim;
    }
    position
}

/// The right coordinates: a bad component makes the whole slice zero, or is moved to the nearer end of its axis.
pub(super) fn resolve(asked: &Asked<'_>, dims: &Dims, row: &[i128]) -> Option<Vec<i128>> {
    let coordinate = |(index, bound): (&i128, &usize)| match asked.within(*index, *bound) {
        None if asked.profile.bad_index == BadIndex::Clamp && *bound > 0 => {
            Some((*index).clamp(0, *bound as i128 - 1))
        }
        at => at,
    };
    row.iter().zip(&dims.bounds).map(coordinate).collect()
}

/// The right place of a slice in params.
pub(super) fn offset(_: &Asked<'_>, dims: &Dims, batch: usize, mid: usize, at: &[i128]) -> i128 {
    let start = (batch * count(&dims.mid) + mid) as i128;
    let flat = at.iter().zip(&dims.bounds).fold(start, |flat, (at, bound)| flat * *bound as i128 + at);
    flat * count(&dims.inner) as i128
}

/// The right element of a slice.
pub(super) fn element(asked: &Asked<'_>, _: &Dims, params: &[Element], pick: Pick, at: usize) -> Element {
    let dtype = asked.call.params.dtype();
    match pick {
        None => Element::zero(dtype),
        Some(start) => usize::try_from(start + at as i128)
            .ok()
            .and_then(|at| params.get(at))
            .map_or_else(|| memory::garbage(dtype), Element::clone),
    }
}
