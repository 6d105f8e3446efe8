//! Calls on tensors of any dtype that are prepared once and run often, such as for timing.

use gather_spec::tensor::Stored;
use gather_spec::{Call, DType, Refusal, Roles, Signature, Tensor};
use ndarray::{Array1, ArrayD, ArrayViewD, CowArray, s};

use crate::answer::{Settings, allowed_len, no_view, stored};
use crate::element::Element;
use crate::forms;
use crate::kernels::compiled::Index;
use crate::kernels::signed;
use crate::output::Pool;
use crate::plan::Plan;
use crate::policy::Filled;

/// The memory of the outputs of a [prepared](prepare) call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// New memory for each run, which also validates the call again.
    Fresh,
    /// Memory from a [`Pool`] for each run, which also validates the call again.
    Pooled,
    /// One output, again and again, by one plan.
    Reused,
}

/// Runs a prepared call once and drops its output, if it is not reused.
pub type Run<'a> = Box<dyn FnMut() -> Result<(), Refusal> + 'a>;

/// The bytes that a pool of a prepared call keeps.
const POOLED: usize = 4 << 30;

/// A call on views of its tensors, to be run often; `None` for strings and for operands that the call flattens.
///
/// # Errors
/// Those of [`answer`](crate::answer), as far as they show before the call is run.
///
/// ```
/// use gather_optimized::{Memory, Settings, prepare};
/// use gather_spec::{Call, DType, Tensor};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let operators = gather_spec::load::operators().expect("the specification is right");
/// let gather = operators.iter().find(|one| one.operator.as_str() == "tf.gather").expect("it is there");
/// let params = Tensor::new(DType::U8, [3], vec![10u8, 20, 30])?;
/// let indices = Tensor::new(DType::I32, [2], vec![2u32, 0])?;
/// let operands = [("params", params), ("indices", indices)].into();
/// let call = Call::new(gather.operator.clone(), operands, [].into());
/// let mut run = prepare(gather, &call, &Settings::default(), Memory::Reused)?.expect("numbers along an axis");
/// run()?;
/// # Ok(())
/// # }
/// ```
pub fn prepare<'a>(
    signature: &'a Signature,
    call: &'a Call,
    settings: &Settings,
    memory: Memory,
) -> Result<Option<Run<'a>>, Refusal> {
    let roles = signature.roles(call).map_err(|foreign| Refusal::Unsupported(foreign.to_string()))?;
    let dtype = roles.params.dtype();
    if dtype == DType::String || signature.has_flat_indices(&roles) || signature.is_flat(&roles) {
        return Ok(None);
    }
    let call = RoleCall { signature, roles, settings: *settings, memory };
    let run = match dtype.size() {
        1 => call.with_params::<u8>(),
        2 => call.with_params::<u16>(),
        4 => call.with_params::<u32>(),
        8 => call.with_params::<u64>(),
        _ => call.with_params::<u128>(),
    };
    run.map(Some)
}

/// A call in role terms that is about to be prepared.
struct RoleCall<'a> {
    signature: &'a Signature,
    roles: Roles<&'a Tensor>,
    settings: Settings,
    memory: Memory,
}

