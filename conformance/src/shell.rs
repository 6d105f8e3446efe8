//! Words of a command line that a shell takes as they were meant.

use std::ffi::OsString;
use std::fmt::Display;

/// An option with its value, as a shell takes it.
pub(crate) fn option(name: &str, value: impl Display) -> String {
    format!("{name} {}", quoted(&[value.to_string().into()]))
}

/// A command as a shell takes it.
pub(crate) fn quoted(command: &[OsString]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let words = ["./a-b", "it's", "two words", "", "$HOME", "a;b"].map(OsString::from);
        assert_eq!(quoted(&words), r"./a-b 'it'\''s' 'two words' '' '$HOME' 'a;b'");
        assert_eq!(option("--cases", "my cases.yaml"), "--cases 'my cases.yaml'");
        assert_eq!(option("--call-limit", 0.5), "--call-limit 0.5");
    }
}
