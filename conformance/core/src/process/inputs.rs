//! Writes a call as one line, with small tensors in it and large ones in files, which the backend must not
//! change. A backend can replace a file or the folder with anything, so nothing here follows a link, waits
//! for a named pipe, or reads more than was written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use gather_spec::tensor::Sparse;
use gather_spec::{Call, Run, Tensor};
use tempfile::TempDir;

use crate::protocol::{CallMessage, Command, OperandMessages, TensorMessage};

use super::patience::is_virtual;

/// What precedes the tensor in a file, so that a backend that ignores the offset is caught. The length is a
/// multiple of every element size.
const BEFORE: [u8; 64] = [0xA5; 64];

/// A call, ready to be sent.
#[derive(Debug)]
pub(super) struct EncodedCall {
    /// The line with its newline, until it is sent.
    line: Vec<u8>,
    len: usize,
    /// The files that it names.
    files: Vec<InputFile>,
    /// Whether the call is of virtual size.
    pub(super) is_virtual: bool,
}

/// A tensor in a file. Dropping this removes the file.
#[derive(Debug)]
pub struct InputFile {
    operand: String,
    path: PathBuf,
    content: Content,
}

/// What was written to a file, to tell later whether it has changed.
#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>),
    /// Zeros except for painted elements. They may be gigabytes, so only the size and the time of the last
    /// change are compared.
    Sparse {
        size: u64,
        modified: Option<SystemTime>,
    },
}

/// The largest operand, in bytes, that is written in full.
const MOST_IN_FULL: usize = 256 << 20;

impl EncodedCall {
    /// The request for a call; tensors of at least `file_above` bytes go into files in `folder`, if there is room.
    pub(super) fn new(seq: u64, call: &Call, file_above: usize, folder: &mut InputFolder) -> Self {
        Self::with_file(seq, call, None, file_above, folder)
    }

    /// The request for the call of a run.
    ///
    /// # Errors
    /// Why it cannot be sent: an operand is too large, or its file cannot be written.
    pub(super) fn of_run(
        seq: u64,
        run: &Run,
        file_above: usize,
        folder: &mut InputFolder,
    ) -> Result<Self, String> {
        let name = &*run.case.names.params;
        let in_file = |sparse: &Arc<Sparse>| {
            InputFile::sparse(seq, name, sparse, folder)
                .map_err(|error| format!("no file for {name}: {error}"))
        };
        let file = run.sparse.as_ref().map(in_file).transpose()?;
        let dense = run.call.operands.iter().filter(|(operand, _)| file.is_none() || *operand != name);
        match dense.map(|(operand, tensor)| (operand, bytes(tensor))).find(|(_, size)| *size > MOST_IN_FULL) {
            Some((operand, size)) => Err(format!("{operand} takes {size} bytes, more than are sent")),
            None => Ok(Self::with_file(seq, &run.call, file, file_above, folder)),
        }
    }

    /// The request for a call, one operand of which may be in a file already.
    fn with_file(
        seq: u64,
        call: &Call,
        mut written: Option<InputFile>,
        file_above: usize,
        folder: &mut InputFolder,
    ) -> Self {
        let mut files = Vec::new();
        let mut operand = |name: &str, tensor: &Tensor| {
            let file = match written.take_if(|file| file.operand == name) {
                // If the file cannot be written, the tensor goes into the line.
                None if bytes(tensor) >= file_above => {
                    InputFile::new(seq, name, tensor, folder).ok().flatten()
                }
                file => file,
            };
            let Some(file) = file else { return TensorMessage::new(tensor) };
            let message = file.message(tensor);
            files.push(file);
            message
        };
        let message = CallMessage {
            cmd: Command::Call,
            seq,
            operator: call.operator.clone(),
            operands: OperandMessages(
                call.operands.iter().map(|(name, tensor)| (name.to_owned(), operand(name, tensor))).collect(),
            ),
            attributes: call.attributes.clone(),
            variant: call.variant.clone(),
        };
        let mut line = serde_json::to_vec(&message).expect("a message is plain data");
        line.push(b'\n');
        Self { len: line.len(), line, files, is_virtual: is_virtual(call) }
    }

