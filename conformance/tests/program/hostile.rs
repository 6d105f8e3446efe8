//! Broken and hostile case files: each is refused with a diagnostic that says what, where and what would be right,
//! in little time and memory. Small ones stand in the files of `hostile/`, by topic and named after their fault; `made`
//! writes the others. Before it is read, each goes to a file of its own, so that a diagnostic has the lines of that file.

mod documents;
mod made;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use gather_spec::Specification;
use gather_spec::load::Wanted;
use rayon::prelude::*;
use tempfile::TempDir;

/// What reading a file shows, with paths that are the same on every machine.
fn shown(spec: &Specification, path: &Path, dir: &Path) -> String {
    let text = match spec.read_case_file(path) {
        Ok(cases) => format!("accepted, number of cases: {}", cases.len()),
        Err(wrong) => wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"),
    };
    text.replace(&format!("{}/", dir.display()), "")
}

/// What reading each file shows, below its name.
fn all_shown(spec: &Specification, files: &[PathBuf], dir: &Path) -> String {
    let one = |path: &PathBuf| {
        let name = path.strip_prefix(dir).unwrap().with_extension("");
        format!("#### {}\n{}\n", name.display(), shown(spec, path, dir))
    };
    files.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Files that are refused, and files that are accepted.
#[derive(Default)]
struct HostileFiles {
    refused: Vec<PathBuf>,
    accepted: Vec<PathBuf>,
}

/// Writes each document of a file as TOPIC/NAME.yaml.
fn write_documents(file: &Path, dir: &Path) -> Vec<PathBuf> {
    let topic = dir.join(file.file_stem().unwrap());
    let write = |document: documents::HostileDocument| {
        let path = topic.join(format!("{}.yaml", document.name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, document.text).unwrap();
        path
    };
    documents::read(file).into_iter().map(write).collect()
}

/// Every document of `hostile/`: those of `accepted.yaml` are accepted.
fn checked_in(dir: &Path) -> HostileFiles {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut files = HostileFiles::default();
    for file in documents::files(&root) {
        let written = write_documents(&file, dir);
        if file.ends_with("accepted.yaml") { files.accepted = written } else { files.refused.extend(written) }
    }
    files
}

/// Every file that is made, a missing one, and a folder.
fn made(dir: &Path) -> HostileFiles {
    let mut refused: Vec<_> =
        made::REFUSED.iter().flat_map(|topic| made::write(*topic, dir).unwrap()).collect();
    refused.push(made::write_hundred_megabytes(dir).unwrap());
    refused.extend([dir.join("missing.yaml"), dir.to_path_buf()]);
    HostileFiles { refused, accepted: made::write(made::ACCEPTED, dir).unwrap() }
}

#[test]
fn a_document_is_all_between_two_headings() {
    let found = documents::split("#### a\n\n---\n# b\n#### b\n#### c/d\n\tx");
    let found: Vec<_> = found.iter().map(|document| (&*document.name, &*document.text)).collect();
    assert_eq!(found, [("a", "\n---\n# b\n"), ("b", ""), ("c/d", "\tx")]);
}

#[test]
fn checked_in_files_are_explained() {
    let spec = Specification::embedded_with(&Wanted::None).unwrap();
    insta::glob!("..", "hostile/*.yaml", |file| {
        let dir = TempDir::new().unwrap();
        let files = write_documents(file, dir.path());
        insta::assert_snapshot!(all_shown(&spec, &files, dir.path()));
    });
}

#[test]
fn made_files_are_explained() {
    let spec = Specification::embedded_with(&Wanted::None).unwrap();
    let dir = TempDir::new().unwrap();
    for topic in made::REFUSED.iter().chain([&made::ACCEPTED]) {
        let files = made::write(*topic, dir.path()).unwrap();
        let text = all_shown(&spec, &files, dir.path());
        insta::with_settings!({ snapshot_suffix => topic.0, omit_expression => true }, {
            insta::assert_snapshot!("made", text);
        });
    }
}

#[test]
fn files_that_cannot_be_read_are_explained() {
    let spec = Specification::embedded_with(&Wanted::None).unwrap();
    let dir = TempDir::new().unwrap();
    let huge = made::write_hundred_megabytes(dir.path()).unwrap();
    let folder = dir.path().join("a-folder.yaml");
    std::fs::create_dir(&folder).unwrap();
    let files = [dir.path().join("missing.yaml"), huge, folder];
    insta::assert_snapshot!("unreadable", all_shown(&spec, &files, dir.path()));
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_explained() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("locked.yaml");
    std::fs::write(&path, "schema: 1\n").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        println!("skipped: this user, root perhaps, may read a file whose permissions allow no reader");
        return;
    }
    let text = shown(&Specification::embedded_with(&Wanted::None).unwrap(), &path, dir.path());
    assert!(text.contains("locked.yaml") && text.contains("may not be read"), "{text}");
}

#[test]
fn what_is_accepted_and_what_is_not() {
    above_quick!();
    let spec = Specification::embedded_with(&Wanted::None).unwrap();
    let dir = TempDir::new().unwrap();
    for files in [checked_in(dir.path()), made(dir.path())] {
        for path in files.refused {
            assert!(spec.read_case_file(&path).is_err(), "{} was accepted", path.display());
        }
        for path in files.accepted {
            assert!(spec.read_case_file(&path).is_ok(), "{} was refused", path.display());
        }
    }
}

#[test]
fn check_exits_with_2() {
    above_quick!();
    let dir = TempDir::new().unwrap();
    let files = [checked_in(dir.path()).refused, made(dir.path()).refused].concat();
    files.par_iter().for_each(|path| {
        let mut check = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        let output = check.arg("check").arg(path).timeout(TIMEOUT).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{}: {stderr}", path.display());
        assert!(stderr.starts_with("error: ") && !stderr.contains("panicked"), "{stderr}");
    });
}

/// For a process that hangs; far more than any file takes.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The most processor time that reading a file may take, and the most memory beyond what was held before.
#[cfg(target_os = "linux")]
const LIMIT: (Duration, u64) = (Duration::from_secs(2), 100 << 20);

/// Tells `measured` which files to read.
#[cfg(target_os = "linux")]
const FILES: &str = "GATHERSPEC_HOSTILE_FILES";

#[cfg(target_os = "linux")]
#[test]
fn no_file_takes_long_or_much_memory() {
    let dir = TempDir::new().unwrap();
    let (small, large) = (checked_in(dir.path()), made(dir.path()));
    let small = [small.refused, small.accepted].concat();
    let large = [large.refused, large.accepted].concat();
    // Small files go together, which is the stricter test and the quicker one.
    let groups: Vec<&[PathBuf]> = large.chunks(1).chain(small.chunks(20)).collect();
    let over: Vec<String> = groups.par_iter().filter_map(|paths| over_limit(paths)).collect();
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// Reads files in a process of their own, because the peak of memory is one number per process.
#[cfg(target_os = "linux")]
fn over_limit(paths: &[PathBuf]) -> Option<String> {
    let joined = std::env::join_paths(paths).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "hostile::measured", "--ignored", "--nocapture"])
        .env(FILES, joined)
        .timeout(TIMEOUT);
    let output = child.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let measured = stdout.lines().find_map(|line| line.strip_prefix("measured "));
    let numbers: Option<Vec<u64>> =
        measured.map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect());
    match numbers.as_deref() {
        Some([millis, bytes]) if Duration::from_millis(*millis) <= LIMIT.0 && *bytes <= LIMIT.1 => None,
        _ => Some(format!("{paths:?}: {measured:?} (ms, bytes), {}", output.status)),
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "no_file_takes_long_or_much_memory runs this in processes of its own"]
fn measured() {
    let Some(paths) = std::env::var_os(FILES) else { return };
    let spec = Specification::embedded_with(&Wanted::None).unwrap();
    // Forgets the peak so far.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (time, held) = (processor_millis(), status_bytes("VmRSS:"));
    for path in std::env::split_paths(&paths) {
        let read = spec.read_case_file(&path);
        let shown: usize = read.err().iter().flatten().map(|diagnostic| diagnostic.to_string().len()).sum();
        assert!(shown < 100_000, "{shown} bytes of diagnostics");
    }
    println!("\nmeasured {} {}", processor_millis() - time, status_bytes("VmHWM:").saturating_sub(held));
}

/// User and system time of this process; Linux counts it in hundredths of a second.
#[cfg(target_os = "linux")]
fn processor_millis() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..=12].iter().map(|ticks| 10 * ticks.parse::<u64>().unwrap()).sum()
}

#[cfg(target_os = "linux")]
fn status_bytes(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    1024 * line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
}
