//! The memory limit of a child process. It is set before the program starts, so all its descendants inherit it.

use std::process::Command;

/// Limits the address space of a process and of each of its descendants, on Linux only.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn limit_memory(command: &mut Command, memory: Option<u64>) {
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
pub(crate) fn limit_memory(_: &mut Command, _: Option<u64>) {}
