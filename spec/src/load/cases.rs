//! Turns the entries of case files into [`Case`]s: resolves names, checks clauses and attributes, expands `for-each`.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use crate::any::OpenDtypes;
use crate::case::{Case, Expectation, OperandNames};
use crate::clause::LeftOut;
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{AttributeRole, ModePolicy, OperandRole, Signature};
use crate::specification::Specification;
use crate::yaml::{Spanned, Text};
use crate::{Attribute, Attributes, Basis, Call, Roles};

use super::case_reader::{CaseReader, Names};
use super::dtypes::choices;
use super::families::ClauseMap;
use super::grid::points;
use super::names::one_of;
use super::operands::OtherOperand;
use super::raw::{CaseEntry, CaseFile, FamilyFile};
use super::reader::{Reader, Shared};
use super::version::check_schema;
use super::wanted::Wanted;

/// The version of the case-file format.
const SCHEMA: u32 = 2;

/// The most cases of a file, after expansion of `for-each`.
const MAX_CASES: usize = 20_000;

/// The longest name of a case, in characters, because names become file names and report columns.
const MAX_NAME: usize = 100;

/// After this many errors, the rest of a file is skipped.
const MAX_FAULTS: usize = 50;

/// The context for reading a case file.
pub(super) struct Context<'a> {
    /// The specification so far: operators, clauses and errata, but not necessarily cases.
    pub(super) spec: &'a Specification,
    /// The operator that the file's folder is named after, if the folder is under `operators/`.
    pub(super) folder: Option<&'a str>,
}

/// Reads the cases of a file. Adds problems to `wrong` and continues after them.
pub(super) fn read_cases(text: Text<'_>, context: &Context<'_>, wrong: &mut Vec<Diagnostic>) -> Vec<Case> {
    let file: CaseFile = match text.parse() {
        Ok(file) => file,
        Err(diagnostic) => {
            wrong.push(diagnostic);
            return Vec::new();
        }
    };
    let head =
        check_schema(text, &file.schema, SCHEMA).and_then(|()| operator_page(text, &file.operator, context));
    let page = match head {
        Ok(page) => page,
        Err(diagnostic) => {
            wrong.push(diagnostic);
            return Vec::new();
        }
    };
    let shared = Shared::default();
    let reader = Reader::new(text, &shared);
    let in_spec = context.folder.is_some();
    let signature = Arc::new(page.clone());
    let cases =
        CaseReader { reader, spec: context.spec, page, signature: &signature, in_spec, names: Names::Page };
    check_count(text, &file.cases, wrong);
    cases.all(&file.cases.value, stem(text), wrong)
}

