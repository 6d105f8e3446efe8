//! Memory for outputs: reserved fallibly, on huge pages where that pays, filled by a job before they can be read.

#![allow(
    unsafe_code,
    reason = "uninitialised memory becomes an output once a job has proved that it wrote all of it"
)]

mod mapping;
mod pages;
mod pool;
mod retaining;

use std::mem::MaybeUninit;

use gather_spec::Refusal;
use ndarray::{ArrayD, Dimension, IxDyn};

pub(crate) use pages::reserve;
pub use pool::{Pool, Pooled};
pub use retaining::Retaining;

use crate::kernels::job::Written;

/// Lets `fill` write `len` elements into new memory.
///
/// # Errors
/// Those of [`reserve`] and of `fill`.
#[inline]
pub(crate) fn fresh<A>(
    len: usize,
    fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<A>]) -> Result<Written<'a>, Refusal>,
) -> Result<Vec<A>, Refusal> {
    let mut output = reserve(len)?;
    fill(&mut output.spare_capacity_mut()[..len])?;
    // SAFETY: `Written` proves that all `len` elements, which were reserved, have been initialised.
    unsafe { output.set_len(len) };
    Ok(output)
}

/// The same as an array of this shape, which is known to have that many elements.
///
/// # Errors
/// As [`fresh`].
#[inline]
pub(crate) fn fresh_array<A>(
    shape: IxDyn,
    len: usize,
    fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<A>]) -> Result<Written<'a>, Refusal>,
) -> Result<ArrayD<A>, Refusal> {
    let output = fresh(len, fill)?;
    debug_assert_eq!(shape.size(), len);
    // SAFETY: `len` is the product of the shape, whose bytes were checked to fit an `isize`.
    Ok(unsafe { ArrayD::from_shape_vec_unchecked(shape, output) })
}

/// Initialised elements as a job sees them.
#[inline]
pub(crate) fn overwrite<A: Copy>(
    output: &mut [A],
    fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<A>]) -> Result<Written<'a>, Refusal>,
) -> Result<(), Refusal> {
    // SAFETY: the layouts are the same, and jobs write nothing but whole, initialised elements, so that every element
    // stays initialised whether or not the job succeeds; `A: Copy` has no drop to miss.
    let slice = unsafe { std::slice::from_raw_parts_mut(output.as_mut_ptr().cast(), output.len()) };
    fill(slice).map(|_| ())
}
