//! Explains the parser's errors in plain English. The parser reports in terms of its own settings.

use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Error, Location};

use super::fault::kind;
use super::text::{MAX_DEPTH, MAX_NODES, Text, place};
use crate::diagnostic::{Diagnostic, Place, Quoted, lines};

const START: Place = Place { line: 1, column: 1 };

const DIMS: &str = "a tensor has at most 64 dims";

/// Explains an error of the parser to the author of the file: syntax, features that are not accepted, and limits.
pub(super) fn explain(text: Text<'_>, error: &Error) -> Diagnostic {
    let error = innermost(error);
    let location = error.location().filter(|location| location.line() > 0);
    let (message, help) = match error {
        Error::ExternalMessage { msg, .. } => return syntax(text, msg, location),
        Error::Eof { .. } => return empty(text),
        Error::MultipleDocuments { .. } | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            ("a second document starts here".to_owned(), "a file is one YAML document: leave `---` out")
        }
        Error::Budget { breach, .. } => limit(breach),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => too_many_aliases(),
        Error::MergeKeyNotAllowed { .. } => {
            ("the merge key `<<` is not part of the format".to_owned(), "write the keys out")
        }
        Error::UnsupportedTag { tag, .. } => (
            format!("the tag {} is not part of the format", Quoted(tag)),
            "leave the tag out: `dtype` says what a value means",
        ),
        Error::InvalidBinaryBase64 { .. }
        | Error::BinaryNotUtf8 { .. }
        | Error::TaggedScalarCannotDeserializeIntoString { .. } => {
            ("a tag is not part of the format".to_owned(), "leave the tag out, and write text as it is")
        }
        Error::UnknownAnchor { .. } => {
            ("no anchor of this name stands before this alias".to_owned(), "quote text that begins with `*`")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            ("this alias lies inside what it stands for".to_owned(), "write the value out")
        }
        Error::DuplicateMappingKey { key, .. } => (
            format!("the key {} stands here a second time", Quoted(key.as_deref().unwrap_or("?"))),
            "keep one of the two",
        ),
        _ => return at(text, location, about_key(error)),
    };
    at(text, location, message).help(help)
}

/// Explains an error of a key, which is all that the parser expects to be of some kind.
fn about_key(error: &Error) -> String {
    let wanted = match error {
        Error::Unexpected { expected, .. } => kind(expected),
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            kind(expected)
        }
        Error::InvalidScalar { ty, .. } => kind(ty),
        Error::NullIntoString { .. } => kind("a string"),
        _ => return error.without_snippet().to_string(),
    };
    format!("this must be {wanted}")
}

/// The error itself, without wrappers that say through which alias it was reached.
fn innermost(mut error: &Error) -> &Error {
    while let Error::AliasError { error: inner, .. } | Error::WithSnippet { error: inner, .. } = error {
        error = inner;
    }
    error
}

fn at(text: Text<'_>, location: Option<Location>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::at(text.file, text.text, location.map_or(START, place), message)
}

/// There is no value in a file.
pub(super) fn empty(text: Text<'_>) -> Diagnostic {
    let what = if text.text.trim().is_empty() { "the file is empty" } else { "the file holds only comments" };
    at(text, None, what).help("a case file begins with `schema: 2`, then `operator` and `cases`")
}

/// Explains a syntax error in the scanner's words, with a hint on the usual cause.
fn syntax(text: Text<'_>, message: &str, location: Option<Location>) -> Diagnostic {
    if message.contains("recursion") {
        return at(text, location, "sequences and mappings are nested too deep").help(DIMS);
    }
    let mut spot = location.map_or(START, place);
    let help = if message.contains("tab") {
        // The scanner is already past the tab.
        let line = lines(text.text).nth(spot.line - 1).unwrap_or_default();
        let before = line.chars().take(spot.column).collect::<Vec<_>>();
        spot.column = before.iter().rposition(|c| *c == '\t').map_or(spot.column, |tab| tab + 1);
        "indent with spaces"
    } else if message.contains("mapping values") {
        "see whether the line begins below its neighbours; text with a colon in it is quoted"
    } else if message.contains("simple key") {
        "a key is followed by a colon and a space: `key: value`"
    } else if message.contains("escape") {
        "a backslash stands for itself in '…'; other bytes are written { hex: \"00ff\" }"
    } else if message.contains("unexpected character") {
        "save the file as UTF-8; control characters are written as escapes in double quotes, such as \"\\x07\""
    } else if message.contains("quote") || message.contains("bracket") {
        "close what was opened"
    } else {
        "quote text that has characters with a meaning in YAML"
    };
    let message = message.replace("EOF", "end of the file");
    Diagnostic::at(text.file, text.text, spot, format!("this is not valid YAML: {message}")).help(help)
}

fn limit(breach: &BudgetBreach) -> (String, &'static str) {
    match breach {
        BudgetBreach::Depth { .. } => {
            (format!("sequences and mappings are nested more than {MAX_DEPTH} deep"), DIMS)
        }
        BudgetBreach::Aliases { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => too_many_aliases(),
        _ => (
            format!("the file has more than {MAX_NODES} values"),
            "split it, or write large tensors with `fill`",
        ),
    }
}

fn too_many_aliases() -> (String, &'static str) {
    ("the aliases of this file stand for too much".to_owned(), "write large tensors with `fill`")
}
