//! candle as a backend of GatherSpec, on the CPU. It has `index_select`, a list of indices along one axis; with the
//! indices flattened before and the output reshaped after, that is `tf.gather` without a batch. Nothing is checked that
//! candle itself does not check.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use candle_core::{DType as CandleType, Device, Tensor as CandleTensor, WithDType};
use gather_conformance::Backend;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_spec::{Attribute, Call, DType, ErrorFields, Outcome, Profile, ReportedError, Shape, Tensor};
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

/// `index_select` takes u8, u32 and i64: i32 is converted to i64.
const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

fn main() -> ExitCode {
    gather_conformance::standalone(|| Candle, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

/// `tf.gather` by `index_select`.
fn gather(params: &CandleTensor, indices: &CandleTensor, axis: i64) -> candle_core::Result<CandleTensor> {
    let axis = match axis {
        axis if axis < 0 => axis.wrapping_add(params.rank() as i64) as usize,
        axis => axis as usize,
    };
    let selected = params.index_select(&indices.to_dtype(CandleType::I64)?.flatten_all()?, axis)?;
    let shape = [&params.dims()[..axis], indices.dims(), &params.dims()[axis + 1..]].concat();
    selected.reshape(shape)
}

struct Candle;

impl Backend for Candle {
    fn describe(&self) -> Description {
        let capability = Capability {
            profile: Profile::default(),
            dtypes: DTYPES.map(|(dtype, _)| dtype).to_vec(),
            index_dtypes: INDEX_DTYPES.to_vec(),
        };
        Description {
            backend: Identity {
                name: "candle".to_owned(),
                version: "0.11.1".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: BTreeMap::from([("tf.gather".to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("two operands are expected".to_owned());
        };
        let dtype = params.dtype();
        let integer = |name: &str| match call.attributes.get(name) {
            Some(Attribute::Integer(value)) => *value,
            _ => 0,
        };
        if integer("batch_dims") != 0 {
            return Outcome::Unsupported("index_select has no batch".to_owned());
        }
        if !INDEX_DTYPES.contains(&indices.dtype()) {
            return Outcome::Unsupported("a dtype of indices that is not declared".to_owned());
        }
        let (Some(params), Some(indices)) = (load(params), load(indices)) else {
            return Outcome::Unsupported("candle has no such dtype".to_owned());
        };
        let output = params
            .and_then(|params| gather(&params, &indices?, integer("axis")))
            .and_then(|output| store(dtype, &output));
        match output {
            Ok(output) => output,
            Err(error) => {
                let (message, fields) = (error.to_string(), ErrorFields::default());
                Outcome::Error(ReportedError { message, code: None, fields })
            }
        }
    }
}

fn load(tensor: &Tensor) -> Option<candle_core::Result<CandleTensor>> {
    let (_, dtype) = DTYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype())?;
    Some(CandleTensor::from_raw_buffer(&tensor.to_le_bytes()?, dtype, tensor.shape(), &Device::Cpu))
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
