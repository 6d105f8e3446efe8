//! Strings in one buffer, as Arrow has them: offsets into bytes. A gather writes new offsets and one new buffer, in place of a
//! clone with memory of its own for each string.
//!
//! ```
//! use gather_optimized::Options;
//! use gather_optimized::slices::View;
//! use gather_optimized::strings::{Strings, gather};
//!
//! let names = Strings::new(&[0, 5, 10, 14], b"northsoutheast", &[3])?;
//! let found = gather(&names, &View::new(&[2u32, 0, 2], &[3])?, &Options::new())?;
//! assert_eq!((found.offsets(), found.bytes()), (&[0, 4, 9, 13][..], &b"eastnortheast"[..]));
//! assert_eq!(found.get(1), Some(&b"north"[..]));
//! # Ok::<(), gather_spec::Refusal>(())
//! ```
//!
//! Two passes do it: the first finds where each string begins and how long it is, the second copies. Beside its output, a call
//! takes an offset for each string of it. The bytes may be of any encoding; strings of UTF-8 stay that.

use std::fmt;

use gather_spec::{GatherError, Refusal};

use crate::arrays::workers;
use crate::kernels::compiled::Index;
use crate::kernels::copy_strings::{Copies, copy};
pub use crate::offset::Offset;
use crate::options::Options;
use crate::output;
use crate::plan::Plan;
use crate::policy::{Filled, Zeros};
use crate::slices::View;

/// A tensor of strings that lie in one buffer: string number n, in row-major order, has the bytes from offset n to offset n + 1.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a, O> {
    offsets: &'a [O],
    bytes: &'a [u8],
    shape: &'a [usize],
}

impl<'a, O: Offset> Strings<'a, O> {
    /// Strings of this shape. All offsets are looked at, so make this once for many calls.
    ///
    /// # Errors
    /// [`WrongOffsets`] if there is not one offset more than strings, one is negative or less than the one before, or the last
    /// lies beyond the bytes.
    ///
    /// ```
    /// use gather_optimized::strings::{Strings, WrongOffsets};
    ///
    /// assert!(Strings::new(&[0i64, 2, 2, 3], b"abc", &[3]).is_ok());
    /// let wrong = Strings::new(&[0, 2, 1, 3], b"abc", &[3]).unwrap_err();
    /// assert_eq!(wrong, WrongOffsets::Decreasing { at: 2 });
    /// ```
    pub fn new(offsets: &'a [O], bytes: &'a [u8], shape: &'a [usize]) -> Result<Self, WrongOffsets> {
        let count = shape.iter().try_fold(1usize, |count, dim| count.checked_mul(*dim));
        if count.and_then(|count| count.checked_add(1)) != Some(offsets.len()) {
            return Err(WrongOffsets::Count { found: offsets.len(), shape: shape.to_vec() });
        }
        // All of them, without a branch for each.
        let rising = offsets.windows(2).fold(true, |rising, pair| rising & (pair[0] <= pair[1]));
        if !rising {
            let at = offsets.windows(2).position(|pair| pair[0] > pair[1]).unwrap_or_default() + 1;
            return Err(WrongOffsets::Decreasing { at });
        }
        match (offsets.first(), offsets.last()) {
            (Some(first), _) if *first < O::default() => Err(WrongOffsets::Negative),
            (_, Some(last)) if last.to_usize() > bytes.len() => {
                Err(WrongOffsets::BeyondBytes { end: last.to_usize(), bytes: bytes.len() })
            }
            _ => Ok(Self { offsets, bytes, shape }),
        }
    }

    /// The shape.
    #[must_use]
    pub const fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// String number `at` in row-major order.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&'a [u8]> {
        let (start, end) = (self.offsets.get(at)?, self.offsets.get(at.checked_add(1)?)?);
        self.bytes.get(start.to_usize()..end.to_usize())
    }
}

