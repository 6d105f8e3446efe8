//! What each row of indices does, in words: its place in indices, what it selects, and where that goes.

use gather_spec::case::OperandNames;
use gather_spec::literal::{Brief, Rows};
use gather_spec::{BadIndex, Call, Form, NegativeIndex, Profile, Shape, Signature, Tensor, TensorBuilder};

use crate::trace::IndexTrace;
use gather_campaign::model::places::Moved;
use gather_conformance::internals::words::printable;

/// The most rows of indices to put into words.
const MOST: usize = 16;

/// What a row of indices does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GatherStep {
    /// The row and its values: `indices[1, :] = [2, 0]`.
    pub(super) index: String,
    /// The slice that it selects; `None` for a bad row.
    pub(super) from: Option<String>,
    /// Where that goes; `None` without an output.
    pub(super) to: Option<String>,
}

/// The first rows of indices.
pub(super) fn steps(
    call: &Call,
    names: &OperandNames,
    output: Option<&Tensor>,
    selections: &[IndexTrace],
) -> Vec<GatherStep> {
    let step = |selection: &IndexTrace| {
        let indices = call.operands.get(&names.indices)?;
        let params = call.operands.get(&names.params)?;
        let row = slice(&selection.indices, indices.shape());
        let sources: Vec<Vec<usize>> = selection.params.iter().flatten().cloned().collect();
        let from =
            (!sources.is_empty()).then(|| format!("{}{}", names.params, slice(&sources, params.shape())));
        let to = output.map(|output| format!("output{}", slice(&selection.output, output.shape())));
        let index = format!("{}{row} = {}", names.indices, part(indices, &selection.indices));
        Some(GatherStep { index, from, to })
    };
    selections.iter().take(MOST).filter_map(step).collect()
}

/// One line for each index that does not select its own value: what it becomes, under which mode or policy.
pub(super) fn notes(
    signature: &Signature,
    call: &Call,
    names: &OperandNames,
    profile: Profile,
    moved: &[Moved],
) -> Vec<String> {
    let Ok(roles) = signature.roles(call) else { return Vec::new() };
    let (profile, chosen) = match signature.mode(&roles) {
        Some(mode) => (mode.profile, format!("mode {}", mode.mode)),
        None => (profile, profile.to_string()),
    };
    let is_window = signature.form == Form::Window;
    let line = |moved: &Moved| {
        let Moved { position, index, bound, to, filler } = moved;
        let size =
            if is_window { counted(*bound, "start fits", "starts fit") } else { format!("size {bound}") };
        let from_end = profile.negative == NegativeIndex::Wrap && to == &Some(index + *bound as i128);
        let becomes = match (to, profile.bad) {
            (Some(to), BadIndex::Modulo) => format!("{to}, its remainder"),
            (Some(to), _) if from_end => format!("{to}, from the end"),
            (Some(to), _) => format!("{to}, the nearest"),
            (None, BadIndex::Error) => "an error".to_owned(),
            (None, BadIndex::Unspecified) => "anything: the documents promise nothing".to_owned(),
            (None, BadIndex::Fill) => {
                format!("filled with {}", printable(&Brief(roles.params.dtype(), filler).to_string()))
            }
            (None, _) => "zeros".to_owned(),
        };
        format!("{}{position:?} = {index} → {becomes} ({size}, {chosen})", names.indices)
    };
    let more = moved.len().saturating_sub(MOST);
    let mut lines: Vec<String> = moved.iter().take(MOST).map(line).collect();
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines
}

/// A count with its noun in singular or plural.
fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Positions as a slice: `[1, :, 0:2]`. A dim is shown as a list if the positions take neither a single
/// coordinate nor a range of it.
fn slice(positions: &[Vec<usize>], shape: &Shape) -> String {
    let axes: Vec<String> = (0..shape.rank())
        .map(|axis| match values(positions, axis).as_slice() {
            [one] => one.to_string(),
            all if all.len() == shape[axis] => ":".to_owned(),
            [first, .., last] if last - first + 1 == values(positions, axis).len() => {
                format!("{first}:{}", last + 1)
            }
            some => format!("{some:?}").replace(' ', ""),
        })
        .collect();
    format!("[{}]", axes.join(", "))
}

/// The elements at the positions, in rows along the axes that vary.
fn part(tensor: &Tensor, positions: &[Vec<usize>]) -> String {
    let counts = (0..tensor.rank()).map(|axis| values(positions, axis).len());
    let dims: Vec<usize> = counts.filter(|count| *count > 1).collect();
    let product = dims.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim));
    let dims = if product == Some(positions.len()) { dims } else { vec![positions.len()] };
    let Ok(mut elements) =
        Shape::new(dims).map_err(Into::into).and_then(|dims| TensorBuilder::new(tensor.dtype(), dims))
    else {
        return String::new();
    };
    positions.iter().for_each(|position| elements.push(tensor.element(position)));
    elements.finish().map(|part| Rows(&part).to_string()).unwrap_or_default()
}

fn values(positions: &[Vec<usize>], axis: usize) -> Vec<usize> {
    let mut values: Vec<usize> = positions.iter().map(|position| position[axis]).collect();
    values.sort_unstable();
    values.dedup();
    values
}
