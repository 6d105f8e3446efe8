//! The README is run: its console blocks print what it says, and its table of files is true.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;

#[test]
fn the_console_blocks_print_what_the_readme_says() {
    trycmd::TestCases::new()
        .register_bin("gatherspec", Path::new(env!("CARGO_BIN_EXE_gatherspec")))
        .env("COLUMNS", "110")
        .case("../README.md");
}

#[test]
fn the_links_of_the_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for page in ["README.md", "CONTRIBUTING.md", "conformance/PROTOCOL.md"] {
        let page = root.join(page);
        let text = std::fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let exists = page.parent().unwrap().join(target).exists();
            assert!(target.starts_with("https://") || exists, "{} links to {target}", page.display());
        }
    }
}

#[test]
fn the_matrix_of_the_readme_is_the_one_that_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut run = assert_cmd::Command::cargo_bin("gatherspec").unwrap();
    let output = run.args(["run", "--out"]).arg(folder.path()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let matrix = printed.split("reports:").next().unwrap();
    assert!(readme.contains(matrix), "the README should show\n{matrix}");
}
