//! Embeds every YAML file of the specification, so that an installed program needs no checkout. Without the feature
//! `cases` there is nothing to embed.

#[cfg(not(feature = "cases"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}

#[cfg(feature = "cases")]
fn main() {
    use std::fmt::Write as _;
    use std::path::Path;

    use walkdir::WalkDir;

    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let root = Path::new(&root);
    let mut list = String::from("&[\n");
    for entry in WalkDir::new(root).sort_by_file_name() {
        let entry = entry.expect("the folder of the specification can be read");
        let path = entry.path();
        let relative = path.strip_prefix(root).expect("walked from the root");
        if entry.file_type().is_dir()
            && ["operators", "families"].iter().any(|folder| relative.starts_with(folder))
        {
            // A new file changes its folder.
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if entry.file_type().is_file() && path.extension().is_some_and(|extension| extension == "yaml") {
            println!("cargo::rerun-if-changed={}", path.display());
            let name = relative
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect::<Vec<_>>()
                .join("/");
            writeln!(list, "    ({name:?}, include_bytes!({:?})),", path.display().to_string())
                .expect("writing to a String");
        }
    }
    list.push_str("]\n");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("embedded.rs"), list).expect("OUT_DIR can be written");
}
