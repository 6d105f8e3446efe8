//! The difference between two outputs: dtype, shape, or the first differing element with its neighbours, and a count.
//!
//! [`Difference`] is data, the same in every format of a report. `elements` finds the differing elements and renders them
//! so that different bits give different texts; `rows` aligns them in two rows.

mod elements;
mod rows;

use gather_spec::{Allowed, DType, Outcome, Tensor};
use serde::{Deserialize, Serialize};

use crate::judge::{Verdict, describe_allowed};

pub use elements::{DifferingElements, ElementWindow};
pub use rows::AlignedRows;

/// The difference between an output and the expected one. For a `nondeterministic` call, the first answer takes the place
/// of the expected output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The dtypes, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Pair>,
    /// The shapes, if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Pair>,
    /// The elements that differ, if dtype and shape agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<DifferingElements>,
    /// Other allowed outcomes, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<String>,
}

/// A property of both outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The expected one.
    pub expected: String,
    /// The actual one.
    pub actual: String,
}

/// How to name the two sides of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The expected side, or the earlier answer.
    pub expected: &'static str,
    /// The actual side, or the later answer.
    pub actual: &'static str,
}

impl Sides {
    /// The names for a failure with this verdict.
    #[must_use]
    pub const fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Nondeterministic => Self { expected: "at first", actual: "then" },
            _ => Self { expected: "expected", actual: "actual" },
        }
    }
}

impl Difference {
    /// The difference between two outcomes; `None` if they are equal or not both outputs.
    #[must_use]
    pub fn between(expected: &Outcome, actual: &Outcome) -> Option<Self> {
        let ((dtype, shape), (other_dtype, other_shape)) = (head(expected)?, head(actual)?);
        let mut difference = Self::of_heads(dtype, shape, other_dtype, other_shape);
        if let (Outcome::Output(expected), Outcome::Output(actual)) = (expected, actual) {
            difference.elements = DifferingElements::between(expected, actual);
        }
        difference.is_some().then_some(difference)
    }

    /// The difference between an outcome and the nearest allowed output.
    pub fn from_allowed(allowed: &[Allowed], params: &Tensor, outcome: &Outcome) -> Option<Self> {
        let differences = allowed.iter().enumerate().filter_map(|(at, one)| match one {
            Allowed::Output(expected) => {
                Some((at, Self::between(&Outcome::Output(expected.clone()), outcome)?))
            }
            Allowed::Filled(expected) => {
                Some((at, Self::between(&Outcome::Output(expected.tensor().ok()?), outcome)?))
            }
            Allowed::Shape(expected) => {
                let (dtype, shape) = head(outcome)?;
                let difference = Self::of_heads(params.dtype(), expected, dtype, shape);
                difference.is_some().then_some((at, difference))
            }
            _ => None,
        });
        let (nearest, difference) = differences.min_by_key(|(_, difference)| difference.extent())?;
        let others = allowed.iter().enumerate().filter(|(at, _)| *at != nearest);
        let alternatives = others.map(|(_, one)| describe_allowed(std::slice::from_ref(one))).collect();
        Some(Self { alternatives, ..difference })
    }

    fn of_heads(dtype: DType, shape: &[usize], other_dtype: DType, other_shape: &[usize]) -> Self {
        let pair =
            |expected: String, actual: String| (expected != actual).then_some(Pair { expected, actual });
        Self {
            dtype: pair(dtype.to_string(), other_dtype.to_string()),
            shape: pair(format!("{shape:?}"), format!("{other_shape:?}")),
            ..Self::default()
        }
    }

    /// Expected and actual elements around the first difference, if the tensors are too long to show in full.
    pub(crate) fn texts(&self) -> Option<(String, String)> {
        self.elements
            .as_ref()
            .filter(|elements| elements.is_cut())
            .map(|elements| self.allowing(elements, None))
    }

    /// Expected and actual elements around the first difference, in about `width` columns.
    pub fn texts_within(&self, width: usize) -> Option<(String, String)> {
        self.elements.as_ref().map(|elements| self.allowing(elements, Some(width)))
    }

    /// Both sides in words. The expected one includes the other allowed outcomes.
    fn allowing(&self, elements: &DifferingElements, width: Option<usize>) -> (String, String) {
        let (expected, actual) = elements.texts(width);
        let allowed: Vec<&str> =
            self.alternatives.iter().map(String::as_str).chain([expected.as_str()]).collect();
        (allowed.join(" | "), actual)
    }

    fn is_some(&self) -> bool {
        self.dtype.is_some() || self.shape.is_some() || self.elements.is_some()
    }

    /// A measure of how far apart the sides are, for finding the nearest allowed output.
    fn extent(&self) -> (bool, bool, usize) {
        let differing = self.elements.as_ref().map_or(0, |elements| elements.differing);
        (self.dtype.is_some(), self.shape.is_some(), differing)
    }

