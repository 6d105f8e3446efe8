//! The words of GatherSpec: tensors, calls, outcomes, clauses and cases. No algorithm lives here.
//!
//! What a backend sees and answers is in [`call`], on [`tensor`]s of a [`dtype`] and a [`shape`], with [`error`]s
//! by code; what sets operators apart is their [`signature`].
//!
//! The feature `cases`, on by default, brings what is written down about operators: [`clause`], [`case`] and
//! [`question`], read by [`load`] from the YAML files beside this crate, with a [`diagnostic`] for whatever is wrong with
//! them; [`any`] is the dtype of cases that hold for every dtype. Without it this crate reads no files and no YAML.

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
    ReportedError,
};
#[cfg(feature = "cases")]
pub use case::{Allowed, Case, Expectation, Filled};
#[cfg(feature = "cases")]
pub use clause::{Basis, Clause};
#[cfg(feature = "cases")]
pub use diagnostic::Diagnostic;
pub use dtype::DType;
pub use error::{ErrorCode, ErrorFields, GatherError, Refusal};
pub use shape::{Shape, ShapeTooLarge};
pub use signature::{Form, Roles, Signature, Signatures, Window};
#[cfg(feature = "cases")]
pub use specification::Specification;
pub use tensor::{ByteString, Element, Tensor, TensorBuilder, TensorError};
pub use windows::{DimensionNumbers, DimensionRule};
