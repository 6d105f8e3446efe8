//! Choosing cases: by id or glob, operator, basis and suite.

use gather_spec::{Basis, Case};
use globset::{Glob, GlobMatcher};

/// Which cases are wanted; what is absent does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    patterns: Vec<Pattern>,
    operators: Vec<String>,
    basis: Option<Basis>,
    suite: Option<Suite>,
}

/// A part of the suite that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Suite {
    /// The fewest cases that cover every clause and catch every mutant that the whole suite does
    Smoke,
}

/// The cases of the smoke suite, as `smoke::choose` chooses them.
const SMOKE: &str = include_str!("../suites/smoke.txt");

impl Suite {
    /// The ids of its cases.
    pub fn ids(self) -> impl Iterator<Item = &'static str> {
        let Self::Smoke = self;
        SMOKE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// An id, or a glob of ids.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl Selection {
    /// A selection by ids or globs, operators, and the weakest basis allowed. Several of one kind widen it.
    #[must_use]
    pub fn new(patterns: &[String], operators: &[String], basis: Option<Basis>) -> Self {
        let patterns = patterns.iter().map(|text| Pattern::new(text)).collect();
        Self { patterns, operators: operators.to_vec(), basis, suite: None }
    }

    /// The same, of the cases of one suite only.
    #[must_use]
    pub const fn of_suite(mut self, suite: Option<Suite>) -> Self {
        self.suite = suite;
        self
    }

    /// Whether a case is wanted.
    #[must_use]
    pub fn wants(&self, case: &Case) -> bool {
        let by_operator = self.operators.is_empty()
            || self.operators.iter().any(|name| name == case.call.operator.as_str());
        let by_basis = self.basis.is_none_or(|weakest| case.basis <= weakest);
        let by_pattern =
            self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case));
        let by_suite = self.suite.is_none_or(|suite| suite.ids().any(|id| id == case.id));
        by_operator && by_basis && by_pattern && by_suite
    }
}

impl Pattern {
    /// A pattern as it is written.
    pub(crate) fn new(text: &str) -> Self {
        // An id such as `…[f16,i64]` is no valid or no fitting glob, and is found as it stands.
        Self { text: text.to_owned(), glob: Glob::new(text).ok().map(|glob| glob.compile_matcher()) }
    }

    /// Whether a case has the id, or an id like it.
    pub(crate) fn matches(&self, case: &Case) -> bool {
        self.text == case.id
            || self.text == case.written
            || self.glob.as_ref().is_some_and(|glob| glob.is_match(&case.id) || glob.is_match(&case.written))
    }
}