    /// The difference in words: `first difference at [1, 2]: expected 7, actual 9; 3 of 40000 elements differ`.
    #[must_use]
    pub fn sentence(&self, sides: Sides) -> String {
        let property = |(name, pair): (&str, &Option<Pair>)| {
            let Pair { expected, actual } = pair.as_ref()?;
            Some(format!("{name} {actual}, {} {expected}", sides.expected))
        };
        let mut parts: Vec<String> =
            [("dtype", &self.dtype), ("shape", &self.shape)].into_iter().filter_map(property).collect();
        if let Some(elements) = &self.elements {
            let DifferingElements { first, expected, actual, differing, of, .. } = elements;
            parts.push(format!(
                "first difference at {first:?}: {} {expected}, {} {actual}",
                sides.expected, sides.actual
            ));
            parts.push(format!(
                "{differing} of {of} element{} differ{}",
                if *of == 1 { "" } else { "s" },
                if *differing == 1 { "s" } else { "" }
            ));
        }
        parts.join("; ")
    }
}

/// The dtype and shape of an output.
fn head(outcome: &Outcome) -> Option<(DType, &[usize])> {
    match outcome {
        Outcome::Output(tensor) => Some((tensor.dtype(), tensor.shape())),
        Outcome::TooLarge { dtype, shape } => Some((*dtype, shape)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::Shape;

    use super::*;

    fn output(shape: &[usize], elements: Vec<u32>) -> Outcome {
        Outcome::Output(Tensor::new(DType::I32, shape, elements).unwrap())
    }

    const EXPECTED: Sides = Sides::of(Verdict::WrongOutput);

    #[test]
    fn the_first_position_and_the_count_are_said() {
        let one: Vec<u32> = (0..6).collect();
        let other = vec![0, 1, 2, 3, 9, 8];
        let difference = Difference::between(&output(&[2, 3], one), &output(&[2, 3], other)).unwrap();
        let said = "first difference at [1, 1]: expected 4, actual 9; 2 of 6 elements differ";
        assert_eq!(difference.sentence(EXPECTED), said);
        let runs = Sides::of(Verdict::Nondeterministic);
        assert!(difference.sentence(runs).starts_with("first difference at [1, 1]: at first 4, then 9; "));
        let scalar = Difference::between(&output(&[], vec![1]), &output(&[], vec![2])).unwrap();
        assert_eq!(
            scalar.sentence(EXPECTED),
            "first difference at []: expected 1, actual 2; 1 of 1 element differs"
        );
    }

    #[test]
    fn another_shape_or_dtype_is_said_first_and_no_elements_are_compared() {
        let (one, other) = (output(&[3, 2], vec![0; 6]), output(&[2, 3], vec![1; 6]));
        let difference = Difference::between(&one, &other).unwrap();
        assert_eq!(difference.sentence(EXPECTED), "shape [2, 3], expected [3, 2]");
        assert_eq!(difference.elements, None);
        let bytes = Outcome::Output(Tensor::new(DType::U8, [3, 2], vec![0u8; 6]).unwrap());
        assert_eq!(Difference::between(&one, &bytes).unwrap().sentence(EXPECTED), "dtype u8, expected i32");
        let huge = Outcome::TooLarge { dtype: DType::I32, shape: vec![usize::MAX, 0] };
        let said = Difference::between(&output(&[0], vec![]), &huge).unwrap().sentence(EXPECTED);
        assert_eq!(said, format!("shape [{}, 0], expected [0]", usize::MAX));
    }

    #[test]
    fn what_is_no_output_or_agrees_has_no_difference() {
        let one = output(&[2], vec![1, 2]);
        assert_eq!(Difference::between(&one, &one), None);
        assert_eq!(Difference::between(&one, &Outcome::Unsupported(String::new())), None);
        let empty = output(&[0, 2], vec![]);
        assert_eq!(Difference::between(&empty, &empty), None);
    }

    #[test]
    fn of_several_allowed_outputs_the_nearest_is_compared_and_the_others_are_named() {
        let tensor = |elements: Vec<u32>| Tensor::new(DType::I32, [3], elements).unwrap();
        let shape = Shape::new([2]).unwrap();
        let allowed = [
            Allowed::AnyError,
            Allowed::Output(tensor(vec![7, 7, 7])),
            Allowed::Output(tensor(vec![1, 2, 3])),
        ];
        let outcome = output(&[3], vec![1, 2, 9]);
        let params = tensor(vec![0; 3]);
        let difference = Difference::from_allowed(&allowed, &params, &outcome).unwrap();
        assert_eq!(difference.elements.as_ref().unwrap().first, [2]);
        assert_eq!(difference.alternatives, ["any error", "i32 [3] [7, 7, 7]"]);
        let shaped = Difference::from_allowed(&[Allowed::Shape(shape)], &params, &outcome).unwrap();
        assert_eq!(shaped.sentence(EXPECTED), "shape [3], expected [2]");
        assert_eq!(Difference::from_allowed(&allowed[..1], &params, &outcome), None);
    }
}
