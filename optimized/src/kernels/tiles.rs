//! Slices whose elements lie apart, as in a transposed array: a line's worth of elements is taken from every slice before
//! the next, so that slices whose elements are pages apart share the pages, and the output is written in whole lines.
//! Only the order makes the difference; there is one loop for all instruction sets.

use std::ptr::copy_nonoverlapping;

use super::check::CheckedIndices;

/// Slices whose elements lie apart, in an order of their own.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// What offsets count from.
    pub params: *const u8,
    /// Where the first slice goes; the others follow without gaps.
    pub output: *mut u8,
    /// Elements of a slice.
    pub len: usize,
    /// Between neighbours of a slice, in bytes.
    pub stride: isize,
}

/// Copies elements of `size` bytes, one of 1, 2, 4, 8, 16.
///
/// # Safety
/// As [`copy`], with elements of `size` bytes.
pub(super) unsafe fn copy_slices(tiles: Tiles, size: usize, slices: CheckedIndices<'_>) {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => copy::<1>(tiles, slices),
            2 => copy::<2>(tiles, slices),
            4 => copy::<4>(tiles, slices),
            8 => copy::<8>(tiles, slices),
            _ => copy::<16>(tiles, slices),
        }
    }
}

/// # Safety
/// The slices must be those of `tiles`, so that for every offset and `c < len`, `params + offset + c * stride` is the start
/// of `SIZE` readable bytes, and `output` must have room for all of them.
unsafe fn copy<const SIZE: usize>(tiles: Tiles, slices: CheckedIndices<'_>) {
    let width = 64 / SIZE;
    for start in (0..tiles.len).step_by(width) {
        let columns = start..tiles.len.min(start + width);
        for (j, offset) in slices.offsets().iter().enumerate() {
            let from = tiles.params.wrapping_offset(*offset);
            let output = tiles.output.wrapping_add(j * tiles.len * SIZE);
            for c in columns.clone() {
                let place = from.wrapping_offset(tiles.stride.wrapping_mul(c.cast_signed()));
                // SAFETY: c is below len, so the caller's promise is that of each.
                unsafe { copy_nonoverlapping(place, output.wrapping_add(c * SIZE), SIZE) };
            }
        }
    }
}
