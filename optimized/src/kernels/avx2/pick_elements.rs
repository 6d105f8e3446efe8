//! Rows of one element, from checked offsets.

use crate::dispatch::Avx2;
use crate::kernels::bodies::{self, Copy};

/// Copies one element of `SIZE` bytes per offset.
///
/// # Safety
/// As [`bodies::pick_elements`].
#[target_feature(enable = "avx2")]
pub(in crate::kernels) unsafe fn cached<const SIZE: usize>(_: Avx2, copy: Copy, offsets: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::pick_elements::<SIZE>(copy, offsets) }
}
