//! Standard error of a process: stores its last bytes, and searches all of them for a sanitizer's report.
//!
//! A thread reads the pipe, so that the process never waits. After each reply, the session calls
//! [`Stderr::catch_up`]: all that the process wrote before the reply is in the pipe by then, and is read
//! there if the thread has not read it yet. Both hold the lock while they read, and read only what is
//! available, so neither waits for the process.

use std::collections::VecDeque;
use std::process::ChildStderr;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::words::shown;

use super::sanitizer::Scanner;

/// How many of the last bytes to keep.
const KEPT: usize = 16 << 10;

/// How many bytes to read at a time: the capacity of a pipe on Linux.
const AT_A_TIME: usize = 64 << 10;

/// How long to keep draining output after the process exits.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Standard error of one process.
#[derive(Debug)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    ended: Receiver<()>,
    #[cfg(unix)]
    end: Option<std::os::fd::OwnedFd>,
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct Tail {
    kept: VecDeque<u8>,
    total: u64,
    scanner: Scanner,
}

impl Stderr {
    /// Standard error, and the work for a thread of its own.
    pub(super) fn of(mut stream: ChildStderr) -> (Self, impl FnOnce() + Send + 'static) {
        let tail: Arc<Mutex<Tail>> = Arc::default();
        let (found_end, ended) = mpsc::channel();
        let own = Self {
            tail: Arc::clone(&tail),
            ended,
            #[cfg(unix)]
            end: std::os::fd::AsFd::as_fd(&stream).try_clone_to_owned().ok(),
        };
        let keep = move || {
            keep_tail(&mut stream, &tail);
            let _ = found_end.send(());
        };
        (own, keep)
    }

    /// Reads what the process has written so far.
    pub(super) fn catch_up(&self) {
        #[cfg(unix)]
        if let Some(end) = &self.end {
            let _ = available(end, &mut lock(&self.tail));
        }
    }

    /// How many bytes have arrived so far.
    pub(super) fn total(&self) -> u64 {
        lock(&self.tail).total
    }

    /// Takes the first line of a sanitizer's report, if there is one.
    pub(super) fn take_report(&self) -> Option<String> {
        lock(&self.tail).scanner.take_report()
    }

    /// Waits for the rest, after the process has ended.
    pub(super) fn drain(&self) {
        let _ = self.ended.recv_timeout(LAST_WORDS);
    }

    /// The text since `mark`, as far as it is kept.
    pub(super) fn since(&self, mark: u64) -> Option<String> {
        let mut tail = lock(&self.tail);
        let new = tail.total.saturating_sub(mark);
        let kept = tail.kept.len();
        let wanted = usize::try_from(new).unwrap_or(usize::MAX).min(kept);
        let bytes = &tail.kept.make_contiguous()[kept - wanted..];
        let text = shown(String::from_utf8_lossy(bytes).trim());
        let dropped = new - wanted as u64;
        match (text.is_empty(), dropped) {
            (true, _) => None,
            (false, 0) => Some(text),
            (false, dropped) => Some(format!("[{dropped} bytes before this are not kept]\n{text}")),
        }
    }
}

impl Tail {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.scanner.read(bytes);
        self.kept.extend(bytes);
        let beyond = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..beyond);
    }
}

fn lock(tail: &Mutex<Tail>) -> std::sync::MutexGuard<'_, Tail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads to the end.
#[cfg(unix)]
fn keep_tail(stream: &mut ChildStderr, tail: &Mutex<Tail>) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    loop {
        match poll(&mut [PollFd::new(&*stream, PollFlags::IN)], None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        if available(&*stream, &mut lock(tail)).is_none() {
            return;
        }
    }
}

/// Reads what a pipe holds, at most a few times its capacity: a process that never stops writing must not
/// hold up a reply. Returns `None` at the end of the pipe.
#[cfg(unix)]
fn available(stream: impl std::os::fd::AsFd, tail: &mut Tail) -> Option<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, read};
    const TIMES: usize = 4;
    let mut bytes = Vec::new();
    for _ in 0..TIMES {
        let mut fds = [PollFd::new(&stream, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !matches!(poll(&mut fds, Some(&now)), Ok(1)) {
            break;
        }
        bytes.resize(AT_A_TIME, 0);
        match read(&stream, &mut bytes[..]) {
            Ok(0) => return None,
            Ok(read) => tail.add(&bytes[..read]),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(())
}

/// Reads to the end.
#[cfg(not(unix))]
fn keep_tail(stream: &mut ChildStderr, tail: &Mutex<Tail>) {
    use std::io::Read as _;
    let mut bytes = vec![0; AT_A_TIME];
    while let Ok(read) = stream.read(&mut bytes) {
        if read == 0 {
            return;
        }
        lock(tail).add(&bytes[..read]);
    }
}
