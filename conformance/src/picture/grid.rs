//! The cells of a tensor: tables of rows and columns, one for each position of the dims before the last two.

use std::collections::HashMap;

use gather_spec::Tensor;
use gather_spec::literal::{Brief, Rows};

use crate::trace::IndexTrace;
use gather_campaign::model::places::Moved;
use gather_conformance::internals::words::printable;

/// The most elements of a tensor to draw.
const MOST: usize = 256;

/// The most columns of a table.
const COLUMNS: usize = 32;

/// The highest rank to draw.
const RANK: usize = 4;

/// The most characters of an element.
const CHARACTERS: usize = 12;

/// The most letters of a cell.
const LETTERS: usize = 4;

/// What a tensor is to the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorRole {
    Params,
    Indices,
    Output,
}

/// A tensor, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) name: String,
    /// Dtype and shape.
    pub(super) head: String,
    /// The first elements on one line.
    pub(super) elements: String,
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// Tables side by side, in bands one below the other.
    Bands(Vec<Vec<Table>>),
    /// Why there are no cells.
    Words(String),
}

/// A part of a tensor of rank 2 or less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Where it lies in the tensor, such as `[0, :, :]`, if it is a part.
    pub(super) label: Option<String>,
    /// Whether the dims that the rows and the columns stand for exist.
    pub(super) has: NumberedAxes,
    pub(super) rows: Vec<Vec<ElementCell>>,
}

impl Table {
    /// For each row of the tables of a band, whether a cell in it belongs to a row of indices.
    pub(super) fn rows_with_letters(band: &[Self]) -> Vec<bool> {
        let rows = band.first().map_or(0, |table| table.rows.len());
        let has = |row: usize| move |table: &Self| table.rows[row].iter().any(|cell| !cell.rows.is_empty());
        (0..rows).map(|row| band.iter().any(has(row))).collect()
    }
}

/// The axes of a table that have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberedAxes {
    pub(super) rows: bool,
    pub(super) columns: bool,
}

/// An element, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ElementCell {
    pub(super) text: String,
    /// The rows of indices that it belongs to: that it is part of, that select it, or whose selection it is.
    pub(super) rows: Vec<usize>,
    pub(super) mark: CellMark,
}

impl ElementCell {
    /// Its text with its mark.
    pub(super) fn shown(&self) -> String {
        match self.mark {
            CellMark::None => self.text.clone(),
            CellMark::Bad => format!("{}✗", self.text),
            CellMark::Filled => format!("({})", self.text),
        }
    }

    /// Its first letters with their rows of indices, and an ellipsis for the rest.
    pub(super) fn letters(&self) -> impl Iterator<Item = (Option<usize>, String)> {
        let more = (self.rows.len() > LETTERS).then(|| (None, "…".to_owned()));
        self.rows.iter().take(LETTERS).map(|row| (Some(*row), letter(*row))).chain(more)
    }

    /// The characters of its letters, with commas between them.
    pub(super) fn letters_width(&self) -> usize {
        let letters = self.letters().map(|(_, letter)| letter.chars().count() + 1);
        letters.sum::<usize>().saturating_sub(1)
    }
}

/// A letter for each row of indices, followed by a number from the 27th on.
pub(super) fn letter(row: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(row % 26).unwrap_or_default());
    match row / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellMark {
    None,
    /// A bad index that selects nothing.
    Bad,
    /// An element of the output that does not come from params.
    Filled,
}

impl Grid {
    pub(super) fn new(
        role: TensorRole,
        name: &str,
        tensor: &Tensor,
        selections: &[IndexTrace],
        moved: &[Moved],
    ) -> Self {
        let head = format!("{} {}", tensor.dtype(), tensor.shape());
        let body = match why_not(tensor) {
            Some(why) => Body::Words(why),
            None => Body::Bands(Cells { tensor, moved, role, marks: Marks::of(role, selections) }.bands()),
        };
        let elements = match tensor.shape().element_count() {
            0 => String::new(),
            _ => printable(&Rows(tensor).to_string()).into_owned(),
        };
        Self { name: name.to_owned(), head, elements, body }
    }

    /// What is shown in place of cells, for a reason.
    pub(super) fn in_words(&self, why: &str) -> String {
        format!("{} ({why})", self.elements).trim_start().to_owned()
    }

    /// All cells.
    pub(super) fn cells(&self) -> impl Iterator<Item = &ElementCell> {
        let bands = match &self.body {
            Body::Bands(bands) => bands.as_slice(),
            Body::Words(_) => &[],
        };
        bands.iter().flatten().flat_map(|table| &table.rows).flatten()
    }

    /// Whether it is drawn as cells.
    pub(super) const fn is_drawn(&self) -> bool {
        matches!(self.body, Body::Bands(_))
    }
}

