//! Explains why a program cannot be started. The system's error names neither a missing interpreter nor what
//! is wrong with a file that exists.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use crate::files::open_regular;

/// How many bytes of a file to look at.
const BEGINNING: u64 = 256;

/// The message for a program that cannot be started.
pub(super) fn explain(program: &Path, error: &io::Error) -> String {
    let what = format!("{} cannot be started: {error}", program.display());
    let Some(file) = found(program) else {
        return match program.components().count() {
            // A bare name is searched on `PATH` only.
            1 if program.is_file() => {
                format!("{what}\nhelp: the one in this folder is ./{}", program.display())
            }
            _ => what,
        };
    };
    match help(&file, error) {
        Some(help) => format!("{what}\nhelp: {help}"),
        None => what,
    }
}

/// Refuses a text that names no interpreter, as the system does. Where the child sets a limit before it
/// executes the program, the C library would hand the text to a shell.
#[cfg(unix)]
pub(super) fn check(program: &Path) -> io::Result<()> {
    let Some(file) = found(program).filter(|file| file.is_file() && is_executable(file)) else {
        return Ok(());
    };
    let beginning = beginning(&file);
    let is_text = !beginning.starts_with(b"\x7fELF") && std::str::from_utf8(&beginning).is_ok();
    if is_text && interpreter(&beginning).is_none() {
        return Err(rustix::io::Errno::NOEXEC.into());
    }
    Ok(())
}

/// Accepts every program: other systems have no such check.
#[cfg(not(unix))]
pub(super) fn check(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The file of a program, searched on `PATH` if it is a bare name.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        return program.exists().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// What is wrong with a file that exists.
fn help(file: &Path, error: &io::Error) -> Option<String> {
    let name = file.display();
    if file.is_dir() {
        return Some(format!("{name} is a folder"));
    }
    // Reading another kind of file, such as a named pipe, might never end.
    if !file.is_file() {
        return Some(format!("{name} is no regular file"));
    }
    let beginning = beginning(file);
    let interpreter = interpreter(&beginning);
    match (error.kind(), interpreter) {
        (ErrorKind::NotFound, Some(interpreter)) if interpreter.ends_with('\r') => Some(format!(
            "its first line names the interpreter {interpreter:?}: end the line with a line feed alone"
        )),
        (ErrorKind::NotFound, Some(interpreter)) => {
            Some(format!("{name} is there, but its interpreter {interpreter} is not"))
        }
        (ErrorKind::NotFound, None) => Some(format!(
            "{name} is there, but the loader that it was built for is not; `file {name}` names it"
        )),
        (ErrorKind::PermissionDenied, _) if !is_executable(file) => {
            Some(format!("make it executable: chmod +x {name}"))
        }
        (ErrorKind::PermissionDenied, Some(interpreter)) => {
            Some(format!("its interpreter {interpreter} cannot be executed"))
        }
        _ if !is_of_no_known_format(error) => None,
        _ if beginning.starts_with(b"\x7fELF") => {
            Some(format!("{name} was built for another system or processor; `file {name}` names them"))
        }
        _ => Some(format!(
            "{name} is neither a program of this system nor a script: a script begins with #! and its interpreter"
        )),
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(unix)]
fn is_of_no_known_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error())
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

#[cfg(not(unix))]
fn is_of_no_known_format(_: &io::Error) -> bool {
    false
}

/// The first bytes of a regular file.
fn beginning(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = open_regular(file).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    bytes
}

/// The interpreter that a script names after `#!`.
fn interpreter(beginning: &[u8]) -> Option<String> {
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    // A carriage return at the end belongs to the name.
    line.split([' ', '\t']).find(|word| !word.is_empty()).map(str::to_owned)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::process::{ProcessBackend, Trivial};

    /// The message for a program with these bytes.
    fn said(bytes: &[u8], mode: u32) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, bytes).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        said_of(&program).replace(folder.path().to_str().unwrap(), "")
    }

    fn said_of(program: &Path) -> String {
        ProcessBackend::new(program).run_each(Trivial::Runs(&[]), &[], &|_| ()).unwrap_err().why
    }

    #[test]
    fn a_program_that_is_there_and_does_not_start_is_told_from_one_that_is_missing() {
        let mut cases = vec![
            (
                b"#!/no/such/python3 -u\n".to_vec(),
                "/program is there, but its interpreter /no/such/python3 is not",
            ),
            (
                b"#! /bin/sh\r\n".to_vec(),
                "the interpreter \"/bin/sh\\r\": end the line with a line feed alone",
            ),
            (b"echo\n".to_vec(), "/program is neither a program of this system nor a script"),
            (Vec::new(), "/program is neither a program of this system nor a script"),
            (b"#!\n".to_vec(), "/program is neither a program of this system nor a script"),
        ];
        if cfg!(target_os = "linux") {
            let mut shell = std::fs::read("/bin/sh").unwrap();
            let at = shell.windows(4).position(|bytes| bytes == b"/lib").expect("it names a loader");
            shell[at + 1] = b'-';
            cases.push((shell, "but the loader that it was built for is not"));
        }
        for (bytes, words) in cases {
            let (said, beginning) =
                (said(&bytes, 0o755), String::from_utf8_lossy(&bytes[..bytes.len().min(30)]));
            assert!(said.starts_with("/program cannot be started: "), "{beginning}: {said}");
            assert!(said.contains(words), "{beginning}: {said} lacks {words}");
        }
        assert!(said(b"#!/bin/sh\n", 0o644).contains("make it executable: chmod +x /program"));
        assert!(said(b"#!/etc/passwd\n", 0o755).contains("its interpreter /etc/passwd cannot be executed"));
        let folder = tempfile::tempdir().unwrap();
        assert!(said_of(folder.path()).ends_with(" is a folder"));
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        assert!(said_of(&pipe).ends_with(" is no regular file"));
        assert!(!said_of(&folder.path().join("nothing")).contains("help: "));
        assert!(!said_of(Path::new("no-such-program")).contains("help: "));
    }

    #[test]
    fn a_name_alone_is_looked_for_on_the_path_and_not_in_this_folder() {
        // Tests run in the folder of the package.
        assert!(said_of(Path::new("Cargo.toml")).ends_with("help: the one in this folder is ./Cargo.toml"));
        let found = found(Path::new("sh")).unwrap();
        assert!(found.is_absolute() && found.ends_with("sh"));
    }
}
