//! Reads files: all YAML files of a folder, or a single one. Sizes are limited, and pipes do not block.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use walkdir::WalkDir;

use crate::diagnostic::Diagnostic;
use crate::yaml::{MAX_FILE_BYTES, too_long};

/// A file of a specification.
#[derive(Clone, Copy)]
pub(super) struct SpecificationFile<'a> {
    /// Its path within the folder of the specification, which says what it is.
    pub(super) place: &'a str,
    /// Its name in messages.
    pub(super) name: &'a str,
    pub(super) bytes: &'a [u8],
}

impl<'a> SpecificationFile<'a> {
    pub(super) const fn new(place: &'a str, name: &'a str, bytes: &'a [u8]) -> Self {
        Self { place, name, bytes }
    }
}

/// What a folder holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    /// A specification.
    Whole,
    /// A part to be added to one.
    Added,
}

/// The YAML files of a specification, by their paths within its folder.
pub(super) fn read_all(root: &Path, holds: Root) -> Result<Vec<(String, Vec<u8>)>, Vec<Diagnostic>> {
    let mut files = Vec::new();
    for entry in WalkDir::new(root).sort_by_file_name() {
        let entry =
            entry.map_err(|error| vec![Diagnostic::file(root.display().to_string(), error.to_string())])?;
        let name = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let name =
            name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        if !entry.file_type().is_dir() && name.ends_with(".yaml") {
            files.push((name, read_file(entry.path()).map_err(|diagnostic| vec![diagnostic])?));
        }
    }
    let wrong = |what, help| Err(vec![Diagnostic::file(root.display().to_string(), what).help(help)]);
    match holds {
        Root::Whole if !files.iter().any(|(name, _)| name == "documents.yaml") => wrong(
            "this folder has no documents.yaml",
            "a specification is laid out like the folder `spec` of GatherSpec",
        ),
        Root::Added if files.is_empty() => wrong(
            "this folder has nothing to add",
            "an operator is operators/<ecosystem>/<operator>/operator.yaml, with clauses.yaml and case files beside it",
        ),
        _ => Ok(files),
    }
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = path.display().to_string();
    let cannot = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Diagnostic::file(&name, "there is no such file"),
        io::ErrorKind::PermissionDenied => {
            Diagnostic::file(&name, "the file may not be read").help("you lack the permission")
        }
        _ => Diagnostic::file(&name, format!("the file cannot be read: {error}")),
    };
    let no_file = || Diagnostic::file(&name, "this is not a file").help("name the YAML files themselves");
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(no_file());
    }
    let file = open_without_waiting(path).map_err(cannot)?;
    // Checked again, since the path may lead to something else by now.
    let metadata = file.metadata().map_err(cannot)?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    if metadata.len() > MAX_FILE_BYTES as u64 {
        return Err(too_long(&name, metadata.len()));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read. One byte beyond the limit is enough to notice.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

/// Opens a file for reading without blocking on a named pipe.
fn open_without_waiting(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.read(true).open(path)
}
