//! ndarray as a backend of GatherSpec. It has `select`, a list of indices along one axis; with the indices flattened
//! before and the output reshaped after, that is `tf.gather` without a batch. Nothing is checked that ndarray itself
//! does not check: what it refuses, it refuses by a panic, which is a crash.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use gather_conformance::Backend;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_spec::tensor::Stored;
use gather_spec::{Attribute, ByteString, Call, DType, Outcome, Profile, Tensor};
use ndarray::{ArrayViewD, Axis};

/// An index is a `usize`: these are converted.
const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

fn main() -> ExitCode {
    gather_conformance::standalone(|| Ndarray, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

/// `tf.gather` by `select`.
fn gather<T: Clone>(
    params: &ArrayViewD<'_, T>,
    indices: &[usize],
    shape: &[usize],
    axis: usize,
) -> (Vec<usize>, Vec<T>) {
    let selected = params.select(Axis(axis), indices);
    let shape = [&params.shape()[..axis], shape, &params.shape()[axis + 1..]].concat();
    (shape, selected.into_iter().collect())
}

struct Ndarray;

impl Backend for Ndarray {
    fn describe(&self) -> Description {
        let capability = Capability {
            profile: Profile::default(),
            dtypes: DType::ALL.to_vec(),
            index_dtypes: INDEX_DTYPES.to_vec(),
        };
        Description {
            backend: Identity {
                name: "ndarray".to_owned(),
                version: "0.17.2".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: BTreeMap::from([("tf.gather".to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("two operands are expected".to_owned());
        };
        match params.dtype() {
            DType::String => answer::<ByteString>(call, params, indices),
            dtype => match dtype.size() {
                1 => answer::<u8>(call, params, indices),
                2 => answer::<u16>(call, params, indices),
                4 => answer::<u32>(call, params, indices),
                8 => answer::<u64>(call, params, indices),
                _ => answer::<u128>(call, params, indices),
            },
        }
    }
}

/// ndarray moves elements of any type, so that they are moved as their bits.
fn answer<T: Stored>(call: &Call, source: &Tensor, at: &Tensor) -> Outcome {
    let integer = |name: &str| match call.attributes.get(name) {
        Some(Attribute::Integer(value)) => *value,
        _ => 0,
    };
    if integer("batch_dims") != 0 {
        return Outcome::Unsupported("select has no batch".to_owned());
    }
    let Some(params) = source.view::<T>() else {
        return Outcome::Unsupported("elements of another width".to_owned());
    };
    if !INDEX_DTYPES.contains(&at.dtype()) {
        return Outcome::Unsupported("a dtype of indices that is not declared".to_owned());
    }
    let positions = at.shape().positions();
    let Some(indices) = positions.map(|position| at.integer(&position)).collect::<Option<Vec<_>>>() else {
        return Outcome::Unsupported("indices are integers".to_owned());
    };
    let indices: Vec<usize> = indices.into_iter().map(|index| index as usize).collect();
    let axis = match integer("axis") {
        axis if axis < 0 => axis.wrapping_add(params.ndim() as i64) as usize,
        axis => axis as usize,
    };
    let (shape, elements) = gather(&params, &indices, at.shape(), axis);
    if let Some(too_large) = Outcome::too_large(source.dtype(), &shape) {
        return too_large;
    }
    match Tensor::new(source.dtype(), shape, elements) {
        Ok(output) => Outcome::Output(output),
        Err(error) => Outcome::Unsupported(error.to_string()),
    }
}
