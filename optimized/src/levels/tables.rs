//! Tables that fit registers, by indices of one byte: palettes, codebooks, masks. A vector of elements takes a few shuffles
//! in place of a load for each.
//!
//! Padding bytes of elements travel in vector registers; no lane is ever looked at.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::bodies::{Picks, pick_one};

/// Fewer indices than this do not pay for loading the table.
const WORTH: usize = 256;

/// Whether picks are look-ups in a table of at most this many entries.
#[inline]
pub(super) const fn fit(picks: &Picks<u8>, entries: usize) -> bool {
    picks.bound <= entries && picks.len >= WORTH
}

/// The highest good index.
#[inline]
fn highest(bound: usize) -> u8 {
    u8::try_from(bound - 1).unwrap_or(u8::MAX)
}

/// The elements of an axis, and zeros behind them.
///
/// # Safety
/// `params` must be the start of `bytes` readable bytes.
#[inline]
unsafe fn padded<const ROOM: usize>(params: *const u8, bytes: usize) -> [MaybeUninit<u8>; ROOM] {
    let mut table = [MaybeUninit::zeroed(); ROOM];
    let bytes = bytes.min(ROOM);
    // SAFETY: the caller's promise, and the table has at least as many bytes.
    unsafe { copy_nonoverlapping(params, table.as_mut_ptr().cast(), bytes) };
    table
}

/// Looks up `LANES` elements at a time, of `SIZE` bytes each: `vector` reads as many indices from its first argument, writes
/// their elements to its second, and says whether all are good. The rest is picked one by one; `false` if any index was bad.
///
/// # Safety
/// As [`super::bodies::pick_checked`]; `vector` must read and write no more than that.
#[inline(always)]
unsafe fn look_up<const SIZE: usize, const LANES: usize>(
    picks: Picks<u8>,
    vector: impl Fn(*const u8, *mut u8) -> bool,
) -> bool {
    let body = picks.len / LANES * LANES;
    let mut all_good = true;
    // SAFETY: every j is below len, and vectors cover lanes j..j + LANES <= len.
    unsafe {
        let one = |j| pick_one::<u8, SIZE, false>(picks, j);
        for j in (0..body).step_by(LANES) {
            if !vector(picks.indices.add(j), picks.output.add(j * SIZE)) {
                all_good = false;
                if picks.bad.is_none() {
                    return false;
                }
                (j..j + LANES).for_each(|j| _ = one(j));
            }
        }
        (body..picks.len).for_each(|j| all_good &= one(j));
    }
    all_good
}

/// Elements of one byte, at most 256, 16 of them in each shuffle.
///
/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn bytes_by_16(picks: Picks<u8>) -> bool {
    // SAFETY: the axis has `bound` elements of one byte; vectors read 32 indices and write as many elements, and the table
    // has a row of 16 for each load.
    unsafe {
        let table = padded::<256>(picks.params, picks.bound);
        let rows = picks.bound.div_ceil(16);
        let highest = _mm256_set1_epi8(highest(picks.bound).cast_signed());
        let (row_len, beyond) = (_mm256_set1_epi8(16), _mm256_set1_epi8(0x70));
        look_up::<1, 32>(picks, |indices, output| {
            let indices = _mm256_loadu_si256(indices.cast());
            let good = _mm256_cmpeq_epi8(_mm256_min_epu8(indices, highest), indices);
            let (mut left, mut elements) = (indices, _mm256_setzero_si256());
            for row in 0..rows {
                let row = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().add(16 * row).cast()));
                // Indices of other rows get their highest bit, for which a shuffle gives zero.
                let places = _mm256_adds_epu8(left, beyond);
                elements = _mm256_or_si256(elements, _mm256_shuffle_epi8(row, places));
                left = _mm256_sub_epi8(left, row_len);
            }
            _mm256_storeu_si256(output.cast(), elements);
            _mm256_movemask_epi8(good) == -1
        })
    }
}

