//! The end that a user asks for by SIGINT, SIGTERM, SIGHUP or SIGQUIT. The command line calls [`watch`]; a program that
//! only uses the library keeps its own signals.
//!
//! The first signal while a [`Gentle`] is held only sets a flag, which runs and campaigns look at: they end their
//! backends, remove their folders and write what they have. Any other signal ends the process at once, but for three
//! things: children are ended, folders of inputs are removed, and a file that is being written is finished. Where the
//! gentle end takes longer than [`PATIENCE`], the process ends at once too. In the end the signal has its default
//! action, so that a shell sees what happened.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

/// The first signal that came; 0 before.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// How many [`Gentle`]s there are.
static GENTLE: AtomicUsize = AtomicUsize::new(0);

/// Held for reading while a file is written.
static WRITING: RwLock<()> = RwLock::new(());

/// Whether the user has asked for the end.
pub(crate) fn requested() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0
}

/// The name of the signal by which the user has asked for the end.
pub(crate) fn signal() -> Option<&'static str> {
    name(SIGNAL.load(Ordering::Relaxed))
}

/// The name of a signal that ends processes.
pub(crate) const fn name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        7 if cfg!(target_os = "linux") => "SIGBUS",
        24 if cfg!(target_os = "linux") => "SIGXCPU",
        31 if cfg!(target_os = "linux") => "SIGSYS",
        _ => return None,
    })
}

/// While this lives, whoever holds it looks at [`requested`] and ends by itself.
#[derive(Debug)]
pub(crate) struct Gentle(());

impl Gentle {
    pub(crate) fn new() -> Self {
        GENTLE.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Gentle {
    fn drop(&mut self) {
        GENTLE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Keeps the process from ending while a file is written, so that it appears whole and leaves no other behind.
pub(crate) fn writing() -> Option<RwLockReadGuard<'static, ()>> {
    WRITING.read().ok()
}

#[cfg(all(unix, feature = "cli"))]
pub(crate) use unix::{end_if_requested, watch};

#[cfg(all(not(unix), feature = "cli"))]
pub(crate) fn watch() {}

#[cfg(all(not(unix), feature = "cli"))]
pub(crate) fn end_if_requested() {}

#[cfg(all(unix, feature = "cli"))]
mod unix {
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::Signal;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::process;

    use super::{GENTLE, Ordering, SIGNAL, WRITING};

    /// Sent for a file that would grow beyond what the system allows. Once it is watched, the write fails instead.
    const TOO_LARGE: i32 = Signal::XFSZ.as_raw();

    /// How long a gentle end may take.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// How long a file that is being written is waited for.
    const WRITE: Duration = Duration::from_secs(1);

    /// Watches for signals from now on, but for those that this process was started to ignore, as under `nohup`.
    pub(crate) fn watch() {
        let ignored = ignored();
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, TOO_LARGE].into_iter();
        let wanted = wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0);
        process::adopt_children();
        // Without the thread a signal ends this process as it ends any other.
        let Ok(mut signals) = Signals::new(wanted) else { return };
        let _ = thread::Builder::new().spawn(move || signals.forever().for_each(received));
    }

    /// Ends the process if the user has asked for it.
    pub(crate) fn end_if_requested() {
        match SIGNAL.load(Ordering::SeqCst) {
            0 => {}
            signal => end(signal),
        }
    }

    fn received(signal: i32) {
        if signal == TOO_LARGE {
            return;
        }
        let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if !first || signal == SIGQUIT || GENTLE.load(Ordering::SeqCst) == 0 {
            end(signal);
        }
        // What waits for a program that is no backend, such as pip, goes on when that has ended.
        process::kill_children();
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(PATIENCE);
            end(signal);
        });
    }

    fn end(signal: i32) {
        let start = Instant::now();
        let mut written = WRITING.try_write();
        while written.is_err() && start.elapsed() < WRITE {
            thread::sleep(Duration::from_millis(1));
            written = WRITING.try_write();
        }
        process::end_children();
        process::remove_folders();
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }

    /// The signals that are ignored, a bit each; known on Linux only.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
