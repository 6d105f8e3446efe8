//! Reads and checks `workloads.yaml`, the list of workloads. Nothing is allocated or run here.

use std::collections::HashSet;
use std::sync::LazyLock;

use gather_spec::dtype::Kind;
use gather_spec::signature::{AttributeRole, Join, OperandRole, Policy};
use gather_spec::{BadIndex, Call, DType, Form, NegativeIndex, Profile, Roles, Signature, Tensor, load};
use serde::{Deserialize, Deserializer};

use crate::geometry::WorkloadGeometry;

/// The embedded list.
pub const EMBEDDED: &str = include_str!("../workloads.yaml");

/// The embedded operators. For each workload, one of them can be called.
static OPERATORS: LazyLock<Vec<Signature>> =
    LazyLock::new(|| load::operators().expect("a test reads the embedded operators"));

/// A workload: the shapes of a call in role terms, and how to draw its inputs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Workload {
    /// Its stable name, in lower case with hyphens.
    pub id: String,
    /// The form of the call.
    pub form: Form,
    /// The tensor to gather from.
    pub params: ParamsSpec,
    /// The indices.
    pub indices: IndicesSpec,
    /// The axis, in forms take and elements. The default for take is the first one after the batch.
    #[serde(default)]
    pub axis: Option<usize>,
    /// The number of leading dims that params and indices share.
    #[serde(default)]
    pub batch_dims: usize,
    /// Where the output of `into` goes; a fresh one is always contiguous.
    #[serde(default)]
    pub output: OutputSpec,
    /// What bad and negative indices give.
    #[serde(default, deserialize_with = "policy")]
    pub policy: Profile,
    /// The seed for drawing indices.
    pub seed: u64,
}

/// Reads the policies of a workload, among them those that only the mode of a call chooses.
fn policy<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Profile, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WrittenPolicies {
        bad: BadIndex,
        negative: NegativeIndex,
    }
    let WrittenPolicies { bad, negative } = WrittenPolicies::deserialize(deserializer)?;
    Ok(Profile { bad, negative })
}

/// A description of the caller's output.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSpec {
    /// The memory layout: any but `broadcast`.
    #[serde(default)]
    pub layout: TensorLayout,
}

/// A description of params.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParamsSpec {
    /// The element type.
    pub dtype: DType,
    /// The dims.
    pub shape: Vec<usize>,
    /// The memory layout.
    #[serde(default)]
    pub layout: TensorLayout,
}

/// A description of indices.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndicesSpec {
    /// The element type, an integer type of at most 64 bits.
    pub dtype: DType,
    /// The dims.
    pub shape: Vec<usize>,
    /// The distribution of the indices.
    pub distribution: Distribution,
    /// The places of [`Distribution::Pattern`].
    #[serde(default)]
    pub pattern: Vec<u64>,
    /// How far a pattern lies behind the one before it.
    #[serde(default)]
    pub delta: u64,
    /// The memory layout: `contiguous`, `transposed` or `reversed`.
    #[serde(default)]
    pub layout: TensorLayout,
    /// The share of index rows whose first component counts from the end of its axis, in percent.
    #[serde(default)]
    pub negative: u8,
    /// The share of index rows whose first component lies past its axis, in percent.
    #[serde(default)]
    pub bad: u8,
}

/// How to draw index rows. Positions count the elements of the gathered axes in row-major order. Each batch is drawn
/// separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every position with equal probability.
    Random,
    /// Random positions in ascending order.
    Sorted,
    /// Runs of 1 to 32 consecutive positions from random starts.
    Runs,
    /// Random choices among 64 random positions.
    Repeated,
    /// 0, 1, 2, …, restarting after the last position.
    Sequential,
    /// Few positions often and many rarely, as words in a text: of all positions in an order of rank, each power of two
    /// of ranks is as likely as the next. Ranks lie anywhere.
    Zipf,
    /// Every position at most once, in random order.
    Permutation,
    /// The same few places again and again, each time further on by the same distance: a trace of Spatter.
    Pattern,
}

