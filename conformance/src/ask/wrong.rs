//! Errors in a typed call, and where they are.

use gather_spec::Diagnostic;
use gather_spec::diagnostic::{Place, nearest};

/// An error at a byte of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) help: String,
}

impl Wrong {
    pub(super) fn new(at: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: help.into() }
    }

    /// The error with the line of the text that it is in.
    pub(super) fn in_text(self, text: &str) -> Diagnostic {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Diagnostic::at("call", text, Place { line, column }, self.message).help(self.help)
    }
}

/// What a misspelt name should be: the nearest known one, otherwise all of them.
pub(super) fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {} is expected", known.into_iter().collect::<Vec<_>>().join(" ")),
    }
}
