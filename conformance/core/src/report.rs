//! What a run found, as data, and the texts that say it: failures with what is needed to fix them, and how the run ended. The
//! program has its other forms.
//!
//! # A new field of the report
//!
//! The types of `found`, `campaign` and [`Entry`] are the JSON form: `conformance/schemas/report.schema.json` is derived from
//! them. Describe the field in a doc comment, say how it is read again if `--baseline` or `--failed` need it (`saved`), and
//! raise [`SCHEMA`] if programs that read reports must change.

mod campaign;
mod cause;
mod departure;
mod failure;
mod found;
mod label;
mod lines;
mod page;
mod saved;
mod summary;

pub use crate::entry::{CallSize, Entry, Runs};
pub use campaign::{FailureKind, Part, PartReport};
pub use cause::Cause;
pub use departure::{Departure, Problem, departures};
pub use found::{BackendReport, CaseCounts, Ending, Report, SCHEMA, Summary};
pub use label::{Label, identity, shortened};
pub use lines::{failures, gaps, remarks, sentence};
#[cfg(any(feature = "harness", feature = "internals"))]
pub use page::width_of_stdout;
pub use page::{PageWidth, WHOLE, filled, painted};
