//! From a case file as written to [`Case`]s: names, attributes, expectations, and what `for-each` stands for.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use crate::case::{Allowed, Arm, Case, Expectation, When};
use crate::clause::{AttributeType, OperatorPage};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Spanned, Text};
use crate::{Attribute, Attributes, Basis, Call, DType, ErrorCode, ErrorFields};

use super::data::Reader;
use super::raw::{ArmEntry, CaseEntry, CaseFile, Expect, TensorEntry};
use super::{Specification, check_schema};

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
    let head = check_schema(text, &file.schema).and_then(|()| operator_page(text, &file.operator, context));
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
    let mut names = HashSet::new();
    let mut cases = Vec::new();
    for entry in &file.cases {
        if !names.insert(entry.name.value.as_str()) {
            wrong.push(
                text.wrong(
                    entry.name.defined,
                    format!("two cases of this file are named `{}`", entry.name.value),
                )
                .help("ids are stable and unique: choose a name that says what differs"),
            );
            continue;
        }
        match writer.case(entry, &stem) {
            Ok(expanded) => cases.extend(expanded),
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    cases
}

fn operator_page<'a>(
    text: Text<'_>,
    operator: &Spanned<String>,
    context: &Context<'a>,
) -> Result<&'a OperatorPage, Diagnostic> {
    if let Some(folder) = context.folder
        && folder != operator.value
    {
        let message = format!("the operator is `{}`, but the folder is `{folder}`", operator.value);
        return Err(text.wrong(operator.defined, message).help("the two must be equal"));
    }
    context.spec.operator(&operator.value).ok_or_else(|| {
        let known: Vec<&str> = context.spec.operators.iter().map(|page| page.operator.as_str()).collect();
        text.wrong(operator.defined, format!("unknown operator `{}`", operator.value))
            .help(format!("one of {} is expected", known.join(" ")))
    })
}

struct CaseReader<'a> {
    reader: &'a Reader<'a>,
    spec: &'a Specification,
    page: &'a OperatorPage,
    in_spec: bool,
}

/// One way to fill in the dtypes that `for-each` leaves open.
struct Choice {
    params: DType,
    indices: DType,
    suffix: String,
}

