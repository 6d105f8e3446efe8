//! The environment of an adapter for Node: a folder with the packages that npm installs by a lock file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Environment, digest, programs, run, search_path};

impl Environment<'_> {
    /// Node, and the folder in which the requirements are installed.
    pub(in super::super) fn node(&self) -> Result<(PathBuf, PathBuf), String> {
        let path = search_path();
        let node = self.system_node(&path)?;
        // Named by its content, so adapters with equal requirements share an environment.
        let name = format!("environment-{}-node", digest(&[self.needs, self.requirements]));
        let folder =
            self.made(&name, "a folder of packages for Node", |folder| self.install(&path, folder))?;
        Ok((node, folder))
    }

    /// The first Node on the path, which must be new enough.
    fn system_node(&self, path: &OsStr) -> Result<PathBuf, String> {
        let (name, least) = (&self.manifest.name, self.manifest.node.unwrap_or_default());
        let node = programs(path, "node").next();
        let node =
            node.ok_or_else(|| format!("there is no node on the path: {name} needs Node {least} or later"))?;
        let said = Command::new(&node).arg("--version").stdin(Stdio::null()).output();
        let said = said.map_err(|error| format!("{} does not start: {error}", node.display()))?;
        let version = String::from_utf8_lossy(&said.stdout).trim().trim_start_matches('v').to_owned();
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        match major {
            Some(major) if major >= least => Ok(node),
            _ => Err(format!(
                "{} has the version `{version}`: {name} needs Node {least} or later",
                node.display()
            )),
        }
    }

    /// Lets npm install the packages of the lock file, with their hashes and without running their scripts.
    fn install(&self, path: &OsStr, folder: &Path) -> Result<(), String> {
        let (name, module) = (&self.manifest.name, &self.manifest.module);
        let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let npm = std::env::split_paths(path).map(|folder| folder.join(program)).find(|path| path.is_file());
        let npm = npm.ok_or("there is no npm on the path; on Debian it is the package npm")?;
        for (file, text) in [("package.json", self.needs), ("package-lock.json", self.requirements)] {
            let file = folder.join(file);
            fs::write(&file, text)
                .map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
        }
        let download = &self.manifest.download;
        (self.say)(&format!("{name}: installing {module} (a download of about {download})"));
        let mut command = Command::new(npm);
        command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
        // The engines that a package names are those that its authors test.
        command.arg("--engine-strict=false").current_dir(folder).env("PATH", path).stdin(Stdio::null());
        for option in super::super::OPTIONS_OF_NODE {
            command.env_remove(option);
        }
        run(&mut command).map_err(|said| {
            format!("npm cannot install the packages of {name}: is there a network?\n{said}")
        })?;
        match folder.join("node_modules").join(module).is_dir() {
            true => Ok(()),
            false => Err(format!("npm has installed {module} elsewhere than in {}", folder.display())),
        }
    }
}
