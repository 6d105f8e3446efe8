//! Quotes words for a shell.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;

use gather_spec::diagnostic::is_invisible;

/// An option with its value, quoted.
pub fn option(name: &str, value: impl Display) -> String {
    format!("{name} {}", quoted(&[value.to_string().into()]))
}

/// A command on one line, quoted and printable.
pub fn quoted(command: &[OsString]) -> String {
    command.iter().map(|word| quoted_word(word)).collect::<Vec<_>>().join(" ")
}

fn quoted_word(word: &OsStr) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match word.to_str() {
        Some(word) if !word.is_empty() && word.chars().all(plain) => word.to_owned(),
        Some(word) if !word.chars().any(is_invisible) => format!("'{}'", word.replace('\'', r"'\''")),
        _ => escaped(word),
    }
}

/// A word of arbitrary bytes, in the notation that bash, zsh and POSIX 2024 share.
fn escaped(word: &OsStr) -> String {
    let mut text = "$'".to_owned();
    let bytes = |text: &mut String, bytes: &[u8]| {
        bytes.iter().for_each(|byte| text.push_str(&format!("\\{byte:03o}")));
    };
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                _ if is_invisible(c) => bytes(&mut text, c.to_string().as_bytes()),
                _ => text.push(c),
            }
        }
        bytes(&mut text, chunk.invalid());
    }
    text + "'"
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

    #[cfg(unix)]
    #[test]
    fn a_shell_gives_back_every_byte_of_a_word_that_is_shown_on_one_line() {
        use std::os::unix::ffi::OsStrExt as _;
        let words = [b"a\n\x1b[2J'\\\x7f".as_slice(), b"\xc2\x9b1m \xff$x", "\u{202e}ä".as_bytes()];
        for word in words {
            let line = quoted(&[OsStr::from_bytes(word).to_owned()]);
            assert!(!line.chars().any(is_invisible), "{line}");
            let shell =
                std::process::Command::new("bash").arg("-c").arg(format!("printf %s {line}")).output();
            assert_eq!(shell.unwrap().stdout, word, "{line}");
        }
    }
}
