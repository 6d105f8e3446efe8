//! What is wrong with a file, where, and what would be right, with the lines it is about.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A place in a file: line and column count characters from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// One thing wrong with one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as it was named.
    pub file: String,
    /// Where in it; absent when the file cannot be read at all.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// The line that it is about, cut to a window around the column.
    excerpt: Option<Box<Excerpt>>,
}

/// How many characters of a long line are shown on either side of the column.
const WINDOW: usize = 60;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Byte offset of the column in `text`.
    at: usize,
}

impl Diagnostic {
    /// Something wrong with a file as a whole.
    pub fn file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, message: message.into(), help: None, excerpt: None }
    }

    /// Something wrong at a place in a file whose text is at hand.
    pub fn at(file: impl Into<String>, text: &str, place: Place, message: impl Into<String>) -> Self {
        let excerpt =
            text.lines().nth(place.line.saturating_sub(1)).map(|line| Box::new(excerpt(line, place.column)));
        Self { place: Some(place), excerpt, ..Self::file(file, message) }
    }

    /// Adds what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

fn excerpt(line: &str, column: usize) -> Excerpt {
    let column = column.saturating_sub(1);
    let skipped = column.saturating_sub(WINDOW);
    let mut text: String = if skipped > 0 { "…".into() } else { String::new() };
    let mut at = text.len();
    for (i, c) in line.chars().enumerate().skip(skipped).take(2 * WINDOW) {
        if i == column {
            at = text.len();
        }
        // A control character would garble a terminal, and a tab would shift the marker.
        text.push(if c == '\t' {
            ' '
        } else if c.is_control() {
            '\u{fffd}'
        } else {
            c
        });
    }
    if column >= line.chars().count() {
        at = text.len();
    }
    if line.chars().nth(skipped + 2 * WINDOW).is_some() {
        text.push('…');
    }
    Excerpt { text, at }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = Level::ERROR.primary_title(self.message.as_str());
        let mut group = match (&self.place, &self.excerpt) {
            (Some(place), Some(excerpt)) => {
                let end = excerpt.text[excerpt.at..]
                    .chars()
                    .next()
                    .map_or(excerpt.at, |c| excerpt.at + c.len_utf8());
                let snippet = Snippet::source(excerpt.text.as_str())
                    .path(format!("{}:{}:{}", self.file, place.line, place.column))
                    .line_start(place.line)
                    .annotation(AnnotationKind::Primary.span(excerpt.at..end));
                title.element(snippet)
            }
            (Some(place), None) => title.element(annotate_snippets::Origin::path(format!(
                "{}:{}:{}",
                self.file, place.line, place.column
            ))),
            (None, _) => title.element(annotate_snippets::Origin::path(self.file.as_str())),
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let groups: &[Group<'_>] = &[group];
        f.write_str(&Renderer::plain().render(groups))
    }
}

impl std::error::Error for Diagnostic {}
