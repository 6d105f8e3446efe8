//! Selects cases by id or glob, operator, clause, basis and suite.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

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
    /// At most 60 cases of each operator, chosen by the mutants that they catch
    Smoke,
    /// Outputs above 8 and 64 MiB, and params beyond 2^32 elements and bytes; these cases are in no other suite
    Large,
}

/// The smoke suite: a list of ids, which the test `smoke` chooses and measures.
const SMOKE: &str = include_str!("../suites/smoke.txt");

impl Suite {
    /// Whether a case belongs to the suite.
    fn has(self, case: &Case) -> bool {
        match self {
            Self::Smoke => SMOKE_IDS.contains(case.id.as_str()),
            Self::Large => case.large,
        }
    }
}

static SMOKE_IDS: LazyLock<HashSet<&str>> = LazyLock::new(|| smoke_ids().collect());

/// The ids of the smoke suite.
pub fn smoke_ids() -> impl Iterator<Item = &'static str> {
    SMOKE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The most characters of a pattern: more than any id needs, and few enough that no glob is slow.
const LONGEST: usize = 4000;

/// A name, or a glob of names. Most ids have brackets, which a glob would take for a set of characters, and many of them
/// cannot be read as a glob at all. So a text is compared first, and read as a glob only where that is not enough.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Pattern {
    text: String,
    /// Compiled when it is first needed. An error says why the text cannot be read as a glob; it equals itself nevertheless.
    glob: OnceLock<Result<GlobSet, String>>,
    /// Whether it is the id of one case, and so not the name of those that derive from it.
    is_id: bool,
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
                    "--clause `{}` matches no clause{}\nhelp: `gatherspec list clauses` prints every id",
                    words::name(text),
                    pattern.not_a_glob()
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
    /// Reads a pattern that names one of these cases as that name only.
    ///
    /// # Errors
    /// The first pattern that matches none of them.
    pub(crate) fn settle<'a>(
        &mut self,
        cases: &(impl Iterator<Item = &'a Case> + Clone),
    ) -> Result<(), &Pattern> {
        for pattern in &mut self.patterns {
            pattern.is_id = cases.clone().any(|case| case.id == pattern.text);
            if pattern.is_id || cases.clone().any(|case| names(case).any(|name| name == pattern.text)) {
                pattern.settle();
            }
        }
        let is_idle = |pattern: &&Pattern| !cases.clone().any(|case| pattern.matches(case));
        self.patterns.iter().find(is_idle).map_or(Ok(()), Err)
    }
}

/// The names of a case: its id, and those of the case and of the family case that it derives from.
fn names(case: &Case) -> impl Iterator<Item = &str> {
    [&case.id, &case.written].into_iter().chain(&case.family).map(String::as_str)
}

