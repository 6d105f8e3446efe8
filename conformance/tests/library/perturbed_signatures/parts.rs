//! Operands and attributes of wrong signatures.

use gather_spec::signature::{
    AttributeDefault, AttributeRole, AttributeSignature, AttributeType, OperandRole, OperandSignature, Range,
    RankRule,
};
use gather_spec::{Attribute, DType, Form, Signature};

/// A field, what it is changed to, and the part with the change.
pub(crate) type Changed<T> = Vec<(&'static str, String, T)>;

/// Operands with one field changed.
pub(crate) fn operands(signature: &Signature, operand: &OperandSignature) -> Changed<OperandSignature> {
    let mut all = Vec::new();
    let name = format!("{}_", operand.name);
    all.push(("name", name.clone(), OperandSignature { name: name.into(), ..operand.clone() }));
    for dtype in DType::ALL {
        let mut changed = operand.clone();
        if operand.dtypes.contains(&dtype) {
            changed.dtypes.retain(|listed| *listed != dtype);
            all.push(("dtypes", format!("without {dtype}"), changed));
        } else {
            changed.dtypes.push(dtype);
            all.push(("dtypes", format!("with {dtype}"), changed));
        }
    }
    // Slice sizes are a vector, whatever the pages say, and so are params that are always flattened.
    let is_line = operand.role == OperandRole::Params && signature.is_always_flat();
    if operand.role == OperandRole::SliceSizes || is_line {
        return all;
    }
    let others: &[(&str, RankRule)] = match (operand.role, operand.rank) {
        (OperandRole::Axis, _) => &[("any", RankRule::Any), ("exactly 1", RankRule::Exactly1)],
        (_, RankRule::Exactly1) => &[("any", RankRule::Any), ("at least 1", RankRule::AtLeast1)],
        (_, RankRule::Exactly2) => &[("at least 1", RankRule::AtLeast1), ("at least 2", RankRule::AtLeast2)],
        _ => &[],
    };
    if !others.is_empty() {
        for (change, rank) in others.iter().copied() {
            all.push(("rank", change.to_owned(), OperandSignature { rank, ..operand.clone() }));
        }
        return all;
    }
    let rules = [RankRule::Any, RankRule::AtLeast1, RankRule::AtLeast2];
    let is_next = |rule: &RankRule| rule.least().abs_diff(operand.rank.least()) == 1;
    for rule in rules.into_iter().filter(is_next) {
        // Index rows lie along an axis, whatever the pages say, and where the page promises nothing of params without
        // axes, no case can tell.
        let of_rows = (signature.form, operand.role, rule) == (Form::Nd, OperandRole::Indices, RankRule::Any);
        let untold =
            signature.tolerates.scalar_params && (operand.role, rule) == (OperandRole::Params, RankRule::Any);
        if !of_rows && !untold {
            let change = format!("at least {}", rule.least());
            all.push(("rank", change, OperandSignature { rank: rule, ..operand.clone() }));
        }
    }
    all
}

/// Attributes with one field changed.
pub(crate) fn attributes(form: Form, attribute: &AttributeSignature) -> Changed<AttributeSignature> {
    let mut all = Vec::new();
    let name = format!("{}_", attribute.name);
    all.push(("name", name.clone(), AttributeSignature { name, ..attribute.clone() }));
    for role in [AttributeRole::Axis, AttributeRole::BatchDims, AttributeRole::Ignored] {
        // A promise that is kept has no effect either.
        if (role, attribute.role) == (AttributeRole::Ignored, AttributeRole::Promise) {
            continue;
        }
        // Modes need an attribute that chooses among them.
        if role != attribute.role && attribute.role != AttributeRole::Mode {
            // What has an effect is an integer, so no loader lets a boolean through.
            let r#type =
                if role == AttributeRole::Ignored { attribute.r#type } else { AttributeType::Integer };
            all.push(("role", word(role), AttributeSignature { role, r#type, ..attribute.clone() }));
        }
    }
    for r#type in [AttributeType::Integer, AttributeType::Boolean] {
        if r#type != attribute.r#type {
            all.push(("type", r#type.to_string(), AttributeSignature { r#type, ..attribute.clone() }));
        }
    }
    for default in defaults(attribute) {
        all.push(("default", default.to_string(), AttributeSignature { default, ..attribute.clone() }));
    }
    let ranges = [
        Range::FromMinusRBelowR,
        Range::From0BelowR,
        Range::FromMinusQToQ,
        Range::FromMinusSmallerRankToSmallerRank,
        Range::From0BelowQToR,
        Range::From0BelowSmallerRank,
    ];
    for range in ranges {
        // Params and indices of form elements have the same rank, so that this is hardly another range.
        let from_minus_q = matches!(range, Range::FromMinusQToQ | Range::FromMinusSmallerRankToSmallerRank);
        let from_0 = matches!(range, Range::From0BelowQToR | Range::From0BelowSmallerRank);
        if form == Form::Elements && (from_minus_q || from_0 && attribute.range == Some(Range::From0BelowR)) {
            continue;
        }
        // A batch is below the rank of indices whatever the range, so that this is hardly another one for it either.
        if (attribute.role, range) == (AttributeRole::BatchDims, Range::From0BelowR) {
            continue;
        }
        if attribute.range.is_some_and(|its| its != range) {
            all.push(("range", word(range), AttributeSignature { range: Some(range), ..attribute.clone() }));
        }
    }
    all
}

/// A word of a signature as `operator.yaml` has it.
pub(crate) fn word(word: impl serde::Serialize) -> String {
    serde_json::to_value(word).unwrap().as_str().unwrap().to_owned()
}

/// Other defaults of an attribute that has an effect.
fn defaults(attribute: &AttributeSignature) -> Vec<AttributeDefault> {
    let integers = |values: &[i64]| -> Vec<AttributeDefault> {
        values.iter().map(|value| AttributeDefault::Value(Attribute::Integer(*value))).collect()
    };
    match attribute.default {
        _ if matches!(attribute.role, AttributeRole::Ignored | AttributeRole::Promise) => Vec::new(),
        // The loader takes no default but null.
        _ if attribute.role == AttributeRole::FillValue => Vec::new(),
        // A list that is always sent may have any.
        AttributeDefault::None if attribute.role.is_of_windows() => Vec::new(),
        AttributeDefault::Value(Attribute::Integer(value)) => {
            // An axis can be required.
            let none = (attribute.role == AttributeRole::Axis).then_some(AttributeDefault::None);
            integers(&[value - 1, value + 1]).into_iter().chain(none).collect()
        }
        AttributeDefault::BatchDims => {
            integers(&[-1, 0, 1]).into_iter().chain([AttributeDefault::None]).collect()
        }
        AttributeDefault::None | AttributeDefault::Value(Attribute::Null) => integers(&[-1, 0]),
        AttributeDefault::OnlyAxis => {
            integers(&[-1, 0]).into_iter().chain([AttributeDefault::None]).collect()
        }
        AttributeDefault::Value(Attribute::Integers(_)) => {
            vec![AttributeDefault::Value(Attribute::Integers(vec![0]))]
        }
        // What stands for nothing has no neighbour, and an operand is always sent.
        AttributeDefault::Value(_) | AttributeDefault::Operand | AttributeDefault::Undocumented => Vec::new(),
    }
}
