//! The types that elements may have.

/// Elements that are moved as bits: any `Copy` type. The default value is what a bad index gives under
/// [`BadIndex::Zero`](gather_spec::BadIndex::Zero). Widths of 1, 2, 4, 8 and 16 bytes have kernels of their own.
pub trait Element: Copy + Default + Send + Sync {}

impl<A: Copy + Default + Send + Sync> Element for A {}
