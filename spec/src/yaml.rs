//! Parses YAML within limits into a tree that keeps the position of every node, and reads typed structs from it by serde.

mod explain;
mod fault;
mod node;
mod site;
mod spanned;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;

use site::Site;
use tree::Tree;

pub(crate) use node::Node;
pub(crate) use spanned::Spanned;
pub(crate) use text::{MAX_FILE_BYTES, Text, too_long};

impl Text<'_> {
    /// Parses the text as a single document.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        let Tree(tree) = serde_yaml::from_str_with_options(self.text, text::options())
            .map_err(|error| explain::explain(*self, &error))?;
        if self.scalar(&tree) == Some("") && !self.is_quoted(&tree) {
            return Err(explain::empty(*self));
        }
        let site = Site::root(*self, &tree);
        T::deserialize(site).map_err(|fault| site.explain(fault))
    }
}
