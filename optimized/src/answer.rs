//! Calls on tensors of any dtype, as a backend answers them.

use gather_spec::shape::MAX_RANK;
use gather_spec::tensor::Stored;
use gather_spec::{ByteString, Call, DType, GatherError, Outcome, Refusal, Roles, Shape, Signature, Tensor};
use ndarray::ArrayD;

use crate::element::Element;
use crate::forms;
use crate::options::Options;
use crate::plan::Plan;
use crate::policy::{Filled, Zeros};

/// How calls are answered: what no attribute of a call says.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Policies, level and threads; batch dims and axis come with each call, or are the operator's defaults.
    pub options: Options,
    /// The most bytes that an output may take; larger ones are unsupported.
    pub max_output: u64,
    /// Whether outputs are full of garbage before anything is gathered, so that bytes that a kernel leaves
    /// unwritten always show. Strings are never in unwritten memory.
    pub poison: bool,
    /// The byte of a line of 64 at which params of [prepared](crate::prepare()) calls, and outputs that they reuse, begin, as far as
    /// elements can; `None` to leave them where they are.
    pub begin: Option<u8>,
}

/// What each byte of a poisoned output holds.
const POISON: u8 = 0xA5;

impl Default for Settings {
    fn default() -> Self {
        Self { options: Options::new(), max_output: 4 << 30, poison: false, begin: None }
    }
}

/// Answers a call by the signature of its operator: it accepts what a strict reading of the pages accepts,
/// and rejects what they only tolerate. An output of more than [`MAX_RANK`] axes or of more bytes than the
/// settings allow is `unsupported`, regardless of the indices.
///
/// ```
/// use gather_optimized::{Settings, answer};
/// use gather_spec::{Call, DType, Outcome, Tensor};
///
/// # fn main() -> Result<(), gather_spec::TensorError> {
/// // From the feature `cases` of gather-spec; a signature can also be written down as a value.
/// let operators = gather_spec::load::operators().expect("the specification is right");
/// let gather = operators.iter().find(|one| one.operator.as_str() == "tf.gather").expect("it is there");
///
/// let params = Tensor::new(DType::U8, [3], vec![10u8, 20, 30])?;
/// let indices = Tensor::new(DType::I32, [2], vec![2u32, 0])?;
/// let operands = [("params", params), ("indices", indices)].into();
/// let call = Call::new(gather.operator.clone(), operands, [].into());
/// let expected = Tensor::new(DType::U8, [2], vec![30u8, 10])?;
/// assert_eq!(answer(gather, &call, &Settings::default()), Outcome::Output(expected));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn answer(signature: &Signature, call: &Call, settings: &Settings) -> Outcome {
    gather_call(signature, call, settings).into()
}

fn gather_call(signature: &Signature, call: &Call, settings: &Settings) -> Result<Tensor, Refusal> {
    let mut roles = signature.roles(call).map_err(|foreign| Refusal::Unsupported(foreign.to_string()))?;
    let (flat, flat_indices);
    let line = |tensor: &Tensor| tensor.flattened().map_err(|wrong| Refusal::Unsupported(wrong.to_string()));
    let sent = roles.indices.shape();
    if signature.has_flat_indices(&roles) {
        flat_indices = line(roles.indices)?;
        roles.indices = &flat_indices;
    }
    if signature.is_flat(&roles) {
        flat = line(roles.params)?;
        roles.params = &flat;
    }
    let outcome = gather_roles(signature, &roles, settings);
    outcome.map_err(|refusal| if roles.indices.shape() == sent { refusal } else { placed(refusal, sent) })
}

/// The refusal of a call with flattened indices, with the position of a bad index in the indices as sent.
#[cold]
fn placed(refusal: Refusal, indices: &Shape) -> Refusal {
    match refusal {
        Refusal::Error(GatherError::IndexOutOfRange { position, component, index, bound }) => {
            let position = position.first().and_then(|at| indices.positions().nth(*at));
            let position = position.map_or_else(Vec::new, |position| position.to_vec());
            GatherError::IndexOutOfRange { position, component, index, bound }.into()
        }
        other => other,
    }
}

