//! Draws calls at hundreds of thousands a second: tensors are windows on shared elements, and nearly all are tiny.

use gather_spec::tensor::Stored;
use gather_spec::{Attribute, Attributes, Call, DType, Operator, Shape, Tensor, TensorError};

use super::Choices;
use super::palette::{LENGTH, Palettes, Style};
use super::sizes::{Size, dims, elements, fit};
use crate::backend::Description;
use crate::layout::Layout;

/// Draws calls that a backend declares, and now and then one that it does not.
#[derive(Debug)]
pub struct Maker {
    menu: Vec<Dish>,
    palettes: Palettes,
}

/// A call that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operator}: {error}")]
pub struct Unmade {
    /// Its operator.
    pub operator: Operator,
    /// Why a tensor of it cannot be made.
    pub error: TensorError,
}

/// An operator with the dtypes that a backend declares.
#[derive(Clone, Debug)]
struct Dish {
    operator: Operator,
    family: Family,
    dtypes: Vec<DType>,
    index_dtypes: Vec<DType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Rows { batched: bool },
    OneAxis,
}

/// The parts of a call before there are tensors.
struct Plan {
    params: Vec<usize>,
    indices: Vec<usize>,
    attributes: Attributes,
    /// The bound of each component of a row.
    bounds: Vec<usize>,
}

impl Maker {
    /// Calls for a backend of this description.
    #[must_use]
    pub fn new(description: &Description) -> Self {
        let dish = |(name, capability): (&String, &crate::backend::Capability)| Dish {
            operator: Operator::new(name.as_str()),
            family: match name.as_str() {
                "tf.gather" => Family::OneAxis,
                name => Family::Rows { batched: name == "tf.gather_nd" },
            },
            dtypes: capability.dtypes.clone(),
            index_dtypes: capability.index_dtypes.clone(),
        };
        Self { menu: description.operators.iter().map(dish).collect(), palettes: Palettes::new() }
    }

    /// A call, following from the choices; `None` if the backend declares no operator.
    ///
    /// # Errors
    /// [`Unmade`] if its tensors are too large, or memory is short.
    ///
    /// ```
    /// use gather_conformance::generate::{Choices, Maker};
    /// use gather_conformance::{Backend, builtin};
    /// let reference = builtin::backend("reference", Default::default(), builtin::MAX_OUTPUT).unwrap();
    /// let call = Maker::new(&reference.describe()).call(&mut Choices::from_draws(vec![]))?.unwrap();
    /// assert_eq!(call.operator.as_str(), "paddle.gather_nd");
    /// # Ok::<(), gather_conformance::generate::Unmade>(())
    /// ```
    pub fn call(&self, choices: &mut Choices) -> Result<Option<Call>, Unmade> {
        if self.menu.is_empty() {
            return Ok(None);
        }
        let dish = &self.menu[choices.below(self.menu.len())];
        let size = Size::draw(choices);
        let plan = match dish.family {
            Family::OneAxis => one_axis(choices, size),
            Family::Rows { batched } => by_rows(choices, size, batched),
        };
        let dtype = listed_or_any(choices, &dish.dtypes);
        let index_dtype = listed_or_any(choices, &dish.index_dtypes);
        let unmade = |error| Unmade { operator: dish.operator.clone(), error };
        let params = self.params(dtype, plan.params, choices).map_err(unmade)?;
        let indices = index_tensor(index_dtype, plan.indices, &plan.bounds, choices).map_err(unmade)?;
        Ok(Some(Call { operator: dish.operator.clone(), params, indices, attributes: plan.attributes }))
    }

    /// A window on a palette, in some layout.
    fn params(&self, dtype: DType, dims: Vec<usize>, choices: &mut Choices) -> Result<Tensor, TensorError> {
        let style = choices.pick(&[Style::Counted, Style::Painted, Style::Odd, Style::Painted]);
        let strided = choices.once_in(4);
        let shape = Shape::new(dims)?;
        let (strides, offset) =
            if strided { layout(&shape, choices) } else { (shape.row_major_strides(), 0) };
        Tensor::strided(dtype, shape, strides, offset, self.palettes.get(dtype, style))
    }
}

