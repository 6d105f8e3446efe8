//! The cases that a command line names: files, and a selection.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gather_spec::load::Wanted;
use gather_spec::{Basis, Case, Signatures, Specification};

use gather_conformance::internals::select::{CaseSelection, Pattern, Suite};
use gather_conformance::internals::words::name;

use super::ending::Failure;

/// The suites by name, with what is in them.
const SUITES: [(&str, Suite, &str); 2] = [
    ("smoke", Suite::Smoke, "At most 60 runs of each operator, chosen by the mutants that they catch"),
    (
        "large",
        Suite::Large,
        "Outputs above 8 and 64 MiB, and params beyond 2^32 elements and bytes; these cases are in no other suite",
    ),
];

/// The values of `--suite`.
pub(super) fn suites() -> impl TypedValueParser<Value = Suite> {
    let values = SUITES.map(|(name, _, what)| PossibleValue::new(name).help(what));
    let of_name = |named: String| SUITES.iter().find(|(name, ..)| *name == named).map(|(_, suite, _)| *suite);
    PossibleValuesParser::new(values).try_map(move |name| of_name(name).ok_or("no suite"))
}

/// Reads the cases of files, of all files in folders, and of standard input.
pub(super) fn read_files(paths: &[PathBuf], spec: &Specification) -> Result<Vec<Arc<Case>>, Failure> {
    let mut cases: Vec<Arc<Case>> = Vec::new();
    let mut wrong = Vec::new();
    for path in paths {
        if path == Path::new("-") {
            let read = spec.read_cases(Path::new("stdin.yaml"), &read_stdin()?);
            read.map_or_else(|diagnostics| wrong.extend(diagnostics), |read| cases.extend(read));
            continue;
        }
        for file in case_files(path)? {
            match spec.read_case_file(&file) {
                Ok(read) => cases.extend(read),
                Err(diagnostics) => wrong.extend(diagnostics),
            }
        }
    }
    if wrong.is_empty() { Ok(cases) } else { Err(Failure::Files(wrong)) }
}

/// A selection. Every pattern must match some case.
pub(super) fn selection(
    cases: &[Arc<Case>],
    patterns: &[String],
    operators: &[String],
    basis: Option<Basis>,
) -> Result<CaseSelection, Failure> {
    let mut selection = CaseSelection::new(patterns, operators, basis).map_err(Failure::Usage)?;
    selection.settle(cases).map_err(|pattern| {
        Failure::Usage(format!(
            "--case `{}` matches no case{}\nhelp: {}",
            name(pattern.as_str()),
            pattern.not_a_glob(),
            pattern.help()
        ))
    })?;
    Ok(selection)
}

/// The cases to read, given `--operator` and `--case`. Those of all operators unless each pattern begins with the name of one.
pub(super) fn wanted<'a>(all: &'a Signatures, operators: &[String], patterns: &'a [String]) -> Wanted<'a> {
    if !operators.is_empty() {
        let names = all.iter().map(|page| page.operator.as_str());
        let chosen = operators.iter().filter_map(|text| Pattern::new(text).ok());
        return Wanted::Of(chosen.flat_map(|pattern| pattern.among(names.clone())).collect());
    }
    let named = |pattern: &'a String| {
        let operator = pattern.split_once('/').map(|(operator, _)| operator);
        operator.filter(|operator| all.get(operator).is_some())
    };
    match patterns.iter().map(named).collect() {
        Some(operators) if !patterns.is_empty() => Wanted::Of(operators),
        _ => Wanted::Usual,
    }
}

/// The operators that these names and globs stand for, in the order of the specification.
pub(super) fn chosen_operators(spec: &Specification, texts: &[String]) -> Result<Vec<String>, Failure> {
    let names = spec.operators.iter().map(|page| page.operator.as_str());
    let mut chosen = BTreeSet::new();
    for text in texts {
        let pattern = Pattern::new(text).map_err(Failure::Usage)?;
        let found = pattern.among(names.clone());
        if found.is_empty() {
            return Err(Failure::Usage(format!(
                "unknown operator `{}`{}\nhelp: `gatherspec list operators` prints every name",
                name(text),
                pattern.not_a_glob()
            )));
        }
        chosen.extend(found);
    }
    Ok(names.filter(|name| chosen.contains(name)).map(str::to_owned).collect())
}

/// How much of standard input to read, in bytes: more than the limit for a case file, so that the loader reports it.
const MOST_OF_STDIN: u64 = 64 << 20;

/// Reads standard input to its end.
fn read_stdin() -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MOST_OF_STDIN).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The case files of a path: the file itself, or the YAML files in a folder.
fn case_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = case_files_in(path)?;
    if files.is_empty() {
        return Err(Failure::Usage(format!("{} contains no .yaml file", path.display())));
    }
    Ok(files)
}

/// The files in an operator's folder that are not case files.
const DATA: [&str; 4] = ["operator.yaml", "clauses.yaml", "errata.yaml", "inventory.yaml"];

/// The case files in a folder, ordered by name.
pub(super) fn case_files_in(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(cannot)? {
        let file = entry.map_err(cannot)?.path();
        let yaml = file.extension().is_some_and(|extension| extension == "yaml");
        let data = file.file_name().is_some_and(|name| DATA.iter().any(|data| name == *data));
        if yaml && !data {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
