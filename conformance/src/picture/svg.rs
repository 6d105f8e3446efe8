//! A picture as an SVG file: one that needs nothing else, for pages and reports.
//!
//! The colours of cells are transparent, so that they serve on a light and on a dark background. Text and lines have the
//! colour of the root, which the file itself changes where the reader prefers a dark page.

use std::fmt::Write as _;

use svg::Document;
use svg::node::Text as Characters;
use svg::node::element::{Description, Group, Rectangle, Style, Text, Title};
use unicode_width::UnicodeWidthStr as _;

use super::flow::{Tile, flow, stack};
use super::grid::{Body, CellMark, ElementCell, Grid, Table, letter};
use super::layout::Picture;

/// The width to fill, in pixels.
const WIDTH: usize = 920;

/// The margin around everything.
const MARGIN: usize = 16;

/// The width of a character, and the height of a line of text.
const CHARACTER: usize = 8;
const LINE: usize = 20;

/// The width of a small character.
const SMALL: usize = 7;

/// The height of a cell, without and with letters in it.
const VALUE: usize = 26;
const WITH_LETTERS: usize = 40;

/// The least width of a cell.
const NARROWEST: usize = 34;

/// The colours of rows of indices, in turn: a palette that colour-blind readers can tell apart.
const COLOURS: [&str; 10] = [
    "#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00", "#9467bd", "#7fbf3f",
    "#8c6d5a",
];

/// What is wrong.
const BAD: &str = "#d62728";

const STYLE: &str = ".gs-picture{color:#24292f}\
@media (prefers-color-scheme:dark){.gs-picture{color:#e6edf3}}\
.gs-picture text{fill:currentColor;font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\
.gs-picture .gs-faint{font-size:11px;opacity:.7}.gs-picture .gs-letter{font-size:11px;font-weight:bold}\
.gs-picture .gs-name{font-weight:bold}";

impl Picture {
    /// The picture as a self-contained SVG file; `None` if neither params nor indices can be drawn as cells.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        self.grids.iter().any(Grid::is_drawn).then(|| render(self))
    }
}

fn render(picture: &Picture) -> String {
    let heading = heading(picture);
    let grids = flow(picture.grids.iter().map(drawn), WIDTH);
    let all: Piece = stack([heading, grids, explained(picture)]);
    let (width, height) = (all.width + 2 * MARGIN, all.height + 2 * MARGIN);
    let root = Document::new()
        .set("class", "gs-picture")
        .set("role", "img")
        .set("viewBox", (0, 0, width, height))
        .set("width", width)
        .set("height", height)
        .add(Title::new(&*picture.title))
        .add(Description::new().add(Characters::new(in_words(picture))))
        .add(Style::new(STYLE));
    format!("{}\n", all.placed(MARGIN, MARGIN).into_iter().fold(root, Document::add))
}

/// The picture for readers who do not see it.
fn in_words(picture: &Picture) -> String {
    let mut text = String::new();
    for grid in &picture.grids {
        let _ = write!(text, "{}: {} {}. ", grid.name, grid.head, grid.elements);
    }
    for step in &picture.steps {
        let from = step.from.as_deref().unwrap_or("nothing of params");
        let _ = write!(text, "{} selects {from}", step.index);
        let _ = match &step.to {
            Some(to) => write!(text, " for {to}. "),
            None => write!(text, ". "),
        };
    }
    for line in picture.notes.iter().chain(&picture.outcome) {
        let _ = write!(text, "{line}. ");
    }
    text.trim_end().to_owned()
}

/// A part of the picture: groups with their offsets.
#[derive(Clone, Default)]
struct Piece {
    groups: Vec<(usize, usize, Group)>,
    width: usize,
    height: usize,
}

impl Piece {
    fn new(group: Group, width: usize, height: usize) -> Self {
        Self { groups: vec![(0, 0, group)], width, height }
    }

