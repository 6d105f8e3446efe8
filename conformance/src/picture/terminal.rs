//! A picture in the terminal: values with letters below them, in colours where there are any.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr as _;

use gather_conformance::internals::{report, style};

use super::flow::{Tile, flow, stack};
use super::grid::{Body, CellMark, ElementCell, Grid, Table, letter};
use super::layout::Picture;
use super::steps::GatherStep;

/// The width if neither a terminal nor `COLUMNS` gives one.
const USUAL: usize = 100;

/// The columns in front of every line.
const INDENT: usize = 2;

/// The colours of rows of indices, in turn. Red is left for what is wrong.
const COLOURS: [AnsiColor; 8] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::BrightCyan,
    AnsiColor::BrightYellow,
    AnsiColor::BrightMagenta,
];

/// The width of the terminal, otherwise that of `COLUMNS`, otherwise 100.
#[must_use]
pub fn width_of_stdout() -> usize {
    report::width_of_stdout().unwrap_or(USUAL)
}

impl Picture {
    /// The picture as lines of at most `width` columns where that is possible, with colours.
    #[must_use]
    pub fn terminal(&self, width: usize) -> String {
        render(self, width)
    }
}

fn render(picture: &Picture, width: usize) -> String {
    let mut text = String::new();
    for (name, value) in &picture.others {
        let _ = writeln!(text, "  {name:<11} {value}");
    }
    if !picture.others.is_empty() {
        text.push('\n');
    }
    let room = width.saturating_sub(INDENT);
    let grids = picture.grids.iter().map(|grid| drawn(grid, room));
    for line in flow(grids, room).lines {
        let _ = writeln!(text, "{}", format!("  {}", line.text).trim_end());
    }
    if let Some(outcome) = &picture.outcome {
        let _ = writeln!(text, "\n  outcome     {}", painted(style::BAD, outcome));
    }
    steps(&mut text, picture);
    text
}

/// The rows of indices and the notes, below the grids.
fn steps(text: &mut String, picture: &Picture) {
    let legend = picture.legend();
    if !legend.is_empty() {
        text.push('\n');
    }
    for line in &legend {
        let _ = writeln!(text, "  {}", painted(FAINT, line));
    }
    for (row, step) in picture.steps.iter().enumerate() {
        let GatherStep { index, from, to } = step;
        let from = from.clone().unwrap_or_else(|| painted(style::BAD, "✗"));
        let to = to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
        let _ = writeln!(text, "  {}  {index} → {from}{to}", painted(colour(row), &letter(row)));
    }
    if picture.more_steps > 0 {
        let _ = writeln!(text, "  … and {} more", picture.more_steps);
    }
    for note in &picture.notes {
        let _ = writeln!(text, "  {note}");
    }
}

const FAINT: Style = Style::new().dimmed();

