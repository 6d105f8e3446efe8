//! Elements straight from indices, sixteen at a time, for the level of AVX-512: vectors test the indices, and elements are
//! inserted into vectors one by one. No instruction gathers, since none was faster (see benches/EXPERIMENTS.md).
//!
//! Padding bytes of elements travel in vector registers; no lane is ever looked at.

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::{MaybeUninit, transmute, zeroed};

use super::bodies::{LINE, PICKS_AHEAD, Picks, prefetch};
use super::sixteen::{GROUP, Group, LONGEST, ascend, test};
use crate::index::{Locate, Meaning, near_remainder};

/// Whether picks of elements without gaps suit [`pick`].
#[inline]
pub(super) const fn fit<I>(picks: &Picks<I>) -> bool {
    picks.len >= GROUP && picks.bound <= LONGEST
}

/// Picks that [`fit`]; `false` if any index was bad.
///
/// # Safety
/// As [`super::bodies::pick_checked`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn pick<I: Locate, const SIZE: usize>(picks: Picks<I>) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if picks.prefetch {
            pick_groups::<I, SIZE, true>(picks)
        } else {
            pick_groups::<I, SIZE, false>(picks)
        }
    }
}

/// [`pick`], where `FAR` says that params are beyond a core's own cache: then groups are asked for ahead, and those of consecutive
/// indices, which wait for memory only, are copied at once.
///
/// # Safety
/// As [`pick`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn pick_groups<I: Locate, const SIZE: usize, const FAR: bool>(picks: Picks<I>) -> bool {
    let last = picks.len - GROUP;
    // Streamed stores are for whole lines, which a group of shorter elements does not fill.
    let stream = picks.stream && GROUP * SIZE >= LINE;
    let picks = Picks { stream, ..picks };
    // No more than the first group has: a line holds at most a group of elements that are streamed.
    let head = if stream { picks.head(SIZE).min(last) } else { 0 };
    debug_assert!(head <= GROUP, "elements between the first group and the head would be left out");
    let (mut j, mut all_good) = (0, true);
    // The first and the last group may share elements with their neighbours, which get the same again.
    loop {
        // SAFETY: j is at most `last`, where a whole group is left, and so is what is asked for.
        unsafe {
            if FAR && j + PICKS_AHEAD <= last {
                request_group::<I, SIZE>(&picks, j + PICKS_AHEAD);
            }
            all_good &= pick_group::<I, SIZE, FAR>(&picks, j);
        }
        if j == last || !all_good && picks.bad.is_none() {
            break;
        }
        j = if j < head { head } else { last.min(j + GROUP) };
    }
    if stream {
        // Streamed stores are not ordered with what tells other threads that the output is complete.
        _mm_sfence();
    }
    all_good
}

/// Asks for the elements of a group. What a bad index asks for is never read.
///
/// # Safety
/// As [`pick_group`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn request_group<I: Locate, const SIZE: usize>(picks: &Picks<I>, j: usize) {
    let Picks { params, bound, indices, .. } = *picks;
    // SAFETY: the group's indices are readable.
    unsafe {
        let indices = indices.add(j);
        let index = |at: usize| indices.add(at).read_volatile();
        match test(indices, bound) {
            Group::Unmoved => request(|at| params.wrapping_add(value(index(at)) * SIZE)),
            Group::Moved => request(|at| params.wrapping_add(moved(index(at), bound) * SIZE)),
            Group::Mixed => {
                request(|at| params.wrapping_add(index(at).locate(bound).0.wrapping_mul(SIZE)));
            }
        }
    }
}

/// If the first and the last element of a group are nearer than this, so are the others, most likely, and the hardware finds them.
const NEAR: usize = 512;

/// Asks for the elements at these addresses of a group, in order, which the hardware may follow.
#[inline(always)]
fn request(element: impl Fn(usize) -> *const u8) {
    let (first, last) = (element(0), element(GROUP - 1));
    if first.addr().abs_diff(last.addr()) < NEAR {
        prefetch(first);
        prefetch(last);
    } else {
        for at in 0..GROUP {
            prefetch(element(at));
        }
    }
}

