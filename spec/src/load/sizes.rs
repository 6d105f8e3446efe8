//! Named sizes that `for-each` sets, and the expressions in which shapes, fills and errors use them, such as `2*n` or
//! `(n-1)*m`.

use std::fmt;

/// The longest expression, in characters.
const LONGEST: usize = 100;

/// The values of named sizes in one run of a case. Without any, only plain numbers are valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Sizes(Vec<(String, i128)>);

impl Sizes {
    /// The sizes with these values.
    pub(super) const fn new(values: Vec<(String, i128)>) -> Self {
        Self(values)
    }

    /// Whether there are no named sizes.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// What is wrong with the expression.
    pub(super) fn number(&self, text: &str) -> Result<i128, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} characters"));
        }
        let mut sum = Sum { rest: text.trim_start(), sizes: self };
        let value = sum.sum()?;
        match sum.rest.chars().next() {
            None => Ok(value),
            Some(found) => Err(format!("`{}` is not expected here", found.escape_debug())),
        }
    }

    fn get(&self, name: &str) -> Result<i128, String> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = self.0.iter().map(|(known, _)| known.as_str()).collect();
            format!("there is no size `{name}`: `for-each` has {}", known.join(", "))
        })
    }
}

/// `n=16,m=64`
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// The rest of an expression that is being evaluated. `/` rounds down.
struct Sum<'t> {
    rest: &'t str,
    sizes: &'t Sizes,
}

impl<'t> Sum<'t> {
    fn sum(&mut self) -> Result<i128, String> {
        let mut value = self.product()?;
        loop {
            let (add, sign) = match (self.takes('+'), self.takes('-')) {
                (true, _) => (true, '+'),
                (false, true) => (false, '-'),
                (false, false) => return Ok(value),
            };
            let next = self.product()?;
            let result = if add { value.checked_add(next) } else { value.checked_sub(next) };
            value = result.ok_or_else(|| too_large(sign))?;
        }
    }

    fn product(&mut self) -> Result<i128, String> {
        let mut value = self.factor()?;
        loop {
            value = if self.takes('*') {
                value.checked_mul(self.factor()?).ok_or_else(|| too_large('*'))?
            } else if self.takes('/') {
                match self.factor()? {
                    divisor if divisor > 0 => value.div_euclid(divisor),
                    divisor => return Err(format!("it divides by {divisor}")),
                }
            } else {
                return Ok(value);
            };
        }
    }

    fn factor(&mut self) -> Result<i128, String> {
        if self.takes('-') {
            return Ok(-self.factor()?);
        }
        if self.takes('(') {
            let value = self.sum()?;
            return if self.takes(')') { Ok(value) } else { Err("a `)` is missing".to_owned()) };
        }
        let digits = self.word(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            // Dims have 63 bits, so sums and products of a few of them are far below the limit of i128.
            let value = digits.parse::<u64>();
            return value.map(i128::from).map_err(|_| format!("{digits} is above 2^64 - 1"));
        }
        match self.word(|c| c.is_ascii_lowercase()) {
            "" => Err("a number or the name of a size is expected".to_owned()),
            name => self.sizes.get(name),
        }
    }

    /// Consumes a sign, if it is next.
    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign).map(str::trim_start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }
}

fn too_large(sign: char) -> String {
    format!("the result of `{sign}` is too large")
}

/// One combination. The default has no sizes.
#[derive(Clone, Debug, Default)]
pub(super) struct GridPoint {
    pub(super) sizes: Sizes,
    /// The preferred width of params elements under `any`, for a backend that has a dtype of this width.
    pub(super) element_bytes: Option<usize>,
    /// The preferred width of indices.
    pub(super) index_bytes: Option<usize>,
    /// The part of the id for this combination, such as `n=16,m=64,element-bytes=8`.
    pub(super) suffix: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_are_read_as_in_a_formula() {
        let sizes = Sizes::new(vec![("n".to_owned(), 7), ("m".to_owned(), 3)]);
        let number = |text| sizes.number(text).unwrap();
        assert_eq!(
            [number("n"), number("12"), number("-n"), number("n - 1"), number("2*n+m")],
            [7, 12, -7, 6, 17]
        );
        assert_eq!([number("(n-1)*m/2"), number("n/2*2"), number("-n/2"), number("1-(2-m)")], [9, 6, -4, 2]);
        assert_eq!(sizes.to_string(), "n=7,m=3");
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_reason() {
        let sizes = Sizes::new(vec![("n".to_owned(), 7)]);
        let wrong = |text: &str| sizes.number(text).unwrap_err();
        assert_eq!(wrong("k+1"), "there is no size `k`: `for-each` has n");
        assert_eq!(wrong("n+"), "a number or the name of a size is expected");
        assert_eq!(wrong("(n"), "a `)` is missing");
        assert_eq!(wrong("n n"), "`n` is not expected here");
        assert_eq!(wrong("n/0"), "it divides by 0");
        assert_eq!(wrong("18446744073709551616"), "18446744073709551616 is above 2^64 - 1");
        assert_eq!(
            wrong(&format!("2{}", "*18446744073709551615".repeat(2))),
            "the result of `*` is too large"
        );
        assert_eq!(wrong(&"(".repeat(101)), "it is longer than 100 characters");
    }
}
