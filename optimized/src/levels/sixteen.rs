//! Which of sixteen indices of 32 or 64 bits have a place on an axis, in vectors of AVX-512.

use std::arch::x86_64::*;

use crate::index::{Locate, Meaning};

/// Indices of a group.
pub(super) const GROUP: usize = 16;

/// The longest axis that vectors compare with: a sum of an index and a size fits 32 bits with its sign.
pub(super) const LONGEST: usize = 1 << 30;

/// What a group of indices is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Group {
    /// Each is its place as it is.
    Unmoved,
    /// Each has a place, and a remainder takes no division.
    Moved,
    /// Some may have none.
    Mixed,
}

/// A function from a vector of indices to two masks: lanes whose index has a place by [`Locate::locate`],
/// without those whose remainder takes a division, and lanes whose index is its own place.
macro_rules! tested {
    ($name:ident, $mask:ty, $negative:ident, $mask_add:ident, $sub:ident, $below:ident) => {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn $name<I: Locate>(values: __m512i, bound: __m512i) -> ($mask, $mask) {
            let unmoved = $below(values, bound);
            let negative = || if I::SIGNED { $negative(values) } else { 0 };
            let good = match I::MEANING {
                Meaning::Itself => unmoved,
                Meaning::FromEitherEnd => $below($mask_add(values, negative(), values, bound), bound),
                Meaning::Nearest | Meaning::NearestFromEitherEnd => !0,
                Meaning::Remainder => {
                    let nearer = $mask_add($sub(values, bound), negative(), values, bound);
                    unmoved | $below(nearer, bound)
                }
            };
            (good, unmoved)
        }
    };
}

tested!(
    tested_32,
    __mmask16,
    _mm512_movepi32_mask,
    _mm512_mask_add_epi32,
    _mm512_sub_epi32,
    _mm512_cmplt_epu32_mask
);
tested!(
    tested_64,
    __mmask8,
    _mm512_movepi64_mask,
    _mm512_mask_add_epi64,
    _mm512_sub_epi64,
    _mm512_cmplt_epu64_mask
);

/// What sixteen indices of 32 or 64 bits into an axis of 1 to [`LONGEST`] elements are.
///
/// # Safety
/// `indices` must be sixteen readable indices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn test<I: Locate>(indices: *const I, bound: usize) -> Group {
    let bound = i32::try_from(bound).unwrap_or(i32::MAX);
    let (good, unmoved) = if size_of::<I>() == 4 {
        // SAFETY: the caller's promise.
        let values = unsafe { _mm512_loadu_si512(indices.cast()) };
        let (good, unmoved) = tested_32::<I>(values, _mm512_set1_epi32(bound));
        (good == !0, unmoved == !0)
    } else {
        let bound = _mm512_set1_epi64(i64::from(bound));
        // SAFETY: the caller's promise: eight indices and eight more.
        let halves =
            unsafe { [_mm512_loadu_si512(indices.cast()), _mm512_loadu_si512(indices.add(8).cast())] };
        let [lower, upper] = [tested_64::<I>(halves[0], bound), tested_64::<I>(halves[1], bound)];
        (lower.0 & upper.0 == !0, lower.1 & upper.1 == !0)
    };
    match (unmoved, good) {
        (true, _) => Group::Unmoved,
        (_, true) => Group::Moved,
        _ => Group::Mixed,
    }
}

/// Whether sixteen indices of 32 or 64 bits are the first one and its successors.
///
/// # Safety
/// `indices` must be sixteen readable indices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn ascend<I: Locate>(indices: *const I) -> bool {
    // SAFETY: the caller's promise: the first is read, and all of them in one vector or in two.
    unsafe {
        if size_of::<I>() == 4 {
            let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let run = _mm512_add_epi32(_mm512_set1_epi32(indices.cast::<i32>().read()), steps);
            _mm512_cmpeq_epi32_mask(run, _mm512_loadu_si512(indices.cast())) == !0
        } else {
            let steps = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
            let run = _mm512_add_epi64(_mm512_set1_epi64(indices.cast::<i64>().read()), steps);
            let rest = _mm512_add_epi64(run, _mm512_set1_epi64(8));
            let lower = _mm512_cmpeq_epi64_mask(run, _mm512_loadu_si512(indices.cast()));
            lower & _mm512_cmpeq_epi64_mask(rest, _mm512_loadu_si512(indices.add(8).cast())) == !0
        }
    }
}
