//! Rows of several bytes.

use crate::kernels::bodies::{self, Copy};

/// Copies rows through the caches.
///
/// # Safety
/// As [`bodies::each_row`].
pub(in crate::kernels) unsafe fn cached(copy: Copy, offsets: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::copy_rows(copy, offsets) }
}
