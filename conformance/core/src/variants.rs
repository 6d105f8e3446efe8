//! The variants that a backend declares: the ways to make a call that it knows. `plan` chooses among them.

use std::sync::Arc;

use gather_spec::call::{EXECUTION, OPERANDS, SHAPES, Variant, Way};
use gather_spec::{Call, Signature};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

use crate::layout::{can_be_view, has_equal_slices};
use crate::words::name;

/// The most values that a declaration has.
const MOST: usize = 256;

/// Larger operands, in bytes, are passed as usual: as constants they would make compiling slow, and copies of them fill the memory.
const MOST_CONSTANT: usize = 1 << 20;
const MOST_LAID_OUT: usize = 16 << 20;

/// The values of variants that a backend declares for an operator: `operands=transposed`, `indices=constant`,
/// `shapes=symbolic`, `execution=compiled`. The axis `operands` stands for each operand.
///
/// ```
/// use gather_conformance::Variants;
/// let variants = Variants::new(["operands=offset", "indices=constant"])?;
/// assert!(variants.has(&"indices=constant,params=offset".parse()?));
/// assert!(!variants.has(&"params=constant".parse()?));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variants(Vec<(Arc<str>, Way)>);

impl Serialize for Variants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(axis, way)| format!("{axis}={way}")))
    }
}

impl<'de> Deserialize<'de> for Variants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Self::new(texts.iter().map(String::as_str)).map_err(de::Error::custom)
    }
}

