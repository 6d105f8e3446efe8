//! Memory that is reserved fallibly, on huge pages where it is large: fewer page faults on first touch, fewer TLB misses
//! later.

use std::mem::MaybeUninit;

use gather_spec::Refusal;

/// The huge page of x86-64 and of most aarch64 systems.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// From this many bytes on, memory contains at least one whole huge page wherever it starts, and is worth
/// some.
pub(super) const WORTH_HUGE: usize = 2 * HUGE_PAGE;

/// Memory for `len` elements, none of them initialised.
///
/// # Errors
/// `Unsupported` if the memory cannot be had.
#[inline]
pub(crate) fn reserve<A>(len: usize) -> Result<Vec<A>, Refusal> {
    let mut output = Vec::new();
    output.try_reserve_exact(len).map_err(|_| out_of_memory(len.saturating_mul(size_of::<A>())))?;
    prefer_huge(output.spare_capacity_mut());
    Ok(output)
}

#[cold]
pub(super) fn out_of_memory(bytes: usize) -> Refusal {
    Refusal::Unsupported(format!("{bytes} bytes for the output could not be reserved"))
}

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
pub(super) fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: the advice changes no byte and no address, wherever it points. A refusal leaves the pages as they were, so the
    // result does not matter.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
pub(super) fn advise(_start: *mut u8, _bytes: usize) {}
