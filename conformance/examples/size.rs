//! Counts the project's code: lines by folder, lengths of functions and of files.
//!
//! ```sh
//! cargo run --release -p gather-conformance --example size -- [CHECKOUT]
//! ```
//!
//! It counts the files that git tracks in CHECKOUT (default: this one), all lines of them: every `*.rs` under a `src`,
//! `examples` or `benches` folder, without the modules under `#[cfg(test)]`, and every `*.py` of adapters, their kit and
//! the oracle. A function is as long as its lines from `fn` to the closing brace.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
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
        if is_code(path) {
            let text = fs::read_to_string(checkout.join(path))?;
            folder.add(path, &text).map_err(|error| format!("{path}: {error}"))?;
        }
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "folder",
        "files in git",
        "files of code",
        "lines",
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
    for column in 1..7 {
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

/// Whether a file is code that the project runs on, not a test of it.
fn is_code(path: &str) -> bool {
    let in_folder = |name| path.split('/').rev().skip(1).any(|folder| folder == name);
    if path.ends_with(".rs") {
        let of_tests = path.ends_with("/tests.rs") || in_folder("tests") || in_folder("fuzz_targets");
        return !of_tests && (in_folder("src") || in_folder("examples") || in_folder("benches"));
    }
    path.ends_with(".py") && (in_folder("backends") || path.ends_with("oracle.py"))
}

/// What a folder holds.
#[derive(Default)]
struct Folder {
    tracked: usize,
    files: usize,
    lines: usize,
    functions: Vec<usize>,
    longest: (usize, String),
}

impl Folder {
    fn add(&mut self, path: &str, text: &str) -> syn::Result<()> {
        let mut lines = text.lines().count();
        if path.ends_with(".rs") {
            let mut found = Functions::default();
            found.visit_file(&syn::parse_file(text)?);
            lines -= found.of_tests;
            self.functions.append(&mut found.lengths);
        }
        self.files += 1;
        self.lines += lines;
        self.longest = self.longest.clone().max((lines, path.to_owned()));
        Ok(())
    }

    fn merge(&mut self, other: &Self) {
        self.tracked += other.tracked;
        self.files += other.files;
        self.lines += other.lines;
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
            self.files.to_string(),
            self.lines.to_string(),
            share(50),
            share(99),
            share(100),
            if path.is_empty() { String::new() } else { format!("{longest} {path}") },
        ]
    }
}

/// The functions of a file, and the lines of its modules of tests.
#[derive(Default)]
struct Functions {
    lengths: Vec<usize>,
    of_tests: usize,
}

impl<'a> Visit<'a> for Functions {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if module.attrs.iter().any(is_for_tests) {
            self.of_tests += lines_of(module);
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

fn lines_of(item: &impl Spanned) -> usize {
    let span = item.span();
    span.end().line + 1 - span.start().line
}

fn length(signature: &syn::Signature, block: &syn::Block) -> usize {
    block.span().end().line + 1 - signature.span().start().line
}
