//! Turns the entries of case files into [`Case`]s: resolves names, checks clauses and attributes, finds the axes.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use crate::case::{Case, OperandNames};
use crate::clause::LeftOut;
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::Signature;
use crate::specification::Specification;
use crate::yaml::{Spanned, Text};
use crate::{Basis, Shape};

use super::case_reader::{CaseReader, NamingScheme};
use super::families::ClauseMap;
use super::grid::points;
use super::names::one_of;
use super::raw::{CaseEntry, CaseFile, FamilyFile};
use super::reader::{FileCache, TensorReader, is_large};
use super::runs::Which;
use super::sizes::GridPoint;
use super::template::{Axes, Source, Template};
use super::version::check_schema;
use super::wanted::Wanted;

/// The version of the case-file format.
const SCHEMA: u32 = 2;

/// The most runs of a file.
const MAX_RUNS: usize = 20_000;

/// The longest name of a case, in characters, because names become file names and report columns.
const MAX_NAME: usize = 100;

/// After this many errors, the rest of a file is skipped.
const MAX_FAULTS: usize = 50;

/// How to read a case file.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The specification so far: operators, clauses and errata, but not necessarily cases.
    pub(super) spec: &'a Specification,
    /// The operators whose family cases are read.
    pub(super) wanted: &'a Wanted<'a>,
    /// Whether to make every run once, so that a fault in any of them is an error now. A test does so for the
    /// embedded files.
    pub(super) checks: bool,
}

/// The cases of a file.
#[derive(Default)]
pub(super) struct Instances {
    pub(super) cases: Vec<Arc<Case>>,
    pub(super) left_out: Vec<LeftOut>,
    /// How many runs the cases have.
    runs: usize,
}

/// Reads the cases of an operator's file; `folder` is what its folder is named after, if that is under `operators/`. Adds
/// problems to `wrong` and continues after them.
pub(super) fn read_cases(
    text: Text<'_>,
    folder: Option<&str>,
    context: Context<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Instances {
    let mut instances = Instances::default();
    let read = text.parse().and_then(|file: CaseFile| {
        check_schema(text, &file.schema, SCHEMA)?;
        let page = operator_page(text, &file.operator, folder, context.spec)?;
        Ok((file, page))
    });
    let (file, page) = match read {
        Ok(read) => read,
        Err(diagnostic) => {
            wrong.push(diagnostic);
            return instances;
        }
    };
    let taker = Taker::new(page, NamingScheme::Page, folder.is_some(), context.spec);
    instances.add_all(text, file.cases, None, &[taker], context, wrong);
    instances
}

/// Reads the cases of a family's file and instantiates each for the operators that take it. Adds problems to `wrong` and
/// continues after them.
pub(super) fn read_family(
    text: Text<'_>,
    folder: &str,
    context: Context<'_>,
    wrong: &mut Vec<Diagnostic>,
) -> Instances {
    let mut instances = Instances::default();
    let read = text.parse().and_then(|file: FamilyFile| {
        check_schema(text, &file.schema, SCHEMA)?;
        if file.form.value != folder {
            let message = format!("the form is {}, but the folder is `{folder}`", Quoted(&file.form.value));
            return Err(text.wrong(file.form.defined, message).help("the two must be equal"));
        }
        Ok(file)
    });
    let file = match read {
        Ok(file) => file,
        Err(diagnostic) => {
            wrong.push(diagnostic);
            return instances;
        }
    };
    let takers = context.spec.with_form(folder).filter(|page| context.wanted.has(page.operator.as_str()));
    let takers: Vec<Taker> =
        takers.map(|page| Taker::new(page, NamingScheme::Family, true, context.spec)).collect();
    instances.add_all(text, file.cases, Some(folder), &takers, context, wrong);
    instances
}

/// An operator that takes the cases of a file.
struct Taker {
    signature: Arc<Signature>,
    operands: OperandNames,
    names: NamingScheme,
    map: Arc<ClauseMap>,
    in_spec: bool,
}

impl Taker {
    fn new(page: &Signature, names: NamingScheme, in_spec: bool, spec: &Specification) -> Self {
        Self {
            signature: Arc::new(page.clone()),
            operands: OperandNames::of(page),
            names,
            map: spec.of_families.map(page.operator.as_str()),
            in_spec,
        }
    }

    fn reader<'a>(&'a self, text: Text<'a>, cache: &'a FileCache) -> CaseReader<'a> {
        CaseReader {
            reader: TensorReader::new(text, cache),
            page: &self.signature,
            names: self.names,
            map: &self.map,
        }
    }
}