    /// Adds another piece at an offset.
    fn with(mut self, other: Self, x: usize, y: usize) -> Self {
        self.width = self.width.max(x + other.width);
        self.height = self.height.max(y + other.height);
        self.groups.extend(other.groups.into_iter().map(|(dx, dy, group)| (x + dx, y + dy, group)));
        self
    }

    /// The groups, moved by an offset.
    fn placed(self, x: usize, y: usize) -> Vec<Group> {
        let place = |(dx, dy, group): (usize, usize, Group)| {
            group.set("transform", format!("translate({} {})", x + dx, y + dy))
        };
        self.groups.into_iter().map(place).collect()
    }
}

impl Tile for Piece {
    const GAP: usize = 28;

    fn width(&self) -> usize {
        self.width
    }

    fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    fn beside(self, other: Self) -> Self {
        let x = self.width + Self::GAP;
        self.with(other, x, 0)
    }

    fn above(self, other: Self) -> Self {
        let y = if self.is_empty() { 0 } else { self.height + Self::GAP / 2 };
        self.with(other, 0, y)
    }
}

/// Lines of text, each with its class.
#[derive(Default)]
struct Lines {
    group: Group,
    width: usize,
    count: usize,
}

impl Lines {
    fn push(&mut self, class: &str, text: &str, x: usize) {
        let y = LINE * self.count + 14;
        let mut line = Text::new(text).set("x", x).set("y", y);
        if !class.is_empty() {
            line = line.set("class", class);
        }
        self.group = std::mem::take(&mut self.group).add(line);
        self.width = self.width.max(x + CHARACTER * text.width());
        self.count += 1;
    }

    fn piece(self) -> Piece {
        match self.count {
            0 => Piece::default(),
            count => Piece::new(self.group, self.width, LINE * count),
        }
    }
}

/// The operator with its attributes.
fn heading(picture: &Picture) -> Piece {
    let mut lines = Lines::default();
    lines.push("gs-name", &picture.title, 0);
    let mut line = String::new();
    for (name, value) in &picture.others {
        let other = format!("{name} = {value}");
        if !line.is_empty() && CHARACTER * (line.width() + other.width() + 2) > WIDTH {
            lines.push("", &std::mem::take(&mut line), 0);
        }
        let _ = write!(line, "{}{other}", if line.is_empty() { "" } else { ", " });
    }
    if !line.is_empty() {
        lines.push("", &line, 0);
    }
    lines.piece()
}

/// What each row of indices does, and what else there is to say.
fn explained(picture: &Picture) -> Piece {
    let mut lines = Lines::default();
    if let Some(outcome) = &picture.outcome {
        lines.push("gs-name", outcome, 0);
    }
    for line in picture.legend() {
        lines.push("gs-faint", line, 0);
    }
    for (row, step) in picture.steps.iter().enumerate() {
        let from = step.from.as_deref().unwrap_or("✗");
        let to = step.to.as_ref().map(|to| format!(" → {to}")).unwrap_or_default();
        let chip = coloured(row).set("x", 0).set("y", LINE * lines.count).set("width", 26).set("height", 18);
        let name = Text::new(letter(row)).set("x", 13).set("y", LINE * lines.count + 14);
        let name = name.set("class", "gs-letter").set("text-anchor", "middle");
        lines.group = std::mem::take(&mut lines.group).add(chip).add(name);
        lines.push("", &format!("{} → {from}{to}", step.index), 36);
    }
    if picture.more_steps > 0 {
        lines.push("", &format!("… and {} more", picture.more_steps), 0);
    }
    for note in &picture.notes {
        lines.push("", note, 0);
    }
    lines.piece()
}

/// A rectangle in the colour of a row of indices.
fn coloured(row: usize) -> Rectangle {
    Rectangle::new().set("fill", COLOURS[row % COLOURS.len()]).set("fill-opacity", 0.35)
}

