//! Reads an `operator.yaml` into a [`Signature`].

mod entries;
mod forms;
mod lists;
mod modes;
#[cfg(test)]
mod tests;

use crate::call::{Attribute, Operator};
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{
    AttributeDefault, AttributeRole, AttributeSignature, AttributeType, Form, OperandRole, OperandSignature,
    Range, Signature, Tolerated,
};
use crate::yaml::{Spanned, Text};

use self::entries::{AttributeEntry, OperandEntry, OperatorFile, ScalarEntry};
use self::forms::OfForm;
use super::raw::{FamiliesEntry, InOrder};
use super::version::check_schema;

/// The version of this format.
const SCHEMA: u32 = 2;

/// The content of an `operator.yaml`.
pub(super) struct OperatorPage {
    pub(super) signature: Signature,
    /// The ids of its documents, with their positions in the file.
    pub(super) documents: Vec<Spanned<String>>,
    /// How the operator's clauses map to those of families.
    pub(super) families: FamiliesEntry,
    /// The position of the operator's name.
    pub(super) named: serde_yaml::Location,
}

impl Signature {
    /// Reads an `operator.yaml`. Does not check the families.
    pub(super) fn read(text: Text<'_>) -> Result<OperatorPage, Diagnostic> {
        let file: OperatorFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        let OfForm { empty_dims, least_depth, output_batch, join, empty_index, collapsed_size, slice_bound } =
            OfForm::read(text, &file)?;
        let form = file.form.value;
        let operands = operands(text, file.operands, form)?;
        let attributes = attributes(text, file.attributes, form, &operands)?;
        let policy = modes::policy(text, &file.form, file.policy, file.modes, &attributes)?;
        let fill = modes::fill(text, &file.form, &policy, file.fill, &attributes)?;
        let flatten = modes::flatten(text, &file.form, file.flatten, &attributes, &operands)?;
        let signature = Self {
            operator: Operator::new(file.operator.value.as_str()),
            summary: file.summary,
            documents: file.documents.iter().map(|id| id.value.clone()).collect(),
            form,
            operands,
            attributes,
            policy,
            fill,
            flatten,
            tolerates: Tolerated {
                params_dtypes: file.tolerates.params_dtypes.0,
                index_dtypes: file.tolerates.index_dtypes.0,
                scalar_params: matches!(file.tolerates.scalar_params, Some(ScalarEntry::Unspecified)),
                scalars_as_vectors: file.tolerates.scalars.is_some(),
                indices_rank: file.tolerates.indices_rank,
                join: file.tolerates.join.map(|join| join.value),
                least_depth: file.tolerates.depth.map(|depth| depth.value),
            },
            empty_dims,
            most_elements: file.most_elements,
            least_depth,
            output_batch,
            join,
            empty_index,
            collapsed_size,
            slice_bound,
        };
        let OperatorFile { documents, families, operator, .. } = file;
        Ok(OperatorPage { signature, documents, families, named: operator.defined })
    }
}

/// Reads the operands, each role once, in the order of the file.
fn operands(
    text: Text<'_>,
    written: Spanned<InOrder<OperandEntry>>,
    form: Form,
) -> Result<Vec<OperandSignature>, Diagnostic> {
    let mut operands: Vec<OperandSignature> = Vec::new();
    for (name, entry) in written.value.0 {
        if let Some(other) = operands.iter().find(|other| other.role == entry.role.value) {
            let message = format!("{} has this role already", Quoted(&other.name));
            return Err(text.wrong(entry.role.defined, message).help("a role is played by one operand"));
        }
        forms::has_operand(text, &entry.role, &entry.rank, form)?;
        if entry.dtypes.value.0.is_empty() {
            return Err(text
                .wrong(entry.dtypes.defined, "an operand takes at least one dtype")
                .help("write `all`, or a list such as [i32, i64]"));
        }
        let (role, dtypes) = (entry.role.value, entry.dtypes.value.0);
        operands.push(OperandSignature { name: name.value.into(), role, dtypes, rank: entry.rank.value });
    }
    for role in [OperandRole::Params, OperandRole::Indices] {
        if !operands.iter().any(|operand| operand.role == role) {
            let role = if role == OperandRole::Params { "params" } else { "indices" };
            return Err(text
                .wrong(written.defined, format!("no operand has the role `{role}`"))
                .help("every form gathers from params what indices say"));
        }
    }
    Ok(operands)
}

