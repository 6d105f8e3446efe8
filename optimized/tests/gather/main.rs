//! The calls of this crate, through what is public.

mod axes_in_order;
mod cloned;
mod drawn_windows;
mod gather_windows;
mod guard_pages;
mod guard_strides;
mod guard_tables;
mod guard_vectors;
mod guard_windows;
mod huge_offsets;
mod huge_pages;
mod output_layouts;
mod policies;
mod pool;
mod prepared;
mod retaining;
mod shared_indices;
mod slices;
mod strided_from_memory;
mod strings;
mod take_along_axis;
mod window_rules;

#[cfg(unix)]
mod support;
mod windows;