/// Cases by their names: for an id that one case, though others may derive from a case of that name, such as one in
/// another mode.
pub(crate) struct Names<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> Names<'a> {
    pub(crate) fn new(cases: impl IntoIterator<Item = &'a Case, IntoIter: Clone>) -> Self {
        let cases = cases.into_iter();
        let mut all: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, case) in cases.clone().enumerate() {
            for name in names(case) {
                let of_name = all.entry(name).or_default();
                if of_name.last() != Some(&number) {
                    of_name.push(number);
                }
            }
        }
        all.extend(cases.enumerate().map(|(number, case)| (case.id.as_str(), vec![number])));
        Self(all)
    }

    /// Reads a pattern that names one of the cases as that name only, as [`Selection::settle`] does.
    pub(crate) fn settle(&self, pattern: &mut Pattern, cases: &[Case]) {
        if let Some(named) = self.0.get(pattern.as_str()) {
            pattern.is_id = named.iter().any(|number| cases[*number].id == pattern.text);
            pattern.settle();
        }
    }

    /// The numbers of the cases that have this name or, if none has, whose names match it as a glob.
    pub(crate) fn matching(&self, pattern: &Pattern) -> Vec<usize> {
        if let Some(named) = self.0.get(pattern.as_str()) {
            return named.clone();
        }
        let Some(glob) = pattern.glob() else { return Vec::new() };
        let found = self.0.iter().filter(|(name, _)| glob.is_match(name)).flat_map(|(_, of_name)| of_name);
        let mut found: Vec<usize> = found.copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Pattern {
    /// A pattern.
    ///
    /// # Errors
    /// If it is too long. A text that cannot be read as a glob is no error yet, since it may be a name.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.chars().nth(LONGEST).is_some() {
            return Err(format!("the pattern `{}` has more than {LONGEST} characters", words::name(text)));
        }
        Ok(Self { text: text.to_owned(), glob: OnceLock::new(), is_id: false })
    }

    /// Reads the pattern as a name only, whatever it means as a glob.
    pub(crate) fn settle(&mut self) {
        self.glob = OnceLock::from(Err("it is a name".to_owned()));
    }

    /// Whether the pattern matches a name of a case.
    pub(crate) fn matches(&self, case: &Case) -> bool {
        if self.is_id { case.id == self.text } else { names(case).any(|name| self.fits(name)) }
    }

    /// Whether a text equals or matches the pattern.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.text == text || self.glob().is_some_and(|glob| glob.is_match(text))
    }

    /// The texts that equal the pattern or, if none does, those that match it.
    pub(crate) fn among<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
        match texts.clone().find(|text| *text == self.text) {
            Some(same) => vec![same],
            None => texts.filter(|text| self.fits(text)).collect(),
        }
    }

    /// The glob, if the text is more than a name.
    fn glob(&self) -> Option<&GlobSet> {
        let is_glob = self.text.contains(['*', '?', '[', '{', '\\']);
        if is_glob { self.compiled().as_ref().ok() } else { None }
    }

    fn compiled(&self) -> &Result<GlobSet, String> {
        // A set returns an error for a glob that is too large to compile. A single glob would panic.
        let compile = || Glob::new(&self.text).and_then(|glob| GlobSet::new([glob]));
        self.glob.get_or_init(|| compile().map_err(|error| words::name(&error.kind().to_string())))
    }

    /// Why the pattern cannot be read as a glob, in brackets; empty if it can.
    pub(crate) fn not_a_glob(&self) -> String {
        let why = self.compiled().as_ref().err();
        why.map(|why| format!(" (and cannot be read as a glob: {why})")).unwrap_or_default()
    }

    /// What is wrong with a pattern of versions, which are not listed anywhere, so that any name may be one.
    pub(crate) fn wrong_version(&self) -> Option<String> {
        let why = self.compiled().as_ref().err()?;
        Some(format!("has `versions` that cannot be read as a glob: {why}"))
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
    fn a_pattern_that_would_take_long_or_panic_is_no_glob() {
        assert!(Pattern::new(&"*".repeat(4001)).unwrap_err().ends_with("…` has more than 4000 characters"));
        assert!(Pattern::new(&"*".repeat(4000)).unwrap().fits("a/b"));
        let deep = |depth| Pattern::new(&format!("{}a{}", "{".repeat(depth), "}".repeat(depth))).unwrap();
        assert!(deep(20).fits("a"));
        assert!(!deep(1999).fits("a") && deep(1999).fits(deep(1999).as_str()));
        assert!(deep(1999).not_a_glob().len() < 300);
        let open = Pattern::new("tf.gather/[").unwrap();
        assert!(open.not_a_glob().contains("unclosed character class"), "{}", open.not_a_glob());
        assert_eq!(Pattern::new("tf.gather/*").unwrap().not_a_glob(), "");
    }

    /// An id with sizes, which is no glob, since `t-b` would be a range; one with dtypes, which as a glob is the name of
    /// another case; and a family's name, which stands for its cases.
    #[test]
    fn every_id_selects_what_it_names_and_nothing_else() {
        let spec = crate::embedded();
        let names = Names::new(&spec.cases);
        for (number, case) in spec.cases.iter().enumerate() {
            let pattern = Pattern::new(&case.id).unwrap();
            assert_eq!(names.matching(&pattern), [number], "{}", case.id);
        }
        // A file has at most so many entries.
        for cases in spec.cases.chunks(20_000) {
            let mut text = "schema: 2\ndeviations:\n".to_owned();
            for case in cases {
                text += &format!("- {{case: {}, verdict: crash, reason: r}}\n", words::quoted(&case.id));
            }
            crate::deviations::Deviations::parse("all.yaml", &text, spec, &spec.cases).unwrap();
        }
        let family = Pattern::new("tf.gather_nd/shared/many-from-each-long-row-of-a-batch").unwrap();
        let found: Vec<&str> = names.matching(&family).iter().map(|at| spec.cases[*at].id.as_str()).collect();
        assert!(found.len() > 1, "{found:?}");
        assert!(found.iter().all(|id| id.starts_with(&format!("{}[n=", family.as_str()))), "{found:?}");
    }

    #[test]
    fn a_name_with_brackets_is_a_glob_only_where_no_case_has_that_name() {
        let named =
            |id: &str| Case { id: id.to_owned(), written: id.to_owned(), family: None, ..some_case() };
        let cases = [named("o/t/a[f32,i64]"), named("o/t/a3"), named("o/t/a[n=2,element-bytes=8]")];
        let selected = |text: &str| {
            let mut selection = Selection::new(&[text.to_owned()], &[], None).unwrap();
            selection.settle(&cases.iter()).unwrap();
            cases.iter().map(|case| selection.wants(case)).collect::<Vec<_>>()
        };
        assert_eq!(selected("o/t/a[f32,i64]"), [true, false, false]);
        assert_eq!(selected("o/t/a[n=2,element-bytes=8]"), [false, false, true]);
        assert_eq!(selected("o/t/a[23]"), [false, true, false]);
        assert_eq!(selected("o/t/a[[]*"), [true, false, true]);
        let mut none = Selection::new(&["o/t/a[n=3,element-bytes=8]".to_owned()], &[], None).unwrap();
        assert_eq!(
            none.settle(&cases.iter()).unwrap_err().not_a_glob(),
            " (and cannot be read as a glob: invalid range; 't' > 'b')"
        );
    }

    fn some_case() -> Case {
        crate::embedded().cases[0].clone()
    }
}
