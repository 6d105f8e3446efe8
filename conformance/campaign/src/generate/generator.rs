//! Draws calls, hundreds of thousands per second: nearly all are tiny, and tensors are views of shared elements.

use gather_spec::signature::{AttributeDefault, AttributeRole, AttributeType, OperandRole};
use gather_spec::{
    Attribute, Attributes, Call, DType, Form, Operator, Roles, Shape, Signature, Signatures, Tensor,
    TensorError,
};

use super::faults::integer;
use super::parts::{CallShapes, ShapeRequirements, from_end};
use super::shared::{LENGTH, SharedElements, Style};
use super::sizes::SizeClass;
use super::stored::{in_layout, stored};
use super::values::{Regular, Values};
use super::windows::{WindowRequirements, WindowShapes};
use super::{ChoiceSequence, attribute_operands, far, fills, paint, right};
use gather_conformance::backend::{Capability, Description};
use gather_conformance::internals::shapes::default_of;

/// The most faults of a far call. With two faults, the call tests which one is reported.
const MOST_FAULTS: usize = 4;

/// One in this many attributes is out of range.
const ODDS: usize = 24;

/// In a long campaign, one in this many calls has a size at which kernels switch between code paths. That is
/// enough of them, and does not slow the campaign down.
pub const EDGES_IN: usize = 1024;

/// Draws calls that a backend declares, and now and then one that it does not.
#[derive(Debug)]
pub struct CallGenerator {
    declared: Vec<(Signature, Capability)>,
    shared: SharedElements,
    wide: bool,
    edges_in: Option<usize>,
}

/// An error: a tensor of a drawn call cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operator}: {error}")]
pub struct DrawError {
    /// The operator of the call.
    pub operator: Operator,
    /// Why the tensor cannot be made.
    pub error: TensorError,
}

impl CallGenerator {
    /// A generator for the operators that a backend declares and that have a signature.
    #[must_use]
    pub fn new(description: &Description, signatures: &Signatures) -> Self {
        let known = |(name, capability): (&String, &Capability)| {
            Some((signatures.get(name)?.clone(), capability.with_extensions()))
        };
        let declared = description.operators.iter().filter_map(known).collect();
        Self { declared, shared: SharedElements, wide: false, edges_in: Some(EDGES_IN) }
    }

