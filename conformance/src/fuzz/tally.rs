//! What a campaign has seen so far: counts that can be added up in any order.

use std::collections::BTreeMap;

/// The most columns of a row.
const COLUMNS: usize = 20;

/// Counts by row and column, cheap to add to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: Vec<(String, Vec<(&'static str, u64)>)>,
}

impl Tally {
    /// Counts one more.
    pub fn count(&mut self, row: &str, column: &'static str) {
        let at = self.rows.iter().position(|(name, _)| name == row).unwrap_or_else(|| {
            self.rows.push((row.to_owned(), Vec::with_capacity(COLUMNS)));
            self.rows.len() - 1
        });
        let counts = &mut self.rows[at].1;
        match counts.iter_mut().find(|(name, _)| std::ptr::eq(*name, column) || *name == column) {
            Some((_, count)) => *count += 1,
            None => counts.push((column, 1)),
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