/// Why offsets and bytes are no strings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongOffsets {
    /// There must be one offset more than strings.
    #[non_exhaustive]
    Count {
        /// How many offsets there are.
        found: usize,
        /// The shape of the strings.
        shape: Vec<usize>,
    },
    /// The first offset is negative.
    Negative,
    /// An offset is less than the one before.
    Decreasing {
        /// Which offset.
        at: usize,
    },
    /// The last offset lies beyond the bytes.
    BeyondBytes {
        /// The last offset.
        end: usize,
        /// How many bytes there are.
        bytes: usize,
    },
}

impl WrongOffsets {
    /// A stable name.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Count { .. } => "offsets-count",
            Self::Negative => "offsets-negative",
            Self::Decreasing { .. } => "offsets-decreasing",
            Self::BeyondBytes { .. } => "offsets-beyond-bytes",
        }
    }
}

impl fmt::Display for WrongOffsets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { found, shape } => {
                write!(f, "{found} offsets for strings of shape {shape:?}, which need one more than strings")
            }
            Self::Negative => f.write_str("the first offset is negative"),
            Self::Decreasing { at } => write!(f, "offset {at} is less than the one before"),
            Self::BeyondBytes { end, bytes } => write!(f, "the last offset is {end}, of {bytes} bytes"),
        }
    }
}

impl std::error::Error for WrongOffsets {}

impl From<WrongOffsets> for Refusal {
    fn from(wrong: WrongOffsets) -> Self {
        Self::Unsupported(wrong.to_string())
    }
}

/// Strings with a buffer of their own: what a gather returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringsBuf<O> {
    offsets: Vec<O>,
    bytes: Vec<u8>,
    shape: Vec<usize>,
}

impl<O: Offset> StringsBuf<O> {
    /// The offsets, one more than there are strings; the first is 0.
    #[must_use]
    pub fn offsets(&self) -> &[O] {
        &self.offsets
    }

    /// The bytes of all strings.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// String number `at` in row-major order.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        self.as_strings().get(at)
    }

    /// The same, to gather from.
    #[must_use]
    pub fn as_strings(&self) -> Strings<'_, O> {
        Strings { offsets: &self.offsets, bytes: &self.bytes, shape: &self.shape }
    }

    /// The offsets and the bytes.
    #[must_use]
    pub fn into_parts(self) -> (Vec<O>, Vec<u8>) {
        (self.offsets, self.bytes)
    }
}