/// The memory layout of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TensorLayout {
    /// Row-major without gaps.
    #[default]
    Contiguous,
    /// Column-major: the strides of the transposed tensor.
    Transposed,
    /// A window of rows that are 16 elements longer, starting at their second element.
    Padded,
    /// All axes reversed.
    Reversed,
    /// Stride 0 along the first axis.
    Broadcast,
}

/// An invalid list of workloads.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The text is not a list of workloads.
    #[error("{0}")]
    Yaml(String),
    /// The list has an unknown schema version.
    #[error("schema {0} is unknown: this reader takes schema 2")]
    Schema(u32),
    /// Two workloads have the same id.
    #[error("the id `{0}` is used twice")]
    DuplicateId(String),
    /// A workload is inconsistent.
    #[error("workload `{id}`: {why}")]
    Invalid {
        /// Its id.
        id: String,
        /// What is wrong.
        why: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadList {
    schema: u32,
    workloads: Vec<Workload>,
}

/// The workloads of the embedded list, in order.
///
/// # Panics
/// If the list is invalid, which a test excludes.
///
/// ```
/// let workloads = gather_benches::workloads::embedded();
/// assert!(workloads.iter().any(|workload| workload.id == "tiny-2x2"));
/// ```
#[must_use]
pub fn embedded() -> Vec<Workload> {
    parse(EMBEDDED).expect("the embedded list is read by a test")
}

/// Parses a list of workloads.
///
/// # Errors
/// [`WorkloadError`] for unknown keys, repeated ids, and shapes, axes or batch dims that do not form a valid call.
///
/// ```
/// let text = "
/// schema: 2
/// workloads:
///   - id: rows
///     form: take
///     params: { dtype: f32, shape: [10, 3] }
///     indices: { dtype: i64, shape: [5], distribution: random }
///     seed: 1
/// ";
/// let workloads = gather_benches::workloads::parse(text)?;
/// assert_eq!(workloads[0].output_bytes(), 5 * 3 * 4);
/// # Ok::<(), gather_benches::workloads::WorkloadError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Workload>, WorkloadError> {
    let list: WorkloadList =
        serde_yaml::from_str(text).map_err(|error| WorkloadError::Yaml(error.to_string()))?;
    if list.schema != 2 {
        return Err(WorkloadError::Schema(list.schema));
    }
    let mut ids = HashSet::new();
    for workload in &list.workloads {
        if !ids.insert(workload.id.as_str()) {
            return Err(WorkloadError::DuplicateId(workload.id.clone()));
        }
        workload.check().map_err(|why| WorkloadError::Invalid { id: workload.id.clone(), why })?;
    }
    Ok(list.workloads)
}

impl Workload {
    /// The loop nest of the call.
    ///
    /// # Panics
    /// If the workload was modified and its shapes are no longer valid.
    #[must_use]
    pub fn geometry(&self) -> WorkloadGeometry {
        self.checked_geometry().expect("checked when the workload was read")
    }

    fn checked_geometry(&self) -> Result<WorkloadGeometry, String> {
        WorkloadGeometry::of(self.form, &self.params.shape, &self.indices.shape, self.batch_dims, self.axis)
    }

    /// The call of an operator of the workload's form, on these tensors, which may be a part of its inputs.
    ///
    /// # Errors
    /// If no operator of the specification fits the workload.
    pub fn call(&self, params: &Tensor, indices: &Tensor) -> Result<Call, String> {
        let roles = Roles::new(params, indices);
        let says = |signature: &Signature| {
            let permits = match &signature.policy {
                Policy::Permitted(permitted) => permitted.permits(self.policy),
                Policy::ByMode(modes) => modes.iter().any(|mode| mode.profile == self.policy),
            };
            permits.then(|| self.call_of(signature, self.policy, roles.cloned())).flatten()
        };
        OPERATORS.iter().find_map(says).ok_or_else(|| format!("no operator takes workload `{}`", self.id))
    }

