//! The trait [`Backend`], and how a backend describes itself.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use gather_spec::diagnostic::nearest;
use gather_spec::{Call, Case, DType, Outcome, Profile, Roles, Run, Specification, Tensor};
use serde::{Deserialize, Serialize};

use crate::limits::{Extends, Limits};
use crate::variants::Variants;
use crate::words::name;

/// Anything that answers calls. An instance is used by one thread at a time. A panic counts as a crash, and the instance
/// is discarded. A call that does not end hangs its test: in a program (`gatherspec run`) it would be a timeout.
///
/// ```
/// use gather_conformance::Backend;
/// use gather_conformance::backend::{Capability, Description, Identity};
/// use gather_spec::{Call, DType, GatherError, Outcome, Profile, Tensor};
///
/// /// `torch.take` of bytes.
/// struct Mine;
///
/// impl Backend for Mine {
///     fn describe(&self) -> Description {
///         let backend = Identity { name: "mine".into(), version: "1.0".into(), language: "Rust".into() };
///         let (dtypes, index_dtypes) = (vec![DType::U8], vec![DType::I64]);
///         let capability = Capability { profile: Profile::default(), dtypes, index_dtypes, ..Capability::default() };
///         Description { backend, operators: [("torch.take".to_owned(), capability)].into() }
///     }
///
///     fn call(&mut self, call: &Call) -> Outcome {
///         // In the order of the operator's page, which names them `input` and `index`.
///         let Some([params, indices]) = call.operands.in_order() else {
///             return Outcome::Unsupported("two operands".into());
///         };
///         // Dtypes that are not declared come where the page refuses them.
///         if (params.dtype(), indices.dtype()) != (DType::U8, DType::I64) {
///             return Outcome::Unsupported("u8 by i64".into());
///         }
///         // Row-major, whatever the strides are.
///         let (bytes, positions) = (params.to_le_bytes().unwrap(), indices.to_le_bytes().unwrap());
///         let mut output = Vec::new();
///         for (at, index) in positions.as_chunks().0.iter().enumerate() {
///             let index = i64::from_le_bytes(*index);
///             match usize::try_from(index).ok().and_then(|index| bytes.get(index)) {
///                 Some(byte) => output.push(*byte),
///                 None => {
///                     let position = indices.shape().positions().nth(at).unwrap().to_vec();
///                     let (index, bound) = (index.into(), bytes.len());
///                     let error = GatherError::IndexOutOfRange { position, component: None, index, bound };
///                     return Outcome::Error(error.into());
///                 }
///             }
///         }
///         Outcome::Output(Tensor::new(DType::U8, indices.shape().to_vec(), output).unwrap())
///     }
/// }
/// # let tensor = |values: &[u8]| Tensor::new(DType::U8, [values.len()], values.to_vec()).unwrap();
/// # let indices = Tensor::new(DType::I64, [2], vec![2u64, 0]).unwrap();
/// # let operands = [("input", tensor(&[7, 8, 9])), ("index", indices)].into();
/// # let call = Call::new(gather_spec::Operator::new("torch.take"), operands, Default::default());
/// # assert_eq!(Mine.call(&call), Outcome::Output(tensor(&[9, 7])));
/// ```
pub trait Backend: Send {
    /// The backend's name, operators, dtypes and policies. [`crate::builtin::signatures`] has the names of operands and attributes
    /// of each operator.
    fn describe(&self) -> Description;

    /// Answers one call, within the dtypes and limits that are declared, or with a dtype that the operator's page refuses. The
    /// tensors may have any strides: the harness lays them out in every way, declared or not. [`Outcome::Unsupported`] is a
    /// failure where the call is within the declaration.
    fn call(&mut self, call: &Call) -> Outcome;

    /// Prepares a call for timing: puts its operands where the library wants them. Each run of the result then does all that a
    /// user's call does, with an output in this kind of memory, and gives back what is no output. `None` if the backend
    /// knows no better than [`Backend::call`], which is timed then, with fresh outputs only.
    fn prepare<'a>(&'a mut self, _call: &'a Call, _output: OutputMemory) -> Option<Prepared<'a>> {
        None
    }

    /// Makes every later call use exactly this many threads, however small the call is. Returns `false` if there is no
    /// such setting. It exists for tests, which need more threads than are worthwhile.
    fn use_threads(&mut self, _threads: usize) -> bool {
        false
    }

