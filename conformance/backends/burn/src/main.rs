//! burn as a backend of GatherSpec, on its ndarray backend: `take` and `gather`, to which its importer of ONNX turns Gather
//! and GatherElements, and `select` and `gather`, which its book sets beside PyTorch's `index_select` and `gather`.
//! Nothing is checked that burn itself does not check: what it refuses, it refuses by a panic, which is a crash.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use burn_tensor::{Bool, BoolStore, DType as BurnType, Device, Float, Int, Tensor as BurnTensor, TensorData};
use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::{Backend, Variants};
use gather_spec::call::Way;
use gather_spec::{Attribute, BadIndex, Call, DType, NegativeIndex, Outcome, Profile, Shape, Tensor};

const DTYPES: [(DType, BurnType); 11] = [
    (DType::Bool, BurnType::Bool(BoolStore::Native)),
    (DType::I8, BurnType::I8),
    (DType::U8, BurnType::U8),
    (DType::I16, BurnType::I16),
    (DType::U16, BurnType::U16),
    (DType::I32, BurnType::I32),
    (DType::U32, BurnType::U32),
    (DType::I64, BurnType::I64),
    (DType::U64, BurnType::U64),
    (DType::F32, BurnType::F32),
    (DType::F64, BurnType::F64),
];

/// Functions of burn's tensors.
#[derive(Clone, Copy)]
enum Function {
    Take,
    Gather,
    Select,
}

const OPERATORS: [(&str, Function, NegativeIndex); 5] = [
    ("onnx.Gather-1", Function::Take, NegativeIndex::Wrap),
    ("onnx.Gather-13", Function::Take, NegativeIndex::Wrap),
    ("onnx.GatherElements-13", Function::Gather, NegativeIndex::Wrap),
    ("torch.gather", Function::Gather, NegativeIndex::Reject),
    ("torch.index_select", Function::Select, NegativeIndex::Reject),
];

