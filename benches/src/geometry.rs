//! The shapes of a workload as one loop nest, for floors and samples. It repeats what the documents say, on purpose
//! without the help of gather-optimized, whose output it has to predict.

use std::iter::once;

use gather_spec::Form;

/// The axes of params, by what becomes of them:
/// `output[batch, mid, row, inner] = params[batch, mid, indices[batch, row], inner]`, or, where each element of a slice has an
/// index of its own, `params[batch, indices[batch, row, inner], inner]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Dims that params and indices share.
    pub batch: Vec<usize>,
    /// Dims between the batch and the axis; none for the form nd.
    pub mid: Vec<usize>,
    /// The axes that an index row selects from.
    pub indexed: Vec<usize>,
    /// Dims of the slice that an index row selects.
    pub inner: Vec<usize>,
    /// Index rows per batch.
    pub rows: usize,
    /// Whether each element of a slice has an index of its own: of the form elements only.
    pub each: bool,
}

impl Geometry {
    /// The loop nest of a call of a form with these shapes, which share the first `b` axes.
    ///
    /// # Errors
    /// What is wrong with axis, batch dims or shapes.
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

    /// Indices have the dims of params off the axis; after it they may all be 1, which selects whole slices.
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

    /// The number of index values of a row.
    #[must_use]
    pub fn indices_per_row(&self) -> usize {
        if self.each { self.row_len() } else { self.indexed.len() }
    }

    /// The number of batches.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// How often each index row of a batch is used.
    #[must_use]
    pub fn mids(&self) -> usize {
        self.mid.iter().product()
    }

    /// The number of places that an index row may name.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.indexed.iter().product()
    }

    /// Elements of the slice that an index row selects.
    #[must_use]
    pub fn row_len(&self) -> usize {
        self.inner.iter().product()
    }

    /// Elements of the output.
    #[must_use]
    pub fn output_len(&self) -> usize {
        [self.batches(), self.mids(), self.rows, self.row_len()].iter().product()
    }

    /// Where an axis of params goes, as ranges over its axes: batch, mid, indexed, inner.
    pub(crate) fn split<'s, S>(&self, per_axis: &'s [S]) -> [&'s [S]; 4] {
        let (batch, rest) = per_axis.split_at(self.batch.len());
        let (mid, rest) = rest.split_at(self.mid.len());
        let (indexed, inner) = rest.split_at(self.indexed.len());
        [batch, mid, indexed, inner]
    }
}

/// The distance from the first element of every multi-index of `dims`, in row-major order. Distances wrap around, as
/// strides may be negative.
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
    use crate::How;
    use crate::workloads::embedded;

    #[test]
    fn every_workload_has_the_output_that_a_plan_predicts() {
        for workload in embedded() {
            let plan = How::default().plan(&workload).unwrap();
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