/// Strides and an offset that stay within a palette.
fn layout(shape: &Shape, choices: &mut Choices) -> (Vec<isize>, usize) {
    let count = shape.element_count();
    let row_major = shape.row_major_strides();
    match choices.below(5) {
        1 if count > 0 => (row_major.iter().map(|stride| -stride).collect(), count - 1),
        2 => {
            let mut stride: isize = 1;
            let each = shape.iter().map(|dim| {
                let this = stride;
                stride = stride.saturating_mul((*dim).max(1).cast_signed());
                this
            });
            (each.collect(), 0)
        }
        // One more element after each row, and some before the first.
        3 if count < LENGTH / 8 => {
            let mut stride: isize = 1;
            let mut strides = row_major;
            for (at, dim) in shape.iter().enumerate().rev() {
                strides[at] = stride;
                stride = stride.saturating_mul((dim + usize::from(*dim < 64)).cast_signed());
            }
            if stride < LENGTH.cast_signed() - 3 { (strides, 3) } else { (shape.row_major_strides(), 3) }
        }
        4 if shape.rank() > 0 => {
            let at = choices.below(shape.rank());
            let mut strides = row_major;
            strides[at] = 0;
            (strides, 0)
        }
        _ => (row_major, 0),
    }
}

/// Nearly always one of the dtypes that are declared.
fn listed_or_any(choices: &mut Choices, listed: &[DType]) -> DType {
    if listed.is_empty() || choices.once_in(40) { choices.pick(&DType::ALL) } else { choices.pick(listed) }
}

fn by_rows(choices: &mut Choices, size: Size, batched: bool) -> Plan {
    let mut params = dims(choices, size, 4);
    let batch = if batched { choices.below(params.len().min(3) + 1) } else { 0 };
    let depth = choices.below(params.len() - batch + 1);
    let depth = params.len() - batch - depth;
    let mut indices = params[..batch].to_vec();
    indices.extend(dims(choices, size, 2));
    fit(&mut indices, batch, size.output_elements() / elements(&params[batch + depth..]));
    indices.push(depth);
    disturb(choices, &mut params, &mut indices);
    let mut attributes = Attributes::new();
    if batch > 0 || (batched && choices.once_in(4)) {
        attributes.insert("batch_dims".to_owned(), integer(batch.cast_signed(), choices));
    }
    let bounds = (0..depth).map(|at| params.get(batch + at).copied().unwrap_or(1)).collect();
    Plan { params, indices, attributes, bounds }
}

fn one_axis(choices: &mut Choices, size: Size) -> Plan {
    let mut params = dims(choices, size, 4);
    if params.is_empty() && !choices.once_in(8) {
        params.push(3);
    }
    let axis = choices.below(params.len());
    let batch = choices.below(axis + 1);
    let mut indices = params[..batch].to_vec();
    indices.extend(dims(choices, size, 2));
    let others = elements(&params[batch..]) / params.get(axis).unwrap_or(&1).max(&1);
    fit(&mut indices, batch, size.output_elements() / others);
    let mut attributes = Attributes::new();
    if batch > 0 || choices.once_in(4) {
        let from_end = !indices.is_empty() && choices.once_in(3);
        let rank = if from_end { indices.len().cast_signed() } else { 0 };
        attributes.insert("batch_dims".to_owned(), integer(batch.cast_signed() - rank, choices));
    }
    if axis != batch || choices.once_in(4) {
        let rank = if choices.once_in(3) { params.len().cast_signed() } else { 0 };
        attributes.insert("axis".to_owned(), integer(axis.cast_signed() - rank, choices));
    }
    if choices.once_in(16) {
        attributes.insert("validate_indices".to_owned(), Attribute::Boolean(choices.once_in(2)));
    }
    let bounds = vec![params.get(axis).copied().unwrap_or(1)];
    disturb(choices, &mut params, &mut indices);
    Plan { params, indices, attributes, bounds }
}

