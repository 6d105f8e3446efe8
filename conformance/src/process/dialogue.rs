//! Calls that are no cases, asked of one process after the other: pipelined, and the call at which a process fails
//! pays for it.

use std::collections::VecDeque;
use std::time::Instant;

use gather_spec::{Call, Outcome};

use crate::backend::Description;
use crate::judge::Verdict;

use super::inputs::Request;
use super::replies;
use super::session::{Session, Trouble};
use super::{Broken, ProcessBackend, orphans};

/// How many bytes of calls are under way at a time, unless it is one call.
const BYTES_UNDER_WAY: usize = 4 << 20;

/// A process that is asked calls, and started again when it fails.
#[derive(Debug)]
pub struct Dialogue {
    backend: ProcessBackend,
    session: Option<Session>,
    description: Description,
    folder: tempfile::TempDir,
    seq: u64,
    /// Why the last process ended.
    trouble: String,
    restarts: usize,
    restarts_count: bool,
}

/// A call that was sent and not answered yet.
struct Sent {
    place: usize,
    seq: u64,
    request: Request,
    mark: u64,
    at: Instant,
}

impl Dialogue {
    /// Starts the process.
    ///
    /// # Errors
    /// [`Broken`] if it cannot be started.
    pub fn start(backend: ProcessBackend) -> Result<Self, Broken> {
        let folder = tempfile::tempdir().map_err(|error| Broken {
            verdict: Verdict::Crash,
            why: format!("no folder for input files: {error}"),
            stderr: None,
        })?;
        orphans::adopt();
        let session = Session::start(&backend)?;
        let description = session.description.clone();
        Ok(Self {
            backend,
            session: Some(session),
            description,
            folder,
            seq: 1,
            trouble: String::new(),
            restarts: 0,
            restarts_count: true,
        })
    }

    /// What the backend says of itself.
    #[must_use]
    pub const fn description(&self) -> &Description {
        &self.description
    }

    /// Whether restarts are counted from now on, and limited.
    pub fn count_restarts(&mut self, counted: bool) {
        self.restarts_count = counted;
    }

    /// Asks calls; gives what came of each, in order.
    ///
    /// # Errors
    /// [`Broken`] if the process has to be started again, and may or can not.
    pub fn ask(&mut self, calls: &[&Call]) -> Result<Vec<Result<Outcome, Trouble>>, Broken> {
        let mut answers: Vec<Result<Outcome, Trouble>> = Vec::with_capacity(calls.len());
        let mut under_way: VecDeque<Sent> = VecDeque::new();
        let mut next = 0;
        let mut heard = Instant::now();
        while answers.len() < calls.len() {
            if self.session.is_none() {
                self.restart()?;
                next = answers.len();
            }
            while next < calls.len() && self.has_room(&under_way) {
                under_way.push_back(self.send(next, calls[next]));
                next += 1;
            }
            let sent = under_way.pop_front().expect("a call that is not answered is under way");
            let answer = self.receive(&sent, heard.max(sent.at));
            heard = Instant::now();
            if self.session.is_none() {
                under_way.clear();
            }
            debug_assert_eq!(sent.place, answers.len());
            answers.push(answer);
        }
        Ok(answers)
    }

    fn has_room(&self, under_way: &VecDeque<Sent>) -> bool {
        let bytes: usize = under_way.iter().map(|sent| sent.request.len()).sum();
        under_way.is_empty() || (under_way.len() < self.backend.limits.window && bytes < BYTES_UNDER_WAY)
    }

    fn send(&mut self, place: usize, call: &Call) -> Sent {
        let seq = self.seq;
        self.seq += 1;
        let mut request = Request::new(seq, call, self.backend.limits.file_above, self.folder.path());
        let mark = self.session.as_ref().map_or(0, |session| {
            session.send(request.take_line());
            session.stderr_mark()
        });
        Sent { place, seq, request, mark, at: Instant::now() }
    }

    /// The answer to the call that is next; after trouble there is no session.
    fn receive(&mut self, sent: &Sent, since: Instant) -> Result<Outcome, Trouble> {
        let session = self.session.as_mut().expect("calls are sent to a process");
        let answered = session.receive(since).and_then(|line| {
            let answer = replies::answer(&line);
            match answer.seq {
                Some(seq) if seq == sent.seq => answer.outcome,
                Some(seq) => Err(Trouble::protocol(format!(
                    "a reply to seq {seq} came when that to {} was due",
                    sent.seq
                ))),
                None => {
                    Err(answer.outcome.err().unwrap_or_else(|| Trouble::protocol("the reply has no seq")))
                }
            }
        });
        match answered {
            Ok(outcome) => match sent.request.changed() {
                Some(what) => Err(Trouble { verdict: Verdict::InputChanged, what }),
                None => Ok(outcome),
            },
            Err(trouble) => {
                let said = self.session.take().and_then(|session| session.kill(sent.mark));
                let first = said.as_deref().and_then(|said| said.trim().lines().next());
                let what = first.map_or(trouble.what.clone(), |first| format!("{}: {first}", trouble.what));
                self.trouble.clone_from(&what);
                Err(Trouble { what, ..trouble })
            }
        }
    }

    fn restart(&mut self) -> Result<(), Broken> {
        let most = self.backend.limits.restarts;
        let refuse = |why| Err(Broken { verdict: Verdict::Crash, why, stderr: None });
        if self.restarts_count {
            if self.restarts == most {
                let last = &self.trouble;
                return refuse(format!("the budget of {most} restarts is used up; at last {last}"));
            }
            self.restarts += 1;
        }
        let session = Session::start(&self.backend)?;
        if session.description != self.description {
            return refuse("after a restart the backend describes itself differently".to_owned());
        }
        self.session = Some(session);
        Ok(())
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            session.stop();
        }
    }
}