fn attributes(
    text: Text<'_>,
    written: InOrder<AttributeEntry>,
    form: Form,
    operands: &[OperandSignature],
) -> Result<Vec<AttributeSignature>, Diagnostic> {
    let mut attributes: Vec<AttributeSignature> = Vec::new();
    for (name, entry) in written.0 {
        let role = &entry.role;
        let repeatable = matches!(role.value, AttributeRole::Ignored | AttributeRole::Promise);
        let twice = |other: &AttributeSignature| other.role == role.value && !repeatable;
        if let Some(other) = attributes.iter().find(|other| twice(other)) {
            let message = format!("{} has this role already", Quoted(&other.name));
            return Err(text.wrong(role.defined, message).help("a role is played by one attribute"));
        }
        forms::has_role(text, role, form)?;
        if let Some(other) = operands.iter().find(|one| one.role.takes_the_place_of(role.value)) {
            let message = format!("the operand {} has this role", Quoted(&other.name));
            return Err(text.wrong(role.defined, message).help("leave one of the two out"));
        }
        let fixed = match role.value {
            AttributeRole::Axis | AttributeRole::BatchDims | AttributeRole::IndexVectorDim => {
                Some(AttributeType::Integer)
            }
            AttributeRole::Mode => Some(AttributeType::String),
            AttributeRole::FillValue => Some(AttributeType::Element),
            AttributeRole::Promise => Some(AttributeType::Boolean),
            AttributeRole::Ignored => None,
            AttributeRole::OffsetDims
            | AttributeRole::CollapsedSliceDims
            | AttributeRole::OperandBatchingDims
            | AttributeRole::StartIndicesBatchingDims
            | AttributeRole::StartIndexMap
            | AttributeRole::SliceSizes => Some(AttributeType::Integers),
        };
        if let Some(fixed) = fixed.filter(|fixed| *fixed != entry.r#type.value) {
            return Err(text.wrong(entry.r#type.defined, format!("an attribute of this role is {fixed}")));
        }
        if entry.r#type.value == AttributeType::Element && role.value != AttributeRole::FillValue {
            let message = "only a fill value is an element";
            return Err(text.wrong(entry.r#type.defined, message).help("give it `role: fill-value`"));
        }
        let range = range(text, &name, &entry, form)?;
        let default = default(text, &name, &entry, form)?;
        let (role, r#type, nullable) = (role.value, entry.r#type.value, entry.nullable);
        attributes.push(AttributeSignature { name: name.value, role, r#type, nullable, default, range });
    }
    Ok(attributes)
}

/// Reads the range of an attribute. An attribute with an effect needs a range that fits its role.
fn range(
    text: Text<'_>,
    name: &Spanned<String>,
    entry: &AttributeEntry,
    form: Form,
) -> Result<Option<Range>, Diagnostic> {
    let fitting = fitting_ranges(entry.role.value, form);
    let words = fitting.iter().map(|(_, word)| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
    match (fitting, &entry.range) {
        ([], None) => Ok(None),
        ([], Some(range)) => {
            Err(text.wrong(range.defined, "an attribute of this role has no range").help("leave `range` out"))
        }
        ([(_, word), ..], None) => Err(text
            .wrong(name.defined, format!("{} has no `range`", Quoted(&name.value)))
            .help(format!("such as `range: {word}`"))),
        (fitting, Some(range)) if fitting.iter().any(|(fits, _)| *fits == range.value) => {
            Ok(Some(range.value))
        }
        (_, Some(range)) => Err(text
            .wrong(range.defined, "this range is not one of an attribute of this role and form")
            .help(format!("{words} is expected"))),
    }
}

/// The ranges for attributes of a role, with their names in YAML.
const fn fitting_ranges(role: AttributeRole, form: Form) -> &'static [(Range, &'static str)] {
    match (role, form) {
        (AttributeRole::Axis, _) => {
            &[(Range::FromMinusRBelowR, "from-minus-r-below-r"), (Range::From0BelowR, "from-0-below-r")]
        }
        (AttributeRole::BatchDims, Form::Take) => &[
            (Range::FromMinusQToQ, "from-minus-q-to-q"),
            (Range::FromMinusSmallerRankToSmallerRank, "from-minus-smaller-rank-to-smaller-rank"),
        ],
        (AttributeRole::BatchDims, Form::Nd) => &[
            (Range::From0BelowQToR, "from-0-below-q-to-r"),
            (Range::From0BelowSmallerRank, "from-0-below-smaller-rank"),
        ],
        // Dimension numbers have their own rules; see `DimensionRule`.
        _ => &[],
    }
}

/// Reads the default of an attribute: a value of its type within every range or, for an axis, one of the words `none`,
/// `only-axis` and, in forms with batch dims, `batch-dims`.
fn default(
    text: Text<'_>,
    name: &Spanned<String>,
    entry: &AttributeEntry,
    form: Form,
) -> Result<AttributeDefault, Diagnostic> {
    let Some(written) = &entry.default else {
        return match entry.role.value {
            AttributeRole::Ignored => Ok(AttributeDefault::Undocumented),
            _ => Err(text
                .wrong(name.defined, format!("{} has no `default`", Quoted(&name.value)))
                .help("write what its absence stands for, such as `default: 0`")),
        };
    };
    if entry.r#type.value == AttributeType::Integers {
        return lists::default(text, written);
    }
    let word = text.scalar(written).filter(|_| !text.is_quoted(written));
    let value = match (entry.role.value, entry.r#type.value, word) {
        (AttributeRole::Axis, _, Some("none")) => return Ok(AttributeDefault::None),
        (AttributeRole::Axis, _, Some("only-axis")) => return Ok(AttributeDefault::OnlyAxis),
        (AttributeRole::Axis, _, Some("batch-dims")) if form == Form::Take => {
            return Ok(AttributeDefault::BatchDims);
        }
        (_, _, Some("null")) if entry.nullable => Some(Attribute::Null),
        (_, AttributeType::String, Some(word)) => Some(Attribute::String(word.to_owned())),
        (_, AttributeType::Integer, Some(word)) => word.parse().ok().map(Attribute::Integer),
        (_, AttributeType::Boolean, Some(word)) => word.parse().ok().map(Attribute::Boolean),
        _ => None,
    };
    match (entry.range.as_ref().map(|range| range.value), value) {
        (_, None) => Err(text
            .wrong(
                written.defined,
                format!("the default of {} is {}", Quoted(&name.value), entry.r#type.value),
            )
            .help(match form {
                Form::Take => {
                    "an axis may also have `default: batch-dims`, `default: only-axis` or `default: none`"
                }
                Form::Elements | Form::Nd | Form::Window => {
                    "an axis may also have `default: only-axis` or `default: none`"
                }
            })),
        (
            Some(Range::From0BelowR | Range::From0BelowQToR | Range::From0BelowSmallerRank),
            Some(Attribute::Integer(..0)),
        ) => Err(text.wrong(written.defined, "the default is outside the range").help("it begins at 0")),
        (_, Some(value)) => Ok(AttributeDefault::Value(value)),
    }
}