impl<'a> RoleCall<'a> {
    fn with_params<T: Stored + Element + TryFrom<u128>>(self) -> Result<Run<'a>, Refusal> {
        let params = self.roles.params.view::<T>().ok_or_else(no_view)?;
        let indices = self.roles.indices;
        macro_rules! view {
            ($stored:ty) => {
                indices.view::<$stored>().ok_or_else(no_view)?
            };
        }
        match indices.dtype() {
            DType::I8 => self.run::<T, i8>(params, signed(&view!(u8))),
            DType::I16 => self.run::<T, i16>(params, signed(&view!(u16))),
            DType::I32 => self.run::<T, i32>(params, signed(&view!(u32))),
            DType::I64 => self.run::<T, i64>(params, signed(&view!(u64))),
            DType::U8 => self.run::<T, u8>(params, view!(u8)),
            DType::U16 => self.run::<T, u16>(params, view!(u16)),
            DType::U32 => self.run::<T, u32>(params, view!(u32)),
            DType::U64 => self.run::<T, u64>(params, view!(u64)),
            dtype => Err(Refusal::Unsupported(format!("indices of dtype {dtype}"))),
        }
    }

    fn run<T: Stored + Element + TryFrom<u128>, I: Index>(
        self,
        params: ArrayViewD<'a, T>,
        indices: ArrayViewD<'a, I>,
    ) -> Result<Run<'a>, Refusal> {
        let Self { signature, roles, settings, memory } = self;
        let choices = settings.options.choices;
        let profile = signature.profile(&roles, choices.profile);
        let dtype = roles.params.dtype();
        let fill: Filled<T> = stored(&signature.filler(profile, dtype, roles.fill_value));
        let plan = move || forms::validate(signature, &roles, choices, |shapes| Plan::of(shapes, fill));
        // A call that cannot be planned fails here, for every kind of memory.
        let planned = plan()?;
        allowed_len(&planned, dtype, &settings)?;
        let params = match settings.begin {
            Some(byte) => CowArray::from(beginning_at(&params, byte)),
            None => CowArray::from(params),
        };
        Ok(match memory {
            Memory::Fresh => Box::new(move || plan()?.run(&params, &indices).map(drop)),
            Memory::Pooled => {
                let pool = Pool::new(POOLED);
                Box::new(move || plan()?.run_pooled(&params, &indices, &pool).map(drop))
            }
            Memory::Reused => {
                let output = planned.run(&params, &indices)?;
                let mut output = match settings.begin {
                    Some(byte) => beginning_at(&output.view(), byte),
                    None => output,
                };
                Box::new(move || planned.run_into(&params, &indices, &mut output))
            }
        })
    }
}

/// A copy that begins at this byte of a line, or at the whole element before it.
fn beginning_at<T: Element>(array: &ArrayViewD<'_, T>, byte: u8) -> ArrayD<T> {
    const LINE: usize = 64;
    let mut memory = Array1::from_elem(array.len() + 2 * LINE, T::default());
    let to_line = memory.as_ptr().align_offset(LINE);
    let start = to_line + usize::from(byte) % LINE / size_of::<T>();
    memory.slice_collapse(s![start..start + array.len()]);
    let mut placed =
        memory.into_shape_with_order(array.raw_dim()).expect("as many elements, one behind the other");
    placed.assign(array);
    placed
}

#[cfg(test)]
mod tests {
    use gather_spec::{BadIndex, ErrorCode};

    use super::*;
    use crate::Options;

    /// Runs a call with two output elements of one byte twice, with at most `max_output` bytes of output.
    fn prepared(memory: Memory, bad: BadIndex, index: u32, max_output: u64) -> Result<(), Refusal> {
        let operators = gather_spec::load::operators().unwrap();
        let gather = operators.iter().find(|one| one.operator.as_str() == "tf.gather").unwrap();
        let params = Tensor::new(DType::U8, [3], vec![10u8, 20, 30]).unwrap();
        let indices = Tensor::new(DType::I32, [2], vec![index, 0]).unwrap();
        let call = gather.spell(Roles::new(params, indices));
        let settings = Settings { options: Options::new().bad_index(bad), max_output, ..Settings::default() };
        let mut run = prepare(gather, &call, &settings, memory)?.expect("bytes along an axis");
        run()?;
        run()
    }

    #[test]
    fn a_copy_begins_at_the_byte_of_a_line_that_is_asked_for() {
        let array = ArrayD::from_shape_fn(vec![3, 5], |at| u32::try_from(at[0] * 10 + at[1]).unwrap());
        for byte in 0..64 {
            let placed = beginning_at(&array.view(), byte);
            assert_eq!((placed.as_ptr().addr() % 64, &placed), (usize::from(byte) / 4 * 4, &array));
        }
    }

    #[test]
    fn a_prepared_call_runs_again_and_again_in_every_memory() {
        for memory in [Memory::Fresh, Memory::Pooled, Memory::Reused] {
            assert_eq!(prepared(memory, BadIndex::Error, 2, 2), Ok(()));
            assert_eq!(prepared(memory, BadIndex::Zero, 3, 2), Ok(()));
            let refused = prepared(memory, BadIndex::Error, 3, 2).unwrap_err();
            let Refusal::Error(error) = refused else { panic!("{refused:?}") };
            assert_eq!(error.code(), ErrorCode::IndexOutOfRange);
            let why = "an output of 2 bytes; at most 1 are allowed".to_owned();
            assert_eq!(prepared(memory, BadIndex::Error, 2, 1), Err(Refusal::Unsupported(why)));
        }
    }
}
