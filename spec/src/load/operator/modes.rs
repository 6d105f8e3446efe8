//! Who chooses what a bad index gives: the device, among the pairs of policies that the pages permit, or the call, by its
//! mode. Also what is flattened first.

use super::entries::{ModeEntry, PolicyEntry};
use crate::Profile;
use crate::call::{Attribute, BadIndex, EmptyAxis, NegativeIndex};
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::{
    AttributeDefault, AttributeRole, AttributeSignature, Fill, Flatten, Form, ModePolicy, OperandRole,
    OperandSignature, PermittedPolicies, Policy,
};
use crate::yaml::{Spanned, Text};

use super::super::raw::InOrder;
use super::lists::Words;

/// Reads the policies of an operator: exactly one of `policy` and `modes`.
pub(super) fn policy(
    text: Text<'_>,
    form: &Spanned<Form>,
    permitted: Option<Spanned<PolicyEntry>>,
    modes: Option<Spanned<InOrder<Spanned<ModeEntry>>>>,
    attributes: &[AttributeSignature],
) -> Result<Policy, Diagnostic> {
    let attribute = attributes.iter().find(|attribute| attribute.role == AttributeRole::Mode);
    match (permitted, modes, attribute) {
        (Some(permitted), None, None) => {
            let PolicyEntry { negative, bad } = permitted.value;
            if let Some(why) = bad.value.0.iter().find_map(|bad| bad.declared().err()) {
                return Err(text.wrong(bad.defined, why));
            }
            let (negative, bad) = (words(text, negative)?, words(text, bad)?);
            Ok(Policy::Permitted(PermittedPolicies { negative, bad }))
        }
        (None, Some(modes), Some(attribute)) => {
            by_mode(text, modes, attribute, form.value).map(Policy::ByMode)
        }
        (None, Some(modes), None) => Err(text
            .wrong(modes.defined, "no attribute has the role `mode`")
            .help("write `policy` where the device chooses")),
        (Some(permitted), _, Some(attribute)) => Err(text
            .wrong(permitted.defined, format!("the attribute {} chooses", Quoted(&attribute.name)))
            .help("write `modes` in place of `policy`")),
        (Some(_), Some(modes), None) => {
            Err(text.wrong(modes.defined, "there is a `policy` already").help("write one of the two"))
        }
        (None, None, _) => Err(text
            .wrong(form.defined, "nothing says what becomes of a bad index")
            .help("write `policy`, or `modes` where the call chooses")),
    }
}

/// Reads the policies of each mode, the default mode first.
fn by_mode(
    text: Text<'_>,
    written: Spanned<InOrder<Spanned<ModeEntry>>>,
    attribute: &AttributeSignature,
    form: Form,
) -> Result<Vec<ModePolicy>, Diagnostic> {
    let mut modes: Vec<ModePolicy> = Vec::new();
    for (name, entry) in written.value.0 {
        modes.push(mode(text, &name, &entry, form)?);
    }
    let default = match &attribute.default {
        AttributeDefault::Value(Attribute::String(default)) => Some(default),
        _ => None,
    };
    match modes.iter().position(|mode| Some(&mode.mode) == default) {
        Some(at) => {
            modes[..=at].rotate_right(1);
            Ok(modes)
        }
        None => Err(text
            .wrong(written.defined, format!("the default of {} is no mode", Quoted(&attribute.name)))
            .help("its `default` is one of the words here")),
    }
}

fn mode(
    text: Text<'_>,
    name: &Spanned<String>,
    entry: &Spanned<ModeEntry>,
    form: Form,
) -> Result<ModePolicy, Diagnostic> {
    let ModeEntry { negative, bad, empty_axis } = &entry.value;
    let negative = match (negative, bad.value) {
        (Some(negative), BadIndex::Modulo) => {
            return Err(text
                .wrong(negative.defined, "the remainder says what a negative index means")
                .help("leave `negative` out"));
        }
        (None, BadIndex::Modulo) => NegativeIndex::Wrap,
        (Some(negative), _) => negative.value,
        (None, _) => {
            return Err(text
                .wrong(entry.defined, "this mode does not say what a negative index means")
                .help("write `negative: wrap` or `negative: reject`"));
        }
    };
    match (bad.value, empty_axis) {
        (_, Some(empty)) if form == Form::Window => Err(text
            .wrong(empty.defined, "some start of a window fits on every dim, also on an empty one")
            .help("leave `empty-axis` out")),
        (_, None) if form == Form::Window => Ok(Default::default()),
        (BadIndex::Fill, Some(empty)) if empty.value == EmptyAxis::Either => Ok(empty.value),
        (_, Some(empty)) if empty.value == EmptyAxis::Either => Err(text
            .wrong(empty.defined, "only `bad: fill` has an output beside the error")
            .help("write `empty-axis: error` or `empty-axis: zero`")),
        (BadIndex::Error | BadIndex::Fill | BadIndex::Unspecified, Some(empty)) => Err(text
            .wrong(empty.defined, "every index into an empty axis is bad, and `bad` says what that gives")
            .help("leave `empty-axis` out")),
        (BadIndex::Error | BadIndex::Fill | BadIndex::Unspecified, None) => Ok(Default::default()),
        (_, Some(empty)) => Ok(empty.value),
        (_, None) => Err(text
            .wrong(entry.defined, "this mode does not say what an index into an empty axis gives")
            .help("write `empty-axis: error` or `empty-axis: zero`")),
    }
    .map(|empty_axis| ModePolicy {
        mode: name.value.clone(),
        profile: Profile { bad: bad.value, negative },
        empty_axis,
    })
}

