//! Files that are generated and checked in are in step with what they are generated from.
//! `GATHERSPEC_BLESS=1 cargo test --test program generated` writes them anew.

use std::collections::BTreeMap;
use std::path::Path;

use gather_conformance::schemas;
use gatherspec::internals::book;
use gatherspec::internals::questions;
use gatherspec::internals::report;
use gatherspec::internals::results;

use crate::in_step::assert_in_step;

#[test]
fn the_specification_as_one_text() {
    assert_in_step("spec/SPECIFICATION.md", &book::markdown(crate::embedded()));
}

#[test]
fn the_pictures_of_the_forms() {
    let pictures = book::pictures(crate::embedded());
    let files: Vec<&str> = pictures.iter().map(|(file, _)| file.as_str()).collect();
    let forms = ["pictures/take.svg", "pictures/nd.svg", "pictures/elements.svg", "pictures/window.svg"];
    assert_eq!(files, forms);
    for (file, picture) in &pictures {
        assert_in_step(&format!("spec/{file}"), picture);
    }
}

#[test]
fn the_cases_of_families_that_are_left_out() {
    assert_in_step("spec/families/LEFT-OUT.md", &book::left_out(crate::embedded()));
}

#[test]
fn the_questions_operator_by_operator() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let page = questions::page(crate::embedded(), &results::read(&folder).unwrap());
    assert_in_step("spec/QUESTIONS.md", &page);
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

#[test]
fn the_versions_of_a_finding_are_told_of_a_case_that_shows_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let since = std::fs::read_to_string(folder.join("since.yaml")).unwrap();
    let since: BTreeMap<String, String> = serde_yaml::from_str(&since).unwrap();
    let results = results::read(&folder).unwrap();
    let all = results.iter().flat_map(|of| &of.deviations).filter(|deviation| deviation.finding);
    let shown: Vec<&str> = all.map(|deviation| deviation.case.as_str()).collect();
    let stray: Vec<_> = since.keys().filter(|case| !shown.contains(&case.as_str())).collect();
    assert!(since.len() > 20 && stray.is_empty(), "no finding is shown by {stray:?}");
}

#[test]
fn the_schema_of_reports() {
    let text = serde_json::to_string_pretty(&report::schema()).unwrap() + "\n";
    assert_in_step("conformance/schemas/report.schema.json", &text);
}
