//! Selects cases by id or glob, operator, clause, basis and suite.

use gather_spec::{Basis, Case, Specification};
use globset::{Glob, GlobSet};
use serde::Deserialize;

use crate::words;

/// Which cases to select. Absent criteria do not restrict.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    patterns: Vec<Pattern>,
    operators: Vec<String>,
    basis: Option<Basis>,
    suite: Option<Suite>,
    clauses: Vec<Pattern>,
}

/// A part of the suite that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Suite {
    /// At most 400 cases that catch every mutant that the whole suite catches, and many breaks of real code
    Smoke,
    /// Outputs above 8 and 64 MiB, and params beyond 2^32 elements and bytes; these cases are in no other suite
    Large,
}

/// The smoke suite: a fixed list of ids.
const SMOKE: &str = include_str!("../suites/smoke.txt");

impl Suite {
    /// Whether a case belongs to the suite.
    fn has(self, case: &Case) -> bool {
        match self {
            Self::Smoke => smoke_ids().any(|id| id == case.id),
            Self::Large => case.large,
        }
    }
}

/// The ids of the smoke suite.
pub fn smoke_ids() -> impl Iterator<Item = &'static str> {
    SMOKE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The most characters of a pattern: more than any id needs, and few enough that no glob is slow.
const LONGEST: usize = 4000;

/// An id, or a glob of ids.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern {
    text: String,
    glob: GlobSet,
}

impl Selection {
    /// A selection by ids or globs, operators, and the weakest basis allowed. Several values of one criterion are alternatives.
    ///
    /// # Errors
    /// What is wrong with a pattern.
    pub fn new(patterns: &[String], operators: &[String], basis: Option<Basis>) -> Result<Self, String> {
        let patterns = patterns.iter().map(|text| Pattern::new(text)).collect::<Result<_, _>>()?;
        Ok(Self { patterns, operators: operators.to_vec(), basis, ..Self::default() })
    }

    /// Restricts the selection to one suite.
    #[must_use]
    pub const fn of_suite(mut self, suite: Option<Suite>) -> Self {
        self.suite = suite;
        self
    }

    /// Restricts the selection to cases that test one of these clauses, each an id or a glob.
    ///
    /// # Errors
    /// What is wrong with a pattern, such as that it matches no clause.
    pub fn of_clauses(mut self, clauses: &[String], spec: &Specification) -> Result<Self, String> {
        for text in clauses {
            let pattern = Pattern::new(text)?;
            if !spec.clauses.iter().any(|clause| pattern.fits(&clause.id)) {
                return Err(format!(
                    "--clause `{}` matches no clause\nhelp: `gatherspec list clauses` prints every id",
                    words::name(text)
                ));
            }
            self.clauses.push(pattern);
        }
        Ok(self)
    }

    /// Whether a case is selected.
    #[must_use]
    pub fn wants(&self, case: &Case) -> bool {
        let by_operator = self.operators.is_empty()
            || self.operators.iter().any(|name| name == case.call.operator.as_str());
        let by_basis = self.basis.is_none_or(|weakest| case.basis <= weakest);
        let by_pattern =
            self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case));
        let by_suite = self.suite.is_none_or(|suite| suite.has(case));
        let tests = |pattern: &Pattern| case.clauses.iter().any(|clause| pattern.fits(clause));
        let by_clause = self.clauses.is_empty() || self.clauses.iter().any(tests);
        by_operator && by_basis && by_pattern && by_suite && by_clause
    }
}

impl Selection {
    /// The first pattern that matches no case.
    pub(crate) fn unmatched(&self, cases: &[Case]) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| !cases.iter().any(|case| pattern.matches(case)))
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// What is wrong with it. A pattern that is too long or too complex is an error like a malformed one.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("the pattern `{}` {what}", words::name(text));
        if text.chars().nth(LONGEST).is_some() {
            return Err(wrong(&format!("has more than {LONGEST} characters")));
        }
        // A set returns an error for a glob that is too large to compile. A single glob would panic.
        let glob = Glob::new(text).and_then(|glob| GlobSet::new([glob]));
        let glob = glob
            .map_err(|error| wrong(&format!("cannot be read: {}", words::name(&error.kind().to_string()))))?;
        Ok(Self { text: text.to_owned(), glob })
    }

    /// Whether the pattern matches the id of a case, or that of the case or family case that it derives from.
    pub(crate) fn matches(&self, case: &Case) -> bool {
        self.fits(&case.id)
            || self.fits(&case.written)
            || case.family.as_ref().is_some_and(|family| self.fits(family))
    }

    /// Whether a text equals or matches the pattern. Equality comes first, so that an id such as `…[f16,i64]` is found
    /// although brackets have a meaning in globs.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.text == text || self.glob.is_match(text)
    }

    /// The pattern as written.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::new(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_would_take_long_or_panic_is_refused_with_what_is_wrong() {
        let wrong = |text: &str| Pattern::new(text).unwrap_err();
        assert!(wrong(&"*".repeat(4001)).ends_with("…` has more than 4000 characters"));
        assert!(Pattern::new(&"*".repeat(4000)).unwrap().fits("a/b"));
        let deep = |depth| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
        assert!(Pattern::new(&deep(20)).unwrap().fits("a"));
        assert!(wrong(&deep(1999)).contains("cannot be read"), "{}", wrong(&deep(1999)));
        assert!(wrong(&deep(100_000)).len() < 300);
        assert!(wrong("tf.gather/[").contains("unclosed character class"));
    }

    #[test]
    fn an_id_with_dtypes_is_found_as_it_stands() {
        let pattern = Pattern::new("a.b/c/d[i32,i64]").unwrap();
        assert!(pattern.fits("a.b/c/d[i32,i64]") && pattern.fits("a.b/c/d3") && !pattern.fits("a.b/c/d"));
    }
}