    /// Draws calls with higher ranks and larger dims, for tests that can take their time.
    #[must_use]
    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }

    /// Draws one call in `edges_in` at a size at which kernels switch between code paths.
    #[must_use]
    pub fn edges_in(self, edges_in: usize) -> Self {
        Self { edges_in: Some(edges_in), ..self }
    }

    /// Draws no such calls, for tests that answer each call hundreds of times.
    #[must_use]
    pub fn without_edges(self) -> Self {
        Self { edges_in: None, ..self }
    }

    /// Draws a call; `None` if the backend declares no known operator.
    ///
    /// # Errors
    /// [`DrawError`] if its tensors are too large, or memory is short.
    ///
    /// ```
    /// use gather_campaign::generate::{ChoiceSequence, CallGenerator};
    /// use gather_conformance::{Backend, builtin};
    /// let reference = builtin::backend("reference", builtin::Policies::default(), 1 << 20).unwrap();
    /// let signatures: gather_spec::Signatures = gather_spec::load::operators().unwrap().into_iter().collect();
    /// let generator = CallGenerator::new(&reference.describe(), &signatures);
    /// let call = generator.call(&mut ChoiceSequence::from_draws(vec![]))?.unwrap();
    /// assert!(signatures.get(call.operator.as_str()).is_some());
    /// # Ok::<(), gather_campaign::generate::DrawError>(())
    /// ```
    pub fn call(&self, choices: &mut ChoiceSequence) -> Result<Option<Call>, DrawError> {
        let size = |choices: &mut ChoiceSequence| match self.wide {
            true => SizeClass::Wide,
            false => SizeClass::draw(choices, self.edges_in),
        };
        self.call_of(choices, size)
    }

    /// Draws a call far from the usual ones: more rows, longer axes, higher ranks, or sizes that only an empty output can
    /// have.
    ///
    /// # Errors
    /// As for [`CallGenerator::call`].
    pub fn far_call(&self, choices: &mut ChoiceSequence) -> Result<Option<Call>, DrawError> {
        self.call_of(choices, |_| SizeClass::Far)
    }

    fn call_of(
        &self,
        choices: &mut ChoiceSequence,
        size: impl FnOnce(&mut ChoiceSequence) -> SizeClass,
    ) -> Result<Option<Call>, DrawError> {
        if self.declared.is_empty() {
            return Ok(None);
        }
        let (signature, capability) = &self.declared[choices.below(self.declared.len())];
        let size = size(choices);
        if signature.form == Form::Window {
            let draw_error = |error| DrawError { operator: signature.operator.clone(), error };
            return self.windows(choices, signature, capability, size).map(Some).map_err(draw_error);
        }
        let (mut parts, faults) = match size {
            SizeClass::Far => (far::draw(choices, signature), choices.pick(&[0, MOST_FAULTS])),
            // No faults: without a component, or on another axis, a slice would be as long as the axis.
            SizeClass::Edge => (right::parts(choices, signature, &ShapeRequirements::of_size(size)), 0),
            _ => (right::parts(choices, signature, &ShapeRequirements::of_size(size)), 1),
        };
        let odds = match size {
            SizeClass::Edge => usize::MAX,
            _ if faults == MOST_FAULTS => ODDS / MOST_FAULTS,
            _ => ODDS,
        };
        let (batch_dims, axis) = attributes(choices, signature, &parts, odds);
        let mut axis = parts.flatten(choices, signature, size, axis);
        let mode = mode(choices, signature, size, odds);
        let ignored = ignored(choices, signature);
        (0..faults).for_each(|_| parts.disturb(choices, signature));
        let dtype = listed_or_any(choices, &capability.dtypes);
        let index_dtype = listed_or_any(choices, &capability.index_dtypes);
        let draw_error = |error| DrawError { operator: signature.operator.clone(), error };
        let params = self.params(dtype, parts.params, size, choices).map_err(draw_error)?;
        // A fault may have removed axes.
        let dims = params.shape();
        let flat = [dims.element_count()];
        let bounds = match parts.flat {
            true => &flat,
            false => &dims[parts.axis.min(dims.len())..(parts.axis + parts.depth).min(dims.len())],
        };
        let make = if size == SizeClass::Edge { regular_indices } else { index_tensor };
        let indices = make(index_dtype, parts.indices, bounds, choices).map_err(draw_error)?;
        let fill_value = self.fill_value(choices, signature, dtype).map_err(draw_error)?;
        let other = attribute_operands::axis(choices, signature, &mut axis).map_err(draw_error)?;
        let roles =
            Roles { axis, batch_dims, mode, fill_value, other, ignored, ..Roles::new(params, indices) };
        Ok(Some(signature.spell(roles)))
    }

    /// Draws a call of form window. One in four has a fault.
    fn windows(
        &self,
        choices: &mut ChoiceSequence,
        signature: &Signature,
        capability: &Capability,
        size: SizeClass,
    ) -> Result<Call, TensorError> {
        let mut windows = match size {
            SizeClass::Far => WindowShapes::far(choices, signature),
            _ => WindowShapes::draw(
                choices,
                signature,
                &WindowRequirements { batching: (0, 2), some: false, size },
            ),
        };
        let mode = mode(choices, signature, size, ODDS);
        let ignored = ignored(choices, signature);
        let dtype = listed_or_any(choices, &capability.dtypes);
        let index_dtype = listed_or_any(choices, &capability.index_dtypes);
        if size != SizeClass::Edge && choices.once_in(4) {
            windows.disturb(choices);
            // A scalar has no dim for an index vector.
            if signature.operand(OperandRole::Indices).rank.least() > 0 && choices.once_in(12) {
                windows.indices.clear();
            }
        }
        let mut window = windows.sent(choices, signature);
        let other = attribute_operands::slice_sizes(choices, signature, &mut window)?;
        let window = Some(window);
        let params = self.params(dtype, windows.params.clone(), size, choices)?;
        let (bounds, style, layout) = (windows.bounds(), Values::draw(choices), choices.below(12));
        let shape = Shape::new(windows.indices.clone())?;
        let values = (0..shape.element_count()).map(|at| {
            let (row, component) = windows.row_and_component(at);
            style.value(choices, row, bounds.get(component).copied().unwrap_or(1))
        });
        let indices = in_layout(stored(index_dtype, shape, values)?, layout)?;
        let fill_value = self.fill_value(choices, signature, dtype)?;
        let roles = Roles { mode, fill_value, window, other, ignored, ..Roles::new(params, indices) };
        Ok(signature.spell(roles))
    }

    /// Sometimes a fill value, if the operator has one: an element like those of params, or one that reveals how it is
    /// converted.
    fn fill_value(
        &self,
        choices: &mut ChoiceSequence,
        signature: &Signature,
        dtype: DType,
    ) -> Result<Option<Tensor>, TensorError> {
        if signature.attribute(AttributeRole::FillValue).is_none() || !choices.once_in(3) {
            return Ok(None);
        }
        if let Some(telling) = fills::telling(choices, dtype) {
            return Tensor::filled(dtype, Shape::new([])?, &telling).map(Some);
        }
        let style = choices.pick(&Style::USUAL);
        let at = choices.below(LENGTH);
        let elements = self.shared.get(dtype, style);
        Tensor::strided(dtype, Shape::new([])?, Vec::new(), at, elements).map(Some)
    }

    /// A view of shared elements, in some layout.
    fn params(
        &self,
        dtype: DType,
        dims: Vec<usize>,
        size: SizeClass,
        choices: &mut ChoiceSequence,
    ) -> Result<Tensor, TensorError> {
        let style = match size {
            SizeClass::Edge => choices.pick(&Style::FAR_APART),
            _ => choices.pick(&Style::USUAL),
        };
        // An output of many long strings would take gigabytes.
        let is_long = dtype == DType::String && choices.once_in(3) && size == SizeClass::Tiny;
        let style = if is_long { Style::Long } else { style };
        let strided = choices.once_in(4);
        let shape = Shape::new(dims)?;
        if shape.element_count() > LENGTH {
            return paint::params(dtype, shape);
        }
        let (strides, offset) =
            if strided { layout(&shape, choices) } else { (shape.row_major_strides(), 0) };
        Tensor::strided(dtype, shape, strides, offset, self.shared.get(dtype, style))
    }
}

