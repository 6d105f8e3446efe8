//! Counts the project's code: lines by folder, lengths of functions and of files.
//!
//! ```sh
//! cargo run --release -p gatherspec --example size -- [CHECKOUT]
//! ```
//!
//! It reads the files that git tracks in CHECKOUT (default: this one). A line counts unless it is blank or a comment of its
//! own. Product is Rust under `src`, `examples` and `benches`, and Python, JavaScript, C and C++ of backends; tests are
//! modules under `#[cfg(test)]`, and what else is code; data is YAML, JSON, TOML and snapshots. A function is as long as its
//! lines from `fn` to the closing brace, a file as all its lines but its modules of tests.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use comfy_table::{CellAlignment, Table, presets};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

fn main() -> Result<(), Box<dyn Error>> {
    let checkout = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let tracked = tracked(&checkout)?;
    let mut folders: BTreeMap<String, Folder> = BTreeMap::new();
    for path in &tracked {
        let folder = folders.entry(folder_of(path)).or_default();
        folder.tracked += 1;
        if let Some(kind) = kind(path) {
            let text = fs::read_to_string(checkout.join(path))?;
            folder.add(kind, path, &text).map_err(|error| format!("{path}: {error}"))?;
        }
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "folder",
        "files in git",
        "product",
        "tests",
        "data",
        "median fn",
        "p99 fn",
        "longest fn",
        "longest file",
    ]);
    let mut all = Folder::default();
    for (name, folder) in &mut folders {
        table.add_row(folder.row(name));
        all.merge(folder);
    }
    table.add_row(all.row("all"));
    for column in 1..8 {
        table.column_mut(column).expect("a column").set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    Ok(())
}

/// The paths that git tracks, relative to the checkout.
fn tracked(checkout: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let listed = Command::new("git").arg("-C").arg(checkout).args(["ls-files", "-z"]).output()?;
    if !listed.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr)).into());
    }
    let paths = String::from_utf8(listed.stdout)?;
    Ok(paths.split_terminator('\0').map(str::to_owned).collect())
}

/// The first two parts of a path, or `.` for a file of the top level.
fn folder_of(path: &str) -> String {
    let folders: Vec<&str> = path.split('/').collect();
    match folders.len() {
        1 => ".".to_owned(),
        2 => folders[0].to_owned(),
        _ => folders[..2].join("/"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum FileKind {
    Product,
    Tests,
    Data,
}

/// What a file is, by its path.
fn kind(path: &str) -> Option<FileKind> {
    let in_folder = |names: &[&str]| path.split('/').rev().skip(1).any(|folder| names.contains(&folder));
    match path.rsplit_once('.')?.1 {
        "yaml" | "json" | "toml" | "snap" => Some(FileKind::Data),
        "rs" | "py" | "mjs" | "js" | "c" | "cpp" | "h" | "go" => {
            let of_tests = path.ends_with("/tests.rs") || in_folder(&["tests", "fuzz_targets"]);
            let of_product = in_folder(&["src", "examples", "benches", "backends", "include"]);
            Some(if of_product && !of_tests { FileKind::Product } else { FileKind::Tests })
        }
        _ => None,
    }
}

/// The lines of code of a text.
fn lines_of_code<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#');
    // An attribute of Rust begins as a comment of Python does.
    lines
        .map(str::trim)
        .filter(|line| is_code(line) || line.starts_with("#[") || line.starts_with("#!["))
        .count()
}

/// What a folder holds.
#[derive(Default)]
struct Folder {
    tracked: usize,
    product: usize,
    tests: usize,
    data: usize,
    functions: Vec<usize>,
    longest: (usize, String),
}

impl Folder {
    fn add(&mut self, kind: FileKind, path: &str, text: &str) -> syn::Result<()> {
        let all = lines_of_code(text.lines());
        match kind {
            FileKind::Data => self.data += all,
            FileKind::Tests => self.tests += all,
            FileKind::Product => {
                let mut found = Functions::default();
                if path.ends_with(".rs") {
                    found.visit_file(&syn::parse_file(text)?);
                }
                let of_tests = |at: usize| found.of_tests.iter().any(|range| range.contains(&(at + 1)));
                let of_tests = text.lines().enumerate().filter(|(at, _)| of_tests(*at)).map(|(_, line)| line);
                let tests = lines_of_code(of_tests);
                self.tests += tests;
                self.product += all - tests;
                self.functions.append(&mut found.lengths);
                let tests: usize = found.of_tests.iter().map(ExactSizeIterator::len).sum();
                let lines = text.lines().count() - tests;
                self.longest = self.longest.clone().max((lines, path.to_owned()));
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) {
        self.tracked += other.tracked;
        self.product += other.product;
        self.tests += other.tests;
        self.data += other.data;
        self.functions.extend(&other.functions);
        self.longest = self.longest.clone().max(other.longest.clone());
    }

    fn row(&mut self, name: &str) -> Vec<String> {
        self.functions.sort_unstable();
        let (longest, path) = &self.longest;
        let share = |hundredths: usize| match self.functions.len() {
            0 => String::new(),
            count => self.functions[(count - 1) * hundredths / 100].to_string(),
        };
        vec![
            name.to_owned(),
            self.tracked.to_string(),
            self.product.to_string(),
            self.tests.to_string(),
            self.data.to_string(),
            share(50),
            share(99),
            share(100),
            if path.is_empty() { String::new() } else { format!("{longest} {path}") },
        ]
    }
}

/// The functions of a file, and the lines, from 1, of its modules of tests.
#[derive(Default)]
struct Functions {
    lengths: Vec<usize>,
    of_tests: Vec<Range<usize>>,
}

impl<'a> Visit<'a> for Functions {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if module.attrs.iter().any(is_for_tests) {
            let span = module.span();
            self.of_tests.push(span.start().line..span.end().line + 1);
        } else {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        self.lengths.push(length(&function.sig, &function.block));
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        self.lengths.push(length(&function.sig, &function.block));
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'a syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.lengths.push(length(&function.sig, block));
        }
        visit::visit_trait_item_fn(self, function);
    }
}

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
}

fn length(signature: &syn::Signature, block: &syn::Block) -> usize {
    block.span().end().line + 1 - signature.span().start().line
}
