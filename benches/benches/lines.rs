//! Rows by where params and outputs begin in a line of the caches: the time of a plain safe loop over that of each level, on one
//! thread, in rounds that take turns. `cargo bench -p gather-benches --bench lines` takes some seconds and 600 MB.
//!
//! A cell is the median of the rounds' ratios, with bounds that hold it with 95 %. A level fails where even its upper bound is less
//! than 0.95 of the plain loop, or of a level before it; then the program ends with status 1.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::time::Instant;

use gather_optimized::slices::{View, gather_into};
use gather_optimized::{Level, Options};

const ROUNDS: usize = 15;
const OUTPUT_BYTES: usize = 8 << 20;
const LINE: usize = 64;

/// Where params and the output begin in a line.
const PLACES: [[usize; 2]; 4] = [[0, 0], [16, 16], [0, 16], [16, 0]];

/// The lengths of rows, and the megabytes of their tables.
const ROWS: [(usize, usize); 10] = [
    (64, 16),
    (64, 256),
    (128, 16),
    (128, 33),
    (128, 256),
    (256, 33),
    (256, 256),
    (512, 33),
    (1024, 33),
    (3072, 256),
];

/// Ratios of rounds, in ascending order.
struct Ratios(Vec<f64>);

impl Ratios {
    fn new(over: &[f64], under: &[f64]) -> Self {
        let mut ratios: Vec<f64> = over.iter().zip(under).map(|(over, under)| over / under).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        Self(ratios)
    }

    /// The median lies between the 4th and the 12th of 15 with 96 %.
    fn bounds(&self) -> [f64; 2] {
        [self.0[3], self.0[ROUNDS - 4]]
    }

    fn fails(&self) -> bool {
        self.bounds()[1] < 0.95
    }

    fn cell(&self) -> String {
        let [lower, upper] = self.bounds();
        format!("{:.2} ({lower:.2} to {upper:.2})", self.0[ROUNDS / 2])
    }
}

fn main() -> ExitCode {
    let levels: Vec<Level> = Level::available().collect();
    let names: Vec<String> = levels.iter().map(Level::to_string).collect();
    println!("| rows | table | params, output | ns per row, plain | {} |", names.join(" | "));
    println!("| --- | --- | --- | --: |{}", " --: |".repeat(levels.len()));
    let mut failed = false;
    for (row, megabytes) in ROWS {
        let rows = (megabytes << 20) / row;
        let indices = indices(OUTPUT_BYTES / row, rows);
        let (params, mut output) = (vec![3; rows * row + 2 * LINE], vec![0; OUTPUT_BYTES + 2 * LINE]);
        for [from, to] in PLACES {
            let params = &params[params.as_ptr().align_offset(LINE) + from..][..rows * row];
            let start = output.as_ptr().align_offset(LINE) + to;
            let output = &mut output[start..start + indices.len() * row];
            let times = rounds(&levels, row, params, &indices, output);
            #[allow(clippy::cast_precision_loss, reason = "a number of rows")]
            let plain = Ratios::new(&times[0], &[indices.len() as f64; ROUNDS]).0[ROUNDS / 2];
            let of_plain: Vec<Ratios> =
                times[1..].iter().map(|level| Ratios::new(&times[0], level)).collect();
            let behind = (1..times.len())
                .any(|level| (1..level).any(|before| Ratios::new(&times[before], &times[level]).fails()));
            let fails = behind || of_plain.iter().any(Ratios::fails);
            failed |= fails;
            let cells: Vec<String> = of_plain.iter().map(Ratios::cell).collect();
            let note = if fails { " fails |" } else { "" };
            println!(
                "| {row} bytes | {megabytes} MiB | {from}, {to} | {plain:.1} | {} |{note}",
                cells.join(" | ")
            );
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Indices of this many rows, the same on every machine.
fn indices(count: usize, rows: usize) -> Vec<i32> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i32::try_from(state % rows as u64).expect("a table has fewer rows")
    };
    (0..count).map(|_| next()).collect()
}

/// The nanoseconds of the plain loop and of each level, round by round. The first round is not counted.
fn rounds(levels: &[Level], row: usize, params: &[u8], indices: &[i32], output: &mut [u8]) -> Vec<Vec<f64>> {
    let mut times = vec![Vec::new(); levels.len() + 1];
    let shape = [params.len() / row, row];
    for round in 0..=ROUNDS {
        for (who, times) in times.iter_mut().enumerate() {
            let start = Instant::now();
            match who.checked_sub(1).map(|level| levels[level]) {
                None => plain(row, params, indices, output),
                Some(level) => {
                    let options = Options::new().level(level).threads(NonZeroUsize::MIN);
                    let params = View::new(params, &shape).expect("whole rows");
                    let count = [indices.len()];
                    let indices = View::new(indices, &count).expect("as many as there are");
                    gather_into(&params, &indices, &mut *output, &options).expect("good indices");
                }
            }
            black_box(&output);
            #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
            let nanoseconds = start.elapsed().as_nanos() as f64;
            if round > 0 {
                times.push(nanoseconds);
            }
        }
    }
    times
}

/// The loop that a user would write, compiled for each length.
fn plain(row: usize, params: &[u8], indices: &[i32], output: &mut [u8]) {
    match row {
        64 => copy::<64>(params, indices, output),
        128 => copy::<128>(params, indices, output),
        256 => copy::<256>(params, indices, output),
        512 => copy::<512>(params, indices, output),
        1024 => copy::<1024>(params, indices, output),
        3072 => copy::<3072>(params, indices, output),
        _ => unreachable!("a length of ROWS"),
    }
}

#[inline(never)]
fn copy<const ROW: usize>(params: &[u8], indices: &[i32], output: &mut [u8]) {
    let (params, _) = params.as_chunks::<ROW>();
    for (to, at) in output.as_chunks_mut::<ROW>().0.iter_mut().zip(indices) {
        *to = params[usize::try_from(*at).expect("not negative")];
    }
}
