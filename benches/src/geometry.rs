//! The shapes of a workload as one loop nest, for floors and samples. It implements the documents' formulas a second time,
//! deliberately without gather-optimized, whose output it predicts.

use std::iter::once;

use gather_spec::Form;

/// The axes of params by purpose:
/// `output[batch, mid, row, inner] = params[batch, mid, indices[batch, row], inner]` or, if each element of a slice has its
/// own index, `params[batch, indices[batch, row, inner], inner]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadGeometry {
    /// The dims that params and indices share.
    pub batch: Vec<usize>,
    /// The dims between the batch and the axis; empty in form nd.
    pub mid: Vec<usize>,
    /// The gathered axes.
    pub indexed: Vec<usize>,
    /// The dims of the slice that an index row selects.
    pub inner: Vec<usize>,
    /// The number of index rows per batch.
    pub rows: usize,
    /// Whether each element of a slice has its own index, which occurs in form elements only.
    pub each: bool,
}

impl WorkloadGeometry {
    /// The loop nest of a call of a form with these shapes, which share the first `b` axes.
    ///
    /// # Errors
    /// What is wrong with the axis, the batch dims or the shapes.
    pub fn of(
        form: Form,
        params: &[usize],
        indices: &[usize],
        b: usize,
        axis: Option<usize>,
    ) -> Result<Self, String> {
        let common = params.len().min(indices.len());
        if b > common || params[..b] != indices[..b] {
            return Err(format!("params {params:?} and indices {indices:?} do not share {b} batch dims"));
        }
        match (form, axis) {
            (Form::Take, axis) => Self::take(params, indices, b, axis.unwrap_or(b)),
            (Form::Elements, Some(axis)) => Self::elements(params, indices, axis),
            (Form::Elements, None) => Err("the form elements needs an axis".to_owned()),
            (Form::Nd, None) => Self::nd(params, indices, b),
            (Form::Nd, Some(_)) => Err("the form nd has no axis".to_owned()),
            (Form::Window, _) => Err("a workload has no dimension numbers, which windows need".to_owned()),
        }
    }

    fn take(params: &[usize], indices: &[usize], b: usize, axis: usize) -> Result<Self, String> {
        if axis < b || axis >= params.len() {
            return Err(format!("axis {axis} is not within {b}..{}", params.len()));
        }
        Ok(Self {
            batch: params[..b].to_vec(),
            mid: params[b..axis].to_vec(),
            indexed: vec![params[axis]],
            inner: params[axis + 1..].to_vec(),
            rows: indices[b..].iter().product(),
            each: false,
        })
    }

    /// Form elements. Indices have the dims of params off the axis; after it they may all be 1, which selects whole slices.
    fn elements(params: &[usize], indices: &[usize], axis: usize) -> Result<Self, String> {
        if params.len() != indices.len() || axis >= params.len() {
            return Err(format!("params {params:?} and indices {indices:?} do not share an axis {axis}"));
        }
        let (inner, own) = (&params[axis + 1..], &indices[axis + 1..]);
        let repeats = own.iter().all(|dim| *dim == 1);
        if params[..axis] != indices[..axis] || !repeats && inner != own {
            return Err(format!("params {params:?} and indices {indices:?} differ off axis {axis}"));
        }
        Ok(Self {
            batch: params[..axis].to_vec(),
            mid: Vec::new(),
            indexed: vec![params[axis]],
            inner: inner.to_vec(),
            rows: indices[axis],
            each: !repeats,
        })
    }

    fn nd(params: &[usize], indices: &[usize], b: usize) -> Result<Self, String> {
        let (depth, leading) = indices.split_last().ok_or("indices of rank 0")?;
        let inner = params.get(b + depth..).ok_or_else(|| format!("index rows of depth {depth}"))?;
        let rows = leading.get(b..).ok_or("more batch dims than index rows have dims")?;
        Ok(Self {
            batch: params[..b].to_vec(),
            mid: Vec::new(),
            indexed: params[b..b + depth].to_vec(),
            inner: inner.to_vec(),
            rows: rows.iter().product(),
            each: false,
        })
    }

    /// The number of index values per row.
    #[must_use]
    pub fn indices_per_row(&self) -> usize {
        if self.each { self.row_len() } else { self.indexed.len() }
    }

    /// How many index rows, or elements of them, are drawn for each batch.
    #[must_use]
    pub(crate) fn drawn(&self) -> usize {
        self.rows * if self.each { self.row_len() } else { 1 }
    }

    /// The number of batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// How many times each index row of a batch is used.
    #[must_use]
    pub fn mids(&self) -> usize {
        self.mid.iter().product()
    }

    /// The number of positions that an index row can select.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.indexed.iter().product()
    }

    /// The number of elements in the slice that an index row selects.
    #[must_use]
    pub fn row_len(&self) -> usize {
        self.inner.iter().product()
    }

    /// The number of elements in the output.
    #[must_use]
    pub fn output_len(&self) -> usize {
        [self.batches(), self.mids(), self.rows, self.row_len()].iter().product()
    }

    /// Splits a list with one entry per axis of params into batch, mid, indexed and inner.
    pub(crate) fn split<'s, S>(&self, per_axis: &'s [S]) -> [&'s [S]; 4] {
        let (batch, rest) = per_axis.split_at(self.batch.len());
        let (mid, rest) = rest.split_at(self.mid.len());
        let (indexed, inner) = rest.split_at(self.indexed.len());
        [batch, mid, indexed, inner]
    }
}

/// The offsets of all multi-indices of `dims` from the first element, in row-major order. They wrap around, since strides may
/// be negative.
pub(crate) fn offsets(dims: &[usize], strides: &[isize]) -> Vec<usize> {
    let axes = dims.iter().zip(strides);
    axes.fold(once(0).collect(), |outer: Vec<usize>, (dim, stride)| {
        let step = |at: usize| stride.cast_unsigned().wrapping_mul(at);
        outer.iter().flat_map(|base| (0..*dim).map(move |at| base.wrapping_add(step(at)))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunSettings;
    use crate::workloads::embedded;

    #[test]
    fn every_workload_has_the_output_that_a_plan_predicts() {
        for workload in embedded() {
            let plan = RunSettings::default().plan(&workload).unwrap();
            let geometry = workload.geometry();
            assert_eq!(
                plan.output_shape().iter().product::<usize>(),
                geometry.output_len(),
                "{}",
                workload.id
            );
        }
    }

    #[test]
    fn offsets_follow_strides_of_either_sign() {
        assert_eq!(offsets(&[], &[]), [0]);
        assert_eq!(offsets(&[2, 3], &[3, 1]), [0, 1, 2, 3, 4, 5]);
        assert_eq!(offsets(&[2, 2], &[1, 2]), [0, 2, 1, 3]);
        assert_eq!(offsets(&[2], &[-1]), [0, usize::MAX]);
    }
}
