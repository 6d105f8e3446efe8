//! The schema is in step, every case file keeps to it, and what the loader refuses for its form it refuses, too.

#[path = "../../../../conformance/tests/program/hostile/documents.rs"]
mod documents;

use std::path::Path;

use serde_json::{Value, json};

use crate::load::raw::{CaseFile, FamilyFile};
use crate::yaml::{Node, Spanned, Text};

/// The schema of both kinds of case files, which differ in one key.
fn schema() -> Value {
    let [mut schema, mut of_family] =
        [schemars::schema_for!(CaseFile), schemars::schema_for!(FamilyFile)].map(schemars::Schema::to_value);
    schema["properties"]["form"] = of_family["properties"]["form"].take();
    schema["required"] = json!(["schema", "cases"]);
    schema["oneOf"] = json!([{ "required": ["operator"] }, { "required": ["form"] }]);
    schema
}

/// A YAML node as the JSON value that an editor's validator sees.
fn json(text: Text<'_>, node: &Spanned<Node>) -> Value {
    match &node.value {
        Node::Sequence(rows) => rows.iter().map(|row| json(text, row)).collect(),
        Node::Mapping(entries) => {
            Value::Object(entries.iter().map(|(key, value)| (key.value.clone(), json(text, value))).collect())
        }
        Node::Tagged => json!({ "tagged": true }),
        Node::Scalar(Some(content)) => json!(content),
        Node::Scalar(None) => match text.scalar(node).unwrap_or_default() {
            "" | "~" | "null" => Value::Null,
            raw => serde_json::from_str(raw).unwrap_or_else(|_| json!(raw)),
        },
    }
}

fn problems(name: &str, bytes: &[u8]) -> Vec<String> {
    let text = Text::new(name, bytes).unwrap();
    let node: Spanned<Node> = text.parse().unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    validator.iter_errors(&json(text, &node)).map(|error| error.to_string()).collect()
}

fn yaml_files(folder: &str) -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files =
        walkdir::WalkDir::new(root).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    let data = ["clauses.yaml", "operator.yaml"];
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .filter(|path| !data.iter().any(|name| path.ends_with(name)))
        .collect()
}

#[test]
fn the_checked_in_schema_is_in_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("case-file.schema.json");
    let text = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("GATHERSPEC_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{} is out of step; GATHERSPEC_BLESS=1 writes it anew", path.display());
}

#[test]
fn every_case_file_is_valid() {
    let mut files = yaml_files("operators");
    files.extend(yaml_files("families"));
    files.retain(|file| !file.ends_with("errata.yaml") && !file.ends_with("inventory.yaml"));
    assert!(files.len() > 30);
    for file in files {
        let (name, bytes) = (file.display().to_string(), std::fs::read(&file).unwrap());
        assert_eq!(problems(&name, &bytes), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_the_loader_refuses_for_its_form_the_schema_refuses_too() {
    let refused = [
        "key-unknown",
        "key-misspelt",
        "key-with-underscore",
        "expect-error-unknown",
        "expect-policy",
        "dtype-unknown",
        "for-each-unknown",
        "fill-unknown",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/tests/hostile");
    let mut documents: Vec<_> =
        documents::files(&folder).iter().flat_map(|file| documents::read(file)).collect();
    documents.retain(|document| refused.iter().any(|name| document.name.starts_with(name)));
    assert!(documents.len() >= 15, "{documents:?}");
    for document in documents {
        assert_ne!(problems(&document.name, document.text.as_bytes()), Vec::<String>::new(), "{document:?}");
    }
}
