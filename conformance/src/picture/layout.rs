//! The layout of a picture: which cells there are, and which row of indices each of them belongs to.

use gather_spec::case::OperandNames;
use gather_spec::literal::Rows;
use gather_spec::{Call, ErrorCode, Outcome, Profile, Signatures, Tensor};

use crate::trace::{IndexTrace, trace};
use gather_campaign::model::places::{Moved, moved};
use gather_conformance::backend::Backend;
use gather_conformance::builtin;
use gather_conformance::internals::judge::describe_outcome;
use gather_conformance::internals::words::{first_of, printable};

use super::grid::{CellMark, Grid, TensorRole};
use super::meaning::meaning;
use super::steps::{self, GatherStep};

/// The most index values of a call that is made in order to draw it.
const MOST_MADE: usize = 1 << 14;

/// The most index values to look at one by one.
const MOST_INDICES: usize = 1 << 12;

/// The most bytes of an output that is made in order to draw it.
const MAX_OUTPUT: u64 = 1 << 18;

/// The most characters of an attribute.
const CHARACTERS: usize = 1000;

/// Makes the backend for a profile that a picture is drawn with.
pub type BackendMaker<'a> = &'a dyn Fn(Profile) -> Box<dyn Backend>;

/// A call, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The operator with its attributes.
    pub(super) title: String,
    /// Params, indices and, if there is one, the output.
    pub(super) grids: Vec<Grid>,
    /// Operands and attributes that are not drawn, by name.
    pub(super) others: Vec<(String, String)>,
    /// The outcome in words, if it is no output.
    pub(super) outcome: Option<String>,
    /// What each row of indices does, the first ones.
    pub(super) steps: Vec<GatherStep>,
    /// How many further rows there are.
    pub(super) more_steps: usize,
    /// How an index selects, in a few sentences, if there are steps.
    pub(super) meaning: Vec<String>,
    /// What becomes of each index that does not select its own value.
    pub(super) notes: Vec<String>,
}

impl Picture {
    /// Draws a call and its outcome under a profile, with the backends that `make` gives. `None` if the call lacks params or
    /// indices.
    #[must_use]
    pub fn new(call: &Call, names: &OperandNames, profile: Profile, make: BackendMaker<'_>) -> Option<Self> {
        let signature = builtin::signatures().get(call.operator.as_str());
        let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
        let count = indices.shape().element_count();
        let outcome = if count <= MOST_MADE { Some(make(profile).call(call)) } else { None };
        let output = match &outcome {
            Some(Outcome::Output(output)) => Some(output),
            _ => None,
        };
        let modes = signature.filter(|signature| !signature.modes().is_empty());
        let is_traced = output.is_some() || outcome.as_ref().is_some_and(is_of_an_index);
        let traced = if is_traced { trace(call, names, profile, modes, make) } else { None };
        let mut selections = traced.unwrap_or_default();
        let looked_at = signature.filter(|_| is_traced && count <= MOST_INDICES);
        let moved = looked_at.map(|signature| moved(signature, call, profile)).unwrap_or_default();
        if output.is_none() {
            selections.iter_mut().filter(|row| is_bad(row, &moved)).for_each(forget_sources);
        }
        let grids = [
            Some(Grid::new(TensorRole::Params, &names.params, params, &selections, &moved)),
            Some(Grid::new(TensorRole::Indices, &names.indices, indices, &selections, &moved)),
            output.map(|output| Grid::new(TensorRole::Output, "output", output, &selections, &moved)),
        ];
        let steps = steps::steps(call, names, output, &selections);
        Some(Self {
            title: call.operator.to_string(),
            grids: grids.into_iter().flatten().collect(),
            others: others(call, names),
            outcome: match &outcome {
                Some(Outcome::Output(_)) => None,
                Some(outcome) => Some(describe_outcome(outcome)),
                None => Some(format!("not computed for a picture: {count} indices")),
            },
            meaning: match signature {
                Some(signature) if !steps.is_empty() => meaning(signature, call, names, output),
                _ => Vec::new(),
            },
            more_steps: selections.len().saturating_sub(steps.len()),
            steps,
            notes: signature
                .map(|signature| steps::notes(signature, call, names, profile, &moved))
                .unwrap_or_default(),
        })
    }

    /// What letters and marks mean, line by line.
    pub(super) fn legend(&self) -> Vec<&str> {
        let has = |mark| self.grids.iter().flat_map(Grid::cells).any(|cell| cell.mark == mark);
        let marks = [
            (!self.steps.is_empty())
                .then_some("a letter marks an index, what it selects and where that goes"),
            has(CellMark::Bad).then_some("✗ marks a bad index"),
            has(CellMark::Filled).then_some("( ) is not from params"),
        ];
        self.meaning.iter().map(String::as_str).chain(marks.into_iter().flatten()).collect()
    }
}

/// The reference, with which pictures are drawn. An output of more than 256 KiB is `unsupported`.
#[must_use]
pub fn reference(profile: Profile) -> Box<dyn Backend> {
    builtin::backend("reference", profile, MAX_OUTPUT).expect("the reference is built in")
}

/// With which pictures of an operator are drawn that may not be embedded: the reference, or what follows its signature.
pub(crate) fn answerer(signatures: Signatures, operator: &str) -> impl Fn(Profile) -> Box<dyn Backend> {
    move |profile| builtin::answerer(&signatures, operator, profile, MAX_OUTPUT)
}

/// Whether a call is rejected for the value of an index.
fn is_of_an_index(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(error) if error.code == Some(ErrorCode::IndexOutOfRange))
}

/// Whether an index of a row is bad and selects nothing.
fn is_bad(row: &IndexTrace, moved: &[Moved]) -> bool {
    moved.iter().any(|moved| moved.to.is_none() && row.indices.contains(&moved.position))
}

fn forget_sources(row: &mut IndexTrace) {
    row.params.fill(None);
}

/// The operands besides params and indices, and the attributes, as name and value.
fn others(call: &Call, names: &OperandNames) -> Vec<(String, String)> {
    let tensor = |tensor: &Tensor| {
        let elements = Rows(tensor).to_string();
        format!("{} {} {}", tensor.dtype(), tensor.shape(), printable(&elements))
    };
    let value = |value| printable(&first_of(value, CHARACTERS)).into_owned();
    let is_drawn = |name: &str| *name == *names.params || *name == *names.indices;
    let operands = call.operands.iter().filter(|(name, _)| !is_drawn(name));
    let operands = operands.map(|(name, operand)| (name.to_owned(), tensor(operand)));
    let attributes = call.attributes.iter().map(|(name, sent)| (name.clone(), value(sent)));
    operands.chain(attributes).collect()
}