impl Instances {
    /// Adds the cases of all entries.
    fn add_all(
        &mut self,
        text: Text<'_>,
        entries: Spanned<Vec<CaseEntry>>,
        family: Option<&str>,
        takers: &[Taker],
        context: Context<'_>,
        wrong: &mut Vec<Diagnostic>,
    ) {
        if entries.value.is_empty() {
            wrong.push(text.wrong(entries.defined, "a case file has at least one case"));
        }
        let file = text.file.to_owned();
        let source = Arc::new(Source { file, text: text.text.to_owned(), entries: entries.value });
        let (cache, mut names) = (FileCache::default(), HashSet::new());
        for (at, entry) in source.entries.iter().enumerate() {
            let checked = unique(text, &entry.name, &mut names).and_then(|()| {
                family.map_or(Ok(()), |family| context.spec.check_family(text, family, entry))
            });
            let read = checked.and_then(|()| self.add(&source, at, &cache, family, takers, context));
            // An alias repeats the problem of its anchor.
            wrong.extend(read.err().filter(|diagnostic| wrong.last() != Some(diagnostic)));
            if let Some(stop) = too_much(wrong.len(), self.runs) {
                wrong.push(text.wrong(entry.name.defined, stop));
                break;
            }
        }
    }

    /// Adds a case for every operator that takes an entry. At least one of all must take that of a family.
    fn add(
        &mut self,
        source: &Arc<Source>,
        at: usize,
        cache: &FileCache,
        family: Option<&str>,
        takers: &[Taker],
        context: Context<'_>,
    ) -> Result<(), Diagnostic> {
        let (text, entry) = (source.text(), &source.entries[at]);
        let topic = stem(text);
        let before = self.cases.len();
        for taker in takers {
            let reader = taker.reader(text, cache);
            let family = family.map(|family| format!("{family}/{topic}/{}", entry.name.value));
            let mut leave_out = |place: String, why: String| {
                if let Some(family) = &family {
                    let (operator, case) = (taker.signature.operator.clone(), format!("{family}{place}"));
                    self.left_out.push(LeftOut { operator, case, why });
                }
            };
            if family.is_some() {
                if let Some(why) = reader.left_out(entry) {
                    leave_out(String::new(), why);
                    continue;
                }
                for mode in reader.silent_modes(entry) {
                    let why = "nothing is expected of what this mode chooses";
                    leave_out(format!("[{mode}]"), why.to_owned());
                }
            }
            let mut case = reader.case(taker, (source, at), family.clone(), context.spec)?;
            if case.axes.combinations() == 0 {
                leave_out(String::new(), "its dtypes are not listed".to_owned());
                continue;
            }
            if family.is_some() && taker.signature.restricts_shapes() {
                for (place, why) in reader.keep_allowed_sizes(&mut case.axes, entry)? {
                    leave_out(place, why.to_owned());
                }
                if case.axes.combinations() == 0 {
                    continue;
                }
            }
            self.runs = self.runs.saturating_add(case.axes.combinations());
            let case = Arc::new(case);
            if context.checks && self.runs <= MAX_RUNS {
                case.make_runs(cache, Which::All)?;
            }
            self.cases.push(case);
        }
        let is_taken = self.cases.len() > before || !context.wanted.is_whole();
        match takers.first() {
            Some(taker) if family.is_some() && !is_taken => Err(taker
                .reader(text, cache)
                .wrong(entry.name.defined, "no operator takes this case of the family")
                .help("map its clauses in the operator.yaml of some operator that has its attributes and dtypes")),
            _ => Ok(()),
        }
    }
}

impl Specification {
    /// Checks that a family case uses only what is allowed in a family.
    fn check_family(&self, text: Text<'_>, family: &str, entry: &CaseEntry) -> Result<(), Diagnostic> {
        if let Some(documented) = &entry.documented {
            return Err(text
                .wrong(documented.defined, "a case of a family transcribes no example of a page")
                .help("move it to the folder of the operator whose page prints it"));
        }
        let known = || self.of_families.get(family).into_iter().flat_map(|family| &family.clauses);
        match entry.clauses.value.iter().find(|id| !known().any(|clause| clause.id == id.value)) {
            None => Ok(()),
            Some(id) => {
                let message = format!("the family `{family}` has no clause {}", Quoted(&id.value));
                let known: Vec<&str> = known().map(|clause| clause.id.as_str()).collect();
                Err(text.wrong(id.defined, message).help(one_of(&id.value, &known)))
            }
        }
    }
}

/// Why to skip the rest of a file, given this many errors and runs.
fn too_much(faults: usize, runs: usize) -> Option<String> {
    if faults >= MAX_FAULTS {
        return Some(format!("{MAX_FAULTS} faults so far: the rest of the file was not read"));
    }
    (runs > MAX_RUNS)
        .then(|| format!("the file has more than {MAX_RUNS} runs: each choice of `for-each` is one"))
}

