//! Counts of what a campaign has seen. They can be added up in any order.

use std::collections::BTreeMap;

/// Initial capacity for the columns of a row.
const COLUMNS: usize = 20;

/// The column of calls that were not sent because the backend does not declare their dtypes.
pub const NOT_SENT: &str = "not sent";

/// The column of cases of operators that the run excludes.
pub const NOT_CHOSEN: &str = "not chosen";

/// The column of calls that the backend does not support and need not support.
pub const UNSUPPORTED: &str = "unsupported";

/// The column of calls whose output is too large for the reference to compute.
pub const TOO_LARGE: &str = "too large to compare";

/// The column of violated laws.
pub const BROKEN: &str = "broken";

/// The prefix of the columns of laws that do not apply.
pub const SKIPPED: &str = "skipped: ";

/// Whether the cases of a column compared an answer with something.
pub fn is_tested(column: &str) -> bool {
    ![NOT_SENT, NOT_CHOSEN, UNSUPPORTED, TOO_LARGE].contains(&column) && !column.starts_with(SKIPPED)
}

/// Counts by row and column. Rows and columns are few, so a linear search beats a map.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<(String, Vec<(&'static str, u64)>)>,
}

impl Tally {
    /// Counts one case.
    pub fn count(&mut self, row: &str, column: &'static str) {
        *self.entry(row, column) += 1;
    }

    fn entry(&mut self, row: &str, column: &'static str) -> &mut u64 {
        let at = self.rows.iter().position(|(name, _)| name == row).unwrap_or_else(|| {
            self.rows.push((row.to_owned(), Vec::with_capacity(COLUMNS)));
            self.rows.len() - 1
        });
        let counts = &mut self.rows[at].1;
        let known = counts.iter().position(|(name, _)| std::ptr::eq(*name, column) || *name == column);
        let at = known.unwrap_or_else(|| {
            counts.push((column, 0));
            counts.len() - 1
        });
        &mut counts[at].1
    }

    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &Self) {
        for (row, columns) in &other.rows {
            for (column, count) in columns {
                *self.entry(row, column) += count;
            }
        }
    }

    /// Adds all counts to those of a report.
    pub fn add_to(&self, counts: &mut BTreeMap<String, BTreeMap<String, u64>>) {
        for (row, columns) in &self.rows {
            let into = counts.entry(row.clone()).or_default();
            for (column, count) in columns {
                *into.entry((*column).to_owned()).or_default() += count;
            }
        }
    }
}
