//! The sizes that `for-each` lists, and their combinations: every value of each list occurs with every value of each other
//! list, unless `at-most` excludes the two.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::yaml::Spanned;

use super::pairs::in_pairs;
use super::raw::ForEach;
use super::reader::TensorReader;
use super::sizes::{GridPoint, Sizes};

/// The most lists, and the most values of a list.
const MAX_LISTS: usize = 8;
const MAX_VALUES: usize = 100;

/// The lists that choose among the dtypes of `any`.
const ELEMENT_BYTES: &str = "element-bytes";
const INDEX_BYTES: &str = "index-bytes";

/// A list: its name, and its values.
struct NamedList<'e> {
    name: &'e str,
    values: Vec<usize>,
}

/// A limit on the product of some lists.
struct AtMost {
    lists: Vec<usize>,
    most: usize,
}

/// The combinations of a `for-each`. Without sizes, a single empty one.
pub(super) fn points(
    reader: &TensorReader<'_>,
    each: Option<&Spanned<ForEach>>,
) -> Result<Arc<[GridPoint]>, Diagnostic> {
    let Some(each) = each else { return Ok(Arc::new([GridPoint::default()])) };
    if let Some(points) = reader.cache.grids.borrow().get(&each.defined) {
        return Ok(Arc::clone(points));
    }
    let points = Arc::from(read(reader, each)?);
    reader.cache.grids.borrow_mut().insert(each.defined, Arc::clone(&points));
    Ok(points)
}

fn read(reader: &TensorReader<'_>, each: &Spanned<ForEach>) -> Result<Vec<GridPoint>, Diagnostic> {
    let lists = lists(reader, each)?;
    let limits = limits(reader, &each.value, &lists)?;
    if lists.is_empty() {
        return Ok(vec![GridPoint::default()]);
    }
    let least: Vec<usize> = lists.iter().map(|list| list.values.iter().copied().min().unwrap_or(0)).collect();
    let allows = |chosen: &[Option<usize>]| {
        let value = |list: usize| match chosen.get(list).copied().flatten() {
            Some(at) => lists[list].values[at],
            None => least[list],
        };
        let product =
            |lists: &[usize]| lists.iter().fold(1usize, |product, list| product.saturating_mul(value(*list)));
        limits.iter().all(|limit| product(&limit.lists) <= limit.most)
    };
    let counts: Vec<usize> = lists.iter().map(|list| list.values.len()).collect();
    let combinations = in_pairs(&counts, allows);
    if combinations.is_empty() {
        return Err(reader.wrong(each.defined, "`at-most` leaves no combination of sizes"));
    }
    Ok(combinations.iter().map(|chosen| GridPoint::new(&lists, chosen)).collect())
}

impl GridPoint {
    fn new(lists: &[NamedList<'_>], chosen: &[usize]) -> Self {
        let values = lists.iter().zip(chosen).map(|(list, at)| (list.name, list.values[*at]));
        let suffix: Vec<String> = values.clone().map(|(name, value)| format!("{name}={value}")).collect();
        let find = |wanted: &str| values.clone().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        let sizes = values.clone().filter(|(name, _)| ![ELEMENT_BYTES, INDEX_BYTES].contains(name));
        Self {
            sizes: Sizes::new(sizes.map(|(name, value)| (name.to_owned(), value as i128)).collect()),
            element_bytes: find(ELEMENT_BYTES),
            index_bytes: find(INDEX_BYTES),
            suffix: suffix.join(","),
        }
    }
}

fn lists<'e>(
    reader: &TensorReader<'_>,
    each: &'e Spanned<ForEach>,
) -> Result<Vec<NamedList<'e>>, Diagnostic> {
    let mut lists: Vec<NamedList<'e>> = Vec::new();
    for (name, values) in &each.value.sizes.0 {
        if name.value.is_empty() || !name.value.bytes().all(|b| b.is_ascii_lowercase()) {
            let message = format!("{} is no name of a size", Quoted(&name.value));
            return Err(reader
                .wrong(name.defined, message)
                .help("lower-case letters are allowed, such as `n`"));
        }
        if lists.iter().any(|list| list.name == name.value) {
            return Err(reader.wrong(name.defined, format!("the size `{}` is listed twice", name.value)));
        }
        lists.push(list(reader, &name.value, values)?);
    }
    for (name, values) in [(ELEMENT_BYTES, &each.value.element_bytes), (INDEX_BYTES, &each.value.index_bytes)]
    {
        if let Some(values) = values {
            lists.push(list(reader, name, values)?);
        }
    }
    if lists.len() > MAX_LISTS {
        let message = format!("{} lists of sizes; at most {MAX_LISTS} are allowed", lists.len());
        return Err(reader.wrong(each.defined, message));
    }
    Ok(lists)
}

fn list<'e>(
    reader: &TensorReader<'_>,
    name: &'e str,
    values: &Spanned<Vec<Spanned<u32>>>,
) -> Result<NamedList<'e>, Diagnostic> {
    let count = values.value.len();
    if count == 0 || count > MAX_VALUES {
        let message = format!("`{name}` has {count} values: 1 to {MAX_VALUES} are allowed");
        return Err(reader.wrong(values.defined, message));
    }
    for (at, value) in values.value.iter().enumerate() {
        if values.value[..at].iter().any(|before| before.value == value.value) {
            return Err(reader.wrong(value.defined, format!("{} is listed twice", value.value)));
        }
    }
    Ok(NamedList { name, values: values.value.iter().map(|value| value.value as usize).collect() })
}

fn limits(
    reader: &TensorReader<'_>,
    each: &ForEach,
    lists: &[NamedList<'_>],
) -> Result<Vec<AtMost>, Diagnostic> {
    let limit = |(product, most): &(Spanned<String>, usize)| {
        let factor = |name: &str| {
            lists.iter().position(|list| list.name == name).ok_or_else(|| {
                let message = format!("{} is no list of this `for-each`", Quoted(name));
                let wrong = reader.wrong(product.defined, message);
                match nearest(name, lists.iter().map(|list| list.name)) {
                    Some(meant) => wrong.help(format!("did you mean `{meant}`?")),
                    None => wrong.help("`at-most` bounds products of sizes, such as `n*m: 8192`"),
                }
            })
        };
        let lists = product.value.split('*').map(|name| factor(name.trim())).collect::<Result<_, _>>()?;
        Ok(AtMost { lists, most: *most })
    };
    each.at_most.0.iter().map(limit).collect()
}
