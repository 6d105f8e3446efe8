//! Typed values from texts.

use serde::de::DeserializeOwned;

use super::{Spanned, Text};
use crate::diagnostic::Diagnostic;

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Text { file: "f", text }.parse().map_err(|diagnostic: Diagnostic| diagnostic.message)
}

#[test]
fn a_number_is_whole_fits_its_type_and_has_no_quotes() {
    let not_negative = "the file must be a whole number that is not negative";
    assert_eq!(read::<u32>("4294967295"), Ok(u32::MAX));
    assert_eq!(read::<i64>("-1"), Ok(-1));
    assert_eq!(read::<u128>(&u128::MAX.to_string()), Ok(u128::MAX));
    for text in ["4294967296", "-1", "1.0", "\"1\"", "[1]", "!!int 1"] {
        assert!(read::<u32>(text).is_err(), "{text}");
    }
    assert_eq!(read::<u32>("-1"), Err(format!("{not_negative}, but `-1` is written here")));
    assert_eq!(read::<u32>("~"), Err(format!("{not_negative}, but nothing is written here")));
}

#[test]
fn true_and_false_are_the_only_booleans() {
    assert_eq!((read::<bool>("true"), read::<bool>("false")), (Ok(true), Ok(false)));
    assert!(["True", "yes", "1", "\"true\""].into_iter().all(|text| read::<bool>(text).is_err()));
}

#[test]
fn a_position_is_that_of_the_value_even_through_an_alias() {
    let read: Vec<Spanned<Vec<Spanned<String>>>> = read("- &a [x,\n   y]\n- *a\n").unwrap();
    let places = |row: &Spanned<Vec<Spanned<String>>>| {
        row.value.iter().map(|word| (word.defined.line(), word.defined.column())).collect::<Vec<_>>()
    };
    assert_eq!(read.iter().map(places).collect::<Vec<_>>(), vec![vec![(1, 7), (2, 4)]; 2]);
}

#[test]
fn nothing_is_an_empty_list_or_mapping() {
    assert_eq!(read::<Vec<u32>>("~"), Ok(Vec::new()));
    assert_eq!(read::<Vec<u32>>("a"), Err("the file must be a sequence, but `a` is written here".to_owned()));
}