/// Strides and an offset that stay within the shared elements.
fn layout(shape: &Shape, choices: &mut ChoiceSequence) -> (Vec<isize>, usize) {
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
        // One extra element after each row, and some before the first.
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

/// Nearly always one of the declared dtypes.
fn listed_or_any(choices: &mut ChoiceSequence, listed: &[DType]) -> DType {
    if listed.is_empty() || choices.once_in(40) { choices.pick(&DType::ALL) } else { choices.pick(listed) }
}

/// The batch dims and the axis as sent: a default may be omitted, a value may count from the end where that is allowed,
/// and one in `odds` is out of range.
fn attributes(
    choices: &mut ChoiceSequence,
    signature: &Signature,
    parts: &CallShapes,
    odds: usize,
) -> (Option<i64>, Option<i64>) {
    let mut sent = |role, value: usize| {
        signature.attribute(role)?;
        let ranks = parts.ranks();
        if default_of(signature, role, ranks) == Some(value) && !choices.once_in(4) {
            return None;
        }
        if is_required(signature, role, parts.params.len()) && choices.once_in(odds) {
            return None;
        }
        if role == AttributeRole::Axis && parts.batch > 0 && choices.once_in(odds) {
            // An axis among the batch dims.
            return Some(0);
        }
        let negative = from_end(signature, role, value, ranks).filter(|_| choices.once_in(3));
        Some(integer(choices, negative.unwrap_or(value.cast_signed() as i64), odds))
    };
    (sent(AttributeRole::BatchDims, parts.batch), sent(AttributeRole::Axis, parts.axis))
}

/// A mode of the operator; the default may be omitted. Once in `odds` draws, a mode that the operator does not have.
fn mode(choices: &mut ChoiceSequence, signature: &Signature, size: SizeClass, odds: usize) -> Option<String> {
    let modes = signature.modes();
    // Of two faults one may be a bad index, which is no fault in most modes.
    if modes.is_empty() || size == SizeClass::Far && !choices.once_in(4) {
        return None;
    }
    if choices.once_in(odds) {
        let known = &choices.pick(&modes.iter().collect::<Vec<_>>()).mode;
        let cut: String = known.chars().take(1).collect();
        return Some(choices.pick(&["unknown", &known.to_uppercase(), &cut]).to_owned());
    }
    let at = choices.below(modes.len() + 1);
    at.checked_sub(1).map(|at| modes[at].mode.clone())
}

/// Whether a call without the attribute is rejected if params has this rank.
fn is_required(signature: &Signature, role: AttributeRole, rank: usize) -> bool {
    signature.attribute(role).is_some_and(|one| match one.default {
        AttributeDefault::None => true,
        AttributeDefault::OnlyAxis => rank > 1,
        _ => false,
    })
}

/// Sometimes, attributes that have no effect.
fn ignored(choices: &mut ChoiceSequence, signature: &Signature) -> Attributes {
    let mut ignored = Attributes::new();
    for attribute in signature.attributes.iter().filter(|one| one.role == AttributeRole::Ignored) {
        if choices.once_in(16) {
            let value = match attribute.r#type {
                AttributeType::Boolean => Attribute::Boolean(choices.once_in(2)),
                AttributeType::Integer => Attribute::Integer(integer(choices, 0, ODDS)),
                AttributeType::String => Attribute::String("anything".to_owned()),
                // An element attribute is a fill value, which has an effect.
                AttributeType::Integers | AttributeType::Element => {
                    Attribute::Integers(vec![integer(choices, 0, ODDS)])
                }
            };
            ignored.insert(attribute.name.clone(), value);
        }
    }
    // A promise that is not made has no effect either.
    for attribute in signature.attributes.iter().filter(|one| one.role == AttributeRole::Promise) {
        if choices.once_in(8) {
            ignored.insert(attribute.name.clone(), Attribute::Boolean(false));
        }
    }
    ignored
}

