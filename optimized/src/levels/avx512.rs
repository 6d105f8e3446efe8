//! The level of x86-64 with AVX-512: the loops of `bodies`, compiled for it, rows past the caches, and elements straight
//! from indices, tested in vectors.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::bodies::{self, CheckedRows, IndexRows, Picks};
use super::entries::{self, Entries};
use super::tables;
use super::vectors;
use crate::index::Locate;

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
    unsafe fn pick_checked<I: Locate, const SIZE: usize>(self, picks: Picks<I>) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if picks.stride != SIZE.cast_signed() {
                bodies::pick_checked::<I, SIZE, true>(picks)
            } else if vectors::fit(&picks) {
                vectors::pick::<I, SIZE>(picks)
            } else {
                bodies::pick_checked::<I, SIZE, false>(picks)
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn look_up(self, picks: Picks<u8>, size: usize) -> Option<bool> {
        let fit = |entries| tables::fit(&picks, entries);
        // SAFETY: the caller's promise.
        unsafe {
            match size {
                1 if fit(256) && is_x86_feature_detected!("avx512vbmi") => Some(tables::bytes_by_128(picks)),
                1 if fit(256) => Some(tables::bytes_by_16(picks)),
                2 if fit(64) => Some(tables::words_by_64(picks)),
                2 if fit(256) => Some(tables::words_by_256(picks)),
                4 if fit(32) => Some(tables::doublewords_by_32(picks)),
                _ => None,
            }
        }
    }
}

entries::stream_rows!("avx512f,avx512bw,avx512dq,avx512vl", __m512i, _mm512_loadu_si512, _mm512_stream_si512);

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn the_level_is_there_if_and_only_if_its_instructions_are() {
        let needed = ["avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"];
        assert_eq!(super::Avx512::detect().is_some(), super::entries::processor_has(&needed));
    }
}
