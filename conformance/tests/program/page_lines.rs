//! Every line of every shell block of the pages is run as a reader would run it, in a folder with the files that the pages
//! speak of, or stands in [`NOT_RUN`] with the reason. `GATHERSPEC_PAGE=conformance/C.md` runs those of one page, and
//! `GATHERSPEC_PROGRAM` names another program, such as one built in release. `readme.rs` runs the console blocks,
//! `protocol_page.rs` the session and the JavaScript, `tutorial.rs` the adapter in Python.

#![cfg(unix)]
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Lines that are not run here: the page, how they begin, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("README.md", "cargo run", ".ci/run runs it"),
    ("README.md", "cargo test", ".ci/run runs it"),
    ("README.md", "pip install", WHEEL),
    ("README.md", "gatherspec run --backend numpy", NETWORK),
    ("README.md", "gatherspec init", "init.rs runs the starters"),
    ("README.md", "gatherspec run --backend tensorflow", NETWORK),
    ("CONTRIBUTING.md", "", "what developers run; .ci/run runs the first block"),
    ("conformance/tests/README.md", "", "what developers run"),
    ("optimized/README.md", "cargo ", "builds under a sanitizer; .ci/nightly has them"),
    ("benches/README.md", "cargo ", "minutes of a quiet machine, for a release build"),
    ("benches/README.md", "gatherspec bench --backend", NETWORK),
    ("benches/results/README.md", "gatherspec bench --backend", NETWORK),
    ("conformance/README.md", "cargo install", NETWORK),
    ("conformance/README.md", "gatherspec run --backend reference --backend numpy", NETWORK),
    ("conformance/README.md", "gatherspec fuzz --backend tensorflow", NETWORK),
    (
        "conformance/C.md",
        "gatherspec run --library ./libmine.so --suite large",
        "12 GiB of memory and minutes",
    ),
    (
        "conformance/PROTOCOL.md",
        "python3 conformance/tests/oracle",
        "for a backend with all operators; README.md has the same line for one",
    ),
    ("conformance/PYTHON.md", "pip install", WHEEL),
    ("conformance/PYTHON.md", "gatherspec run --backend", NETWORK),
    ("conformance/RUST.md", "cargo ", "harness.rs and suite.rs run the harness; this would build it anew"),
    ("conformance/SCALE.md", "", "a cluster; scale.rs runs the scripts"),
    ("conformance/backends/README.md", "", NETWORK),
    ("conformance/fuzz/README.md", "", NETWORK),
];

const NETWORK: &str = "it downloads; .ci/run runs the adapters";
const WHEEL: &str = "a build in release; .ci/nightly builds and installs a wheel";

/// Lines that end with another status than 0: a part of the line, and the status.
const STATUS: &[(&str, i32)] = &[
    // With each failure listed, nothing is left.
    ("--deviations deviations.yaml", 0),
    // What it accepts wrongly are dtypes and scalars.
    ("--case '*/bad-index/*' -- python3 adapter.py", 0),
    // The adapter of the page lacks batch dimensions, as the page says.
    ("-- python3 adapter.py", 1),
    // Bad indices, the last one too, it does right.
    ("-m \"onnx.Gather-13 and bad-index\"", 0),
    ("-k minus-one", 0),
    ("pytest --gatherspec adapter.py", 1),
];

/// Passes replies on, and declares two operators: readers have few, and a run of all takes a minute.
const TWO_OPERATORS: &str = "\
import json, sys
start = json.loads(sys.stdin.readline())
start['operators'] = {name: start['operators'][name] for name in ('tf.gather', 'tf.gather_nd')}
print(json.dumps(start))
for line in iter(sys.stdin.readline, ''):
    sys.stdout.write(line)
