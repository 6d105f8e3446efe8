//! tract as a backend of GatherSpec: its own `GatherNd` and `Gather`, evaluated as they are, with the indices cast to
//! i64 for `Gather` as its loader of ONNX does. Nothing is checked that tract itself does not check: some of what it
//! refuses, it refuses by a panic, which is a crash.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use gather_conformance::Backend;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_spec::{
    Attribute, Call, DType, ErrorFields, NegativeIndex, Outcome, Profile, ReportedError, Shape, Tensor,
};
use tract_core::internal::{
    Datum, EvalOp, TValue, TVec, Tensor as TractTensor, TractResult, format_err, tvec,
};
use tract_core::ops::array::{Gather, GatherNd};
use tract_core::prelude::f16;

const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::I8,
    DType::U8,
    DType::I16,
    DType::U16,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::F16,
    DType::F32,
    DType::F64,
];

const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

fn main() -> ExitCode {
    gather_conformance::standalone(|| Tract, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

struct Tract;

impl Backend for Tract {
    fn describe(&self) -> Description {
        let capability = |dtypes: &[DType], negative| Capability {
            profile: Profile { negative, ..Profile::default() },
            dtypes: dtypes.to_vec(),
            index_dtypes: INDEX_DTYPES.to_vec(),
        };
        let gather_nd = capability(&DTYPES, NegativeIndex::Reject);
        Description {
            backend: Identity {
                name: "tract".to_owned(),
                version: "0.23.9".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: BTreeMap::from([
                ("tf.gather_nd".to_owned(), gather_nd.clone()),
                ("tf.raw_ops.GatherNd".to_owned(), gather_nd.clone()),
                ("paddle.gather_nd".to_owned(), gather_nd),
                ("tf.gather".to_owned(), capability(&DTYPES, NegativeIndex::Wrap)),
            ]),
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
        let (axis, batch_dims) = (integer("axis"), integer("batch_dims"));
        let is_gather = call.operator.as_str() == "tf.gather";
        if is_gather && batch_dims != 0 {
            return Outcome::Unsupported("Gather has no batch".to_owned());
        }
        if !INDEX_DTYPES.contains(&indices.dtype()) {
            return Outcome::Unsupported("a dtype of indices that is not declared".to_owned());
        }
        let (Some(params), Some(indices)) = (load(params), load(indices)) else {
            return Outcome::Unsupported("a dtype that is not declared".to_owned());
        };
        let output = params.and_then(|params| {
            if is_gather {
                let axis = if axis < 0 { axis.wrapping_add(params.rank() as i64) } else { axis };
                let indices = indices?.cast_to::<i64>()?.into_owned();
                evaluate(&Gather::new(axis as usize), params, indices)
            } else {
                evaluate(&GatherNd { batch_dims: batch_dims as usize }, params, indices?)
            }
        });
        match output.and_then(|output| store(dtype, &output)) {
            Ok(outcome) => outcome,
            Err(error) => {
                let (message, fields) = (format!("{error:#}"), ErrorFields::default());
                Outcome::Error(ReportedError { message, code: None, fields })
            }
        }
    }
}

fn evaluate(operator: &dyn EvalOp, params: TractTensor, indices: TractTensor) -> TractResult<TValue> {
    let inputs: TVec<TValue> = tvec!(params.into(), indices.into());
    let outputs = operator.eval_out_of_plan(inputs)?.ok_or_else(|| format_err!("it needs a plan"))?;
    outputs.into_iter().next().ok_or_else(|| format_err!("there is no output"))
}

/// Calls `$body` with `$ty` as the type of the elements of a dtype, bools aside; `None` for one that is not declared.
macro_rules! each {
    ($dtype:expr, $ty:ident => $body:expr) => {
        match $dtype {
            DType::I8 => each!(@ i8, $ty => $body),
            DType::U8 => each!(@ u8, $ty => $body),
            DType::I16 => each!(@ i16, $ty => $body),
            DType::U16 => each!(@ u16, $ty => $body),
            DType::I32 => each!(@ i32, $ty => $body),
            DType::U32 => each!(@ u32, $ty => $body),
            DType::I64 => each!(@ i64, $ty => $body),
            DType::U64 => each!(@ u64, $ty => $body),
            DType::F16 => each!(@ f16, $ty => $body),
            DType::F32 => each!(@ f32, $ty => $body),
            DType::F64 => each!(@ f64, $ty => $body),
            _ => None,
        }
    };
    (@ $of:ty, $ty:ident => $body:expr) => {{
        type $ty = $of;
        Some($body)
    }};
}

fn load(tensor: &Tensor) -> Option<TractResult<TractTensor>> {
    let (shape, bytes) = (&**tensor.shape(), tensor.to_le_bytes()?);
    if tensor.dtype() == DType::Bool {
        let elements: Vec<bool> = bytes.iter().map(|byte| *byte != 0).collect();
        return Some(TractTensor::from_shape(shape, &elements));
    }
    each!(tensor.dtype(), T => {
        let chunks = bytes.chunks_exact(size_of::<T>());
        let elements: Vec<T> =
            chunks.map(|chunk| T::from_le_bytes(chunk.try_into().expect("chunks are of that size"))).collect();
        TractTensor::from_shape(shape, &elements)
    })
}

fn store(dtype: DType, output: &TractTensor) -> TractResult<Outcome> {
    fn elements<T: Datum>(output: &TractTensor) -> TractResult<Vec<T>> {
        Ok(output.to_plain_array_view::<T>()?.iter().cloned().collect())
    }
    let bytes = if dtype == DType::Bool {
        elements::<bool>(output)?.into_iter().map(u8::from).collect()
    } else {
        let bytes = each!(dtype, T => elements::<T>(output)?.into_iter().flat_map(T::to_le_bytes).collect::<Vec<u8>>());
        bytes.unwrap_or_default()
    };
    if let Some(too_large) = Outcome::too_large(dtype, output.shape()) {
        return Ok(too_large);
    }
    let shape = Shape::new(output.shape())?;
    Ok(Tensor::from_le_bytes(dtype, shape, &bytes)
        .map_or_else(|error| Outcome::Unsupported(error.to_string()), Outcome::Output))
}
