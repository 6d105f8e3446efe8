//! Rows at offsets that were tested beforehand, for benchmarks only: the default level moves them without any check or
//! request ahead. What a gather does beyond that is what it costs.

use std::mem::MaybeUninit;

use super::moves;
use crate::dispatch;
use crate::levels::bodies::CheckedRows;

/// Rows of `params` at tested offsets.
#[derive(Debug)]
pub struct PlacedRows<'a> {
    params: &'a [u8],
    /// Each the start of `row_bytes` bytes within params.
    offsets: Vec<isize>,
    row_bytes: usize,
}

impl<'a> PlacedRows<'a> {
    /// Rows shorter than this share lines with their neighbours and are never written past the caches.
    pub const SHORTEST_STREAMED: usize = CheckedRows::SHORTEST_STREAMED;

    /// The rows at these offsets, in bytes; `None` if one of them leaves params, or rows are shorter than
    /// [`PlacedRows::SHORTEST_STREAMED`].
    #[must_use]
    pub fn new(params: &'a [u8], offsets: Vec<usize>, row_bytes: usize) -> Option<Self> {
        let last = params.len().checked_sub(row_bytes)?;
        let inside = row_bytes >= Self::SHORTEST_STREAMED && offsets.iter().all(|offset| *offset <= last);
        let offsets = inside.then(|| offsets.into_iter().map(usize::cast_signed).collect())?;
        Some(Self { params, offsets, row_bytes })
    }

    /// Copies the rows from row `first` on to `output`, as many as it has room for, through the caches or past them.
    ///
    /// # Panics
    /// If there are fewer rows, the output is not a whole number of rows, or the environment names a level
    /// that the processor lacks.
    pub fn copy(&self, first: usize, output: &mut [u8], past_the_caches: bool) {
        let rows = output.len() / self.row_bytes;
        let offsets = &self.offsets[first..first + rows];
        let level = dispatch::choose(None).expect("a level that the processor has");
        // SAFETY: `new` has tested every offset on these params, which are borrowed.
        let rows = unsafe { CheckedRows::new(self.params.as_ptr(), offsets, self.row_bytes, false) };
        // SAFETY: bytes that are initialised are as good as those that need not be, and only whole bytes are written.
        let output = unsafe {
            std::slice::from_raw_parts_mut(output.as_mut_ptr().cast::<MaybeUninit<u8>>(), output.len())
        };
        moves::move_rows(level, rows, output, past_the_caches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_inside_params_are_moved() {
        let params: Vec<u8> = (0..=255).collect();
        let rows = PlacedRows::new(&params, vec![128, 1, 0], 128).expect("rows inside params");
        for past_the_caches in [false, true] {
            let mut output = [0; 256];
            rows.copy(1, &mut output, past_the_caches);
            assert_eq!(output[..128], params[1..129]);
            assert_eq!(output[128..], params[..128]);
        }
        assert!(PlacedRows::new(&params, vec![129], 128).is_none(), "the last byte lies outside");
        assert!(PlacedRows::new(&params, vec![0], 127).is_none(), "too short to be streamed");
        assert!(PlacedRows::new(&params, vec![], 257).is_none());
    }
}
