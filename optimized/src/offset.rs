//! Offsets of strings into the buffer that holds their bytes.

use std::fmt;

use crate::element::Element;

/// A type of offsets: `i32` or `i64`. Sealed.
pub trait Offset: Element + Ord + fmt::Debug + sealed::Sealed {
    /// What no offset is.
    #[doc(hidden)]
    const NONE: Self;
    /// The greatest offset.
    #[doc(hidden)]
    const MOST: usize;
    /// The offset as a length; a negative one is beyond all lengths.
    #[doc(hidden)]
    fn to_usize(self) -> usize;
    /// The lowest bits of a length.
    #[doc(hidden)]
    fn truncated(len: u128) -> Self;
}

macro_rules! offsets {
    ($($offset:ty)+) => {$(
        impl sealed::Sealed for $offset {}

        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            clippy::cast_sign_loss,
            reason = "a length that was compared with MOST before, or will be"
        )]
        impl Offset for $offset {
            const NONE: Self = -1;
            const MOST: usize = if size_of::<Self>() < size_of::<usize>() { Self::MAX as usize } else { isize::MAX as usize };

            #[inline(always)]
            fn to_usize(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }

            #[inline(always)]
            fn truncated(len: u128) -> Self {
                len as Self
            }
        }
    )+};
}

offsets!(i32 i64);

mod sealed {
    pub trait Sealed {}
}
