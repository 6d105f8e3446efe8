//! Params and indices of a workload, each in a file unless it consists of strings. After each request the files are compared
//! with what was written: a backend that changes them is named, and the others get new ones.

use std::io;

use gather_benches::Inputs;
use gather_spec::Tensor;

use gather_conformance::internals::process::{InputFile, InputFolder};
use gather_conformance::protocol::TensorMessage;

/// The folder of the files, which goes with this or by a signal.
#[derive(Debug)]
pub(crate) struct OperandFolder {
    folder: InputFolder,
    /// How often operands were written. A backend may keep what it has read from a file, so no name is used twice.
    written: u64,
}

/// Params and indices, and the messages that name their files.
#[derive(Debug)]
pub(super) struct OperandFiles {
    pub(super) params: Tensor,
    pub(super) indices: Tensor,
    pub(super) messages: [TensorMessage; 2],
    files: Vec<InputFile>,
}

impl OperandFolder {
    /// Makes the folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { folder: InputFolder::new()?, written: 0 })
    }

    fn message(
        &mut self,
        name: &str,
        tensor: &Tensor,
        files: &mut Vec<InputFile>,
    ) -> io::Result<TensorMessage> {
        let file = InputFile::new(self.written, name, tensor, &mut self.folder)?;
        let message = file.as_ref().map_or_else(|| TensorMessage::new(tensor), |file| file.message(tensor));
        files.extend(file);
        Ok(message)
    }
}

impl OperandFiles {
    /// Writes the inputs of a workload.
    ///
    /// # Errors
    /// Why they cannot be written.
    pub(super) fn new(inputs: &Inputs, files: &mut OperandFolder) -> Result<Self, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("the inputs cannot be written: {why}");
        let indices = inputs.indices.tensor().map_err(|why| cannot(&why))?;
        Self::write(inputs.params.tensor.clone(), indices, files).map_err(|why| cannot(&why))
    }

    fn write(params: Tensor, indices: Tensor, files: &mut OperandFolder) -> io::Result<Self> {
        files.written += 1;
        let mut written = Vec::new();
        let messages = [
            files.message("params", &params, &mut written)?,
            files.message("indices", &indices, &mut written)?,
        ];
        Ok(Self { params, indices, messages, files: written })
    }

    /// What was done to a file since it was written, if anything. The next requests name new files.
    ///
    /// # Errors
    /// Why new files cannot be written.
    pub(super) fn changed(&mut self, files: &mut OperandFolder) -> Result<Option<String>, String> {
        let Some(how) = self.files.iter().find_map(InputFile::changed) else { return Ok(None) };
        *self = Self::write(self.params.clone(), self.indices.clone(), files)
            .map_err(|why| format!("the inputs cannot be written again: {why}"))?;
        Ok(Some(format!("it changed its inputs: {how}")))
    }
}
