//! The keys of an `operator.yaml` that belong to some forms only: `join` and `empty-index` of elements, `depth` of nd,
//! `empty-dims` of all but window, and what `tolerates` may widen.

use super::entries::{OperandEntry, OperatorFile, TolerancesEntry};
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{
    AttributeRole, CollapsedSize, EmptyDims, EmptyIndex, Form, Join, OperandRole, OutputBatch, RankRule,
    SliceBound,
};
use crate::yaml::{Spanned, Text};

/// The values of form-specific keys. Those of other forms are empty.
pub(super) struct OfForm {
    pub(super) empty_dims: EmptyDims,
    pub(super) least_depth: usize,
    pub(super) output_batch: OutputBatch,
    pub(super) join: Option<Join>,
    pub(super) empty_index: EmptyIndex,
    pub(super) collapsed_size: Option<CollapsedSize>,
    pub(super) slice_bound: SliceBound,
}

impl OfForm {
    /// Reads the keys of the file's form, and rejects those of other forms.
    pub(super) fn read(text: Text<'_>, file: &OperatorFile) -> Result<Self, Diagnostic> {
        let form = file.form.value;
        if form != Form::Nd {
            refuse(text, &file.depth, format!("the form {form} has no index rows, so `depth` says nothing"))?;
            refuse(text, &file.output_batch, format!("the form {form} has no `output-batch`"))?;
        }
        if form != Form::Elements {
            refuse(text, &file.join, format!("the form {form} has no `join`"))?;
            refuse(text, &file.empty_index, format!("the form {form} has no `empty-index`"))?;
        }
        if form == Form::Window {
            refuse(text, &file.empty_dims, format!("the form {form} has no `empty-dims`"))?;
        } else {
            refuse(text, &file.collapsed_size, format!("the form {form} has no `collapsed-size`"))?;
            refuse(text, &file.slice_bound, format!("the form {form} has no `slice-bound`"))?;
        }
        let empty_dims = file.empty_dims.as_ref().map(|word| word.value).unwrap_or_default();
        if empty_dims == EmptyDims::Rejected {
            let message = "indices always have an element here, since no dim is 0";
            refuse(text, &file.empty_index, message.to_owned())?;
        }
        let read = Self {
            empty_dims,
            least_depth: file.depth.as_ref().map_or(0, |depth| depth.value.least),
            output_batch: file.output_batch.as_ref().map(|word| word.value).unwrap_or_default(),
            join: file.join.as_ref().map(|join| join.value),
            empty_index: file.empty_index.as_ref().map(|word| word.value).unwrap_or_default(),
            collapsed_size: file.collapsed_size.as_ref().map(|word| word.value),
            slice_bound: file.slice_bound.as_ref().map(|word| word.value).unwrap_or_default(),
        };
        match form {
            Form::Elements => read.complete(text, file)?,
            Form::Window => read.complete_window(text, file)?,
            Form::Take => rows_alone(text, file)?,
            Form::Nd => {}
        }
        read.widened(text, form, &file.tolerates)?;
        Ok(read)
    }

    /// Requires the keys that an operator of form elements must have.
    fn complete(&self, text: Text<'_>, file: &OperatorFile) -> Result<(), Diagnostic> {
        if self.join.is_none() {
            let message = "an operator of form elements has a `join`, and this one has none";
            return Err(text
                .wrong(file.form.defined, message)
                .help("write `join: equal`, `join: not-larger` or `join: broadcast`"));
        }
        let mut roles = file.attributes.0.iter().map(|(_, entry)| entry.role.value);
        if !roles.any(|role| role == AttributeRole::Axis) {
            let message = "an operator of form elements has an axis, and no attribute here has that role";
            return Err(text.wrong(file.form.defined, message).help("give an attribute `role: axis`"));
        }
        Ok(())
    }

    /// Requires the keys that an operator of form window must have.
    fn complete_window(&self, text: Text<'_>, file: &OperatorFile) -> Result<(), Diagnostic> {
        if self.collapsed_size.is_none() {
            let message = "an operator of form window has a `collapsed-size`, and this one has none";
            return Err(text
                .wrong(file.form.defined, message)
                .help("write `collapsed-size: at-most-1` or `collapsed-size: exactly-1`"));
        }
        let mut roles: Vec<AttributeRole> =
            file.attributes.0.iter().map(|(_, entry)| entry.role.value).collect();
        let sizes =
            file.operands.value.0.iter().find(|(_, entry)| entry.role.value == OperandRole::SliceSizes);
        roles.extend(sizes.map(|_| AttributeRole::SliceSizes));
        let needed = [
            (AttributeRole::OffsetDims, "offset-dims"),
            (AttributeRole::CollapsedSliceDims, "collapsed-slice-dims"),
            (AttributeRole::StartIndexMap, "start-index-map"),
            (AttributeRole::SliceSizes, "slice-sizes"),
        ];
        match needed.into_iter().find(|(role, _)| !roles.contains(role)) {
            None => Ok(()),
            Some((_, word)) => {
                let message = format!("an operator of form window has an attribute of the role `{word}`");
                Err(text.wrong(file.form.defined, message).help(format!("give an attribute `role: {word}`")))
            }
        }
    }