    /// Makes every later call use at most this many threads; `None` lifts the limit. Returns `false` if the backend
    /// cannot promise that.
    fn limit_threads(&mut self, _most: Option<NonZeroUsize>) -> bool {
        false
    }

    /// The most threads that a call may currently use; `None` if unknown.
    fn most_threads(&self) -> Option<NonZeroUsize> {
        None
    }
}

/// The memory for the output of a timed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputMemory {
    /// New memory for each call.
    #[default]
    Fresh,
    /// Memory from a pool of the backend.
    Pooled,
    /// Memory of the caller, reused.
    Into,
}

/// A call that is ready to be timed, or what it gives in place of an output.
pub type Prepared<'a> = Result<PreparedCall<'a>, Box<Outcome>>;

/// Runs a prepared call once.
pub type PreparedCall<'a> = Box<dyn FnMut() -> Result<(), Box<Outcome>> + 'a>;

/// A backend's self-description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name, version and language.
    pub backend: Identity,
    /// Its capabilities by operator. An operator that is missing is not supported.
    pub operators: BTreeMap<String, Capability>,
}

/// How many unknown operators to name, and how much of each name.
const NAMED: usize = 5;
const NAME: usize = 48;

impl Description {
    /// Why nothing can be tested: the backend declares no operator of the specification with dtypes. `None` if it does.
    #[must_use]
    pub fn nothing_to_test(&self, spec: &Specification) -> Option<String> {
        let has_dtypes = |Capability { dtypes, index_dtypes, extends, .. }: &Capability| {
            let has = |listed: &[DType], beyond: &[DType]| !listed.is_empty() || !beyond.is_empty();
            has(dtypes, &extends.dtypes) && has(index_dtypes, &extends.index_dtypes)
        };
        if self.of_known_operators(spec).operators.values().any(has_dtypes) {
            return None;
        }
        let why = "it declares no operator that the specification has, with dtypes of params and of indices"
            .to_owned();
        let unknown = self.unknown_names(spec).into_iter().map(|said| format!("\n  it {said}"));
        Some(std::iter::once(why).chain(unknown).collect())
    }

    /// Whether it declares the operator of a case.
    pub fn declares(&self, case: &Case) -> bool {
        self.operators.contains_key(case.operator().as_str())
    }

    /// The cases whose operators it declares.
    pub fn declared<'a>(&self, cases: &[&'a Arc<Case>]) -> Vec<&'a Arc<Case>> {
        cases.iter().filter(|case| self.declares(case)).copied().collect()
    }

    /// The description without operators that the specification does not have.
    #[must_use]
    pub fn of_known_operators(&self, spec: &Specification) -> Self {
        let known = self.operators.iter().filter(|(name, _)| spec.operator(name).is_some());
        let operators = known.map(|(name, capability)| (name.clone(), capability.clone())).collect();
        Self { backend: self.backend.clone(), operators }
    }

    /// A sentence for each declared operator that the specification does not have, for each attribute that calls shall be
    /// without and that the operator does not have, and for each operand of a variant likewise. Another version may have it, or its name is misspelt and declares nothing.
    #[must_use]
    pub fn unknown_names(&self, spec: &Specification) -> Vec<String> {
        let mut sentences = self.unknown_operators(spec);
        sentences.extend(self.unknown_attributes(spec));
        sentences.extend(self.unknown_axes(spec));
        sentences
    }

    fn unknown_attributes(&self, spec: &Specification) -> Vec<String> {
        let of_operator = |(operator, capability): (&String, &Capability)| {
            let known = spec.operator(operator).map(|signature| &signature.attributes)?;
            let known: Vec<&str> = known.iter().map(|attribute| &*attribute.name).collect();
            let unknown =
                capability.limits.without_attributes.iter().find(|name| !known.contains(&name.as_str()))?;
            let meant = nearest(unknown, known).map(|meant| format!("; did you mean `{meant}`?"));
            let said = format!(
                "declares `{operator}` without the attribute `{}`, which it does not have",
                name(unknown)
            );
            Some(said + &meant.unwrap_or_default())
        };
        self.operators.iter().filter_map(of_operator).take(NAMED).collect()
    }

    fn unknown_axes(&self, spec: &Specification) -> Vec<String> {
        let of_operator = |(operator, capability): (&String, &Capability)| {
            let signature = spec.operator(operator)?;
            let unknown = capability.variants.unknown_axis(signature)?;
            let known: Vec<&str> = signature.operands.iter().map(|operand| &*operand.name).collect();
            let (unknown, known) = (name(unknown), known.join(", "));
            Some(format!("declares variants of `{operator}` by `{unknown}`, and its operands are {known}"))
        };
        self.operators.iter().filter_map(of_operator).take(NAMED).collect()
    }

    fn unknown_operators(&self, spec: &Specification) -> Vec<String> {
        let unknown: Vec<&String> =
            self.operators.keys().filter(|name| spec.operator(name).is_none()).collect();
        let sentence = |name: &&String| {
            let meant = spec.operator_like(name).map(|meant| format!("; did you mean `{meant}`?"));
            let shown: String = name.chars().take(NAME).flat_map(char::escape_debug).collect();
            let more = if name.chars().count() > NAME { "…" } else { "" };
            format!(
                "declares `{shown}{more}`, which the specification does not have{}",
                meant.unwrap_or_default()
            )
        };
        let mut sentences: Vec<String> = unknown.iter().take(NAMED).map(sentence).collect();
        if unknown.len() > NAMED {
            let more = unknown.len() - NAMED;
            sentences.push(format!("declares {more} more that the specification does not have"));
        }
        sentences
    }
}

