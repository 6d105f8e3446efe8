//! The level of x86-64 with AVX2: the loops of `bodies`, compiled for it, and rows past the caches.

use std::arch::x86_64::{__m256i, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
use std::mem::MaybeUninit;

use super::bodies::{self, CheckedRows, IndexRows, Picks};
use super::entries::{self, Entries};
use super::tables;
use crate::index::Locate;

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The proof, if the processor has the level.
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

impl Entries for Avx2 {
    entries::compiled!("avx2");

    #[target_feature(enable = "avx2")]
    unsafe fn pick_checked<I: Locate, const SIZE: usize>(self, picks: Picks<I>) -> bool {
        // SAFETY: the caller's promise.
        unsafe { bodies::pick_by_stride::<I, SIZE>(picks) }
    }

    #[target_feature(enable = "avx2")]
    unsafe fn look_up(self, picks: Picks<u8>, size: usize) -> Option<bool> {
        // SAFETY: the caller's promise.
        (size == 1 && tables::fit(&picks, 256)).then(|| unsafe { tables::bytes_by_16(picks) })
    }
}

entries::stream_rows!("avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256);

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn the_level_is_there_if_and_only_if_its_instructions_are() {
        assert_eq!(super::Avx2::detect().is_some(), super::entries::processor_has(&["avx2"]));
    }
}
