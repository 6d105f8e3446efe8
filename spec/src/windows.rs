//! Dimension numbers of form window: the meaning of each dim of params, indices and the output.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The dimension numbers of a window gather, named as in StableHLO. Params is StableHLO's `operand`, of rank r, and indices
/// its `start_indices`, of rank q.
///
/// Nothing is checked here. [`DimensionRule`] lists what can be wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimensionNumbers {
    /// The dims of the output that are dims of the window, ascending.
    pub offset_dims: Vec<i64>,
    /// The dims of params along which a window has one element and which the output lacks, ascending.
    pub collapsed_slice_dims: Vec<i64>,
    /// The dims of params that are shared with indices, ascending.
    pub operand_batching_dims: Vec<i64>,
    /// The dims of indices that are shared with params, in the order of `operand_batching_dims`.
    pub start_indices_batching_dims: Vec<i64>,
    /// For each component of an index row, the dim of params that it is a start on.
    pub start_index_map: Vec<i64>,
    /// The dim of indices that holds the components; q if every index is a row of one component.
    pub index_vector_dim: i64,
}

/// The ways in which dimension numbers can be wrong, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DimensionRule {
    /// The number of slice sizes is not r.
    SliceSizesCount,
    /// The offset, collapsed and batching dims of params do not add up to r.
    ParamsDimsCount,
    /// `index_vector_dim` is not in [0, q].
    IndexVectorDimOutOfRange,
    /// `start_index_map` does not have one entry per component of an index row.
    StartIndexMapCount,
    /// The offset dims are not strictly ascending.
    OffsetDimsNotAscending,
    /// An offset dim is not a dim of the output.
    OffsetDimOutOfRange,
    /// A dim of params is collapsed twice, batching twice, or both.
    CollapsedDimsRepeated,
    /// The collapsed dims are not sorted.
    CollapsedDimsUnsorted,
    /// A collapsed dim is not a dim of params.
    CollapsedDimOutOfRange,
    /// The operator does not allow the slice size of a collapsed dim.
    CollapsedSliceSize,
    /// The batching dims of params are not sorted.
    ParamsBatchingDimsUnsorted,
    /// A batching dim of params is not a dim of params.
    ParamsBatchingDimOutOfRange,
    /// The operator does not allow the slice size of a batching dim.
    BatchingSliceSize,
    /// A batching dim of indices occurs twice.
    IndicesBatchingDimsRepeated,
    /// A batching dim of indices is not a dim of indices.
    IndicesBatchingDimOutOfRange,
    /// The dim of the index vector is also a batching dim.
    IndexVectorDimIsBatching,
    /// Params and indices have different numbers of batching dims.
    BatchingDimsCount,
    /// A dim of params is the start of two components, or of one although it is batching.
    StartIndexMapRepeated,
    /// An entry of `start_index_map` is not a dim of params.
    StartIndexMapOutOfRange,
}

impl DimensionRule {
    /// Every rule, in the order of the checks.
    pub const ALL: [Self; 19] = [
        Self::SliceSizesCount,
        Self::ParamsDimsCount,
        Self::IndexVectorDimOutOfRange,
        Self::StartIndexMapCount,
        Self::OffsetDimsNotAscending,
        Self::OffsetDimOutOfRange,
        Self::CollapsedDimsRepeated,
        Self::CollapsedDimsUnsorted,
        Self::CollapsedDimOutOfRange,
        Self::CollapsedSliceSize,
        Self::ParamsBatchingDimsUnsorted,
        Self::ParamsBatchingDimOutOfRange,
        Self::BatchingSliceSize,
        Self::IndicesBatchingDimsRepeated,
        Self::IndicesBatchingDimOutOfRange,
        Self::IndexVectorDimIsBatching,
        Self::BatchingDimsCount,
        Self::StartIndexMapRepeated,
        Self::StartIndexMapOutOfRange,
    ];

    /// The name used in case files and in the protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SliceSizesCount => "slice-sizes-count",
            Self::ParamsDimsCount => "params-dims-count",
            Self::IndexVectorDimOutOfRange => "index-vector-dim-out-of-range",
            Self::StartIndexMapCount => "start-index-map-count",
            Self::OffsetDimsNotAscending => "offset-dims-not-ascending",
            Self::OffsetDimOutOfRange => "offset-dim-out-of-range",
            Self::CollapsedDimsRepeated => "collapsed-dims-repeated",
            Self::CollapsedDimsUnsorted => "collapsed-dims-unsorted",
            Self::CollapsedDimOutOfRange => "collapsed-dim-out-of-range",
            Self::CollapsedSliceSize => "collapsed-slice-size",
            Self::ParamsBatchingDimsUnsorted => "params-batching-dims-unsorted",
            Self::ParamsBatchingDimOutOfRange => "params-batching-dim-out-of-range",
            Self::BatchingSliceSize => "batching-slice-size",
            Self::IndicesBatchingDimsRepeated => "indices-batching-dims-repeated",
            Self::IndicesBatchingDimOutOfRange => "indices-batching-dim-out-of-range",
            Self::IndexVectorDimIsBatching => "index-vector-dim-is-batching",
            Self::BatchingDimsCount => "batching-dims-count",
            Self::StartIndexMapRepeated => "start-index-map-repeated",
            Self::StartIndexMapOutOfRange => "start-index-map-out-of-range",
        }
    }
}

impl fmt::Display for DimensionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DimensionRule {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(" ");
        let found = Self::ALL.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| format!("unknown rule `{name}`: one of {} is expected", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_the_name_that_serde_gives_it_and_is_read_back() {
        for rule in DimensionRule::ALL {
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
            assert_eq!(rule.name().parse(), Ok(rule));
        }
        assert!(DimensionRule::ALL.is_sorted());
        assert!("sorted".parse::<DimensionRule>().unwrap_err().contains("offset-dims-not-ascending"));
    }
}
