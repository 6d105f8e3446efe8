//! Splits the files of this folder. Each holds the case files of one topic, its documents, under headings of our own,
//! since no mark of YAML survives broken YAML: `#### NAME` and every line up to the next heading are one document.
//! What the loader makes of one of them is no concern of this module.

#![allow(clippy::unwrap_used, reason = "a helper of a test says what it expected by failing")]

use std::path::{Path, PathBuf};

/// A case file that has no file of its own.
#[derive(Debug, PartialEq)]
pub(crate) struct HostileDocument {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The files of a folder in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect();
    files.sort();
    files
}

/// The documents of a file in their order.
pub(crate) fn read(file: &Path) -> Vec<HostileDocument> {
    let documents = split(&std::fs::read_to_string(file).unwrap());
    let mut names: Vec<_> = documents.iter().map(|document| &document.name).collect();
    names.sort();
    assert!(!names.is_empty(), "{}: no document", file.display());
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        panic!("{}: two documents are named `{}`", file.display(), twice[0]);
    }
    documents
}

/// The documents of a text, each byte for byte.
pub(crate) fn split(text: &str) -> Vec<HostileDocument> {
    let mut documents: Vec<HostileDocument> = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(name) = line.strip_prefix("#### ") {
            documents.push(HostileDocument { name: name.trim_end().into(), text: String::new() });
        } else {
            documents.last_mut().expect("a heading before the first line").text += line;
        }
    }
    documents
}
