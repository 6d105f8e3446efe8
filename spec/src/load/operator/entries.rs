//! The entries of `operator.yaml`, as they are in the file.

use serde::Deserialize;

use crate::call::{BadIndex, EmptyAxis, NegativeIndex};
use crate::signature::{
    AttributeRole, AttributeType, CollapsedSize, EmptyDims, EmptyIndex, Fill, Flatten, Form, Join,
    OperandRole, OutputBatch, Range, RankRule, SliceBound,
};
use crate::yaml::{Node, Spanned};

use super::super::raw::{FamiliesEntry, InOrder, present};
use super::lists::{DtypeList, Words};

/// `operator.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OperatorFile {
    pub(super) schema: Spanned<u32>,
    pub(super) operator: Spanned<String>,
    pub(super) summary: String,
    pub(super) documents: Vec<Spanned<String>>,
    pub(super) form: Spanned<Form>,
    pub(super) operands: Spanned<InOrder<OperandEntry>>,
    #[serde(default)]
    pub(super) attributes: InOrder<AttributeEntry>,
    #[serde(default, deserialize_with = "present")]
    pub(super) policy: Option<Spanned<PolicyEntry>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) modes: Option<Spanned<InOrder<Spanned<ModeEntry>>>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) fill: Option<Spanned<Fill>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) flatten: Option<Spanned<Flatten>>,
    #[serde(default)]
    pub(super) tolerates: TolerancesEntry,
    #[serde(default, deserialize_with = "present")]
    pub(super) empty_dims: Option<Spanned<EmptyDims>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) most_elements: Option<usize>,
    #[serde(default, deserialize_with = "present")]
    pub(super) depth: Option<Spanned<DepthEntry>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) output_batch: Option<Spanned<OutputBatch>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) join: Option<Spanned<Join>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) empty_index: Option<Spanned<EmptyIndex>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) collapsed_size: Option<Spanned<CollapsedSize>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) slice_bound: Option<Spanned<SliceBound>>,
    #[serde(default)]
    pub(super) families: FamiliesEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperandEntry {
    pub(super) role: Spanned<OperandRole>,
    pub(super) dtypes: Spanned<DtypeList>,
    pub(super) rank: Spanned<RankRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttributeEntry {
    pub(super) role: Spanned<AttributeRole>,
    pub(super) r#type: Spanned<AttributeType>,
    #[serde(default)]
    pub(super) nullable: bool,
    #[serde(default, deserialize_with = "present")]
    pub(super) default: Option<Spanned<Node>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) range: Option<Spanned<Range>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyEntry {
    pub(super) negative: Spanned<Words<NegativeIndex>>,
    pub(super) bad: Spanned<Words<BadIndex>>,
}

/// The policies of a mode. With `modulo`, `negative` is not needed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ModeEntry {
    #[serde(default, deserialize_with = "present")]
    pub(super) negative: Option<Spanned<NegativeIndex>>,
    pub(super) bad: Spanned<BadIndex>,
    #[serde(default, deserialize_with = "present")]
    pub(super) empty_axis: Option<Spanned<EmptyAxis>>,
}

/// What is tolerated for scalar params, about which the pages promise nothing.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ScalarEntry {
    Unspecified,
}

/// What is tolerated for scalar params with a scalar index.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ScalarsEntry {
    AsVectors,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TolerancesEntry {
    #[serde(default)]
    pub(super) params_dtypes: DtypeList,
    #[serde(default)]
    pub(super) index_dtypes: DtypeList,
    #[serde(default, deserialize_with = "present")]
    pub(super) scalar_params: Option<ScalarEntry>,
    #[serde(default, deserialize_with = "present")]
    pub(super) scalars: Option<Spanned<ScalarsEntry>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) indices_rank: Option<RankRule>,
    #[serde(default, deserialize_with = "present")]
    pub(super) join: Option<Spanned<Join>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) depth: Option<Spanned<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DepthEntry {
    pub(super) least: usize,
}
