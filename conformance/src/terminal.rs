//! The settings of the terminal. A backend has no terminal for its three streams, but it can open the one of the session, and
//! leave it raw: then the user sees nothing of what he types after the run.

#[cfg(unix)]
pub(crate) use unix::{remember, restore};

#[cfg(not(unix))]
pub(crate) fn remember() {}

#[cfg(not(unix))]
pub(crate) fn restore() {}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::sync::OnceLock;

    use rustix::fs::{FileType, fstat};
    use rustix::process::getpgrp;
    use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

    /// The terminal, and its settings before the first backend.
    static TERMINAL: OnceLock<(File, Termios)> = OnceLock::new();

    /// Notes the settings, if there is a terminal.
    pub(crate) fn remember() {
        if let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty")
            && let Ok(settings) = tcgetattr(&terminal)
        {
            let _ = TERMINAL.set((terminal, settings));
        }
    }

    /// Sets what has changed back. A program in the background must leave the terminal alone: it would be stopped. So must one
    /// that writes to a pipe: the reader may be a pager, which has set the terminal for itself.
    pub(crate) fn restore() {
        let Some((terminal, before)) = TERMINAL.get() else { return };
        let stdout = fstat(std::io::stdout()).map(|found| FileType::from_raw_mode(found.st_mode));
        if stdout.is_ok_and(FileType::is_fifo) {
            return;
        }
        let in_foreground = tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp());
        let modes = |of: &Termios| (of.input_modes, of.output_modes, of.control_modes, of.local_modes);
        if in_foreground && tcgetattr(terminal).is_ok_and(|now| modes(&now) != modes(before)) {
            let _ = tcsetattr(terminal, OptionalActions::Now, before);
        }
    }
}
