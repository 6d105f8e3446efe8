//! Texts that stand once in the data of the page, by number.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Serialize, Serializer};

/// Texts in the order of their first mention. Number 0 is the empty text, which stands for none.
pub(super) struct TextTable<'a> {
    numbers: HashMap<Cow<'a, str>, usize>,
    texts: Vec<Cow<'a, str>>,
}

impl Default for TextTable<'_> {
    fn default() -> Self {
        Self { numbers: HashMap::from([(Cow::Borrowed(""), 0)]), texts: vec![Cow::Borrowed("")] }
    }
}

impl<'a> TextTable<'a> {
    /// The number of a text.
    pub(super) fn number(&mut self, text: impl Into<Cow<'a, str>>) -> usize {
        let text = text.into();
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        self.texts.push(text.clone());
        self.numbers.insert(text, self.texts.len() - 1);
        self.texts.len() - 1
    }

    /// The number of a text, or 0 for none.
    pub(super) fn optional(&mut self, text: Option<&'a str>) -> usize {
        text.map_or(0, |text| self.number(text))
    }
}

impl Serialize for TextTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.texts.serialize(serializer)
    }
}