/// Reads what modes fill with. Required if a mode fills, and rejected otherwise.
pub(super) fn fill(
    text: Text<'_>,
    form: &Spanned<Form>,
    policy: &Policy,
    written: Option<Spanned<Fill>>,
    attributes: &[AttributeSignature],
) -> Result<Option<Fill>, Diagnostic> {
    let sent = attributes.iter().find(|attribute| attribute.role == AttributeRole::FillValue);
    let fills = match policy {
        Policy::ByMode(modes) => modes.iter().any(|mode| mode.profile.bad == BadIndex::Fill),
        Policy::Permitted(_) => false,
    };
    match written {
        Some(fill) if !fills => Err(text
            .wrong(fill.defined, "no mode fills")
            .help("leave `fill` out, or give a mode `bad: fill`")),
        None if fills => Err(text
            .wrong(form.defined, "a mode fills, and nothing says with what")
            .help("write `fill: { inexact: nan, signed: smallest, unsigned: largest, bool: true }`, say")),
        None => match sent {
            Some(sent) => Err(text
                .wrong(form.defined, format!("no mode fills with {}", Quoted(&sent.name)))
                .help("leave the attribute out, or give a mode `bad: fill`")),
            None => Ok(None),
        },
        Some(fill) => Ok(Some(fill.value)),
    }
}

/// Reads the permitted policies, at least one.
fn words<T>(text: Text<'_>, written: Spanned<Words<T>>) -> Result<Vec<T>, Diagnostic> {
    if written.value.0.is_empty() {
        return Err(text
            .wrong(written.defined, "the pages permit at least one policy")
            .help("write it as a word, or several as a list"));
    }
    Ok(written.value.0)
}

/// Reads what is flattened first. A null axis says so in each call; an operator that always flattens has no axis.
pub(super) fn flatten(
    text: Text<'_>,
    form: &Spanned<Form>,
    written: Option<Spanned<Flatten>>,
    attributes: &[AttributeSignature],
    operands: &[OperandSignature],
) -> Result<Option<Flatten>, Diagnostic> {
    let Some(word) = written else { return Ok(None) };
    let wrong = |message: &str| text.wrong(word.defined, message);
    let axis = attributes.iter().find(|attribute| attribute.role == AttributeRole::Axis);
    let batch = attributes.iter().find(|attribute| attribute.role == AttributeRole::BatchDims);
    let operand = operands.iter().find(|operand| operand.role == OperandRole::Axis);
    let attribute = axis.or(batch).map(|attribute| &*attribute.name);
    let needless = attribute.or(operand.map(|operand| &*operand.name));
    match (word.value, form.value, axis) {
        (Flatten::Always, Form::Take, _) => match needless {
            None => Ok(Some(word.value)),
            Some(name) => Err(wrong("params along one axis leave no choice of one, and no batch")
                .help(format!("leave {} out", Quoted(name)))),
        },
        (Flatten::Always, form, _) => {
            Err(wrong(&format!("an operator of the form {form} does not always flatten params"))
                .help("only one of the form take may"))
        }
        (Flatten::BothWhenAxisNull, form, _) if form != Form::Elements => {
            Err(wrong(&format!("the form {form} takes indices as they are")).help("write `when-axis-null`"))
        }
        (_, _, Some(axis)) if axis.nullable => Ok(Some(word.value)),
        _ => Err(wrong("the axis cannot be null")
            .help("give the attribute `nullable: true`, or leave `flatten` out")),
    }
}
