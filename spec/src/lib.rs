//! The words of GatherSpec: tensors, calls, outcomes, clauses and cases. No algorithm lives here.
//!
//! What a backend sees and answers is in [`call`], on [`tensor`]s of a [`dtype`] and a [`shape`], with [`error`]s
//! by code. What is written down about operators is in [`clause`] and [`case`], read by [`load`] from the YAML
//! files beside this crate, with a [`diagnostic`] for whatever is wrong with them; [`any`] is the dtype of cases that
//! hold for every dtype.

#![forbid(unsafe_code)]

pub mod any;
pub mod call;
pub mod case;
pub mod clause;
pub mod diagnostic;
pub mod dtype;
pub mod error;
pub mod literal;
pub mod load;
pub mod shape;
pub mod signature;
pub mod tensor;
mod yaml;

pub use call::{
    Attribute, Attributes, BadIndex, Call, NegativeIndex, Operator, Outcome, Profile, ReportedError,
};
pub use case::{Allowed, Case, Expectation};
pub use clause::{Basis, Clause};
pub use diagnostic::Diagnostic;
pub use dtype::DType;
pub use error::{ErrorCode, ErrorFields, GatherError, Refusal};
pub use load::Specification;
pub use shape::{Shape, ShapeTooLarge};
pub use signature::{Form, Roles, Signature, Signatures};
pub use tensor::{ByteString, Element, Tensor, TensorBuilder, TensorError};
