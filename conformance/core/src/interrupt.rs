//! Whether the user has asked for the end by a signal, which runs and campaigns look at. `signals` receives it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{RwLock, RwLockReadGuard};

/// The first signal received; 0 for none.
pub static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The number of live [`Gentle`]s.
pub static GENTLE: AtomicUsize = AtomicUsize::new(0);

/// Locked for reading while a file is written.
pub static WRITING: RwLock<()> = RwLock::new(());

/// Whether the run itself is to end early; only while there is a [`Gentle`].
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Whether the user has asked the program to end, or the run is to end early.
pub fn requested() -> bool {
    SIGNAL.load(Ordering::Relaxed) != 0 || is_stopped()
}

/// Ends the run early, as a signal would, but without being one.
pub fn stop() {
    STOPPED.store(true, Ordering::Relaxed);
}

/// Whether [`stop`] was called.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// The name of the signal with which the user did.
pub fn signal() -> Option<&'static str> {
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

/// While this lives, its owner polls [`requested`] and ends by itself.
#[derive(Debug)]
pub struct Gentle(());

impl Default for Gentle {
    fn default() -> Self {
        GENTLE.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Gentle {
    fn drop(&mut self) {
        if GENTLE.fetch_sub(1, Ordering::SeqCst) == 1 {
            // The next run of this process is another one.
            STOPPED.store(false, Ordering::Relaxed);
        }
    }
}

/// Delays the end of the process until the guard is dropped, so that a file is complete and no temporary file stays behind.
pub(crate) fn writing() -> Option<RwLockReadGuard<'static, ()>> {
    WRITING.read().ok()
}
