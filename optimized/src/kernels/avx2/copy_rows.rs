//! Rows of several bytes.

use std::arch::x86_64::{__m256i, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
use std::ptr::copy_nonoverlapping;

use crate::dispatch::Avx2;
use crate::kernels::bodies::{self, Copy};

/// Copies rows through the caches.
///
/// # Safety
/// As [`bodies::each_row`].
#[target_feature(enable = "avx2")]
pub(in crate::kernels) unsafe fn cached(_: Avx2, copy: Copy, offsets: &[isize]) {
    // SAFETY: the caller's promise.
    unsafe { bodies::copy_rows(copy, offsets) }
}

/// Copies rows past the caches. Padding bytes of elements travel in vector registers; no lane is ever looked at.
///
/// # Safety
/// As [`bodies::each_row`]; rows must be at least 128 bytes long.
#[target_feature(enable = "avx2")]
pub(in crate::kernels) unsafe fn streamed(_: Avx2, copy: Copy, offsets: &[isize]) {
    // SAFETY: each_row gives whole rows, and rows keep the alignment of the output.
    unsafe {
        bodies::each_row(copy, offsets, |from, to| stream_row(from, to, copy.row_bytes));
    }
    // Streamed stores are not ordered with what tells other threads that the output is complete.
    _mm_sfence();
}

/// The edges of a row that share a line with its neighbours go through the caches, where the line comes together.
///
/// # Safety
/// `from` and `to` must be the start of `bytes >= 128` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn stream_row(from: *const u8, to: *mut u8, bytes: usize) {
    const WIDTH: usize = size_of::<__m256i>();
    let head = to.align_offset(64);
    let body = head + (bytes - head) / 64 * 64;
    // SAFETY: head < 64 <= bytes, so every move lies within the row; streamed ones start at multiples of 64.
    unsafe {
        if head > 0 {
            copy_nonoverlapping(from, to, 64);
        }
        for at in (head..body).step_by(WIDTH) {
            _mm256_stream_si256(to.add(at).cast(), _mm256_loadu_si256(from.add(at).cast()));
        }
        if body < bytes {
            copy_nonoverlapping(from.add(bytes - 64), to.add(bytes - 64), 64);
        }
    }
}
