//! Parses YAML within limits, keeping the position of every node: typed structs by serde, free-form parts as [`Node`].

mod explain;
mod node;
mod spanned;
mod text;

use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;

pub(crate) use node::Node;
pub(crate) use spanned::Spanned;
pub(crate) use text::{MAX_FILE_BYTES, Text, too_long};

impl Text<'_> {
    /// Parses the text as a single document.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        serde_yaml::from_str_with_options(self.text, text::options())
            .map_err(|error| explain::explain(*self, &error))
    }
}
