//! The letters of rows of indices.

use super::grid::Cell;

/// The most letters of a cell.
const MOST: usize = 4;

/// A letter for each row of indices, followed by a number from the 27th on.
pub(super) fn letter(row: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(row % 26).unwrap_or_default());
    match row / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

impl Cell {
    /// Its first letters with their rows of indices, and an ellipsis for the rest.
    pub(super) fn letters(&self) -> impl Iterator<Item = (Option<usize>, String)> {
        let more = (self.rows.len() > MOST).then(|| (None, "…".to_owned()));
        self.rows.iter().take(MOST).map(|row| (Some(*row), letter(*row))).chain(more)
    }

    /// The characters of its letters, with commas between them.
    pub(super) fn letters_width(&self) -> usize {
        let letters = self.letters().map(|(_, letter)| letter.chars().count() + 1);
        letters.sum::<usize>().saturating_sub(1)
    }
}
