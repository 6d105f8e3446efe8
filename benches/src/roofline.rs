//! The limits of the memory system: parallel copies and random reads in plain safe Rust.

use std::hint::black_box;

use gather_optimized::{Options, gather};
use ndarray::{Array2, arr1};

use crate::threads::share;

/// A size of which libc's `memcpy` never stores past the caches.
const PLAIN_PIECE: usize = 16 << 10;

/// How to split a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copy {
    /// Into pieces of 16 KiB, which are written through the caches.
    Pieces,
    /// Into one `memcpy` per thread. Above a threshold (in glibc, about three quarters of the last-level cache), libc uses
    /// non-temporal stores. Safe Rust has no other way to request them.
    Whole,
}

/// Copies `from` to `to`, which has the same length.
///
/// # Panics
/// If `from` is shorter.
pub fn copy(from: &[u8], to: &mut [u8], threads: usize, how: Copy) {
    let each = |at: usize, piece: &mut [u8]| piece.copy_from_slice(&from[at..][..piece.len()]);
    match how {
        Copy::Pieces => share(to, 1, threads, |first, part| {
            for (number, piece) in part.chunks_mut(PLAIN_PIECE).enumerate() {
                each(first + number * PLAIN_PIECE, piece);
            }
        }),
        Copy::Whole => {
            let whole = to.len().div_ceil(threads).max(1);
            let mut parts: Vec<&mut [u8]> = to.chunks_mut(whole).collect();
            share(&mut parts, 1, threads, |first, parts| {
                parts.iter_mut().enumerate().for_each(|(at, part)| each((first + at) * whole, part));
            });
        }
    }
}

/// A cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Line(pub [u32; 16]);

/// Reads `count` random elements of a table; `read` turns each into a number. No address depends on an earlier read, so as
/// many reads are in flight as the processor supports.
pub fn random_reads<T: Sync>(table: &[T], count: usize, threads: usize, read: impl Fn(&T) -> u32 + Sync) {
    const READS_PER_SHARE: usize = 4096;
    let mut sums = vec![0u32; count.div_ceil(READS_PER_SHARE)];
    share(&mut sums, 1, threads, |first, sums| {
        for (at, sum) in sums.iter_mut().enumerate() {
            let start = (first + at) * READS_PER_SHARE;
            let reads =
                (start..start + READS_PER_SHARE).map(|number| read(&table[scatter(number, table.len())]));
            *sum = reads.fold(0, u32::wrapping_add);
        }
    });
    black_box(sums);
}

/// A pseudorandom position below `len`.
fn scatter(number: usize, len: usize) -> usize {
    let mut mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^= mixed >> 32;
    mixed = mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let wide = u128::from(mixed) * len as u128;
    usize::try_from(wide >> 64).unwrap_or(0)
}

/// The same elements on huge pages, if the system provides them: in an output of gather-optimized, which requests them.
///
/// # Panics
/// If memory is short.
#[must_use]
pub fn on_huge_pages<T: std::marker::Copy + Default + Send + Sync>(elements: Vec<T>) -> Vec<T> {
    let row = Array2::from_shape_vec((1, elements.len()), elements).expect("one row of all elements");
    let output = gather(&row, &arr1(&[0i32]), &Options::new()).expect("memory for a copy");
    output.into_raw_vec_and_offset().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_copy() {
        let from: Vec<u8> = (0..100_003u32).map(|at| (at % 251) as u8).collect();
        for how in [Copy::Pieces, Copy::Whole] {
            for threads in [1, 2, 5] {
                let mut to = vec![0; from.len()];
                copy(&from, &mut to, threads, how);
                assert_eq!(to, from, "{how:?} {threads}");
            }
        }
    }

    #[test]
    fn random_places_are_inside_and_spread() {
        let mut seen: Vec<usize> = (0..1000).map(|number| scatter(number, 1 << 30)).collect();
        assert!(seen.iter().all(|place| *place < 1 << 30));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1000);
        random_reads(&[Line([1; 16]); 3], 10, 2, |line| line.0.iter().sum());
    }

    #[test]
    fn huge_pages_hold_the_same_elements() {
        let elements: Vec<u16> = (0..1000).collect();
        assert_eq!(on_huge_pages(elements.clone()), elements);
    }
}
