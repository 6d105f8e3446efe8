//! Turns the numbers of a closed form into elements.

use crate::literal::{bits_of_count, parse_scalar};
use crate::{DType, Element};

/// How to turn numbers into elements.
#[derive(Clone, Copy)]
pub(super) struct Painter {
    pub(super) dtype: DType,
    pub(super) modulo: Option<i128>,
    /// The number of digits of a string, padded with leading zeros.
    pub(super) digits: Option<usize>,
}

impl Painter {
    /// The step closest to 0 that gives the same elements.
    pub(super) fn least(self, step: i128) -> i128 {
        let Some(modulo) = self.modulo else { return step };
        let step = step.rem_euclid(modulo);
        if step > modulo / 2 { step - modulo } else { step }
    }

    pub(super) fn reduced(self, number: i128) -> i128 {
        self.modulo.map_or(number, |modulo| number.rem_euclid(modulo))
    }

    pub(super) fn element(self, number: i128) -> Result<Element, String> {
        let number = self.reduced(number);
        if self.dtype == DType::String {
            let digits = number.to_string();
            let Some(zeros) = self.digits.map_or(Some(0), |wanted| wanted.checked_sub(digits.len())) else {
                return Err(format!("{number} has more digits than `digits` says"));
            };
            return Ok(Element::Bytes(("0".repeat(zeros) + &digits).into()));
        }
        let bits = match usize::try_from(number) {
            Ok(count) => bits_of_count(self.dtype, count),
            Err(_) => parse_scalar(self.dtype, &number.to_string()).ok(),
        };
        bits.map(Element::Bits).ok_or_else(|| format!("{} does not hold {number}", self.dtype))
    }
}
