//! Errors of a gather: stable codes with their fields, in order of precedence.

mod fields;

use serde::{Deserialize, Serialize};

use crate::{DType, DimensionRule, Shape, named};

pub use fields::ErrorFields;

named! {
    /// The stable code of an error. Codes and fields are part of the contract; messages are not.
    ///
    /// They are in order of precedence: the first one that applies to a call is the answer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    pub enum ErrorCode: "error code" {
        /// The operator's page does not list the dtype of params.
        ParamsDtype = "params-dtype",
        /// The operator's page does not list the dtype of indices.
        IndexDtype = "index-dtype",
        /// The operator's page does not list the dtype of another operand, such as an axis.
        OperandDtype = "operand-dtype",
        /// The operator's page does not define the mode.
        ModeUnknown = "mode-unknown",
        /// The axis is required, but missing.
        AxisRequired = "axis-required",
        /// The rank of params is not allowed.
        ParamsRank = "params-rank",
        /// The rank of indices is not allowed.
        IndicesRank = "indices-rank",
        /// The shape of another operand, such as an axis, is not allowed.
        OperandShape = "operand-shape",
        /// Params and indices must have the same rank, but do not.
        RankMismatch = "rank-mismatch",
        /// A dim is 0 where the operator's page forbids it.
        EmptyDim = "empty-dim",
        /// `batch_dims` is out of range.
        BatchDimsOutOfRange = "batch-dims-out-of-range",
        /// `axis` is out of range.
        AxisOutOfRange = "axis-out-of-range",
        /// `axis` is less than `batch_dims`.
        AxisBeforeBatch = "axis-before-batch",
        /// The dimension numbers of a window contradict each other, or the shapes.
        DimensionNumbers = "dimension-numbers",
        /// A slice size is negative or exceeds its dim.
        SliceSizeOutOfRange = "slice-size-out-of-range",
        /// The batch dims of params and indices differ.
        BatchShapeMismatch = "batch-shape-mismatch",
        /// A dim off the axis differs in a way that the operator does not allow.
        JoinMismatch = "join-mismatch",
        /// Index rows have too few components, or more than params has dims left.
        IndexDepth = "index-depth",
        /// The output would exceed 2^63 - 1 bytes.
        OutputTooLarge = "output-too-large",
        /// An index is out of range for its axis.
        IndexOutOfRange = "index-out-of-range",
    }
}