";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The pages, as paths from the root, that git knows or would know.
fn pages() -> Vec<String> {
    let folders = ["", "benches", "benches/results", "conformance", "optimized", "spec"].map(PathBuf::from);
    let inner = fs::read_dir(root().join("conformance")).unwrap().map(|entry| entry.unwrap().file_name());
    let inner: Vec<PathBuf> = inner.map(|name| Path::new("conformance").join(name)).collect();
    let examples = ["c-example", "cpp-example", "node-example", "go-example"];
    let examples = examples.map(|name| Path::new("conformance/backends").join(name));
    let folders = folders.into_iter().chain(inner).chain(examples);
    let mut pages = Vec::new();
    for folder in folders.filter(|folder| root().join(folder).is_dir()) {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let page = folder.join(entry.unwrap().file_name());
            if page.extension() == Some("md".as_ref()) {
                pages.push(page.to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

/// The lines of the shell blocks of a page, and of the steps in its YAML, each in one piece and without its comment.
fn lines(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap().replace("\\\n", " ");
    let block = |language: &str| {
        let fence = format!("```{language}\n");
        let blocks: Vec<String> =
            text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect();
        blocks.join("\n")
    };
    let yaml = block("yaml");
    let steps =
        yaml.lines().filter_map(|line| line.split_once("run: ").or_else(|| line.split_once("script: ")));
    let shell = block("sh");
    let all = shell.lines().chain(steps.map(|(_, step)| step));
    let bare = |line: &str| line.split(" #").next().unwrap().trim().to_owned();
    all.map(bare).filter(|line| !line.is_empty()).collect()
}

fn is_left_out(page: &str, line: &str) -> Option<usize> {
    NOT_RUN.iter().position(|(of, start, _)| *of == page && line.starts_with(start))
}

#[test]
fn every_line_that_is_not_run_is_on_a_page() {
    let used: BTreeSet<usize> = pages()
        .iter()
        .flat_map(|page| {
            lines(page).into_iter().filter_map(|line| is_left_out(page, &line)).collect::<Vec<_>>()
        })
        .collect();
    let unused: Vec<_> = (0..NOT_RUN.len()).filter(|at| !used.contains(at)).map(|at| NOT_RUN[at]).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// The blocks of a page that are files: a comment in their first line is the name.
pub(crate) fn files_of(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| Some(block.split_once('\n')?.1));
    blocks.filter_map(|text| Some((text.strip_prefix("# ")?.split('\n').next()?, text))).collect()
}

/// The folder of a reader who follows a page.
struct ReaderFolder(tempfile::TempDir);

impl ReaderFolder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        let here = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        for copied in ["include", "backends/c-example", "backends/cpp-example", "tests/oracle"] {
            let target = folder.0.path().join("conformance").join(copied);
            fs::create_dir_all(&target).unwrap();
            for entry in fs::read_dir(here(copied)).unwrap().map(|entry| entry.unwrap()) {
                if entry.path().is_file() {
                    fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
                }
            }
        }
        let two = folder.0.path().join("two_operators.py");
        fs::write(&two, TWO_OPERATORS).unwrap();
        for name in ["my-backend", "mine"] {
            folder.script(name, &format!("gatherspec serve reference | python3 -u '{}'", two.display()));
        }
        if let Ok(python) = std::env::var("GATHERSPEC_PYTHON") {
            folder.script("bin/python3", &format!("exec '{python}' \"$@\""));
        }
        // As an installed package has it.
        let package = here("python");
        let plugged = "python3 -P -m pytest -p gatherspec.pytest_plugin -p no:cacheprovider";
        folder.script("bin/pytest", &format!("PYTHONPATH='{}' exec {plugged} \"$@\"", package.display()));
        fs::copy(here("backends/c-example/gather.c"), folder.0.path().join("mine.c")).unwrap();
        let page = fs::read_to_string(here("PYTHON.md")).unwrap();
        let adapter = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
        fs::write(folder.0.path().join("adapter.py"), adapter).unwrap();
        let page = fs::read_to_string(here("OPERATOR.md")).unwrap();
        for (name, text) in files_of(&page) {
            folder.file(name, text);
        }
        let kit = folder.0.path().join("gatherspec.py");
        fs::copy(here("python/gatherspec/__init__.py"), kit).unwrap();
        folder
    }

    fn file(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, name: &str, line: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{line}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, folder: &str, line: &str) -> Output {
        let program = std::env::var("GATHERSPEC_PROGRAM");
        let program = program.as_deref().unwrap_or(env!("CARGO_BIN_EXE_gatherspec"));
        let programs = Path::new(program).parent().unwrap();
        let own = self.0.path().join("bin");
        let path = format!("{}:{}:{}", own.display(), programs.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.0.path().join(folder)).stdin(Stdio::null());
        shell.env("PATH", path).env("GITHUB_STEP_SUMMARY", self.0.path().join("summary.md"));
        shell.env_remove("CARGO_TARGET_DIR").output().unwrap()
    }
}

fn python() -> String {
    std::env::var("GATHERSPEC_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

/// What this machine lacks for a line.
fn lacks(line: &str) -> Option<String> {
    let works = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).output().is_ok_and(|output| output.status.success())
    };
    for compiler in ["cc", "c++"] {
        if (line.contains(&format!("{compiler} -")) || line.contains(".so"))
            && !works(compiler, &["--version"])
        {
            return Some(format!("there is no compiler {compiler}"));
        }
    }
    if line.starts_with("pytest") && !works(&python(), &["-c", "import pytest, xdist"]) {
        return Some(format!("{} has no pytest and xdist; GATHERSPEC_PYTHON names another", python()));
    }
    let is_numpy = (line.contains("adapter.py") || line.contains("pick.py"))
        && !works(&python(), &["-c", "import numpy"]);
    is_numpy.then(|| format!("{} has no numpy; GATHERSPEC_PYTHON names another", python()))
}

/// Not by `eprintln!`, which the test harness would keep to itself.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn every_other_line_of_the_pages_runs() {
    above_quick!();
    let only = std::env::var("GATHERSPEC_PAGE").ok();
    let pages: Vec<String> =
        pages().into_iter().filter(|page| only.as_ref().is_none_or(|only| page == only)).collect();
    // Each page has a folder of its own, so two readers get along.
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let read = || {
        while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = run_page(page);
            wrong.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|readers| {
        readers.spawn(read);
        read();
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs the lines of a page in its own folder, one after the other; gives what went wrong.
fn run_page(page: &str) -> Vec<String> {
    let lines: Vec<String> =
        lines(page).into_iter().filter(|line| is_left_out(page, line).is_none()).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let reader_folder = ReaderFolder::new();
    let folder =
        if page.contains("-example/") { Path::new(page).parent().unwrap().to_str().unwrap() } else { "" };
    let mut wrong = Vec::new();
    // What the pages take for granted: an earlier report.
    for earlier in ["old", "main"] {
        if lines.iter().any(|line| line.contains(&format!("{earlier}/report.json"))) {
            reader_folder
                .run(folder, &format!("gatherspec run --suite smoke --out {earlier} -- ./my-backend"));
        }
    }
    if lines.iter().any(|line| line.contains("--from bench.json")) {
        reader_folder.run(folder, "gatherspec bench --workload tiny-2x2 --json bench.json -- ./my-backend");
    }
    for line in lines {
        if let Some(why) = lacks(&line) {
            say(&format!("skipped: `{line}` of {page}: {why}"));
            continue;
        }
        // A reader has more time.
        let shorter = line.replace("--time 600", "--time 2").replace("--time 60", "--time 2");
        let shorter = shorter.replace("--calls 100000", "--calls 20000");
        let output = reader_folder.run(folder, &shorter);
        let status = STATUS.iter().find(|(part, _)| line.contains(part)).map_or(0, |(_, status)| *status);
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(status) || errors.contains("panicked") {
            let printed = String::from_utf8_lossy(&output.stdout);
            let printed: String =
                printed.chars().skip(printed.chars().count().saturating_sub(1500)).collect();
            let errors: String = errors.chars().take(1500).collect();
            wrong.push(format!("{page}: `{line}`: {}, not {status}\n{errors}\n{printed}", output.status));
        }
        // A reader writes the reasons that a draft leaves open.
        let draft = reader_folder.0.path().join("deviations.yaml");
        if let Ok(text) = fs::read_to_string(&draft) {
            fs::write(draft, text.replace("reason: \"\"", "reason: \"known\"")).unwrap();
        }
    }
    wrong
}
