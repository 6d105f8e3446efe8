//! Huge pages for large memory: fewer page faults on first touch, fewer TLB misses later.

use std::mem::MaybeUninit;

/// The huge page of x86-64 and of most aarch64 systems.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// From so many bytes on, memory has at least one whole huge page wherever it starts, and is worth some.
pub(super) const WORTH_HUGE: usize = 2 * HUGE_PAGE;

/// Asks for huge pages under the memory, where it holds some whole ones.
#[inline]
pub(super) fn prefer_huge<A>(memory: &mut [MaybeUninit<A>]) {
    let bytes = size_of_val(memory);
    if bytes >= WORTH_HUGE {
        let start = memory.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(HUGE_PAGE);
        advise(start.wrapping_add(skip), (bytes - skip) / HUGE_PAGE * HUGE_PAGE);
    }
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: the range lies within memory that the caller borrows mutably; the advice changes no byte of it. A refusal
    // leaves the pages as they were, so the result does not matter.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_start: *mut u8, _bytes: usize) {}
