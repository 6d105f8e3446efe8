//! Index rows without gaps to byte offsets.

use std::mem::MaybeUninit;

use crate::index::Index;
use crate::kernels::bodies::{self, IndexRows};

/// Writes the offset of every row; `false` if any component was bad.
///
/// # Safety
/// As [`bodies::check`]; the rows must be dense.
pub(in crate::kernels) unsafe fn dense<I: Index, const D: usize>(
    rows: IndexRows<I, D>,
    offsets: &mut [MaybeUninit<isize>],
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { bodies::check::<I, false, D, true>(rows, offsets) }
}
