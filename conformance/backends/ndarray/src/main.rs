//! ndarray as a backend of GatherSpec: `select`, a list of indices along one axis, which its page for users of NumPy sets
//! beside `take`, here as the Array API has it. Nothing is checked that ndarray itself does not check: what it refuses, it refuses by a panic,
//! which is a crash.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::{Backend, Variants};
use gather_spec::tensor::Stored;
use gather_spec::{Attribute, Call, DType, NegativeIndex, Outcome, Profile, Tensor};
use ndarray::Axis;

/// An index is a `usize`: these are converted.
const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];

fn main() -> ExitCode {
    gatherspec::standalone(|| Ndarray, concat!(env!("CARGO_MANIFEST_DIR"), "/deviations.yaml"))
}

struct Ndarray;

impl Backend for Ndarray {
    fn describe(&self) -> Description {
        let capability = Capability {
            profile: Profile { negative: NegativeIndex::Wrap, ..Profile::default() },
            dtypes: DType::ALL.into_iter().filter(|dtype| *dtype != DType::String).collect(),
            index_dtypes: INDEX_DTYPES.to_vec(),
            // Indices become a list.
            variants: Variants::new(["x=transposed", "x=offset", "x=reversed", "x=stride-0"])
                .expect("these are values of variants"),
            ..Capability::default()
        };
        Description {
            backend: Identity {
                name: "ndarray".to_owned(),
                version: "0.17.2".to_owned(),
                language: "Rust".to_owned(),
            },
            operators: BTreeMap::from([("array_api.take".to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("two operands are expected".to_owned());
        };
        match params.dtype() {
            DType::String => Outcome::Unsupported("a dtype that is not declared".to_owned()),
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
    let unsupported = |why: &str| Outcome::Unsupported(why.to_owned());
    let axis = match call.attributes.get("axis") {
        Some(Attribute::Integer(axis)) => *axis as usize,
        None if source.rank() == 1 => 0,
        _ => return Outcome::refused("select has no default axis"),
    };
    if at.shape().len() != 1 {
        return Outcome::refused("select takes a list of indices");
    }
    let Some(params) = source.view::<T>() else { return unsupported("elements of another width") };
    let positions = at.shape().positions();
    let Some(indices) = positions.map(|position| at.integer(&position)).collect::<Option<Vec<_>>>() else {
        return unsupported("indices are integers");
    };
    let indices: Vec<usize> = indices.into_iter().map(|index| index as usize).collect();
    let selected = params.select(Axis(axis), &indices);
    let shape = selected.shape().to_vec();
    if let Some(too_large) = Outcome::too_large(source.dtype(), &shape) {
        return too_large;
    }
    match Tensor::new(source.dtype(), shape, selected.into_iter().collect()) {
        Ok(output) => Outcome::Output(output),
        Err(error) => unsupported(&error.to_string()),
    }
}
