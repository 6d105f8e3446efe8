//! The deliberately naive gather: what the documents say, in their own names and order, and nothing clever.
//!
//! One file per operator: [`tf_gather_nd`], [`tf_raw_ops_gather_nd`], [`tf_gather`], [`paddle_gather_nd`]. What
//! they share is in `checks` (dtypes, indices) and `output` (sizes). [`answer`] finds the operator of a call.
//!
//! ```
//! use gather_reference::{Settings, tf_gather_nd};
//! use gather_spec::{DType, Tensor};
//!
//! // params = [[1, 2, 3], [4, 5, 6]], indices = [[1], [0]]: the rows change places.
//! let params = Tensor::new(DType::U8, [2, 3], vec![1u8, 2, 3, 4, 5, 6])?;
//! let indices = Tensor::new(DType::I32, [2, 1], vec![1u32, 0])?;
//! let output = tf_gather_nd::gather_nd(&params, &indices, 0, Settings::default()).unwrap();
//! assert_eq!(output, Tensor::new(DType::U8, [2, 3], vec![4u8, 5, 6, 1, 2, 3])?);
//! # Ok::<(), gather_spec::TensorError>(())
//! ```

#![forbid(unsafe_code)]

mod checks;
mod output;
pub mod paddle_gather_nd;
pub mod tf_gather;
pub mod tf_gather_nd;
pub mod tf_raw_ops_gather_nd;

use gather_spec::{Attribute, Call, DType, Outcome, Profile, Refusal, Tensor};

/// What a caller chooses beside the call itself.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What happens to bad and to negative indices.
    pub profile: Profile,
    /// The most bytes that an output may take; a larger one is `unsupported`, whatever its indices.
    pub max_output: u64,
}

impl Default for Settings {
    /// `bad: error`, `negative: reject`, 4 GiB.
    fn default() -> Self {
        Self { profile: Profile::default(), max_output: 4 << 30 }
    }
}

/// An operator that the reference answers.
#[derive(Clone, Copy, Debug)]
pub struct Implemented {
    /// Its name.
    pub name: &'static str,
    /// The dtypes of params that its page lists.
    pub params_dtypes: &'static [DType],
    /// The dtypes of indices that its page lists.
    pub index_dtypes: &'static [DType],
    answer: fn(&Call, Settings) -> Result<Tensor, Refusal>,
}

/// Every operator that the reference answers. A new one is a file and a line here.
pub static OPERATORS: [Implemented; 4] = [
    Implemented {
        name: "paddle.gather_nd",
        params_dtypes: &paddle_gather_nd::INPUT_DTYPES,
        index_dtypes: &paddle_gather_nd::INDEX_DTYPES,
        answer: paddle_gather_nd::answer,
    },
    Implemented {
        name: "tf.gather",
        params_dtypes: &tf_gather::PARAMS_DTYPES,
        index_dtypes: &tf_gather::INDEX_DTYPES,
        answer: tf_gather::answer,
    },
    Implemented {
        name: "tf.gather_nd",
        params_dtypes: &tf_gather_nd::PARAMS_DTYPES,
        index_dtypes: &tf_gather_nd::INDEX_DTYPES,
        answer: tf_gather_nd::answer,
    },
    Implemented {
        name: "tf.raw_ops.GatherNd",
        params_dtypes: &tf_raw_ops_gather_nd::PARAMS_DTYPES,
        index_dtypes: &tf_raw_ops_gather_nd::INDEX_DTYPES,
        answer: tf_raw_ops_gather_nd::answer,
    },
];

/// Answers a call; `unsupported` for an operator or attribute that the reference does not know, and, whatever its indices,
/// for an output of more than [`MAX_RANK`](gather_spec::shape::MAX_RANK) axes.
#[must_use]
pub fn answer(call: &Call, settings: Settings) -> Outcome {
    match OPERATORS.iter().find(|operator| operator.name == call.operator.as_str()) {
        Some(operator) => (operator.answer)(call, settings).into(),
        None => Outcome::Unsupported(format!("the operator `{}` is not implemented", call.operator)),
    }
}

/// An integer attribute, if it is sent.
fn integer(call: &Call, name: &str) -> Result<Option<i64>, Refusal> {
    match call.attributes.get(name) {
        None => Ok(None),
        Some(Attribute::Integer(value)) => Ok(Some(*value)),
        Some(other) => {
            Err(Refusal::Unsupported(format!("the attribute `{name}` is an integer, not {other}")))
        }
    }
}

/// Refuses attributes that the operator lacks.
fn only(call: &Call, known: &[&str]) -> Result<(), Refusal> {
    match call.attributes.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Refusal::Unsupported(format!("{} has no attribute `{name}`", call.operator))),
        None => Ok(()),
    }
}