/// The topic of a file: its name without the extension.
fn stem(text: Text<'_>) -> String {
    let stem = Path::new(text.file).file_stem().and_then(|stem| stem.to_str());
    stem.unwrap_or_default().to_owned()
}

fn operator_page<'a>(
    text: Text<'_>,
    operator: &Spanned<String>,
    folder: Option<&str>,
    spec: &'a Specification,
) -> Result<&'a Signature, Diagnostic> {
    if let Some(folder) = folder
        && folder != operator.value
    {
        let message = format!("the operator is {}, but the folder is `{folder}`", Quoted(&operator.value));
        return Err(text.wrong(operator.defined, message).help("the two must be equal"));
    }
    spec.operator(&operator.value).ok_or_else(|| {
        let known: Vec<&str> = spec.operators.iter().map(|page| page.operator.as_str()).collect();
        text.wrong(operator.defined, format!("unknown operator {}", Quoted(&operator.value)))
            .help(one_of(&operator.value, &known))
    })
}

impl<'a> CaseReader<'a> {
    /// The case of an entry, without its runs.
    fn case(
        &self,
        taker: &Taker,
        (source, at): (&'a Arc<Source>, usize),
        family: Option<String>,
        spec: &Specification,
    ) -> Result<Case, Diagnostic> {
        let entry = &source.entries[at];
        let mut clauses = self.clauses(entry, spec)?;
        self.check_sources(entry, spec, taker.in_spec)?;
        let (params, indices) = self.operands(entry)?;
        let dtypes = self.dtypes_of_operands(entry, params, indices)?;
        let sizes = points(&self.reader, entry.for_each.as_ref())?;
        let (places, modes) = self.modes(entry, &sizes[0])?;
        for id in modes.into_iter().filter_map(|mode| self.clause_in(mode, entry)) {
            if !clauses.iter().any(|own| own == id) {
                clauses.push(id.to_owned());
            }
        }
        Ok(Case {
            id: format!("{}/{}/{}", self.page.operator, stem(self.reader.text), entry.name.value),
            family,
            documented: entry.documented.as_ref().map(|id| id.value.clone()),
            basis: Basis::of(clauses.iter().filter_map(|id| spec.clause(id))),
            clauses: clauses.into(),
            why: entry.why.clone(),
            history: entry.history.0.iter().map(|evidence| evidence.value.clone()).collect(),
            provenance: entry.provenance.as_ref().map(|provenance| provenance.value.clone()),
            large: is_large(self.reader.text.file),
            names: taker.operands.clone(),
            signature: Arc::clone(&taker.signature),
            axes: Axes { dtypes, sizes, modes: places },
            template: Some(Template {
                source: Arc::clone(source),
                at,
                names: taker.names,
                map: Arc::clone(&taker.map),
            }),
        })
    }

    /// Leaves out the sizes with which the operator does not have a family case, and says which runs that are, and why.
    fn keep_allowed_sizes(
        &self,
        axes: &mut Axes,
        entry: &'a CaseEntry,
    ) -> Result<Vec<(String, &'static str)>, Diagnostic> {
        let (params, indices) = self.operands(entry)?;
        let why = |point: &GridPoint| {
            let reader = self.reader.with_sizes(&point.sizes);
            let shapes = [reader.shape_of(&params.value)?, reader.shape_of(&indices.value)?];
            Ok(self.why_not_its_shapes(&shapes))
        };
        let mut left_out = Vec::new();
        let mut allowed = Vec::new();
        for point in axes.sizes.iter() {
            match why(point)? {
                None => allowed.push(point.clone()),
                Some(why) => {
                    left_out.extend(axes.suffixes(self.page, entry, point).map(|place| (place, why)));
                }
            }
        }
        // One line says it where no run is left.
        if allowed.is_empty() {
            left_out.truncate(1);
            left_out.iter_mut().for_each(|(place, _)| place.clear());
        }
        if allowed.len() < axes.sizes.len() {
            axes.sizes = allowed.into();
        }
        Ok(left_out)
    }

    /// Why the operator does not have a family case with params and indices of these shapes.
    fn why_not_its_shapes(&self, [params, indices]: &[Shape; 2]) -> Option<&'static str> {
        if self.page.rejects_empty_dims(params, indices) {
            return Some("a dim is 0");
        }
        let most = self.page.most_elements.unwrap_or(usize::MAX);
        let beyond = [params, indices].iter().any(|shape| shape.element_count() > most);
        beyond.then_some("more elements than the operator allows")
    }

