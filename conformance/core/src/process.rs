//! Backends in processes of their own, over the protocol. A backend that crashes, hangs or breaks the protocol fails
//! only the call that it was answering; every other result stands.
//!
//! Calls are pipelined: up to [`Limits::window`] of them are in flight. When a process fails then, the failure need not
//! be that of the call whose reply was due: earlier replies may lie in the buffer of a process that is stuck in a later
//! call. So the calls that were in flight are asked again in a new process, in order, one at a time, and each is judged
//! by what happens then. A run goes on one call at a time, a campaign returns to pipelining. Where all of them are
//! answered alone, a crash or a breach of the protocol is that of the call that was due, since it must not go unseen,
//! and a timeout is only remarked.
//!
//! What that may cost is bounded: a run asks again once per worker, and that restart is not counted; a campaign asks
//! again once per failing call, and a failure that no call repeats alone counts as a restart and ends its pipelining.
//!
//! [`ProcessBackend`] says what to start and under which [`Limits`]. From the bottom up: `memory` limits a process, `child` is the process and its
//! pipes, `orphans` finds what it leaves behind, and `not_started` says why there is none; `session` is the handshake
//! and one pipe full of calls, `inputs` writes calls and large tensors, and `replies` reads what comes back. `client`
//! takes a queue of calls through sessions, one after the other as they die, and is the same for both who ask: `worker`
//! asks the cases that `run` shares out, whose results `batch` collects, and [`Dialogue`] calls that are no cases, for
//! campaigns. `timer` asks one process to time calls.

mod batch;
mod child;
mod client;
mod dialogue;
mod inputs;
mod memory;
mod not_started;
mod orphans;
mod patience;
mod program;
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
pub use program::{Broken, Limits, ProcessBackend};
pub use run::{Findings, Trivial};
pub use timer::Timer;
pub use timer::Timing;

/// Ends every child of this process that was not there before the first backend, on Linux: whatever backends have left,
/// even without a trace of whose it was. For a program that starts nothing but backends.
pub fn end_children() {
    orphans::end_all();
}

/// Kills them without waiting for them, for whoever has started them does.
pub fn kill_children() {
    orphans::kill_all();
}

/// On Linux, makes this process the parent of those below it that lose theirs, and counts what it starts from now on as its
/// backends' or their helpers': a backend leaves nothing behind then. For a program that starts nothing but backends, which
/// a library cannot know; without it, a process that leaves the group of its backend is nobody's.
pub fn adopt_children() {
    orphans::adopt();
}

/// Removes the folders that hold inputs, of whichever runs there are; none of them may go on.
pub fn remove_folders() {
    inputs::remove_folders();
}
