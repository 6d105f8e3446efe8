//! The forms of a report: a matrix and a page for people, JSON, JUnit, Markdown and badges. `gather-conformance` has the report
//! itself.

mod badge;
mod changes;
mod forms;
mod html;
mod human;
mod junit;
mod markdown;

pub use gather_conformance::internals::report::*;

pub(crate) use changes::Changes;
pub(crate) use forms::{FILES, render_human};
pub use forms::{ReportFormat, render, schema, write};
pub(crate) use html::PAGE;
pub(crate) use human::Verbosity;
