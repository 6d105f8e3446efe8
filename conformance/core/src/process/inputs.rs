//! A call as a line: small tensors in it, large ones in files beside it, which must come back unchanged. A backend can
//! put anything in the place of a file, or of the folder: nothing here follows a link, waits for a named pipe, or reads
//! more than was written.

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

/// What stands in a file before the tensor, so that an offset that is not heeded shows. A multiple of every
/// element's size.
const BEFORE: [u8; 64] = [0xA5; 64];

/// A call that is ready to be sent.
#[derive(Debug)]
pub(super) struct Request {
    /// The line, with its end, until it is sent.
    line: Vec<u8>,
    len: usize,
    /// The files that it names.
    files: Vec<InputFile>,
    /// Whether the call is of virtual size.
    pub(super) is_virtual: bool,
}

/// A tensor in a file. The file goes with this.
#[derive(Debug)]
pub struct InputFile {
    operand: String,
    path: PathBuf,
    content: Content,
}

/// What is in a file, for whoever looks whether it is still there.
#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>),
    /// Zeros but for painted places, which are not read again: gigabytes of them would be.
    Sparse {
        size: u64,
        modified: Option<SystemTime>,
    },
}

/// The most bytes of an operand that is written in full.
const MOST_IN_FULL: usize = 256 << 20;

impl Request {
    /// The request for a call; tensors of at least `file_above` bytes go into files in `folder`, if there is room.
    pub(super) fn new(seq: u64, call: &Call, file_above: usize, folder: &mut InputFolder) -> Self {
        Self::with_file(seq, call, None, file_above, folder)
    }

    /// The request for the call of a run.
    ///
    /// # Errors
    /// Why it cannot be sent: its operands are too large, and there is no file for them.
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

    /// The request for a call of which one operand may be in a file already.
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
                // Without room for a file, the tensor is in the line.
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
        };
        let mut line = serde_json::to_vec(&message).expect("a message is plain data");
        line.push(b'\n');
        Self { len: line.len(), line, files, is_virtual: is_virtual(call) }
    }

    /// The bytes of the line, taken or not, and of the files beside it.
    pub(super) fn held(&self) -> usize {
        self.files.iter().map(InputFile::size).fold(self.len, usize::saturating_add)
    }

    /// The line, which is sent once.
    pub(super) fn take_line(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.line)
    }

    /// What was done to a file, if anything.
    pub(super) fn changed(&self) -> Option<String> {
        self.files.iter().find_map(InputFile::changed)
    }
}

impl InputFile {
    /// Writes a tensor; gives `None` if it consists of strings.
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

    /// Writes a tensor that is zero but for painted places, which alone take room.
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

    /// The bytes of the file.
    fn size(&self) -> usize {
        match &self.content {
            Content::Bytes(bytes) => bytes.len(),
            Content::Sparse { size, .. } => usize::try_from(*size).unwrap_or(usize::MAX),
        }
    }

    /// What was done to the file, if anything: first its kind and size are looked at, then its bytes.
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
        // What is open is what counts: the path may lead elsewhere meanwhile.
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

/// The name of the file of an operand. That is the document's: what is no plain word is not part of a path.
fn file_name(seq: u64, operand: &str) -> String {
    let plain: String = operand.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
    format!("{seq}-{plain}.bin")
}

/// The bytes of a tensor, element by element.
fn bytes(tensor: &Tensor) -> usize {
    tensor.shape().element_count().saturating_mul(tensor.dtype().size())
}

/// Where one worker's files lie: in one folder, unless a backend takes it away or puts something in it.
#[derive(Debug)]
pub struct InputFolder {
    /// The last one is in use. Those before may hold files of calls in flight.
    folders: Vec<TempDir>,
}

/// The folders that there are, for an end that does not wait for their owners.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl InputFolder {
    /// A folder of its own, which goes with this.
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

    /// Writes a new file, in another folder if this one is not as it was.
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
        let gone: Vec<PathBuf> = self.folders.drain(..).map(TempDir::keep).collect();
        gone.iter().for_each(|folder| remove(folder));
        if let Ok(mut folders) = FOLDERS.lock() {
            folders.retain(|folder| !gone.contains(folder));
        }
    }
}

/// Removes every folder that there is; nothing may use them any more.
pub(super) fn remove_folders() {
    if let Ok(mut folders) = FOLDERS.lock() {
        folders.drain(..).for_each(|folder| remove(&folder));
    }
}

/// Removes a folder with all that is in it, even if a backend has closed it.
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

/// Opens a file for reading. A link is an error, and what cannot be read at once is not waited for.
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

/// What lies there instead of a file, in words.
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
