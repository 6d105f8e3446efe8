//! Limits on the calls of an operator that a backend accepts, beyond their dtypes, and dtypes that it accepts beyond those
//! of the operator's page.
//!
//! `declared` applies them.

use std::collections::BTreeSet;
use std::fmt;

use gather_spec::signature::Axis;
use gather_spec::{Call, DType};
use serde::{Deserialize, Serialize};

use crate::words::{counted, shown};

/// What a backend does not accept of an operator. By default there is no limit.
///
/// ```
/// use gather_conformance::Limits;
/// let limits = Limits { max_rank: Some(4), no_empty: true, ..Limits::default() };
/// assert_eq!(limits.to_string(), "rank <= 4, no empty tensors");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The highest rank of params, of indices and of the output.
    #[serde(default, deserialize_with = "crate::strict::present", skip_serializing_if = "Option::is_none")]
    pub max_rank: Option<usize>,
    /// Whether params, indices and the output must have a dim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_scalars: bool,
    /// Whether params, indices and the output must have an element.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_empty: bool,
    /// The most elements of params, of indices and of the output.
    #[serde(default, deserialize_with = "crate::strict::present", skip_serializing_if = "Option::is_none")]
    pub max_elements: Option<u64>,
    /// The largest output in bytes, where a string counts 16.
    #[serde(default, deserialize_with = "crate::strict::present", skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// The accepted values of the axis, as a call sends it or by default.
    #[serde(default, deserialize_with = "crate::strict::present", skip_serializing_if = "Option::is_none")]
    pub axes: Option<Vec<i64>>,
    /// The attributes that no call may carry.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_attributes: BTreeSet<String>,
}

/// The dtypes that a backend accepts beyond those of the operator's page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extends {
    /// Of params.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<DType>,
    /// Of indices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub index_dtypes: Vec<DType>,
}

/// A limit that a call exceeds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Limit {
    MaxRank(usize),
    NoScalars,
    NoEmpty,
    MaxElements(u64),
    MaxOutputBytes(u64),
    Axes(Vec<i64>),
    WithoutAttribute(String),
}

/// The part of a call that limits are about.
pub(crate) struct CallExtent<'a> {
    pub(crate) call: &'a Call,
    /// Params and indices.
    pub(crate) operands: [&'a [usize]; 2],
    pub(crate) axis: Option<Axis>,
    /// The dtype and the dims of the output, if there is one.
    pub(crate) output: Option<(DType, &'a [usize])>,
}

impl Limits {
    /// The names of all limits in the protocol.
    pub(crate) const NAMES: [&str; 7] = [
        "max_rank",
        "no_scalars",
        "no_empty",
        "max_elements",
        "max_output_bytes",
        "axes",
        "without_attributes",
    ];

    /// Whether there is no limit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Each limit by itself.
    fn each(&self) -> impl Iterator<Item = Limit> {
        let Self { max_rank, no_scalars, no_empty, max_elements, max_output_bytes, axes, without_attributes } =
            self;
        let flags = [(*no_scalars, Limit::NoScalars), (*no_empty, Limit::NoEmpty)];
        max_rank
            .map(Limit::MaxRank)
            .into_iter()
            .chain(flags.into_iter().filter_map(|(is_set, limit)| is_set.then_some(limit)))
            .chain(max_elements.map(Limit::MaxElements))
            .chain(max_output_bytes.map(Limit::MaxOutputBytes))
            .chain(axes.clone().map(Limit::Axes))
            .chain(without_attributes.iter().cloned().map(Limit::WithoutAttribute))
    }

    /// The limits that a call exceeds.
    pub(crate) fn exceeded_by(&self, extent: &CallExtent<'_>) -> Vec<Limit> {
        self.each().filter(|limit| limit.is_exceeded_by(extent)).collect()
    }
}

impl Limit {
    fn is_exceeded_by(&self, CallExtent { call, operands, axis, output }: &CallExtent<'_>) -> bool {
        let mut dims = operands.iter().copied().chain(output.map(|(_, dims)| dims));
        let elements =
            |dims: &[usize]| dims.iter().fold(1, |product: u128, dim| product.saturating_mul(*dim as u128));
        match self {
            Self::MaxRank(most) => dims.any(|dims| dims.len() > *most),
            Self::NoScalars => dims.any(<[usize]>::is_empty),
            Self::NoEmpty => dims.any(|dims| dims.contains(&0)),
            Self::MaxElements(most) => dims.any(|dims| elements(dims) > u128::from(*most)),
            Self::MaxOutputBytes(most) => output.is_some_and(|(dtype, dims)| {
                elements(dims).saturating_mul(dtype.size() as u128) > u128::from(*most)
            }),
            Self::Axes(accepted) => axis.is_some_and(|axis| match axis {
                Axis::At(axis) => !accepted.contains(&axis),
                Axis::Null => true,
            }),
            Self::WithoutAttribute(name) => call.attributes.contains_key(name),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MaxRank(most) => write!(f, "rank <= {most}"),
            Self::NoScalars => f.write_str("no scalars"),
            Self::NoEmpty => f.write_str("no empty tensors"),
            Self::MaxElements(most) => write!(f, "at most {}", counted(*most, "element")),
            Self::MaxOutputBytes(most) => write!(f, "outputs of at most {}", counted(*most, "byte")),
            Self::Axes(axes) => {
                let axes: Vec<String> = axes.iter().map(i64::to_string).collect();
                write!(f, "axis {}", axes.join(" or "))
            }
            Self::WithoutAttribute(name) => write!(f, "no {}", shown(name)),
        }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self.each().map(|limit| limit.to_string()).collect();
        f.write_str(&each.join(", "))
    }
}

impl Extends {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
