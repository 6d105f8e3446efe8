//! From a case file as written to [`Case`]s: names, sources, attributes, and what `for-each` stands for.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use crate::any::{self, OpenDtypes};
use crate::call::Operands;
use crate::case::{Case, OperandNames};
use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::signature::{AttributeType, OperandRole, Signature};
use crate::yaml::{Node, Spanned, Text};
use crate::{Attribute, Attributes, Basis, Call, DType, Roles, Tensor};

use super::data::Reader;
use super::raw::{CaseEntry, CaseFile, ForEach, TensorEntry};
use super::{Specification, check_schema};

/// The version of the form of case files.
const SCHEMA: u32 = 2;

/// The most cases of a file, each choice of `for-each` counted.
const MAX_CASES: usize = 20_000;

/// The longest name of a case, in characters: names are file names and columns of a report.
const MAX_NAME: usize = 100;

/// The dtype of an operand whose dtype does not matter.
const ANY: &str = "any";

/// After so many faults the rest of a file is not looked at.
const MAX_FAULTS: usize = 50;

/// What a case file is read with.
pub(super) struct Context<'a> {
    /// The specification as loaded so far: operators, clauses and errata, not necessarily cases.
    pub(super) spec: &'a Specification,
    /// The operator that the file's folder is named after, if it lies under `operators/`.
    pub(super) folder: Option<&'a str>,
}

/// The cases of one file; what is wrong is added to `wrong`, and the rest goes on.
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
    let reader = Reader::new(text);
    let writer = CaseReader { reader: &reader, spec: context.spec, page, in_spec: context.folder.is_some() };
    let stem =
        Path::new(text.file).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    if file.cases.value.is_empty() {
        wrong.push(text.wrong(file.cases.defined, "a case file has at least one case"));
    }
    writer.all(&file.cases.value, &stem, wrong)
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

pub(super) struct CaseReader<'a> {
    pub(super) reader: &'a Reader<'a>,
    spec: &'a Specification,
    page: &'a Signature,
    in_spec: bool,
}

/// One way to fill in the dtypes that `for-each` leaves open.
struct Choice<'w> {
    params: &'w Written,
    indices: &'w Written,
    suffix: String,
}

/// The dtype of an operand as it is written.
pub(super) enum Written {
    /// A name, in the tensor or in `for-each`.
    Named(DType),
    /// `any`: those of its dtypes that the operator's pages list, at least one.
    Any(Vec<DType>),
}

impl Written {
    /// What a case says of its open dtypes.
    fn open(&self) -> Vec<DType> {
        match self {
            Self::Named(_) => Vec::new(),
            Self::Any(dtypes) => dtypes.clone(),
        }
    }

    /// The dtype that the case is loaded with.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Named(dtype) => *dtype,
            Self::Any(dtypes) => dtypes[0],
        }
    }
}

/// The dtypes that `for-each` lists for params and for indices.
type Listed<'e> = (&'e [Spanned<String>], &'e [Spanned<String>]);

impl<'a> CaseReader<'a> {
    /// Every case that is right; what is wrong with the others is added to `wrong`.
    fn all(&self, entries: &'a [CaseEntry], stem: &str, wrong: &mut Vec<Diagnostic>) -> Vec<Case> {
        let mut names = HashSet::new();
        let mut cases = Vec::new();
        for entry in entries {
            match self.unique(&entry.name, &mut names).and_then(|()| self.case(entry, stem)) {
                Ok(expanded) => cases.extend(expanded),
                // An alias repeats what is wrong with its anchor.
                Err(diagnostic) if wrong.last() == Some(&diagnostic) => {}
                Err(diagnostic) => wrong.push(diagnostic),
            }
            let stop = if wrong.len() >= MAX_FAULTS {
                format!("{MAX_FAULTS} faults so far: the rest of the file was not read")
            } else if cases.len() > MAX_CASES {
                format!("the file has more than {MAX_CASES} cases, each choice of `for-each` counted")
            } else {
                continue;
            };
            wrong.push(self.wrong(entry.name.defined, stop));
            break;
        }
        cases
    }

