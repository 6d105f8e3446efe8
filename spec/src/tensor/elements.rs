//! Elements and their storage: bits in unsigned integers of the element's width, or byte strings.

use std::fmt;
use std::sync::Arc;

use crate::DType;
use crate::dtype::Kind;

/// A byte string that is cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ByteString(Arc<[u8]>);

impl ByteString {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Default for ByteString {
    fn default() -> Self {
        Self(Arc::from([]))
    }
}

impl<T: AsRef<[u8]>> From<T> for ByteString {
    fn from(bytes: T) -> Self {
        Self(Arc::from(bytes.as_ref()))
    }
}

impl fmt::Debug for ByteString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// A single element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// The bits of any dtype but string, in the low end. A complex number has its real part in the lower half.
    Bits(u128),
    /// The bytes of a string.
    Bytes(ByteString),
}

impl Element {
    /// The zero of a dtype: zero bits, `false`, an empty string.
    #[must_use]
    pub fn zero(dtype: DType) -> Self {
        if dtype == DType::String { Self::Bytes(ByteString::default()) } else { Self::Bits(0) }
    }
}

/// Shared storage: elements as unsigned integers of their width, or byte strings.
#[derive(Clone, Debug)]
pub enum Elements {
    /// 1-byte elements: bool, i8, u8.
    B1(Arc<Vec<u8>>),
    /// 2-byte elements: i16, u16, f16, bf16.
    B2(Arc<Vec<u16>>),
    /// 4-byte elements: i32, u32, f32.
    B4(Arc<Vec<u32>>),
    /// 8-byte elements: i64, u64, f64, c64.
    B8(Arc<Vec<u64>>),
    /// 16-byte elements: c128.
    B16(Arc<Vec<u128>>),
    /// Strings.
    Strings(Arc<Vec<ByteString>>),
}

/// Runs `$body` with `$vec` bound to the vector inside `$elements`, for every width.
macro_rules! each_width {
    ($elements:expr, $vec:ident => $body:expr) => {
        match $elements {
            Elements::B1($vec) => $body,
            Elements::B2($vec) => $body,
            Elements::B4($vec) => $body,
            Elements::B8($vec) => $body,
            Elements::B16($vec) => $body,
            Elements::Strings($vec) => $body,
        }
    };
}

/// Identifies a storage among those that are alive.
#[cfg(feature = "cases")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StorageId(usize);

impl Elements {
    /// The identity of this storage.
    #[cfg(feature = "cases")]
    pub(crate) fn id(&self) -> StorageId {
        StorageId(each_width!(self, elements => Arc::as_ptr(elements).addr()))
    }

    /// Whether both are the same storage.
    pub(super) fn is(&self, other: &Self) -> bool {
        let address = |elements: &Self| each_width!(elements, elements => Arc::as_ptr(elements).addr());
        address(self) == address(other)
    }

    /// The number of stored elements.
    #[must_use]
    pub fn len(&self) -> usize {
        each_width!(self, elements => elements.len())
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether elements of this dtype are stored in this variant.
    #[must_use]
    pub fn holds(&self, dtype: DType) -> bool {
        match self {
            Self::Strings(_) => dtype == DType::String,
            Self::B1(_) => dtype.size() == 1,
            Self::B2(_) => dtype.size() == 2,
            Self::B4(_) => dtype.size() == 4,
            Self::B8(_) => dtype.size() == 8,
            Self::B16(_) => dtype == DType::C128,
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<Element> {
        Some(match self {
            Self::B1(elements) => Element::Bits((*elements.get(at)?).into()),
            Self::B2(elements) => Element::Bits((*elements.get(at)?).into()),
            Self::B4(elements) => Element::Bits((*elements.get(at)?).into()),
            Self::B8(elements) => Element::Bits((*elements.get(at)?).into()),
            Self::B16(elements) => Element::Bits(*elements.get(at)?),
            Self::Strings(elements) => Element::Bytes(elements.get(at)?.clone()),
        })
    }
}

/// A storage type: `u8`, `u16`, `u32`, `u64` or `u128` for bits, [`ByteString`] for strings.
pub trait Stored: Clone + PartialEq + Sized + 'static {
    /// The stored elements, if they have this type.
    fn slice(elements: &Elements) -> Option<&[Self]>;
    /// Storage with these elements.
    fn store(elements: Vec<Self>) -> Elements;
}

macro_rules! stored {
    ($($ty:ty => $variant:ident),+) => {$(
        impl Stored for $ty {
            fn slice(elements: &Elements) -> Option<&[Self]> {
                if let Elements::$variant(elements) = elements { Some(elements) } else { None }
            }

            fn store(elements: Vec<Self>) -> Elements {
                Elements::$variant(Arc::new(elements))
            }
        }
    )+};
}

stored!(u8 => B1, u16 => B2, u32 => B4, u64 => B8, u128 => B16, ByteString => Strings);

/// The value of an integer from its bits.
pub(crate) fn integer(dtype: DType, bits: u128) -> i128 {
    let unused = 128 - 8 * u32::try_from(dtype.size()).expect("a size of at most 16");
    let high = bits << unused;
    if dtype.kind() == Kind::Signed { high.cast_signed() >> unused } else { (high >> unused).cast_signed() }
}
