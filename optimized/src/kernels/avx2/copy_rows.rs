//! Rows of several bytes.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128, _mm256_loadu_si256, _mm256_stream_si256,
};

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
/// As [`bodies::each_row`]; output and row length must be multiples of 16 bytes.
#[target_feature(enable = "avx2")]
pub(in crate::kernels) unsafe fn streamed(_: Avx2, copy: Copy, offsets: &[isize]) {
    // SAFETY: each_row gives whole rows, and rows keep the alignment of the output.
    unsafe {
        bodies::each_row(copy, offsets, |from, to| stream_row(from, to, copy.row_bytes));
    }
    // Streamed stores are not ordered with what tells other threads that the output is complete.
    _mm_sfence();
}

/// Edges that do not fill an aligned vector go out in 16 bytes; the next row completes their line.
///
/// # Safety
/// `from` and `to` must be the start of `bytes` bytes; `to` and `bytes` must be multiples of 16.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn stream_row(from: *const u8, to: *mut u8, bytes: usize) {
    const WIDTH: usize = size_of::<__m256i>();
    let head = to.align_offset(WIDTH).min(bytes);
    let body = head + (bytes - head) / WIDTH * WIDTH;
    // SAFETY: every store lies within the row, at a multiple of its own width.
    unsafe {
        for at in (0..head).step_by(16) {
            stream_16(from.add(at), to.add(at));
        }
        for at in (head..body).step_by(WIDTH) {
            _mm256_stream_si256(to.add(at).cast(), _mm256_loadu_si256(from.add(at).cast()));
        }
        for at in (body..bytes).step_by(16) {
            stream_16(from.add(at), to.add(at));
        }
    }
}

/// # Safety
/// `from` must be 16 readable bytes, `to` 16 writable ones at a multiple of 16.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn stream_16(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { _mm_stream_si128(to.cast::<__m128i>(), _mm_loadu_si128(from.cast())) };
}
