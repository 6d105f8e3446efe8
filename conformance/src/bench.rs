//! Times workloads on backends over the protocol, all of them in one run: what `gatherspec bench` does.
//!
//! A workload is a call in role terms. `contender` is a backend's process with the call that it declares for a workload;
//! `operands` are its inputs, in files; `measure` verifies the outputs and then lets contenders and the floor take turns;
//! `plausible` says which durations are believed; `record` is what was measured, as JSON, `summary` compares the first backend with the others, `table` and `page` show it, and
//! `comparison` sets several records side by side.

mod comparison;
mod contender;
mod measure;
mod operands;
mod page;
mod plausible;
mod record;
mod summary;
mod table;

pub(crate) use comparison::comparison;
pub(crate) use contender::{Contender, TimingSettings};
pub(crate) use measure::measure;
pub(crate) use operands::OperandFolder;
pub(crate) use page::page;
pub(crate) use record::{Backends, Record, SCHEMA};
pub(crate) use summary::summary;
pub(crate) use table::{head, rooflines, rows};
