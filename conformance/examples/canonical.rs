//! Prints the SHA-256 of the canonical form of each run, then that of the whole set: what shows that a change of the loader
//! left every call and every expectation as it was.
//!
//! ```sh
//! cargo run --release -p gatherspec --example canonical [-- --large] [--within f32 i64]
//! ```
//!
//! The canonical form is one JSON object without spaces, whose keys have the order of the fields of `CanonicalForm`.
//! Elements are hashed little-endian and row-major; of a string, its length in 8 bytes and its bytes; of params that are
//! stored sparsely, the offset and the length of each run in 8 bytes each, and its bytes. The digest of the set is the
//! SHA-256 of one line for each run, ordered by id: its digest, two spaces, the id, a line feed. With `--within`, each run
//! is in the given dtypes of params and indices where its case leaves them open.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use gather_spec::case::{Arm, When};
use gather_spec::load::Wanted;
use gather_spec::tensor::Identity;
use gather_spec::{Allowed, Attribute, DType, Element, ErrorFields, Filled, Run, Specification, Tensor};
use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let wanted =
        if arguments.iter().any(|argument| argument == "--large") { Wanted::Large } else { Wanted::Usual };
    let spec = Specification::embedded_with(&wanted).expect("the embedded specification is valid");
    let hashed = Hashed::default();
    let mut runs = spec.runs();
    if let Some(at) = arguments.iter().position(|argument| argument == "--within") {
        let [params, indices] = [1, 2].map(|nth| {
            let dtype = arguments
                .get(at + nth)
                .and_then(|name| DType::ALL.into_iter().find(|dtype| dtype.name() == name));
            [dtype.expect("--within takes a dtype of params and one of indices")]
        });
        let within = |run: Run| run.within(&params, &indices).expect("memory suffices").into_owned();
        runs = runs.into_par_iter().map(within).collect();
    }
    runs.par_sort_by(|one, other| one.id.cmp(&other.id));
    let lines: Vec<String> =
        runs.par_iter().map(|run| format!("{}  {}\n", hashed.run(run), run.id)).collect();
    let text = lines.concat();
    println!("{text}{}  all {} runs", hex(Sha256::new_with_prefix(&text)), runs.len());
}

/// The largest tensor to hash, in bytes: only the suite of large calls has larger ones.
const LARGEST: usize = 16 << 20;

/// The digits of a digest.
const DIGITS: usize = 64;

