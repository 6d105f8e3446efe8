//! A backend in Rust, and the suite as its tests. In your own crate this is `tests/conformance.rs`, with
//!
//! ```toml
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//!
//! Here: `cargo run --example my_gather`, or `cargo run --example my_gather -- documented` for some of the tests.

use std::collections::BTreeMap;
use std::process::ExitCode;

use gather_conformance::backend::{Backend, Capability, Description, Identity};
use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{BadIndex, Call, DType, NegativeIndex, Outcome, Profile, Tensor};

fn main() -> ExitCode {
    gather_conformance::harness(MyGather::new)
}

/// What is tested: a `gather_nd` on row-major numbers.
fn my_gather_nd(
    params: &[u64],
    params_shape: &[usize],
    indices: &[i128],
    indices_shape: &[usize],
) -> Result<(Vec<u64>, Vec<usize>), &'static str> {
    let Some((depth, outer)) = indices_shape.split_last() else { return Err("indices has rank 0") };
    if *depth > params_shape.len() {
        return Err("the index vectors are longer than params has dims");
    }
    let (axes, slice) = params_shape.split_at(*depth);
    let shape = [outer, slice].concat();
    if nonzero_bytes(&shape, DType::I64) > MAX_BYTES {
        return Err("the output would be too large");
    }
    let length: usize = slice.iter().product();
    let rows: usize = outer.iter().product();
    let mut output = Vec::new();
    if *depth == 0 && length == 0 {
        return Ok((output, shape)); // of up to 2^64 rows, none of which has anything to look at
    }
    for row in 0..rows {
        let mut start = 0;
        for (index, bound) in indices[row * depth..][..*depth].iter().zip(axes) {
            let index = usize::try_from(*index).ok().filter(|index| index < bound);
            start = start * bound + index.ok_or("an index is out of range")?;
        }
        output.extend_from_slice(&params[start * length..][..length]);
    }
    Ok((output, shape))
}

/// [`my_gather_nd`] as `paddle.gather_nd`.
struct MyGather;

impl MyGather {
    fn new() -> Self {
        Self
    }
}

impl Backend for MyGather {
    fn describe(&self) -> Description {
        let capability = Capability {
            profile: Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject },
            dtypes: vec![DType::I64, DType::F64],
            index_dtypes: vec![DType::I32, DType::I64],
            ..Capability::default()
        };
        let (name, version, language) = ("my_gather".to_owned(), "0.1.0".to_owned(), "Rust".to_owned());
        Description {
            backend: Identity { name, version, language },
            operators: BTreeMap::from([("paddle.gather_nd".to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([input, index]) = call.operands.in_order() else { return unsupported("input and index") };
        let Some(params) = input.view::<u64>() else { return unsupported("8-byte elements only") };
        if !matches!(index.dtype(), DType::I32 | DType::I64) || !call.attributes.is_empty() {
            return unsupported("i32 or i64 indices, and no attributes");
        }
        let params: Vec<u64> = params.iter().copied().collect();
        let positions = index.shape().positions();
        let indices: Vec<i128> = positions.filter_map(|at| index.integer(&at)).collect();
        match my_gather_nd(&params, input.shape(), &indices, index.shape()) {
            Ok((output, shape)) => Tensor::new(input.dtype(), shape, output)
                .map_or_else(|error| unsupported(&error.to_string()), Outcome::Output),
            Err(message) => Outcome::refused(message),
        }
    }
}

fn unsupported(why: &str) -> Outcome {
    Outcome::Unsupported(why.to_owned())
}
