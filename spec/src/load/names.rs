//! Resolves the names of attributes and clauses in a case file. An operator's file uses the names of its page; a
//! family's file uses roles and the family's clauses.

use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::signature::{AttributeRole, AttributeSignature, AttributeType, OperandRole};
use crate::yaml::{Node, Spanned};
use crate::{Attribute, Attributes};

use super::case_reader::{CaseReader, NamingScheme};
use super::raw::CaseEntry;
use super::written::WrittenDtype;

/// The attributes that a family case may have.
const ATTRIBUTE_ROLES: [(&str, AttributeRole); 9] = [
    ("axis", AttributeRole::Axis),
    ("batch-dims", AttributeRole::BatchDims),
    ("offset-dims", AttributeRole::OffsetDims),
    ("collapsed-slice-dims", AttributeRole::CollapsedSliceDims),
    ("operand-batching-dims", AttributeRole::OperandBatchingDims),
    ("start-indices-batching-dims", AttributeRole::StartIndicesBatchingDims),
    ("start-index-map", AttributeRole::StartIndexMap),
    ("index-vector-dim", AttributeRole::IndexVectorDim),
    ("slice-sizes", AttributeRole::SliceSizes),
];

impl<'a> CaseReader<'a> {
    /// Whether the file belongs to a family.
    pub(super) const fn is_family(&self) -> bool {
        matches!(self.names, NamingScheme::Family)
    }

    /// Why the operator does not have a family case, as far as clauses and attributes tell.
    pub(super) fn left_out(&self, entry: &'a CaseEntry) -> Option<String> {
        let clauses = entry.clauses.value.iter().map(|id| id.value.as_str());
        let unmapped: Vec<&str> = clauses.filter(|id| !self.map.contains_key(*id)).collect();
        if !unmapped.is_empty() {
            return Some(format!("no clause for {}", unmapped.join(", ")));
        }
        if let Some(rank) = self.params_rank(entry)
            && let rule = self.page.operand(OperandRole::Params).rank
            && rule.most().is_some()
            && !rule.allows(rank)
        {
            return Some(format!("no params of rank {rank}"));
        }
        if let Some(why) = self.without_its_operand(entry) {
            return Some(why);
        }
        let Node::Mapping(written) = &entry.attributes.as_ref()?.value else { return None };
        let roles = || written.iter().filter_map(|(name, value)| Some((role_of(&name.value)?, value)));
        let is_last =
            |role, value| role == AttributeRole::IndexVectorDim && self.is_last_of_indices(entry, value);
        let missing = roles()
            .filter(|(role, value)| self.page.attribute(*role).is_none() && !is_last(*role, value))
            .filter(|(role, value)| !self.is_operand(*role) && !self.is_fixed_axis(entry, *role, value));
        let missing: Vec<&str> = missing.map(|(role, _)| word_of(role)).collect();
        if !missing.is_empty() {
            return Some(format!("no attribute for {}", missing.join(", ")));
        }
        let nullable = |role| self.page.attribute(role).is_some_and(|attribute| attribute.nullable);
        let has = |role: &AttributeRole| self.page.attribute(*role).is_some();
        let null =
            roles().find(|(role, value)| has(role) && self.reader.text.is_null(value) && !nullable(*role));
        null.map(|(role, _)| format!("no null for {}", word_of(role)))
    }

    /// Whether a value is the last dim of a case's indices. That is where the index vector is if an operator has no attribute
    /// for it.
    fn is_last_of_indices(&self, entry: &'a CaseEntry, value: &'a Spanned<Node>) -> bool {
        let rank = self.operands(entry).ok().and_then(|(_, indices)| indices.value.rank());
        rank.and_then(|rank| i128::try_from(rank).ok()) == self.reader.number(value).ok().map(|dim| dim + 1)
    }

    /// Whether a value is the axis of every call of an operator without an attribute for it: the first one or, where params
    /// are always flattened, a null one and the only one of a vector.
    fn is_fixed_axis(&self, entry: &'a CaseEntry, role: AttributeRole, value: &'a Spanned<Node>) -> bool {
        if role != AttributeRole::Axis || self.page.attribute(role).is_some() {
            return false;
        }
        let number = self.reader.number(value).ok();
        match self.page.is_always_flat() {
            true => {
                let is_only = self.params_rank(entry) == Some(1) && matches!(number, Some(-1 | 0));
                is_only || self.reader.text.is_null(value)
            }
            false => number == Some(0) && !self.page.has_batch(),
        }
    }

    /// The rank of a case's params, if it is written out.
    fn params_rank(&self, entry: &'a CaseEntry) -> Option<usize> {
        self.operands(entry).ok().and_then(|(params, _)| params.value.rank())
    }

