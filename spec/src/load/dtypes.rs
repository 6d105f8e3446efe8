//! The dtypes of a case: a name, `any`, or a list under `for-each`. A family case is restricted to the dtypes that its
//! operator lists.

use std::collections::HashSet;

use crate::any;
use crate::diagnostic::{Diagnostic, Quoted};
use crate::signature::OperandRole;
use crate::yaml::Spanned;
use crate::{DType, ErrorCode};

use super::case_reader::CaseReader;
use super::raw::{CaseEntry, Expect, ForEach, TensorEntry};
use super::sizes::GridPoint;
use super::written::{OperandDtypes, WrittenDtype};

/// The name for a dtype that does not matter.
const ANY: &str = "any";

/// One choice of the dtypes that `for-each` leaves open.
pub(super) struct Choice {
    pub(super) params: WrittenDtype,
    pub(super) indices: WrittenDtype,
    /// The part of the id for this choice.
    pub(super) suffix: String,
}

/// The dtypes under `for-each`, for params and for indices.
type Listed<'e> = (&'e [Spanned<String>], &'e [Spanned<String>]);

impl CaseReader<'_> {
    /// The dtypes of params and of indices: one each, or as many as `for-each` lists.
    pub(super) fn dtypes_of_operands(
        &self,
        entry: &CaseEntry,
        params: &Spanned<TensorEntry>,
        indices: &Spanned<TensorEntry>,
    ) -> Result<OperandDtypes, Diagnostic> {
        let (of_params, of_indices) = match &entry.for_each {
            None => (&[][..], &[][..]),
            Some(each) => self.listed(each)?,
        };
        let mut params = self.dtypes(of_params, params, OperandRole::Params)?;
        let mut indices = self.dtypes(of_indices, indices, OperandRole::Indices)?;
        if self.is_family() {
            params.retain(|one| self.belongs(entry, OperandRole::Params, one.dtype()));
            indices.retain(|one| self.belongs(entry, OperandRole::Indices, one.dtype()));
        }
        Ok(OperandDtypes { params, indices })
    }

    /// Whether an operator has a family case in a dtype: if its pages list the dtype or, for a case that expects only the
    /// rejection of this dtype, if they neither list nor tolerate it.
    pub(super) fn belongs(&self, entry: &CaseEntry, role: OperandRole, dtype: DType) -> bool {
        let tolerates = &self.page.tolerates;
        let (code, tolerated) = match role {
            OperandRole::Params => (ErrorCode::ParamsDtype, &tolerates.params_dtypes[..]),
            OperandRole::Indices => (ErrorCode::IndexDtype, &tolerates.index_dtypes[..]),
            OperandRole::Axis | OperandRole::SliceSizes => (ErrorCode::OperandDtype, &[][..]),
        };
        let listed = self.page.operand(role).dtypes.contains(&dtype);
        if refuses(entry, code) { !listed && !tolerated.contains(&dtype) } else { listed }
    }

    /// The dtypes that `for-each` lists for params and for indices.
    fn listed<'e>(&self, each: &'e Spanned<ForEach>) -> Result<Listed<'e>, Diagnostic> {
        let ForEach { params_dtype, index_dtype, sizes, .. } = &each.value;
        if params_dtype.is_empty() && index_dtype.is_empty() && sizes.0.is_empty() {
            return Err(self
                .wrong(
                    each.defined,
                    "`for-each` lists `params-dtype`, `index-dtype`, `sizes` or several of them",
                )
                .help("such as { params-dtype: [f32, f64] } or { sizes: { n: [1, 2, 3] } }"));
        }
        Ok((params_dtype, index_dtype))
    }

    /// The dtypes of one operand: its own, where `any` gives several, or those of `for-each`. In a family, `any` may give
    /// none.
    fn dtypes(
        &self,
        listed: &[Spanned<String>],
        operand: &Spanned<TensorEntry>,
        role: OperandRole,
    ) -> Result<Vec<WrittenDtype>, Diagnostic> {
        let of_page = &self.page.operand(role).dtypes;
        Ok(match (&operand.value.dtype, listed) {
            (Some(dtype), []) if dtype.value == ANY => match open(role, of_page) {
                open if open.is_empty() && !self.is_family() => {
                    return Err(self.wrong(
                        dtype.defined,
                        format!("the pages of {} list no dtype that `any` stands for", self.page.operator),
                    ));
                }
                open if open.is_empty() => Vec::new(),
                open => vec![WrittenDtype::Any(open)],
            },
            (Some(dtype), []) => vec![WrittenDtype::Named(self.parse(dtype)?)],
            (None, []) => {
                return Err(self
                    .wrong(operand.defined, "this tensor has no `dtype`")
                    .help("add `dtype: any` where the dtype does not matter, or `dtype: f32`, say"));
            }
            (Some(dtype), _) => {
                return Err(self
                    .wrong(dtype.defined, "`for-each` gives this tensor's dtype")
                    .help("leave `dtype` out"));
            }
            (None, listed) => self.all_different(listed)?,
        })
    }

    fn all_different(&self, listed: &[Spanned<String>]) -> Result<Vec<WrittenDtype>, Diagnostic> {
        let mut seen = HashSet::new();
        listed
            .iter()
            .map(|dtype| match seen.insert(&dtype.value) {
                true => self.parse(dtype).map(WrittenDtype::Named),
                false => Err(self.wrong(dtype.defined, format!("{} is listed twice", Quoted(&dtype.value)))),
            })
            .collect()
    }
}

/// Whether a case expects exactly this error.
pub(super) fn refuses(entry: &CaseEntry, code: ErrorCode) -> bool {
    let Expect::One(arm) = &entry.expect.value else { return false };
    arm.when.is_none() && arm.error.as_ref().is_some_and(|error| error.value == code.to_string())
}

/// The dtypes of `any` that a page lists.
fn open(role: OperandRole, of_page: &[DType]) -> Vec<DType> {
    let all = match role {
        OperandRole::Params => &any::PARAMS[..],
        OperandRole::Indices | OperandRole::Axis | OperandRole::SliceSizes => &any::INDICES[..],
    };
    all.iter().copied().filter(|dtype| of_page.contains(dtype)).collect()
}

/// All choices of the dtypes that `for-each` leaves open, for one combination of sizes and a mode other than the default.
pub(super) fn choices(
    each: Option<&ForEach>,
    dtypes: &OperandDtypes,
    point: &GridPoint,
    mode: Option<&str>,
) -> Vec<Choice> {
    let by_params = each.is_some_and(|each| !each.params_dtype.is_empty());
    let by_indices = each.is_some_and(|each| !each.index_dtype.is_empty());
    let choice = |params: &WrittenDtype, indices: &WrittenDtype| {
        let open = [(by_params, params), (by_indices, indices)];
        let open = open.iter().filter(|(by, _)| *by).map(|(_, written)| written.dtype().name());
        let open = open.chain((!point.suffix.is_empty()).then_some(&*point.suffix));
        let open: Vec<&str> = open.chain(mode).collect();
        Choice {
            params: params.first_of(point.element_bytes),
            indices: indices.first_of(point.index_bytes),
            suffix: if open.is_empty() { String::new() } else { format!("[{}]", open.join(",")) },
        }
    };
    dtypes
        .params
        .iter()
        .flat_map(|p| dtypes.indices.iter().map(move |i| (p, i)))
        .map(|(p, i)| choice(p, i))
        .collect()
}
