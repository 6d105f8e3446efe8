//! Rows of one element straight from indices.

use crate::dispatch::Avx512;
use crate::index::Index;
use crate::kernels::bodies;

/// Copies one element of `SIZE` bytes per index; `false` if any index was bad.
///
/// # Safety
/// As [`bodies::pick_checked`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(in crate::kernels) unsafe fn cached<I: Index, const SIZE: usize>(
    _: Avx512,
    params: *const u8,
    bound: usize,
    indices: *const I,
    len: usize,
    output: *mut u8,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { bodies::pick_checked::<I, SIZE>(params, bound, indices, len, output) }
}
