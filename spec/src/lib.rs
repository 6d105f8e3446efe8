//! The data types of GatherSpec: tensors, calls, outcomes, clauses and cases. This crate contains no algorithm.
//!
//! - [`call`]: what a backend receives and returns, made of [`tensor`]s with a [`dtype`] and a [`shape`], and of
//!   [`error`]s with codes;
//! - [`signature`]: what distinguishes one operator from another.
//!
//! The feature `cases`, on by default, adds what is written about operators: [`clause`], [`case`] and [`question`], which
//! [`load`] reads from the YAML files next to this crate, and [`diagnostic`] for problems in those. [`any`] is the dtype of
//! cases that hold for every dtype. Without the feature, this crate reads no files.

#![forbid(unsafe_code)]

#[cfg(feature = "cases")]
pub mod any;
pub mod call;
#[cfg(feature = "cases")]
pub mod case;
#[cfg(feature = "cases")]
pub mod clause;
#[cfg(feature = "cases")]
pub mod diagnostic;
pub mod dtype;
pub mod error;
pub mod literal;
#[cfg(feature = "cases")]
pub mod load;
#[doc(hidden)]
pub mod names;
#[cfg(feature = "cases")]
pub mod question;
#[cfg(feature = "cases")]
mod run;
pub mod shape;
pub mod signature;
#[cfg(feature = "cases")]
mod specification;
pub mod tensor;
pub mod windows;
#[cfg(feature = "cases")]
mod yaml;

pub use call::{
    Attribute, Attributes, BadIndex, Call, EmptyAxis, NegativeIndex, Operator, Outcome, Profile,
    ReportedError, Variant,
};
#[cfg(feature = "cases")]
pub use case::{Allowed, Case, Expectation, Filled};
#[cfg(feature = "cases")]
pub use clause::{Basis, Clause};
#[cfg(feature = "cases")]
pub use diagnostic::Diagnostic;
pub use dtype::DType;
pub use error::{ErrorCode, ErrorFields, GatherError, Refusal};
#[cfg(feature = "cases")]
pub use run::Run;
pub use shape::{Position, Shape, ShapeTooLarge};
pub use signature::{Form, Roles, Signature, Signatures, Window};
#[cfg(feature = "cases")]
pub use specification::{Coverage, Specification};
pub use tensor::{ByteString, Element, Tensor, TensorBuilder, TensorError};
pub use windows::{DimensionNumbers, DimensionRule};
