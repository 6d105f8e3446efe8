//! How the indices of a call select, in a few sentences: what no grid shows by itself.

use gather_spec::case::OperandNames;
use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, Flatten, Roles, Window};
use gather_spec::{Attribute, Call, Form, Signature, Tensor};

/// How an index of a call selects, which dims go together, and which are repeated.
pub(super) fn meaning(
    signature: &Signature,
    call: &Call,
    names: &OperandNames,
    output: Option<&Tensor>,
) -> Vec<String> {
    let Ok(roles) = signature.roles(call) else { return Vec::new() };
    let OperandNames { params, indices } = names;
    let axis = roles.axis.or_else(|| default_axis(signature));
    let along = match axis {
        Some(Axis::At(axis)) => format!("axis {axis}"),
        _ => "the axis".to_owned(),
    };
    let flat = axis == Some(Axis::Null) || signature.flatten == Some(Flatten::Always);
    match signature.form {
        Form::Take if flat => vec![format!("each index is a position in {params} read row by row")],
        Form::Take => {
            let selects = format!("each index is a coordinate of {params} along {along}");
            std::iter::once(selects).chain(batch(&roles, names)).collect()
        }
        Form::Elements => {
            let selects = format!("each index replaces the coordinate of its own position along {along}");
            std::iter::once(selects)
                .chain(output.and_then(|output| repeated(&roles, names, output)))
                .collect()
        }
        Form::Nd => {
            let (first, depth) = (batch_dims(&roles), roles.indices.shape().last().copied().unwrap_or(0));
            let selects = match depth {
                0 => format!("the last dim of {indices} is empty: each row selects all of {params}"),
                _ => format!(
                    "the numbers along the last dim of {indices} are coordinates of {params} along {}",
                    range(first, depth)
                ),
            };
            std::iter::once(selects).chain(batch(&roles, names)).collect()
        }
        Form::Window => roles.window.as_ref().map_or_else(Vec::new, |window| windows(window, &roles, names)),
    }
}

/// The number of batch dims, counted from the first.
fn batch_dims(roles: &Roles<&Tensor>) -> usize {
    let sent = roles.batch_dims.unwrap_or(0);
    let rank = i64::try_from(roles.indices.rank()).unwrap_or(0);
    usize::try_from(if sent < 0 { sent.saturating_add(rank) } else { sent }).unwrap_or(0)
}

/// That the batch dims of params and indices go together.
fn batch(roles: &Roles<&Tensor>, OperandNames { params, indices }: &OperandNames) -> Option<String> {
    let batch = batch_dims(roles);
    let are = if batch == 1 { "is" } else { "are" };
    (batch > 0).then(|| {
        format!(
            "{} {are} the batch: {indices} select from {params} at their own position there",
            range(0, batch)
        )
    })
}

/// Which dims of params and of indices have one position that stands for all.
fn repeated(roles: &Roles<&Tensor>, names: &OperandNames, output: &Tensor) -> Option<String> {
    let of = |name: &str, tensor: &Tensor, but: Option<usize>| {
        let stretched = |dim: &usize| {
            Some(*dim) != but && tensor.shape().get(*dim) == Some(&1) && output.shape()[*dim] > 1
        };
        let some: Vec<usize> = (0..output.rank()).filter(stretched).collect();
        (!some.is_empty()).then(|| format!("{} of {name}", dims(some)))
    };
    let rank = i64::try_from(roles.params.rank()).unwrap_or(0);
    let axis = match roles.axis {
        Some(Axis::At(axis)) => usize::try_from(if axis < 0 { axis.saturating_add(rank) } else { axis }).ok(),
        _ => None,
    };
    let all: Vec<String> = [of(&names.params, roles.params, axis), of(&names.indices, roles.indices, None)]
        .into_iter()
        .flatten()
        .collect();
    (!all.is_empty()).then(|| format!("of size 1, and so repeated: {}", all.join(", ")))
}

/// What the dimension numbers of a call say.
fn windows(
    window: &Window,
    roles: &Roles<&Tensor>,
    OperandNames { params, indices }: &OperandNames,
) -> Vec<String> {
    let list = |dims: &Option<Vec<i64>>| dims.clone().unwrap_or_default();
    let rank = i64::try_from(roles.indices.rank()).unwrap_or(0);
    let vector = window.index_vector_dim.unwrap_or(rank - 1);
    let starts = dims(list(&window.start_index_map));
    let mut lines = vec![if vector == rank {
        format!("each index is where a slice starts, along {starts} of {params}")
    } else {
        format!(
            "the numbers along dim {vector} of {indices} are where a slice starts, along {starts} of {params}"
        )
    }];
    let (of_params, of_indices) =
        (list(&window.operand_batching_dims), list(&window.start_indices_batching_dims));
    let pairs: Vec<String> = of_params
        .iter()
        .zip(&of_indices)
        .map(|(of_params, of_indices)| {
            format!("dim {of_indices} of {indices} with dim {of_params} of {params}")
        })
        .collect();
    if !pairs.is_empty() {
        lines.push(format!("these go together: {}", pairs.join(", ")));
    }
    let mut gone = [list(&window.collapsed_slice_dims), of_params].concat();
    gone.sort_unstable();
    let gone = if gone.is_empty() { String::new() } else { format!("; the output lacks its {}", dims(gone)) };
    lines.push(format!("every slice has the size slice_sizes{gone}"));
    lines
}

/// The names of `count` dims from `first` on: `dim 2`, `dims 0, 1`, or `dims 0 to 7`.
fn range(first: usize, count: usize) -> String {
    match count {
        0..=3 => dims((first..).take(count)),
        _ => format!("dims {first} to {}", first.saturating_add(count - 1)),
    }
}

/// `dim 2`, or `dims 0, 1`.
fn dims<D: ToString>(dims: impl IntoIterator<Item = D>) -> String {
    let all: Vec<String> = dims.into_iter().map(|dim| dim.to_string()).collect();
    let noun = if all.len() == 1 { "dim" } else { "dims" };
    format!("{noun} {}", all.join(", "))
}

/// The axis of a call that sends none, if it is the same for every call.
fn default_axis(signature: &Signature) -> Option<Axis> {
    match signature.attribute(AttributeRole::Axis)?.default {
        AttributeDefault::Value(Attribute::Integer(axis)) => Some(Axis::At(axis)),
        AttributeDefault::Value(Attribute::Null) => Some(Axis::Null),
        _ => None,
    }
}
