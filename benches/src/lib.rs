//! The workloads of GatherSpec and everything that is needed to time them. What is timed is verified first.
//!
//! - [`workloads`]: the one list, `workloads.yaml`, read and checked; [`geometry`]: its shapes as one loop nest.
//! - [`inputs`]: params and indices made from a workload, the same on every machine.
//! - [`mod@subject`]: a workload ready to run, by gather-optimized and by its [`floor`], the best plain loop.
//! - [`verify`]: whether both agree with gather-reference.
//! - [`roofline`]: what the memory system allows; [`timing`]: contenders in turn, medians; [`threads`]: sharing work.

#![forbid(unsafe_code)]

pub mod floor;
pub mod geometry;
pub mod inputs;
pub mod roofline;
pub mod subject;
pub mod threads;
pub mod timing;
pub mod verify;
pub mod workloads;

pub use inputs::Inputs;
pub use subject::{How, Subject, subject};
pub use workloads::Workload;