    /// The bytes of the line, sent or not, and of its files.
    pub(super) fn held(&self) -> usize {
        self.files.iter().map(InputFile::size).fold(self.len, usize::saturating_add)
    }

    /// Takes the line, which is sent once.
    pub(super) fn take_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// How a file has changed, if one has.
    pub(super) fn changed(&self) -> Option<String> {
        self.files.iter().find_map(InputFile::changed)
    }
}

impl InputFile {
    /// Writes a tensor. Returns `None` if it consists of strings.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(
        seq: u64,
        operand: &str,
        tensor: &Tensor,
        folder: &mut InputFolder,
    ) -> io::Result<Option<Self>> {
        let Some(elements) = tensor.to_le_bytes() else { return Ok(None) };
        let bytes = [&BEFORE[..], &elements].concat();
        let path = folder.write(&file_name(seq, operand), |file| file.write_all(&bytes))?;
        Ok(Some(Self { operand: operand.to_owned(), path, content: Content::Bytes(bytes) }))
    }

    /// The message for the tensor that is in this file.
    pub fn message(&self, tensor: &Tensor) -> TensorMessage {
        TensorMessage {
            dtype: tensor.dtype(),
            shape: tensor.shape().to_vec(),
            data: None,
            file: Some(self.path.to_string_lossy().into_owned()),
            offset: Some(BEFORE.len() as u64),
        }
    }

    /// Writes a tensor that is zero except for painted elements, as a sparse file.
    fn sparse(seq: u64, operand: &str, tensor: &Sparse, folder: &mut InputFolder) -> io::Result<Self> {
        let size = (BEFORE.len() + tensor.bytes()) as u64;
        let path = folder.write(&file_name(seq, operand), |file| {
            file.set_len(size)?;
            file.write_all(&BEFORE)?;
            for (at, run) in tensor.le_runs() {
                file.seek(SeekFrom::Start((BEFORE.len() + at) as u64))?;
                file.write_all(&run)?;
            }
            Ok(())
        })?;
        let modified = fs::metadata(&path)?.modified().ok();
        Ok(Self { operand: operand.to_owned(), path, content: Content::Sparse { size, modified } })
    }

    /// The size of the file in bytes.
    fn size(&self) -> usize {
        match &self.content {
            Content::Bytes(bytes) => bytes.len(),
            Content::Sparse { size, .. } => usize::try_from(*size).unwrap_or(usize::MAX),
        }
    }

    /// How the file has changed, if it has. Compares its kind and size first, then its bytes.
    pub fn changed(&self) -> Option<String> {
        let how = match self.difference() {
            Ok(difference) => difference?,
            Err(error) => format!("cannot be read any more: {error}"),
        };
        Some(format!("the file of {} {how}", self.operand))
    }

    fn difference(&self) -> io::Result<Option<String>> {
        let here = fs::symlink_metadata(&self.path)?;
        if !here.is_file() {
            return Ok(Some(format!("is {} now", kind(here.file_type()))));
        }
        let mut file = open_without_waiting(&self.path)?;
        // Check the open file, too: the path may have been replaced meanwhile.
        let opened = file.metadata()?;
        if !opened.is_file() {
            return Ok(Some(format!("is {} now", kind(opened.file_type()))));
        }
        let (size, expected) = (opened.len(), self.size());
        if size != expected as u64 {
            return Ok(Some(format!("has {size} bytes instead of {expected}")));
        }
        let bytes = match &self.content {
            Content::Bytes(bytes) => bytes,
            Content::Sparse { modified, .. } => {
                return Ok((*modified != opened.modified().ok()).then(|| "was written to".to_owned()));
            }
        };
        let mut read = [0; 64 << 10];
        for (number, part) in bytes.chunks(read.len()).enumerate() {
            let read = &mut read[..part.len()];
            file.read_exact(read)?;
            if let Some(at) = read.iter().zip(part).position(|(now, before)| now != before) {
                return Ok(Some(format!("differs from byte {} on", (number * (64 << 10)) + at)));
            }
        }
        Ok(None)
    }
}

