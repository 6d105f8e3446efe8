//! An adapter runs nothing from the current folder: no module, no program, no environment, regardless of the
//! search paths. Needs `python3`; without it this test says that it was skipped.

#![cfg(unix)]
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Modules that Python, venv, pip, the kit or an adapter imports, and those that Python imports by itself.
const MODULES: &[&str] = &[
    "base64",
    "contextlib",
    "encodings",
    "ensurepip",
    "gatherspec",
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

/// A folder full of traps: everything in it that is run leaves a line in `ran`.
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
    above_quick!();
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

/// A Python that is none, but answers like one whose pip installs elsewhere, as `PIP_TARGET` does. So no environment is ever
/// finished.
struct FakePython {
    folder: TempDir,
}

impl FakePython {
    fn new(version: &str) -> Self {
        let fake = Self { folder: tempfile::tempdir().unwrap() };
        fake.set_version(version);
        fake
    }

    fn set_version(&self, version: &str) {
        let python = self.folder.path().join("python3");
        let script = format!(
            "#!/bin/sh\nset -e\ncase \"$*\" in\n\
             *'version_info'*) echo {version};;\n\
             *'-m venv'*) mkdir -p \"$4/bin\"; cp \"$0\" \"$4/bin/python\";;\n\
             *'-m pip install'*) ;;\n\
             *find_spec*) exit 1;;\nesac\n"
        );
        fs::write(&python, script).unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        command.args(["run", "--case", "tf.gather/documented/*", "--backend", "numpy", "--out"]);
        command.arg(self.folder.path().join("out"));
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.folder.path().display()));
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        command
    }

    /// What a run says that cannot use the adapter.
    fn said(&self) -> String {
        let output = self.command().output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        said
    }

    /// The paths in the cache whose names begin and end so.
    fn cached(&self, start: &str, end: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.path().join("cache/gatherspec")).unwrap();
        let names = entries.map(|entry| entry.unwrap().path());
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(start) && name.ends_with(end)
        };
        names.filter(is_one).collect()
    }
}

#[test]
fn what_pip_installs_elsewhere_is_said() {
    let python = FakePython::new("3.12.1");
    let said = python.said();
    assert!(said.contains("pip has installed numpy elsewhere than in "), "{said}");
    assert!(said.contains("does its configuration name a target"), "{said}");
    // It is not taken for a whole environment the next time.
    assert!(python.cached("", "").iter().all(|path| !path.join("gatherspec-ready").exists()));
}

#[test]
fn an_unfinished_environment_is_made_anew_and_what_a_link_in_its_place_leads_to_stays() {
    above_quick!();
    let python = FakePython::new("3.12.1");
    python.said();
    let [environment] = &python.cached("environment-", "-python-3.12.1")[..] else {
        panic!("no environment")
    };
    fs::write(environment.join("left"), "").unwrap();
    assert!(
        python.said().contains("pip has installed numpy elsewhere") && !environment.join("left").exists()
    );

    let mine = tempfile::tempdir().unwrap();
    fs::write(mine.path().join("thesis"), "").unwrap();
    fs::remove_dir_all(environment).unwrap();
    symlink(mine.path(), environment).unwrap();
    let said = python.said();
    assert!(said.contains("is a symbolic link, and an environment is to be made there"), "{said}");
    assert_eq!(fs::read_dir(mine.path()).unwrap().count(), 1);
    assert!(mine.path().join("thesis").exists());
}

/// Were it waited for, this test would not end.
#[test]
fn what_is_no_file_is_neither_locked_nor_read_as_an_adapter() {
    above_quick!();
    let python = FakePython::new("3.12.1");
    python.said();
    let [lock] = &python.cached("environment-", ".lock")[..] else { panic!("no lock") };
    let mine = python.folder.path().join("thesis");
    fs::write(&mine, "text").unwrap();
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    fs::remove_file(lock).unwrap();
    pipe(lock);
    let said = python.said();
    assert!(said.contains("cannot be locked: this is a named pipe, not a regular file"), "{said}");
    fs::remove_file(lock).unwrap();
    symlink(&mine, lock).unwrap();
    let said = python.said();
    assert!(said.contains("cannot be locked: this is a symbolic link, not a regular file"), "{said}");
    assert_eq!(fs::read_to_string(&mine).unwrap(), "text");

    let [adapter] = &python.cached("numpy-", "")[..] else { panic!("no adapter") };
    let program = adapter.join("__main__.py");
    fs::remove_file(&program).unwrap();
    pipe(&program);
    assert!(python.said().contains("this is not a regular file, so it is not replaced"));
}

#[test]
fn a_run_says_that_it_waits_for_another_which_has_the_same_version_of_python() {
    above_quick!();
    let python = FakePython::new("3.12.1");
    python.said();
    let lock = || fs::File::open(&python.cached("environment-", "-python-3.12.1.lock")[0]).unwrap();
    let held = lock();
    held.lock().unwrap();
    python.set_version("3.12.2");
    assert!(python.said().contains("pip has installed numpy elsewhere"), "another version waits");

    python.set_version("3.12.1");
    let mut running = python.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(running.stderr.take().unwrap()).lines().map(Result::unwrap);
    let waits = said.find(|line| line.contains("waiting for another run, which has locked "));
    assert!(waits.is_some_and(|line| line.ends_with("-python-3.12.1.lock")));
    drop(held);
    assert!(said.any(|line| line.contains("making a Python 3.12.1 environment")));
    assert_eq!(running.wait().unwrap().code(), Some(3));
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
