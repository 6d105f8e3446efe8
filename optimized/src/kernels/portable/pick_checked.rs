//! Rows of one element straight from indices.

use crate::index::Index;
use crate::kernels::bodies::{self, Picks};

/// Copies one element of `SIZE` bytes per index; `false` if any index was bad.
///
/// # Safety
/// As [`bodies::pick_checked`].
pub(in crate::kernels) unsafe fn pick<I: Index, const SIZE: usize>(picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if picks.stride == SIZE.cast_signed() {
            bodies::pick_checked::<I, SIZE, false>(picks)
        } else {
            bodies::pick_checked::<I, SIZE, true>(picks)
        }
    }
}
