//! The workloads of GatherSpec, and everything needed to time them. Nothing is timed before its output is verified.
//!
//! - [`workloads`] reads and checks `workloads.yaml`, the only list; [`geometry`] turns shapes into a loop nest.
//! - [`inputs`] makes params of a workload and its [`indices`], the same on every machine.
//! - [`mod@subject`] runs a workload by gather-optimized and by its [`floor`], the best plain loop.
//! - [`verify`] compares both with gather-reference.
//! - [`rooflines`] measures the limits of the memory system, [`threads`] shares work, [`machine`] describes where all this was
//!   measured.

#![forbid(unsafe_code)]

mod draw;
pub mod floor;
pub mod geometry;
pub mod indices;
pub mod inputs;
pub mod machine;
mod placed;
mod roofline;
pub mod subject;
pub mod threads;
mod timing;
pub mod verify;
pub mod workloads;

pub use inputs::Inputs;
pub use roofline::{Roofline, rooflines};
pub use subject::{RunSettings, Subject, subject};
pub use workloads::Workload;
