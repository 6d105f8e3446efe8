//! The limits of the memory system, on one thread and on all.

use std::hint::black_box;

use gather_benches::roofline::{Copy, Line, copy, on_huge_pages, random_reads};
use gather_benches::timing::interleave;

use super::Settings;

/// The size of the table to read, and of the memory to copy: far larger than the caches.
const BYTES: usize = 256 << 20;
/// Random reads per call.
const READS: usize = 1 << 21;

/// What to measure, and on which memory.
#[derive(Clone, Copy, Debug)]
enum Roof {
    Copy(Copy),
    Lines { huge: bool },
    Words { huge: bool },
}

const ROOFS: [(&str, Roof); 6] = [
    ("copy through the caches (16 KiB pieces)", Roof::Copy(Copy::Pieces)),
    ("copy in one memcpy per thread (non-temporal where libc decides so)", Roof::Copy(Copy::Whole)),
    ("random 64-byte reads, huge pages", Roof::Lines { huge: true }),
    ("random 64-byte reads, ordinary pages", Roof::Lines { huge: false }),
    ("random 4-byte reads, huge pages", Roof::Words { huge: true }),
    ("random 4-byte reads, ordinary pages", Roof::Words { huge: false }),
];

struct Tables {
    from: Vec<u8>,
    to: Vec<u8>,
    lines: [Vec<Line>; 2],
    words: [Vec<u32>; 2],
}

impl Tables {
    fn new() -> Self {
        let lines = vec![Line([1; 16]); BYTES / 64];
        let words = vec![1u32; BYTES / 4];
        Self {
            from: on_huge_pages(vec![1; BYTES]),
            to: on_huge_pages(vec![2; BYTES]),
            lines: [lines.clone(), on_huge_pages(lines)],
            words: [words.clone(), on_huge_pages(words)],
        }
    }

    fn run(&mut self, roof: Roof, threads: usize) {
        match roof {
            Roof::Copy(how) => copy(&self.from, &mut self.to, threads, how),
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

/// Measures and prints the table of rooflines.
#[allow(clippy::cast_precision_loss, reason = "sizes to be reported with three digits")]
pub(super) fn print(settings: &Settings) {
    let mut tables = Tables::new();
    let contenders: Vec<_> =
        ROOFS.iter().flat_map(|(_, roof)| [(*roof, 1), (*roof, settings.threads)]).collect();
    let medians = interleave(&contenders, settings.rounds, |(roof, threads)| tables.run(roof, threads));
    println!("| roofline, {} MB | 1 thread | {} threads | scaling |", BYTES / 1_000_000, settings.threads);
    println!("| --- | --: | --: | --: |");
    for ((name, roof), pair) in ROOFS.iter().zip(medians.as_chunks::<2>().0) {
        let rate = |seconds: f64| match roof {
            Roof::Copy(_) => format!("{:.1} GB/s", BYTES as f64 / seconds / 1e9),
            Roof::Lines { .. } | Roof::Words { .. } => format!("{:.2} ns each", seconds / READS as f64 * 1e9),
        };
        println!("| {name} | {} | {} | {:.2} |", rate(pair[0]), rate(pair[1]), pair[0] / pair[1]);
    }
    println!();
}
