//! The limits of the memory system: parallel copies and random reads in plain safe Rust.

use std::hint::black_box;

use gather_optimized::{Options, gather};
use ndarray::{Array2, arr1};
use serde::{Deserialize, Serialize};

use crate::threads::share;
use crate::timing::interleave;

/// The size of a table to read, and of memory to copy: far larger than most caches.
const BYTES: usize = 256 << 20;
/// Random reads per call.
const READS: usize = 1 << 21;

/// A limit of the memory system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// What moves, and how.
    pub name: String,
    /// `GB/s` of a copy, `ns` of each read.
    pub unit: String,
    /// On one thread.
    pub one_thread: f64,
    /// On all threads.
    pub all_threads: f64,
}

/// What to measure.
#[derive(Clone, Copy, Debug)]
enum Roof {
    Copy(CopySplit),
    Lines { huge: bool },
    Words { huge: bool },
}

const ROOFS: [(&str, Roof); 6] = [
    ("copy through the caches (16 KiB pieces)", Roof::Copy(CopySplit::Pieces)),
    ("copy in one memcpy per thread (non-temporal where libc decides so)", Roof::Copy(CopySplit::Whole)),
    ("random 64-byte reads, huge pages", Roof::Lines { huge: true }),
    ("random 64-byte reads, ordinary pages", Roof::Lines { huge: false }),
    ("random 4-byte reads, huge pages", Roof::Words { huge: true }),
    ("random 4-byte reads, ordinary pages", Roof::Words { huge: false }),
];

/// Copies 268 MB and reads at random from as many, in turns, `rounds` times on one thread and as often on `threads`.
#[must_use]
pub fn rooflines(rounds: usize, threads: usize) -> Vec<Roofline> {
    measure(BYTES, rounds, threads)
}

#[allow(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
fn measure(bytes: usize, rounds: usize, threads: usize) -> Vec<Roofline> {
    let mut tables = Tables::new(bytes);
    let contenders: Vec<_> = ROOFS.iter().flat_map(|(_, roof)| [(*roof, 1), (*roof, threads)]).collect();
    let medians = interleave(&contenders, rounds, |(roof, threads)| tables.run(roof, threads));
    let of = |((name, roof), [one, all]): (&(&str, Roof), &[f64; 2])| {
        let (unit, rate): (_, &dyn Fn(f64) -> f64) = match roof {
            Roof::Copy(_) => ("GB/s", &|seconds| bytes as f64 / seconds / 1e9),
            Roof::Lines { .. } | Roof::Words { .. } => ("ns", &|seconds| seconds / READS as f64 * 1e9),
        };
        let (name, unit) = ((*name).to_owned(), unit.to_owned());
        Roofline { name, unit, one_thread: rate(*one), all_threads: rate(*all) }
    };
    ROOFS.iter().zip(medians.as_chunks::<2>().0).map(of).collect()
}

struct Tables {
    from: Vec<u8>,
    to: Vec<u8>,
    lines: [Vec<Line>; 2],
    words: [Vec<u32>; 2],
}

impl Tables {
    fn new(bytes: usize) -> Self {
        let lines = vec![Line([1; 16]); bytes / 64];
        let words = vec![1u32; bytes / 4];
        Self {
            from: on_huge_pages(vec![1; bytes]),
            to: on_huge_pages(vec![2; bytes]),
            lines: [lines.clone(), on_huge_pages(lines)],
            words: [words.clone(), on_huge_pages(words)],
        }
    }

    fn run(&mut self, roof: Roof, threads: usize) {
        match roof {
            Roof::Copy(split) => copy(&self.from, &mut self.to, threads, split),
            Roof::Lines { huge } => {
                let sum = |line: &Line| line.0.iter().fold(0, |sum: u32, word| sum.wrapping_add(*word));
                random_reads(&self.lines[usize::from(huge)], READS, threads, sum);
            }
            Roof::Words { huge } => {
                random_reads(&self.words[usize::from(huge)], READS, threads, |word| *word);
            }
        }
        black_box(&mut self.to);
    }
}

/// A size at which libc's `memcpy` never stores past the caches.
const PLAIN_PIECE: usize = 16 << 10;

/// How to split a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopySplit {
    /// Into pieces of 16 KiB, which are written through the caches.
    Pieces,
    /// Into one `memcpy` per thread. Above a threshold (in glibc, about three quarters of the last-level cache), libc uses
    /// non-temporal stores. Safe Rust has no other way to request them.
    Whole,
}

/// Copies `from` to `to`, which has the same length.
fn copy(from: &[u8], to: &mut [u8], threads: usize, split: CopySplit) {
    let each = |at: usize, piece: &mut [u8]| piece.copy_from_slice(&from[at..][..piece.len()]);
    match split {
        CopySplit::Pieces => share(to, 1, threads, |first, part| {
            for (number, piece) in part.chunks_mut(PLAIN_PIECE).enumerate() {
                each(first + number * PLAIN_PIECE, piece);
            }
        }),
        CopySplit::Whole => {
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
struct Line([u32; 16]);

/// Reads `count` random elements of a table; `read` turns each into a number. No address depends on an earlier read, so as
/// many reads are in flight as the processor supports.
fn random_reads<T: Sync>(table: &[T], count: usize, threads: usize, read: impl Fn(&T) -> u32 + Sync) {
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
fn on_huge_pages<T: Copy + Default + Send + Sync>(elements: Vec<T>) -> Vec<T> {
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
        for split in [CopySplit::Pieces, CopySplit::Whole] {
            for threads in [1, 2, 5] {
                let mut to = vec![0; from.len()];
                copy(&from, &mut to, threads, split);
                assert_eq!(to, from, "{split:?} {threads}");
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
    fn every_roofline_has_a_figure_for_one_thread_and_for_all() {
        let all = measure(1 << 20, 1, 2);
        assert_eq!(
            all.iter().map(|one| &*one.unit).collect::<Vec<_>>(),
            ["GB/s", "GB/s", "ns", "ns", "ns", "ns"]
        );
        // No copy of 1 MB takes 1 ns or a second, and no read of a cached element takes 1 µs.
        for Roofline { name, one_thread, all_threads, .. } in &all {
            assert!([one_thread, all_threads].iter().all(|rate| (1e-3..1e6).contains(*rate)), "{name}");
        }
    }

    #[test]
    fn huge_pages_hold_the_same_elements() {
        let elements: Vec<u16> = (0..1000).collect();
        assert_eq!(on_huge_pages(elements.clone()), elements);
    }
}
