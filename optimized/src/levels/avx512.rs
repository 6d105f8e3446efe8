//! The level of x86-64 with AVX-512: the loops of `bodies`, compiled for it, rows past the caches, and elements straight
//! from indices by hardware gathers, whose mask is the bounds test.
//!
//! Padding bytes of elements travel in vector registers; no lane is ever looked at.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ptr::copy_nonoverlapping;

use super::bodies::{self, CheckedRows, IndexRows, Picks};
use super::entries::{self, Entries};
use super::tables;
use crate::index::{Index, Meaning};

/// Proof that the processor has AVX-512 F, BW, DQ and VL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, if the processor has the level.
    pub(super) fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        all.then_some(Self(()))
    }
}

impl Entries for Avx512 {
    entries::compiled!("avx512f,avx512bw,avx512dq,avx512vl");

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn pick_checked<I: Index, const SIZE: usize>(self, picks: Picks<I>) -> bool {
        // From DRAM, asking ahead is worth more than gathering eight or sixteen at a time.
        // SAFETY: the caller's promise; `I` is what its width and sign say.
        unsafe {
            match (SIZE, I::SIGNED, size_of::<I>()) {
                (1, ..) if tables::fit::<I, SIZE>(&picks, 256) && is_x86_feature_detected!("avx512vbmi") => {
                    tables::bytes_by_128(picks)
                }
                (1, ..) if tables::fit::<I, SIZE>(&picks, 256) => tables::bytes_by_16(picks),
                (2, ..) if tables::fit::<I, SIZE>(&picks, 64) => tables::words_by_64(picks),
                (2, ..) if tables::fit::<I, SIZE>(&picks, 256) => tables::words_by_256(picks),
                (4, ..) if tables::fit::<I, SIZE>(&picks, 32) => tables::doublewords_by_32(picks),
                _ if picks.stride != SIZE.cast_signed() => bodies::pick_checked::<I, SIZE, true>(picks),
                // Vectors compare the value of an index, and write zeros in place of a bad one.
                _ if picks.prefetch || I::MEANING == Meaning::Moved || picks.bad.is_some() => {
                    bodies::pick_checked::<I, SIZE, false>(picks)
                }
                // A wrapped index must still fit its type.
                (_, true, 4) if I::MEANING == Meaning::FromEitherEnd && picks.bound > 1 << 31 => {
                    bodies::pick_checked::<I, SIZE, false>(picks)
                }
                (4, true, 4) => pick_4_by_i32(picks),
                (8, true, 4) => pick_8_by_i32(picks),
                (4, true, 8) => pick_4_by_i64(picks),
                (8, true, 8) => pick_8_by_i64(picks),
                _ => bodies::pick_checked::<I, SIZE, false>(picks),
            }
        }
    }
}

entries::stream_rows!("avx512f,avx512bw,avx512dq,avx512vl", __m512i, _mm512_loadu_si512, _mm512_stream_si512);

macro_rules! gather_loop {
    ($name:ident, $size:literal, $lanes:literal, $index:ty, $width:literal,
     $load:ident, $bound:expr, $negative:ident, $add:ident, $below:ident, $zero:expr, $gather:ident, $store:ident, $stream:ident) => {
        /// # Safety
        /// As [`bodies::pick_checked`], with indices of the type in the name.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $name<I: Index>(picks: Picks<I>) -> bool {
            let head = picks.head($size);
            let stream =
                picks.stream && picks.output.wrapping_add(head * $size).addr().is_multiple_of($width);
            let body = head + (picks.len - head) / $lanes * $lanes;
            let bound = $bound(picks.bound);
            let mut all_good = true;
            let mut masks = !0;
            // SAFETY: scalar picks have j < len; vectors cover lanes j..j + lanes <= len of indices and output, and lanes
            // whose index is not below the bound are masked out of the gather; streamed stores are on their own width.
            unsafe {
                for j in (0..head).chain(body..picks.len) {
                    all_good &= bodies::pick_one::<I, $size, false>(picks, j);
                }
                for j in (head..body).step_by($lanes) {
                    let indices = $load(picks.indices.cast::<$index>().add(j));
                    let indices = match I::MEANING {
                        Meaning::FromEitherEnd => $add(indices, $negative(indices), indices, bound),
                        _ => indices,
                    };
                    let good = $below(indices, bound);
                    masks &= good;
                    let elements = $gather::<$size>($zero, good, indices, picks.params.cast());
                    let output = picks.output.add(j * $size);
                    if stream {
                        $stream(output.cast(), elements);
                    } else {
                        $store(output.cast(), elements);
                    }
                }
            }
            if stream {
                // Streamed stores are not ordered with what tells other threads that the output is complete.
                _mm_sfence();
            }
            all_good && masks == !0
        }
    };
}

/// The bound for an unsigned test of `i32` indices: negative ones are at least 2^31. Added to a negative index, it wraps:
/// up to 2^31 both fit 32 bits.
#[inline(always)]
fn low_32(bound: usize) -> i32 {
    u32::try_from(bound.min(1 << 31)).unwrap_or(1 << 31).cast_signed()
}

#[target_feature(enable = "avx512f,avx512vl")]
fn bound_16(bound: usize) -> __m512i {
    _mm512_set1_epi32(low_32(bound))
}

#[target_feature(enable = "avx512f,avx512vl")]
fn bound_8(bound: usize) -> __m256i {
    _mm256_set1_epi32(low_32(bound))
}

#[target_feature(enable = "avx512f,avx512vl")]
fn bound_64(bound: usize) -> __m512i {
    _mm512_set1_epi64((bound as u64).cast_signed())
}

gather_loop!(
    pick_4_by_i32,
    4,
    16,
    i32,
    64,
    _mm512_loadu_epi32,
    bound_16,
    _mm512_movepi32_mask,
    _mm512_mask_add_epi32,
    _mm512_cmplt_epu32_mask,
    _mm512_setzero_si512(),
    _mm512_mask_i32gather_epi32,
    _mm512_storeu_epi32,
    _mm512_stream_si512
);
gather_loop!(
    pick_8_by_i32,
    8,
    8,
    i32,
    64,
    _mm256_loadu_epi32,
    bound_8,
    _mm256_movepi32_mask,
    _mm256_mask_add_epi32,
    _mm256_cmplt_epu32_mask,
    _mm512_setzero_si512(),
    _mm512_mask_i32gather_epi64,
    _mm512_storeu_epi64,
    _mm512_stream_si512
);
gather_loop!(
    pick_4_by_i64,
    4,
    8,
    i64,
    32,
    _mm512_loadu_epi64,
    bound_64,
    _mm512_movepi64_mask,
    _mm512_mask_add_epi64,
    _mm512_cmplt_epu64_mask,
    _mm256_setzero_si256(),
    _mm512_mask_i64gather_epi32,
    _mm256_storeu_epi32,
    _mm256_stream_si256
);
gather_loop!(
    pick_8_by_i64,
    8,
    8,
    i64,
    64,
    _mm512_loadu_epi64,
    bound_64,
    _mm512_movepi64_mask,
    _mm512_mask_add_epi64,
    _mm512_cmplt_epu64_mask,
    _mm512_setzero_si512(),
    _mm512_mask_i64gather_epi64,
    _mm512_storeu_epi64,
    _mm512_stream_si512
);

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn the_level_is_there_if_and_only_if_its_instructions_are() {
        let needed = ["avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"];
        assert_eq!(super::Avx512::detect().is_some(), super::entries::processor_has(&needed));
    }
}
