//! Embeds the kept results of libraries, and what is noted of their findings by hand, so that an installed program needs no
//! checkout to show a finding.

use std::path::{Path, PathBuf};

fn main() {
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&root).join("results");
    // A new file changes its folder.
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = std::fs::read_dir(&folder).expect("the folder of results can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let one = |path: &PathBuf| format!("include_bytes!({:?})", path.display().to_string());
    let list: Vec<String> = paths.iter().map(one).collect();
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let written = std::fs::write(Path::new(&out).join("kept.rs"), format!("&[{}]", list.join(", ")));
    written.expect("the list of results can be written");
}
