//! The width of what is printed, and text that is broken between words to fit it.

use std::io::IsTerminal as _;

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

/// The width of tables where neither a terminal nor `COLUMNS` gives one.
const TABLE: usize = 120;

/// The narrowest page that anything is laid out for.
const NARROWEST: usize = 40;

/// Where a list that is cut is whole.
pub(super) const WHOLE: &str = "report.md";

/// How wide a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Page {
    /// Columns; absent: as wide as its lines.
    width: Option<usize>,
}

impl Page {
    /// The width of the terminal, else that of `COLUMNS`, else none: a pipe gets each field on one line.
    pub(in super::super) fn of_stdout() -> Self {
        let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        let terminal = terminal.map(|(terminal_size::Width(width), _)| usize::from(width));
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
        Self { width: terminal.or_else(columns).filter(|width| *width > 0) }
    }

    /// A page that breaks no line.
    pub(in super::super) const ENDLESS: Self = Self { width: None };

    /// A page of this many columns.
    #[cfg(test)]
    pub(in super::super) const fn wide(width: usize) -> Self {
        Self { width: Some(width) }
    }

    /// The columns that a table may take.
    pub(super) fn table(self) -> usize {
        self.width.unwrap_or(TABLE).max(NARROWEST)
    }

    /// The columns behind an indent; absent if there is no limit.
    pub(super) fn behind(self, indent: usize) -> Option<usize> {
        self.width.map(|width| width.max(NARROWEST).saturating_sub(indent).max(1))
    }

    /// The lines of a text behind an indent, broken between words; what is behind a line feed starts a line.
    pub(super) fn lines(self, indent: usize, text: &str) -> Vec<String> {
        let Some(width) = self.behind(indent) else {
            return text.lines().map(str::to_owned).collect();
        };
        text.lines().flat_map(|line| filled(line.split(' '), width)).collect()
    }
}

/// Units that stay whole, filled into lines of at most `width` columns; a unit that is wider has its own.
pub(super) fn filled<'a>(units: impl IntoIterator<Item = &'a str>, width: usize) -> Vec<String> {
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
pub(super) fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_a_long_word_stays_whole() {
        let lines = Page::wide(40).lines(30, "one two three-and-a-half four\nfive");
        assert_eq!(lines, ["one two", "three-and-a-half", "four", "five"]);
        assert_eq!(Page::ENDLESS.lines(30, "a b\nc"), ["a b", "c"]);
    }
}
