//! Choosing cases: by id or glob, operator and basis.

use gather_spec::{Basis, Case};
use globset::{Glob, GlobMatcher};

/// Which cases are wanted; what is absent does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    patterns: Vec<Pattern>,
    operators: Vec<String>,
    basis: Option<Basis>,
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
        Self { patterns, operators: operators.to_vec(), basis }
    }

    /// Whether a case is wanted.
    #[must_use]
    pub fn wants(&self, case: &Case) -> bool {
        let by_operator = self.operators.is_empty()
            || self.operators.iter().any(|name| name == case.call.operator.as_str());
        let by_basis = self.basis.is_none_or(|weakest| case.basis <= weakest);
        let by_pattern =
            self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case));
        by_operator && by_basis && by_pattern
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