    pub(super) fn attributes(&self, entry: &'a CaseEntry) -> Result<Attributes, Diagnostic> {
        let Some(written) = &entry.attributes else { return Ok(Attributes::new()) };
        let Node::Mapping(entries) = &written.value else {
            let message = format!("`attributes` must be a mapping, not {}", written.value.kind());
            return Err(self.wrong(written.defined, message).help("such as { batch_dims: 1 }"));
        };
        let attribute = |(name, value): &'a (Spanned<String>, Spanned<Node>)| {
            let page = self.attribute_called(name)?;
            Ok((page.name.clone(), self.attribute(name, page, value)?))
        };
        let sent =
            entries.iter().filter(|(name, value)| !self.is_implied(name) && !self.is_element(name, value));
        let attributes: Attributes = sent.map(attribute).collect::<Result<_, _>>()?;
        match self.page.missing(&attributes) {
            None => Ok(attributes),
            Some(name) => Err(self
                .wrong(written.defined, format!("{} needs the attribute `{name}`", self.page.operator))
                .help("it has no default")),
        }
    }

    /// Whether an attribute is an element. `with_elements` reads those later, once the dtype of params is known.
    fn is_element(&self, name: &Spanned<String>, value: &'a Spanned<Node>) -> bool {
        let of_elements = |page: &AttributeSignature| page.r#type == AttributeType::Element;
        self.attribute_called(name).is_ok_and(of_elements) && !self.reader.text.is_null(value)
    }

    /// Adds the attributes that are elements with the dtype of params.
    pub(super) fn with_elements(
        &self,
        entry: &'a CaseEntry,
        dtype: &WrittenDtype,
        mut attributes: Attributes,
    ) -> Result<Attributes, Diagnostic> {
        let Some(Node::Mapping(entries)) = entry.attributes.as_ref().map(|written| &written.value) else {
            return Ok(attributes);
        };
        for (name, value) in entries.iter().filter(|(name, value)| self.is_element(name, value)) {
            let element = self.reader.single(dtype, value)?;
            attributes
                .insert(self.attribute_called(name)?.name.clone(), Attribute::Element(Box::new(element)));
        }
        Ok(attributes)
    }

    /// Whether the operator lacks a family's attribute because it is fixed, or an operand.
    fn is_implied(&self, name: &Spanned<String>) -> bool {
        let lacks = |role| {
            let is_fixed = matches!(role, AttributeRole::Axis | AttributeRole::IndexVectorDim)
                && self.page.attribute(role).is_none();
            is_fixed || self.is_operand(role)
        };
        self.is_family() && role_of(&name.value).is_some_and(lacks)
    }

    pub(super) fn attribute_called(&self, name: &Spanned<String>) -> Result<&AttributeSignature, Diagnostic> {
        let found = match self.names {
            NamingScheme::Page => self.page.attribute_named(&name.value),
            NamingScheme::Family => role_of(&name.value).and_then(|role| self.page.attribute(role)),
        };
        found.ok_or_else(|| {
            let message = format!("{} has no attribute {}", self.page.operator, Quoted(&name.value));
            self.wrong(name.defined, message).help(self.attributes_expected(&name.value))
        })
    }

    fn attributes_expected(&self, name: &str) -> String {
        let mut known: Vec<&str> = match self.names {
            NamingScheme::Page => {
                self.page.attributes.iter().map(|attribute| attribute.name.as_str()).collect()
            }
            NamingScheme::Family => ATTRIBUTE_ROLES.iter().map(|(word, _)| *word).collect(),
        };
        known.sort_unstable();
        if known.is_empty() { "it takes no attributes".to_owned() } else { one_of(name, &known) }
    }

    pub(super) fn attribute(
        &self,
        name: &Spanned<String>,
        page: &AttributeSignature,
        value: &'a Spanned<Node>,
    ) -> Result<Attribute, Diagnostic> {
        if page.nullable && self.reader.text.is_null(value) {
            return Ok(Attribute::Null);
        }
        if page.r#type == AttributeType::Integers {
            return self.integers(name, value).map(Attribute::Integers);
        }
        let written = self.reader.text.scalar(value);
        let text = written.filter(|_| !self.reader.text.is_quoted(value));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        let (read, wanted) = match page.r#type {
            AttributeType::Integer => (
                text.filter(|text| digits(text)).and_then(|text| text.parse().ok()).map(Attribute::Integer),
                "an integer from -2^63 to 2^63 - 1, in decimal digits",
            ),
            AttributeType::Boolean => {
                (text.and_then(|text| text.parse().ok()).map(Attribute::Boolean), "true or false")
            }
            AttributeType::String | AttributeType::Integers | AttributeType::Element => {
                (written.map(|text| Attribute::String(text.to_owned())), "a string")
            }
        };
        read.ok_or_else(|| self.wrong(value.defined, format!("`{}` must be {wanted}", name.value)))
    }

    /// Reads a list of integers. Each may be a sum of products of named sizes.
    pub(super) fn integers(
        &self,
        name: &Spanned<String>,
        value: &'a Spanned<Node>,
    ) -> Result<Vec<i64>, Diagnostic> {
        let Node::Sequence(items) = &value.value else {
            let message = format!("`{}` must be a list of integers from -2^63 to 2^63 - 1", name.value);
            return Err(self.wrong(value.defined, message).help("such as [0, 1]"));
        };
        let item = |item: &'a Spanned<Node>| {
            let number = self.reader.number(item)?;
            i64::try_from(number).map_err(|_| {
                self.wrong(item.defined, format!("{number} is no integer from -2^63 to 2^63 - 1"))
            })
        };
        items.iter().map(item).collect()
    }
}

pub(super) fn role_of(word: &str) -> Option<AttributeRole> {
    ATTRIBUTE_ROLES.iter().find(|(known, _)| *known == word).map(|(_, role)| *role)
}

fn word_of(role: AttributeRole) -> &'static str {
    ATTRIBUTE_ROLES.iter().find(|(_, known)| *known == role).map_or("", |(word, _)| word)
}

/// A hint that lists the known words.
pub(super) fn one_of(word: &str, known: &[&str]) -> String {
    let list = format!("one of {} is expected", known.join(" "));
    nearest(word, known.iter().copied())
        .map_or(list.clone(), |meant| format!("did you mean `{meant}`? {list}"))
}
