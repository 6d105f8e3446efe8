//! Which of sixteen indices of any type have a place on an axis, in vectors of AVX-512.

use std::arch::x86_64::*;

use crate::index::{Index, Meaning};

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

/// A function from a vector of indices to two masks: lanes whose index has a place by [`Index::locate`],
/// without those whose remainder takes a division, and lanes whose index is its own place.
macro_rules! tested {
    ($name:ident, $mask:ty, $negative:ident, $mask_add:ident, $sub:ident, $below:ident) => {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn $name<I: Index>(values: __m512i, bound: __m512i) -> ($mask, $mask) {
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

/// The values of sixteen indices of at most 32 bits.
///
/// # Safety
/// `indices` must be sixteen readable indices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn widened<I: Index>(indices: *const I) -> __m512i {
    // SAFETY: the caller's promise; each arm reads sixteen indices of the width of `I`.
    unsafe {
        match (size_of::<I>(), I::SIGNED) {
            (1, true) => _mm512_cvtepi8_epi32(_mm_loadu_si128(indices.cast())),
            (1, false) => _mm512_cvtepu8_epi32(_mm_loadu_si128(indices.cast())),
            (2, true) => _mm512_cvtepi16_epi32(_mm256_loadu_si256(indices.cast())),
            (2, false) => _mm512_cvtepu16_epi32(_mm256_loadu_si256(indices.cast())),
            _ => _mm512_loadu_si512(indices.cast()),
        }
    }
}

/// What sixteen indices into an axis of 1 to [`LONGEST`] elements are.
///
/// # Safety
/// `indices` must be sixteen readable indices.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe fn test<I: Index>(indices: *const I, bound: usize) -> Group {
    let bound = i32::try_from(bound).unwrap_or(i32::MAX);
    let (good, unmoved) = if size_of::<I>() < 8 {
        // SAFETY: the caller's promise.
        let (good, unmoved) = tested_32::<I>(unsafe { widened(indices) }, _mm512_set1_epi32(bound));
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
