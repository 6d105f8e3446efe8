//! The result of a run, and its formats: a matrix and a page for people, JSON, JUnit and Markdown.

#[cfg(feature = "cli")]
mod badge;
mod campaign;
mod cause;
#[cfg(feature = "cli")]
mod changes;
mod departure;
#[cfg(feature = "cli")]
mod forms;
mod found;
#[cfg(feature = "cli")]
mod html;
mod human;
#[cfg(feature = "cli")]
mod junit;
mod label;
#[cfg(feature = "cli")]
mod markdown;
#[cfg(feature = "cli")]
mod saved;
mod summary;

pub use crate::entry::{Entry, Runs, Size};
pub use campaign::{Kind, Part, PartReport};
#[cfg(feature = "cli")]
pub(crate) use changes::Changes;
pub(crate) use departure::departures;
pub use departure::{Departure, Problem};
#[cfg(feature = "cli")]
pub(crate) use forms::FILES;
#[cfg(feature = "cli")]
pub use forms::{Format, schema};
pub use found::{Asked, BackendReport, Ending, Report, SCHEMA, Summary};
#[cfg(feature = "cli")]
pub(crate) use html::PAGE;
#[cfg(feature = "cli")]
pub(crate) use human::Detail;
