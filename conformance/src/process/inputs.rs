//! A call as a line: small tensors in it, large ones in files beside it, which must come back unchanged.

use std::fs;
use std::path::{Path, PathBuf};

use gather_spec::{Call, Tensor};

use crate::protocol::{CallMessage, Command, TensorMessage};

use super::patience::is_virtual;

/// What stands in a file before the tensor, so that an offset that is not heeded shows. A multiple of every
/// element's size.
const BEFORE: [u8; 64] = [0xA5; 64];

/// A call that is ready to be sent.
#[derive(Debug)]
pub(super) struct Request {
    /// The line, with its end.
    pub(super) line: Vec<u8>,
    len: usize,
    /// The files that it names.
    files: Vec<InputFile>,
    /// Whether the call is of virtual size.
    pub(super) is_virtual: bool,
}

/// A tensor in a file. The file goes with this.
#[derive(Debug)]
struct InputFile {
    operand: &'static str,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Request {
    /// The request for a call; tensors of at least `file_above` bytes go into files in `folder`, if there is room.
    pub(super) fn new(seq: u64, call: &Call, file_above: usize, folder: &Path) -> Self {
        let mut files = Vec::new();
        let mut operand = |name: &'static str, tensor: &Tensor| {
            let size = tensor.shape().element_count().saturating_mul(tensor.dtype().size());
            let file = if size >= file_above { InputFile::new(seq, name, tensor, folder) } else { None };
            let Some(file) = file else { return TensorMessage::new(tensor) };
            let message = TensorMessage {
                dtype: tensor.dtype(),
                shape: tensor.shape().to_vec(),
                data: None,
                file: Some(file.path.to_string_lossy().into_owned()),
                offset: Some(BEFORE.len() as u64),
            };
            files.push(file);
            message
        };
        let message = CallMessage {
            cmd: Command::Call,
            seq,
            operator: call.operator.clone(),
            params: operand("params", &call.params),
            indices: operand("indices", &call.indices),
            attributes: call.attributes.clone(),
        };
        let mut line = serde_json::to_vec(&message).expect("a message is plain data");
        line.push(b'\n');
        Self { len: line.len(), line, files, is_virtual: is_virtual(call) }
    }

    /// The bytes of the line, taken or not.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The line, which is sent once.
    pub(super) fn take_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// What was done to a file, if anything.
    pub(super) fn changed(&self) -> Option<String> {
        self.files.iter().find_map(|file| {
            let operand = file.operand;
            match fs::read(&file.path) {
                Ok(bytes) if bytes == file.bytes => None,
                Ok(bytes) if bytes.len() != file.bytes.len() => Some(format!(
                    "the file of {operand} has {} bytes instead of {}",
                    bytes.len(),
                    file.bytes.len()
                )),
                Ok(bytes) => {
                    let at = bytes.iter().zip(&file.bytes).position(|(now, before)| now != before);
                    Some(format!("the file of {operand} differs from byte {} on", at.unwrap_or_default()))
                }
                Err(error) => Some(format!("the file of {operand} cannot be read any more: {error}")),
            }
        })
    }
}

impl InputFile {
    /// Writes a tensor, unless it consists of strings or there is no room for it.
    fn new(seq: u64, operand: &'static str, tensor: &Tensor, folder: &Path) -> Option<Self> {
        let path = folder.join(format!("{seq}-{operand}.bin"));
        let bytes = [&BEFORE[..], &tensor.to_le_bytes()?].concat();
        let file = Self { operand, path, bytes };
        fs::write(&file.path, &file.bytes).ok()?;
        Some(file)
    }
}

impl Drop for InputFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
