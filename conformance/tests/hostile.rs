//! Broken and hostile case files: each is refused with a diagnostic that says what, where and what would be right,
//! in little time and memory. Small ones lie in `hostile/`, named after their fault; `made` writes the others.

#![allow(clippy::unwrap_used, reason = "a helper of a test says what it expected by failing")]

#[path = "hostile/made.rs"]
mod made;

use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use gather_spec::Specification;
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

/// The files in `hostile/` that are refused, or those in `hostile/accepted/`.
fn checked_in(accepted: bool) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let folders = ["", "accepted", "operators/tf/gather", "operators/tf/gather_nd"];
    let files = folders.iter().filter(|folder| (**folder == "accepted") == accepted).flat_map(|folder| {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect()
}

fn made_in(dir: &Path, files: &[made::Made]) -> Vec<PathBuf> {
    files.iter().map(|(name, _)| dir.join(format!("{name}.yaml"))).collect()
}

/// Every refused file, and the folder that keeps those that were made.
fn refused() -> (TempDir, Vec<PathBuf>) {
    let dir = TempDir::new().unwrap();
    made::write_all(dir.path()).unwrap();
    let mut files = checked_in(false);
    files.extend(made_in(dir.path(), made::REFUSED));
    files.extend([made::HUNDRED_MEGABYTES, "missing.yaml", ""].map(|name| dir.path().join(name)));
    (dir, files)
}

#[test]
fn checked_in_files_are_explained() {
    let spec = Specification::embedded().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    insta::glob!("hostile/**/*.yaml", |path| insta::assert_snapshot!(shown(&spec, path, &root)));
}

#[test]
fn made_files_are_explained() {
    let spec = Specification::embedded().unwrap();
    let dir = TempDir::new().unwrap();
    made::write_all(dir.path()).unwrap();
    for (name, _) in made::REFUSED.iter().chain(made::ACCEPTED) {
        let path = dir.path().join(format!("{name}.yaml"));
        let text = shown(&spec, &path, dir.path());
        insta::with_settings!({ snapshot_suffix => *name, omit_expression => true }, {
            insta::assert_snapshot!("made", text);
        });
    }
}

#[test]
fn files_that_cannot_be_read_are_explained() {
    let spec = Specification::embedded().unwrap();
    let dir = TempDir::new().unwrap();
    made::write_all(dir.path()).unwrap();
    let shown = |name: &str| shown(&spec, &dir.path().join(name), dir.path());
    insta::assert_snapshot!("missing", shown("missing.yaml"));
    insta::assert_snapshot!("hundred-megabytes", shown(made::HUNDRED_MEGABYTES));
    std::fs::create_dir(dir.path().join("folder.yaml")).unwrap();
    insta::assert_snapshot!("a-folder", shown("folder.yaml"));
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
        println!("skipped: this user, root perhaps, may read a file that nobody may read");
        return;
    }
    let text = shown(&Specification::embedded().unwrap(), &path, dir.path());
    assert!(text.contains("locked.yaml") && text.contains("may not be read"), "{text}");
}

#[test]
fn what_is_accepted_and_what_is_not() {
    let spec = Specification::embedded().unwrap();
    let (dir, refused) = refused();
    for path in refused {
        assert!(spec.read_case_file(&path).is_err(), "{} was accepted", path.display());
    }
    for path in checked_in(true).into_iter().chain(made_in(dir.path(), made::ACCEPTED)) {
        assert!(spec.read_case_file(&path).is_ok(), "{} was refused", path.display());
    }
}

#[test]
fn check_exits_with_2() {
    let (_dir, files) = refused();
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
    let (dir, mut files) = refused();
    files.extend(checked_in(true));
    files.extend(made_in(dir.path(), made::ACCEPTED));
    // Small files go together, which is the stricter test and the quicker one.
    let (large, small): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| path.starts_with(dir.path()));
    let groups: Vec<&[PathBuf]> = large.chunks(1).chain(small.chunks(20)).collect();
    let over: Vec<String> = groups.par_iter().filter_map(|paths| over_limit(paths)).collect();
    assert!(over.is_empty(), "{}", over.join("\n"));
}

/// Reads files in a process of their own, because the peak of memory is one number per process.
#[cfg(target_os = "linux")]
fn over_limit(paths: &[PathBuf]) -> Option<String> {
    let joined = std::env::join_paths(paths).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "measured", "--ignored", "--nocapture"]).env(FILES, joined).timeout(TIMEOUT);
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
    let spec = Specification::embedded().unwrap();
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