/// A tensor below its name.
fn drawn(grid: &Grid) -> Piece {
    let mut head = Lines::default();
    head.push("gs-name", &grid.name, 0);
    head.count = 0;
    head.push("", &grid.head, CHARACTER * (grid.name.width() + 1));
    let bands = match &grid.body {
        Body::Bands(bands) => bands,
        Body::Words(why) => {
            head.push("gs-faint", &grid.in_words(why), 0);
            return head.piece();
        }
    };
    let bands = bands.iter().map(|band| {
        let has_letters = Table::rows_with_letters(band);
        flow(band.iter().map(|one| table(one, &has_letters)), WIDTH)
    });
    let head = head.piece();
    let below = head.height + 4;
    head.with(stack(bands), 0, below)
}

fn table(table: &Table, has_letters: &[bool]) -> Piece {
    let columns = table.rows.first().map_or(0, Vec::len);
    let widths = (0..columns).flat_map(|column| table.rows.iter().map(move |row| width(&row[column])));
    let cell = widths.max().unwrap_or(NARROWEST);
    let left = if table.has.rows { CHARACTER * (table.rows.len() - 1).to_string().len() + 6 } else { 0 };
    let mut group = Group::new();
    let mut top = 0;
    if let Some(label) = &table.label {
        group = group.add(Text::new(&**label).set("class", "gs-faint").set("y", 12).set("x", left));
        top += LINE;
    }
    if table.has.columns {
        for column in 0..columns {
            group = group.add(faint(&column.to_string(), left + cell * column + cell / 2, top + 11));
        }
        top += 16;
    }
    for (row, cells) in table.rows.iter().enumerate() {
        let height = if has_letters[row] { WITH_LETTERS } else { VALUE };
        if table.has.rows {
            group = group.add(faint(&row.to_string(), left / 2 - 2, top + height / 2 + 4));
        }
        for (column, one) in cells.iter().enumerate() {
            group = add_cell(group, one, (left + cell * column, top), (cell, height));
        }
        top += height;
    }
    let label = table.label.as_ref().map_or(0, |label| SMALL * label.width());
    Piece::new(group, left + label.max(cell * columns), top)
}

/// The number of a row or a column.
fn faint(text: &str, x: usize, y: usize) -> Text {
    Text::new(text).set("class", "gs-faint").set("text-anchor", "middle").set("x", x).set("y", y)
}

/// The width of a cell.
fn width(cell: &ElementCell) -> usize {
    let characters = cell.shown().width().max(cell.letters_width());
    (CHARACTER * characters + 12).max(NARROWEST)
}

/// Adds a cell: a stripe in the colour of each of its rows of indices, a frame, the value and the letters.
fn add_cell(
    mut group: Group,
    cell: &ElementCell,
    (x, y): (usize, usize),
    (width, height): (usize, usize),
) -> Group {
    let stripes: Vec<usize> = cell.letters().filter_map(|(row, _)| row).collect();
    for (at, row) in stripes.iter().enumerate() {
        let (from, to) = (width * at / stripes.len(), width * (at + 1) / stripes.len());
        let stripe = coloured(*row).set("x", x + from).set("y", y).set("width", to - from);
        group = group.add(stripe.set("height", height));
    }
    group = group.add(frame(cell.mark).set("x", x).set("y", y).set("width", width).set("height", height));
    let middle = x + width / 2;
    let has_letters = !stripes.is_empty();
    let base = if has_letters { y + 17 } else { y + height / 2 + 5 };
    group = group.add(Text::new(cell.shown()).set("text-anchor", "middle").set("x", middle).set("y", base));
    if has_letters {
        let letters: Vec<String> = cell.letters().map(|(_, letter)| letter).collect();
        let letters = Text::new(letters.join(",")).set("class", "gs-letter").set("text-anchor", "middle");
        group = group.add(letters.set("x", middle).set("y", y + 33));
    }
    group
}

fn frame(mark: CellMark) -> Rectangle {
    let frame = Rectangle::new().set("fill", "none");
    match mark {
        CellMark::None => frame.set("stroke", "currentColor").set("stroke-opacity", 0.35),
        CellMark::Bad => frame.set("stroke", BAD).set("stroke-width", 2.5),
        CellMark::Filled => frame.set("stroke", BAD).set("stroke-width", 1.5).set("stroke-dasharray", "4 3"),
    }
}