    pub(super) fn parse<T: FromStr<Err: ToString>>(&self, name: &Spanned<String>) -> Result<T, Diagnostic> {
        name.value.parse().map_err(|error: T::Err| self.wrong(name.defined, error.to_string()))
    }

    pub(super) fn wrong(&self, at: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        self.reader.wrong(at, message)
    }
}

/// Checks that a name is well-formed and not used before in its file.
fn unique<'a>(
    text: Text<'_>,
    name: &'a Spanned<String>,
    names: &mut HashSet<&'a str>,
) -> Result<(), Diagnostic> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.value.is_empty() || !name.value.bytes().all(plain) {
        return Err(text
            .wrong(name.defined, format!("{} is no case name", Quoted(&name.value)))
            .help("lower-case letters, digits and hyphens are allowed, such as `rows-of-a-matrix`"));
    }
    if name.value.len() > MAX_NAME {
        let message = format!("the name has {} characters; at most {MAX_NAME} are allowed", name.value.len());
        return Err(text.wrong(name.defined, message).help("`why` has room for a sentence"));
    }
    if !names.insert(&name.value) {
        return Err(text
            .wrong(name.defined, format!("two cases of this file are named {}", Quoted(&name.value)))
            .help("ids are stable and unique: choose a name that says what differs"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::load::Maker;
    use crate::{ErrorCode, Run};

    use super::*;

    /// The clauses of a run, whether it accepts, and the codes that it rejects with.
    fn tested(run: &Run) -> (Arc<[String]>, bool, Vec<ErrorCode>) {
        let rejected = ErrorCode::ALL.into_iter().filter(|code| run.expect.rejects(*code));
        (Arc::clone(&run.clauses), run.expect.accepts(), rejected.collect())
    }

    /// The embedded files are not checked when they are read.
    #[test]
    fn every_embedded_case_makes_the_runs_that_it_names_each_for_some_of_its_clauses() {
        let spec = crate::load::embedded();
        let mut runs = spec.runs().into_iter().peekable();
        for case in &spec.cases {
            let mut ids = Vec::new();
            let mut all = BTreeSet::new();
            while let Some(run) = runs.next_if(|run| Arc::ptr_eq(&run.case, case)) {
                assert!(!run.clauses.is_empty(), "{}", run.id);
                assert!(run.clauses.iter().all(|id| case.clauses.contains(id)), "{}", run.id);
                all.insert(tested(&run));
                ids.push(run.id);
            }
            assert_eq!(ids, case.run_ids());
            assert_eq!(ids.len(), case.axes.combinations(), "{}", case.id);
            let has = |id: &String| all.iter().any(|(clauses, ..)| clauses.contains(id));
            assert!(case.clauses.iter().all(has), "{}: no run has some of {:?}", case.id, case.clauses);
            let of_each_mode = Maker::default().of_each_mode(case);
            assert_eq!(of_each_mode.iter().map(tested).collect::<BTreeSet<_>>(), all, "{}", case.id);
        }
        assert!(runs.next().is_none());
    }

    #[test]
    fn a_case_has_the_weakest_basis_of_its_clauses() {
        let spec = crate::load::embedded();
        let mut mixed = 0;
        for case in &spec.cases {
            let has = |basis| case.clauses.iter().any(|id| spec.clause(id).unwrap().basis == basis);
            let weakest = match (has(Basis::Ruling), has(Basis::Derived)) {
                (true, _) => Basis::Ruling,
                (false, true) => Basis::Derived,
                (false, false) => Basis::Documented,
            };
            assert_eq!(case.basis, weakest, "{}", case.id);
            mixed += usize::from(has(Basis::Documented) && weakest != Basis::Documented);
        }
        assert!(mixed > 0, "every case rests on clauses of one basis");
    }

    #[test]
    fn a_number_stands_without_quotes() {
        let spec = crate::load::embedded();
        let read = |element: &str| {
            let text = format!(
                "schema: 2\noperator: tf.gather_nd\ncases:\n  - name: a\n    clauses: [tf.gather_nd.shape.slices]\n    \
                 operands:\n      params: {{ dtype: i32, data: [{element}] }}\n      indices: {{ dtype: i32, data: [[0]] }}\n    \
                 expect: unspecified\n"
            );
            spec.read_cases(Path::new("a.yaml"), text.as_bytes())
        };
        assert_eq!(read("1").unwrap().len(), 1);
        for quoted in ["'1'", "\"1\""] {
            let wrong = read(quoted).unwrap_err()[0].to_string();
            assert!(wrong.contains("the text `1` is no i32: write it without quotes"), "{wrong}");
        }
    }
}
