//! Programs that are run to their end, unless that does not come.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long one run, campaign or test may take.
const LIMIT: Duration = Duration::from_secs(600);

/// A process that ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ended {
    /// Runs a program, whose output goes through files of `folder`; `None` if it does not end.
    pub(crate) fn run(command: &mut Command, folder: &Path) -> Result<Option<Self>, String> {
        let program = command.get_program().display().to_string();
        let named = |error: std::io::Error| format!("{program}: {error}");
        let (out, err) = (folder.join("stdout"), folder.join("stderr"));
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).map_err(named)?).stderr(File::create(&err).map_err(named)?);
        let mut child = command.spawn().map_err(named)?;
        let end = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(named)? {
                break status;
            }
            if Instant::now() > end {
                child.kill().map_err(named)?;
                child.wait().map_err(named)?;
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(10));
        };
        let (stdout, stderr) = (fs::read(&out).map_err(named)?, fs::read(&err).map_err(named)?);
        Ok(Some(Self { code: status.code(), stdout, stderr }))
    }

    pub(crate) fn last_words(&self) -> String {
        let said = String::from_utf8_lossy(&self.stderr);
        let line = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let how = self.code.map_or_else(|| "killed".to_owned(), |code| format!("status {code}"));
        format!("{how}: {}", line.chars().take(120).collect::<String>())
    }
}
