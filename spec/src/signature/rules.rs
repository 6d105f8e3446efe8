//! The closed vocabulary of signatures: forms, roles, types, and rules for ranks, ranges and dims. Apart from names, dtypes
//! and numbers, everything in an `operator.yaml` is one of these words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::call::Attribute;
use crate::named;

named! {
    /// The kind of gather that an operator is. Code may distinguish operators by this, but not by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Form: "form" {
        /// One axis of params is replaced by indices: `P[:a] + I[b:] + P[a+1:]`.
        Take = "take",
        /// Every element of indices picks one element of params, at its own position with the axis replaced by the index.
        Elements = "elements",
        /// The last axis of indices holds index rows: `I[:b] + I[b:-1] + P[b+k:]`.
        Nd = "nd",
        /// Each index row is the start of a window of fixed size. Dimension numbers place the window's dims in the output.
        Window = "window",
    }
}

/// The role of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperandRole {
    /// The tensor to gather from.
    Params,
    /// The tensor of indices.
    Indices,
    /// For [`Form::Take`]: the gathered axis of params, if it is no attribute.
    Axis,
    /// For [`Form::Window`]: the window size along each dim of params, if it is no attribute.
    SliceSizes,
}

#[cfg(feature = "cases")]
impl OperandRole {
    /// Whether an operand of this role holds what an attribute of the other would.
    pub(crate) fn takes_the_place_of(self, attribute: AttributeRole) -> bool {
        matches!(
            (self, attribute),
            (Self::Axis, AttributeRole::Axis) | (Self::SliceSizes, AttributeRole::SliceSizes)
        )
    }
}

/// The role of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributeRole {
    /// The gathered axis of params.
    Axis,
    /// The number of leading dims that params and indices share.
    BatchDims,
    /// The call's choice of what a bad index gives.
    Mode,
    /// The element that the mode fills with; null for the operator's own.
    FillValue,
    /// Accepted, but without effect.
    Ignored,
    /// A promise by the caller, such as sorted indices. No effect if it holds; otherwise the documents promise nothing.
    Promise,
    /// For [`Form::Window`]: see [`DimensionNumbers::offset_dims`](crate::DimensionNumbers::offset_dims).
    OffsetDims,
    /// Likewise: the dims of params that the output lacks.
    CollapsedSliceDims,
    /// Likewise: the dims of params that are shared with indices.
    OperandBatchingDims,
    /// Likewise: the dims of indices that are shared with params.
    StartIndicesBatchingDims,
    /// Likewise: for each component of an index row, the dim of params that it is a start on.
    StartIndexMap,
    /// Likewise: the dim of indices that holds the components.
    IndexVectorDim,
    /// For [`Form::Window`]: the window size along each dim of params.
    SliceSizes,
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeType {
    /// An integer within i64.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A string.
    String,
    /// A list of integers within i64.
    Integers,
    /// A single element with the dtype of params.
    Element,
}

/// The ranks that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankRule {
    /// Any rank.
    Any,
    /// 1 or more.
    #[serde(rename = "at-least-1")]
    AtLeast1,
    /// 2 or more.
    #[serde(rename = "at-least-2")]
    AtLeast2,
    /// 1: a vector.
    #[serde(rename = "exactly-1")]
    Exactly1,
    /// 0 or 1: a scalar or a vector.
    #[serde(rename = "at-most-1")]
    AtMost1,
    /// 2: a matrix.
    #[serde(rename = "exactly-2")]
    Exactly2,
}

/// What is flattened in row-major order first, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flatten {
    /// Params, in a call with a null axis.
    WhenAxisNull,
    /// For [`Form::Elements`]: params and indices, in a call with a null axis.
    BothWhenAxisNull,
    /// For [`Form::Take`]: params, in every call. The operator has no axis.
    Always,
}

/// The range of an attribute, and the meaning of a negative value. Params has rank r, indices rank q.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Range {
    /// `-r <= axis < r`. A negative value counts from r.
    FromMinusRBelowR,
    /// `0 <= axis < r`.
    #[serde(rename = "from-0-below-r")]
    From0BelowR,
    /// `-q <= batch_dims <= q`. A negative value counts from q.
    FromMinusQToQ,
    /// `-min(q, r) <= batch_dims <= min(q, r)`. A negative value counts from q.
    FromMinusSmallerRankToSmallerRank,
    /// `0 <= batch_dims < q` and `batch_dims <= r`.
    #[serde(rename = "from-0-below-q-to-r")]
    From0BelowQToR,
    /// `0 <= batch_dims < min(q, r)`.
    #[serde(rename = "from-0-below-smaller-rank")]
    From0BelowSmallerRank,
}

/// For form elements: how a dim of indices off the axis relates to that of params.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// They are equal.
    Equal,
    /// The dim of indices is not larger. Positions beyond it are not read.
    NotLarger,
    /// They are equal, or one of them is 1 and is repeated.
    Broadcast,
}