impl Variants {
    /// Variants by their texts.
    ///
    /// # Errors
    /// What is wrong with a text.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut all = Vec::new();
        for text in texts {
            let one: Variant = text.parse()?;
            let Some((axis, way)) = one.iter().next().filter(|_| one.iter().len() == 1) else {
                return Err(format!("`{}` is no value of a variant, such as indices=constant", name(text)));
            };
            if !all.contains(&(Arc::clone(axis), way)) {
                all.push((Arc::clone(axis), way));
            }
            if all.len() > MOST {
                return Err(format!("more than {MOST} values of variants"));
            }
        }
        Ok(Self(all))
    }

    /// Whether none is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether each value of a variant is declared.
    #[must_use]
    pub fn has(&self, variant: &Variant) -> bool {
        variant.iter().all(|(axis, way)| self.of_axis(axis).any(|one| one == way))
    }

    /// Whether a call can be made in its variant: each value is declared, and each operand that it names is there.
    pub(crate) fn admit(&self, call: &Call) -> bool {
        let is_axis = |axis: &str| axis == SHAPES || axis == EXECUTION || call.operands.get(axis).is_some();
        call.variant.iter().all(|(axis, _)| is_axis(axis)) && self.has(&call.variant)
    }

    /// The values of an axis, in the order of the declaration.
    fn of_axis(&self, axis: &str) -> impl Iterator<Item = Way> {
        let is_operand = axis != SHAPES && axis != EXECUTION;
        let is_of = move |declared: &str| declared == axis || is_operand && declared == OPERANDS;
        self.0.iter().filter(move |(declared, _)| is_of(declared)).map(|(_, way)| *way)
    }

    /// The first declared axis that an operator does not have.
    pub(crate) fn unknown_axis(&self, signature: &Signature) -> Option<&str> {
        let is_known = |axis: &str| {
            [OPERANDS, SHAPES, EXECUTION].contains(&axis)
                || signature.operands.iter().any(|operand| *operand.name == *axis)
        };
        self.0.iter().map(|(axis, _)| &**axis).find(|axis| !is_known(axis))
    }

    /// The axes of a call that can have other values than the usual ones, each with these.
    fn axes(&self, call: &Call) -> Vec<(Arc<str>, Vec<Way>)> {
        let operands = call.operands.shared().map(|(name, _)| {
            let ways = self.of_axis(name).filter(|way| can_be(*way, call, name)).collect();
            (Arc::clone(name), ways)
        });
        let others = [SHAPES, EXECUTION].map(|axis| (Arc::from(axis), self.of_axis(axis).collect()));
        let mut axes: Vec<(Arc<str>, Vec<Way>)> = operands.chain(others).collect();
        for (_, ways) in &mut axes {
            // `operands` may declare what an operand declares.
            ways.sort_unstable();
            ways.dedup();
        }
        axes
    }

    /// The variant of a call at its turn, any number: each axis has each of its values, the usual one among them, equally often.
    pub(crate) fn in_turn(&self, call: &Call, mut turn: usize) -> Variant {
        self.chosen(call, |ways| {
            let digit = turn % (ways + 1);
            turn /= ways + 1;
            digit
        })
    }

    /// Adds the variants of a call in layouts that few calls can have, each by itself: the first operand that can be a view of another
    /// is one, and an operand whose slices are equal has them once.
    pub(crate) fn add_rare(&self, call: &Call, variants: &mut Vec<Variant>) {
        let axes = self.axes(call);
        let alone = |way: Way| {
            let having = axes.iter().filter(move |(_, ways)| ways.contains(&way));
            having.map(move |(axis, _)| with_values([(axis, way)]))
        };
        for rare in alone(Way::View).take(1).chain(alone(Way::Expanded)) {
            if !variants.contains(&rare) {
                variants.push(rare);
            }
        }
    }

    /// The variant of a call whose values are chosen, axis by axis, among so many; 0 stands for the usual one.
    pub fn chosen(&self, call: &Call, mut choose: impl FnMut(usize) -> usize) -> Variant {
        let mut variant = Variant::default();
        for (axis, ways) in self.axes(call) {
            if let Some(way) = choose(ways.len()).checked_sub(1) {
                variant.set(axis, ways[way]).expect("a declared value is one of its axis");
            }
        }
        variant
    }

    /// The usual variant, and others such that each value occurs: layouts of all operands at once, rare ones and each other value alone.
    pub(crate) fn each(&self, call: &Call, turn: usize) -> Vec<Variant> {
        let axes = self.axes(call);
        let layouts = |ways: &[Way]| ways.iter().copied().filter(|way| way.is_layout()).collect::<Vec<_>>();
        let laid_out: Vec<(&Arc<str>, Vec<Way>)> = axes
            .iter()
            .map(|(axis, ways)| (axis, layouts(ways)))
            .filter(|(_, ways)| !ways.is_empty())
            .collect();
        let most = laid_out.iter().map(|(_, ways)| ways.len()).max().unwrap_or(0);
        let together = (0..most).map(|at| {
            // Operands with as many values move on from pair to pair of them by the turn.
            let value = |(place, (axis, ways)): (usize, &(_, Vec<Way>))| {
                (*axis, ways[(at + place * turn) % ways.len()])
            };
            with_values(laid_out.iter().enumerate().map(value))
        });
        let alone = axes.iter().flat_map(|(axis, ways)| {
            let others = ways.iter().filter(|way| !way.is_layout());
            others.map(|way| with_values([(axis, *way)])).collect::<Vec<_>>()
        });
        let mut variants: Vec<Variant> =
            std::iter::once(Variant::default()).chain(together).chain(alone).collect();
        self.add_rare(call, &mut variants);
        variants
    }
}

/// The variant that has these values, each on an axis of its own.
fn with_values<'a>(values: impl IntoIterator<Item = (&'a Arc<str>, Way)>) -> Variant {
    let mut variant = Variant::default();
    for (axis, way) in values {
        variant.set(Arc::clone(axis), way).expect("a declared value is one of its axis");
    }
    variant
}

/// Whether passing an operand of a call in this way differs from the usual way.
fn can_be(way: Way, call: &Call, operand: &str) -> bool {
    let Some(tensor) = call.operands.get(operand) else { return false };
    let count = tensor.shape().element_count();
    let bytes = count.saturating_mul(tensor.dtype().size());
    if way.is_layout() && (count == 0 || bytes > MOST_LAID_OUT) {
        return false;
    }
    match way {
        Way::Constant => bytes <= MOST_CONSTANT,
        Way::Transposed => tensor.shape().iter().filter(|dim| **dim > 1).count() > 1,
        Way::Reversed => count > 1,
        Way::Expanded => has_equal_slices(tensor),
        Way::View => can_be_view(call, operand),
        Way::Offset | Way::ReadOnly | Way::Symbolic | Way::Compiled => true,
    }
}

/// Whether a variant needs the function to be compiled for the call.
pub(crate) fn compiles(variant: &Variant) -> bool {
    variant.iter().any(|(_, way)| !way.is_layout())
}
