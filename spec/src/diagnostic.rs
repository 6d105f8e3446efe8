//! Diagnostics: what is wrong in a file and where, what would be right, and the line in question.

use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

/// A position in a file. Line and column count characters from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as given.
    pub file: String,
    /// The position; absent if the file cannot be read at all.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// The line in question, cut to a window around the column.
    excerpt: Option<Box<Excerpt>>,
}

/// How many characters of a long line to show on each side of the column.
const WINDOW: usize = 50;

/// The longest message, in characters, since messages quote files.
const MESSAGE: usize = 600;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    /// Byte offset of the column in `text`.
    at: usize,
}

impl Diagnostic {
    /// A problem with a file as a whole.
    pub fn file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: None,
            message: tame(&message.into(), MESSAGE),
            help: None,
            excerpt: None,
        }
    }

    /// A problem at a position in a file's text.
    pub fn at(file: impl Into<String>, text: &str, place: Place, message: impl Into<String>) -> Self {
        let excerpt =
            lines(text).nth(place.line.saturating_sub(1)).map(|line| Box::new(excerpt(line, place.column)));
        Self { place: Some(place), excerpt, ..Self::file(file, message) }
    }

    /// Adds a hint on what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a hint, unless there is one.
    #[must_use]
    pub(crate) fn or_help(mut self, help: &str) -> Self {
        self.help.get_or_insert_with(|| help.to_owned());
        self
    }
}

/// The lines of a text by YAML's rules: a carriage return ends a line, alone or before a line feed.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// The part of a line to show: all of a short line, otherwise a window around the column.
fn excerpt(line: &str, column: usize) -> Excerpt {
    let column = column.saturating_sub(1);
    let long = line.chars().nth(2 * WINDOW).is_some();
    let skipped = if long { column.saturating_sub(WINDOW) } else { 0 };
    let mut text: String = if skipped > 0 { "…".into() } else { String::new() };
    let mut at = None;
    for (i, c) in line.chars().enumerate().skip(skipped).take(2 * WINDOW) {
        if i == column {
            at = Some(text.len());
        }
        text.push(shown(c));
    }
    let at = at.unwrap_or(text.len());
    if line.chars().nth(skipped + 2 * WINDOW).is_some() {
        text.push('…');
    }
    Excerpt { text, at }
}

/// Makes a character visible and one column wide: tabs would be misread, and invisible characters must not reach a
/// terminal.
fn shown(c: char) -> char {
    match c {
        '\t' => '→',
        _ if is_invisible(c) => '\u{fffd}',
        _ => c,
    }
}

/// Whether a character is invisible or could garble a terminal: control characters, joiners, marks that change the text
/// direction, and U+FFFE and U+FFFF, which XML cannot contain.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// A text on one line, without invisible characters and of limited length.
fn tame(text: &str, most: usize) -> String {
    let mut tamed = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == most {
            tamed.push('…');
            break;
        }
        if is_invisible(c) { tamed.extend(c.escape_default()) } else { tamed.push(c) }
    }
    tamed
}

/// A quotation from a file in a message: in backquotes, on one line and of limited length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", tame(self.0, 48))
    }
}

/// The known word closest to a misspelt one, if any is close.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A longer word is no typo, and computing the distance takes quadratic time.
    if word.chars().count() > 64 {
        return None;
    }
    let close = |known: &str| edits(word, known);
    let best = known.into_iter().map(|known| (close(known), known)).min_by_key(|(edits, _)| *edits);
    best.filter(|(edits, known)| *edits <= 2.max(known.len() / 4).min(known.len() / 2))
        .map(|(_, known)| known)
}

/// The edit distance of two words.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = corner + usize::from(a != *b);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[to.len()]
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The position goes into the origin, because columns of the snippet are those of the window.
        let origin = match &self.place {
            Some(place) => Origin::path(format!("{}:{}:{}", self.file, place.line, place.column)),
            None => Origin::path(self.file.as_str()),
        };
        let mut group = Level::ERROR.primary_title(self.message.as_str()).element(origin);
        if let (Some(place), Some(excerpt)) = (&self.place, &self.excerpt) {
            let marked = excerpt.text[excerpt.at..].chars().next().map_or(0, char::len_utf8);
            let snippet = Snippet::source(excerpt.text.as_str())
                .line_start(place.line)
                .annotation(AnnotationKind::Primary.span(excerpt.at..excerpt.at + marked));
            group = group.element(snippet);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let groups: &[Group<'_>] = &[group];
        let rendered = Renderer::plain().render(groups);
        // The renderer inserts a separator between an origin and its snippet.
        let kept: Vec<&str> = rendered.lines().filter(|line| line.trim() != ":::").collect();
        f.write_str(&kept.join("\n"))
    }
}

impl std::error::Error for Diagnostic {}
