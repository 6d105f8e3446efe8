//! Handles SIGINT, SIGTERM, SIGHUP and SIGQUIT for the command line, which calls [`watch`]. Programs that use only the
//! library keep their own signal handling.
//!
//! While an [`interrupt::Gentle`](gather_conformance::internals::interrupt::Gentle) exists, the first signal only sets a flag. Runs and campaigns
//! poll it; they stop their backends, remove their folders and write the results so far. Any further signal, or more than
//! `PATIENCE`, ends the process at once, as does the first signal without a `Gentle`. Even then, child processes are
//! killed, input folders removed, and a file that is being written is completed. The process ends by the signal's default
//! action, so a shell sees the signal.

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

    use crate::terminal;
    use gather_conformance::internals::interrupt::{GENTLE, SIGNAL, WRITING};
    use gather_conformance::internals::process;

    /// Sent when a file would exceed the size limit. If the signal is handled, the write fails with an error instead.
    const TOO_LARGE: i32 = Signal::XFSZ.as_raw();

    /// The time limit for a gentle end.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// How long to wait for a file that is being written.
    const WRITE: Duration = Duration::from_secs(1);

    /// Starts to watch for signals, except those that the parent made this process ignore, as `nohup` does.
    pub(crate) fn watch() {
        let ignored = ignored();
        let wanted = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, TOO_LARGE].into_iter();
        let wanted = wanted.filter(|signal| ignored >> (signal - 1) & 1 == 0);
        process::adopt_children();
        terminal::remember();
        // Without this thread, a signal simply ends the process.
        let Ok(mut signals) = Signals::new(wanted) else { return };
        let _ = thread::Builder::new().spawn(move || signals.forever().for_each(received));
    }

    /// Ends the process if the user asked for that.
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
        // Code that waits for a program other than a backend, such as pip, continues once that program has ended.
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
        terminal::restore();
        process::remove_folders();
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }

    /// The ignored signals as a bit set. Known on Linux only.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
