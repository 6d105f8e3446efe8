//! The closed words of a signature: forms, roles, types, and the rules for ranks, ranges and dims. Whatever an
//! `operator.yaml` says beside names, dtypes and numbers is one of these.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::call::Attribute;
use crate::named;

named! {
    /// What kind of gather an operator is: the only thing that code may ask about it by name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Form: "form" {
        /// One axis of params is replaced by indices: `P[:a] + I[b:] + P[a+1:]`.
        Take = "take",
        /// Every element of indices picks one element of params from its own position, on one axis replaced by the index.
        Elements = "elements",
        /// The last axis of indices holds index rows: `I[:b] + I[b:-1] + P[b+k:]`.
        Nd = "nd",
        /// An index row is the start of a window of fixed size: its dims stand in the output where dimension numbers say.
        Window = "window",
    }
}

/// What an operand is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperandRole {
    /// The tensor to gather from.
    Params,
    /// The tensor that says what to gather.
    Indices,
    /// Of [`Form::Window`]: the size of the window along each dim of params, where no attribute says it.
    SliceSizes,
}

/// What an attribute is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttributeRole {
    /// The axis of params that is gathered along.
    Axis,
    /// How many leading axes params and indices share.
    BatchDims,
    /// What becomes of a bad index, by the call.
    Mode,
    /// What takes the place of what a bad index would select, where the mode fills; null for the operator's own.
    FillValue,
    /// Accepted, and without effect.
    Ignored,
    /// What the caller vouches for: without effect where it holds, and the page says nothing where it does not.
    Promise,
    /// Of [`Form::Window`]: see [`DimensionNumbers::offset_dims`](crate::DimensionNumbers::offset_dims).
    OffsetDims,
    /// Likewise, of the dims of params that the output lacks.
    CollapsedSliceDims,
    /// Likewise, of the dims of params that are shared with indices.
    OperandBatchingDims,
    /// Likewise, of the dims of indices that are shared with params.
    StartIndicesBatchingDims,
    /// Likewise, of the dims of params that the components of an index row are starts on.
    StartIndexMap,
    /// Likewise, of the dim of indices that holds the components.
    IndexVectorDim,
    /// Of [`Form::Window`]: the size of the window along each dim of params.
    SliceSizes,
}

/// What values an attribute takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeType {
    /// An integer within i64.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A word.
    String,
    /// A list of integers within i64.
    Integers,
    /// One element, of the dtype of params.
    Element,
}

/// The ranks that an operand may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankRule {
    /// Any.
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
}

/// The values that an attribute may have, and what a negative one means. P has rank r, indices rank q.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Range {
    /// `-r <= axis < r`; a negative one counts from r.
    FromMinusRBelowR,
    /// `-q <= batch_dims <= q`; a negative one counts from q.
    FromMinusQToQ,
    /// `0 <= batch_dims < q` and `batch_dims <= r`.
    #[serde(rename = "from-0-below-q-to-r")]
    From0BelowQToR,
    /// `0 <= batch_dims < min(q, r)`.
    #[serde(rename = "from-0-below-smaller-rank")]
    From0BelowSmallerRank,
}

/// Of form elements: how a dim of indices off the axis relates to the dim of params.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Both are equal.
    Equal,
    /// That of indices is not larger; the positions beyond it are not read.
    NotLarger,
    /// Both are equal, or one of them is 1 and is repeated.
    Broadcast,
}

/// Of form window: how many elements of a collapsed or batching dim of params a window may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CollapsedSize {
    /// One, or none, which leaves a result element with nothing to read.
    #[serde(rename = "at-most-1")]
    AtMost1,
    /// One.
    #[serde(rename = "exactly-1")]
    Exactly1,
}

/// Of form window: which calls must have slice sizes within the dims of params.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SliceBound {
    /// Every call.
    #[default]
    Always,
    /// A call with a row: without one nothing is read, and a slice size may be any number from 0.
    WithRows,
}

/// Of form elements: what is checked of a call whose indices have no elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyIndex {
    /// What is checked of every call.
    #[default]
    Checked,
    /// Only the dtypes, the operands' own ranks and the axis: the output has the shape of indices, whatever params has.
    Unchecked,
}

/// What an attribute that is not sent stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum AttributeDefault {
    /// This value.
    Value(Attribute),
    /// The number of batch dims, counted from the start.
    BatchDims,
    /// The axis of a vector; where params has more axes, a call without it is refused.
    OnlyAxis,
    /// Nothing: a call without it is refused.
    None,
    /// The pages do not say, and it has no effect.
    Undocumented,
}

impl AttributeRole {
    /// Those that only [`Form::Window`] has: the dimension numbers in the order of
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

    /// Whether only [`Form::Window`] has it.
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
    /// The least rank that it allows.
    #[must_use]
    pub const fn least(self) -> usize {
        match self {
            Self::Any => 0,
            Self::AtLeast1 | Self::Exactly1 => 1,
            Self::AtLeast2 => 2,
        }
    }

    /// The highest rank that it allows, if there is one.
    #[must_use]
    pub const fn most(self) -> Option<usize> {
        match self {
            Self::Any | Self::AtLeast1 | Self::AtLeast2 => None,
            Self::Exactly1 => Some(1),
        }
    }

    /// Whether it allows a rank.
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
    /// Whether it allows all that `other` does, and more.
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
            Self::Undocumented => f.pad("not documented; it has no effect"),
        }
    }
}
