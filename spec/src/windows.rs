//! How a gather of windows reads its operands: which dims of params, of indices and of the output are what.

use serde::{Deserialize, Serialize};

use crate::named;

/// The dimension numbers of a window gather, by StableHLO's words; params is StableHLO's `operand`, of rank r, and indices
/// its `start_indices`, of rank q.
///
/// Nothing is checked here: [`DimensionRule`] names what can be wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimensionNumbers {
    /// The dims of the output that hold the window's own dims, ascending.
    pub offset_dims: Vec<i64>,
    /// The dims of params of which a window has one element, and which the output lacks, ascending.
    pub collapsed_slice_dims: Vec<i64>,
    /// The dims of params that are shared with indices, ascending.
    pub operand_batching_dims: Vec<i64>,
    /// The dims of indices that are shared with params, each with the one at the same place in `operand_batching_dims`.
    pub start_indices_batching_dims: Vec<i64>,
    /// The dim of params that each component of an index row is a start on.
    pub start_index_map: Vec<i64>,
    /// The dim of indices that holds the components; q if each index is a row of one component.
    pub index_vector_dim: i64,
}

named! {
    /// What can be wrong with the dimension numbers of a call, in the order in which it is looked for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum DimensionRule: "rule" {
        /// There are not r slice sizes.
        SliceSizesCount = "slice-sizes-count",
        /// The offset, collapsed and batching dims of params are not r together.
        ParamsDimsCount = "params-dims-count",
        /// `index_vector_dim` does not lie in [0, q].
        IndexVectorDimOutOfRange = "index-vector-dim-out-of-range",
        /// `start_index_map` does not have one entry for each component of an index row.
        StartIndexMapCount = "start-index-map-count",
        /// The offset dims are not ascending, each once.
        OffsetDimsNotAscending = "offset-dims-not-ascending",
        /// An offset dim is no dim of the output.
        OffsetDimOutOfRange = "offset-dim-out-of-range",
        /// A dim of params is collapsed twice, or batching twice, or both.
        CollapsedDimsRepeated = "collapsed-dims-repeated",
        /// The collapsed dims are not sorted.
        CollapsedDimsUnsorted = "collapsed-dims-unsorted",
        /// A collapsed dim is no dim of params.
        CollapsedDimOutOfRange = "collapsed-dim-out-of-range",
        /// The slice size of a collapsed dim is not one that the operator's page allows.
        CollapsedSliceSize = "collapsed-slice-size",
        /// The batching dims of params are not sorted.
        ParamsBatchingDimsUnsorted = "params-batching-dims-unsorted",
        /// A batching dim of params is no dim of params.
        ParamsBatchingDimOutOfRange = "params-batching-dim-out-of-range",
        /// The slice size of a batching dim is not one that the operator's page allows.
        BatchingSliceSize = "batching-slice-size",
        /// A batching dim of indices is given twice.
        IndicesBatchingDimsRepeated = "indices-batching-dims-repeated",
        /// A batching dim of indices is no dim of indices.
        IndicesBatchingDimOutOfRange = "indices-batching-dim-out-of-range",
        /// The dim of the index vector is a batching dim, too.
        IndexVectorDimIsBatching = "index-vector-dim-is-batching",
        /// Params and indices do not have as many batching dims.
        BatchingDimsCount = "batching-dims-count",
        /// A dim of params is started on by two components, or by one although it is batching.
        StartIndexMapRepeated = "start-index-map-repeated",
        /// An entry of `start_index_map` is no dim of params.
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