/// The result of instantiating a family's cases.
#[derive(Default)]
pub(super) struct Instances {
    pub(super) cases: Vec<Case>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Reads the cases of a family's file and instantiates each for the operators that take it. Adds problems to `wrong` and
/// continues after them.
pub(super) fn read_family(
    text: Text<'_>,
    spec: &Specification,
    folder: &str,
    wanted: &Wanted<'_>,
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
    check_count(text, &file.cases, wrong);
    let shared = Shared::default();
    let reader = Reader::new(text, &shared);
    let takers: Vec<(Arc<Signature>, &ClauseMap)> = spec
        .with_form(folder)
        .filter(|page| wanted.has(page.operator.as_str()))
        .filter_map(|page| Some((Arc::new(page.clone()), spec.of_families.map(page.operator.as_str())?)))
        .collect();
    let takers: Vec<CaseReader<'_>> = takers
        .iter()
        .map(|(signature, map)| {
            let names = Names::Family(folder, map);
            CaseReader { reader, spec, page: signature, signature, in_spec: true, names }
        })
        .collect();
    let mut names = HashSet::new();
    for entry in &file.cases.value {
        let checked =
            unique(text, &entry.name, &mut names).and_then(|()| spec.check_family(text, folder, entry));
        let read = checked.and_then(|()| instances.add(entry, folder, stem(text), &takers, wanted));
        wrong.extend(read.err().filter(|diagnostic| wrong.last() != Some(diagnostic)));
        if let Some(stop) = too_much(wrong.len(), instances.cases.len()) {
            wrong.push(text.wrong(entry.name.defined, stop));
            break;
        }
    }
    instances
}

impl Instances {
    /// Instantiates a family case for every operator that takes it. At least one of all must.
    fn add<'a>(
        &mut self,
        entry: &'a CaseEntry,
        family: &str,
        stem: &str,
        takers: &[CaseReader<'a>],
        wanted: &Wanted<'_>,
    ) -> Result<(), Diagnostic> {
        let before = self.cases.len();
        for taker in takers {
            let mut leave_out = |suffix: String, why: String| {
                let case = format!("{family}/{stem}/{}{suffix}", entry.name.value);
                self.left_out.push(LeftOut { operator: taker.page.operator.clone(), case, why });
            };
            if let Some(why) = taker.left_out(entry) {
                leave_out(String::new(), why);
                continue;
            }
            for mode in taker.silent_modes(entry) {
                leave_out(format!("[{mode}]"), "nothing is expected of what this mode chooses".to_owned());
            }
            let cases = taker.case(entry, stem)?;
            if cases.is_empty() {
                leave_out(String::new(), "its dtypes are not listed".to_owned());
            }
            let all = cases.len();
            let mut rejected = Vec::new();
            for case in cases {
                match taker.why_not_its_shapes(&case) {
                    None => self.cases.push(case),
                    Some(why) => rejected.push((case.id[case.written.len()..].to_owned(), why)),
                }
            }
            // One line says it where no instance is left.
            if rejected.len() == all {
                rejected.truncate(1);
                rejected.iter_mut().for_each(|(suffix, _)| suffix.clear());
            }
            rejected.into_iter().for_each(|(suffix, why)| leave_out(suffix, why.to_owned()));
        }
        let is_taken = self.cases.len() > before || !wanted.is_whole();
        match (is_taken, takers.first()) {
            (true, _) | (_, None) => Ok(()),
            (false, Some(reader)) => Err(reader
                .wrong(entry.name.defined, "no operator takes this case of the family")
                .help("map its clauses in the operator.yaml of some operator that has its attributes and dtypes")),
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

/// Why to skip the rest of a file, given this many errors and cases.
fn too_much(faults: usize, cases: usize) -> Option<String> {
    if faults >= MAX_FAULTS {
        return Some(format!("{MAX_FAULTS} faults so far: the rest of the file was not read"));
    }
    (cases > MAX_CASES)
        .then(|| format!("the file has more than {MAX_CASES} cases, each choice of `for-each` counted"))
}

/// The topic of a file: its name without the extension.
fn stem<'t>(text: Text<'t>) -> &'t str {
    Path::new(text.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn check_count(text: Text<'_>, cases: &Spanned<Vec<CaseEntry>>, wrong: &mut Vec<Diagnostic>) {
    if cases.value.is_empty() {
        wrong.push(text.wrong(cases.defined, "a case file has at least one case"));
    }
}

fn operator_page<'a>(
    text: Text<'_>,
    operator: &Spanned<String>,
    context: &Context<'a>,
) -> Result<&'a Signature, Diagnostic> {
    if let Some(folder) = context.folder
        && folder != operator.value
    {
        let message = format!("the operator is {}, but the folder is `{folder}`", Quoted(&operator.value));
        return Err(text.wrong(operator.defined, message).help("the two must be equal"));
    }
    context.spec.operator(&operator.value).ok_or_else(|| {
        let known: Vec<&str> = context.spec.operators.iter().map(|page| page.operator.as_str()).collect();
        text.wrong(operator.defined, format!("unknown operator {}", Quoted(&operator.value)))
            .help(one_of(&operator.value, &known))
    })
}

impl<'a> CaseReader<'a> {
    /// Reads all entries. Adds problems to `wrong`.
    fn all(&self, entries: &'a [CaseEntry], stem: &str, wrong: &mut Vec<Diagnostic>) -> Vec<Case> {
        let mut names = HashSet::new();
        let mut cases = Vec::new();
        for entry in entries {
            let text = self.reader.text;
            match unique(text, &entry.name, &mut names).and_then(|()| self.case(entry, stem)) {
                Ok(expanded) => cases.extend(expanded),
                // An alias repeats the problem of its anchor.
                Err(diagnostic) if wrong.last() == Some(&diagnostic) => {}
                Err(diagnostic) => wrong.push(diagnostic),
            }
            if let Some(stop) = too_much(wrong.len(), cases.len()) {
                wrong.push(self.wrong(entry.name.defined, stop));
                break;
            }
        }
        cases
    }

    /// Why the operator does not have a family case of these shapes.
    fn why_not_its_shapes(&self, case: &Case) -> Option<&'static str> {
        let (params, indices) = (case.params().shape(), case.indices().shape());
        if self.page.rejects_empty_dims(params, indices) {
            return Some("a dim is 0");
        }
        let most = self.page.most_elements.unwrap_or(usize::MAX);
        let beyond = [params, indices].iter().any(|shape| shape.element_count() > most);
        beyond.then_some("more elements than the operator allows")
    }

