//! Outer slices that share their indices, as along an axis behind the first: the indices are checked for one slice, and
//! what was checked serves the next slices, each from its own base.

use std::mem::MaybeUninit;

use super::Job;
use crate::index::Locate;
use crate::kernels::check::{BLOCK, BadIndexFound, Block};
use crate::kernels::cursor::Cursor;

impl<I: Locate> Job<'_, '_, I> {
    /// # Safety
    /// As `run`: the cursor must have `left` rows left, and `output` be their place.
    pub(super) unsafe fn run_repeated(
        &self,
        mut cursor: Cursor<'_>,
        mut left: usize,
        mut output: &mut [MaybeUninit<u8>],
    ) -> Result<(), BadIndexFound> {
        let mut block = Block::new();
        let indices = self.indices(self.geometry);
        while left > 0 {
            let segment = cursor.take_plane(left.min(BLOCK));
            // SAFETY: the geometry is that of these arrays, and the cursor gives rows of it.
            let checked = unsafe { block.check_once(indices, segment)? };
            let done = checked.offsets().len();
            let block_of_output = output.split_off_mut(..done * self.geometry.row_bytes).unwrap_or_default();
            // SAFETY: the base of the segment lies within params, and the offsets count from there.
            unsafe { self.move_rows_from(self.params.offset(segment.params), checked, block_of_output) };
            left -= done;
        }
        Ok(())
    }
}
