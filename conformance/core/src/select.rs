//! Selects cases by id or glob, operator, clause, basis and suite.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock, OnceLock};

use gather_spec::load::Maker;
use gather_spec::{Basis, Call, Case, Run, Specification, Variant};
use globset::{Glob, GlobSet};
use serde::Deserialize;

use crate::plan::in_names_of;
use crate::words;

/// Which cases to select. Absent criteria do not restrict.
#[derive(Clone, Debug, Default)]
pub struct CaseSelection {
    patterns: Vec<Pattern>,
    operators: Vec<String>,
    basis: Option<Basis>,
    suite: Option<Suite>,
    clauses: Vec<Pattern>,
}

/// A part of the suite that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// At most 60 runs of each operator, chosen by the mutants that they catch.
    Smoke,
    /// Outputs above 8 and 64 MiB, and params beyond 2^32 elements and bytes; these cases are in no other suite.
    Large,
}

/// The smoke suite: a list of ids, which the test `smoke` chooses and measures.
const SMOKE: &str = include_str!("../suites/smoke.txt");

impl Suite {
    /// Whether a run of a case belongs to the suite.
    fn has(self, case: &Case) -> bool {
        match self {
            Self::Smoke => SMOKE_CASES.contains(case.id.as_str()),
            Self::Large => case.large,
        }
    }

    /// Whether a run belongs to the suite.
    fn has_run(self, case: &Case, id: &str) -> bool {
        match self {
            Self::Smoke => SMOKE_IDS.contains(id),
            Self::Large => case.large,
        }
    }
}

static SMOKE_IDS: LazyLock<HashSet<&str>> = LazyLock::new(|| smoke_ids().collect());
static SMOKE_CASES: LazyLock<HashSet<&str>> = LazyLock::new(|| smoke_ids().map(|id| split(id).0).collect());

/// The ids of the smoke suite.
pub fn smoke_ids() -> impl Iterator<Item = &'static str> {
    SMOKE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The most characters of a pattern: more than any id needs, and few enough that no glob is slow.
const LONGEST: usize = 4000;

/// A name of cases, or a glob of names, optionally with a place on their axes: `CASE[f32,i64,n=33,clip]`,
/// `GLOB[f32]`. The part before the first bracket is looked up as a name first. A text without a place is a
/// glob of names and of ids of runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern {
    /// As it was written.
    written: String,
    /// What its brackets say of a variant; its axes may be roles.
    variant: Variant,
    /// The text without that.
    text: String,
    /// What the text names. A name takes precedence over a glob.
    named: PatternTarget,
    /// The glob before the place, where there are both.
    before: Option<Box<Self>>,
    /// Compiled when it is first needed. An error says why the text cannot be read as a glob; it equals itself nevertheless.
    glob: OnceLock<Result<GlobSet, String>>,
}

/// What a pattern is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternTarget {
    /// Nothing that is known.
    Nothing,
    /// A case with one run.
    Lone,
    /// A case with several runs.
    Case,
    /// A run, and no other.
    Run,
}

/// Splits a text at its first bracket: into a name and, with the brackets, a place on the axes of a case.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find('[').unwrap_or(text.len()))
}

/// The words of a place: `f32` and `n=33` of `[f32,n=33]`.
fn words_of(place: &str) -> impl Iterator<Item = &str> {
    let inside = place.strip_prefix('[').and_then(|place| place.strip_suffix(']')).unwrap_or(place);
    inside.split(',').map(str::trim).filter(|word| !word.is_empty())
}

/// A pattern or a filter without the variant that its brackets name, and that. Brackets that name no mode mean the default mode,
/// also if they name nothing but a variant.
pub(crate) fn without_variant(text: &str) -> (String, Variant) {
    let (mut text, variant) = Variant::split_id(text);
    if !variant.is_usual() && !text.contains('[') {
        text.push_str("[]");
    }
    (text, variant)
}