impl Drop for InputFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The file name for an operand. Operand names come from the documents, so only ASCII letters and digits may
/// enter a path.
fn file_name(seq: u64, operand: &str) -> String {
    let plain: String = operand.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
    format!("{seq}-{plain}.bin")
}

/// The bytes of a tensor's elements.
fn bytes(tensor: &Tensor) -> usize {
    tensor.shape().element_count().saturating_mul(tensor.dtype().size())
}

/// The folder for one worker's files. Another one takes its place if a backend removes it or puts something
/// in it.
#[derive(Debug)]
pub struct InputFolder {
    /// The last one is in use. Earlier ones may hold files of calls in flight.
    folders: Vec<TempDir>,
}

/// All folders, for an exit that does not wait for their owners.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl InputFolder {
    /// Makes a new folder. Dropping this removes it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> io::Result<Self> {
        let mut folder = Self { folders: Vec::new() };
        folder.take_another()?;
        Ok(folder)
    }

    fn take_another(&mut self) -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        if let Ok(mut folders) = FOLDERS.lock() {
            folders.push(folder.path().to_owned());
        }
        self.folders.push(folder);
        Ok(())
    }

    /// Writes a new file, in another folder if a backend has changed this one.
    fn write(&mut self, name: &str, fill: impl Fn(&mut File) -> io::Result<()>) -> io::Result<PathBuf> {
        use io::ErrorKind::{AlreadyExists, NotADirectory, NotFound, PermissionDenied};
        match self.write_new(name, &fill) {
            Err(error)
                if matches!(error.kind(), AlreadyExists | NotADirectory | NotFound | PermissionDenied) =>
            {
                self.take_another()?;
                self.write_new(name, &fill)
            }
            written => written,
        }
    }

    fn write_new(&self, name: &str, fill: impl Fn(&mut File) -> io::Result<()>) -> io::Result<PathBuf> {
        let folder = self.folders.last().ok_or(io::ErrorKind::NotFound)?;
        let path = folder.path().join(name);
        // With `create_new`, neither a link nor a file that a backend left here is written to.
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        match fill(&mut file) {
            Ok(()) => Ok(path),
            Err(error) => {
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }
}

impl Drop for InputFolder {
    fn drop(&mut self) {
        // `TempDir` would leave a folder whose permissions a backend has withdrawn.
        let gone: Vec<PathBuf> = self.folders.drain(..).map(TempDir::keep).collect();
        gone.iter().for_each(|folder| remove(folder));
        if let Ok(mut folders) = FOLDERS.lock() {
            folders.retain(|folder| !gone.contains(folder));
        }
    }
}

/// Removes all folders. Nothing may use them any more.
pub(super) fn remove_folders() {
    if let Ok(mut folders) = FOLDERS.lock() {
        folders.drain(..).for_each(|folder| remove(&folder));
    }
}

/// Removes a folder with its content, even if a backend has withdrawn its permissions.
fn remove(folder: &Path) {
    #[cfg(unix)]
    if fs::symlink_metadata(folder).is_ok_and(|here| here.is_dir()) {
        use std::os::unix::fs::PermissionsExt;
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    }
    if fs::remove_dir_all(folder).is_err() {
        // A backend may have put a file in its place.
        let _ = fs::remove_file(folder);
    }
}

/// Opens a file for reading, without following a link and without blocking on a named pipe.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    }
    options.open(path)
}

/// What is there instead of a file, in words.
fn kind(kind: fs::FileType) -> &'static str {
    if kind.is_dir() {
        return "a folder";
    }
    if kind.is_symlink() {
        return "a link";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    "a device"
}
