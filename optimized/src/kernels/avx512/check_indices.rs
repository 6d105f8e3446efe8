//! Index rows without gaps to byte offsets.

use std::mem::MaybeUninit;

use crate::dispatch::Avx512;
use crate::index::Index;
use crate::kernels::bodies::{self, IndexRows};

/// Writes the offset of every row; `false` if any component was bad.
///
/// # Safety
/// As [`bodies::check`]; the rows must be dense.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(in crate::kernels) unsafe fn dense<I: Index, const D: usize>(
    _: Avx512,
    rows: IndexRows<I, D>,
    offsets: &mut [MaybeUninit<isize>],
) -> bool {
    // SAFETY: the caller's promise.
    unsafe { bodies::check::<I, false, D, true>(rows, offsets) }
}
