//! The layout of a picture: which cells there are, and which row of indices each of them belongs to.

use gather_spec::case::OperandNames;
use gather_spec::literal::Rows;
use gather_spec::{Call, ErrorCode, Outcome, Profile, Tensor};

use crate::backend::Backend;
use crate::builtin;
use crate::judge::describe_outcome;
use crate::mutants::places::{Moved, moved};
use crate::trace::{Selection, trace};

use super::grid::{Grid, Mark, Role};
use super::meaning::meaning;
use super::steps::{self, Step};

/// Makes the backend for a profile that a picture is drawn with.
pub type Make<'a> = &'a dyn Fn(Profile) -> Box<dyn Backend>;

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
    pub(super) steps: Vec<Step>,
    /// How many further rows there are.
    pub(super) more_steps: usize,
    /// How an index selects, in a few sentences.
    pub(super) meaning: Vec<String>,
    /// What becomes of each index that does not select its own value.
    pub(super) notes: Vec<String>,
}

impl Picture {
    /// Draws a call and its outcome under a profile, with the backends that `make` gives. `None` if the call lacks params or
    /// indices.
    #[must_use]
    pub fn new(call: &Call, names: &OperandNames, profile: Profile, make: Make<'_>) -> Option<Self> {
        let signature = builtin::signatures().get(call.operator.as_str());
        let (params, indices) = (call.operands.get(&names.params)?, call.operands.get(&names.indices)?);
        let outcome = make(profile).call(call);
        let output = match &outcome {
            Outcome::Output(output) => Some(output),
            _ => None,
        };
        let modes = signature.filter(|signature| !signature.modes().is_empty());
        let is_traced = output.is_some() || is_of_an_index(&outcome);
        let traced = if is_traced { trace(call, names, profile, modes, make) } else { None };
        let mut selections = traced.unwrap_or_default();
        let moved = signature.filter(|_| is_traced).map(|signature| moved(signature, call, profile));
        let moved = moved.unwrap_or_default();
        if output.is_none() {
            selections.iter_mut().filter(|row| is_bad(row, &moved)).for_each(forget_sources);
        }
        let grids = [
            Some(Grid::new(Role::Params, &names.params, params, &selections, &moved)),
            Some(Grid::new(Role::Indices, &names.indices, indices, &selections, &moved)),
            output.map(|output| Grid::new(Role::Output, "output", output, &selections, &moved)),
        ];
        let steps = steps::steps(call, names, output, &selections);
        Some(Self {
            title: call.operator.to_string(),
            grids: grids.into_iter().flatten().collect(),
            others: others(call, names),
            outcome: output.is_none().then(|| describe_outcome(&outcome)),
            meaning: signature.map(|signature| meaning(signature, call, names, output)).unwrap_or_default(),
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
        let has_steps = !self.steps.is_empty();
        let meaning = self.meaning.iter().filter(|_| has_steps).map(String::as_str);
        let marks = [
            has_steps.then_some("a letter marks an index, what it selects and where that goes"),
            has(Mark::Bad).then_some("✗ marks a bad index"),
            has(Mark::Filled).then_some("( ) is not from params"),
        ];
        meaning.chain(marks.into_iter().flatten()).collect()
    }
}

/// The reference, with which pictures are drawn.
#[must_use]
pub fn reference(profile: Profile) -> Box<dyn Backend> {
    builtin::backend("reference", profile, builtin::MAX_OUTPUT).expect("the reference is built in")
}

/// Whether a call is rejected for the value of an index.
fn is_of_an_index(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(error) if error.code == Some(ErrorCode::IndexOutOfRange))
}

/// Whether an index of a row is bad and selects nothing.
fn is_bad(row: &Selection, moved: &[Moved]) -> bool {
    moved.iter().any(|moved| moved.to.is_none() && row.indices.contains(&moved.position))
}

fn forget_sources(row: &mut Selection) {
    row.params.fill(None);
}

/// The operands besides params and indices, and the attributes, as name and value.
fn others(call: &Call, names: &OperandNames) -> Vec<(String, String)> {
    let tensor = |tensor: &Tensor| format!("{} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor));
    let is_drawn = |name: &str| *name == *names.params || *name == *names.indices;
    let operands = call.operands.iter().filter(|(name, _)| !is_drawn(name));
    let operands = operands.map(|(name, operand)| (name.to_owned(), tensor(operand)));
    let attributes = call.attributes.iter().map(|(name, value)| (name.clone(), value.to_string()));
    operands.chain(attributes).collect()
}
