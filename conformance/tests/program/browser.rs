//! The HTML report in a real browser: `browser/check.mjs` opens reports that this test makes. Without Node, Chromium or the
//! packages of `browser/package-lock.json` it is skipped, and said to be; with `GATHERSPEC_BROWSER=1` it fails.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gatherspec::internals::report;

use crate::page::made;

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// What this machine lacks, if anything.
fn lacks() -> Option<&'static str> {
    let starts =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
    let chromium = std::env::var("CHROMIUM").is_ok_and(|path| starts(&path));
    match () {
        () if !starts("node") => Some("there is no node on the path"),
        () if !chromium && !["chromium", "chromium-browser", "google-chrome"].into_iter().any(starts) => {
            Some("there is no chromium on the path; on Debian it is the package chromium")
        }
        () if !tests().join("browser/node_modules/puppeteer-core").is_dir() => {
            Some("`npm ci --ignore-scripts` in conformance/tests/browser installs its packages")
        }
        () => None,
    }
}

#[test]
fn the_page_works_in_a_browser() {
    if let Some(what) = lacks() {
        assert!(std::env::var_os("GATHERSPEC_BROWSER").is_none(), "{what}");
        let _ = writeln!(std::io::stderr(), "skipped: {what}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let gatherspec = env!("CARGO_BIN_EXE_gatherspec");
    let run = Command::new(gatherspec)
        .args([
            "run",
            "--cases",
            "cases/wrong.yaml",
            "--backend",
            "reference",
            "--backend",
            "optimized",
            "--out",
        ])
        .arg(folder.path().join("wrong"))
        .current_dir(tests())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));

    let spec = crate::embedded();
    let cases = made::cases(spec, 7_000);
    let names: Vec<String> = (0..10).map(|number| format!("backend {number} <b>")).collect();
    report::write(&made::report(spec, &cases, &names, 20), &folder.path().join("large"), spec, &cases)
        .unwrap();

    let mut check = Command::new("node");
    check.arg(tests().join("browser/check.mjs")).arg(folder.path()).arg(gatherspec);
    let checked = check.output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    let _ = write!(std::io::stderr(), "{said}");
    assert!(checked.status.success(), "{said}{}", String::from_utf8_lossy(&checked.stderr));
}
