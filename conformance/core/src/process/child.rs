//! A process and its three pipes, each served by a thread so that the two sides cannot deadlock. The process
//! gets its own process group, so that its children die with it; `orphans` finds those that have left the
//! group.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use super::memory::limit_memory;
use super::not_started;
use super::orphans::{self, Descendants};
use super::program::ProcessBackend;
use super::stderr::Stderr;

/// How far to read ahead: at most this many lines, and no further line once this many bytes are waiting.
const LINES_AHEAD: usize = 64;
const BYTES_AHEAD: usize = 16 << 20;

/// How long a killed process may take to end. The kernel may hold it, or it may run as another user by now.
const KILLED: Duration = Duration::from_secs(2);

/// What arrives on standard output.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// More bytes without a newline than the limit allows.
    TooLong,
    /// The end of the stream, after this many bytes of an unfinished line.
    End(usize),
}

/// A process that was started. Dropping this kills it.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    status: Option<ExitStatus>,
    /// `None` once the process was killed.
    descendants: Option<Descendants>,
    lines: Receiver<Incoming>,
    /// The bytes of lines that were read but not received.
    unread: Arc<AtomicUsize>,
    input: Option<Sender<Vec<u8>>>,
    #[cfg(unix)]
    input_end: Option<std::os::fd::OwnedFd>,
    pub(super) stderr: Stderr,
}

