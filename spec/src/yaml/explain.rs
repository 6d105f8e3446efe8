//! Explains YAML errors in plain English and finds their position. The parser reports in terms of its own settings and of
//! Rust types, and often points at the key before the fault. Parsing the text again as a tree finds the exact position.

use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Error, Location};

use super::node::Node;
use super::spanned::Spanned;
use super::text::{MAX_DEPTH, MAX_NODES, Text, options, place};
use crate::diagnostic::{Diagnostic, Place, Quoted, lines, nearest};

const START: Place = Place { line: 1, column: 1 };

const DIMS: &str = "a tensor has at most 64 dims";

/// Explains an error of the parser to the author of the file.
pub(super) fn explain(text: Text<'_>, error: &Error) -> Diagnostic {
    let error = innermost(error);
    let location = error.location().filter(|location| location.line() > 0);
    if let Some(found) = about_yaml(text, error, location) {
        return found;
    }
    let tree = serde_yaml::from_str_with_options::<Spanned<Node>>(text.text, options()).ok();
    let site = tree.as_ref().and_then(|tree| match location {
        // A collection of the wrong kind is reported at its beginning, which may also be the position of its first key.
        Some(location) => find(Site::root(tree), location, matches!(error, Error::Unexpected { .. })),
        None => Some(Site::root(tree)),
    });
    about_form(text, error, location, site.as_ref())
}

/// The error itself, without wrappers that say through which alias it was reached.
fn innermost(mut error: &Error) -> &Error {
    while let Error::AliasError { error: inner, .. } | Error::WithSnippet { error: inner, .. } = error {
        error = inner;
    }
    error
}

/// Explains errors of the text as YAML: syntax, features that are not accepted, and limits.
fn about_yaml(text: Text<'_>, error: &Error, location: Option<Location>) -> Option<Diagnostic> {
    let (message, help) = match error {
        Error::ExternalMessage { msg, .. } => return Some(syntax(text, msg, location)),
        Error::Eof { .. } => return Some(empty(text)),
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
        _ => return None,
    };
    Some(at(text, location, message).help(help))
}

fn at(text: Text<'_>, location: Option<Location>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::at(text.file, text.text, location.map_or(START, place), message)
}

fn empty(text: Text<'_>) -> Diagnostic {
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

/// Explains errors of valid YAML that does not have the file's format.
fn about_form(
    text: Text<'_>,
    error: &Error,
    location: Option<Location>,
    site: Option<&Site<'_>>,
) -> Diagnostic {
    let here = |message: String| at(text, location, message);
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let keys = format!("the keys here: {}", expected.join(" "));
            let help = nearest(field, expected.iter().copied())
                .map_or_else(|| keys.clone(), |meant| format!("did you mean `{meant}`? {keys}"));
            here(format!("unknown key {}", Quoted(field))).help(help)
        }
        Error::SerdeMissingField { field, .. } => {
            at(text, site.map(|site| site.mapping).or(location), format!("`{field}` is missing"))
                .help(format!("add `{field}: …` to this mapping"))
        }
        Error::DuplicateMappingKey { key, .. } => {
            here(format!("the key {} stands here a second time", Quoted(key.as_deref().unwrap_or("?"))))
                .help("keep one of the two")
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            let what = site.and_then(|site| site.key).unwrap_or("word");
            here(format!("unknown {what} {}", Quoted(variant)))
                .help(format!("one of {} is expected", expected.join(" ")))
        }
        _ => match wanted(error) {
            Some(wanted) => mismatch(text, &wanted, location, site),
            None => here(error.without_snippet().to_string()),
        },
    }
}

/// What was expected, if the error says so.
fn wanted(error: &Error) -> Option<String> {
    Some(match error {
        Error::Unexpected { expected, .. } => kind(expected),
        Error::SerdeInvalidType { expected, .. } | Error::SerdeInvalidValue { expected, .. } => {
            kind(expected)
        }
        Error::InvalidScalar { ty, .. } => kind(ty),
        Error::NullIntoString { .. } => "text".to_owned(),
        Error::InvalidBooleanStrict { .. } => "true or false".to_owned(),
        _ => return None,
    })
}

fn kind(expected: &str) -> String {
    match expected {
        "mapping start" => "a mapping",
        "sequence start" => "a sequence",
        "string scalar" => "a single value",
        "a string" => "text",
        "u32" | "u64" | "u128" | "usize" => "a whole number that is not negative",
        "i64" | "i128" => "a whole number",
        "floating point" => "a number",
        "boolean" | "a boolean" => "true or false",
        _ if expected.starts_with("struct ") => "a mapping",
        _ => expected,
    }
    .to_owned()
}

/// Explains a value of the wrong kind.
fn mismatch(text: Text<'_>, wanted: &str, location: Option<Location>, site: Option<&Site<'_>>) -> Diagnostic {
    let Some(site) = site else {
        return at(text, location, format!("this must be {wanted}"));
    };
    let found = match text.scalar(site.value) {
        Some(_) if text.is_null(site.value) => "nothing".to_owned(),
        Some(scalar) => Quoted(scalar).to_string(),
        None => site.value.value.kind().to_owned(),
    };
    let key = Quoted(site.key.unwrap_or_default());
    let subject = match site.role {
        Role::File => "the file".to_owned(),
        Role::Value => key.to_string(),
        Role::Entry => format!("an entry of {key}"),
    };
    at(text, Some(site.value.defined), format!("{subject} must be {wanted}, but {found} is written here"))
}

/// A node of the tree, with its key in the surrounding mapping.
#[derive(Clone, Copy)]
struct Site<'t> {
    key: Option<&'t str>,
    mapping: Location,
    value: &'t Spanned<Node>,
    role: Role,
}

#[derive(Clone, Copy)]
enum Role {
    File,
    Value,
    Entry,
}

impl<'t> Site<'t> {
    fn root(tree: &'t Spanned<Node>) -> Self {
        Self { key: None, mapping: tree.defined, value: tree, role: Role::File }
    }
}

/// Finds the node at a location, at `site` or inside it. An error about a value is often reported at its key, and then the
/// value is meant. A block mapping begins where its first key does: `outer` says whether the mapping is meant.
fn find<'t>(site: Site<'t>, location: Location, outer: bool) -> Option<Site<'t>> {
    let same = |other: Location| (other.line(), other.column()) == (location.line(), location.column());
    let tree = site.value;
    if outer && same(tree.defined) {
        return Some(site);
    }
    let inside = match &tree.value {
        Node::Mapping(entries) => entries.iter().find_map(|(key, value)| {
            let entry = Site { key: Some(&key.value), mapping: tree.defined, value, role: Role::Value };
            if same(key.defined) { Some(entry) } else { find(entry, location, outer) }
        }),
        Node::Sequence(rows) => {
            rows.iter().find_map(|row| find(Site { value: row, role: Role::Entry, ..site }, location, outer))
        }
        _ => None,
    };
    inside.or_else(|| same(tree.defined).then_some(site))
}
