//! The pages say how to install from a checkout until the packages are published, and then by their names. What differs stands
//! here; `GATHERSPEC_BLESS=1` turns the pages after the switch is turned.

use gatherspec::internals::published::{PUBLISHED, either};

use crate::tutorial::root;

/// Of a page, what it says in a checkout, and with published packages.
const PAGES: &[(&str, &str, &str)] = &[
    (
        "README.md",
        "pip install ./conformance                     # in a checkout; it builds the program",
        "pip install gatherspec",
    ),
    (
        "README.md",
        "`cargo install --path conformance` puts it on your path",
        "`cargo install --locked gatherspec` puts it on your path",
    ),
    (
        "conformance/PYTHON.md",
        "pip install ./conformance    # in a checkout of this repository; it builds the program with Rust 1.95 or later",
        "pip install gatherspec",
    ),
    (
        "conformance/RUST.md",
        "gather-conformance = { path = \"../gatherspec/conformance/core\", features = [\"harness\"] }\ngather-spec = { path = \"../gatherspec/spec\" }",
        "gather-conformance = { version = \"0.1\", features = [\"harness\"] }\ngather-spec = \"0.1\"",
    ),
    ("conformance/RUST.md", ", with this repository checked out beside your crate,", ""),
    (
        "conformance/README.md",
        "cargo install --path conformance    # puts `gatherspec` on your path; it needs no checkout afterwards",
        "cargo install --locked gatherspec   # or: pip install gatherspec",
    ),
];

#[test]
fn each_page_says_how_to_install_what_there_is() {
    let bless = std::env::var_os("GATHERSPEC_BLESS").is_some();
    for (page, checkout, published) in PAGES {
        let path = root().join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (here, other) = (either(published, checkout), if PUBLISHED { checkout } else { published });
        if bless && !here.is_empty() && !text.contains(here) {
            std::fs::write(&path, text.replace(other, here)).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(here), "{page} lacks `{here}`");
    }
}