/// # Safety
/// As [`super::bodies::pick_checked`], with picks that [`fit`] and `j + GROUP <= len`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn pick_group<I: Locate, const SIZE: usize, const FAR: bool>(picks: &Picks<I>, j: usize) -> bool {
    let Picks { params, bound, bad, indices, output, stream, .. } = *picks;
    let mut all_good = true;
    // SAFETY: the group's indices are readable, and its output has room; good places are below the bound, and what is read
    // in place of a bad one is an element.
    unsafe {
        let (indices, output) = (indices.add(j), output.add(j * SIZE).cast::<__m128i>());
        // Indices are read again, which takes half the time of taking them out of a vector: the compiler would do that.
        let index = |at: usize| indices.add(at).read_volatile();
        let chunks: [__m128i; SIZE] = match test(indices, bound) {
            // A look at two of them decides nearly always.
            Group::Unmoved
                if FAR
                    && value(index(GROUP - 1)).wrapping_sub(value(index(0))) == GROUP - 1
                    && ascend(indices) =>
            {
                params.add(value(index(0)) * SIZE).cast::<[__m128i; SIZE]>().read_unaligned()
            }
            Group::Unmoved => chunks(|at| params.add(value(index(at)) * SIZE)),
            Group::Moved => chunks(|at| params.add(moved(index(at), bound) * SIZE)),
            Group::Mixed => chunks(|at| {
                let (place, good) = index(at).locate(bound);
                all_good &= good;
                if good { params.add(place * SIZE) } else { bad.unwrap_or(params) }
            }),
        };
        if stream && output.addr().is_multiple_of(LINE) {
            for at in (0..SIZE).step_by(4) {
                _mm512_stream_si512(output.add(at).cast(), joined(&chunks[at..]));
            }
        } else {
            for (at, chunk) in chunks.into_iter().enumerate() {
                _mm_storeu_si128(output.add(at), chunk);
            }
        }
    }
    all_good
}

/// The first four chunks.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn joined(chunks: &[__m128i]) -> __m512i {
    let first = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(chunks[0]), chunks[1]);
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(first, chunks[2]), chunks[3])
}

/// The value of an index that is a place as it is.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the place is below the bound of an axis"
)]
fn value<I: Locate>(index: I) -> usize {
    index.value() as usize
}

/// The place of an index that has one, its remainder taking no division.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the place is below the bound of an axis")]
fn moved<I: Locate>(index: I, bound: usize) -> usize {
    match I::MEANING {
        Meaning::Remainder => near_remainder(index, bound) as usize,
        _ => index.locate(bound).0,
    }
}

/// The elements of a group.
///
/// # Safety
/// For each `at < GROUP`, `element(at)` must be the address of an element of `SIZE` bytes.
#[inline(always)]
unsafe fn chunks<const SIZE: usize>(mut element: impl FnMut(usize) -> *const u8) -> [__m128i; SIZE] {
    // SAFETY: any bits are a vector.
    let mut chunks: [__m128i; SIZE] = unsafe { zeroed() };
    for (of, chunk) in chunks.iter_mut().enumerate() {
        // SAFETY: the caller's promise: `SIZE` chunks have the elements of a group.
        *chunk = unsafe { chunk_of::<SIZE>(|at| element(16 / SIZE * of + at)) };
    }
    chunks
}

/// As many elements as 16 bytes hold.
///
/// # Safety
/// `element` must give addresses of elements of `SIZE` bytes.
#[inline(always)]
unsafe fn chunk_of<const SIZE: usize>(mut element: impl FnMut(usize) -> *const u8) -> __m128i {
    // SAFETY: the caller's promise.
    unsafe {
        match SIZE {
            1 => bytes(element),
            2 => words(element),
            // The compiler inserts these one by one.
            4 => {
                let mut part = |at| element(at).cast::<MaybeUninit<u32>>().read_unaligned();
                transmute::<[MaybeUninit<u32>; 4], __m128i>([part(0), part(1), part(2), part(3)])
            }
            8 => {
                let mut part = |at| element(at).cast::<MaybeUninit<u64>>().read_unaligned();
                transmute::<[MaybeUninit<u64>; 2], __m128i>([part(0), part(1)])
            }
            _ => element(0).cast::<__m128i>().read_unaligned(),
        }
    }
}

/// Elements of one or two bytes, inserted by an instruction. The compiler would do so only with numbers, which elements that
/// may be padding are not.
macro_rules! inserted {
    ($name:ident, $instruction:literal, $($at:literal)+) => {
        /// # Safety
        /// As [`chunk_of`], with elements of the size that the instruction reads, and a processor that has AVX.
        #[inline(always)]
        unsafe fn $name(mut element: impl FnMut(usize) -> *const u8) -> __m128i {
            // SAFETY: any bits are a vector; the caller's promise.
            unsafe {
                let mut vector = zeroed::<__m128i>();
                $(asm!(
                    concat!($instruction, " {0}, {0}, [{1}], ", $at),
                    inout(xmm_reg) vector,
                    in(reg) element($at),
                    options(pure, readonly, nostack, preserves_flags)
                );)+
                vector
            }
        }
    };
}

inserted!(words, "vpinsrw", 0 1 2 3 4 5 6 7);
inserted!(bytes, "vpinsrb", 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
