//! Calls of other operators as calls of ONNX.

use gather_conformance::Backend;
use gather_conformance::builtin::{self, Policies};
use gather_spec::signature::{AttributeRole, Axis, Form, OperandRole, Signature};
use gather_spec::{Call, Operator, Outcome, Roles, Run, Specification, Tensor};

use crate::export::format::Format;

/// Translates calls. The reference must give the output of the run for the call of ONNX as well: two documents agree on it.
pub(super) struct Equivalents<'s> {
    spec: &'s Specification,
    reference: Box<dyn Backend>,
}

impl<'s> Equivalents<'s> {
    pub(super) fn new(spec: &'s Specification) -> Self {
        let [reference, _] = builtin::NAMES;
        let policies = Policies::default();
        let reference = builtin::backend_of(&spec.signatures(), reference, policies, builtin::MAX_OUTPUT);
        Self { spec, reference: reference.expect("it is built in") }
    }

    /// The call of ONNX that gives the same output from the same operands.
    pub(super) fn of(&mut self, run: &Run, output: &Tensor) -> Option<Call> {
        let page = &run.case.signature;
        let roles = page.roles(&run.call).ok()?;
        let Node { form, axis, batch_dims } = Node::of(page, &roles)?;
        let target = newest(self.spec, form)?;
        let lists = |role, tensor: &Tensor| target.operand(role).dtypes.contains(&tensor.dtype());
        if !lists(OperandRole::Params, roles.params) || !lists(OperandRole::Indices, roles.indices) {
            return None;
        }
        let mut own = Roles::new(roles.params.clone(), roles.indices.clone());
        own.axis = axis.map(Axis::At);
        own.batch_dims = batch_dims;
        let call = target.spell(own);
        let answer = self.reference.call(&call);
        matches!(answer, Outcome::Output(found) if found == *output).then_some(call)
    }
}

/// The operator of ONNX with a form that has the highest version.
fn newest(spec: &Specification, form: Form) -> Option<&Signature> {
    let own = spec.operators.iter().filter(|page| page.form == form && Format::Onnx.is_own(&page.operator));
    own.max_by_key(|page| name_and_version(&page.operator).1)
}

/// `Gather` and 13 of `onnx.Gather-13`.
pub(super) fn name_and_version(operator: &Operator) -> (&str, i64) {
    let name = operator.as_str().rsplit('.').next().unwrap_or_default();
    let (name, version) = name.rsplit_once('-').unwrap_or((name, ""));
    (name, version.parse().unwrap_or(13))
}

/// What a call is in ONNX.
struct Node {
    form: Form,
    axis: Option<i64>,
    batch_dims: Option<i64>,
}

impl Node {
    fn of(page: &Signature, roles: &Roles<&Tensor>) -> Option<Self> {
        let batch_dims = roles.batch_dims.filter(|dims| *dims != 0);
        match page.form {
            Form::Nd => Some(Self { form: Form::Nd, axis: None, batch_dims }),
            Form::Take if batch_dims.is_some() => None,
            Form::Take | Form::Elements => {
                Some(Self { form: page.form, axis: Some(axis(page, roles)?), batch_dims: None })
            }
            Form::Window => Self::of_window(page, roles),
        }
    }

    /// A gather of windows that are whole slices: index rows of one component that select along any axis, or of several along the first
    /// ones.
    fn of_window(page: &Signature, roles: &Roles<&Tensor>) -> Option<Self> {
        let (r, q) = (i64::try_from(roles.params.rank()).ok()?, i64::try_from(roles.indices.rank()).ok()?);
        let (numbers, sizes) = page.window(roles.window.as_ref()?, roles.indices.rank());
        let map = &numbers.start_index_map;
        let k = i64::try_from(map.len()).ok()?;
        let whole = |(dim, size): (usize, &i64)| {
            let is_indexed = i64::try_from(dim).is_ok_and(|dim| map.contains(&dim));
            let wanted = if is_indexed { 1 } else { *roles.params.shape().get(dim)? };
            (usize::try_from(*size) == Ok(wanted)).then_some(())
        };
        let batching = numbers.operand_batching_dims.len() + numbers.start_indices_batching_dims.len();
        if batching > 0
            || *map != numbers.collapsed_slice_dims
            || !sizes.iter().enumerate().all(|one| whole(one).is_some())
        {
            return None;
        }
        match (map.as_slice(), numbers.index_vector_dim) {
            ([axis], dim) if dim == q => {
                let offsets: Vec<i64> = (0..*axis).chain(axis + q..q + r - 1).collect();
                (numbers.offset_dims == offsets).then_some(Self {
                    form: Form::Take,
                    axis: Some(*axis),
                    batch_dims: None,
                })
            }
            (axes, dim) if dim == q - 1 => {
                let offsets: Vec<i64> = (q - 1..q - 1 + r - k).collect();
                let first: Vec<i64> = (0..k).collect();
                (numbers.offset_dims == offsets && *axes == first).then_some(Self {
                    form: Form::Nd,
                    axis: None,
                    batch_dims: None,
                })
            }
            _ => None,
        }
    }
}

/// The axis of a call, the first if its operator has no other. ONNX flattens nothing.
fn axis(page: &Signature, roles: &Roles<&Tensor>) -> Option<i64> {
    match page.axis_of(roles) {
        Some(Axis::At(axis)) => Some(axis),
        None if page.attribute(AttributeRole::Axis).is_none() && page.flatten.is_none() => Some(0),
        // Nothing changes if a vector is flattened.
        Some(Axis::Null) | None => (roles.params.rank() == 1).then_some(0),
    }
}