/// Index values with runs and repetitions, and with bad ones among them where those are wanted.
fn index_tensor(
    dtype: DType,
    dims: Vec<usize>,
    bounds: &[usize],
    choices: &mut ChoiceSequence,
) -> Result<Tensor, TensorError> {
    let shape = Shape::new(dims)?;
    let style = Values::draw(choices);
    let layout = choices.below(12);
    // Values are drawn last, one or more draws each, so removing rows does not change any other draw.
    by_row(dtype, shape, bounds, layout, |row, _, bound| style.value(choices, row, bound))
}

/// Many indices from few draws.
fn regular_indices(
    dtype: DType,
    dims: Vec<usize>,
    bounds: &[usize],
    choices: &mut ChoiceSequence,
) -> Result<Tensor, TensorError> {
    let shape = Shape::new(dims)?;
    let components = bounds.len().max(1);
    let regular = Regular::draw(choices, shape.element_count() / components, components);
    let layout = choices.below(12);
    by_row(dtype, shape, bounds, layout, |row, component, bound| regular.value(row, component, bound))
}

/// Indices computed from row, component and the bound of that component, in a layout.
fn by_row(
    dtype: DType,
    shape: Shape,
    bounds: &[usize],
    layout: usize,
    mut value: impl FnMut(usize, usize, usize) -> i64,
) -> Result<Tensor, TensorError> {
    let components = bounds.len().max(1);
    let values = (0..shape.element_count()).map(|at| {
        let (row, component) = (at / components, at % components);
        value(row, component, bounds.get(component).copied().unwrap_or(1))
    });
    in_layout(stored(dtype, shape, values)?, layout)
}
