//! Element types: their names, widths and kinds. `literal` defines what elements look like in YAML.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of a tensor's elements. Gather moves elements and never interprets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// An opaque byte: 0 is false, 1 is true, and any other byte is preserved.
    Bool,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Unsigned 16-bit integer.
    U16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// Two `f32`, real part first.
    C64,
    /// Two `f64`, real part first.
    C128,
    /// A byte string of any length, not necessarily UTF-8.
    String,
}

/// The kind of a [`DType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `bool`
    Bool,
    /// `i8` to `i64`
    Signed,
    /// `u8` to `u64`
    Unsigned,
    /// `f16`, `bf16`, `f32`, `f64`
    Float,
    /// `c64`, `c128`
    Complex,
    /// `string`
    String,
}

impl DType {
    /// Every dtype, in the order of the protocol.
    pub const ALL: [Self; 16] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::C64,
        Self::C128,
        Self::String,
    ];

    /// The name used in case files and in the protocol.
    ///
    /// ```
    /// # use gather_spec::DType;
    /// assert_eq!(DType::BF16.name(), "bf16");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::C64 => "c64",
            Self::C128 => "c128",
            Self::String => "string",
        }
    }

    /// Bytes per element. A string counts as 16, the size of its handle.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C64 => 8,
            Self::C128 | Self::String => 16,
        }
    }

    /// The kind of this dtype.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Bool => Kind::Bool,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Kind::Signed,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Kind::Unsigned,
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => Kind::Float,
            Self::C64 | Self::C128 => Kind::Complex,
            Self::String => Kind::String,
        }
    }

    /// Whether elements are integers, signed or unsigned.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, UnknownDType> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| UnknownDType(name.to_owned()))
    }
}

/// The error for a name that no dtype has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown dtype `{0}`: one of bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 c64 c128 string is expected"
)]
pub struct UnknownDType(pub String);
