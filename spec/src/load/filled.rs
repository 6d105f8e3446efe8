//! Words for elements in an output. `fill` is what a bad index gives: zero bits under the policy `zero`, the operator's own
//! element in a mode that fills. `any-nan` is a NaN whose bits are not defined.

use crate::any;
use crate::case::{Allowed, Filled};
use crate::diagnostic::Diagnostic;
use crate::dtype::Kind;
use crate::signature::{Fill, FillWord};
use crate::yaml::{Node, Spanned};

use super::reader::{Placeholder, TensorReader};
use super::written::WrittenDtype;

/// The words in YAML.
const FILL: &str = "fill";
const ANY_NAN: &str = "any-nan";

/// The fill that `any-nan` stands for. It is not allowed in other dtypes.
const NAN: Fill =
    Fill { inexact: FillWord::Nan, signed: FillWord::Zero, unsigned: FillWord::Zero, bool: FillWord::Zero };

impl<'a> TensorReader<'a> {
    /// What to read a node as, if it is one of the words in an output.
    pub(super) fn placeholder(&self, node: &'a Spanned<Node>) -> Option<Placeholder> {
        self.placeholder.filter(|_| self.is(FILL, node) || self.is(ANY_NAN, node))
    }

    fn is(&self, word: &str, node: &'a Spanned<Node>) -> bool {
        self.text.scalar(node) == Some(word) && !self.text.is_quoted(node)
    }

    fn has(&self, word: &str, node: &'a Spanned<Node>) -> bool {
        match &node.value {
            Node::Sequence(rows) => rows.iter().any(|row| self.has(word, row)),
            Node::Mapping(entries) => entries.iter().any(|(_, value)| self.has(word, value)),
            Node::Scalar(_) | Node::Tagged => self.is(word, node),
        }
    }

    /// The allowed output for an operator that fills with `fill`, if its call does.
    pub(super) fn allowed_output(
        &self,
        dtype: &WrittenDtype,
        node: &'a Spanned<Node>,
        fill: Option<Fill>,
    ) -> Result<Allowed, Diagnostic> {
        let is_inexact = matches!(dtype.dtype().kind(), Kind::Float | Kind::Complex);
        let (has_nan, fill) = match (self.has(ANY_NAN, node), fill) {
            (true, _) => (true, Some(NAN)),
            (false, fill) => (false, fill.filter(|_| self.has(FILL, node))),
        };
        if has_nan && (!is_inexact || matches!(dtype, WrittenDtype::Any(_)) || self.has(FILL, node)) {
            return Err(self
                .wrong(node.defined, "`any-nan` is an element of a float or a complex number")
                .help("name such a dtype for params, and write no `fill` beside it"));
        }
        if self.sends_fill && self.has(FILL, node) {
            return Err(self
                .wrong(node.defined, "`fill` is what the page fills with, and this call sends a fill value")
                .help("write the element in place of `fill`"));
        }
        let zeroed = self.output(dtype, node)?;
        let Some(fill) = fill else { return Ok(Allowed::Output(zeroed)) };
        let numbers = match dtype {
            WrittenDtype::Named(dtype) => *dtype,
            WrittenDtype::Any(_) => any::NUMBERS,
        };
        let read = |placeholder| {
            let reader = Self { placeholder: Some(placeholder), ..*self };
            reader.once(numbers, node.defined, || reader.output_of(numbers, node))
        };
        let (zero, marked) = (read(Placeholder::Zero)?, read(Placeholder::Marked)?);
        let differs = zero.iter().zip(marked.iter()).enumerate().filter(|(_, (zero, marked))| zero != marked);
        let at = differs.map(|(at, _)| at).collect();
        Ok(Allowed::Filled(Filled { zeroed, at, fill }))
    }
}
