//! A folder that appears when it is whole.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// A new folder. Until [`Folder::finish`] its files lie in a temporary folder beside it.
#[derive(Debug)]
pub(crate) struct Folder {
    to: PathBuf,
    beside: tempfile::TempDir,
}

impl Folder {
    /// Begins a folder at a path, where there is nothing or an empty folder.
    ///
    /// # Errors
    /// If something is there, or nothing can be written there.
    pub(crate) fn new(to: &Path) -> io::Result<Self> {
        if to.symlink_metadata().is_ok() && !(to.is_dir() && fs::read_dir(to)?.next().is_none()) {
            let why = "this is there already; a new or an empty folder is expected";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let usual = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777);
        #[cfg(unix)]
        builder.permissions(usual);
        let beside = builder.prefix(".gatherspec-").tempdir_in(parent)?;
        Ok(Self { to: to.to_owned(), beside })
    }

    /// Writes a file, by its path in the folder.
    ///
    /// # Errors
    /// If it cannot be written, or is there already.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.beside.path().join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::File::create_new(file)?.write_all(bytes)
    }

    /// Moves everything to where it belongs.
    ///
    /// # Errors
    /// If that cannot be done.
    pub(crate) fn finish(self) -> io::Result<()> {
        if self.to.is_dir() {
            fs::remove_dir(&self.to)?;
        }
        fs::rename(self.beside.path(), &self.to)?;
        let _ = self.beside.keep();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_appears_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let to = place.path().join("new/folder");
        let names = |path: &Path| fs::read_dir(path).unwrap().count();
        drop(Folder::new(&to).unwrap());
        assert_eq!(names(to.parent().unwrap()), 0);
        let folder = Folder::new(&to).unwrap();
        folder.put("a/b.txt", b"b").unwrap();
        assert!(folder.put("a/b.txt", b"c").is_err());
        assert!(!to.exists());
        folder.finish().unwrap();
        assert_eq!(fs::read(to.join("a/b.txt")).unwrap(), b"b");
        assert_eq!(names(to.parent().unwrap()), 1);
        assert_eq!(Folder::new(&to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(to.parent().unwrap()), 1);
    }
}
