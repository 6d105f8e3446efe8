//! Counts and lists in words.

use std::fmt::Display;

/// A count with its noun: `1 case`, `2 crashes`.
///
/// The noun takes `-es` behind `s` and `sh`, else `-s`.
pub(crate) fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let ending = match noun {
        _ if count == N::from(1) => "",
        _ if noun.ends_with('s') || noun.ends_with("sh") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// The first of a list, and how many are left out: `a, b and 3 more in report.md`.
pub(crate) fn cut<T: AsRef<str>>(list: &[T], most: usize, rest_is_in: &str) -> String {
    let shown: Vec<&str> = list.iter().take(most).map(AsRef::as_ref).collect();
    match list.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more in {rest_is_in}", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(1u64, "case"), "1 case");
        assert_eq!(counted(0usize, "case"), "0 cases");
        assert_eq!(counted(2usize, "crash"), "2 crashes");
    }

    #[test]
    fn a_list_is_cut_only_behind_the_limit() {
        assert_eq!(cut(&["a", "b"], 2, "x"), "a, b");
        assert_eq!(cut(&["a", "b", "c"], 2, "x"), "a, b and 1 more in x");
        assert_eq!(cut::<&str>(&[], 2, "x"), "");
    }
}
