//! Files that are generated and checked in are in step with what they are generated from.
//! `GATHERSPEC_BLESS=1 cargo test --test generated` writes them anew.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;

use gather_conformance::{book, results, schemas};
use gather_spec::Specification;

fn assert_in_step(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path);
    if std::env::var_os("GATHERSPEC_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let (line, difference) = (1..)
        .zip(text.lines().zip(found.lines().chain(std::iter::repeat(""))))
        .find(|(_, (new, old))| new != old)
        .map_or((0, String::new()), |(line, (new, old))| (line, format!("\n  now  {new}\n  file {old}")));
    assert!(
        found == text,
        "{} is out of step at line {line}; GATHERSPEC_BLESS=1 writes it anew{difference}",
        path.display()
    );
}

#[test]
fn the_specification_as_one_text() {
    assert_in_step("spec/SPECIFICATION.md", &book::markdown(&Specification::embedded().unwrap()));
}

#[test]
fn the_schemas_of_the_messages() {
    for (name, schema) in schemas::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        assert_in_step(&format!("conformance/schemas/{name}"), &text);
    }
}

#[test]
fn the_page_of_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    assert_in_step("conformance/results/README.md", &results::page(&folder).unwrap());
}