/// An error with its fields, for implementations that classify their errors. [`ErrorFields`] says what each field is.
///
/// ```
/// # use gather_spec::{ErrorCode, GatherError};
/// let error = GatherError::IndexOutOfRange { position: vec![2], component: Some(0), index: 7, bound: 5 };
/// assert_eq!(error.code(), ErrorCode::IndexOutOfRange);
/// assert_eq!(error.to_string(), "index 7 at [2], component 0, is out of range [0, 5)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named after what the message says of them")]
pub enum GatherError {
    #[error("params of dtype {dtype} are not listed by the operator's page")]
    ParamsDtype { dtype: DType },
    #[error("indices of dtype {dtype} are not listed by the operator's page")]
    IndexDtype { dtype: DType },
    #[error("the operand {operand} has the dtype {dtype}, which the operator's page does not list")]
    OperandDtype { operand: String, dtype: DType },
    #[error("there is no mode {mode:?}")]
    ModeUnknown { mode: String },
    #[error("an axis is required, and there is none")]
    AxisRequired,
    #[error("params has rank {rank}, but at least {least} is needed")]
    ParamsRank { rank: usize, least: usize },
    #[error("params has rank {rank}, but at most {most} is allowed")]
    ParamsRankTooHigh { rank: usize, most: usize },
    #[error("indices has rank {rank}, but at least {least} is needed")]
    IndicesRank { rank: usize, least: usize },
    #[error("indices has rank {rank}, but at most {most} is allowed")]
    IndicesRankTooHigh { rank: usize, most: usize },
    #[error("the operand {operand} has the shape {shape}, but must be {rule}")]
    OperandShape { operand: String, shape: Shape, rule: &'static str },
    #[error("params has rank {params} and indices has rank {indices}, but both must have the same")]
    RankMismatch { params: usize, indices: usize },
    #[error("dim {dim} of {operand} is 0, where every dim is at least 1")]
    EmptyDim { operand: &'static str, dim: usize },
    #[error("batch_dims = {batch_dims} is not in [{low}, {high}]")]
    BatchDimsOutOfRange { batch_dims: i64, low: i64, high: i64 },
    #[error("axis = {axis} is not in [{low}, {rank})")]
    AxisOutOfRange { axis: i64, low: i64, rank: usize },
    #[error("axis = {axis} comes before the end of the {batch_dims} batch dims")]
    AxisBeforeBatch { axis: usize, batch_dims: usize },
    #[error("the dimension numbers break the rule {rule}")]
    DimensionNumbers { rule: DimensionRule },
    #[error("slice size {size} is not in [0, {bound}], which dim {dim} of params allows")]
    SliceSizeOutOfRange { dim: usize, size: i64, bound: usize },
    #[error("the batch dims {params} of params differ from those of indices, {indices}")]
    BatchShapeMismatch { params: Shape, indices: Shape },
    #[error("dim {dim} of indices, of shape {indices}, does not fit that of params, of shape {params}")]
    JoinMismatch { params: Shape, indices: Shape, dim: usize },
    #[error("batch_dims {batch_dims} + index depth {depth} exceeds the rank of params, {rank}")]
    IndexDepth { batch_dims: usize, depth: usize, rank: usize },
    #[error("index rows have {depth} components, but at least {least} are needed")]
    IndexDepthTooSmall { depth: usize, least: usize },
    #[error("the output would take {bytes} bytes by its non-zero dims, more than 2^63 - 1")]
    OutputTooLarge { bytes: u128 },
    #[error("index {index} at {position:?}{} is out of range [0, {bound})", in_component(*.component))]
    IndexOutOfRange { position: Vec<usize>, component: Option<usize>, index: i128, bound: usize },
}

fn in_component(component: Option<usize>) -> String {
    component.map_or_else(String::new, |component| format!(", component {component},"))
}

impl GatherError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::ParamsDtype { .. } => ErrorCode::ParamsDtype,
            Self::IndexDtype { .. } => ErrorCode::IndexDtype,
            Self::OperandDtype { .. } => ErrorCode::OperandDtype,
            Self::ModeUnknown { .. } => ErrorCode::ModeUnknown,
            Self::AxisRequired => ErrorCode::AxisRequired,
            Self::ParamsRank { .. } | Self::ParamsRankTooHigh { .. } => ErrorCode::ParamsRank,
            Self::IndicesRank { .. } | Self::IndicesRankTooHigh { .. } => ErrorCode::IndicesRank,
            Self::OperandShape { .. } => ErrorCode::OperandShape,
            Self::RankMismatch { .. } => ErrorCode::RankMismatch,
            Self::EmptyDim { .. } => ErrorCode::EmptyDim,
            Self::BatchDimsOutOfRange { .. } => ErrorCode::BatchDimsOutOfRange,
            Self::AxisOutOfRange { .. } => ErrorCode::AxisOutOfRange,
            Self::AxisBeforeBatch { .. } => ErrorCode::AxisBeforeBatch,
            Self::DimensionNumbers { .. } => ErrorCode::DimensionNumbers,
            Self::SliceSizeOutOfRange { .. } => ErrorCode::SliceSizeOutOfRange,
            Self::BatchShapeMismatch { .. } => ErrorCode::BatchShapeMismatch,
            Self::JoinMismatch { .. } => ErrorCode::JoinMismatch,
            Self::IndexDepth { .. } | Self::IndexDepthTooSmall { .. } => ErrorCode::IndexDepth,
            Self::OutputTooLarge { .. } => ErrorCode::OutputTooLarge,
            Self::IndexOutOfRange { .. } => ErrorCode::IndexOutOfRange,
        }
    }
}

/// Why an implementation gives no output: the call is wrong, or not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The call breaks a rule.
    #[error(transparent)]
    Error(#[from] GatherError),
    /// The call may be valid, but is not supported, for this reason.
    #[error("unsupported: {0}")]
    Unsupported(String),
}
