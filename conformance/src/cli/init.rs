//! `gatherspec init`: a starter, which runs as it is, with its workflow for continuous integration.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use gather_conformance::internals::files::write_whole;
use gather_conformance::internals::shell::quoted;

use super::ending::{Failure, Status};
use super::output::print;
use crate::native;
use crate::published::{PUBLISHED, either};

#[derive(clap::Args)]
pub(super) struct InitArgs {
    /// What to start
    #[arg(default_value = "python", value_parser = starters())]
    starter: &'static Starter,
    /// Folder to write to, which is made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

/// Files, and what to do with them.
struct Starter {
    name: &'static str,
    what: &'static str,
    /// Their paths and contents.
    files: &'static [(&'static str, &'static str)],
    /// What its script in Python imports beside the package that has the kit; nothing, if it is no such script.
    packages: &'static str,
    /// The commands that build and test it, as they are typed.
    commands: &'static [&'static str],
}

const ADAPTER: &str = include_str!("../../starters/adapter.py");
const DEVIATIONS: &str = include_str!("../../starters/deviations.yaml");
const HEADER: (&str, &str) = ("gatherspec.h", native::HEADER);
const LIBRARY: &str = "gatherspec run --suite smoke --out report --library ./libgather.so";

static STARTERS: [Starter; 7] = [
    Starter {
        name: "python",
        what: "A script that names functions of a Python library",
        files: &[("adapter.py", ADAPTER), ("deviations.yaml", DEVIATIONS)],
        packages: "numpy",
        commands: &[
            "gatherspec run --suite smoke --deviations deviations.yaml --out report -- python3 adapter.py",
        ],
    },
    Starter {
        name: "pytest",
        what: "The same as tests of pytest",
        files: &[
            ("tests/adapter.py", ADAPTER),
            ("tests/deviations.yaml", DEVIATIONS),
            ("pyproject.toml", include_str!("../../starters/pyproject.toml")),
        ],
        packages: "numpy pytest",
        commands: &["pytest"],
    },
    Starter {
        name: "rust",
        what: "A trait for a gather in Rust, with the suite as tests of cargo",
        files: &[
            ("Cargo.toml", include_str!("../../starters/Cargo.toml.in")),
            ("tests/conformance.rs", include_str!("../../examples/my_gather.rs")),
        ],
        packages: "",
        commands: &["cargo test"],
    },
    Starter {
        name: "c",
        what: "A shared library in C",
        files: &[("gather.c", include_str!("../../backends/c-example/gather.c")), HEADER],
        packages: "",
        commands: &["cc -O2 -shared -fPIC -o libgather.so gather.c", LIBRARY],
    },
    Starter {
        name: "cpp",
        what: "A shared library in C++",
        files: &[("gather.cpp", include_str!("../../backends/cpp-example/gather.cpp")), HEADER],
        packages: "",
        commands: &["c++ -O2 -shared -fPIC -o libgather.so gather.cpp", LIBRARY],
    },
    Starter {
        name: "node",
        what: "A program in JavaScript that speaks the backend protocol",
        files: &[("gather.mjs", include_str!("../../backends/node-example/gather.mjs"))],
        packages: "",
        commands: &["gatherspec run --suite smoke --out report -- node gather.mjs"],
    },
    Starter {
        name: "go",
        what: "A program in Go that speaks the backend protocol",
        files: &[
            ("gather.go", include_str!("../../backends/go-example/gather.go")),
            ("go.mod", include_str!("../../backends/go-example/go.mod")),
        ],
        packages: "",
        commands: &["go build -o gather .", "gatherspec run --suite smoke --out report -- ./gather"],
    },
];

/// The folder of the package in the checkout that this program was built from.
const CHECKOUT: &str = env!("CARGO_MANIFEST_DIR");

/// Where the workflow goes.
const WORKFLOW: &str = ".github/workflows/gatherspec.yml";

fn starters() -> impl TypedValueParser<Value = &'static Starter> {
    let values = STARTERS.iter().map(|one| PossibleValue::new(one.name).help(one.what));
    let of_name = |named: String| STARTERS.iter().find(|one| one.name == named);
    PossibleValuesParser::new(values).try_map(move |name| of_name(name).ok_or("no starter"))
}

