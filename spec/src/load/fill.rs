//! Reads a `fill`: a single value, numbers that count up, or a closed form.

use crate::diagnostic::Diagnostic;
use crate::literal::bits_of_count;
use crate::yaml::{Node, Spanned};
use crate::{DType, Element, Shape, Tensor, TensorBuilder};

use super::closed_form::PLACES;
use super::reader::{MAX_ELEMENTS, TensorReader};

impl<'a> TensorReader<'a> {
    /// Reads a tensor with a given shape from its `fill`. `at` is the position of the shape.
    pub(super) fn fill(
        &self,
        dtype: DType,
        shape: Shape,
        at: serde_yaml::Location,
        fill: &'a Spanned<Node>,
    ) -> Result<Tensor, Diagnostic> {
        let count = shape.element_count();
        if count > MAX_ELEMENTS && !self.large {
            return Err(self.too_many(count, at));
        }
        let bad = |error: crate::TensorError| self.wrong(at, error.to_string());
        // Counts 0, 1, 2, … and restarts after `period` numbers.
        let counted = |period: usize| {
            self.check_iota(dtype, count.min(period), fill.defined)?;
            self.count(dtype, &shape, at)?;
            let mut builder = TensorBuilder::new(dtype, shape.clone()).map_err(bad)?;
            (0..count).for_each(|i| builder.push(nth(dtype, i % period)));
            builder.finish().map_err(bad)
        };
        if let Node::Mapping(entries) = &fill.value
            && entries.iter().any(|(name, _)| ["steps", "components"].contains(&&*name.value))
        {
            return self.closed_form(dtype, shape, at, fill.defined, entries);
        }
        if let Node::Mapping(entries) = &fill.value
            && entries.iter().any(|(name, _)| name.value == PLACES)
        {
            // Zeros represent them until they are needed.
            self.places(dtype, &shape, at, entries)?;
            return Tensor::filled(dtype, shape, &Element::zero(dtype)).map_err(bad);
        }
        if let Node::Mapping(entries) = &fill.value
            && let [(name, value)] = entries.as_slice()
        {
            match name.value.as_str() {
                "value" => {
                    return Tensor::filled(dtype, shape, &self.element(dtype, value)?).map_err(bad);
                }
                "cycle" => return counted(self.period(value)?),
                _ => {}
            }
        }
        match self.text.scalar(fill) {
            Some("zeros") => Tensor::filled(dtype, shape, &Element::zero(dtype)).map_err(bad),
            Some("iota") => counted(usize::MAX),
            _ => Err(self.wrong(fill.defined, "unknown fill").help(
                "one of `zeros`, `iota`, `{ cycle: 251 }`, `{ value: x }`, `{ steps: [64, 1] }` is expected",
            )),
        }
    }

    /// The period of a `cycle`.
    fn period(&self, node: &'a Spanned<Node>) -> Result<usize, Diagnostic> {
        let text = self.text.scalar(node).unwrap_or_default();
        let period = text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
        period.filter(|period| *period > 0).ok_or_else(|| {
            self.wrong(node.defined, "a cycle has a whole number of elements, at least 1")
                .help("`{ cycle: 251 }` counts 0 to 250 and begins again")
        })
    }

    /// Checks that all numbers are exact. From some number on, a float skips numbers, and of two neighbours at most one is exact:
    /// so checking the last two is enough.
    fn check_iota(&self, dtype: DType, count: usize, at: serde_yaml::Location) -> Result<(), Diagnostic> {
        let Some(last) = count.checked_sub(1).filter(|_| dtype != DType::String) else { return Ok(()) };
        let lost = |i: usize| bits_of_count(dtype, i).is_none();
        if lost(last) {
            return Err(self.wrong(at, format!("iota ends at {last}, which {dtype} does not hold exactly")));
        }
        match last.checked_sub(1).filter(|i| lost(*i)) {
            Some(lost) => {
                Err(self.wrong(at, format!("iota passes {lost}, which {dtype} does not hold exactly")))
            }
            None => Ok(()),
        }
    }
}

/// Element `i` of an iota. [`TensorReader::check_iota`] has checked that it is exact.
fn nth(dtype: DType, i: usize) -> Element {
    match dtype {
        DType::String => Element::Bytes(i.to_string().into()),
        _ => Element::Bits(bits_of_count(dtype, i).unwrap_or_default()),
    }
}