/// Whether a run of a case is at a place, which may name any of its dtypes and sizes, and its mode; without a mode, the run is
/// in the default mode.
pub(crate) fn is_at(case: &Case, run: &str, place: &str) -> bool {
    let modes = case.signature.modes();
    let is_mode = |word: &&str| modes.iter().any(|mode| mode.mode == *word);
    let is_default = |word: &str| modes.first().is_some_and(|mode| mode.mode == word);
    let own = || words_of(split(run).1);
    let in_mode = match own().find(is_mode) {
        Some(mode) => words_of(place).any(|word| word == mode),
        None => words_of(place).filter(is_mode).all(is_default),
    };
    // Params and indices may have one dtype, so a word may be there twice.
    let mut left: Vec<&str> = own().collect();
    let mut take =
        |word: &str| left.iter().position(|one| *one == word).map(|at| left.swap_remove(at)).is_some();
    in_mode && words_of(place).filter(|word| !is_mode(word)).all(&mut take)
}

impl CaseSelection {
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

    /// Whether some run of a case is selected.
    #[must_use]
    pub fn wants(&self, case: &Case) -> bool {
        let by_operator =
            self.operators.is_empty() || self.operators.iter().any(|name| name == case.operator().as_str());
        let by_basis = self.basis.is_none_or(|weakest| case.basis <= weakest);
        let by_suite = self.suite.is_none_or(|suite| suite.has(case));
        let tests = |pattern: &Pattern| case.clauses.iter().any(|clause| pattern.fits(clause));
        let by_clause = self.clauses.is_empty() || self.clauses.iter().any(tests);
        let by_pattern =
            || self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case));
        by_operator && by_basis && by_suite && by_clause && by_pattern()
    }

    /// Whether a run of a selected case is selected.
    #[must_use]
    pub fn wants_run(&self, run: &Run) -> bool {
        self.wants_id(&run.case, &run.id)
    }

    /// Whether the run of a selected case that has this id is selected, in any variant.
    fn wants_id(&self, case: &Case, id: &str) -> bool {
        let by_suite = self.suite.is_none_or(|suite| suite.has_run(case, id));
        let names = |pattern: &Pattern| pattern.matches_usual(case, id);
        by_suite && (self.patterns.is_empty() || self.patterns.iter().any(names))
    }

    /// The variants that patterns choose of a selected run; the usual one stands for what is asked if none is chosen.
    fn variants_of(&self, run: &Run) -> Vec<Variant> {
        let naming = self.patterns.iter().filter(|pattern| pattern.matches_usual(&run.case, &run.id));
        let mut chosen: Vec<Variant> =
            naming.map(|pattern| in_names_of(&pattern.variant, &run.case).into_owned()).collect();
        chosen.sort();
        chosen.dedup();
        if chosen.is_empty() { vec![Variant::default()] } else { chosen }
    }

    /// How many runs of a selected case are selected.
    #[must_use]
    pub fn count_runs(&self, case: &Case) -> usize {
        if self.suite.is_none() && self.patterns.is_empty() {
            return case.axes.combinations();
        }
        case.run_ids().iter().filter(|id| self.wants_id(case, id)).count()
    }
}

impl CaseSelection {
    /// Reads a pattern that names one of these cases as that name only.
    ///
    /// # Errors
    /// The first pattern that matches none of them.
    pub fn settle(&mut self, cases: &[Arc<Case>]) -> Result<(), &Pattern> {
        for pattern in &mut self.patterns {
            pattern.settle(cases);
        }
        let is_idle = |pattern: &&Pattern| !cases.iter().any(|case| pattern.matches(case));
        self.patterns.iter().find(is_idle).map_or(Ok(()), Err)
    }
}

/// The cases that are asked, and which of their runs.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    /// The cases, in order.
    pub cases: &'a [&'a Arc<Case>],
    /// What selects among their runs; all if absent.
    pub selection: Option<&'a CaseSelection>,
}

impl Chosen<'_> {
    /// Makes the runs of a case that are asked.
    pub fn runs(&self, maker: &mut Maker, case: &Arc<Case>) -> Vec<Run> {
        let mut runs = maker.runs(case);
        let Some(selection) = self.selection else { return runs };
        runs.retain(|run| selection.wants_run(run));
        if selection.patterns.iter().all(|pattern| pattern.variant.is_usual()) {
            return runs;
        }
        let in_variants = |run: Run| {
            let variants = selection.variants_of(&run).into_iter();
            variants.map(move |variant| Run { call: Call { variant, ..run.call.clone() }, ..run.clone() })
        };
        runs.into_iter().flat_map(in_variants).collect()
    }
}

/// The names of a case: its id, and that of the family case that it is an instance of.
fn names(case: &Case) -> impl Iterator<Item = &str> {
    std::iter::once(&case.id).chain(&case.family).map(String::as_str)
}

