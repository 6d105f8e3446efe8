//! Cases in the formats that others run without an adapter. A test is a run for which the pages allow one output under every policy.
//! No such format has errors, so the runs that must be refused are listed in the manifest.

mod elements;
mod folder;
mod format;
mod json;
mod manifest;
mod onnx;
mod stablehlo;
mod wpt;
mod writer;

use std::io;

use gather_spec::case::Allowed;
use gather_spec::{Run, Specification, Tensor};

pub(crate) use elements::{are_plain, decimal, nested};
pub(crate) use folder::Folder;
pub(crate) use format::Format;
pub(crate) use json::run as run_as_json;
pub(crate) use manifest::Manifest;
pub(crate) use onnx::model as onnx_model;
pub(crate) use stablehlo::dense;
pub(crate) use wpt::data_type;
use writer::{Export, Tests};

/// Writes runs of cases to a folder in a format. The tensors of a test have at most this many bytes.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn export(
    spec: &Specification,
    format: Format,
    runs: impl Iterator<Item = Run>,
    max_bytes: u64,
    folder: &Folder,
) -> io::Result<Manifest> {
    let mut tests: Box<dyn Tests + '_> = match format {
        Format::Onnx => Box::new(onnx::Folders::new(spec)),
        Format::Stablehlo => Box::new(stablehlo::Modules),
        Format::Wpt => Box::new(wpt::Graphs::default()),
        Format::Json => Box::new(json::Lines::new(spec)),
    };
    let mut to = Export { folder, format, manifest: Manifest::new(format) };
    for run in runs {
        if fits(&run, max_bytes) {
            tests.add(&run, &mut to)?;
        } else {
            to.manifest.leave_out(&run, "their tensors have more bytes than --max-bytes");
        }
    }
    tests.finish(&mut to)?;
    let text = serde_json::to_string_pretty(&to.manifest)? + "\n";
    folder.put("manifest.json", text.as_bytes())?;
    Ok(to.manifest)
}

/// Whether the operands of a run, and its output if it has one, have at most this many bytes.
fn fits(run: &Run, max_bytes: u64) -> bool {
    let outputs = run.expect.allowed().filter_map(|allowed| match allowed {
        Allowed::Output(output) => Some(output),
        Allowed::Filled(filled) => Some(&filled.zeroed),
        _ => None,
    });
    let bytes = |tensor: &Tensor| tensor.shape().element_count().saturating_mul(tensor.dtype().size());
    let largest = outputs.map(bytes).max().unwrap_or(0);
    let all = run.call.operands.tensors().map(bytes).fold(largest, usize::saturating_add);
    run.sparse.is_none() && all as u64 <= max_bytes
}