    /// The call of this operator under the policies that a backend declares for it, on the tensors of `roles`, which may be
    /// a part of the workload's inputs; `None` if the operator cannot say the workload. Of an operator with modes, the mode
    /// with the workload's policies is asked or else the first that gives the same output.
    #[must_use]
    pub fn call_of(
        &self,
        signature: &Signature,
        declared: Profile,
        mut roles: Roles<Tensor>,
    ) -> Option<Call> {
        let shapes = (roles.params.shape(), roles.indices.shape());
        if !self.is_for(signature) || !self.joins(signature, shapes.0, shapes.1) {
            return None;
        }
        let modes = signature.modes();
        roles.mode = if modes.is_empty() {
            self.is_answered_under(declared).then_some(None)?
        } else {
            let same = modes.iter().find(|mode| mode.profile == self.policy);
            let fits = || modes.iter().find(|mode| self.is_answered_under(mode.profile));
            Some(same.or_else(fits)?.mode.clone())
        };
        let signed = |dims: usize| i64::try_from(dims).ok();
        // The default of an absent axis depends on the operator.
        roles.axis = match self.form {
            Form::Take | Form::Elements => Some(signed(self.axis.unwrap_or(self.batch_dims))?.into()),
            Form::Nd | Form::Window => None,
        };
        roles.batch_dims = if self.batch_dims > 0 { Some(signed(self.batch_dims)?) } else { None };
        Some(signature.spell(roles))
    }

    /// Whether these policies give the output of the workload's own: each says the same of the indices that there are.
    fn is_answered_under(&self, policies: Profile) -> bool {
        (self.indices.negative == 0 || policies.negative == self.policy.negative)
            && (self.indices.bad == 0 || policies.bad == self.policy.bad)
    }

    /// Whether an operator fits the workload.
    fn is_for(&self, signature: &Signature) -> bool {
        let takes = |role, dtype, shape: &[usize]| {
            let operand = signature.operand(role);
            operand.dtypes.contains(dtype) && operand.rank.allows(shape.len())
        };
        let sends_its_axis = match self.form {
            Form::Take | Form::Elements => signature.attribute(AttributeRole::Axis).is_some(),
            Form::Nd | Form::Window => true,
        };
        signature.form == self.form
            && takes(OperandRole::Params, &self.params.dtype, &self.params.shape)
            && takes(OperandRole::Indices, &self.indices.dtype, &self.indices.shape)
            && sends_its_axis
            && !signature.is_always_flat()
            && (self.batch_dims == 0 || signature.has_batch())
    }

    /// For form elements: whether the dims off the axis satisfy the operator's join rule.
    fn joins(&self, signature: &Signature, params: &[usize], indices: &[usize]) -> bool {
        let fits = |(dim, (params, indices)): (usize, (&usize, &usize))| match signature.join {
            _ if Some(dim) == self.axis => true,
            None => true,
            // With smaller indices, a part of the output would be missing.
            Some(Join::Equal | Join::NotLarger) => params == indices,
            Some(Join::Broadcast) => params == indices || *indices == 1,
        };
        params.iter().zip(indices).enumerate().all(fits)
    }

    /// The size of the output in bytes. A string counts as 16.
    ///
    /// # Panics
    /// As [`Workload::geometry`].
    #[must_use]
    pub fn output_bytes(&self) -> usize {
        self.geometry().output_len() * self.params.dtype.size()
    }

    /// Whether elements are cloned one by one rather than moved as bits.
    #[must_use]
    pub fn is_string(&self) -> bool {
        self.params.dtype == DType::String
    }