/// The identity of a backend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The language that it is written in.
    pub language: String,
}

/// The dtypes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Dtypes {
    /// Of params.
    #[cfg_attr(feature = "internals", schemars(with = "crate::schema_names::Dtype"))]
    pub params: DType,
    /// Of indices.
    #[cfg_attr(feature = "internals", schemars(with = "crate::schema_names::Dtype"))]
    pub indices: DType,
}

impl fmt::Display for Dtypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.params, self.indices)
    }
}

impl Dtypes {
    pub(crate) fn of(run: &Run, call: &Call) -> Self {
        let dtype = |name, of_case: &Tensor| call.operands.get(name).unwrap_or(of_case).dtype();
        Self {
            params: dtype(&run.case.names.params, run.params()),
            indices: dtype(&run.case.names.indices, run.indices()),
        }
    }
}

/// What a backend supports of one operator.
///
/// ```
/// use gather_conformance::Limits;
/// use gather_conformance::backend::Capability;
/// use gather_spec::DType;
/// let of_matrices = Capability {
///     dtypes: vec![DType::F32],
///     index_dtypes: vec![DType::I64],
///     limits: Limits { max_rank: Some(2), ..Limits::default() },
///     ..Capability::default()
/// };
/// assert_eq!(of_matrices.to_string(), "f32 by i64, rank <= 2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The policies that it follows.
    #[serde(deserialize_with = "crate::strict::object")]
    pub profile: Profile,
    /// The dtypes of params that it accepts.
    pub dtypes: Vec<DType>,
    /// The dtypes of indices that it accepts.
    pub index_dtypes: Vec<DType>,
    /// What it does not accept. Calls outside the limits are not sent.
    #[serde(default, deserialize_with = "crate::strict::object", skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// The dtypes that it accepts although the operator's page does not list them.
    #[serde(default, deserialize_with = "crate::strict::object", skip_serializing_if = "Extends::is_empty")]
    pub extends: Extends,
    /// The ways to make a call that it knows, besides the usual one; [`Call::variant`] says in which a call is. Those that compile
    /// or make constants are the backend's part: the operands come as ever.
    #[serde(default, skip_serializing_if = "Variants::is_empty")]
    pub variants: Variants,
    /// About how many calls of the whole suite are made in variants that are more than layouts, where compiling takes long; no
    /// limit if absent.
    #[serde(default, deserialize_with = "crate::strict::present", skip_serializing_if = "Option::is_none")]
    pub compilations: Option<u64>,
}

impl Identity {
    /// The identity in printable text: control characters that the backend sent are escaped.
    #[must_use]
    pub fn shown(&self) -> Self {
        Self { name: name(&self.name), version: name(&self.version), language: name(&self.language) }
    }
}

impl Capability {
    /// Whether the dtypes of a call are declared.
    #[must_use]
    pub fn covers(&self, call: &Roles<&Tensor>) -> bool {
        let (params, indices) = (call.params.dtype(), call.indices.dtype());
        (self.dtypes.contains(&params) || self.extends.dtypes.contains(&params))
            && (self.index_dtypes.contains(&indices) || self.extends.index_dtypes.contains(&indices))
    }
}
