//! Dimension numbers of form window: the meaning of each dim of params, indices and the output.

use serde::{Deserialize, Serialize};

use crate::named;

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

named! {
    /// The ways in which dimension numbers can be wrong, in the order of the checks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum DimensionRule: "rule" {
        /// The number of slice sizes is not r.
        SliceSizesCount = "slice-sizes-count",
        /// The offset, collapsed and batching dims of params do not add up to r.
        ParamsDimsCount = "params-dims-count",
        /// `index_vector_dim` is not in [0, q].
        IndexVectorDimOutOfRange = "index-vector-dim-out-of-range",
        /// `start_index_map` does not have one entry per component of an index row.
        StartIndexMapCount = "start-index-map-count",
        /// The offset dims are not strictly ascending.
        OffsetDimsNotAscending = "offset-dims-not-ascending",
        /// An offset dim is not a dim of the output.
        OffsetDimOutOfRange = "offset-dim-out-of-range",
        /// A dim of params is collapsed twice, batching twice, or both.
        CollapsedDimsRepeated = "collapsed-dims-repeated",
        /// The collapsed dims are not sorted.
        CollapsedDimsUnsorted = "collapsed-dims-unsorted",
        /// A collapsed dim is not a dim of params.
        CollapsedDimOutOfRange = "collapsed-dim-out-of-range",
        /// The operator does not allow the slice size of a collapsed dim.
        CollapsedSliceSize = "collapsed-slice-size",
        /// The batching dims of params are not sorted.
        ParamsBatchingDimsUnsorted = "params-batching-dims-unsorted",
        /// A batching dim of params is not a dim of params.
        ParamsBatchingDimOutOfRange = "params-batching-dim-out-of-range",
        /// The operator does not allow the slice size of a batching dim.
        BatchingSliceSize = "batching-slice-size",
        /// A batching dim of indices occurs twice.
        IndicesBatchingDimsRepeated = "indices-batching-dims-repeated",
        /// A batching dim of indices is not a dim of indices.
        IndicesBatchingDimOutOfRange = "indices-batching-dim-out-of-range",
        /// The dim of the index vector is also a batching dim.
        IndexVectorDimIsBatching = "index-vector-dim-is-batching",
        /// Params and indices have different numbers of batching dims.
        BatchingDimsCount = "batching-dims-count",
        /// A dim of params is the start of two components, or of one although it is batching.
        StartIndexMapRepeated = "start-index-map-repeated",
        /// An entry of `start_index_map` is not a dim of params.
        StartIndexMapOutOfRange = "start-index-map-out-of-range",
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