impl Pattern {
    /// A pattern.
    ///
    /// # Errors
    /// If it is too long. A text that cannot be read as a glob is no error yet, since it may be a name.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.chars().nth(LONGEST).is_some() {
            return Err(format!("the pattern `{}` has more than {LONGEST} characters", words::name(text)));
        }
        let (written, (text, variant)) = (text.to_owned(), without_variant(text));
        let (name, place) = split(&text);
        let is_place = place.ends_with(']') && place.rfind(['[', '*']) == Some(0);
        let has_both = is_place && name.contains(['*', '?', '{', '\\']);
        let before = if has_both { Some(Box::new(Self::new(name)?)) } else { None };
        Ok(Self { written, variant, text, named: PatternTarget::Nothing, before, glob: OnceLock::new() })
    }

    /// Reads a pattern that names one of these cases as that name, even if it could also be a glob.
    pub fn settle(&mut self, cases: &[impl Borrow<Case>]) {
        let (name, place) = split(&self.text);
        let mut named = cases.iter().map(Borrow::borrow).filter(|case| names(case).any(|one| one == name));
        let is_lone = |case: &Case| case.axes.combinations() == 1;
        self.named = match named.clone().next() {
            None => PatternTarget::Nothing,
            Some(_) if named.clone().all(is_lone) => PatternTarget::Lone,
            Some(_) if !place.is_empty() && named.any(|case| case.run_ids().contains(&self.text)) => {
                PatternTarget::Run
            }
            Some(_) => PatternTarget::Case,
        };
    }

    /// Whether the pattern is the id of a case, or of some of its runs.
    pub fn names(&self, case: &Case) -> bool {
        split(&self.text).0 == case.id
    }

    /// Whether the pattern matches some run of a case.
    pub(crate) fn matches(&self, case: &Case) -> bool {
        let (name, place) = split(&self.text);
        if names(case).any(|one| one == name) {
            return place.is_empty() || case.run_ids().iter().any(|id| is_at(case, id, place));
        }
        if let Some(before) = &self.before {
            let fits = names(case).any(|name| before.fits(name));
            return fits && case.run_ids().iter().any(|id| is_at(case, id, place));
        }
        names(case).any(|name| self.fits(name))
            || self.may_match_run(case) && case.run_ids().iter().any(|id| self.fits(id))
    }

    /// Whether the pattern may match the id of a run of a case, by what it begins with.
    fn may_match_run(&self, case: &Case) -> bool {
        let plain = self.text.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        let begins = case.id.starts_with(plain) || plain.starts_with(case.id.as_str());
        begins && self.glob().is_some()
    }

    /// Whether the pattern matches the run of a case that has this id, in the variant that the id names.
    pub fn matches_run(&self, case: &Case, id: &str) -> bool {
        let (id, variant) = Variant::split_id(id);
        variant.includes(&in_names_of(&self.variant, case)) && self.matches_usual(case, &id)
    }

    /// Whether the pattern matches the run of a case that has this id, in any variant.
    fn matches_usual(&self, case: &Case, id: &str) -> bool {
        let (name, place) = split(&self.text);
        if names(case).any(|one| one == name) {
            return place.is_empty()
                || id == self.text
                || self.named != PatternTarget::Run && is_at(case, id, place);
        }
        if let Some(before) = &self.before {
            return names(case).any(|name| before.fits(name)) && is_at(case, id, place);
        }
        names(case).any(|name| self.fits(name)) || self.fits(id)
    }

    /// Whether a text equals or matches the pattern.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.text == text || self.glob().is_some_and(|glob| glob.is_match(text))
    }

    /// The texts that equal the pattern or, if none does, those that match it.
    pub fn among<'a>(&self, texts: impl Iterator<Item = &'a str> + Clone) -> Vec<&'a str> {
        match texts.clone().find(|text| *text == self.text) {
            Some(same) => vec![same],
            None => texts.filter(|text| self.fits(text)).collect(),
        }
    }

    /// The glob, if the text is more than a name.
    fn glob(&self) -> Option<&GlobSet> {
        let is_glob = self.named == PatternTarget::Nothing && self.text.contains(['*', '?', '[', '{', '\\']);
        if is_glob { self.compiled().as_ref().ok() } else { None }
    }

    fn compiled(&self) -> &Result<GlobSet, String> {
        // A set returns an error for a glob that is too large to compile. A single glob would panic.
        let compile = || Glob::new(&self.text).and_then(|glob| GlobSet::new([glob]));
        self.glob.get_or_init(|| compile().map_err(|error| words::name(&error.kind().to_string())))
    }

    /// What says which cases or runs there are, if the pattern matches none.
    pub fn help(&self) -> String {
        match self.named {
            PatternTarget::Nothing => "`gatherspec list cases` prints every id".to_owned(),
            PatternTarget::Lone => "leave the brackets out".to_owned(),
            PatternTarget::Case | PatternTarget::Run => {
                format!("`gatherspec show '{}'` prints its runs", split(&self.text).0)
            }
        }
    }

    /// Why the pattern matches nothing as it stands, in brackets; empty if it is a glob.
    pub fn not_a_glob(&self) -> String {
        match (self.named, self.compiled()) {
            (PatternTarget::Nothing, Ok(_)) => String::new(),
            (PatternTarget::Nothing, Err(why)) => format!(" (and cannot be read as a glob: {why})"),
            (PatternTarget::Lone, _) => {
                " (it names a case with a single run, whose id has no brackets)".to_owned()
            }
            (PatternTarget::Case | PatternTarget::Run, _) => {
                " (it names a case, but none of its runs)".to_owned()
            }
        }
    }

    /// What is wrong with a pattern of versions, which are not listed anywhere, so that any name may be one.
    pub(crate) fn wrong_version(&self) -> Option<String> {
        let why = self.compiled().as_ref().err()?;
        Some(format!("has `versions` that cannot be read as a glob: {why}"))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.written
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

    /// An id with sizes, which is no glob, since `t-b` would be a range; and one with dtypes, which as a glob is the name of
    /// another case.
    #[test]
    fn every_id_of_a_run_selects_that_run_of_that_case() {
        let spec = crate::embedded();
        for case in spec.cases.iter().filter(|case| case.axes.combinations() > 1).step_by(7) {
            let ids = case.run_ids();
            for id in &ids {
                let mut pattern = Pattern::new(id).unwrap();
                pattern.settle(std::slice::from_ref(case));
                let found: Vec<&String> = ids.iter().filter(|one| pattern.matches_run(case, one)).collect();
                let is_whole = *id == case.id;
                assert!(if is_whole { found.len() == ids.len() } else { found == [id] }, "{id}: {found:?}");
            }
        }
    }

    #[test]
    fn a_variant_is_chosen_of_the_runs_that_the_other_words_choose() {
        let spec = crate::embedded();
        let case = spec.cases.iter().find(|case| case.id == "numpy.take/bad-index/minus-one").unwrap();
        let chosen = |text: &str| {
            let cases = [case];
            let mut selection = CaseSelection::new(&[text.to_owned()], &[], None).unwrap();
            selection.settle(&[Arc::clone(case)]).unwrap();
            let runs =
                Chosen { cases: &cases, selection: Some(&selection) }.runs(&mut Maker::default(), case);
            runs.iter().map(|run| run.call.variant.in_id(&run.id)).collect::<Vec<_>>()
        };
        let id = |place: &str| format!("numpy.take/bad-index/minus-one{place}");
        assert_eq!(chosen(&id("[indices=constant]")), [id("[indices=constant]")]);
        assert_eq!(chosen(&id("[clip,params=offset]")), [id("[clip,a=offset]")]);
        assert_eq!(chosen("numpy.take/*/minus-one[params=offset]"), [id("[a=offset]")]);
        assert_eq!(chosen(&id("[clip]")), [id("[clip]")]);
    }

    #[test]
    fn a_place_names_any_of_the_axes_and_means_the_default_mode_unless_it_names_another() {
        let spec = crate::embedded();
        let case = spec.cases.iter().find(|case| {
            let ids = case.run_ids();
            ids.iter().any(|id| id.ends_with(",clip]")) && case.axes.has_sizes()
        });
        let case = case.unwrap();
        let ids = case.run_ids();
        let at = |place: &str| {
            let pattern = Pattern::new(&format!("{}{place}", case.id)).unwrap();
            ids.iter().filter(|id| pattern.matches_run(case, id)).map(String::as_str).collect::<Vec<_>>()
        };
        let size = words_of(split(&ids[0]).1).next().unwrap();
        let modes = case.signature.modes();
        assert_eq!(at(""), ids);
        let mode_of = |id: &String| {
            let named = |word: &&str| modes.iter().any(|mode| mode.mode == *word);
            words_of(split(id).1).find(named).unwrap_or(&modes[0].mode).to_owned()
        };
        let occurring: std::collections::BTreeSet<String> = ids.iter().map(mode_of).collect();
        assert!(occurring.len() > 1, "{occurring:?}");
        for mode in modes.iter().filter(|mode| occurring.contains(&mode.mode)) {
            let found = at(&format!("[{},{size}]", mode.mode));
            assert!(!found.is_empty() && found.len() < ids.len(), "{mode:?}: {found:?}");
            assert!(found.iter().all(|id| words_of(split(id).1).any(|word| word == size)), "{found:?}");
        }
        assert_eq!(at(&format!("[{size}]")), at(&format!("[{size},{}]", modes[0].mode)));
        assert!(at("[no-such-size=1]").is_empty());
    }

    #[test]
    fn a_place_after_a_glob_chooses_runs_of_every_case_that_it_matches() {
        let spec = crate::embedded();
        let chosen = |text: &str| -> Vec<String> {
            let mut selection = CaseSelection::new(&[text.to_owned()], &[], None).unwrap();
            selection.settle(&spec.cases).unwrap();
            let cases = spec.cases.iter().filter(|case| selection.wants(case));
            let runs = |case: &Arc<Case>| {
                let ids = case.run_ids().into_iter();
                ids.filter(|id| selection.wants_id(case, id)).collect::<Vec<_>>()
            };
            cases.flat_map(runs).collect()
        };
        assert_eq!(chosen("tf.gather/dtypes/num*[i64,u8]"), ["tf.gather/dtypes/numbers[u8,i64]"]);
        let of_size = chosen("tf.gather/sizes/*[n=1]");
        assert!(
            of_size.len() > 1 && of_size.iter().all(|id| words_of(split(id).1).any(|word| word == "n=1"))
        );
        let refused = |text: &str| {
            let mut selection = CaseSelection::new(&[text.to_owned()], &[], None).unwrap();
            selection.settle(&spec.cases).map_err(Pattern::help).unwrap_err()
        };
        assert_eq!(refused("tf.gather_nd/rows/permuted[f32]"), "leave the brackets out");
        let runs = "`gatherspec show 'tf.gather/dtypes/numbers'` prints its runs";
        assert_eq!(refused("tf.gather/dtypes/numbers[f33]"), runs);
        assert_eq!(refused("tf.gather/*[f33]"), "`gatherspec list cases` prints every id");
        let by_default = chosen("numpy.take/bad-index/*[]");
        assert!(by_default.len() > 1 && by_default.iter().all(|id| !id.contains('[')));
    }

    #[test]
    fn a_name_with_brackets_is_a_glob_only_where_no_case_has_that_name() {
        let named =
            |id: &str| Arc::new(Case::new(id.to_owned(), Arc::clone(&crate::embedded().cases[0].signature)));
        let cases = [named("o/t/a"), named("o/t/b3"), named("o/t/c")];
        let selected = |text: &str| {
            let mut selection = CaseSelection::new(&[text.to_owned()], &[], None).unwrap();
            selection.settle(&cases).map_err(Pattern::not_a_glob)?;
            Ok::<_, String>(cases.iter().map(|case| selection.wants(case)).collect::<Vec<_>>())
        };
        let short = ["*]", "]", "*[", "*[]", "*[[]", "[", ""];
        let matching = short.into_iter().filter(|text| Pattern::new(text).unwrap().matches(&cases[0]));
        assert_eq!(matching.collect::<Vec<_>>(), ["*[]"]);
        assert_eq!(selected("o/t/b[23]"), Ok(vec![false, true, false]));
        assert_eq!(selected("o/t/[ac]*"), Ok(vec![true, false, true]));
        assert_eq!(selected("o/t/a[f32]"), Err(" (it names a case, but none of its runs)".to_owned()));
        assert_eq!(
            selected("o/t/x[n=3,element-bytes=8]"),
            Err(" (and cannot be read as a glob: invalid range; 't' > 'b')".to_owned())
        );
    }
}
