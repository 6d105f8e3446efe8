//! What a campaign has seen so far: counts that can be added up in any order.

use std::collections::BTreeMap;

/// The most columns of a row.
const COLUMNS: usize = 20;

/// The column of calls that were not sent: the backend does not declare their dtypes.
pub(super) const NOT_SENT: &str = "not sent";

/// The column of cases about operators that the run leaves out.
pub(super) const NOT_CHOSEN: &str = "not chosen";

/// The column of calls that the backend does not do, and need not.
pub(super) const UNSUPPORTED: &str = "unsupported";

/// The column of calls whose output is too large for the reference to make.
pub(super) const TOO_LARGE: &str = "too large to compare";

/// The column of cases in which a law is broken.
pub(crate) const BROKEN: &str = "broken";

/// What the columns of laws that say nothing here begin with.
pub(crate) const SKIPPED: &str = "skipped: ";

/// Whether the cases of a column compared an answer with something.
pub(super) fn is_tested(column: &str) -> bool {
    ![NOT_SENT, NOT_CHOSEN, UNSUPPORTED, TOO_LARGE].contains(&column) && !column.starts_with(SKIPPED)
}

/// Counts by row and column, cheap to add to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<(String, Vec<(&'static str, u64)>)>,
}

impl Tally {
    /// Counts one more.
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

    /// Adds what another one has counted.
    pub(super) fn add(&mut self, other: &Self) {
        for (row, columns) in &other.rows {
            for (column, count) in columns {
                *self.entry(row, column) += count;
            }
        }
    }

    /// Adds all of it to the counts of a report.
    pub fn add_to(&self, counts: &mut BTreeMap<String, BTreeMap<String, u64>>) {
        for (row, columns) in &self.rows {
            let into = counts.entry(row.clone()).or_default();
            for (column, count) in columns {
                *into.entry((*column).to_owned()).or_default() += count;
            }
        }
    }
}
