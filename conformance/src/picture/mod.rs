//! Pictures of calls: params, indices and the output as grids of cells, and every row of indices in a colour and a letter of
//! its own, which mark what it selects and where that goes.
//!
//! [`Picture`] is the `layout`, which knows neither colours nor pixels: `grid` makes the cells of a tensor, `meaning`
//! says how indices select, and `steps` what each row of them does. `terminal` and `svg` render it. Which index selects what,
//! `trace` finds out.
//!
//! A picture is cheap for every call: only small tensors are drawn as cells and traced, calls beyond the
//! limits of `layout` are described in words, and no attribute and no dim is counted up to. `terminal` and
//! `svg` also contain a panic, so that a mistake in here never costs a run its matrix and its reports.

mod flow;
mod grid;
mod layout;
mod meaning;
mod steps;
mod svg;
mod terminal;

use std::panic::{AssertUnwindSafe, catch_unwind};

use gather_spec::case::OperandNames;
use gather_spec::{Call, Profile};

pub(crate) use layout::answerer;
pub use layout::{BackendMaker, Picture, reference};
pub use terminal::width_of_stdout;

/// Draws a call under a profile, with the backends that `make` gives, as lines of at most `width` columns where that is
/// possible; or says why there is no picture.
#[must_use]
pub fn terminal(
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    make: BackendMaker<'_>,
    width: usize,
) -> String {
    let rendered = contained(|| {
        let picture = Picture::new(call, names, profile, make).ok_or(UNNAMED)?;
        Ok(picture.terminal(width))
    });
    rendered.unwrap_or_else(|why| format!("  no picture: {why}\n"))
}

/// Draws a call under a profile, with the backends that `make` gives, as a self-contained SVG file.
///
/// The root has the class `gs-picture`. Its text has the CSS colour of the root, so that a page with a theme of its own sets
/// `.gs-picture { color: … }`.
///
/// # Errors
/// Why there is no picture: for example, since neither params nor indices can be drawn as cells, for their rank or size.
pub fn svg(
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    make: BackendMaker<'_>,
) -> Result<String, &'static str> {
    contained(|| {
        let picture = Picture::new(call, names, profile, make).ok_or(UNNAMED)?;
        picture.svg().ok_or("neither params nor indices can be drawn as cells")
    })
}

/// Why a call without params or indices has no picture.
const UNNAMED: &str = "the call lacks params or indices";

/// Draws, and turns a panic into a reason.
fn contained<T>(draw: impl FnOnce() -> Result<T, &'static str>) -> Result<T, &'static str> {
    let drawn = catch_unwind(AssertUnwindSafe(draw));
    drawn.unwrap_or(Err("drawing it failed, which is a bug in gatherspec"))
}
