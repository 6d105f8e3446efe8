//! Which kernel moves the rows of a job: by row length, size and level. The decisions are measured ones.

use gather_spec::{BadIndex, NegativeIndex, Profile};

use super::bodies::Copy;
use super::portable;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::dispatch::Proof;
use crate::geometry::Geometry;
use crate::index::Index;
use crate::plan::Plan;

/// Moves rows from checked offsets.
///
/// # Safety
/// Every offset must be the start of a row within `rows.params`, and `rows.output` must have room for all of them;
/// with `stream`, [`streams`] must have allowed it for this output.
#[inline]
pub(super) unsafe fn move_rows(level: Proof, rows: Copy, offsets: &[isize], stream: bool) {
    macro_rules! pick {
        ($size:literal) => {
            match level {
                #[cfg(target_arch = "x86_64")]
                Proof::Avx512(proof) => avx512::pick_elements::cached::<$size>(proof, rows, offsets),
                #[cfg(target_arch = "x86_64")]
                Proof::Avx2(proof) => avx2::pick_elements::cached::<$size>(proof, rows, offsets),
                Proof::Portable => portable::pick_elements::cached::<$size>(rows, offsets),
            }
        };
    }
    // SAFETY: the caller's promise; the tokens prove the levels.
    unsafe {
        match rows.row_bytes {
            1 => pick!(1),
            2 => pick!(2),
            4 => pick!(4),
            8 => pick!(8),
            16 => pick!(16),
            _ => match level {
                #[cfg(target_arch = "x86_64")]
                Proof::Avx512(proof) if stream => avx512::copy_rows::streamed(proof, rows, offsets),
                #[cfg(target_arch = "x86_64")]
                Proof::Avx512(proof) => avx512::copy_rows::cached(proof, rows, offsets),
                #[cfg(target_arch = "x86_64")]
                Proof::Avx2(proof) if stream => avx2::copy_rows::streamed(proof, rows, offsets),
                #[cfg(target_arch = "x86_64")]
                Proof::Avx2(proof) => avx2::copy_rows::cached(proof, rows, offsets),
                Proof::Portable => portable::copy_rows::cached(rows, offsets),
            },
        }
    }
}

/// Outputs from this size on leave the caches before anyone reads them.
const STREAMED_OUTPUT: usize = 16 << 20;

/// Whether rows of an output are worth writing past the caches: large outputs, rows of some lines, and rows that
/// start and end on 16 bytes, the smallest store of that kind.
pub(super) fn streams(output_bytes: usize, row_bytes: usize, output: *const u8) -> bool {
    output_bytes >= STREAMED_OUTPUT
        && (128..=4096).contains(&row_bytes)
        && row_bytes.is_multiple_of(16)
        && output.addr().is_multiple_of(16)
}

/// The kernel that takes elements straight from indices, for the jobs that it fits: one element per row, indices of
/// depth 1 and an axis without gaps, bad indices an error.
pub(super) struct Pick<I> {
    bound: usize,
    size: usize,
    level: Proof,
    stream: bool,
    indices: std::marker::PhantomData<I>,
}

impl<I> Clone for Pick<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> std::marker::Copy for Pick<I> {}

impl<I: Index> Pick<I> {
    /// The kernel, if it fits.
    #[inline]
    pub(super) fn of(geometry: &Geometry, plan: &Plan, element: usize) -> Option<Self> {
        let strict = matches!(
            plan.profile,
            Profile {
                bad_index: BadIndex::Error | BadIndex::Unspecified,
                negative_index: NegativeIndex::Reject
            }
        );
        let ([component], Some(axis)) = (geometry.components.as_slice(), geometry.rows.last()) else {
            return None;
        };
        let fits = strict
            && geometry.row_bytes == element
            && matches!(element, 1 | 2 | 4 | 8 | 16)
            && component.stride == element.cast_signed()
            && component.bound > 0
            && axis.indices == 1
            && axis.params == 0;
        let stream = geometry.output_bytes() >= STREAMED_OUTPUT;
        fits.then_some(Self {
            bound: component.bound,
            size: element,
            level: plan.level,
            stream,
            indices: std::marker::PhantomData,
        })
    }

    /// Copies one element per index; `false` if any index was bad.
    ///
    /// # Safety
    /// `params` must be the start of the axis, `indices` of `len` indices, `output` of room for `len` elements.
    #[inline]
    pub(super) unsafe fn run(
        self,
        params: *const u8,
        indices: *const I,
        len: usize,
        output: *mut u8,
    ) -> bool {
        macro_rules! pick {
            ($size:literal) => {
                match self.level {
                    #[cfg(target_arch = "x86_64")]
                    Proof::Avx512(proof) => avx512::pick_checked::cached::<I, $size>(
                        proof, params, self.bound, indices, len, output,
                    ),
                    #[cfg(target_arch = "x86_64")]
                    Proof::Avx2(proof) => avx2::pick_checked::cached::<I, $size>(
                        proof, params, self.bound, indices, len, output,
                    ),
                    Proof::Portable => {
                        portable::pick_checked::cached::<I, $size>(params, self.bound, indices, len, output)
                    }
                }
            };
        }
        let _ = self.stream;
        // SAFETY: the caller's promise; the tokens prove the levels.
        unsafe {
            match self.size {
                1 => pick!(1),
                2 => pick!(2),
                4 => pick!(4),
                8 => pick!(8),
                _ => pick!(16),
            }
        }
    }
}
