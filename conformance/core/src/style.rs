//! The colours of the program's output. Texts always contain them; the code that prints to anything but a terminal strips
//! them.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use gather_spec::diagnostic::is_invisible;

use crate::words::printable;

/// Passes.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Failures.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Names that the user can ask for.
pub const NAME: Style = Style::new().bold();
/// Cases that were not asked, and known deviations.
pub const UNSURE: Style = AnsiColor::Yellow.on_default();

/// The text with every control sequence but colours escaped: the last check before printing.
///
/// Needed because printed texts contain file contents, arguments and folder names.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_invisible(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\u{1b}');
    let mut safe = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let colour = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let colour = colour.filter(|(codes, _)| codes.chars().all(|c| c.is_ascii_digit() || c == ';'));
        match colour {
            Some((codes, rest)) => safe.extend(["\u{1b}[", codes, "m", &printable(rest)]),
            None => safe.extend([r"\u{1b}", &printable(part)]),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_colours_and_nothing_else() {
        let ours = format!("{BAD}no{BAD:#}\n\tyes");
        assert_eq!(guarded(&ours), ours);
        let evil = format!("{BAD}a\u{1b}[2Jb\u{1b}]0;title\u{7}\u{9b}1mc{BAD:#}\u{1b}");
        let safe = format!(r"{BAD}a\u{{1b}}[2Jb\u{{1b}}]0;title\u{{7}}\u{{9b}}1mc{BAD:#}\u{{1b}}");
        assert_eq!(guarded(&evil), safe);
        assert_eq!(guarded("\u{1b}[3;J4m\u{1b}[?25lm"), r"\u{1b}[3;J4m\u{1b}[?25lm");
    }
}
