//! Slices whose elements lie apart, in whole slices at a time: see [`tiles`].

use std::mem::MaybeUninit;
use std::ops::Range;

use super::Job;
use crate::geometry::RowAxis;
use crate::index::Locate;
use crate::kernels::check::{BadIndexFound, Block};
use crate::kernels::cursor::Cursor;
use crate::kernels::tiles::{self, Tiles};

impl<I: Locate> Job<'_, '_, I> {
    /// # Safety
    /// `output` must be the output of these rows, which must be whole slices along the innermost axis.
    pub(super) unsafe fn run_scattered(
        &self,
        axis: RowAxis,
        rows: Range<usize>,
        mut output: &mut [MaybeUninit<u8>],
    ) -> Result<(), BadIndexFound> {
        let slices = self.geometry.without_innermost();
        let mut cursor = Cursor::new(&slices, rows.start / axis.len);
        let mut left = rows.len() / axis.len;
        let mut block = Block::new();
        while left > 0 {
            // SAFETY: the geometry is that of these arrays but for the innermost axis, which moves no index, and `left`
            // slices are left.
            let checked = unsafe { block.check(self.indices(&slices), &mut cursor, left)? };
            let done = checked.offsets().len();
            let output = output.split_off_mut(..done * slices.row_bytes).unwrap_or_default();
            let (params, start) = (self.params, output.as_mut_ptr().cast());
            let tiles = Tiles { params, output: start, len: axis.len, stride: axis.params };
            // SAFETY: a checked offset is the start of a slice, which has `axis.len` elements; the output has room for them.
            unsafe { tiles::copy_slices(tiles, self.geometry.row_bytes, checked) };
            self.fill_bad(checked, output, slices.row_bytes);
            left -= done;
        }
        Ok(())
    }
}
