//! Limits the memory of a process. The child sets the limit on itself, before it executes the backend.

#![allow(
    unsafe_code,
    reason = "what runs between fork and exec cannot be proven safe; the block says what it rests on"
)]

use std::process::Command;

/// Limits the address space of a process and of each of its descendants, on Linux only.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn limit_memory(command: &mut Command, memory: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::os::unix::process::CommandExt;

    let Some(memory) = memory else { return };
    // Never raises an existing limit.
    let most = getrlimit(Resource::As).maximum.map_or(memory, |most| most.min(memory));
    let limit = Rlimit { current: Some(most), maximum: Some(most) };
    // SAFETY: between `fork` and `exec` the closure makes one system call, and neither allocates nor locks: the error
    // of the call is a number.
    unsafe {
        command.pre_exec(move || setrlimit(Resource::As, limit).map_err(Into::into));
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn limit_memory(_: &mut Command, _: Option<u64>) {}
