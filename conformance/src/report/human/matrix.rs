//! The matrix of operators and backends, laid out for the width of the page: side by side if it fits, otherwise one
//! backend below the other, with a row per operator. Cells are broken only between counts.

use comfy_table::{Table, presets};
use unicode_width::UnicodeWidthStr as _;

use super::super::{BackendReport, Report};
use super::super::{Label, shortened};
use super::super::{PageWidth, filled};

/// The most characters of a word in a heading.
const LONGEST_WORD: usize = 20;

/// The width of a border with its padding: once per column, and once more at the end.
const BORDER: usize = 3;

/// A cell as units between which it may be broken.
type CellUnits = Vec<String>;

pub(super) fn matrix(report: &Report, labels: &[Label], page: PageWidth) -> Table {
    let beside = side_by_side(report, labels);
    let (rows, widths) = match widths(&beside, page.table()) {
        Some(widths) => (beside, widths),
        None => {
            let below = one_below_the_other(report, labels);
            let widths = widths(&below, page.table()).unwrap_or_else(|| columns(&below, narrowest));
            (below, widths)
        }
    };
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let mut rows = rows.iter().map(|row| {
        let cell =
            |(cell, width): (&CellUnits, &usize)| filled(cell.iter().map(String::as_str), *width).join("\n");
        row.iter().zip(&widths).map(cell).collect::<Vec<_>>()
    });
    table.set_header(rows.next().unwrap_or_default());
    table.add_rows(rows);
    table
}

/// One column per backend.
fn side_by_side(report: &Report, labels: &[Label]) -> Vec<Vec<CellUnits>> {
    let mut header = vec![vec!["operator".to_owned()]];
    header.extend(labels.iter().map(heading));
    let row = |operator: &&str| {
        let mut row = vec![vec![(*operator).to_owned()]];
        row.extend(report.backends.iter().map(|backend| cell(backend, operator)));
        row
    };
    let campaign = report.parts().map(|part| {
        let cells = report.backends.iter().map(move |backend| backend.campaign_in_words(part));
        std::iter::once(vec![part.title().to_owned()]).chain(cells).collect()
    });
    std::iter::once(header).chain(report.operators().iter().map(row)).chain(campaign).collect()
}

/// A row per backend, and below it one per operator.
fn one_below_the_other(report: &Report, labels: &[Label]) -> Vec<Vec<CellUnits>> {
    let mut rows = vec![vec![vec!["backend, operator".to_owned()], vec!["verdicts".to_owned()]]];
    for (backend, label) in report.backends.iter().zip(labels) {
        rows.push(vec![heading(label), Vec::new()]);
        let operators = report.operators();
        rows.extend(operators.iter().map(|operator| vec![indented(operator), cell(backend, operator)]));
        rows.extend(report.parts().map(|part| vec![indented(part.title()), backend.campaign_in_words(part)]));
    }
    rows
}

fn indented(title: &str) -> CellUnits {
    vec![format!("  {title}")]
}

fn heading(label: &Label) -> CellUnits {
    label.full().split(' ').map(|word| shortened(word, LONGEST_WORD)).collect()
}

fn cell(backend: &BackendReport, operator: &str) -> CellUnits {
    backend.outcome_in_words(operator)
}

/// Column widths that fit into `width` together, if there are any.
fn widths(rows: &[Vec<CellUnits>], width: usize) -> Option<Vec<usize>> {
    let (least, most) = (columns(rows, narrowest), columns(rows, widest));
    let room = width.checked_sub(BORDER * least.len() + 1)?;
    // Finds the largest limit on all columns that makes them fit.
    let limited = |limit: usize| -> Vec<usize> {
        least.iter().zip(&most).map(|(least, most)| (*most).min(limit).max(*least)).collect()
    };
    (0..=room).rev().map(limited).find(|widths| widths.iter().sum::<usize>() <= room)
}

/// The largest measure of a cell in each column.
fn columns(rows: &[Vec<CellUnits>], measure: fn(&CellUnits) -> usize) -> Vec<usize> {
    let count = rows.first().map_or(0, Vec::len);
    let of = |column: usize| rows.iter().map(|row| measure(&row[column])).max().unwrap_or_default();
    (0..count).map(of).collect()
}

fn narrowest(cell: &CellUnits) -> usize {
    cell.iter().map(|unit| unit.width()).max().unwrap_or_default()
}

fn widest(cell: &CellUnits) -> usize {
    cell.join(" ").width()
}
