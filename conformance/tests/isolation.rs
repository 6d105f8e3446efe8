//! An adapter runs nothing that lies in the current folder: no module, no program, no environment, whatever the search
//! paths say. Needs `python3`; without it this test says that it was skipped.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Modules that Python, venv, pip, the kit or an adapter imports, and those that Python imports by itself.
const MODULES: &[&str] = &[
    "base64",
    "contextlib",
    "encodings",
    "ensurepip",
    "gatherspec_kit",
    "json",
    "logging",
    "numpy",
    "pip",
    "runpy",
    "shutil",
    "site",
    "sitecustomize",
    "subprocess",
    "types",
    "usercustomize",
    "venv",
];

/// A folder full of traps: whatever of it is run leaves a line in `ran`.
struct Hostile {
    folder: TempDir,
    home: TempDir,
}

impl Hostile {
    fn new(python: &Python) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ran = folder.path().join("ran");
        let trap = format!("open({:?}, 'a').write(__name__ + '\\n')\n", ran.display().to_string());
        for module in MODULES {
            fs::write(folder.path().join(format!("{module}.py")), &trap).unwrap();
        }
        let packages = folder.path().join(format!("lib/python{}/site-packages", python.version));
        fs::create_dir_all(&packages).unwrap();
        fs::write(packages.join("usercustomize.py"), &trap).unwrap();
        let script = format!("#!/bin/sh\necho \"$0\" >> '{}'\nexec /usr/bin/env -i true\n", ran.display());
        for program in ["python3", "python", "numpy"] {
            let path = folder.path().join(program);
            fs::write(&path, &script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder, home: tempfile::tempdir().unwrap() }
    }

    /// Runs an adapter in the folder, with every search path led through it; gives what was printed.
    fn run(&self, python_path: &str, arguments: &[&str]) -> String {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_gatherspec"))
            .args(["run", "--case", "tf.gather/documented/*", "--out"])
            .arg(self.home.path().join("out"))
            .args(["--backend", "numpy"])
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.home.path())
            .env("XDG_CACHE_HOME", ".")
            .env("PATH", format!(".::{path}"))
            .env("PYTHONPATH", python_path)
            .env("PYTHONUSERBASE", ".")
            .env("PYTHONINSPECT", "1")
            .env("PYTHONSTARTUP", self.folder.path().join("site.py"))
            // No network: an environment is made as far as pip goes without.
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", "")
            .output()
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn assert_nothing_ran(&self, said: &str) {
        let ran = fs::read_to_string(self.folder.path().join("ran")).unwrap_or_default();
        assert_eq!(ran, "", "{said}");
        assert!(!self.folder.path().join("gatherspec").exists(), "{said}");
    }

    /// The environment that was made in the user's cache directory.
    fn environment(&self) -> Option<PathBuf> {
        let cache = self.home.path().join(".cache/gatherspec");
        let mut entries = fs::read_dir(cache).ok()?.map(|entry| entry.unwrap().path());
        entries.find(|path| path.join("bin/python").exists())
    }
}

/// The Python of this machine.
struct Python {
    path: String,
    /// Such as 3.11.
    version: String,
}

fn python() -> Option<Python> {
    let script = "import sys; print(sys.executable); print('%d.%d' % sys.version_info[:2])";
    let found = Command::new("python3").args(["-I", "-c", script]).output();
    let found = found.ok().filter(|output| output.status.success());
    if found.is_none() {
        // Not by `eprintln!`, which the test harness would keep to itself.
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3");
    }
    let text = String::from_utf8(found?.stdout).unwrap();
    let (path, version) = text.trim().split_once('\n').unwrap();
    Some(Python { path: path.to_owned(), version: version.to_owned() })
}

#[test]
fn the_first_use_of_an_adapter_runs_nothing_of_the_current_folder() {
    let Some(python) = python() else { return };
    let hostile = Hostile::new(&python);
    let said = hostile.run(".::", &[]);
    hostile.assert_nothing_ran(&said);
    assert!(
        said.contains("making a Python ") && said.contains("No matching distribution found for numpy"),
        "{said}"
    );

    // As if pip had found everything: the adapter itself starts, and misses its library.
    let environment = hostile.environment().unwrap_or_else(|| panic!("{said}"));
    fs::write(environment.join("gatherspec-ready"), "").unwrap();
    let said = hostile.run(".::", &[]);
    hostile.assert_nothing_ran(&said);
    assert!(said.contains("No module named 'numpy'"), "{said}");
}

/// As `PIP_TARGET` does: what pip has installed is not where it was to be. The Python is none, but answers like one.
#[test]
fn what_pip_installs_elsewhere_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python3");
    let script = "#!/bin/sh\nset -e\ncase \"$*\" in\n\
                  *'version_info'*) echo 3.12.1;;\n\
                  *'-m venv'*) mkdir -p \"$5/bin\"; cp \"$0\" \"$5/bin/python\";;\n\
                  *'-m pip install'*) echo \"$PIP_TARGET\" > \"$(dirname \"$0\")/asked\";;\n\
                  *find_spec*) exit 1;;\nesac\n";
    fs::write(&python, script).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let cache = folder.path().join("cache");
    let output = Command::new(env!("CARGO_BIN_EXE_gatherspec"))
        .args(["run", "--case", "tf.gather/documented/*", "--backend", "numpy", "--out"])
        .arg(folder.path().join("out"))
        .env("PATH", format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap()))
        .env("XDG_CACHE_HOME", &cache)
        .env("PIP_TARGET", "elsewhere")
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(
        output.status.code() == Some(3) && said.contains("pip has installed numpy elsewhere than in "),
        "{said}"
    );
    assert!(said.contains("does its configuration name a target"), "{said}");
    // It is not taken for a whole environment the next time.
    let ready = fs::read_dir(cache.join("gatherspec")).unwrap().map(|entry| entry.unwrap().path());
    assert!(ready.into_iter().all(|path| !path.join("gatherspec-ready").exists()));
}

#[test]
fn an_interpreter_that_is_named_runs_nothing_of_the_current_folder() {
    let Some(python) = python() else { return };
    let hostile = Hostile::new(&python);
    let said = hostile.run(".::", &["--python", &python.path]);
    hostile.assert_nothing_ran(&said);
    assert!(said.contains("No module named 'numpy'") || said.contains("everything conforms"), "{said}");
}

#[test]
fn an_interpreter_that_is_named_keeps_the_modules_that_the_user_adds() {
    let Some(python) = python() else { return };
    let hostile = Hostile::new(&python);
    let modules = hostile.home.path().join("modules");
    fs::create_dir(&modules).unwrap();
    fs::write(modules.join("numpy.py"), "raise SystemExit('the module of the user')\n").unwrap();
    let said = hostile.run(&format!(":{}:.", modules.display()), &["--python", &python.path]);
    hostile.assert_nothing_ran(&said);
    assert!(said.contains("the module of the user"), "{said}");
}
