//! Renders a window of elements as two aligned rows with marks below the elements that differ.

use std::ops::Range;

use unicode_width::UnicodeWidthStr as _;

use super::elements::{DifferingElements, position};

/// Two aligned rows of elements and a row of marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedRows {
    /// The expected elements.
    pub expected: String,
    /// The actual elements.
    pub actual: String,
    /// A `^` below every character of a differing element.
    pub marks: String,
}

/// An element on both sides, with the brackets around it.
struct Column {
    opening: usize,
    expected: String,
    actual: String,
    closing: String,
}

impl Column {
    fn side(&self, element: &str) -> String {
        format!("{}{element}{}", "[".repeat(self.opening), self.closing)
    }

    fn width(&self) -> usize {
        self.opening + self.expected.width().max(self.actual.width()) + self.closing.width()
    }

    fn differs(&self) -> bool {
        self.expected != self.actual
    }
}

impl DifferingElements {
    /// Dtype and shape: `i32 [2, 3]`.
    #[must_use]
    pub fn head(&self) -> String {
        format!("{} {:?}", self.dtype, self.shape)
    }

    /// Whether the window leaves out elements.
    pub(crate) const fn is_cut(&self) -> bool {
        self.window.expected.len() < self.of
    }

    /// Both sides on one line each: dtype, shape, and as much of the window as fits.
    pub(crate) fn texts(&self, width: Option<usize>) -> (String, String) {
        let columns = self.columns();
        let shown = shown(&columns, width);
        let (before, after) = self.ellipses(&shown);
        let side = |element: fn(&Column) -> &str| {
            let units = columns[shown.clone()].iter().map(|column| column.side(element(column)));
            let units: Vec<String> = units.collect();
            format!("{} {before}{}{after}", self.head(), units.join(" "))
        };
        (side(|column| &column.expected), side(|column| &column.actual))
    }

    /// The rows with as many elements around the first difference as fit into `width` columns; all if `None`.
    #[must_use]
    pub fn rows(&self, width: Option<usize>) -> AlignedRows {
        let columns = self.columns();
        let shown = shown(&columns, width);
        let (before, after) = self.ellipses(&shown);
        let indent = " ".repeat(before.width());
        let mut rows = AlignedRows { expected: before.to_owned(), actual: before.to_owned(), marks: indent };
        for column in &columns[shown] {
            let width = column.width() + 1;
            push(&mut rows.expected, &column.side(&column.expected), width);
            push(&mut rows.actual, &column.side(&column.actual), width);
            let (length, mark) = (width - 1 - column.opening - column.closing.width(), ["", "^"]);
            let marks = mark[usize::from(column.differs())].repeat(length);
            push(&mut rows.marks, &format!("{}{marks}", " ".repeat(column.opening)), width);
        }
        for row in [&mut rows.expected, &mut rows.actual, &mut rows.marks] {
            row.truncate(row.trim_end().len());
        }
        rows.expected.push_str(after);
        rows.actual.push_str(after);
        rows
    }

    /// The ellipses before and after a part of the window.
    fn ellipses(&self, shown: &Range<usize>) -> (&'static str, &'static str) {
        let before = if self.window.start + shown.start > 0 { "… " } else { "" };
        (before, if self.window.start + shown.end < self.of { " …" } else { "" })
    }

    fn columns(&self) -> Vec<Column> {
        let pairs = self.window.expected.iter().zip(&self.window.actual);
        let column = |(number, (expected, actual)): (usize, (&String, &String))| {
            let at = position(&self.shape, number);
            let dims = at.iter().zip(&self.shape).rev();
            let closing = dims.clone().take_while(|(at, dim)| **at + 1 == **dim).count();
            let comma = if number + 1 < self.of { "," } else { "" };
            Column {
                opening: dims.take_while(|(at, _)| **at == 0).count(),
                expected: expected.clone(),
                actual: actual.clone(),
                closing: "]".repeat(closing) + comma,
            }
        };
        (self.window.start..).zip(pairs).map(column).collect()
    }
}

/// Appends a text to a row, padded to a width.
fn push(row: &mut String, text: &str, width: usize) {
    row.push_str(text);
    row.push_str(&" ".repeat(width.saturating_sub(text.width())));
}

/// The columns around the first difference that fit into a width, together with ellipses on both sides.
fn shown(columns: &[Column], width: Option<usize>) -> Range<usize> {
    let Some(width) = width else { return 0..columns.len() };
    let all: usize = columns.iter().map(|column| column.width() + 1).sum();
    if all <= width + 1 {
        return 0..columns.len();
    }
    let first = columns.iter().position(Column::differs).unwrap_or_default();
    let mut shown = first..columns.len().min(first + 1);
    let mut room = width.saturating_sub(4 + columns.get(first).map_or(0, Column::width));
    loop {
        let mut grown = false;
        for left in [true, false] {
            let next = if left { shown.start.checked_sub(1) } else { Some(shown.end) };
            let Some((at, column)) = next.and_then(|at| Some((at, columns.get(at)?))) else { continue };
            let Some(rest) = room.checked_sub(column.width() + 1) else { continue };
            room = rest;
            if left {
                shown.start = at;
            } else {
                shown.end = at + 1;
            }
            grown = true;
        }
        if !grown {
            return shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{DType, Tensor};

    use super::*;

    fn elements(shape: &[usize], one: Vec<u32>, other: Vec<u32>) -> DifferingElements {
        let tensor = |elements| Tensor::new(DType::I32, shape, elements).unwrap();
        DifferingElements::between(&tensor(one), &tensor(other)).unwrap()
    }

    #[test]
    fn small_tensors_stand_below_each_other_whole() {
        let rows = elements(&[2, 3], vec![1, 2, 3, 4, 5, 6], vec![1, 2, 300, 4, 50, 6]).rows(Some(60));
        assert_eq!(rows.expected, "[[1, 2, 3],   [4, 5,  6]]");
        assert_eq!(rows.actual, "[[1, 2, 300], [4, 50, 6]]");
        assert_eq!(rows.marks, "        ^^^       ^^");
    }

    #[test]
    fn long_tensors_are_left_out_on_both_sides_of_the_first_difference() {
        let one: Vec<u32> = (0..1000).collect();
        let mut other = one.clone();
        other[500] = 7;
        let found = elements(&[1000], one, other);
        let rows = found.rows(Some(30));
        assert_eq!(rows.expected, "… 498, 499, 500, 501, 502, …");
        assert_eq!(rows.actual, "… 498, 499, 7,   501, 502, …");
        assert_eq!(rows.marks, "            ^^^");
        let (expected, actual) = found.texts(None);
        assert!(expected.starts_with("i32 [1000] … 484, ") && expected.ends_with(" 516, …"), "{expected}");
        assert!(actual.contains(" 499, 7, 501, "), "{actual}");
    }

    #[test]
    fn brackets_stand_where_rows_begin_and_end_inside_the_window() {
        let one: Vec<u32> = (0..200).collect();
        let mut other = one.clone();
        other[100] = 0;
        let rows = elements(&[100, 2], one, other).rows(Some(34));
        assert_eq!(rows.expected, "… [98, 99], [100, 101], [102, …");
        assert_eq!(rows.actual, "… [98, 99], [0,   101], [102, …");
    }
}
