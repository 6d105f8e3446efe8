//! Requests for cache lines.

/// Asks for the lines of bytes `from..to` after `start`.
#[inline]
pub(crate) fn prefetch_lines(start: *const u8, from: usize, to: usize) {
    for at in (from.next_multiple_of(64)..to).step_by(64) {
        prefetch(start.wrapping_add(at));
    }
}

/// Asks for a cache line. Any address will do: nothing is read that could fault.
#[inline(always)]
pub(super) fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch never faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction is part of every aarch64, changes no register, flag or byte, and never faults.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(readonly, nostack, preserves_flags)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