/// The output of a call in role terms, whose operands are flattened where it asks for that.
fn gather_roles(
    signature: &Signature,
    roles: &Roles<&Tensor>,
    settings: &Settings,
) -> Result<Tensor, Refusal> {
    let choices = settings.options.choices;
    let plan = forms::validate(signature, roles, choices, |shapes| Plan::of(shapes, Zeros))?;
    let (params, indices) = (roles.params, roles.indices);
    let len = allowed_len(&plan, params.dtype(), settings)?;
    let profile = signature.profile(roles, settings.options.get_profile());
    let (plan, filler) = (&plan, signature.filler(profile, params.dtype(), roles.fill_value));
    match params.dtype() {
        DType::String => strings(plan, params, indices),
        dtype if settings.poison => match dtype.size() {
            1 => poisoned(plan, &filler, params, indices, len, POISON),
            2 => poisoned(plan, &filler, params, indices, len, u16::from_ne_bytes([POISON; 2])),
            4 => poisoned(plan, &filler, params, indices, len, u32::from_ne_bytes([POISON; 4])),
            8 => poisoned(plan, &filler, params, indices, len, u64::from_ne_bytes([POISON; 8])),
            _ => poisoned(plan, &filler, params, indices, len, u128::from_ne_bytes([POISON; 16])),
        },
        dtype => match dtype.size() {
            1 => bits::<u8>(plan, &filler, params, indices),
            2 => bits::<u16>(plan, &filler, params, indices),
            4 => bits::<u32>(plan, &filler, params, indices),
            8 => bits::<u64>(plan, &filler, params, indices),
            _ => bits::<u128>(plan, &filler, params, indices),
        },
    }
}

/// The elements of an output that is within the limits of the settings.
///
/// # Errors
/// `output-too-large`, or `Unsupported` for an output beyond the limits.
pub(crate) fn allowed_len<F: Clone>(
    plan: &Plan<F>,
    dtype: DType,
    settings: &Settings,
) -> Result<usize, Refusal> {
    let len = plan.shapes().output_len(dtype.size())?;
    let rank = plan.output_shape().len();
    if rank > MAX_RANK {
        return Err(Refusal::Unsupported(format!(
            "an output of {rank} axes; at most {MAX_RANK} are allowed"
        )));
    }
    let bytes = len as u128 * dtype.size() as u128;
    let most = settings.max_output;
    if bytes > u128::from(most) {
        return Err(Refusal::Unsupported(format!("an output of {bytes} bytes; at most {most} are allowed")));
    }
    Ok(len)
}

/// Runs `$body` with `$view` bound to the indices as what they are: bits in storage, integers in meaning.
macro_rules! with_indices {
    ($indices:expr, $view:ident => $body:expr) => {
        match $indices.dtype() {
            DType::I8 => with_indices!(@ $indices, $view: u8 => i8, $body),
            DType::I16 => with_indices!(@ $indices, $view: u16 => i16, $body),
            DType::I32 => with_indices!(@ $indices, $view: u32 => i32, $body),
            DType::I64 => with_indices!(@ $indices, $view: u64 => i64, $body),
            DType::U8 => with_indices!(@ $indices, $view: u8, $body),
            DType::U16 => with_indices!(@ $indices, $view: u16, $body),
            DType::U32 => with_indices!(@ $indices, $view: u32, $body),
            DType::U64 => with_indices!(@ $indices, $view: u64, $body),
            dtype => Err(Refusal::Unsupported(format!("indices of dtype {dtype}"))),
        }
    };
    (@ $indices:expr, $view:ident: $stored:ty => $index:ty, $body:expr) => {{
        let $view = $indices.view::<$stored>().ok_or_else(no_view)?;
        let $view = crate::kernels::signed::<$stored, $index, _>(&$view);
        $body
    }};
    (@ $indices:expr, $view:ident: $stored:ty, $body:expr) => {{
        let $view = $indices.view::<$stored>().ok_or_else(no_view)?;
        $body
    }};
}

