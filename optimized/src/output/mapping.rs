//! Pages of the system's own, which start on a huge page and ask for huge ones.

use std::ptr::NonNull;

/// Whether this system has such pages.
pub(super) const SUPPORTED: bool = cfg!(unix);

#[cfg(unix)]
pub(super) use unix::{clear, map, unmap};

#[cfg(not(unix))]
pub(super) use nothing::{clear, map, unmap};

#[cfg(unix)]
mod unix {
    use super::NonNull;
    use crate::output::pages::{self, HUGE_PAGE};

    /// New pages, all zeros, or nothing if there are none left. `bytes` must be a multiple of the huge page.
    pub(in crate::output) fn map(bytes: usize) -> Option<NonNull<u8>> {
        let start = anonymous(bytes)?;
        let start = if start.addr().get().is_multiple_of(HUGE_PAGE) {
            start
        } else {
            // SAFETY: these pages were mapped just now, and nothing else uses them.
            unsafe { unmap(start, bytes) };
            aligned(bytes)?
        };
        pages::advise(start.as_ptr(), bytes);
        Some(start)
    }

    /// Maps one huge page more, and unmaps what lies before and behind.
    fn aligned(bytes: usize) -> Option<NonNull<u8>> {
        let start = anonymous(bytes.checked_add(HUGE_PAGE)?)?;
        let before = start.addr().get().next_multiple_of(HUGE_PAGE) - start.addr().get();
        // SAFETY: `before + bytes` is less than was mapped, and so are `before` and the rest behind; all of
        // it was mapped just now, and nothing else uses it.
        unsafe {
            let (kept, behind) = (start.add(before), start.add(before + bytes));
            unmap(start, before);
            unmap(behind, HUGE_PAGE - before);
            Some(kept)
        }
    }

    fn anonymous(bytes: usize) -> Option<NonNull<u8>> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a new mapping at a place that the system chooses touches nothing that there is.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
    }

    /// # Safety
    /// The pages must have been mapped by [`map`], and nothing may use them any more.
    pub(in crate::output) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        if bytes > 0 {
            // SAFETY: the caller's promise. It cannot fail for whole pages, except for want of memory: then they stay.
            unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
        }
    }

    /// Makes all bytes zeros.
    ///
    /// # Safety
    /// The pages must have been mapped by [`map`], and be the caller's.
    pub(in crate::output) unsafe fn clear(start: NonNull<u8>, bytes: usize) {
        // Elsewhere, pages that are not needed may keep their bytes.
        #[cfg(target_os = "linux")]
        // SAFETY: the caller's promise; private anonymous pages are zeros when they are touched again.
        if unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_DONTNEED) } == 0 {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { start.write_bytes(0, bytes) };
    }
}

#[cfg(not(unix))]
mod nothing {
    use super::NonNull;

    pub(in crate::output) fn map(_bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    /// # Safety
    /// None: there are no such pages.
    pub(in crate::output) unsafe fn unmap(_start: NonNull<u8>, _bytes: usize) {}

    /// # Safety
    /// None: there are no such pages.
    pub(in crate::output) unsafe fn clear(_start: NonNull<u8>, _bytes: usize) {}
}
