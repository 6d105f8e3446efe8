//! Outputs in which the word `fill` stands for what a bad index gives: zero bits under the policy zero, and the operator's
//! own element where a mode fills with one.

use crate::any;
use crate::case::{Allowed, Filled};
use crate::diagnostic::Diagnostic;
use crate::signature::Fill;
use crate::yaml::{Node, Spanned};

use super::data::Reader;
use super::dtypes::Written;

/// The word.
const FILL: &str = "fill";

/// What `fill` is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Spoilt {
    /// Zero bits.
    Zero,
    /// Another element, which tells its places from those of zeros.
    Marked,
}

impl Spoilt {
    /// The bits, of any dtype but string.
    pub(super) const fn bits(self) -> u128 {
        match self {
            Self::Zero => 0,
            Self::Marked => 1,
        }
    }

    /// The number of a closed form.
    pub(super) const fn number(self) -> i128 {
        self.bits().cast_signed()
    }
}

impl<'a> Reader<'a> {
    /// What a node stands for if it is the word `fill` in an output.
    pub(super) fn spoilt(&self, node: &'a Spanned<Node>) -> Option<Spoilt> {
        self.spoilt.filter(|_| self.is_fill(node))
    }

    fn is_fill(&self, node: &'a Spanned<Node>) -> bool {
        self.text.scalar(node) == Some(FILL) && !self.text.is_quoted(node)
    }

    fn has_fill(&self, node: &'a Spanned<Node>) -> bool {
        match &node.value {
            Node::Sequence(rows) => rows.iter().any(|row| self.has_fill(row)),
            Node::Mapping(entries) => entries.iter().any(|(_, value)| self.has_fill(value)),
            Node::Scalar(_) | Node::Tagged => self.is_fill(node),
        }
    }

    /// What an output allows of an operator that fills with `fill`.
    pub(super) fn filled(
        &self,
        dtype: &Written,
        node: &'a Spanned<Node>,
        fill: Fill,
    ) -> Result<Allowed, Diagnostic> {
        let zeroed = self.output(dtype, node)?;
        if !self.has_fill(node) {
            return Ok(Allowed::Output(zeroed));
        }
        let numbers = match dtype {
            Written::Named(dtype) => *dtype,
            Written::Any(_) => any::NUMBERS,
        };
        let read = |spoilt| {
            let reader = Self { spoilt: Some(spoilt), ..*self };
            reader.once(numbers, node.defined, || reader.output_of(numbers, node))
        };
        let (zero, marked) = (read(Spoilt::Zero)?, read(Spoilt::Marked)?);
        let differs = zero.iter().zip(marked.iter()).enumerate().filter(|(_, (zero, marked))| zero != marked);
        let at = differs.map(|(at, _)| at).collect();
        Ok(Allowed::Filled(Filled { zeroed, at, fill }))
    }
}
