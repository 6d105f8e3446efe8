//! Counts and lists in words, and untrusted texts. What a backend, a file or an argument says is escaped, so that a terminal
//! does not interpret it, and shortened.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use gather_spec::diagnostic::is_invisible;
use gather_spec::literal::Rows;
use gather_spec::{Call, Tensor};

/// The most characters of an untrusted text to show, half from its beginning and half from its end.
const CHARACTERS: usize = 4000;

/// The most lines of such a text, likewise.
const LINES: usize = 60;

/// The fewest characters worth leaving out.
const LEAST: usize = 400;

/// The most characters of an untrusted name.
const NAME: usize = 200;

/// The text with invisible characters, and those that a terminal would interpret, escaped. Line feeds and tabs stay.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmless(c) { seen.push(c) } else { seen.extend(c.escape_default()) }
    }
    Cow::Owned(seen)
}

/// The first characters of what is displayed, and an ellipsis for the rest, which is never formatted.
pub fn first_of(value: &impl Display, most: usize) -> String {
    struct Room {
        text: String,
        left: usize,
    }

    impl fmt::Write for Room {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            for c in more.chars() {
                self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
                self.text.push(c);
            }
            Ok(())
        }
    }

    let mut room = Room { text: String::new(), left: most };
    if write!(room, "{value}").is_err() {
        room.text.push('…');
    }
    room.text
}

/// Whether a character is visible and has no meaning to a terminal.
fn is_harmless(c: char) -> bool {
    !is_invisible(c) || c == '\n' || c == '\t'
}

/// An untrusted text, made printable. A long one keeps its beginning and end, with a count of what is left out. The result
/// is never shortened again, even with a few words around it.
pub fn shown(text: &str) -> String {
    let (start, end) = (beginning(text), text.len() - ending(text).len());
    let left_out = text.get(start.len()..end).map_or(0, |middle| middle.chars().count());
    if left_out < LEAST {
        return printable(text).into_owned();
    }
    format!("{} … {left_out} characters left out … {}", printable(start), printable(&text[end..]))
}

/// The part of a long text that is shown from its beginning.
fn beginning(text: &str) -> &str {
    let line = text.match_indices('\n').nth(LINES / 2 - 1).map_or(text.len(), |(at, _)| at + 1);
    let character = beyond(text.char_indices()).map_or(text.len(), |(at, _)| at);
    &text[..line.min(character)]
}

/// The part of a long text that is shown from its end.
fn ending(text: &str) -> &str {
    let line = text.rmatch_indices('\n').nth(LINES / 2 - 1).map_or(0, |(at, _)| at + 1);
    let character = beyond(text.char_indices().rev()).map_or(0, |(at, c)| at + c.len_utf8());
    &text[line.max(character)..]
}

/// The first character beyond half of the limit.
fn beyond(mut characters: impl Iterator<Item = (usize, char)>) -> Option<(usize, char)> {
    let mut printed = 0;
    characters.find(|(_, c)| {
        printed += if is_harmless(*c) { 1 } else { c.escape_default().len() };
        printed > CHARACTERS / 2
    })
}

/// An untrusted name, made printable, on one line and short.
pub fn name(text: &str) -> String {
    let start: String =
        text.chars().take(NAME).map(|c| if c == '\n' || c == '\t' { ' ' } else { c }).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&start))
}

/// A count with its noun: `1 case`, `2 crashes`.
///
/// The noun takes `-es` after `s` and `sh`, otherwise `-s`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        _ if noun.ends_with('s') || noun.ends_with("sh") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// The first items of a list, and how many are left out: `a, b and 3 more in report.md`.
pub fn cut<T: AsRef<str>>(list: &[T], most: usize, rest_is_in: &str) -> String {
    let shown: Vec<&str> = list.iter().take(most).map(AsRef::as_ref).collect();
    match list.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more in {rest_is_in}", shown.join(", ")),
    }
}

/// A text as a double-quoted YAML scalar.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is plain data")
}

/// A call on one line: operator, operands, attributes, and how it is made if not as usual.
#[must_use]
pub fn call_line(call: &Call) -> String {
    let operand = |(name, tensor): (&str, &Tensor)| {
        format!("{name} = {} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor))
    };
    let attributes = call.attributes.iter().map(|(name, value)| format!("{name} = {value}"));
    let all: Vec<String> = call.operands.iter().map(operand).chain(attributes).collect();
    let made = if call.variant.is_usual() { String::new() } else { format!(" with {}", call.variant) };
    format!("{}({}){made}", call.operator, all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_a_stranger_is_obeyed() {
        let evil = "a\u{1b}[2J\u{9b}31m\u{85}\u{7}\u{202e}\u{2028}\r\u{7f}\u{ffff}\u{e0041}b\n\tc";
        let seen = r"a\u{1b}[2J\u{9b}31m\u{85}\u{7}\u{202e}\u{2028}\r\u{7f}\u{ffff}\u{e0041}b";
        assert_eq!(printable(evil), format!("{seen}\n\tc"));
        assert_eq!(shown(evil), format!("{seen}\n\tc"));
        assert_eq!(name(evil), format!("{seen}  c"));
        assert!(matches!(printable("größer → 大\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out_and_counted() {
        let whole = format!("{}{}", "ä".repeat(2000), "b".repeat(2000));
        assert_eq!(shown(&whole), whole);
        let long = format!("{}{}{}", "ä".repeat(2000), "x".repeat(400), "b".repeat(2000));
        let cut = format!("{} … 400 characters left out … {}", "ä".repeat(2000), "b".repeat(2000));
        assert_eq!(shown(&long), cut);
        let lines: String = (0..1000).map(|number| format!("{number}\n")).collect();
        let cut = shown(&lines);
        assert!(
            cut.contains("\n29\n … 3694 characters left out … 971\n") && cut.ends_with("\n999\n"),
            "{cut}"
        );
        assert_eq!(shown(&"\n".repeat(59)), "\n".repeat(59));
        assert_eq!(shown(&"\u{1b}".repeat(9000)).chars().filter(|c| *c == '\\').count(), 666);
    }

    #[test]
    fn a_cut_text_with_words_around_it_is_not_cut_again() {
        for long in ["é".repeat(1 << 20), "\u{1b}[2J\n".repeat(1 << 16), "\u{9b}".repeat(9000)] {
            let once = format!("the backend said: {}; it was asked `x`", shown(&long));
            assert_eq!(shown(&once), once);
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        assert_eq!(name(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(name(&"x".repeat(201)), format!("{}…", "x".repeat(200)));
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1u64, "case"), "1 case");
        assert_eq!(counted(0usize, "case"), "0 cases");
        assert_eq!(counted(2usize, "crash"), "2 crashes");
    }

    #[test]
    fn a_list_is_cut_only_behind_the_limit() {
        assert_eq!(cut(&["a", "b"], 2, "x"), "a, b");
        assert_eq!(cut(&["a", "b", "c"], 2, "x"), "a, b and 1 more in x");
        assert_eq!(cut::<&str>(&[], 2, "x"), "");
    }
}