    /// The cases of an entry: one, or several with `for-each`. None if it is a family's and the operator lists none of its
    /// dtypes.
    fn case(&self, entry: &'a CaseEntry, stem: &str) -> Result<Vec<Case>, Diagnostic> {
        let name = &entry.name.value;
        let clauses: Arc<[String]> = self.clauses(entry)?.into();
        self.check_sources(entry)?;
        let (params, indices) = self.operands(entry)?;
        let dtypes = self.dtypes_of_operands(entry, params, indices)?;
        let family = match self.names {
            Names::Page => None,
            Names::Family(family, _) => Some(format!("{family}/{stem}/{name}")),
        };
        let written = format!("{}/{stem}/{name}", self.page.operator);
        let mut cases = Vec::new();
        for (at, point) in points(&self.reader, entry.for_each.as_ref())?.iter().enumerate() {
            let sized = CaseReader { reader: self.reader.with_sizes(&point.sizes), ..*self };
            let attributes = sized.attributes(entry)?;
            let modes = self.modes(entry, &attributes);
            let asked = modes.into_iter().flat_map(|mode| {
                choices(entry, &dtypes, point, self.unspoken(mode))
                    .into_iter()
                    .map(move |choice| (mode, choice))
            });
            for (mode, choice) in asked {
                let params_entry = &params.value;
                let params = sized.reader.params(&choice.params, params_entry, params.defined)?;
                let indices = sized.reader.indices(&choice.indices, &indices.value, indices.defined)?;
                let sparse = sized.reader.sparse(&choice.params, params_entry)?;
                let OtherOperand { axis, window, tensor: other } = sized.other_operand(entry)?;
                let roles = Roles { axis, window, other, ..Roles::new(params, indices) };
                let attributes = self.with_mode(&attributes, mode);
                let attributes = sized.with_elements(entry, &choice.params, attributes)?;
                let sends_fill = attributes.values().any(|value| matches!(value, Attribute::Element(_)));
                let expecting = CaseReader { reader: Reader { sends_fill, ..sized.reader }, ..sized };
                let Call { operands, .. } = self.page.spell(roles);
                let expect = expecting.expectation(&choice.params, mode, &entry.expect)?;
                let clauses = with_policy(&clauses, mode.is_some(), &expect);
                let call = Call { operator: self.page.operator.clone(), operands, attributes };
                cases.push(Case {
                    id: format!("{written}{}", choice.suffix),
                    written: written.clone(),
                    family: family.clone(),
                    documented: entry.documented.as_ref().map(|id| id.value.clone()),
                    basis: Basis::of(clauses.iter().filter_map(|id| self.spec.clause(id))),
                    clauses,
                    why: entry.why.clone(),
                    history: entry.history.0.iter().map(|evidence| evidence.value.clone()).collect(),
                    provenance: entry.provenance.as_ref().map(|provenance| provenance.value.clone()),
                    open: OpenDtypes { params: choice.params.open(), indices: choice.indices.open() },
                    grid_point: (!point.suffix.is_empty()).then_some(at),
                    large: self.reader.large,
                    sparse: sparse.map(Arc::new),
                    signature: Arc::clone(self.signature),
                    call,
                    names: OperandNames {
                        params: self.page.operand(OperandRole::Params).name.clone(),
                        indices: self.page.operand(OperandRole::Indices).name.clone(),
                    },
                    expect,
                });
            }
        }
        Ok(cases)
    }

    /// The mode in which a family case runs, if it is not the default.
    fn unspoken(&self, mode: Option<&'a ModePolicy>) -> Option<&'a str> {
        let default = self.page.modes().first();
        mode.filter(|mode| self.is_family() && Some(*mode) != default).map(|mode| mode.mode.as_str())
    }

    /// The attributes, including the mode in which a family case runs.
    fn with_mode(&self, attributes: &Attributes, mode: Option<&'a ModePolicy>) -> Attributes {
        let mut attributes = attributes.clone();
        if let (Some(mode), Some(attribute)) = (self.unspoken(mode), self.page.attribute(AttributeRole::Mode))
        {
            attributes.insert(attribute.name.clone(), Attribute::String(mode.to_owned()));
        }
        attributes
    }

    pub(super) fn parse<T: FromStr<Err: ToString>>(&self, name: &Spanned<String>) -> Result<T, Diagnostic> {
        name.value.parse().map_err(|error: T::Err| self.wrong(name.defined, error.to_string()))
    }

    pub(super) fn wrong(&self, at: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        self.reader.wrong(at, message)
    }
}

/// The clauses of a case. One that runs in a mode tests the clause of its policy too, where its outcome depends on that.
fn with_policy(clauses: &Arc<[String]>, in_mode: bool, expect: &Expectation) -> Arc<[String]> {
    let of_policy = expect.arms.iter().filter(|_| in_mode).find_map(|arm| arm.clause.as_deref());
    match of_policy.filter(|id| !clauses.iter().any(|own| own == id)) {
        Some(id) => clauses.iter().cloned().chain([id.to_owned()]).collect(),
        None => clauses.clone(),
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
    use super::*;

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