impl<'a> CaseReader<'a> {
    fn case(&self, entry: &'a CaseEntry, stem: &str) -> Result<Vec<Case>, Diagnostic> {
        let name = &entry.name;
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if name.value.is_empty() || !name.value.bytes().all(plain) {
            return Err(self
                .wrong(name.defined, format!("`{}` is no case name", name.value))
                .help("lower-case letters, digits and hyphens, such as `rows-of-a-matrix`"));
        }
        let written = format!("{}/{stem}/{}", self.page.operator, name.value);
        let basis = self.basis(entry)?;
        self.check_sources(entry)?;
        let attributes = self.attributes(entry)?;
        self.choices(entry)?
            .into_iter()
            .map(|choice| {
                let params = self.reader.tensor(choice.params, &entry.params.value, entry.params.defined)?;
                let indices =
                    self.reader.tensor(choice.indices, &entry.indices.value, entry.indices.defined)?;
                Ok(Case {
                    id: format!("{written}{}", choice.suffix),
                    written: written.clone(),
                    documented: entry.documented.as_ref().map(|id| id.value.clone()),
                    clauses: entry.clauses.value.iter().map(|id| id.value.clone()).collect(),
                    basis,
                    why: entry.why.clone(),
                    history: entry.history.0.iter().map(|evidence| evidence.value.clone()).collect(),
                    provenance: entry.provenance.as_ref().map(|provenance| provenance.value.clone()),
                    call: Call {
                        operator: self.page.operator.clone(),
                        params,
                        indices,
                        attributes: attributes.clone(),
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
                None => Err(self
                    .wrong(id.defined, format!("unknown clause `{}`", id.value))
                    .help(format!("see `gatherspec list clauses --operator {}`", self.page.operator))),
            })
            .collect();
        bases?
            .into_iter()
            .max()
            .ok_or_else(|| self.wrong(entry.clauses.defined, "a case tests at least one clause"))
    }

    fn check_sources(&self, entry: &CaseEntry) -> Result<(), Diagnostic> {
        if let Some(evidence) = entry.history.0.iter().find(|evidence| !evidence.value.is_complete()) {
            return Err(self
                .wrong(evidence.defined, "history needs a public `link`, or `tool`, `version` and `call`")
                .help("history: { link: \"https://github.com/owner/repo/issues/1\" }"));
        }
        if let Some(id) = &entry.documented
            && !self.spec.examples.iter().any(|example| example.id == id.value)
        {
            return Err(self.wrong(id.defined, format!("`{}` is no documented example", id.value)));
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

    fn attributes(&self, entry: &CaseEntry) -> Result<Attributes, Diagnostic> {
        entry
            .attributes
            .iter()
            .map(|(name, value)| {
                let page = self.page.attributes.get(name).ok_or_else(|| {
                    let known: Vec<&str> = self.page.attributes.keys().map(String::as_str).collect();
                    let known = if known.is_empty() { "none".to_owned() } else { known.join(" ") };
                    self.wrong(value.defined, format!("{} has no attribute `{name}`", self.page.operator))
                        .help(format!("its attributes: {known}"))
                })?;
                match (page.r#type, value.value) {
                    (AttributeType::Integer, Attribute::Integer(_))
                    | (AttributeType::Boolean, Attribute::Boolean(_)) => Ok((name.clone(), value.value)),
                    (AttributeType::Integer, _) => {
                        Err(self.wrong(value.defined, format!("`{name}` is an integer")))
                    }
                    (AttributeType::Boolean, _) => {
                        Err(self.wrong(value.defined, format!("`{name}` is true or false")))
                    }
                }
            })
            .collect()
    }

    fn choices(&self, entry: &CaseEntry) -> Result<Vec<Choice>, Diagnostic> {
        let (params, indices) = match &entry.for_each {
            None => (&[][..], &[][..]),
            Some(each) if each.value.params_dtype.is_empty() && each.value.index_dtype.is_empty() => {
                return Err(
                    self.wrong(each.defined, "`for-each` lists `params-dtype`, `index-dtype` or both")
                );
            }
            Some(each) => (&each.value.params_dtype[..], &each.value.index_dtype[..]),
        };
        let params_choices = self.dtypes(params, &entry.params)?;
        let indices_choices = self.dtypes(indices, &entry.indices)?;
        let mut choices = Vec::new();
        for p in &params_choices {
            for i in &indices_choices {
                let open =
                    [(!params.is_empty()).then_some(p.name()), (!indices.is_empty()).then_some(i.name())];
                let open: Vec<&str> = open.into_iter().flatten().collect();
                let suffix = if open.is_empty() { String::new() } else { format!("[{}]", open.join(",")) };
                choices.push(Choice { params: *p, indices: *i, suffix });
            }
        }
        Ok(choices)
    }

    /// The dtypes of one operand: its own, or those of `for-each`.
    fn dtypes(
        &self,
        listed: &[Spanned<String>],
        operand: &Spanned<TensorEntry>,
    ) -> Result<Vec<DType>, Diagnostic> {
        let mut seen = HashSet::new();
        match (&operand.value.dtype, listed) {
            (Some(dtype), []) => Ok(vec![self.parse(dtype)?]),
            (None, []) => {
                Err(self.wrong(operand.defined, "this tensor has no `dtype`").help("add `dtype: f32`, say"))
            }
            (Some(dtype), _) => Err(self
                .wrong(dtype.defined, "`for-each` gives this tensor's dtype")
                .help("leave `dtype` out")),
            (None, listed) => listed
                .iter()
                .map(|dtype| match seen.insert(&dtype.value) {
                    true => self.parse(dtype),
                    false => Err(self.wrong(dtype.defined, format!("`{}` is listed twice", dtype.value))),
                })
                .collect(),
        }
    }

    fn parse<T: FromStr<Err: ToString>>(&self, name: &Spanned<String>) -> Result<T, Diagnostic> {
        name.value.parse().map_err(|error: T::Err| self.wrong(name.defined, error.to_string()))
    }

    fn expectation(&self, dtype: DType, expect: &'a Spanned<Expect>) -> Result<Expectation, Diagnostic> {
        let arms = match &expect.value {
            Expect::Word(word) if word == "unspecified" => {
                vec![Arm { when: When::default(), allowed: vec![Allowed::Unspecified] }]
            }
            Expect::Word(word) => {
                return Err(self
                    .wrong(expect.defined, format!("`{word}` is no expectation"))
                    .help("`unspecified`, or a mapping with `output`, `shape`, `error` or `any-of`"));
            }
            Expect::One(arm) => vec![self.arm(dtype, arm, expect.defined)?],
            Expect::Arms(arms) => {
                arms.iter().map(|arm| self.arm(dtype, &arm.value, arm.defined)).collect::<Result<_, _>>()?
            }
        };
        let expectation = Expectation { arms };
        match expectation.unmatched() {
            None => Ok(expectation),
            Some(profile) => Err(self
                .wrong(expect.defined, format!("nothing is expected under {profile}"))
                .help("end the list with an entry without `when`, or add the missing one")),
        }
    }

    fn arm(&self, dtype: DType, entry: &'a ArmEntry, at: serde_yaml::Location) -> Result<Arm, Diagnostic> {
        let when = entry.when.as_ref().map(|when| when.value).unwrap_or_default();
        let Some(any_of) = &entry.any_of else {
            return Ok(Arm { when, allowed: vec![self.allowed(dtype, entry, at)?] });
        };
        if outcomes(entry) > 0 {
            return Err(self.wrong(at, "`any-of` stands alone, beside `when` at most"));
        }
        let allowed: Result<Vec<Allowed>, Diagnostic> = any_of
            .value
            .iter()
            .map(|one| match one.value.when.is_some() || one.value.any_of.is_some() {
                true => Err(self.wrong(one.defined, "an entry of `any-of` is one plain outcome")),
                false => self.allowed(dtype, &one.value, one.defined),
            })
            .collect();
        let allowed = allowed?;
        if allowed.len() < 2 {
            return Err(self.wrong(any_of.defined, "`any-of` lists at least two outcomes"));
        }
        Ok(Arm { when, allowed })
    }

    fn allowed(
        &self,
        dtype: DType,
        entry: &'a ArmEntry,
        at: serde_yaml::Location,
    ) -> Result<Allowed, Diagnostic> {
        if outcomes(entry) != 1 {
            return Err(self.wrong(
                at,
                "exactly one of `output`, `shape`, `error`, `any-of`, `unspecified` is expected",
            ));
        }
        let fields = self.fields(entry)?;
        if let Some(output) = &entry.output {
            return self.reader.output(dtype, output).map(Allowed::Output);
        }
        if let Some(shape) = &entry.shape {
            return self.reader.shape(shape).map(Allowed::Shape);
        }
        if let Some(error) = &entry.error {
            return Ok(Allowed::Error(self.parse(error)?, fields));
        }
        match &entry.unspecified {
            Some(flag) if !flag.value => {
                Err(self.wrong(flag.defined, "`unspecified: true` is the only form"))
            }
            _ => Ok(Allowed::Unspecified),
        }
    }

    /// The fields beside an error, each allowed only with its code.
    fn fields(&self, entry: &ArmEntry) -> Result<ErrorFields, Diagnostic> {
        let code = entry.error.as_ref().map(|error| error.value.as_str());
        let stated = [
            ("position", entry.position.as_ref().map(|field| field.defined), ErrorCode::IndexOutOfRange),
            ("component", entry.component.as_ref().map(|field| field.defined), ErrorCode::IndexOutOfRange),
            ("index", entry.index.as_ref().map(|field| field.defined), ErrorCode::IndexOutOfRange),
            ("bound", entry.bound.as_ref().map(|field| field.defined), ErrorCode::IndexOutOfRange),
            ("bytes", entry.bytes.as_ref().map(|field| field.defined), ErrorCode::OutputTooLarge),
        ];
        for (name, at, belongs) in stated {
            if let Some(at) = at
                && code != Some(belongs.name())
            {
                return Err(self.wrong(at, format!("`{name}` goes with `error: {belongs}` only")));
            }
        }
        Ok(ErrorFields {
            position: entry.position.as_ref().map(|field| field.value.clone()),
            component: entry.component.as_ref().map(|field| field.value),
            index: entry.index.as_ref().map(|field| field.value),
            bound: entry.bound.as_ref().map(|field| field.value),
            bytes: entry.bytes.as_ref().map(|field| field.value),
        })
    }

    fn wrong(&self, at: serde_yaml::Location, message: impl Into<String>) -> Diagnostic {
        self.reader.wrong(at, message)
    }
}

/// How many kinds of outcome an entry states, `any-of` left out.
fn outcomes(entry: &ArmEntry) -> usize {
    [entry.output.is_some(), entry.shape.is_some(), entry.error.is_some(), entry.unspecified.is_some()]
        .into_iter()
        .filter(|stated| *stated)
        .count()
}

/// Whether a provenance names one of our own implementations.
fn is_ours(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["reference", "optimized", "gatherspec", "gather-reference", "gather-optimized"].contains(&tool.as_str())
}
