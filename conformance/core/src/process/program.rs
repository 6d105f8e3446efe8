//! The program to start, and its limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use gather_spec::Variant;

use crate::judge::Verdict;
use crate::plan::VariantsAsked;

/// A program that speaks the protocol, and how to run it.
#[derive(Clone, Debug)]
pub struct ProcessBackend {
    /// The program, searched on `PATH` if it has no folder.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The variables to set in its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its limits.
    pub limits: ProcessLimits,
    /// How many processes run at a time.
    pub jobs: usize,
    /// How often each call is sent.
    pub repeat: usize,
    /// Which of its variants are asked.
    pub variants: VariantsAsked,
    /// The only variant to ask, if one is chosen; its axes may be roles.
    pub variant: Option<Variant>,
}

/// The limits on a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// The time from its start until it has described itself.
    pub start: Duration,
    /// The time for one call, from when its reply is next until the reply arrives.
    pub call: Duration,
    /// The same for a call of virtual size, which has an empty tensor and spans more than 2^32 positions. It
    /// grows to four times the slowest call so far if that is more, and never exceeds `call`. Once two of
    /// them have timed out, the others get a sixth of this, or twice the slowest call if that is more.
    pub virtual_call: Duration,
    /// The time from `stop` until it has ended.
    pub stop: Duration,
    /// The longest line to accept from it, in bytes.
    pub reply: usize,
    /// The address space of it and of each of its descendants, in bytes; enforced on Linux only.
    pub memory: Option<u64>,
    /// How many restarts are allowed, over all workers. A restart after which the calls that were in flight
    /// are sent again, one at a time, does not count.
    pub restarts: usize,
    /// How many calls may be in flight at a time, per process.
    pub window: usize,
    /// Tensors of at least this many bytes are sent as a file.
    pub file_above: usize,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(120),
            call: Duration::from_secs(20),
            // TensorFlow's allocator waits up to 10 s for memory to be freed before it refuses an output.
            virtual_call: Duration::from_secs(12),
            stop: Duration::from_secs(5),
            reply: 256 << 20,
            memory: Some(16 << 30),
            restarts: 200,
            window: 64,
            file_above: 64 << 10,
        }
    }
}

/// Why a backend is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}{}", stderr.as_ref().map(|text| format!("\nit wrote to stderr:\n{text}")).unwrap_or_default())]
pub struct Broken {
    /// What it did at its start: `crash`, `timeout` or `protocol-error`.
    pub verdict: Verdict,
    /// What happened, in words.
    pub why: String,
    /// What it wrote to its standard error meanwhile.
    pub stderr: Option<String>,
}

impl ProcessBackend {
    /// A program under the default limits, as one process.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            limits: ProcessLimits::default(),
            jobs: 1,
            repeat: 1,
            variants: VariantsAsked::default(),
            variant: None,
        }
    }
}