fn hex(digest: Sha256) -> String {
    let bytes = digest.finalize();
    bytes.iter().fold(String::with_capacity(DIGITS), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The digests of tensors. Most runs share theirs with those of other operators, so each is hashed once.
#[derive(Default)]
struct Hashed<'a>(Mutex<HashMap<Identity<'a>, Option<Arc<str>>>>);

impl<'a> Hashed<'a> {
    fn run(&self, run: &'a Run) -> String {
        let operands = run.call.operands.iter().map(|(name, tensor)| {
            let sparse = run.sparse.as_ref().filter(|_| *name == *run.case.names.params);
            let sha256 = sparse.map_or_else(|| self.sha256(tensor), |sparse| Some(of_runs(sparse.le_runs())));
            CanonicalOperand {
                name,
                tensor: Digested { dtype: tensor.dtype(), shape: tensor.shape(), sha256 },
            }
        });
        let form = CanonicalForm {
            id: &run.id,
            operator: run.call.operator.as_str(),
            operands: operands.collect(),
            attributes: &run.call.attributes,
            open: [&run.open.params, &run.open.indices],
            expect: run.expect.arms.iter().map(|arm| self.arm(arm)).collect(),
        };
        let form = serde_json::to_vec(&form).expect("a run is plain data");
        hex(Sha256::new_with_prefix(form))
    }

    fn arm(&self, arm: &'a Arm) -> Arms<'a> {
        let When { bad, negative, empty_axis } = arm.when;
        let allowed = arm.allowed.iter().map(|allowed| self.outcome(allowed)).collect();
        Arms { bad, negative, empty_axis, allowed }
    }

    fn outcome(&self, allowed: &'a Allowed) -> CanonicalOutcome<'a> {
        match allowed {
            Allowed::Output(tensor) => CanonicalOutcome::Output(self.tensor(tensor)),
            Allowed::Filled(Filled { zeroed, at, fill }) => {
                CanonicalOutcome::Filled { output: self.tensor(zeroed), at, fill: *fill }
            }
            Allowed::Shape(shape) => CanonicalOutcome::Shape(shape),
            Allowed::Error(code, fields) => CanonicalOutcome::Error { code: code.name(), fields },
            Allowed::AnyError => CanonicalOutcome::AnyError,
            Allowed::Unspecified => CanonicalOutcome::Unspecified,
        }
    }

    fn tensor(&self, tensor: &'a Tensor) -> Digested<'a> {
        Digested { dtype: tensor.dtype(), shape: tensor.shape(), sha256: self.sha256(tensor) }
    }

    fn sha256(&self, tensor: &'a Tensor) -> Option<Arc<str>> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(digest) = known().get(&tensor.identity()) {
            return digest.clone();
        }
        let digest = of_tensor(tensor).map(Arc::from);
        known().insert(tensor.identity(), digest.clone());
        digest
    }
}

/// The canonical form of a run.
#[derive(Serialize)]
struct CanonicalForm<'a> {
    id: &'a str,
    operator: &'a str,
    operands: Vec<CanonicalOperand<'a>>,
    attributes: &'a BTreeMap<String, Attribute>,
    open: [&'a [DType]; 2],
    expect: Vec<Arms<'a>>,
}

#[derive(Serialize)]
struct CanonicalOperand<'a> {
    name: &'a str,
    #[serde(flatten)]
    tensor: Digested<'a>,
}

#[derive(Serialize)]
struct Digested<'a> {
    dtype: DType,
    shape: &'a [usize],
    sha256: Option<Arc<str>>,
}

/// The outcomes allowed under some policies.
#[derive(Serialize)]
struct Arms<'a> {
    bad: Option<gather_spec::BadIndex>,
    negative: Option<gather_spec::NegativeIndex>,
    empty_axis: Option<gather_spec::call::EmptyAxis>,
    allowed: Vec<CanonicalOutcome<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum CanonicalOutcome<'a> {
    Output(Digested<'a>),
    Filled { output: Digested<'a>, at: &'a [usize], fill: gather_spec::signature::Fill },
    Shape(&'a [usize]),
    Error { code: &'a str, fields: &'a ErrorFields },
    AnyError,
    Unspecified,
}

/// The SHA-256 of the elements: little-endian and row-major; of strings, the length of each in 8 bytes, then its bytes. `None`
/// for tensors beyond [`LARGEST`], which may be more than any memory holds.
fn of_tensor(tensor: &Tensor) -> Option<String> {
    let bytes = tensor.shape().element_count().saturating_mul(tensor.dtype().size().max(1));
    if bytes > LARGEST {
        return None;
    }
    if let Some(bytes) = tensor.to_le_bytes() {
        return Some(hex(Sha256::new_with_prefix(bytes)));
    }
    let mut digest = Sha256::new();
    for element in tensor.iter() {
        if let Element::Bytes(bytes) = element {
            digest.update((bytes.as_bytes().len() as u64).to_le_bytes());
            digest.update(bytes.as_bytes());
        }
    }
    Some(hex(digest))
}

/// The SHA-256 of the elements of a tensor of zeros that are not zero: of each run of them the offset and the length in
/// bytes, 8 bytes each, then its bytes.
fn of_runs(runs: impl Iterator<Item = (usize, Vec<u8>)>) -> Arc<str> {
    let mut digest = Sha256::new();
    for (offset, bytes) in runs {
        digest.update((offset as u64).to_le_bytes());
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    hex(digest).into()
}
