//! Backends in processes of their own, over the protocol. A backend that crashes, hangs or breaks the protocol fails
//! only the call that it was answering; every other result stands.
//!
//! Calls are pipelined: up to [`ProcessLimits::window`] of them are in flight. When a process fails, the call whose
//! reply was due need not be the cause: its reply may sit in the output buffer of a process that is stuck in
//! a later call. So the calls that were in flight are sent again to a new process, in order, one at a time,
//! and each is judged by that attempt. A run then stays at one call at a time; a campaign returns to
//! pipelining. If every one of these calls is answered alone, a crash or a protocol error is charged to the
//! call that was due, because it must not go unseen; a timeout fails no call.
//!
//! The cost is bounded. A run repeats calls once per worker, and that restart does not count. A campaign
//! repeats calls once per failing call; a failure that no call reproduces alone counts as a restart and ends
//! its pipelining.
//!
//! [`ProcessBackend`] is the program to start and its [`ProcessLimits`]. From the bottom up: `memory` limits a
//! process, `child` is a process with its pipes, `orphans` finds the processes that it leaves behind, and
//! `not_started` explains why it did not start. `session` is the handshake and the exchange of lines;
//! `inputs` writes calls and large tensors, and `replies` reads the answers. `client` sends a queue of calls
//! through one session after another as processes die. It has two users: `worker` runs the cases that `run`
//! distributes, with `batch` to collect the results, and [`Dialogue`] sends the calls of campaigns. `timer`
//! has one process time calls. `piped` is a backend that was started elsewhere: it is at the other end of standard input and output.

mod batch;
mod child;
mod client;
mod dialogue;
mod inputs;
mod memory;
mod not_started;
mod orphans;
mod patience;
mod piped;
mod program;
mod reduce;
mod replies;
mod run;
mod sanitizer;
mod session;
mod stderr;
mod timer;
mod worker;

pub use batch::{Event, Watch};
pub use dialogue::{Answers, Dialogue, Interrupted};
pub use inputs::InputFile;
pub use inputs::InputFolder;
pub use piped::Piped;
pub use program::{Broken, ProcessBackend, ProcessLimits};
pub use run::{Findings, Trivial};
pub use timer::Timer;
pub use timer::Timing;

/// On Linux, kills and reaps every child that this process gained since [`adopt_children`]. That includes
/// processes whose backend can no longer be told. For a program that starts nothing but backends.
pub fn end_children() {
    orphans::end_all();
}

/// Kills the children that [`end_children`] ends. Their owners reap them.
pub fn kill_children() {
    orphans::kill_all();
}

/// On Linux, makes this process adopt orphaned descendants, and treats every child from now on as a backend
/// or a helper of one. A backend then leaves nothing behind. Only for a program that starts nothing but
/// backends, which a library cannot know. Without it, a process that leaves the group of its backend is not
/// killed.
pub fn adopt_children() {
    orphans::adopt();
}

/// Removes the input folders of all runs. No run may continue afterwards.
pub fn remove_folders() {
    inputs::remove_folders();
}