/// The string for a bad index, where that is no error: the empty string, or what
/// [`Options::fill`](crate::Options::fill) chose. Sealed.
pub trait FillString: sealed::Sealed {
    #[doc(hidden)]
    fn bytes(&self) -> &[u8];
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Zeros {}
impl<B> sealed::Sealed for Filled<B> {}

impl FillString for Zeros {
    fn bytes(&self) -> &[u8] {
        &[]
    }
}

impl<B: AsRef<[u8]>> FillString for Filled<B> {
    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<F: FillString> Plan<F> {
    /// Gathers strings that lie in one buffer. A string with a bad index is empty under
    /// [`BadIndex::Zero`](gather_spec::BadIndex::Zero), or what [`Options::fill`](crate::Options::fill) chose.
    ///
    /// # Errors
    /// As [`Plan::run`]; `output-too-large` if the bytes of all strings exceed the greatest offset.
    ///
    /// ```
    /// use gather_optimized::slices::View;
    /// use gather_optimized::strings::Strings;
    /// use gather_optimized::{Options, Plan};
    ///
    /// let plan = Plan::gather(&[2, 2], &[1], &Options::new().axis(1).fill("none"))?;
    /// let names = Strings::new(&[0, 1, 3, 6, 10], b"abbcccdddd", &[2, 2])?;
    /// let found = plan.run_strings(&names, &View::new(&[1], &[1])?)?;
    /// assert_eq!((found.bytes(), found.shape()), (&b"bbdddd"[..], &[2, 1][..]));
    /// let found = plan.run_strings(&names, &View::new(&[2], &[1])?)?;
    /// assert_eq!(found.bytes(), b"nonenone");
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn run_strings<O: Offset, I: Index>(
        &self,
        params: &Strings<'_, O>,
        indices: &View<'_, I>,
    ) -> Result<StringsBuf<O>, Refusal> {
        let Strings { offsets, bytes, shape } = *params;
        let (_, ends) = offsets.split_at(1);
        let begins = &offsets[..ends.len()];
        // Offsets are elements like others: a bad index is found, moved or marked by the same kernels.
        let plan = self.filled(Filled(O::NONE));
        let starts = plan.run_views(&View::new(begins, shape)?, indices)?;
        let mut offsets = output::reserve(starts.len() + 1)?;
        offsets.resize(starts.len() + 1, O::default());
        plan.run_views_into(&View::new(ends, shape)?, indices, &mut offsets[1..])?;
        let fill = self.fill().bytes();
        let total = add_up(&starts, &mut offsets[1..], fill.len());
        if total > O::MOST as u128 {
            return Err(GatherError::OutputTooLarge { bytes: total }.into());
        }
        let copies = Copies { starts: &starts, offsets: &offsets, bytes, fill };
        let nanoseconds =
            starts.len().saturating_mul(NS_PER_STRING).saturating_add(offsets[starts.len()].to_usize() / 8);
        let workers = workers(self.shapes().execution.threads, nanoseconds);
        let bytes =
            output::fresh(offsets[starts.len()].to_usize(), |output| Ok(copy(copies, output, workers)))?;
        Ok(StringsBuf { offsets, bytes, shape: self.output_shape().to_vec() })
    }
}

/// What the copy of a short string takes, in nanoseconds.
const NS_PER_STRING: usize = 4;

/// From the ends of strings in params to those in the output; the bytes of all. If these are more than an offset can say, the
/// ends are of no use.
fn add_up<O: Offset>(starts: &[O], ends: &mut [O], fill: usize) -> u128 {
    let mut total = 0u128;
    for (start, end) in starts.iter().zip(ends) {
        let len = if *start < O::default() { fill } else { end.to_usize() - start.to_usize() };
        total += len as u128;
        *end = O::truncated(total);
    }
    total
}

/// [`crate::gather`] on strings that lie in one buffer.
///
/// # Errors
/// As [`Plan::run_strings`] and [`crate::gather`].
pub fn gather<O: Offset, I: Index, F: FillString + Clone>(
    params: &Strings<'_, O>,
    indices: &View<'_, I>,
    options: &Options<F>,
) -> Result<StringsBuf<O>, Refusal> {
    Plan::gather(params.shape, indices.shape(), options)?.run_strings(params, indices)
}

/// [`crate::gather_nd`] on strings that lie in one buffer.
///
/// # Errors
/// As [`Plan::run_strings`] and [`crate::gather_nd`].
///
/// ```
/// use gather_optimized::Options;
/// use gather_optimized::slices::View;
/// use gather_optimized::strings::{Strings, gather_nd};
///
/// let grid = Strings::new(&[0i64, 1, 3, 6, 10], b"abbcccdddd", &[2, 2])?;
/// let found = gather_nd(&grid, &View::new(&[1, 0, 0, 1], &[2, 2])?, &Options::new())?;
/// assert_eq!((found.get(0), found.get(1)), (Some(&b"ccc"[..]), Some(&b"bb"[..])));
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
pub fn gather_nd<O: Offset, I: Index, F: FillString + Clone>(
    params: &Strings<'_, O>,
    indices: &View<'_, I>,
    options: &Options<F>,
) -> Result<StringsBuf<O>, Refusal> {
    Plan::gather_nd(params.shape, indices.shape(), options)?.run_strings(params, indices)
}

/// [`crate::take_along_axis`] on strings that lie in one buffer.
///
/// # Errors
/// As [`Plan::run_strings`] and [`crate::take_along_axis`].
pub fn take_along_axis<O: Offset, I: Index, F: FillString + Clone>(
    params: &Strings<'_, O>,
    indices: &View<'_, I>,
    options: &Options<F>,
) -> Result<StringsBuf<O>, Refusal> {
    Plan::take_along_axis(params.shape, indices.shape(), options)?.run_strings(params, indices)
}
