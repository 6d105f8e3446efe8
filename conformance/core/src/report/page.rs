//! The width of the page, and the breaking of text to fit it.

#[cfg(any(feature = "harness", feature = "internals"))]
use std::io::IsTerminal as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

/// The width of tables if neither a terminal nor `COLUMNS` gives one.
const TABLE: usize = 120;

/// The narrowest page to lay anything out for.
const NARROWEST: usize = 40;

/// Where to find a list in full that is cut here.
pub const WHOLE: &str = "report.md";

/// The width of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageWidth {
    /// In columns; `None` for as wide as needed.
    width: Option<usize>,
}

impl PageWidth {
    /// The width of the terminal, otherwise that of `COLUMNS`, otherwise unlimited: a pipe gets each field on one line.
    #[cfg(any(feature = "harness", feature = "internals"))]
    pub fn of_stdout() -> Self {
        Self { width: width_of_stdout() }
    }

    /// A page that breaks no line.
    pub const ENDLESS: Self = Self { width: None };

    /// A page of this many columns.
    pub const fn wide(width: usize) -> Self {
        Self { width: Some(width) }
    }

    /// The width available to a table.
    pub fn table(self) -> usize {
        self.width.unwrap_or(TABLE).max(NARROWEST)
    }

    /// The width available after an indent; `None` if unlimited.
    pub fn behind(self, indent: usize) -> Option<usize> {
        self.width.map(|width| width.max(NARROWEST).saturating_sub(indent).max(1))
    }

    /// Breaks a text between words to fit after an indent. Keeps its own line breaks.
    pub fn lines(self, indent: usize, text: &str) -> Vec<String> {
        let Some(width) = self.behind(indent) else {
            return text.lines().map(str::to_owned).collect();
        };
        text.lines().flat_map(|line| filled(line.split(' '), width)).collect()
    }
}

/// The width of the terminal, otherwise that of `COLUMNS`.
#[cfg(any(feature = "harness", feature = "internals"))]
pub fn width_of_stdout() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    let terminal = terminal.map(|(terminal_size::Width(width), _)| usize::from(width));
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(columns).filter(|width| *width > 0)
}

/// Fills lines of at most `width` columns with units that are never broken. A wider unit gets a line of its own.
pub fn filled<'a>(units: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for unit in units {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + unit.width() <= width => {
                line.push(' ');
                line.push_str(unit);
            }
            _ => lines.push(unit.to_owned()),
        }
    }
    lines
}

/// A text in a style.
pub fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_a_long_word_stays_whole() {
        let lines = PageWidth::wide(40).lines(30, "one two three-and-a-half four\nfive");
        assert_eq!(lines, ["one two", "three-and-a-half", "four", "five"]);
        assert_eq!(PageWidth::ENDLESS.lines(30, "a b\nc"), ["a b", "c"]);
    }
}
