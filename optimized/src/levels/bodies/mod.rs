//! Loops that all levels share, written once. All are `inline(always)`: each is compiled again inside the
//! entries of each level, for the instructions of that level. What they work on is defined here too.

mod checked_rows;
mod index_rows;
mod picked_rows;
mod picks;
mod prefetch;
mod rows;
mod spread_rows;

pub(super) use checked_rows::{copy_rows, pick_elements};
pub(super) use picked_rows::pick_rows;
pub(super) use picks::pick_by_stride;
#[allow(unused_imports, reason = "only some levels choose among the loops for single elements")]
pub(super) use picks::{PICKS_AHEAD, pick_checked, pick_one};
#[allow(unused_imports, reason = "only some levels have loops of their own that ask ahead")]
pub(super) use spread_rows::spread_rows;
#[allow(unused_imports, reason = "only some levels store past the caches")]
pub(super) use {
    checked_rows::each_row,
    rows::{CopyRow, copy_edge},
};

pub(crate) use checked_rows::CheckedRows;
pub(crate) use index_rows::{IndexRows, check};
pub(crate) use picks::{Picks, side_by_side};
pub(crate) use prefetch::{LINE, prefetch, prefetch_lines, prefetch_pointees};