/// Elements of one byte, at most 256, all in two shuffles.
///
/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(super) unsafe fn bytes_by_128(picks: Picks<u8>) -> bool {
    // SAFETY: the axis has `bound` elements of one byte; vectors read 64 indices and write as many elements.
    unsafe {
        let table = padded::<256>(picks.params, picks.bound);
        let quarter = |at: usize| _mm512_loadu_si512(table.as_ptr().add(64 * at).cast());
        let [first, second, third, fourth] = [quarter(0), quarter(1), quarter(2), quarter(3)];
        let highest = _mm512_set1_epi8(highest(picks.bound).cast_signed());
        look_up::<1, 64>(picks, |indices, output| {
            let indices = _mm512_loadu_si512(indices.cast());
            // Seven bits of an index choose from a half, and the eighth chooses the half.
            let lower = _mm512_permutex2var_epi8(first, indices, second);
            let upper = _mm512_permutex2var_epi8(third, indices, fourth);
            let elements = _mm512_mask_blend_epi8(_mm512_movepi8_mask(indices), lower, upper);
            _mm512_storeu_si512(output.cast(), elements);
            _mm512_cmple_epu8_mask(indices, highest) == !0
        })
    }
}

/// Elements of two bytes, at most 64.
///
/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn words_by_64(picks: Picks<u8>) -> bool {
    // SAFETY: the axis has `bound` elements of two bytes; vectors read 32 indices and write as many elements.
    unsafe {
        let table = padded::<128>(picks.params, 2 * picks.bound);
        let half = |at: usize| _mm512_loadu_si512(table.as_ptr().add(64 * at).cast());
        let [lower, upper] = [half(0), half(1)];
        let highest = _mm256_set1_epi8(highest(picks.bound).cast_signed());
        look_up::<2, 32>(picks, |indices, output| {
            let indices = _mm256_loadu_si256(indices.cast());
            let elements = _mm512_permutex2var_epi16(lower, _mm512_cvtepu8_epi16(indices), upper);
            _mm512_storeu_si512(output.cast(), elements);
            _mm256_cmple_epu8_mask(indices, highest) == !0
        })
    }
}

/// Elements of two bytes, at most 256.
///
/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn words_by_256(picks: Picks<u8>) -> bool {
    // SAFETY: the axis has `bound` elements of two bytes; vectors read 32 indices and write as many elements.
    unsafe {
        let table = padded::<512>(picks.params, 2 * picks.bound);
        let eighth = |at: usize| _mm512_loadu_si512(table.as_ptr().add(64 * at).cast());
        let [a, b, c, d] = [eighth(0), eighth(1), eighth(2), eighth(3)];
        let [e, f, g, h] = [eighth(4), eighth(5), eighth(6), eighth(7)];
        let highest = _mm256_set1_epi8(highest(picks.bound).cast_signed());
        let (bit_6, bit_7) = (_mm512_set1_epi16(1 << 6), _mm512_set1_epi16(1 << 7));
        look_up::<2, 32>(picks, |indices, output| {
            let indices = _mm256_loadu_si256(indices.cast());
            let wide = _mm512_cvtepu8_epi16(indices);
            // Six bits of an index choose from a quarter, and two choose the quarter.
            let (odd, upper) = (_mm512_test_epi16_mask(wide, bit_6), _mm512_test_epi16_mask(wide, bit_7));
            let from = |a, b| _mm512_permutex2var_epi16(a, wide, b);
            let lower_half = _mm512_mask_blend_epi16(odd, from(a, b), from(c, d));
            let upper_half = _mm512_mask_blend_epi16(odd, from(e, f), from(g, h));
            _mm512_storeu_si512(output.cast(), _mm512_mask_blend_epi16(upper, lower_half, upper_half));
            _mm256_cmple_epu8_mask(indices, highest) == !0
        })
    }
}

/// Elements of four bytes, at most 32.
///
/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) unsafe fn doublewords_by_32(picks: Picks<u8>) -> bool {
    // SAFETY: the axis has `bound` elements of four bytes; vectors read 16 indices and write as many elements.
    unsafe {
        let table = padded::<128>(picks.params, 4 * picks.bound);
        let half = |at: usize| _mm512_loadu_si512(table.as_ptr().add(64 * at).cast());
        let [lower, upper] = [half(0), half(1)];
        let highest = _mm_set1_epi8(highest(picks.bound).cast_signed());
        look_up::<4, 16>(picks, |indices, output| {
            let indices = _mm_loadu_si128(indices.cast());
            let elements = _mm512_permutex2var_epi32(lower, _mm512_cvtepu8_epi32(indices), upper);
            _mm512_storeu_si512(output.cast(), elements);
            _mm_cmple_epu8_mask(indices, highest) == !0
        })
    }
}
