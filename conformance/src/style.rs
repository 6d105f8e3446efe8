//! The few colours of the program. Texts are rendered with them; whoever prints to something that is not a
//! terminal strips them.

use anstyle::{AnsiColor, Style};

/// What conforms.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What does not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Names of things that one can ask for.
pub(crate) const NAME: Style = Style::new().bold();
/// Of params and what is taken from it.
pub(crate) const PARAMS: Style = AnsiColor::Cyan.on_default();
/// Of indices.
pub(crate) const INDICES: Style = AnsiColor::Yellow.on_default();
/// Of the output.
pub(crate) const OUTPUT: Style = AnsiColor::Green.on_default();
/// What was not asked, or deviates as it is known to.
pub(crate) const UNSURE: Style = AnsiColor::Yellow.on_default();
