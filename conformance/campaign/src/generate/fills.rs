//! Fill values that a call sends.

use gather_spec::dtype::Kind;
use gather_spec::{DType, Element};

use super::ChoiceSequence;

/// Sometimes a fill value that reveals a conversion: zero, minus zero or the lowest value, a NaN with a payload, or a value that no
/// narrower dtype can hold.
pub(crate) fn telling(choices: &mut ChoiceSequence, dtype: DType) -> Option<Element> {
    if dtype.kind() == Kind::String || dtype == DType::Bool || !choices.once_in(2) {
        return None;
    }
    let (width, top) = (8 * dtype.size(), choices.pick(&[0u128, 0x8000, 0x7FC1, 0x3FF1, 0xFFFF]));
    let repeated = top * 0x0001_0001_0001_0001_0001_0001_0001_0001;
    let bits = match choices.once_in(2) {
        _ if width < 16 => top >> 8,
        true => repeated & (u128::MAX >> (128 - width)),
        false => top << (width - 16),
    };
    Some(Element::Bits(bits))
}
