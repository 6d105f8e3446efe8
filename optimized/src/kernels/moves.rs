//! Which kernel moves the rows of a job: by row length, size and level. The decisions are measured ones.

use std::mem::MaybeUninit;

use crate::caches;
use crate::levels::Proof;
use crate::levels::bodies::CheckedRows;

/// Moves rows to an output that is as long as they are, past the caches with `stream` if they are long enough.
#[inline]
pub(super) fn move_rows(level: Proof, rows: CheckedRows<'_>, output: &mut [MaybeUninit<u8>], stream: bool) {
    match rows.row_bytes() {
        1 => level.pick_elements::<1>(rows, output),
        2 => level.pick_elements::<2>(rows, output),
        4 => level.pick_elements::<4>(rows, output),
        8 => level.pick_elements::<8>(rows, output),
        16 => level.pick_elements::<16>(rows, output),
        CheckedRows::SHORTEST_STREAMED.. if stream => level.stream_rows(rows, output),
        _ => level.copy_rows(rows, output),
    }
}

/// Whether rows of an output are worth writing past the caches. Measured on a Zen 5: with 256-byte rows that is slower on one
/// thread, and with 128-byte rows on any number.
pub(super) fn streams(output_bytes: usize, row_bytes: usize) -> bool {
    (1024..=16384).contains(&row_bytes) && caches::outgrown_by_rows(output_bytes)
}

/// The longest row that is moved at once.
pub(super) const MOST_AT_ONCE: usize = 16;

/// Whether a row of this many bytes is moved at once, like an element.
pub(super) const fn is_one_move(row_bytes: usize) -> bool {
    matches!(row_bytes, 1 | 2 | 4 | 8 | 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::Level;
    use crate::levels::bodies::Picks;

    const ROWS: usize = 5;
    const UNWRITTEN: u8 = 0xff;

    /// Which entry moves the rows.
    #[derive(Clone, Copy, Debug)]
    enum By {
        Offsets {
            stream: bool,
        },
        /// The last row first.
        Places {
            prefetch: bool,
        },
        Indices {
            prefetch: bool,
        },
    }

    /// Moves rows, and holds the output and a line on either side to what must be there. Params and the output begin at these
    /// bytes of a line.
    fn moved(level: Proof, by: By, row_bytes: usize, [from, to]: [usize; 2]) {
        let places: Vec<i32> = (0..ROWS).map(|row| i32::try_from(row * 2 % ROWS).unwrap()).collect();
        let mut params = vec![0; 64 + 64 + ROWS * row_bytes];
        let from = params.as_ptr().align_offset(64) + from;
        let params = &mut params[from..from + ROWS * row_bytes];
        params.iter_mut().enumerate().for_each(|(at, byte)| *byte = u8::try_from(at * 7 % 251).unwrap());
        let mut room = vec![UNWRITTEN; 64 + 64 + 64 + ROWS * row_bytes + 64];
        let to = 64 + room.as_ptr().align_offset(64) + to;
        let offsets: Vec<isize> = places
            .iter()
            .map(|place| usize::try_from(*place).unwrap() * row_bytes)
            .map(usize::cast_signed)
            .collect();
        let output = &mut room[to..to + ROWS * row_bytes];
        // SAFETY: params have a row at each offset and place, and the output has room for each; an initialised byte is as good
        // as one that need not be.
        unsafe {
            let written = std::slice::from_raw_parts_mut(output.as_mut_ptr().cast(), output.len());
            match by {
                By::Offsets { stream } => {
                    let rows = CheckedRows::new(params.as_ptr(), &offsets, row_bytes, false);
                    move_rows(level, rows, written, stream);
                }
                By::Places { prefetch } => {
                    let rows = CheckedRows::new(params.as_ptr(), &offsets, row_bytes, prefetch);
                    let places = [4, 3, 2, 1, 0].map(|row| (row * row_bytes).cast_signed());
                    level.spread_rows(rows, output.as_mut_ptr(), &places);
                }
                By::Indices { prefetch } => {
                    let (params, indices, output) = (params.as_ptr(), places.as_ptr(), output.as_mut_ptr());
                    let (bound, stride, len) = (ROWS, row_bytes.cast_signed(), ROWS);
                    let (bad, stream) = (None, false);
                    let picks = Picks { params, bound, bad, stride, indices, len, output, prefetch, stream };
                    assert!(level.pick_rows(picks, row_bytes));
                }
            }
        }
        let call = || format!("{level:?}, {by:?}, rows of {row_bytes} bytes, {from}, {to}");
        let mut rows: Vec<&[u8]> =
            offsets.iter().map(|offset| &params[offset.cast_unsigned()..][..row_bytes]).collect();
        if matches!(by, By::Places { .. }) {
            rows.reverse();
        }
        let expected = rows.concat();
        assert!(room[to..to + expected.len()] == expected, "{}", call());
        let mut around = room[..to].iter().chain(&room[to + expected.len()..]);
        assert!(around.all(|byte| *byte == UNWRITTEN), "outside: {}", call());
    }

    /// What is moved in one, in two, in whole vectors, with edges, and by the system.
    #[test]
    fn rows_of_any_length_are_copied_wherever_params_and_the_output_begin_in_a_line() {
        let long = [320, 480, 511, 512, 1000, 1024, 1025, 2047, 2048, 2049, 2112, 3072, 4100];
        // Miri takes hours for all of them.
        let (every_nth, each_nth_place) = if cfg!(miri) { (37, 19) } else { (1, 1) };
        for row_bytes in (1..=260).chain(long).step_by(every_nth) {
            for level in Level::available().filter_map(Proof::of) {
                for to in (0..64).step_by(each_nth_place) {
                    // Alike in their lines, half a vector apart, and anywhere.
                    for from in [to, (to + 16) % 64, (to * 5 + row_bytes) % 64] {
                        for yes in [false, true] {
                            moved(level, By::Offsets { stream: yes }, row_bytes, [from, to]);
                            moved(level, By::Places { prefetch: yes }, row_bytes, [from, to]);
                            moved(level, By::Indices { prefetch: yes }, row_bytes, [from, to]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_bad_index_ends_the_rows() {
        for level in Level::available().filter_map(Proof::of) {
            let (params, mut output) = ([1u8; 64], [0; 96]);
            let (indices, bound, stride, len) = ([1i32, 2, 0].as_ptr(), 2, 32, 3);
            let (params, output) = (params.as_ptr(), output.as_mut_ptr());
            let (bad, prefetch, stream) = (None, true, false);
            let picks = Picks { params, bound, bad, stride, indices, len, output, prefetch, stream };
            // SAFETY: params are two rows of 32 bytes, and the output has room for three.
            assert!(!unsafe { level.pick_rows(picks, 32) });
        }
    }
}