impl InitArgs {
    /// Writes the files, unless one of them is there already.
    pub(super) fn execute(&self) -> Result<Status, Failure> {
        // What pip has built it from is gone.
        let checkout = Path::new(CHECKOUT).is_dir().then_some(CHECKOUT);
        if !PUBLISHED && checkout.is_none() && self.starter.name == "rust" {
            return Err(Failure::Usage(format!(
                "this starter depends on crates in {CHECKOUT}, which is gone\nhelp: in a checkout of GatherSpec, \
                 `cargo run --release -- init rust --out DIR` writes it"
            )));
        }
        let files = self.starter.files.iter().map(|(path, text)| (*path, filled_in(text)));
        let files: Vec<(&str, String)> = files.chain([(WORKFLOW, self.starter.workflow())]).collect();
        let place = |path: &str| self.out.join(path);
        if let Some((path, _)) = files.iter().find(|(path, _)| place(path).symlink_metadata().is_ok()) {
            let there = place(path).display().to_string();
            return Err(Failure::Usage(format!("{there} is there already; nothing was written")));
        }
        let mut said = String::new();
        for (path, text) in &files {
            let path = place(path);
            let cannot = |error: std::io::Error| Failure::Usage(format!("{}: {error}", path.display()));
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(cannot)?;
            write_whole(&path, text.as_bytes()).map_err(cannot)?;
            let _ = writeln!(said, "wrote {}", path.display());
        }
        said.push_str("\nNow run:\n");
        let folder = (self.out != Path::new("."))
            .then(|| format!("cd {}", quoted(&[self.out.clone().into_os_string()])));
        let commands = self.starter.commands.iter().map(|command| (*command).to_owned());
        folder.into_iter().chain(self.starter.installation(checkout)).chain(commands).for_each(|line| {
            let _ = writeln!(said, "  {line}");
        });
        if !PUBLISHED && self.starter.name != "rust" {
            let _ = writeln!(
                said,
                "\nThe workflow needs the address of the repository of GatherSpec: {WORKFLOW}"
            );
        }
        print(&said)?;
        Ok(Status::Conforms)
    }
}

impl Starter {
    /// The line that installs what its script imports, if it is one.
    fn installation(&self, place: Option<&str>) -> Option<String> {
        (!self.packages.is_empty()).then(|| self.pip(place))
    }

    /// The line that installs the package `gatherspec`, from a place until it is published, and what else is imported. Without a
    /// place the package has come with this program.
    fn pip(&self, place: Option<&str>) -> String {
        let package = either("gatherspec", place.unwrap_or_default());
        let words = ["pip install", package, self.packages].into_iter().filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }

    fn workflow(&self) -> String {
        let mut steps = vec!["uses: actions/checkout@v4".to_owned()];
        if self.name != "rust" {
            let place = "\"gatherspec @ git+$GATHERSPEC#subdirectory=conformance\"";
            let env = "\n        env: { GATHERSPEC: the address of the repository that you use }";
            steps.push(format!("run: {}{}", self.pip(Some(place)), either("", env)));
        }
        let reports = self.commands.iter().any(|command| command.contains("--out report"));
        steps.extend(self.commands.iter().map(|command| format!("run: {command}")));
        if reports {
            let summary = "if: always()\n        run: cat report/report.md >> \"$GITHUB_STEP_SUMMARY\"";
            steps.push(summary.to_owned());
        }
        let steps: String = steps.iter().map(|step| format!("      - {step}\n")).collect();
        format!(
            "name: gatherspec\non: [push, pull_request]\n\njobs:\n  gather:\n    runs-on: ubuntu-latest\n    steps:\n{steps}"
        )
    }
}

/// A file with the places of the crates that it depends on.
fn filled_in(text: &str) -> String {
    let place = |folder: &str| format!("path = \"{CHECKOUT}/{folder}\"");
    let version = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");
    text.replace("{ CONFORMANCE,", &format!("{{ {},", either(version, &place("core"))))
        .replace("{ SPEC }", &format!("{{ {} }}", either(version, &place("../spec"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_whose_checkout_is_gone_has_come_with_its_package() {
        let lines = STARTERS.each_ref().map(|one| one.installation(None).unwrap_or_default());
        let package = either("gatherspec ", "");
        assert_eq!(lines[0], format!("pip install {package}numpy"));
        assert_eq!(
            (&*lines[3], STARTERS[0].installation(Some("/x"))),
            ("", Some(format!("pip install {} numpy", either("gatherspec", "/x"))))
        );
    }
}
