//! What an export has, and what it leaves out.

use std::collections::BTreeMap;

use gather_conformance::protocol::{CallMessage, OperandMessages};
use gather_spec::{Attributes, ErrorCode, Operator, Run};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::format::Format;

/// The file `manifest.json` of an export.
#[derive(Debug, Serialize)]
pub(crate) struct Manifest {
    /// The format.
    format: Format,
    /// The version of this program. One version writes the same bytes everywhere.
    gatherspec: &'static str,
    /// The number of distinct calls in tests.
    pub(crate) calls: usize,
    /// The tests, a folder or file each, or all tests of a file.
    pub(crate) tests: Vec<Test>,
    /// The runs of the format's own operators that must be refused.
    pub(crate) refused: Vec<RefusedRun>,
    /// How many runs of each operator are no test, by the reason.
    pub(crate) left_out: BTreeMap<Operator, BTreeMap<&'static str, usize>>,
}

/// A folder or a file.
#[derive(Debug, Serialize)]
pub(crate) struct Test {
    /// Its name.
    pub(crate) name: String,
    /// The SHA-256 of the file or, for a folder, of the lines that `sha256sum` prints for its files in the order of their names.
    pub(crate) sha256: String,
    /// Whether the operands are constants of what is compiled.
    pub(crate) constants: bool,
    /// The runs that make this call.
    pub(crate) runs: Vec<String>,
}

/// A run that must be refused.
#[derive(Debug, Serialize)]
pub(crate) struct RefusedRun {
    run: String,
    code: Option<ErrorCode>,
    operands: OperandMessages,
    attributes: Attributes,
}

impl Manifest {
    pub(super) fn new(format: Format) -> Self {
        let (tests, refused, left_out) = Default::default();
        Self { format, gatherspec: env!("CARGO_PKG_VERSION"), calls: 0, tests, refused, left_out }
    }

    /// Notes that a run is no test.
    pub(super) fn leave_out(&mut self, run: &Run, why: &'static str) {
        *self.left_out.entry(run.call.operator.clone()).or_default().entry(why).or_default() += 1;
    }

    /// Notes a run that must be refused.
    pub(super) fn refuse(&mut self, run: &Run, code: Option<ErrorCode>) {
        let CallMessage { operands, attributes, .. } = CallMessage::new(0, &run.call);
        self.refused.push(RefusedRun { run: run.id.clone(), code, operands, attributes });
    }
}

/// A digest in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
