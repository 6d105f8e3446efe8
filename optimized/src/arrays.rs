//! The arrays of a call together with the shapes that are known to be theirs, so that nobody checks them again.

use gather_spec::Refusal;
use ndarray::{ArrayRef, Dimension};

use crate::forms::{elements, nd, take};
use crate::index::Index;
use crate::policy::Fill;
use crate::shapes::Shapes;
use crate::windows::Windows;
use crate::{Options, Plan};

/// Proof that params and indices have the shapes that were validated, and the output a length that fits.
pub(crate) struct Arrays<'a, A, I, D: Dimension, E: Dimension> {
    shapes: Shapes<'a>,
    params: &'a ArrayRef<A, D>,
    indices: &'a ArrayRef<I, E>,
    output_len: usize,
    /// What elements with a bad index are, if not the default value of their type.
    fill: Option<&'a A>,
}

impl<'a, A, I: Index, D: Dimension, E: Dimension> Arrays<'a, A, I, D, E> {
    /// Validates the arrays' own shapes for `gather_nd`.
    ///
    /// # Errors
    /// Those of [`Plan::gather_nd`], with the size of the elements known.
    #[inline(always)] // So that the shapes stay in registers.
    pub(crate) fn gather_nd<F: Fill<A>>(
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
        options: &'a Options<F>,
    ) -> Result<Self, Refusal> {
        Self::new(
            nd::Rules::GATHER_ND.shapes(params.shape(), indices.shape(), &options.choices)?,
            params,
            indices,
            options.fill.chosen(),
        )
    }

    /// Validates the arrays' own shapes for `gather`.
    ///
    /// # Errors
    /// Those of [`Plan::gather`], with the size of the elements known.
    #[inline(always)] // So that the shapes stay in registers.
    pub(crate) fn gather<F: Fill<A>>(
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
        options: &'a Options<F>,
    ) -> Result<Self, Refusal> {
        Self::new(
            take::Rules::GATHER.shapes(params.shape(), indices.shape(), &options.choices)?,
            params,
            indices,
            options.fill.chosen(),
        )
    }

    /// Validates the arrays' own shapes for `take_along_axis`.
    ///
    /// # Errors
    /// Those of [`Plan::take_along_axis`], with the size of the elements known.
    pub(crate) fn take_along_axis<F: Fill<A>>(
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
        options: &'a Options<F>,
    ) -> Result<Self, Refusal> {
        let rules = elements::Rules::TAKE_ALONG_AXIS;
        Self::new(
            rules.shapes(params.shape(), indices.shape(), &options.choices)?,
            params,
            indices,
            options.fill.chosen(),
        )
    }

    /// Takes the arrays' own shapes for `gather_windows`, for which `windows` must have been found to fit.
    ///
    /// # Errors
    /// `output-too-large`; `Unsupported` if what the output's elements are is undefined, or for a level that this processor
    /// lacks.
    pub(crate) fn gather_windows<F: Fill<A>>(
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
        windows: &'a Windows,
        options: &'a Options<F>,
    ) -> Result<Self, Refusal> {
        let shapes = Shapes::of_windows(params.shape(), indices.shape(), windows, &options.choices)?;
        Self::new(shapes, params, indices, options.fill.chosen())
    }

    /// Compares the arrays' shapes with those of a plan.
    ///
    /// # Errors
    /// `Unsupported` if they differ; `output-too-large`.
    #[inline(always)] // So that the shapes stay in registers.
    pub(crate) fn of_plan<F: Fill<A>>(
        plan: &'a Plan<F>,
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
    ) -> Result<Self, Refusal> {
        let shapes = plan.shapes();
        if params.shape() != shapes.params || indices.shape() != shapes.indices {
            return Err(other_shapes(shapes, params.shape(), indices.shape()));
        }
        Self::new(shapes, params, indices, plan.fill().chosen())
    }

    /// The shapes must be those of the arrays.
    #[inline(always)]
    fn new(
        shapes: Shapes<'a>,
        params: &'a ArrayRef<A, D>,
        indices: &'a ArrayRef<I, E>,
        fill: Option<&'a A>,
    ) -> Result<Self, Refusal> {
        if size_of::<A>() == 0 {
            return Err(no_bytes());
        }
        let output_len = shapes.output_len(size_of::<A>())?;
        Ok(Self { shapes, params, indices, output_len, fill })
    }

    /// The validated shapes.
    #[inline]
    pub(crate) const fn shapes(&self) -> Shapes<'a> {
        self.shapes
    }

    /// Params, of the shape that was validated.
    #[inline]
    pub(crate) const fn params(&self) -> &'a ArrayRef<A, D> {
        self.params
    }

    /// Indices, of the shape that was validated.
    #[inline]
    pub(crate) const fn indices(&self) -> &'a ArrayRef<I, E> {
        self.indices
    }

    /// What elements with a bad index are, if not the default value of their type.
    #[inline]
    pub(crate) const fn fill(&self) -> Option<&'a A> {
        self.fill
    }

    /// The number of elements of the output.
    #[inline]
    pub(crate) const fn output_len(&self) -> usize {
        self.output_len
    }
}

#[cold]
fn other_shapes(shapes: Shapes<'_>, params: &[usize], indices: &[usize]) -> Refusal {
    Refusal::Unsupported(format!(
        "the plan is for params of shape {:?} and indices of shape {:?}, not {params:?} and {indices:?}",
        shapes.params, shapes.indices
    ))
}

#[cold]
fn no_bytes() -> Refusal {
    Refusal::Unsupported("elements of zero bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use gather_spec::Refusal;
    use ndarray::{ArrayD, IxDyn};

    use crate::{Options, Plan, Pool};

    /// A plan's offsets are right for its own shapes only: on others they would leave the arrays.
    #[test]
    fn a_plan_refuses_arrays_of_other_shapes_in_every_way_of_running_it() {
        let plan = Plan::gather(&[3, 2], &[2, 2], &Options::new()).unwrap();
        let others = [
            (&[3, 2][..], &[2, 3][..]),
            (&[3, 2], &[4]),
            (&[3, 2], &[1, 2]),
            (&[2, 3], &[2, 2]),
            (&[2, 2], &[2, 2]),
            (&[6], &[2, 2]),
        ];
        for (params_shape, indices_shape) in others {
            let params = ArrayD::<u32>::zeros(IxDyn(params_shape));
            let indices = ArrayD::<i32>::zeros(IxDyn(indices_shape));
            let mut output = ArrayD::zeros(IxDyn(plan.output_shape()));
            let outcomes = [
                plan.run(&params, &indices).map(drop),
                plan.run_into(&params, &indices, &mut output),
                plan.run_pooled(&params, &indices, &Pool::new(1 << 20)).map(drop),
                plan.run_cloned(&params, &indices).map(drop),
                plan.run_cloned_into(&params, &indices, &mut output),
            ];
            for (way, outcome) in outcomes.into_iter().enumerate() {
                let Err(Refusal::Unsupported(why)) = outcome else {
                    panic!("way {way} runs on {params_shape:?} and {indices_shape:?}")
                };
                let both = format!("{params_shape:?} and {indices_shape:?}");
                assert!(why.starts_with("the plan is for ") && why.ends_with(&both), "{why}");
            }
        }
    }
}