/// Sometimes changes one dim, which may break a rule between the shapes; beside a dim of zero sometimes to a huge one.
fn disturb(choices: &mut Choices, params: &mut [usize], indices: &mut [usize]) {
    if !choices.once_in(12) {
        return;
    }
    let dims = if choices.once_in(2) { params } else { indices };
    if dims.is_empty() {
        return;
    }
    let at = choices.below(dims.len());
    let has_zero = dims.iter().enumerate().any(|(other, dim)| other != at && *dim == 0);
    dims[at] = match choices.below(5) {
        4 if has_zero => choices.pick(&[1 << 40, 1 << 58, (1 << 33) + 1]),
        4 => 1,
        small => small,
    };
}

/// An attribute that is sometimes out of any range.
fn integer(value: isize, choices: &mut Choices) -> Attribute {
    let odd = choices.once_in(24);
    Attribute::Integer(if odd { choices.pick(&[-1, 1, 9, -9, i64::MAX, i64::MIN]) } else { value as i64 })
}

/// Indices of which some are negative or too large, if they are to be; runs and repetitions among the good ones.
fn index_tensor(
    dtype: DType,
    dims: Vec<usize>,
    bounds: &[usize],
    choices: &mut Choices,
) -> Result<Tensor, TensorError> {
    let shape = Shape::new(dims)?;
    let bad_in = choices.pick(&[0, 0, 0, 0, 16, 4]);
    let style = choices.below(4);
    let layout = choices.below(12);
    // The values come last, a draw or more for each: fewer rows leave all other draws what they were.
    let values = (0..shape.element_count()).map(|at| {
        let bound = bounds.get(at % bounds.len().max(1)).copied().unwrap_or(1);
        value(choices, at / bounds.len().max(1), bound, style, bad_in)
    });
    let tensor = stored(dtype, shape, values)?;
    match layout {
        at @ 8.. => Layout::ALL[at - 7].tensor(&tensor),
        _ => Ok(tensor),
    }
}

fn value(choices: &mut Choices, row: usize, bound: usize, style: usize, bad_in: usize) -> i64 {
    let signed = i64::try_from(bound).unwrap_or(i64::MAX);
    if bad_in > 0 && choices.once_in(bad_in) {
        // A good index, if only the lower half is read.
        let low = 1 << 32 | i64::try_from(choices.below(bound)).unwrap_or(0);
        let far = [signed, -1, -signed, -signed - 1, signed + 1, 1 << 31, low, i64::MAX, i64::MIN];
        return choices.pick(&far);
    }
    let good = match style {
        0 => choices.below(bound),
        1 => row % bound.max(1),
        2 => 0,
        _ => bound.saturating_sub(1 + choices.below(2).min(bound.saturating_sub(1))),
    };
    i64::try_from(good).unwrap_or(0)
}

/// A row-major tensor of any dtype from integers, cut to its width.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the values are cut to the width")]
fn stored(dtype: DType, shape: Shape, values: impl Iterator<Item = i64>) -> Result<Tensor, TensorError> {
    let strides = shape.row_major_strides();
    let elements = match dtype {
        DType::String => gather_spec::ByteString::store(values.map(|v| v.to_string().into()).collect()),
        _ => match dtype.size() {
            1 => u8::store(values.map(|value| value as u8).collect()),
            2 => u16::store(values.map(|value| value as u16).collect()),
            4 => u32::store(values.map(|value| value as u32).collect()),
            8 => u64::store(values.map(|value| value as u64).collect()),
            _ => u128::store(values.map(|value| value as u128).collect()),
        },
    };
    Tensor::strided(dtype, shape, strides, 0, elements)
}