fn bits<T: Stored + Element + TryFrom<u128>>(
    plan: &Plan,
    filler: &gather_spec::Element,
    params: &Tensor,
    indices: &Tensor,
) -> Result<Tensor, Refusal> {
    let view = params.view::<T>().ok_or_else(no_view)?;
    let plan = plan.filled(stored(filler));
    let output = with_indices!(indices, indices => plan.run(&view, &indices))?;
    tensor(params.dtype(), output)
}

/// The bits of an element, as they are stored.
pub(crate) fn stored<T: Default + TryFrom<u128>>(element: &gather_spec::Element) -> Filled<T> {
    match element {
        gather_spec::Element::Bits(bits) => Filled(T::try_from(*bits).unwrap_or_default()),
        gather_spec::Element::Bytes(_) => Filled(T::default()),
    }
}

/// The same, into an output full of `garbage`.
fn poisoned<T: Stored + Element + TryFrom<u128>>(
    plan: &Plan,
    filler: &gather_spec::Element,
    params: &Tensor,
    indices: &Tensor,
    len: usize,
    garbage: T,
) -> Result<Tensor, Refusal> {
    let view = params.view::<T>().ok_or_else(no_view)?;
    let plan = plan.filled(stored(filler));
    let mut elements = crate::output::reserve(len)?;
    elements.resize(len, garbage);
    let wrong = |wrong: ndarray::ShapeError| Refusal::Unsupported(wrong.to_string());
    let mut output = ArrayD::from_shape_vec(plan.output_shape(), elements).map_err(wrong)?;
    with_indices!(indices, indices => plan.run_into(&view, &indices, &mut output))?;
    tensor(params.dtype(), output)
}

fn strings(plan: &Plan, params: &Tensor, indices: &Tensor) -> Result<Tensor, Refusal> {
    let view = params.view::<ByteString>().ok_or_else(no_view)?;
    let output = with_indices!(indices, indices => plan.run_cloned(&view, &indices))?;
    tensor(params.dtype(), output)
}

fn tensor<T: Stored>(dtype: DType, output: ArrayD<T>) -> Result<Tensor, Refusal> {
    let shape = output.shape().to_vec();
    let (elements, _) = output.into_raw_vec_and_offset();
    Tensor::new(dtype, shape, elements).map_err(|wrong| Refusal::Unsupported(wrong.to_string()))
}

pub(crate) fn no_view() -> Refusal {
    Refusal::Unsupported("the tensor cannot be seen as an array".to_owned())
}

#[cfg(test)]
mod tests {
    use gather_spec::{Attribute, Attributes, BadIndex, NegativeIndex};

    use super::*;

    fn call(operator: &str, attributes: Attributes) -> Call {
        let params = Tensor::new(DType::F64, [3], vec![10u64, 20, 30]).unwrap();
        let indices = Tensor::new(DType::I32, [2, 1], vec![2u32, 0]).unwrap();
        spelt(operator, params, indices, attributes)
    }

    fn spelt(operator: &str, params: Tensor, indices: Tensor, attributes: Attributes) -> Call {
        let operators = gather_spec::load::operators().unwrap();
        let signature = operators.iter().find(|one| one.operator.as_str() == operator).unwrap();
        Call { attributes, ..signature.spell(Roles::new(params, indices)) }
    }

    /// The answer by the signature of the call's operator.
    fn ask(call: &Call, settings: &Settings) -> Outcome {
        let operators = gather_spec::load::operators().unwrap();
        answer(operators.iter().find(|one| one.operator == call.operator).unwrap(), call, settings)
    }

    #[test]
    fn an_output_as_large_as_the_limit_is_given_and_a_larger_one_is_not() {
        let call = call("tf.gather_nd", [].into());
        let under = |max_output| ask(&call, &Settings { max_output, ..Settings::default() });
        let output = Outcome::Output(Tensor::new(DType::F64, [2], vec![30u64, 10]).unwrap());
        assert_eq!((under(17), under(16)), (output.clone(), output));
        let why = "an output of 16 bytes; at most 15 are allowed".to_owned();
        assert_eq!(under(15), Outcome::Unsupported(why));
    }

