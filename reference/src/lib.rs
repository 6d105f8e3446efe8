//! The reference: a deliberately naive gather that follows the documents, in their names and order.
//!
//! Each operator has one file, in the folder of its ecosystem: [`array_api`], [`jax`], [`numpy`], [`onnx`], [`openvino`],
//! [`paddle`], [`stablehlo`], [`tf`], [`torch`], [`webnn`]. It cites a clause at every check. The files never read
//! signatures, so a wrong signature shows as a difference. They share only `checks` (attributes, dtypes, indices) and
//! `output` (sizes); `operator` says what each of them is. [`answer`] finds the operator of a call.
//!
//! ```
//! use gather_reference::{Settings, tf};
//! use gather_spec::{DType, Tensor};
//!
//! // params = [[1, 2, 3], [4, 5, 6]], indices = [[1], [0]]: the rows change places.
//! let params = Tensor::new(DType::U8, [2, 3], vec![1u8, 2, 3, 4, 5, 6])?;
//! let indices = Tensor::new(DType::I32, [2, 1], vec![1u32, 0])?;
//! let output = tf::gather_nd::gather_nd(&params, &indices, 0, Settings::default()).unwrap();
//! assert_eq!(output, Tensor::new(DType::U8, [2, 3], vec![4u8, 5, 6, 1, 2, 3])?);
//! # Ok::<(), gather_spec::TensorError>(())
//! ```

#![forbid(unsafe_code)]

pub mod array_api;
mod checks;
pub mod jax;
pub mod numpy;
pub mod onnx;
pub mod openvino;
mod operator;
mod output;
pub mod paddle;
pub mod stablehlo;
pub mod tf;
pub mod torch;
pub mod webnn;

use gather_spec::{Call, Outcome};

pub use operator::{Implemented, Settings};

/// Every operator of the reference, by ecosystem. A new one needs a file, and a line in its ecosystem's `mod.rs`.
pub fn operators() -> impl Iterator<Item = &'static Implemented> {
    [
        array_api::OPERATORS,
        jax::OPERATORS,
        numpy::OPERATORS,
        onnx::OPERATORS,
        openvino::OPERATORS,
        paddle::OPERATORS,
        stablehlo::OPERATORS,
        tf::OPERATORS,
        torch::OPERATORS,
        webnn::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// Answers a call. Unknown operators and attributes are `unsupported`, and so are outputs with more than
/// [`MAX_RANK`](gather_spec::shape::MAX_RANK) axes, regardless of their indices.
#[must_use]
pub fn answer(call: &Call, settings: Settings) -> Outcome {
    match operators().find(|operator| operator.name == call.operator.as_str()) {
        Some(operator) => (operator.answer)(call, settings).into(),
        None => Outcome::Unsupported(format!("the operator `{}` is not implemented", call.operator)),
    }
}