    fn unique(&self, name: &'a Spanned<String>, names: &mut HashSet<&'a str>) -> Result<(), Diagnostic> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if name.value.is_empty() || !name.value.bytes().all(plain) {
            return Err(self
                .wrong(name.defined, format!("{} is no case name", Quoted(&name.value)))
                .help("lower-case letters, digits and hyphens are allowed, such as `rows-of-a-matrix`"));
        }
        if name.value.len() > MAX_NAME {
            let message =
                format!("the name has {} characters; at most {MAX_NAME} are allowed", name.value.len());
            return Err(self.wrong(name.defined, message).help("`why` has room for a sentence"));
        }
        if !names.insert(&name.value) {
            return Err(self
                .wrong(name.defined, format!("two cases of this file are named {}", Quoted(&name.value)))
                .help("ids are stable and unique: choose a name that says what differs"));
        }
        Ok(())
    }

    fn case(&self, entry: &'a CaseEntry, stem: &str) -> Result<Vec<Case>, Diagnostic> {
        let name = &entry.name;
        let written = format!("{}/{stem}/{}", self.page.operator, name.value);
        let basis = self.basis(entry)?;
        self.check_sources(entry)?;
        let attributes = self.attributes(entry)?;
        let (params, indices) = self.operands(entry)?;
        let (params_choices, indices_choices) = self.dtypes_of_operands(entry, params, indices)?;
        choices(entry, &params_choices, &indices_choices)
            .into_iter()
            .map(|choice| {
                let params = self.reader.params(choice.params, &params.value, params.defined)?;
                let indices = self.reader.indices(choice.indices, &indices.value, indices.defined)?;
                Ok(Case {
                    id: format!("{written}{}", choice.suffix),
                    written: written.clone(),
                    documented: entry.documented.as_ref().map(|id| id.value.clone()),
                    clauses: entry.clauses.value.iter().map(|id| id.value.clone()).collect(),
                    basis,
                    why: entry.why.clone(),
                    history: entry.history.0.iter().map(|evidence| evidence.value.clone()).collect(),
                    provenance: entry.provenance.as_ref().map(|provenance| provenance.value.clone()),
                    open: OpenDtypes { params: choice.params.open(), indices: choice.indices.open() },
                    call: Call {
                        operator: self.page.operator.clone(),
                        operands: self.in_order(params, indices),
                        attributes: attributes.clone(),
                    },
                    names: OperandNames {
                        params: self.page.operand(OperandRole::Params).name.clone(),
                        indices: self.page.operand(OperandRole::Indices).name.clone(),
                    },
                    expect: self.expectation(choice.params, &entry.expect)?,
                })
            })
            .collect()
    }

    fn basis(&self, entry: &CaseEntry) -> Result<Basis, Diagnostic> {
        let bases: Result<Vec<Basis>, Diagnostic> = entry
            .clauses
            .value
            .iter()
            .map(|id| match self.spec.clause(&id.value) {
                Some(clause) => Ok(clause.basis),
                None => Err(self.unknown_clause(id)),
            })
            .collect();
        bases?
            .into_iter()
            .max()
            .ok_or_else(|| self.wrong(entry.clauses.defined, "a case tests at least one clause"))
    }

    fn unknown_clause(&self, id: &Spanned<String>) -> Diagnostic {
        let list = format!("see `gatherspec list clauses --operator {}`", self.page.operator);
        let known = self.spec.clauses.iter().map(|clause| clause.id.as_str());
        let help =
            nearest(&id.value, known).map_or(list.clone(), |meant| format!("did you mean `{meant}`? {list}"));
        self.wrong(id.defined, format!("unknown clause {}", Quoted(&id.value))).help(help)
    }

    fn check_sources(&self, entry: &CaseEntry) -> Result<(), Diagnostic> {
        if let Some(evidence) = entry.history.0.iter().find(|evidence| !evidence.value.is_complete()) {
            return Err(self
                .wrong(
                    evidence.defined,
                    "history needs a public `link` that begins with https://, or `tool`, `version` and `call`",
                )
                .help("history: { link: \"https://github.com/owner/repo/issues/1\" }"));
        }
        if let Some(id) = &entry.documented
            && !self.spec.examples.iter().any(|example| example.id == id.value)
        {
            return Err(self
                .wrong(id.defined, format!("{} is no documented example", Quoted(&id.value)))
                .help("its id in inventory.yaml is expected, such as `tf-gather-nd/2`"));
        }
        match &entry.provenance {
            Some(provenance) if self.in_spec && is_ours(&provenance.value.computed_by) => Err(self
                .wrong(
                    provenance.defined,
                    "an expectation under spec/ must not come from our own implementations",
                )
                .help("derive it by hand from the documents and leave `provenance` out")),
            _ => Ok(()),
        }
    }

    fn attributes(&self, entry: &'a CaseEntry) -> Result<Attributes, Diagnostic> {
        let Some(written) = &entry.attributes else { return Ok(Attributes::new()) };
        let Node::Mapping(entries) = &written.value else {
            let message = format!("`attributes` must be a mapping, not {}", written.value.kind());
            return Err(self.wrong(written.defined, message).help("such as { batch_dims: 1 }"));
        };
        entries.iter().map(|(name, value)| Ok((name.value.clone(), self.attribute(name, value)?))).collect()
    }

    fn attribute(&self, name: &Spanned<String>, value: &'a Spanned<Node>) -> Result<Attribute, Diagnostic> {
        let Some(page) = self.page.attribute_named(&name.value) else {
            let mut known: Vec<&str> =
                self.page.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
            known.sort_unstable();
            let message = format!("{} has no attribute {}", self.page.operator, Quoted(&name.value));
            let help = if known.is_empty() {
                "it takes no attributes".to_owned()
            } else {
                one_of(&name.value, &known)
            };
            return Err(self.wrong(name.defined, message).help(help));
        };
        let text = self.reader.text.scalar(value).filter(|_| !self.reader.text.is_quoted(value));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let (read, wanted) = match page.r#type {
            AttributeType::Integer => (
                text.filter(|text| digits(text)).and_then(|text| text.parse().ok()).map(Attribute::Integer),
                "an integer from -2^63 to 2^63 - 1, in decimal digits",
            ),
            AttributeType::Boolean => {
                (text.and_then(|text| text.parse().ok()).map(Attribute::Boolean), "true or false")
            }
        };
        read.ok_or_else(|| self.wrong(value.defined, format!("`{}` must be {wanted}", name.value)))
    }

    /// Operands under the names of the operator's page and in its order.
    fn in_order(&self, params: Tensor, indices: Tensor) -> Operands {
        self.page.spell(Roles::new(params, indices)).operands
    }

    /// Params and indices as written, under the names that the document gives them.
    fn operands(
        &self,
        entry: &'a CaseEntry,
    ) -> Result<(&'a Spanned<TensorEntry>, &'a Spanned<TensorEntry>), Diagnostic> {
        let written = &entry.operands.value.0;
        let known: Vec<&str> = self.page.operands.iter().map(|operand| &*operand.name).collect();
        if let Some((name, _)) = written.iter().find(|(name, _)| !known.contains(&name.value.as_str())) {
            let message = format!("{} has no operand {}", self.page.operator, Quoted(&name.value));
            return Err(self.wrong(name.defined, message).help(one_of(&name.value, &known)));
        }
        let find = |role| {
            let name = &self.page.operand(role).name;
            let found = written.iter().find(|(written, _)| written.value == **name);
            found.map(|(_, tensor)| tensor).ok_or_else(|| {
                let message = format!("the operand {} is missing", Quoted(name));
                let all = known.join(" and ");
                self.wrong(entry.operands.defined, message).help(format!("{all} are expected"))
            })
        };
        Ok((find(OperandRole::Params)?, find(OperandRole::Indices)?))
    }

    /// The dtypes of params and of indices as written, one or as many as `for-each` lists.
    fn dtypes_of_operands(
        &self,
        entry: &CaseEntry,
        params: &Spanned<TensorEntry>,
        indices: &Spanned<TensorEntry>,
    ) -> Result<(Vec<Written>, Vec<Written>), Diagnostic> {
        let (of_params, of_indices) = match &entry.for_each {
            None => (&[][..], &[][..]),
            Some(each) => self.listed(each)?,
        };
        let listed = |role| &self.page.operand(role).dtypes;
        let among = |dtypes: &[DType], listed: &[DType]| -> Vec<DType> {
            dtypes.iter().copied().filter(|dtype| listed.contains(dtype)).collect()
        };
        Ok((
            self.dtypes(of_params, params, || among(&any::PARAMS, listed(OperandRole::Params)))?,
            self.dtypes(of_indices, indices, || among(&any::INDICES, listed(OperandRole::Indices)))?,
        ))
    }

    /// The dtypes that `for-each` lists for params and for indices.
    fn listed<'e>(&self, each: &'e Spanned<ForEach>) -> Result<Listed<'e>, Diagnostic> {
        match (&each.value.params_dtype[..], &each.value.index_dtype[..]) {
            ([], []) => Err(self
                .wrong(each.defined, "`for-each` lists `params-dtype`, `index-dtype` or both")
                .help("such as { params-dtype: [f32, f64] }")),
            listed => Ok(listed),
        }
    }

    /// The dtypes of one operand: its own, of which `any` stands for several, or those of `for-each`.
    fn dtypes(
        &self,
        listed: &[Spanned<String>],
        operand: &Spanned<TensorEntry>,
        any: impl Fn() -> Vec<DType>,
    ) -> Result<Vec<Written>, Diagnostic> {
        let mut seen = HashSet::new();
        match (&operand.value.dtype, listed) {
            (Some(dtype), []) if dtype.value == ANY => match any() {
                open if open.is_empty() => Err(self.wrong(
                    dtype.defined,
                    format!("the pages of {} list no dtype that `any` stands for", self.page.operator),
                )),
                open => Ok(vec![Written::Any(open)]),
            },
            (Some(dtype), []) => Ok(vec![Written::Named(self.parse(dtype)?)]),
            (None, []) => Err(self
                .wrong(operand.defined, "this tensor has no `dtype`")
                .help("add `dtype: any` where the dtype does not matter, or `dtype: f32`, say")),
            (Some(dtype), _) => Err(self
                .wrong(dtype.defined, "`for-each` gives this tensor's dtype")
                .help("leave `dtype` out")),
            (None, listed) => listed
                .iter()
                .map(|dtype| match seen.insert(&dtype.value) {
                    true => self.parse(dtype).map(Written::Named),
                    false => {
                        Err(self.wrong(dtype.defined, format!("{} is listed twice", Quoted(&dtype.value))))
                    }
                })
                .collect(),
        }
    }

    pub(super) fn parse<T: FromStr<Err: ToString>>(&self, name: &Spanned<String>) -> Result<T, Diagnostic> {
        name.value.parse().map_err(|error: T::Err| self.wrong(name.defined, error.to_string()))
    }

    pub(super) fn wrong(&self, at: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        self.reader.wrong(at, message)
    }
}

