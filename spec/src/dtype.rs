//! Element types: their names, widths and kinds. `literal` defines what elements look like in YAML.

use serde::{Deserialize, Serialize};

use crate::named;

named! {
    /// The type of a tensor's elements. Gather moves elements and never interprets them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "lowercase")]
    pub enum DType: "dtype" {
        /// An opaque byte: 0 is false, 1 is true, and any other byte is preserved.
        Bool = "bool",
        /// Signed 8-bit integer.
        I8 = "i8",
        /// Unsigned 8-bit integer.
        U8 = "u8",
        /// Signed 16-bit integer.
        I16 = "i16",
        /// Unsigned 16-bit integer.
        U16 = "u16",
        /// Signed 32-bit integer.
        I32 = "i32",
        /// Unsigned 32-bit integer.
        U32 = "u32",
        /// Signed 64-bit integer.
        I64 = "i64",
        /// Unsigned 64-bit integer.
        U64 = "u64",
        /// IEEE 754 binary16.
        F16 = "f16",
        /// The upper half of a binary32.
        BF16 = "bf16",
        /// IEEE 754 binary32.
        F32 = "f32",
        /// IEEE 754 binary64.
        F64 = "f64",
        /// Two `f32`, real part first.
        C64 = "c64",
        /// Two `f64`, real part first.
        C128 = "c128",
        /// A byte string of any length, not necessarily UTF-8.
        String = "string",
    }
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
