//! Rows of one element straight from indices.

use crate::dispatch::Avx2;
use crate::index::Index;
use crate::kernels::bodies::{self, Picks};

/// Copies one element of `SIZE` bytes per index; `false` if any index was bad.
///
/// # Safety
/// As [`bodies::pick_checked`].
#[target_feature(enable = "avx2")]
pub(in crate::kernels) unsafe fn pick<I: Index, const SIZE: usize>(_: Avx2, picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if picks.stride == SIZE.cast_signed() {
            bodies::pick_checked::<I, SIZE, false>(picks)
        } else {
            bodies::pick_checked::<I, SIZE, true>(picks)
        }
    }
}
