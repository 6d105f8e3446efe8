//! The result of a run, and its formats: a matrix for people, JSON, JUnit and Markdown.

mod campaign;
mod departure;
mod entry;
#[cfg(feature = "cli")]
mod forms;
mod found;
mod human;
#[cfg(feature = "cli")]
mod junit;
mod label;
#[cfg(feature = "cli")]
mod markdown;
mod summary;

pub(crate) use crate::files::write_whole;
pub use campaign::{Campaign, Kind, Part};
pub(crate) use departure::departures;
pub use departure::{Departure, Problem};
pub use entry::{Dtypes, Entry};
#[cfg(feature = "cli")]
pub(crate) use forms::FILES;
#[cfg(feature = "cli")]
pub use forms::Format;
pub use found::{Asked, BackendReport, Ending, Named, Report, SCHEMA, Summary};