    /// Rejects a tolerance that is not wider than what the operator allows anyway.
    fn widened(&self, text: Text<'_>, form: Form, tolerates: &TolerancesEntry) -> Result<(), Diagnostic> {
        if form != Form::Elements {
            refuse(text, &tolerates.join, format!("the form {form} has no `join` to widen"))?;
            refuse(text, &tolerates.scalars, format!("the form {form} has no index of the rank of params"))?;
        }
        if form != Form::Nd {
            refuse(
                text,
                &tolerates.depth,
                format!("the form {form} has no index rows, so `depth` says nothing"),
            )?;
        }
        if let (Some(own), Some(wider)) = (self.join, &tolerates.join)
            && !wider.value.is_wider_than(own)
        {
            return Err(text
                .wrong(wider.defined, "this join is not wider than the operator's own")
                .help("only `join: equal` can be widened: to `not-larger` or `broadcast`"));
        }
        if let Some(depth) = tolerates.depth.as_ref().filter(|depth| depth.value >= self.least_depth) {
            let message = format!("the operator allows this depth: its least is {}", self.least_depth);
            return Err(text.wrong(depth.defined, message).help("write a smaller depth, or leave it out"));
        }
        Ok(())
    }
}

/// Rejects an operand that the form does not have, or a rank that does not fit its role.
pub(super) fn has_operand(
    text: Text<'_>,
    role: &Spanned<OperandRole>,
    rank: &Spanned<RankRule>,
    form: Form,
) -> Result<(), Diagnostic> {
    let wrong = |message| Err(text.wrong(role.defined, message));
    let fits = match (role.value, form) {
        (OperandRole::SliceSizes, Form::Window) => rank.value == RankRule::Exactly1,
        (OperandRole::SliceSizes, _) => return wrong(format!("the form {form} has no windows")),
        (OperandRole::Axis, Form::Take) => rank.value == RankRule::AtMost1,
        (OperandRole::Axis, _) => return wrong(format!("the form {form} has no axis that is an operand")),
        (OperandRole::Indices, Form::Take) => !matches!(rank.value, RankRule::AtMost1 | RankRule::Exactly2),
        (OperandRole::Params, Form::Take) => !matches!(rank.value, RankRule::AtMost1 | RankRule::Exactly1),
        (OperandRole::Params | OperandRole::Indices, _) => rank.value.most().is_none(),
    };
    if !fits {
        return Err(text
            .wrong(rank.defined, "this rank is not one of an operand of this role")
            .help("an axis has `rank: at-most-1` and slice sizes have `rank: exactly-1`; in the form take, indices may have `rank: exactly-1` and params `rank: exactly-2`"));
    }
    Ok(())
}

/// Rejects a choice of axis or batch beside params whose rank is fixed.
fn rows_alone(text: Text<'_>, file: &OperatorFile) -> Result<(), Diagnostic> {
    let is_fixed =
        |one: &OperandEntry| one.role.value == OperandRole::Params && one.rank.value == RankRule::Exactly2;
    let fixed = file.operands.value.0.iter().find(|(_, one)| is_fixed(one));
    let chooses = |role| matches!(role, AttributeRole::Axis | AttributeRole::BatchDims);
    let attribute = file.attributes.0.iter().find(|(_, one)| chooses(one.role.value)).map(|(name, _)| name);
    let axis = file.operands.value.0.iter().find(|(_, one)| one.role.value == OperandRole::Axis);
    match (fixed, attribute.or(axis.map(|(name, _)| name))) {
        (Some((_, fixed)), Some(name)) => Err(text
            .wrong(fixed.rank.defined, "params of rank 2 are gathered by rows, along their first axis")
            .help(format!("leave {} out, or write `rank: at-least-2`", Quoted(&name.value)))),
        _ => Ok(()),
    }
}

/// Rejects an attribute role that the form does not have.
pub(super) fn has_role(text: Text<'_>, role: &Spanned<AttributeRole>, form: Form) -> Result<(), Diagnostic> {
    let lacks = |what: &str| Err(text.wrong(role.defined, format!("the form {form} has no {what}")));
    match (role.value, form) {
        (AttributeRole::Axis, Form::Nd | Form::Window) => lacks("axis"),
        (AttributeRole::BatchDims, Form::Elements | Form::Window) => lacks("batch dims"),
        (role, form) if role.is_of_windows() && form != Form::Window => lacks("windows"),
        _ => Ok(()),
    }
}

/// Rejects a key that the form does not have.
fn refuse<T>(text: Text<'_>, word: &Option<Spanned<T>>, message: String) -> Result<(), Diagnostic> {
    match word {
        Some(word) => Err(text.wrong(word.defined, message).help("leave it out")),
        None => Ok(()),
    }
}
