//! The documented operators by name: the dtypes of their pages, and their attributes as options.

use gather_spec::{Attribute, Attributes, DType, GatherError, Refusal};

use crate::Options;
use crate::plan::Plan;

/// A documented operator and the dtypes that its page lists.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OperatorInfo {
    /// Its name, such as `tf.gather_nd`.
    pub name: &'static str,
    /// The dtypes of params that are accepted.
    pub params_dtypes: &'static [DType],
    /// The dtypes of indices that are accepted.
    pub index_dtypes: &'static [DType],
    pub(crate) formula: Formula,
}

/// Which formula an operator follows, with what differs between its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Formula {
    /// Rows of indices, of at least this rank.
    Nd { attributes: &'static [&'static str], least_indices_rank: usize },
    /// One axis.
    OneAxis,
}

const PADDLE_DTYPES: [DType; 5] = [DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64];
const INDEX_DTYPES: [DType; 2] = [DType::I32, DType::I64];
const RAW_INDEX_DTYPES: [DType; 3] = [DType::I16, DType::I32, DType::I64];

/// Every operator that is answered.
pub const OPERATORS: [OperatorInfo; 4] = [
    OperatorInfo {
        name: "tf.gather_nd",
        params_dtypes: &DType::ALL,
        index_dtypes: &INDEX_DTYPES,
        formula: Formula::Nd { attributes: &["batch_dims"], least_indices_rank: 1 },
    },
    OperatorInfo {
        name: "tf.raw_ops.GatherNd",
        params_dtypes: &DType::ALL,
        index_dtypes: &RAW_INDEX_DTYPES,
        formula: Formula::Nd { attributes: &[], least_indices_rank: 1 },
    },
    OperatorInfo {
        name: "tf.gather",
        params_dtypes: &DType::ALL,
        index_dtypes: &INDEX_DTYPES,
        formula: Formula::OneAxis,
    },
    OperatorInfo {
        name: "paddle.gather_nd",
        params_dtypes: &PADDLE_DTYPES,
        index_dtypes: &INDEX_DTYPES,
        formula: Formula::Nd { attributes: &[], least_indices_rank: 2 },
    },
];

impl OperatorInfo {
    /// The options that the attributes ask for, on top of `options`.
    pub(crate) fn options(&self, attributes: &Attributes, options: Options) -> Result<Options, Refusal> {
        attributes.iter().try_fold(options, |options, (name, value)| self.option(name, *value, options))
    }

    fn option(&self, name: &str, value: Attribute, options: Options) -> Result<Options, Refusal> {
        let known = match self.formula {
            Formula::Nd { attributes, .. } => attributes,
            Formula::OneAxis => &["axis", "batch_dims", "validate_indices"],
        };
        match (name, value) {
            _ if !known.contains(&name) => {
                Err(Refusal::Unsupported(format!("{} has no attribute `{name}`", self.name)))
            }
            ("batch_dims", Attribute::Integer(batch_dims)) => Ok(options.batch_dims(batch_dims)),
            ("axis", Attribute::Integer(axis)) => Ok(options.axis(axis)),
            // Accepted, and without effect.
            ("validate_indices", Attribute::Boolean(_)) => Ok(options),
            _ => Err(Refusal::Unsupported(format!("attribute `{name}` of {} cannot be {value}", self.name))),
        }
    }

    /// Checks in the order of the error codes, up to the shapes.
    pub(crate) fn plan(
        &self,
        (params_dtype, params): (DType, &[usize]),
        (index_dtype, indices): (DType, &[usize]),
        options: &Options,
    ) -> Result<Plan, Refusal> {
        if !self.params_dtypes.contains(&params_dtype) {
            return Err(GatherError::ParamsDtype { dtype: params_dtype }.into());
        }
        if !self.index_dtypes.contains(&index_dtype) {
            return Err(GatherError::IndexDtype { dtype: index_dtype }.into());
        }
        match self.formula {
            Formula::OneAxis => Plan::gather(params, indices, options),
            Formula::Nd { least_indices_rank: least, .. } if indices.len() < least => {
                Err(GatherError::IndicesRank { rank: indices.len(), least }.into())
            }
            Formula::Nd { .. } => Plan::gather_nd(params, indices, options),
        }
    }
}
