//! Calls typed in words: `torch.gather([[1, 2], [3, 4]], dim=1, index=[[0, 0], [1, 0]])`.
//!
//! `text` reads what is written, `literal` the elements of a tensor, and `call` gives both their meaning by the signature of
//! the operator. An error says at which character it is. `answer` looks up what the documents say of the call.

mod answer;
mod call;
mod literal;
mod text;

pub use answer::{DocumentedAnswer, Permitted, answer};
pub use call::{TypedCall, operator, read};
