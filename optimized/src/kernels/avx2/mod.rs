//! Kernels for AVX2.

pub(super) mod check_indices;
pub(super) mod copy_rows;
pub(super) mod pick_checked;
pub(super) mod pick_elements;
