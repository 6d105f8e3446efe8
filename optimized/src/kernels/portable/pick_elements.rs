//! Rows of one element, from checked offsets.

use crate::kernels::bodies::{self, Copy};

/// Copies one element of `SIZE` bytes per offset.
///
/// # Safety
/// As [`bodies::pick_elements`].
pub(in crate::kernels) unsafe fn cached<const SIZE: usize>(copy: Copy, offsets: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::pick_elements::<SIZE>(copy, offsets) }
}
