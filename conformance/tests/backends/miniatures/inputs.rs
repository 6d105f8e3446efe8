//! What backends do to the files and the folder of their inputs.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use gather_conformance::protocol::CallMessage;

pub(super) fn do_to_an_input(mode: &str, path: &Path) -> io::Result<()> {
    if mode == "grows-its-input" {
        return OpenOptions::new().write(true).open(path)?.set_len(1 << 40);
    }
    if mode == "changes-its-input" {
        let mut bytes = std::fs::read(path)?;
        *bytes.last_mut().expect("it is not empty") ^= 1;
        return std::fs::write(path, bytes);
    }
    std::fs::remove_file(path)?;
    match mode {
        "puts-a-pipe-for-its-input" => make_pipe(path),
        "puts-an-endless-device-for-its-input" => std::os::unix::fs::symlink("/dev/zero", path),
        "puts-a-link-for-its-input" => std::os::unix::fs::symlink("/etc/hostname", path),
        "puts-a-folder-for-its-input" => std::fs::create_dir(path),
        _ => Ok(()),
    }
}

/// Changes the files of all calls that are in flight.
pub(super) fn change_all_inputs(message: &CallMessage) -> io::Result<()> {
    let path = Path::new(super::file_of_indices(message).expect("the indices lie in a file"));
    for entry in std::fs::read_dir(path.parent().expect("a file lies in a folder"))? {
        do_to_an_input("changes-its-input", &entry?.path())?;
    }
    Ok(())
}

pub(super) fn make_pipe(path: &Path) -> io::Result<()> {
    Command::new("mkfifo").arg(path).stderr(Stdio::null()).status().map(|_| ())
}

pub(super) fn take_the_folder_away(message: &CallMessage) -> io::Result<()> {
    let path = Path::new(super::file_of_indices(message).expect("the indices lie in a file"));
    std::fs::remove_dir_all(path.parent().expect("a file lies in a folder"))
}
