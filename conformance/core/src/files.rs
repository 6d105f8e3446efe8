//! Access to files that the command line names. Reads only regular files of limited size. Writes a file completely or not
//! at all, and never over a device, a pipe or a folder.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read as _};
use std::path::{Path, PathBuf};

use crate::interrupt;

/// Reads a text file of at most `most` bytes.
///
/// # Errors
/// A message with the path.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    String::from_utf8(read_bytes(path, most)?)
        .map_err(|error| format!("{}: this file is not UTF-8: {error}", path.display()))
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// A message with the path.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let cannot = |error: io::Error| wrong(error.to_string());
    let file = open_regular(path).map_err(cannot)?;
    let size = file.metadata().map_err(cannot)?.len();
    let mut bytes = Vec::new();
    if size <= most {
        // The file may grow while it is read.
        file.take(most + 1).read_to_end(&mut bytes).map_err(cannot)?;
    }
    if size > most || bytes.len() as u64 > most {
        return Err(wrong(format!("this file has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Opens a regular file for reading, and nothing else: opening a named pipe would block until another process
/// writes to it, and opening a device can have side effects.
///
/// # Errors
/// If the path leads to anything else, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    // Checked again after opening, since the path may lead to something else by now.
    let file = open_without_waiting(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Opens a file to be locked, which is made unless it is there. Neither follows a link nor changes what the file holds.
///
/// # Errors
/// If something other than a regular file is there, or it cannot be made.
pub fn open_lock(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => check(&found?)?,
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(io::Error::other(format!("this is {}, not a regular file", kind(metadata.file_type()))))
}

#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

fn kind(file_type: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file_type.is_fifo() {
            return "a named pipe";
        }
        if file_type.is_char_device() || file_type.is_block_device() {
            return "a device";
        }
        if file_type.is_socket() {
            return "a socket";
        }
    }
    if file_type.is_dir() {
        "a directory"
    } else if file_type.is_symlink() {
        "a symbolic link"
    } else {
        "something else"
    }
}

/// Writes a file atomically. A link to a regular file stays a link.
///
/// # Errors
/// If the path names something other than a regular file, or cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole_with(path, |file| file.write_all(bytes))
}

/// Like [`write_whole`], for content that `write` streams so that it is never in memory as a whole.
pub fn write_whole_with(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let (path, before) = target(path)?;
    let _until_then = interrupt::writing();
    let mut file = BufWriter::with_capacity(1 << 16, beside(&path, before.as_ref())?);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Checks, as far as that can be known in advance, that a file can be written.
///
/// # Errors
/// As [`write_whole`].
pub fn check_writable(path: &Path) -> io::Result<()> {
    let (path, before) = target(path)?;
    beside(&path, before.as_ref()).map(drop)
}

/// Resolves the file that a path leads to, with its current metadata.
fn target(path: &Path) -> io::Result<(PathBuf, Option<Metadata>)> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path.to_owned(), None)),
        found => found?,
    };
    let (path, found) = if found.is_symlink() {
        (fs::canonicalize(path)?, fs::metadata(path)?)
    } else {
        (path.to_owned(), found)
    };
    if found.is_file() {
        Ok((path, Some(found)))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file, so it is not replaced"))
    }
}

/// A temporary file in the same folder, with the permissions of the other file or of a new one.
fn beside(path: &Path, before: Option<&Metadata>) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let what = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    }
    let file = new_file().tempfile_in(folder)?;
    if let Some(before) = before {
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok(file)
}

/// A file with the permissions that files usually get.
#[cfg(unix)]
fn new_file() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut file = tempfile::Builder::new();
    file.permissions(fs::Permissions::from_mode(0o666));
    file
}

#[cfg(not(unix))]
fn new_file() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.is_ok_and(|status| status.success()));
    }

    #[test]
    fn nothing_but_a_regular_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [fifo, link, lost, null] = ["fifo", "link", "lost", "null"].map(|name| folder.path().join(name));
        pipe(&fifo);
        symlink("fifo", &link).unwrap();
        symlink("nothing", &lost).unwrap();
        symlink("/dev/null", &null).unwrap();
        for path in [&fifo, &link, &lost, &null, folder.path()] {
            assert!(write_whole(path, b"x").is_err() && check_writable(path).is_err(), "{}", path.display());
        }
        assert!(!fs::metadata(&fifo).unwrap().is_file() && fs::symlink_metadata(&lost).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
        let nowhere = write_whole(&folder.path().join("no/file"), b"x").unwrap_err();
        assert!(nowhere.to_string().starts_with("there is no folder "), "{nowhere}");
    }

    #[test]
    fn a_file_behind_a_link_is_replaced_with_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        check_writable(&link).unwrap();
        write_whole(&link, b"after").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "after");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn only_small_regular_texts_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let [fifo, text, bytes] = ["fifo", "text", "bytes"].map(|name| folder.path().join(name));
        pipe(&fifo);
        fs::write(&text, "four").unwrap();
        fs::write(&bytes, b"\xff").unwrap();
        assert_eq!(read_text(&text, 4).unwrap(), "four");
        assert!(read_text(&text, 3).unwrap_err().ends_with("text: this file has more than 3 bytes"));
        for path in [&fifo, Path::new("/dev/zero"), folder.path()] {
            assert!(read_text(path, 9).unwrap_err().ends_with("not a regular file"), "{}", path.display());
        }
        assert!(read_text(&bytes, 9).unwrap_err().contains("not UTF-8"));
        // A file that becomes a pipe after it was looked at.
        let opened = open_without_waiting(&fifo).unwrap();
        assert!(check(&opened.metadata().unwrap()).is_err());
    }
}
