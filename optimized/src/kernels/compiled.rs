//! The types of index that kernels are compiled for. A crate that gathers compiles none of them: generic code of others enters
//! them by a method of the type, and each type has its own here, which is not generic.

use super::check::{BadIndexFound, Block, CheckedIndices, Indices};
use super::cursor::Cursor;
use super::job::{Job, SpreadJob, Written};
use crate::index::Locate;

/// An integer type that indices may have: `i8` to `i64` and `u8` to `u64`.
///
/// Sealed: no other crate can implement it.
pub trait Index: Locate {
    /// [`Job::work_alone`].
    #[doc(hidden)]
    fn work_alone<'o>(job: &mut Job<'_, 'o, Self>) -> Result<Written<'o>, BadIndexFound>;

    /// [`Job::work`].
    #[doc(hidden)]
    fn work(job: &Job<'_, '_, Self>);

    /// [`SpreadJob::work`].
    #[doc(hidden)]
    fn spread(job: &SpreadJob<'_, '_, Self>);

    /// [`Block::check`].
    ///
    /// # Safety
    /// As there.
    #[doc(hidden)]
    unsafe fn check<'b>(
        block: &'b mut Block,
        indices: Indices<'_, Self>,
        cursor: &mut Cursor<'_>,
        most: usize,
    ) -> Result<CheckedIndices<'b>, BadIndexFound>;
}

macro_rules! kernels_of {
    ($($ty:ty),+) => {$(
        impl Index for $ty {
            fn work_alone<'o>(job: &mut Job<'_, 'o, Self>) -> Result<Written<'o>, BadIndexFound> {
                job.work_alone()
            }

            fn work(job: &Job<'_, '_, Self>) {
                job.work();
            }

            fn spread(job: &SpreadJob<'_, '_, Self>) {
                job.work();
            }

            unsafe fn check<'b>(
                block: &'b mut Block,
                indices: Indices<'_, Self>,
                cursor: &mut Cursor<'_>,
                most: usize,
            ) -> Result<CheckedIndices<'b>, BadIndexFound> {
                // SAFETY: the caller's promise.
                unsafe { block.check(indices, cursor, most) }
            }
        }
    )+};
}

kernels_of!(i8, i16, i32, i64, u8, u16, u32, u64);
