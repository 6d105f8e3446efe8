//! Requests for cache lines.

use crate::caches;

/// The bytes of a line.
pub(crate) const LINE: usize = 64;

/// Beyond these lines of a row, the hardware's own prefetcher has noticed.
const LINES_AHEAD: usize = 8;

/// How rows are asked for ahead.
#[derive(Clone, Copy)]
pub(super) struct Requests {
    row_bytes: usize,
    /// Lines that a row touches if it starts with one.
    lines: usize,
    /// Whether rows may end in one line more, which is asked for, too.
    straddle: bool,
}

impl Requests {
    /// For rows that have their starts in common with these bytes: the address of one, and strides between them. Rows that are not
    /// `far` are not asked for.
    #[inline(always)]
    pub(super) fn new(row_bytes: usize, starts: usize, far: bool) -> Self {
        let lines = row_bytes.div_ceil(LINE).min(LINES_AHEAD);
        let straddle = lines < LINES_AHEAD && !starts.is_multiple_of(row_bytes.next_power_of_two().min(LINE));
        // Asking twice for a line costs less than a branch that depends on the row.
        let straddle = far && straddle && !(row_bytes.is_multiple_of(LINE) && caches::are_shared_by_many());
        Self { row_bytes, lines, straddle }
    }

    /// Asks for the first lines of a row.
    #[inline(always)]
    pub(super) fn row(self, row: *const u8) {
        for line in 0..self.lines {
            prefetch(row.wrapping_add(line * LINE));
        }
        if self.straddle {
            prefetch(row.wrapping_add(self.row_bytes - 1));
        }
    }
}

/// Asks for the lines of bytes `from..to` after `start`.
#[inline]
pub(crate) fn prefetch_lines(start: *const u8, from: usize, to: usize) {
    for at in (from.next_multiple_of(LINE)..to).step_by(LINE) {
        prefetch(start.wrapping_add(at));
    }
}

/// Asks for what the first two words of an element point to: what a string, a box or a shared reference owns.
#[inline(always)]
pub(crate) fn prefetch_pointees<A>(element: &A) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for word in 0..(size_of::<A>() / 8).min(2) {
        let start = std::ptr::from_ref(element).cast::<u8>().wrapping_add(8 * word);
        let address: *const u8;
        // SAFETY: the word lies within the element. To an instruction any eight bytes are a number, even if they are padding.
        unsafe {
            std::arch::asm!(
                "mov {}, qword ptr [{}]",
                out(reg) address,
                in(reg) start,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        // A small number is a length or a count.
        if address.addr() > 1 << 16 {
            prefetch(address);
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = element;
}

/// Asks for a cache line. Any address will do: nothing is read that could fault.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
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
