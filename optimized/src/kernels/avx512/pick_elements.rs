//! Rows of one element, from checked offsets.

use crate::dispatch::Avx512;
use crate::kernels::bodies::{self, Copy};

/// Copies one element of `SIZE` bytes per offset.
///
/// # Safety
/// As [`bodies::pick_elements`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(in crate::kernels) unsafe fn cached<const SIZE: usize>(_: Avx512, copy: Copy, offsets: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::pick_elements::<SIZE>(copy, offsets) }
}