    /// Also where another operator has it, and its value would change nothing.
    #[test]
    fn an_attribute_that_the_operator_lacks_is_unsupported() {
        let lacking = [
            ("tf.gather_nd", "axis"),
            ("tf.raw_ops.GatherNd", "batch_dims"),
            ("tf.gather", "mode"),
            ("paddle.gather_nd", "batch_dims"),
        ];
        for (operator, name) in lacking {
            let call = call(operator, [(name.to_owned(), Attribute::Integer(0))].into());
            let why = format!("{operator} has no attribute `{name}`");
            assert_eq!(ask(&call, &Settings::default()), Outcome::Unsupported(why));
        }
    }

    /// Other implementations may take them, so the cases allow both; the page asks for a rank above 1.
    #[test]
    fn paddle_refuses_indices_of_rank_one() {
        let mut call = call("paddle.gather_nd", [].into());
        assert!(matches!(ask(&call, &Settings::default()), Outcome::Output(_)));
        call.operands.replace("index", Tensor::new(DType::I32, [1], vec![2u32]).unwrap());
        let error = GatherError::IndicesRank { rank: 1, least: 2 };
        assert_eq!(ask(&call, &Settings::default()), Outcome::Error(error.into()));
    }

    #[test]
    fn elements_of_every_width_are_moved() {
        fn moved<T: Stored>(dtype: DType, [first, second]: [T; 2]) {
            let params = Tensor::new(dtype, [2], vec![first.clone(), second.clone()]).unwrap();
            let indices = Tensor::new(DType::I64, [2, 1], vec![1u64, 0]).unwrap();
            let call = spelt("tf.gather_nd", params, indices, [].into());
            let expected = Tensor::new(dtype, [2], vec![second, first]).unwrap();
            for poison in [false, true] {
                let settings = Settings { poison, ..Settings::default() };
                assert_eq!(ask(&call, &settings), Outcome::Output(expected.clone()));
            }
        }
        moved(DType::Bool, [0u8, 1]);
        moved(DType::F16, [1u16, 0x8000]);
        moved(DType::F32, [1u32, 1 << 31]);
        moved(DType::F64, [1u64, 1 << 63]);
        moved(DType::C128, [1u128, 1 << 127]);
        moved(DType::String, ["left", "right"].map(ByteString::from));
    }

    #[test]
    fn a_poisoned_output_is_wholly_written_or_refused_like_any_other() {
        let under = |bad_index, index: u32| {
            let mut call = call("tf.gather_nd", [].into());
            call.operands.replace("indices", Tensor::new(DType::I32, [2, 1], vec![index, 0]).unwrap());
            let options = Options::new().bad_index(bad_index);
            ask(&call, &Settings { options, poison: true, ..Settings::default() })
        };
        let output = |elements: Vec<u64>| Outcome::Output(Tensor::new(DType::F64, [2], elements).unwrap());
        assert_eq!(under(BadIndex::Zero, 3), output(vec![0, 10]));
        assert_eq!(under(BadIndex::Clamp, 3), output(vec![30, 10]));
        let error =
            GatherError::IndexOutOfRange { position: vec![0], component: Some(0), index: 3, bound: 3 };
        assert_eq!(under(BadIndex::Error, 3), Outcome::Error(error.into()));
    }

    #[test]
    fn attributes_and_settings_are_obeyed_together() {
        let attributes = [
            ("axis".to_owned(), Attribute::Integer(1)),
            ("batch_dims".to_owned(), Attribute::Integer(1)),
            ("validate_indices".to_owned(), Attribute::Boolean(false)),
        ];
        let params = Tensor::new(DType::U8, [2, 3], vec![1u8, 2, 3, 4, 5, 6]).unwrap();
        let indices = Tensor::new(DType::I32, [2, 1], vec![(-1i32).cast_unsigned(), 0]).unwrap();
        let call = spelt("tf.gather", params, indices, attributes.into());
        let options = Options::new().negative_index(NegativeIndex::Wrap);
        let expected = Tensor::new(DType::U8, [2, 1], vec![3u8, 4]).unwrap();
        assert_eq!(ask(&call, &Settings { options, ..Settings::default() }), Outcome::Output(expected));
    }
}