    /// Whether params, indices and the output lie row after row, as in a file.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let layouts = [self.params.layout, self.indices.layout, self.output.layout];
        layouts.iter().all(|layout| *layout == TensorLayout::Contiguous)
    }

    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.id.is_empty() || !self.id.chars().all(plain) {
            return Err("an id has lower-case letters, digits and hyphens only".to_owned());
        }
        if !self.indices.dtype.is_integer() || self.indices.dtype.size() > 8 {
            return Err(format!(
                "indices of dtype {} are not drawn: use an integer of 8 to 64 bits",
                self.indices.dtype
            ));
        }
        if matches!(self.indices.layout, TensorLayout::Padded | TensorLayout::Broadcast) {
            return Err("indices are contiguous, transposed or reversed".to_owned());
        }
        if self.output.layout == TensorLayout::Broadcast {
            return Err("elements of an output are not repeated".to_owned());
        }
        if self.indices.negative.saturating_add(self.indices.bad) > 100 {
            return Err("more than 100 percent of the indices are negative or bad".to_owned());
        }
        if self.indices.negative > 0 && self.policy.negative != NegativeIndex::Wrap {
            return Err("negative indices need the policy `negative: wrap`".to_owned());
        }
        if self.indices.negative > 0 && self.indices.dtype.kind() != Kind::Signed {
            return Err("negative indices need a signed dtype".to_owned());
        }
        if self.indices.bad > 0 && matches!(self.policy.bad, BadIndex::Error | BadIndex::Unspecified) {
            return Err("bad indices need a policy that gives an output".to_owned());
        }
        let geometry = self.checked_geometry()?;
        let positions = geometry.positions();
        let signed = self.indices.dtype.kind() == Kind::Signed;
        let bits = 8 * self.indices.dtype.size() - usize::from(signed);
        // Places are drawn as i64.
        let most = 1u128 << bits.min(63);
        // An index past the axis is less than twice its size.
        let most = if self.indices.bad > 0 { most / 2 } else { most };
        if positions == 0 || geometry.indexed.iter().any(|dim| *dim as u128 > most) {
            return Err(
                "each axis that is selected from needs 1 to the index type's maximum places".to_owned()
            );
        }
        if self.indices.distribution == Distribution::Permutation && geometry.drawn() > positions {
            return Err("a permutation has no more indices than there are places".to_owned());
        }
        if (self.indices.distribution == Distribution::Pattern) == self.indices.pattern.is_empty() {
            return Err("a pattern is for the distribution `pattern`, which needs one".to_owned());
        }
        if geometry.output_len() == 0 {
            return Err("the output is empty".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "schema: 2
workloads:
  - id: rows
    form: take
    params: { dtype: f32, shape: [10, 3] }
    indices: { dtype: i64, shape: [5], distribution: random }
    seed: 1
";

    fn refused(text: &str) -> String {
        parse(text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn the_embedded_list_is_read() {
        assert!(embedded().len() >= 16);
    }

    #[test]
    fn a_list_with_one_fault_is_refused() {
        assert!(parse(ONE).is_ok());
        for (from, to, part) in [
            ("seed: 1", "seed: 1\n    colour: red", "colour"),
            ("schema: 2", "schema: 1", "schema 1"),
            ("distribution: random", "distribution: wild", "wild"),
            ("dtype: i64", "dtype: f64", "f64"),
            ("shape: [5], distribution: random", "shape: [11], distribution: permutation", "no more indices"),
            ("distribution: random", "distribution: pattern", "needs one"),
            ("distribution: random", "distribution: random, pattern: [1]", "is for"),
            ("shape: [5]", "shape: [0]", "empty"),
            ("id: rows", "id: Rows", "lower-case"),
            ("form: take", "form: scatter", "scatter"),
            ("seed: 1", "seed: 1\n    output: { layout: broadcast }", "not repeated"),
            ("seed: 1", "seed: 1\n    axis: 2", "axis"),
            ("form: take", "form: nd\n    axis: 0", "axis"),
            ("form: take", "form: elements", "needs an axis"),
            ("form: take", "form: elements\n    axis: 0", "do not share an axis"),
            ("seed: 1", "seed: 1\n    batch-dims: 1", "batch"),
            ("seed: 1", "seed: 1\n    policy: { bad: ignore, negative: wrap }", "ignore"),
            ("distribution: random", "distribution: random, negative: 50", "negative: wrap"),
            ("distribution: random", "distribution: random, bad: 1", "a policy that gives an output"),
            ("distribution: random", "distribution: random, bad: 60, negative: 60", "more than 100 percent"),
        ] {
            let why = refused(&ONE.replacen(from, to, 1));
            assert!(why.contains(part), "{to}: {why}");
        }
        let twice = format!("{ONE}{}", ONE.split_once("workloads:\n").unwrap().1);
        assert!(refused(&twice).contains("used twice"));
    }
}