fn main() -> ExitCode {
    gatherspec::standalone(|| Burn, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

/// Runs `$body` with `$kind` as burn's name for what the elements are.
macro_rules! each_kind {
    ($dtype:expr, $kind:ident => $body:expr) => {
        match $dtype {
            BurnType::F32 | BurnType::F64 => each_kind!(@ Float, $kind => $body),
            BurnType::Bool(_) => each_kind!(@ Bool, $kind => $body),
            _ => each_kind!(@ Int, $kind => $body),
        }
    };
    (@ $of:ty, $kind:ident => $body:expr) => {{
        type $kind = $of;
        $body
    }};
}

/// The elements of an operand, in the order of its last axis or, if it is transposed, of its first.
struct Laid {
    data: TensorData,
    transposed: bool,
}

impl Laid {
    fn rank(&self) -> usize {
        self.data.shape().len()
    }
}

/// A tensor of this kind and rank. A transposed one has been permuted, which moves no element.
macro_rules! tensor {
    ($kind:ident, $rank:literal, $laid:ident) => {{
        let dtype = $laid.data.dtype();
        let tensor = BurnTensor::<$rank, $kind>::from_data($laid.data, (&Device::default(), dtype));
        if $laid.transposed {
            tensor.permute(std::array::from_fn::<isize, $rank, _>(|axis| $rank - 1 - axis as isize))
        } else {
            tensor
        }
    }};
}

/// Calls a function with tensors of these ranks, of whatever kind the elements of params are.
macro_rules! call {
    ($rank:literal, $index_rank:literal, $params:ident, $indices:ident, |$tensor:ident, $index:ident| $body:expr) => {{
        let $index = tensor!(Int, $index_rank, $indices);
        each_kind!($params.data.dtype(), K => {
            let $tensor = tensor!(K, $rank, $params);
            $body.into_data()
        })
    }};
}

/// `take` along any axis, negative ones included, with indices of any rank.
fn take(params: Laid, indices: Laid, axis: isize) -> Option<TensorData> {
    macro_rules! of_ranks {
        ($($rank:literal)+) => {
            match params.rank() {
                $($rank => of_ranks!(@ $rank: 1 2 3 4 5),)+
                _ => None,
            }
        };
        (@ $rank:literal: $($index_rank:literal)+) => {
            match indices.rank() {
                $($index_rank => Some(call!($rank, $index_rank, params, indices, |params, indices| {
                    params.take::<$index_rank, { $rank + $index_rank - 1 }>(axis, indices)
                })),)+
                _ => None,
            }
        };
    }
    of_ranks!(1 2 3 4 5 6)
}

/// `gather` along any axis, with indices of the rank of params.
fn gather(params: Laid, indices: Laid, axis: isize) -> Option<TensorData> {
    macro_rules! of_ranks {
        ($($rank:literal)+) => {
            match (params.rank(), indices.rank()) {
                $(($rank, $rank) => Some(call!($rank, $rank, params, indices, |params, indices| {
                    params.gather(axis, indices)
                })),)+
                _ => None,
            }
        };
    }
    of_ranks!(1 2 3 4 5 6 7 8)
}

/// `select` along any axis, with a vector of indices.
fn select(params: Laid, indices: Laid, axis: isize) -> Option<TensorData> {
    macro_rules! of_ranks {
        ($($rank:literal)+) => {
            match (params.rank(), indices.rank()) {
                $(($rank, 1) => Some(call!($rank, 1, params, indices, |params, indices| {
                    params.select(axis, indices)
                })),)+
                _ => None,
            }
        };
    }
    of_ranks!(1 2 3 4 5 6 7 8)
}

struct Burn;

impl Backend for Burn {
    fn describe(&self) -> Description {
        let capability = |negative| Capability {
            // "Not all backends have runtime bound checks for the indices."
            profile: Profile { bad: BadIndex::Unspecified, negative, ..Profile::default() },
            dtypes: DTYPES.map(|(dtype, _)| dtype).to_vec(),
            index_dtypes: vec![DType::I32, DType::I64],
            // Other views are copies in burn.
            variants: Variants::new(["operands=transposed"]).expect("this is a value of variants"),
            ..Capability::default()
        };
        let operators = OPERATORS.map(|(name, _, negative)| (name.to_owned(), capability(negative)));
        Description {
            backend: Identity {
                name: "burn".to_owned(),
                version: "0.22.1".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: operators.into(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, _]) = call.operands.in_order() else {
            return unsupported("two operands are expected");
        };
        let known = OPERATORS.iter().find(|(name, ..)| *name == call.operator.as_str());
        let Some((_, function, _)) = known else { return unsupported("an operator that is not declared") };
        let axis = match (call.attributes.get("axis"), call.attributes.get("dim")) {
            (Some(Attribute::Integer(axis)), _) | (_, Some(Attribute::Integer(axis))) => *axis as isize,
            _ if call.operator.as_str().starts_with("torch.") => {
                return Outcome::refused("dim is no optional argument of burn's functions");
            }
            // The importer writes the default of ONNX.
            _ => 0,
        };
        let is_transposed = |name| call.variant.of(name) == Some(Way::Transposed);
        let mut laid = call.operands.iter().map(|(name, tensor)| data(tensor, is_transposed(name)));
        let (Some(Some(data)), Some(Some(index))) = (laid.next(), laid.next()) else {
            return unsupported("a dtype that is not declared");
        };
        let output = match function {
            Function::Take => take(data, index, axis),
            Function::Gather => gather(data, index, axis),
            Function::Select => select(data, index, axis),
        };
        output.map_or_else(
            || unsupported("burn has ranks in its types, and this adapter was compiled for no such pair"),
            |output| outcome(params.dtype(), &output),
        )
    }
}

fn data(tensor: &Tensor, transposed: bool) -> Option<Laid> {
    let (_, dtype) = DTYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype())?;
    let mut dims = tensor.shape().to_vec();
    let mut bytes = if transposed {
        dims.reverse();
        let strides = tensor.strides().iter().rev().copied().collect();
        let (shape, stored) = (Shape::new(dims.clone()).ok()?, tensor.stored().clone());
        Tensor::strided(tensor.dtype(), shape, strides, tensor.offset(), stored).ok()?.to_le_bytes()?
    } else {
        tensor.to_le_bytes()?
    };
    if tensor.dtype() == DType::Bool {
        // A `bool` is nothing but false or true.
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Some(Laid { data: TensorData::from_bytes_vec(bytes, dims, dtype), transposed })
}

fn outcome(dtype: DType, output: &TensorData) -> Outcome {
    if let Some(too_large) = Outcome::too_large(dtype, output.shape()) {
        return too_large;
    }
    let made = Shape::new(output.shape().to_vec()).map_err(|error| error.to_string()).and_then(|shape| {
        Tensor::from_le_bytes(dtype, shape, output.as_bytes()).map_err(|error| error.to_string())
    });
    made.map_or_else(|error| unsupported(&error), Outcome::Output)
}

fn unsupported(why: &str) -> Outcome {
    Outcome::Unsupported(why.to_owned())
}