/// Every way to fill in the dtypes that `for-each` leaves open.
fn choices<'w>(entry: &CaseEntry, params: &'w [Written], indices: &'w [Written]) -> Vec<Choice<'w>> {
    let each = entry.for_each.as_ref().map(|each| &each.value);
    let by_params = each.is_some_and(|each| !each.params_dtype.is_empty());
    let by_indices = each.is_some_and(|each| !each.index_dtype.is_empty());
    let choice = |params: &'w Written, indices: &'w Written| {
        let open = [(by_params, params), (by_indices, indices)];
        let open: Vec<&str> =
            open.iter().filter(|(by, _)| *by).map(|(_, written)| written.dtype().name()).collect();
        let suffix = if open.is_empty() { String::new() } else { format!("[{}]", open.join(",")) };
        Choice { params, indices, suffix }
    };
    params.iter().flat_map(|p| indices.iter().map(move |i| (p, i))).map(|(p, i)| choice(p, i)).collect()
}

/// What would be right in place of an unknown word.
fn one_of(word: &str, known: &[&str]) -> String {
    let list = format!("one of {} is expected", known.join(" "));
    nearest(word, known.iter().copied())
        .map_or(list.clone(), |meant| format!("did you mean `{meant}`? {list}"))
}

/// Whether a provenance names one of our own implementations.
fn is_ours(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["reference", "optimized", "gatherspec", "gather-reference", "gather-optimized"].contains(&tool.as_str())
}