/// The colour of a row of indices.
const fn colour(row: usize) -> Style {
    Style::new().fg_color(Some(Color::Ansi(COLOURS[row % COLOURS.len()])))
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A text with colours and the columns that it takes.
#[derive(Clone, Default)]
struct StyledLine {
    text: String,
    width: usize,
}

impl StyledLine {
    fn push(&mut self, style: Style, text: &str) {
        self.width += text.width();
        if style.is_plain() {
            self.text.push_str(text);
        } else {
            let _ = write!(self.text, "{style}{text}{style:#}");
        }
    }

    /// Adds a text that ends `width` columns further to the right.
    fn push_right(&mut self, style: Style, text: &str, width: usize) {
        self.pad_to(self.width + width.saturating_sub(text.width()));
        self.push(style, text);
    }

    fn pad_to(&mut self, width: usize) {
        let spaces = width.saturating_sub(self.width);
        self.text.extend(std::iter::repeat_n(' ', spaces));
        self.width += spaces;
    }

    fn of(style: Style, text: &str) -> Self {
        let mut line = Self::default();
        line.push(style, text);
        line
    }
}

/// Lines that form a rectangle.
#[derive(Clone, Default)]
struct Canvas {
    lines: Vec<StyledLine>,
}

impl Tile for Canvas {
    const GAP: usize = 4;

    fn width(&self) -> usize {
        self.lines.iter().map(|line| line.width).max().unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn beside(mut self, other: Self) -> Self {
        let left = self.width() + Self::GAP;
        let height = self.lines.len().max(other.lines.len());
        self.lines.resize(height, StyledLine::default());
        for (line, right) in self.lines.iter_mut().zip(other.lines) {
            line.pad_to(left);
            line.text.push_str(&right.text);
            line.width += right.width;
        }
        self
    }

    fn above(mut self, other: Self) -> Self {
        if !self.lines.is_empty() {
            self.lines.push(StyledLine::default());
        }
        self.lines.extend(other.lines);
        self
    }
}

/// A tensor below its name: its tables or, if one of them is too wide, its elements in one line.
fn drawn(grid: &Grid, width: usize) -> Canvas {
    let mut head = StyledLine::of(style::NAME, &grid.name);
    head.push(Style::new(), &format!("  {}", grid.head));
    let mut canvas = Canvas { lines: vec![head] };
    let bands = match &grid.body {
        Body::Bands(bands) => bands,
        Body::Words(why) => {
            canvas.lines.push(StyledLine::of(Style::new(), &grid.in_words(why)));
            return canvas;
        }
    };
    let tables = bands.iter().map(|band| {
        let has_letters = Table::rows_with_letters(band);
        flow(band.iter().map(|one| table(one, &has_letters)), width)
    });
    let tables: Canvas = stack(tables);
    if tables.width() > width {
        canvas.lines.push(StyledLine::of(Style::new(), &grid.in_words("too wide to be drawn here")));
    } else {
        canvas.lines.extend(tables.lines);
    }
    canvas
}

fn table(table: &Table, has_letters: &[bool]) -> Canvas {
    let columns = table.rows.first().map_or(0, Vec::len);
    let of_column = |column: usize| {
        let widths = table.rows.iter().map(|row| row[column].width());
        widths.max().unwrap_or_default().max(column.to_string().len()) + 2
    };
    let widths: Vec<usize> = (0..columns).map(of_column).collect();
    let numbers = if table.has.rows { (table.rows.len() - 1).to_string().len() } else { 0 };
    let mut lines = Vec::new();
    lines.extend(table.label.as_ref().map(|label| StyledLine::of(FAINT, label)));
    if table.has.columns {
        let mut line = StyledLine::default();
        line.pad_to(numbers);
        for (column, width) in widths.iter().enumerate() {
            line.push_right(FAINT, &column.to_string(), *width);
        }
        lines.push(line);
    }
    for (row, cells) in table.rows.iter().enumerate() {
        let mut values = StyledLine::default();
        if table.has.rows {
            values.push_right(FAINT, &row.to_string(), numbers);
        }
        let mut letters = StyledLine::default();
        letters.pad_to(numbers);
        for (cell, width) in cells.iter().zip(&widths) {
            values.push_right(cell.style(), &cell.shown(), *width);
            letters.pad_to(letters.width + width - cell.letters_width());
            cell.push_letters(&mut letters);
        }
        lines.push(values);
        lines.extend(has_letters[row].then_some(letters));
    }
    Canvas { lines }
}

impl ElementCell {
    fn width(&self) -> usize {
        self.shown().width().max(self.letters_width())
    }

    /// The colour of its only row of indices.
    fn style(&self) -> Style {
        match (self.mark, self.rows.as_slice()) {
            (CellMark::Bad, _) => style::BAD,
            (_, [row]) => colour(*row),
            (_, []) => Style::new(),
            (_, _) => Style::new().bold(),
        }
    }

    fn push_letters(&self, line: &mut StyledLine) {
        for (at, (row, letter)) in self.letters().enumerate() {
            line.push(Style::new(), if at > 0 { "," } else { "" });
            line.push(row.map_or(Style::new(), colour), &letter);
        }
    }
}