impl Child {
    /// Starts the process, puts it under its limits and attaches a thread to each pipe.
    pub(super) fn start(backend: &ProcessBackend) -> io::Result<Self> {
        let mut command = Command::new(&backend.program);
        command.args(&backend.arguments).envs(backend.environment.iter().map(|(key, value)| (key, value)));
        let descendants = Descendants::new();
        command.envs([descendants.mark()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        limit_memory(&mut command, backend.limits.memory);
        not_started::check(&backend.program)?;
        let mut process = orphans::spawn(&mut command)?;

        let stdin = process.stdin.take().expect("it was asked for");
        let stdout = process.stdout.take().expect("it was asked for");
        let from_stderr = process.stderr.take().expect("it was asked for");
        let (input, to_write) = mpsc::channel();
        let (found, lines) = mpsc::sync_channel(LINES_AHEAD);
        let (stderr, keep_stderr) = Stderr::of(from_stderr);
        // From here on, an early return drops `child`, which kills the process.
        let child = Self {
            process,
            status: None,
            descendants: Some(descendants),
            lines,
            unread: Arc::default(),
            input: Some(input),
            #[cfg(unix)]
            input_end: std::os::fd::AsFd::as_fd(&stdin).try_clone_to_owned().ok(),
            stderr,
        };
        in_a_thread(move || write_lines(stdin, &to_write))?;
        let (longest, ahead) = (backend.limits.reply, Arc::clone(&child.unread));
        in_a_thread(move || {
            read_lines(BufReader::with_capacity(64 << 10, stdout), longest, &ahead, &found);
        })?;
        in_a_thread(keep_stderr)?;
        Ok(child)
    }

    /// Queues a line for the process. Never blocks.
    pub(super) fn send(&self, line: Vec<u8>) {
        if let Some(input) = &self.input {
            // If the writer has given up, `input_is_closed` or the end of the process shows it.
            let _ = input.send(line);
        }
    }

    /// Closes standard input once everything is written.
    pub(super) fn close_input(&mut self) {
        self.input = None;
        #[cfg(unix)]
        {
            self.input_end = None;
        }
    }

    /// What arrives next on standard output; `None` if nothing does within this time.
    pub(super) fn receive(&self, time: Duration) -> Option<Incoming> {
        match self.lines.recv_timeout(time) {
            Ok(incoming) => {
                if let Incoming::Line(line) = &incoming {
                    self.unread.fetch_sub(line.len(), Ordering::Relaxed);
                }
                Some(incoming)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Incoming::End(0)),
        }
    }

    /// Whether the process has closed its end of standard input.
    pub(super) fn input_is_closed(&self) -> bool {
        #[cfg(unix)]
        if let Some(end) = &self.input_end {
            use rustix::event::{PollFd, PollFlags, Timespec, poll};
            let mut fds = [PollFd::new(end, PollFlags::empty())];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            return poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().contains(PollFlags::ERR);
        }
        false
    }

    /// Whether the process has ended. It stays a zombie, so that the id of its group cannot be reused.
    pub(super) fn has_ended(&mut self) -> bool {
        #[cfg(unix)]
        if self.status.is_none() {
            use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let pid = Pid::from_child(&self.process);
            return !matches!(waitid(WaitId::Pid(pid), options), Ok(None));
        }
        #[cfg(not(unix))]
        if self.status.is_none() {
            self.status = self.process.try_wait().ok().flatten();
        }
        self.status.is_some()
    }

    /// Whether the process ends within this time.
    pub(super) fn ends_within(&mut self, time: Duration) -> bool {
        let start = Instant::now();
        let mut pause = Duration::from_micros(200);
        while !self.has_ended() {
            if start.elapsed() >= time {
                return false;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        true
    }

    /// Records the descendants of the process, so that they can be found after it ends.
    pub(super) fn look_at_family(&mut self) {
        let id = self.process.id();
        self.descendants.iter_mut().for_each(|descendants| descendants.look(id));
    }

    /// Kills the process and its descendants. Returns how it ended, or `None` if it cannot be killed.
    pub(super) fn kill(&mut self) -> Option<ExitStatus> {
        // Once the process is dead, its children have another parent.
        self.look_at_family();
        if let Some(descendants) = self.descendants.take() {
            #[cfg(unix)]
            let _ = rustix::process::kill_process_group(
                rustix::process::Pid::from_child(&self.process),
                rustix::process::Signal::KILL,
            );
            let _ = self.process.kill();
            if self.ends_within(KILLED) {
                self.status = self.process.wait().ok();
                orphans::forget(self.process.id());
            }
            descendants.end();
        }
        self.close_input();
        self.status
    }

    /// Whether the process survived being killed.
    pub(super) fn survives(&mut self) -> bool {
        self.descendants.is_none() && !self.has_ended()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Does some work in a new thread. Fails if the system has none left.
fn in_a_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

/// How a process ended, in words.
pub(super) fn how_it_ended(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "the process ended".to_owned() };
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let name = crate::interrupt::name(signal).map(|name| format!(" ({name})")).unwrap_or_default();
        return format!("the process was killed by signal {signal}{name}");
    }
    let code = status.code().map_or_else(|| "unknown".to_owned(), |code| code.to_string());
    format!("the process ended with exit status {code}")
}

/// Writes lines as they arrive, and flushes whenever the queue is empty.
fn write_lines(stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    let mut stdin = BufWriter::with_capacity(64 << 10, stdin);
    while let Ok(first) = lines.recv() {
        let mut next = Some(first);
        while let Some(line) = next {
            if stdin.write_all(&line).is_err() {
                return;
            }
            next = lines.try_recv().ok();
        }
        if stdin.flush().is_err() {
            return;
        }
    }
}

/// Reads lines until the stream ends, a line is too long, or the receiver is gone.
fn read_lines(
    mut stdout: impl BufRead,
    longest: usize,
    unread: &Arc<AtomicUsize>,
    found: &SyncSender<Incoming>,
) {
    loop {
        // The receiver holds the other reference. Once it is gone, nothing would end this wait.
        while unread.load(Ordering::Relaxed) > BYTES_AHEAD && Arc::strong_count(unread) > 1 {
            thread::sleep(Duration::from_millis(1));
        }
        let mut line = Vec::new();
        let read = stdout.by_ref().take((longest as u64).saturating_add(1)).read_until(b'\n', &mut line);
        let incoming = match read {
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                unread.fetch_add(line.len(), Ordering::Relaxed);
                Incoming::Line(line)
            }
            Ok(read) if read > longest => Incoming::TooLong,
            _ => Incoming::End(line.len()),
        };
        let last = !matches!(incoming, Incoming::Line(_));
        if found.send(incoming).is_err() || last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from a text under a limit on its lines.
    fn read(text: &str, longest: usize) -> Vec<String> {
        let (found, lines) = mpsc::sync_channel(LINES_AHEAD);
        read_lines(text.as_bytes(), longest, &Arc::default(), &found);
        drop(found);
        let shown = |incoming| match incoming {
            Incoming::Line(line) => String::from_utf8(line).unwrap(),
            other => format!("{other:?}"),
        };
        lines.iter().map(shown).collect()
    }

    #[test]
    fn a_line_may_be_as_long_as_its_limit_whatever_that_is() {
        assert_eq!(read("abc\nde\nf", 3), ["abc", "de", "End(1)"]);
        assert_eq!(read("abc\nde\nf", 2), ["TooLong"]);
        assert_eq!(read("abc\n\n", usize::MAX), ["abc", "", "End(0)"]);
    }

    #[test]
    fn long_lines_are_not_read_far_ahead_and_none_is_lost() {
        const LINES: usize = 20;
        let text = [&[b'x'; 4 << 20][..], b"\n"].concat().repeat(LINES);
        let (found, lines) = mpsc::sync_channel(LINES_AHEAD);
        let unread: Arc<AtomicUsize> = Arc::default();
        let ahead = Arc::clone(&unread);
        let reader = thread::spawn(move || read_lines(io::Cursor::new(text), 8 << 20, &ahead, &found));
        let mut most = 0;
        for number in 0..LINES {
            let Ok(Incoming::Line(line)) = lines.recv() else { panic!("line {number} is missing") };
            // Gives the reader time to run ahead.
            thread::sleep(Duration::from_millis(5));
            most = most.max(unread.fetch_sub(line.len(), Ordering::Relaxed));
        }
        assert!(matches!(lines.recv(), Ok(Incoming::End(0))));
        assert!((BYTES_AHEAD..=BYTES_AHEAD + (8 << 20)).contains(&most), "{most} bytes were read ahead");
        assert!(reader.join().is_ok());
    }
}
