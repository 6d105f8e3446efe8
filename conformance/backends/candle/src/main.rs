//! candle as a backend of GatherSpec, on the CPU: its own `gather` and `index_select`, whose documentation says in its words
//! what PyTorch says of `torch.gather` and `torch.index_select`. Nothing is checked that candle itself does not check.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use candle_core::shape::Dim;
use candle_core::{D, DType as CandleType, Device, Shape as CandleShape, Tensor as CandleTensor, WithDType};
use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::{Backend, Variants};
use gather_spec::call::Way;
use gather_spec::{Attribute, Call, DType, Outcome, Profile, Shape, Tensor};
use half::{bf16, f16};

const DTYPES: [(DType, CandleType); 9] = [
    (DType::U8, CandleType::U8),
    (DType::I16, CandleType::I16),
    (DType::I32, CandleType::I32),
    (DType::U32, CandleType::U32),
    (DType::I64, CandleType::I64),
    (DType::F16, CandleType::F16),
    (DType::BF16, CandleType::BF16),
    (DType::F32, CandleType::F32),
    (DType::F64, CandleType::F64),
];

fn main() -> ExitCode {
    gatherspec::standalone(|| Candle, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

struct Candle;

impl Backend for Candle {
    fn describe(&self) -> Description {
        let capability = |variants: &[&str]| Capability {
            profile: Profile::default(),
            dtypes: DTYPES.map(|(dtype, _)| dtype).to_vec(),
            index_dtypes: vec![DType::I64],
            variants: Variants::new(variants.iter().copied()).expect("these are values of variants"),
            ..Capability::default()
        };
        // "only supports contiguous tensors": they may begin anywhere in a buffer, and a list of indices may have any stride.
        let operators = [
            ("torch.gather".to_owned(), capability(&["operands=offset"])),
            ("torch.index_select".to_owned(), capability(&["operands=offset", "index=stride-0"])),
        ];
        Description {
            backend: Identity {
                name: "candle".to_owned(),
                version: "0.11.1".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: operators.into(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("two operands are expected".to_owned());
        };
        let Some(Attribute::Integer(dim)) = call.attributes.get("dim") else {
            return Outcome::refused("dim is no optional argument of candle's functions");
        };
        let (Some(data), Some(indices)) =
            (load(params, call.variant.of("input")), load(indices, call.variant.of("index")))
        else {
            return Outcome::Unsupported("candle has no such dtype".to_owned());
        };
        let is_gather = call.operator.as_str() == "torch.gather";
        let output = data.and_then(|data| {
            let indices = indices?;
            if is_gather {
                data.gather(&indices, Dimension(*dim))
            } else {
                data.index_select(&indices, Dimension(*dim))
            }
        });
        match output.and_then(|output| store(params.dtype(), &output)) {
            Ok(output) => output,
            Err(error) => Outcome::refused(error.to_string()),
        }
    }
}

/// A dim as candle counts it: a negative one by its own `D::Minus`.
struct Dimension(i64);

impl Dim for Dimension {
    fn to_index(&self, shape: &CandleShape, op: &'static str) -> candle_core::Result<usize> {
        match usize::try_from(self.0) {
            Ok(dim) => dim.to_index(shape, op),
            Err(_) => D::Minus(self.0.unsigned_abs() as usize).to_index(shape, op),
        }
    }

    fn to_index_plus_one(&self, shape: &CandleShape, op: &'static str) -> candle_core::Result<usize> {
        self.to_index(shape, op).map(|dim| dim + 1)
    }
}

/// The tensor in the layout of a variant, by candle's own functions.
fn load(tensor: &Tensor, layout: Option<Way>) -> Option<candle_core::Result<CandleTensor>> {
    let (_, dtype) = DTYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype())?;
    let contiguous =
        CandleTensor::from_raw_buffer(&tensor.to_le_bytes()?, dtype, tensor.shape(), &Device::Cpu);
    Some(contiguous.and_then(|contiguous| match layout {
        Some(Way::Offset) if tensor.rank() > 0 => {
            contiguous.pad_with_zeros(0, 1, 1)?.narrow(0, 1, tensor.shape()[0])
        }
        Some(Way::Expanded) => contiguous.narrow(0, 0, 1)?.broadcast_as(&**tensor.shape()),
        _ => Ok(contiguous),
    }))
}

fn store(dtype: DType, output: &CandleTensor) -> candle_core::Result<Outcome> {
    fn bytes<T: WithDType, const N: usize>(
        output: &CandleTensor,
        le: impl Fn(T) -> [u8; N],
    ) -> candle_core::Result<Vec<u8>> {
        Ok(output.flatten_all()?.to_vec1::<T>()?.into_iter().flat_map(le).collect())
    }
    let bytes = match output.dtype() {
        CandleType::U8 => bytes(output, u8::to_le_bytes)?,
        CandleType::I16 => bytes(output, i16::to_le_bytes)?,
        CandleType::I32 => bytes(output, i32::to_le_bytes)?,
        CandleType::U32 => bytes(output, u32::to_le_bytes)?,
        CandleType::I64 => bytes(output, i64::to_le_bytes)?,
        CandleType::F16 => bytes(output, f16::to_le_bytes)?,
        CandleType::BF16 => bytes(output, bf16::to_le_bytes)?,
        CandleType::F32 => bytes(output, f32::to_le_bytes)?,
        CandleType::F64 => bytes(output, f64::to_le_bytes)?,
        other => return Ok(Outcome::Unsupported(format!("an output of {other:?}"))),
    };
    if let Some(too_large) = Outcome::too_large(dtype, output.dims()) {
        return Ok(too_large);
    }
    let shape = Shape::new(output.dims()).map_err(candle_core::Error::wrap)?;
    Ok(Tensor::from_le_bytes(dtype, shape, &bytes)
        .map_or_else(|error| Outcome::Unsupported(error.to_string()), Outcome::Output))
}
