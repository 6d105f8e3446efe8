//! `tf.gather_nd` for one dtype of params and one of indices, right or with one bug; in Rust, and built from C.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use gather_conformance::Backend;
use gather_conformance::backend::{Capability, Description, Identity};
use gather_spec::shape::{MAX_BYTES, nonzero_bytes};
use gather_spec::{Attribute, Call, DType, Element, Outcome, Profile, Shape, Tensor, TensorBuilder};

/// The most elements that an output may have.
const MOST: usize = 1 << 20;

/// What a kernel does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    None,
    /// `index > bound` in place of `index >= bound`.
    BoundsOffByOne,
    /// `batch_dims` is not looked at.
    BatchIgnored,
    /// The last component of a row is not checked.
    LastComponentUnchecked,
}

impl Bug {
    pub(crate) fn named(name: &str) -> Self {
        let all = [Self::None, Self::BoundsOffByOne, Self::BatchIgnored, Self::LastComponentUnchecked];
        all.into_iter().find(|bug| format!("{bug:?}") == name).unwrap()
    }
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub(crate) params: DType,
    pub(crate) indices: DType,
    pub(crate) bug: Bug,
}

impl Backend for Kernel {
    fn describe(&self) -> Description {
        let capability = Capability {
            profile: Profile::default(),
            dtypes: vec![self.params],
            index_dtypes: vec![self.indices],
            ..Capability::default()
        };
        let (name, version, language) = ("narrow".to_owned(), "1".to_owned(), "Rust".to_owned());
        Description {
            backend: Identity { name, version, language },
            operators: BTreeMap::from([("tf.gather_nd".to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let Some([params, indices]) = call.operands.in_order() else {
            return Outcome::Unsupported("other operands".to_owned());
        };
        if params.dtype() != self.params || indices.dtype() != self.indices {
            return Outcome::Unsupported("another dtype".to_owned());
        }
        match self.gather_nd(call, params, indices) {
            Ok(output) => Outcome::Output(output),
            Err(message) => Outcome::refused(message),
        }
    }
}

impl Kernel {
    fn gather_nd(self, call: &Call, source: &Tensor, rows: &Tensor) -> Result<Tensor, &'static str> {
        let (params, indices) = (source.shape(), rows.shape());
        let (depth, outer) = indices.split_last().ok_or("indices is a scalar")?;
        let batch = match call.attributes.get("batch_dims") {
            Some(Attribute::Integer(batch)) => {
                usize::try_from(*batch).map_err(|_| "batch_dims is negative")?
            }
            _ => 0,
        };
        if batch > outer.len() || batch > params.len() || params[..batch] != indices[..batch] {
            return Err("the batch does not fit");
        }
        let axes = batch..batch.checked_add(*depth).filter(|end| *end <= params.len()).ok_or("too deep")?;
        let slice = &params[axes.end..];
        let shape = Shape::new([outer, slice].concat()).map_err(|_| "too large")?;
        if nonzero_bytes(&shape, self.params) > MAX_BYTES || shape.element_count() > MOST {
            return Err("too large");
        }
        let elements: Vec<Element> = source.iter().collect();
        let values: Vec<i128> = indices.positions().filter_map(|at| rows.integer(&at)).collect();
        let rows = if *depth > 0 { values.len() / depth } else { shape.element_count().min(MOST) };
        let length: usize = slice.iter().product();
        let rows = if *depth == 0 { rows / length.max(1) } else { rows };
        let per_batch = (rows / params[..batch].iter().product::<usize>().max(1)).max(1);
        let mut output = TensorBuilder::new(self.params, shape).map_err(|_| "no memory")?;
        for row in 0..rows {
            let first = if self.bug == Bug::BatchIgnored { 0 } else { row / per_batch };
            let at = self.offset(first, &values[row * depth..][..*depth], &params[axes.clone()])?;
            for place in 0..length {
                let from = usize::try_from(at * length as i128 + place as i128).ok();
                let element = from.and_then(|from| elements.get(from)).cloned();
                output.push(element.unwrap_or_else(|| Element::zero(self.params)));
            }
        }
        output.finish().map_err(|_| "the elements do not fill the shape")
    }

    /// The number of the slice that an index row selects.
    fn offset(self, batch: usize, row: &[i128], axes: &[usize]) -> Result<i128, &'static str> {
        let mut at = batch as i128;
        for (place, (index, bound)) in row.iter().zip(axes).enumerate() {
            let bound = *bound as i128;
            let most = if self.bug == Bug::BoundsOffByOne { bound } else { bound - 1 };
            let checked = self.bug != Bug::LastComponentUnchecked || place + 1 < row.len();
            if checked && !(0..=most).contains(index) {
                return Err("an index is out of range");
            }
            at = at.wrapping_mul(bound).wrapping_add(*index);
        }
        Ok(at)
    }
}

/// Builds the same kernel from C; nothing without a C compiler, or for strings, which the kernel in C does not move.
pub(crate) fn build(kernel: &Kernel, library: &Path) -> Option<()> {
    if kernel.params == DType::String {
        return None;
    }
    let upper = |dtype: DType| format!("GATHERSPEC_{}", dtype.name().to_uppercase());
    let defined = [
        format!("PARAMS={}", upper(kernel.params)),
        format!("SIZE={}", kernel.params.size()),
        format!("INDICES={}", upper(kernel.indices)),
        format!("INDEX=int{}_t", 8 * kernel.indices.size()),
        format!("{:?}", kernel.bug),
    ];
    compile("kernel.c", &defined, library)
}

/// Compiles a file beside `kernel.c` to a library; `None` where there is no compiler.
pub(crate) fn compile(file: &str, defined: &[String], library: &Path) -> Option<()> {
    let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-I"]);
    command.arg(here("include")).args(defined.iter().map(|name| format!("-D{name}")));
    command.arg("-o").arg(library).arg(here("tests/narrow_kernels").join(file));
    let Ok(output) = command.output() else {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no C compiler {compiler}; CC names another");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}
