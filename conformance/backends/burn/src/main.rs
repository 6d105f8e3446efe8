//! burn as a backend of GatherSpec, on its ndarray backend: its own `gather_nd`, and for `tf.gather` its `select`, a
//! list of indices along one axis. burn has the rank in the type, so that params is reshaped to as few axes as the call
//! tells apart for `gather_nd`, and the output back. Nothing is checked that burn itself does not check: what it refuses, it refuses by
//! a panic, which is a crash.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use burn_tensor::{Bool, BoolStore, DType as BurnType, Device, Float, Int, Tensor as BurnTensor, TensorData};
use gather_conformance::Backend;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_spec::{Attribute, BadIndex, Call, DType, Outcome, Profile, Shape, Tensor};

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

const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

fn main() -> ExitCode {
    gather_conformance::standalone(|| Burn, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
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

/// Params of `depth` axes to index and one for the slices, indices of one axis of rows: `gather_nd`.
fn gather_nd(params: TensorData, indices: TensorData, depth: usize) -> Option<TensorData> {
    macro_rules! of_rank {
        ($rank:literal) => {{
            let device = Device::default();
            let indices = BurnTensor::<2, Int>::from_data(indices, (&device, BurnType::I64));
            let dtype = params.dtype();
            each_kind!(dtype, K => {
                let params = BurnTensor::<$rank, K>::from_data(params, (&device, dtype));
                params.gather_nd::<2, 2>(indices).into_data()
            })
        }};
    }
    Some(match depth {
        0 => of_rank!(1),
        1 => of_rank!(2),
        2 => of_rank!(3),
        3 => of_rank!(4),
        4 => of_rank!(5),
        5 => of_rank!(6),
        6 => of_rank!(7),
        7 => of_rank!(8),
        8 => of_rank!(9),
        _ => return None,
    })
}

/// `select` along any axis, negative ones included; gives the output with its shape.
fn select(params: TensorData, rank: usize, indices: TensorData, axis: i64) -> Option<TensorData> {
    macro_rules! of_rank {
        ($rank:literal) => {{
            let device = Device::default();
            let indices = BurnTensor::<1, Int>::from_data(indices, (&device, BurnType::I64));
            let dtype = params.dtype();
            each_kind!(dtype, K => {
                let params = BurnTensor::<$rank, K>::from_data(params, (&device, dtype));
                params.select(axis as isize, indices).into_data()
            })
        }};
    }
    Some(match rank {
        1 => of_rank!(1),
        2 => of_rank!(2),
        3 => of_rank!(3),
        4 => of_rank!(4),
        5 => of_rank!(5),
        6 => of_rank!(6),
        7 => of_rank!(7),
        8 => of_rank!(8),
        _ => return None,
    })
}

struct Burn;

impl Backend for Burn {
    fn describe(&self) -> Description {
        let capability = Capability {
            // "Not all backends have runtime bound checks for the indices."
            profile: Profile { bad: BadIndex::Unspecified, ..Profile::default() },
            dtypes: DTYPES.map(|(dtype, _)| dtype).to_vec(),
            index_dtypes: INDEX_DTYPES.to_vec(),
        };
        let operators = ["tf.gather_nd", "tf.raw_ops.GatherNd", "paddle.gather_nd", "tf.gather"];
        Description {
            backend: Identity {
                name: "burn".to_owned(),
                version: "0.22.1".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: operators.map(|name| (name.to_owned(), capability.clone())).into(),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, index]) = call.operands.in_order() else { return unsupported("two operands are expected") };
        let integer = |name: &str| match call.attributes.get(name) {
            Some(Attribute::Integer(value)) => *value,
            _ => 0,
        };
        if integer("batch_dims") != 0 {
            return unsupported("burn has no batch");
        }
        if !INDEX_DTYPES.contains(&index.dtype()) {
            return unsupported("a dtype of indices that is not declared");
        }
        let Some(indices) = indices(index) else { return unsupported("indices are integers") };
        if call.operator.as_str() == "tf.gather" {
            answer_gather(params, (index, indices), integer("axis"))
        } else {
            answer_gather_nd(params, (index, indices))
        }
    }
}

fn answer_gather_nd(source: &Tensor, (index, indices): (&Tensor, Vec<i64>)) -> Outcome {
    let Some((depth, rows)) = index.shape().split_last() else {
        return unsupported("burn has no tensors of rank 0");
    };
    let params = source.shape();
    if *depth > params.len() {
        return unsupported("the rank of such an output is no rank");
    }
    let (indexed, slice) = (&params[..*depth], &params[*depth..]);
    let shape = [indexed, &[slice.iter().product()]].concat();
    let Some(params) = data(source, shape) else { return unsupported("burn has no such dtype") };
    let indices = TensorData::new(indices, [rows.iter().product(), *depth]);
    match gather_nd(params, indices, *depth) {
        Some(output) => outcome(source, &output, [rows, slice].concat()),
        None => unsupported("more components than this adapter was compiled for"),
    }
}

fn answer_gather(source: &Tensor, (index, indices): (&Tensor, Vec<i64>), axis: i64) -> Outcome {
    let params = source.shape();
    let Some(data) = data(source, params.to_vec()) else {
        return unsupported("burn has no such dtype");
    };
    let count = indices.len();
    let Some(output) = select(data, params.len(), TensorData::new(indices, [count]), axis) else {
        return unsupported("burn has no rank 0, and this adapter was compiled for ranks up to 8");
    };
    // `select` has taken the axis, so that it is in range.
    let axis = if axis < 0 { axis + params.len() as i64 } else { axis } as usize;
    outcome(source, &output, [&params[..axis], index.shape(), &params[axis + 1..]].concat())
}

fn indices(tensor: &Tensor) -> Option<Vec<i64>> {
    let positions = tensor.shape().positions();
    positions.map(|at| tensor.integer(&at).map(|index| index as i64)).collect()
}

fn data(tensor: &Tensor, shape: Vec<usize>) -> Option<TensorData> {
    let (_, dtype) = DTYPES.into_iter().find(|(dtype, _)| *dtype == tensor.dtype())?;
    let mut bytes = tensor.to_le_bytes()?;
    if tensor.dtype() == DType::Bool {
        // A `bool` is nothing but false or true.
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Some(TensorData::from_bytes_vec(bytes, shape, dtype))
}

fn outcome(source: &Tensor, output: &TensorData, shape: Vec<usize>) -> Outcome {
    let dtype = source.dtype();
    if let Some(too_large) = Outcome::too_large(dtype, &shape) {
        return too_large;
    }
    let made = Shape::new(shape).map_err(|error| error.to_string()).and_then(|shape| {
        Tensor::from_le_bytes(dtype, shape, output.as_bytes()).map_err(|error| error.to_string())
    });
    made.map_or_else(|error| unsupported(&error), Outcome::Output)
}

fn unsupported(why: &str) -> Outcome {
    Outcome::Unsupported(why.to_owned())
}
