//! Pictures of calls: params, indices and the output as grids of cells, and every row of indices in a colour and a letter of
//! its own, which mark what it selects and where that goes.
//!
//! [`Picture`] is the `layout`, which knows neither colours nor pixels: `grid` makes the cells of a tensor, `meaning`
//! says how indices select, and `steps` what each row of them does. `terminal` and `svg` render it. Which index selects what,
//! `trace` finds out.

mod flow;
mod grid;
mod layout;
mod letter;
mod meaning;
mod steps;
#[cfg(feature = "cli")]
mod svg;
mod terminal;

pub use layout::{Make, Picture, reference};
#[cfg(feature = "cli")]
pub use svg::svg;
pub use terminal::width_of_stdout;
