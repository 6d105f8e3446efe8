//! The end that a user asks for by SIGINT, SIGTERM, SIGHUP or SIGQUIT. The command line calls [`watch`]; a program that
//! only uses the library keeps its own signals.
//!
//! The first signal while an [`interrupt::Gentle`](crate::interrupt::Gentle) is held only sets a flag, which runs and
//! campaigns look at: they end their backends, remove their folders and write what they have. Any other signal ends
//! the process at once, but for three things: children are ended, folders of inputs are removed, and a file that is
//! being written is finished. Where the gentle end takes longer than `PATIENCE`, the process ends at once too. In the
//! end the signal has its default action, so that a shell sees what happened.

#[cfg(unix)]
pub(crate) use unix::{end_if_requested, watch};

#[cfg(not(unix))]
pub(crate) fn watch() {}

#[cfg(not(unix))]
pub(crate) fn end_if_requested() {}

#[cfg(unix)]
mod unix {
    use std::sync::atomic::Ordering;
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::Signal;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use crate::interrupt::{GENTLE, SIGNAL, WRITING};
    use crate::process;

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