/// Why a tensor is not drawn as cells, if it is not.
fn why_not(tensor: &Tensor) -> Option<String> {
    let (rank, count) = (tensor.rank(), tensor.shape().element_count());
    let columns = tensor.shape().last().copied().unwrap_or(1);
    if count == 0 {
        Some("no elements".to_owned())
    } else if rank > RANK {
        Some(format!("rank {rank} is not drawn"))
    } else if count > MOST {
        Some(format!("{count} elements are not drawn"))
    } else if columns > COLUMNS {
        Some(format!("{columns} columns are not drawn"))
    } else {
        None
    }
}

/// What selections say of the elements of a tensor.
#[derive(Default)]
struct Marks {
    /// The rows of indices that each position belongs to.
    rows: HashMap<Vec<usize>, Vec<usize>>,
    /// Positions of the output that do not come from params.
    filled: Vec<Vec<usize>>,
}

impl Marks {
    fn of(role: TensorRole, selections: &[IndexTrace]) -> Self {
        let mut marks = Self::default();
        for (row, selection) in selections.iter().enumerate() {
            let pairs = selection.output.iter().zip(&selection.params);
            let positions: Vec<&Vec<usize>> = match role {
                TensorRole::Params => selection.params.iter().flatten().collect(),
                TensorRole::Indices => selection.indices.iter().collect(),
                TensorRole::Output => selection.output.iter().collect(),
            };
            for position in positions {
                let rows = marks.rows.entry(position.clone()).or_default();
                if rows.last() != Some(&row) {
                    rows.push(row);
                }
            }
            marks.filled.extend(pairs.filter(|(_, from)| from.is_none()).map(|(to, _)| to.clone()));
        }
        marks
    }
}

/// A tensor with its marks.
struct Cells<'a> {
    tensor: &'a Tensor,
    role: TensorRole,
    moved: &'a [Moved],
    marks: Marks,
}

impl Cells<'_> {
    /// The tables of a tensor: one band for each position of the dim of rank 4 that comes first.
    fn bands(&self) -> Vec<Vec<Table>> {
        let outer = self.tensor.rank().saturating_sub(2);
        let dims = &self.tensor.shape()[..outer];
        let (bands, tables) = match dims {
            [] => (1, 1),
            [tables] => (1, *tables),
            [bands, tables, ..] => (*bands, *tables),
        };
        let place = |band, table| match outer {
            0 => vec![],
            1 => vec![table],
            _ => vec![band, table],
        };
        (0..bands).map(|band| (0..tables).map(|table| self.table(&place(band, table))).collect()).collect()
    }

    /// The table at a position of the outer dims.
    fn table(&self, outer: &[usize]) -> Table {
        let inner = &self.tensor.shape()[outer.len()..];
        let (rows, columns) = match inner {
            [rows, columns] => (*rows, *columns),
            [columns] => (1, *columns),
            _ => (1, 1),
        };
        let has = NumberedAxes { rows: inner.len() > 1, columns: !inner.is_empty() };
        let cell = |row, column| {
            let inner = [row, column];
            let first = inner.len() - usize::from(has.rows) - usize::from(has.columns);
            self.cell(&[outer, &inner[first..]].concat())
        };
        let label = (!outer.is_empty()).then(|| {
            let fixed: Vec<String> = outer.iter().map(ToString::to_string).collect();
            format!("[{}, :, :]", fixed.join(", "))
        });
        let row = |row| (0..columns).map(|column| cell(row, column)).collect();
        Table { label, has, rows: (0..rows).map(row).collect() }
    }

    fn cell(&self, position: &[usize]) -> ElementCell {
        let text = Brief(self.tensor.dtype(), &self.tensor.element(position)).to_string();
        let text = elided(&printable(&text));
        let moved =
            self.moved.iter().find(|moved| self.role == TensorRole::Indices && moved.position == position);
        let is_filled =
            || self.role == TensorRole::Output && self.marks.filled.iter().any(|filled| filled == position);
        let (text, mark) = match moved {
            Some(Moved { to: Some(to), .. }) => (format!("{text}→{to}"), CellMark::None),
            Some(Moved { to: None, .. }) => (text, CellMark::Bad),
            None if is_filled() => (text, CellMark::Filled),
            None => (text, CellMark::None),
        };
        ElementCell { text, rows: self.marks.rows.get(position).cloned().unwrap_or_default(), mark }
    }
}

/// A text of at most [`CHARACTERS`] characters on one line.
fn elided(text: &str) -> String {
    let text = text.replace(['\n', '\t'], " ");
    if text.chars().count() <= CHARACTERS {
        return text;
    }
    text.chars().take(CHARACTERS - 1).chain(['…']).collect()
}
