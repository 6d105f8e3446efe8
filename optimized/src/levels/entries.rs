//! What each level must have: its entries, which kernels call.

use std::mem::MaybeUninit;

use super::bodies::{CheckedRows, IndexRows, Picks};
use crate::index::Locate;

/// The entries of a level. The type is the proof that the processor has it: only its `detect` makes a value. An entry is
/// `unsafe` so that it may be compiled for the level's instructions.
pub(super) trait Entries: Copy {
    /// Index rows without gaps to byte offsets; `false` if any component was bad.
    ///
    /// # Safety
    /// As [`super::bodies::check`]; the rows must be dense.
    unsafe fn check_dense<I: Locate, const D: usize>(
        self,
        rows: IndexRows<I, D>,
        offsets: &mut [MaybeUninit<isize>],
    ) -> bool;

    /// Copies rows of several bytes through the caches.
    ///
    /// # Safety
    /// The processor must have the level, of which `self` is the proof.
    ///
    /// # Panics
    /// If the output is not as long as the rows.
    unsafe fn copy_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]);

    /// Copies rows to places of their own.
    ///
    /// # Safety
    /// As [`Entries::copy_rows`] and [`super::bodies::spread_rows`].
    ///
    /// # Panics
    /// If there is not one place for each row.
    unsafe fn spread_rows(self, rows: CheckedRows<'_>, output: *mut u8, places: &[isize]);

    /// Copies rows past the caches, where the level can.
    ///
    /// # Safety
    /// As [`Entries::copy_rows`].
    ///
    /// # Panics
    /// If the output is not as long as the rows, or a row is shorter than [`CheckedRows::SHORTEST_STREAMED`].
    unsafe fn stream_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]);

    /// Copies rows of one element of `SIZE` bytes.
    ///
    /// # Safety
    /// As [`Entries::copy_rows`].
    ///
    /// # Panics
    /// If rows have another size, or the output is not as long as the rows.
    unsafe fn pick_elements<const SIZE: usize>(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]);

    /// Copies one element of `SIZE` bytes per index; `false` if any index was bad.
    ///
    /// # Safety
    /// As [`super::bodies::pick_checked`].
    unsafe fn pick_checked<I: Locate, const SIZE: usize>(self, picks: Picks<I>) -> bool;

    /// Looks up elements of `size` bytes in a table of at most 256 that registers hold, one per index; `false` if any index was bad,
    /// and `None` if the level has no such table or there are too few indices.
    ///
    /// # Safety
    /// As [`super::bodies::pick_checked`], with elements of `size` bytes and no gaps.
    unsafe fn look_up(self, picks: Picks<u8>, size: usize) -> Option<bool>;

    /// Copies one row of `row_bytes` bytes per index; `false` as soon as an index is bad.
    ///
    /// # Safety
    /// As [`super::bodies::pick_rows`].
    unsafe fn pick_rows<I: Locate>(self, picks: Picks<I>, row_bytes: usize) -> bool;
}

/// Defines `stream_rows`, a function that copies rows past the caches in vectors of a type: with the level's features, the
/// type, and the instructions that load a vector and store it past the caches. Padding bytes of elements travel in vector
/// registers; no lane is ever looked at.
#[cfg(target_arch = "x86_64")]
macro_rules! stream_rows {
    ($features:literal, $vector:ty, $load:ident, $stream:ident) => {
        /// # Panics
        /// If the output is not as long as the rows, or a row is shorter than [`CheckedRows::SHORTEST_STREAMED`].
        #[target_feature(enable = $features)]
        fn stream_rows(rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
            assert!(rows.row_bytes() >= CheckedRows::SHORTEST_STREAMED);
            // SAFETY: rows have this many bytes, which the assertion found to be enough.
            unsafe { bodies::each_row(rows, output, Streamed(rows.row_bytes())) };
            // Streamed stores are not ordered with what tells other threads that the output is complete.
            _mm_sfence();
        }

        /// A number of bytes, at least 128, past the caches.
        #[derive(Clone, Copy)]
        struct Streamed(usize);

        impl bodies::CopyRow for Streamed {
            #[inline(always)]
            unsafe fn copy(self, from: *const u8, to: *mut u8) {
                // SAFETY: the caller's promise; only the function above, for processors of the level, makes one.
                unsafe { stream_row(from, to, self.0) }
            }
        }

        /// The edges of a row that share a line with its neighbours go through the caches, where the line comes together. They
        /// write nothing else: a store past the caches to a line that a cache holds takes many times as long.
        ///
        /// # Safety
        /// `from` and `to` must be the start of `bytes >= 128` bytes.
        #[inline]
        #[target_feature(enable = $features)]
        unsafe fn stream_row(from: *const u8, to: *mut u8, bytes: usize) {
            const WIDTH: usize = size_of::<$vector>();
            let head = to.addr().wrapping_neg() % 64;
            let body = head + (bytes - head) / 64 * 64;
            // SAFETY: head < 64 <= bytes, so every move lies within the row; streamed ones start at multiples of 64.
            unsafe {
                bodies::copy_edge(from, to, head);
                for at in (head..body).step_by(WIDTH) {
                    $stream(to.add(at).cast(), $load(from.add(at).cast()));
                }
                bodies::copy_edge(from.add(body), to.add(body), bytes - body);
            }
        }
    };
}

/// The entries that compile a shared loop for the instructions of a level, and its `stream_rows`.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        unsafe fn check_dense<I: Locate, const D: usize>(
            self,
            rows: IndexRows<I, D>,
            offsets: &mut [MaybeUninit<isize>],
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe { bodies::check::<I, D, true>(rows, offsets) }
        }

        #[target_feature(enable = $features)]
        unsafe fn copy_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
            super::wide::copy_rows(rows, output);
        }

        #[target_feature(enable = $features)]
        unsafe fn spread_rows(self, rows: CheckedRows<'_>, output: *mut u8, places: &[isize]) {
            // SAFETY: the caller's promise.
            unsafe { super::wide::spread_rows(rows, output, places) }
        }

        #[target_feature(enable = $features)]
        unsafe fn pick_rows<I: Locate>(self, picks: Picks<I>, row_bytes: usize) -> bool {
            // SAFETY: the caller's promise.
            unsafe { super::wide::pick_rows(picks, row_bytes) }
        }

        #[target_feature(enable = $features)]
        unsafe fn stream_rows(self, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>]) {
            stream_rows(rows, output);
        }

        #[target_feature(enable = $features)]
        unsafe fn pick_elements<const SIZE: usize>(
            self,
            rows: CheckedRows<'_>,
            output: &mut [MaybeUninit<u8>],
        ) {
            bodies::pick_elements::<SIZE>(rows, output);
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) use {compiled, stream_rows};

/// Whether the operating system says that the processor has all of these instructions.
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
pub(super) fn processor_has(instructions: &[&str]) -> bool {
    let processors = std::fs::read_to_string("/proc/cpuinfo").expect("Linux has it");
    let flags =
        processors.lines().find_map(|line| line.strip_prefix("flags")).expect("an x86 processor lists them");
    instructions.iter().all(|one| flags.split_whitespace().any(|flag| flag == *one))
}