/// For form nd: the batch dims of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputBatch {
    /// Those of indices.
    #[default]
    Kept,
    /// Their product, as one dim. Without a batch there is none.
    Flattened,
}

impl OutputBatch {
    /// The batch dims of the output, given those of indices. A product that `usize` does not hold saturates.
    #[must_use]
    pub fn of(self, batch: &[usize]) -> Vec<usize> {
        match self {
            Self::Flattened if batch.contains(&0) => vec![0],
            Self::Flattened if !batch.is_empty() => {
                vec![batch.iter().fold(1, |product: usize, dim| product.saturating_mul(*dim))]
            }
            Self::Kept | Self::Flattened => batch.to_vec(),
        }
    }
}

/// For form window: the size of a window along a collapsed or batching dim of params.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollapsedSize {
    /// 1, or 0, which leaves output elements without a source.
    #[serde(rename = "at-most-1")]
    AtMost1,
    /// One.
    #[serde(rename = "exactly-1")]
    Exactly1,
}

/// For form window: which calls must have slice sizes within the dims of params.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SliceBound {
    /// Every call.
    #[default]
    Always,
    /// Calls with index rows. Without any, nothing is read, and a slice size may be any number from 0 on.
    WithRows,
}

/// For form elements: what is checked if indices has no elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyIndex {
    /// The same as for every call.
    #[default]
    Checked,
    /// Only the dtypes, the ranks of the operands and the axis. The output has the shape of indices,
    /// regardless of that of params.
    Unchecked,
}

/// For all forms but window: whether params and indices may have a dim of 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyDims {
    /// They may.
    #[default]
    Allowed,
    /// Every dim is at least 1.
    Rejected,
}

/// The meaning of an attribute that is not sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum AttributeDefault {
    /// This value.
    Value(Attribute),
    /// The number of batch dims.
    BatchDims,
    /// The axis of a vector. If params has a higher rank, the attribute is required.
    OnlyAxis,
    /// None: the attribute is required.
    None,
    /// None: the value is an operand, which every call has.
    Operand,
    /// Undocumented, and without effect.
    Undocumented,
}

impl AttributeRole {
    /// The roles of form window only: the dimension numbers in the order of
    /// [`DimensionNumbers`](crate::DimensionNumbers), and the slice sizes.
    pub const OF_WINDOWS: [Self; 7] = [
        Self::OffsetDims,
        Self::CollapsedSliceDims,
        Self::OperandBatchingDims,
        Self::StartIndicesBatchingDims,
        Self::StartIndexMap,
        Self::IndexVectorDim,
        Self::SliceSizes,
    ];

    /// Whether the role belongs to [`Form::Window`] only.
    #[must_use]
    pub fn is_of_windows(self) -> bool {
        Self::OF_WINDOWS.contains(&self)
    }
}

impl AttributeType {
    /// Whether a value is of this type.
    #[must_use]
    pub fn takes(self, value: &Attribute) -> bool {
        if let (Self::Element, Attribute::Element(element)) = (self, value) {
            return element.rank() == 0;
        }
        matches!(
            (self, value),
            (Self::Integer, Attribute::Integer(_))
                | (Self::Boolean, Attribute::Boolean(_))
                | (Self::String, Attribute::String(_))
                | (Self::Integers, Attribute::Integers(_))
        )
    }
}

impl RankRule {
    /// The least rank that the rule allows.
    #[must_use]
    pub const fn least(self) -> usize {
        match self {
            Self::Any | Self::AtMost1 => 0,
            Self::AtLeast1 | Self::Exactly1 => 1,
            Self::AtLeast2 | Self::Exactly2 => 2,
        }
    }

    /// The highest rank that it allows, if there is one.
    #[must_use]
    pub const fn most(self) -> Option<usize> {
        match self {
            Self::Any | Self::AtLeast1 | Self::AtLeast2 => None,
            Self::Exactly1 | Self::AtMost1 => Some(1),
            Self::Exactly2 => Some(2),
        }
    }

    /// Whether the rule allows a rank.
    ///
    /// ```
    /// use gather_spec::signature::RankRule;
    /// assert!(RankRule::Exactly1.allows(1) && !RankRule::Exactly1.allows(2));
    /// ```
    #[must_use]
    pub fn allows(self, rank: usize) -> bool {
        self.least() <= rank && self.most().is_none_or(|most| rank <= most)
    }
}

impl Join {
    /// Whether this allows everything that `other` does, and more.
    #[must_use]
    pub fn is_wider_than(self, other: Self) -> bool {
        other == Self::Equal && self != Self::Equal
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
            Self::String => "a string",
            Self::Integers => "a list of integers",
            Self::Element => "an element of the dtype of params",
        })
    }
}

impl fmt::Display for AttributeDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::BatchDims => f.pad("the number of batch dims, once normalised"),
            Self::OnlyAxis => f.pad("the axis of a vector; it must be sent where there are more"),
            Self::None => f.pad("none: it must be sent"),
            Self::Operand => f.pad("none: it is an operand"),
            Self::Undocumented => f.pad("not documented; it has no effect"),
        }
    }
}
