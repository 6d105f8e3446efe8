//! Indices that a plan has checked once, for params that come and go.

use gather_spec::{NegativeIndex, Refusal};
use ndarray::{ArrayD, ArrayRef, ArrayViewD, Axis, Dimension};

use crate::element::Element;
use crate::kernels::compiled::Index;
use crate::kernels::strided::{Strided, Strides, row_major};
use crate::offender::{components, first_offender};
use crate::output::{self, Pool, Pooled};
use crate::plan::Plan;
use crate::policy::{Bad, Fill, Policies, Zeros};

/// A [`Plan`] with its indices, to be run on any number of params of the plan's shape: the keys and the values of every
/// layer, or the features of every layer of a graph network. [`Plan::prepare`] makes it.
///
/// The indices are checked, moved as the policies say, and copied without gaps. So changing the array that they came from
/// changes nothing, and a run costs neither policies nor strides of indices.
///
/// A copy takes 4 bytes for each index, or 8 if an axis that they select from has 2^31 elements or more,
/// regardless of the type of the indices. Broadcast indices, which have a stride of 0, are stored once.
/// Params may have any strides, and different ones in each run.
///
/// ```
/// use gather_optimized::{Options, Plan};
/// use ndarray::{Array2, array};
///
/// let plan = Plan::gather(&[3, 2], &[2], &Options::new())?;
/// let prepared = plan.prepare(&array![2, 0])?;
/// let (keys, values) = (array![[1, 2], [3, 4], [5, 6]], array![[7, 8], [9, 10], [11, 12]]);
/// assert_eq!(prepared.run(&keys)?, array![[5, 6], [1, 2]].into_dyn());
///
/// let mut output = Array2::zeros((2, 2));
/// prepared.run_into(&values, &mut output)?;
/// assert_eq!(output, array![[11, 12], [7, 8]]);
/// # Ok::<(), gather_spec::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prepared<F = Zeros> {
    plan: Plan<F>,
    places: Places,
    /// Of the places, in elements, one for each dim of the plan's indices.
    strides: Strides,
}

/// Where indices point to, -1 for one that selects the fill.
#[derive(Clone, Debug)]
enum Places {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

/// Evaluates `$then` with the arrays of a run on `$params`.
macro_rules! on {
    ($prepared:ident, $params:ident, |$arrays:ident| $then:expr) => {
        match &$prepared.places {
            Places::Narrow(places) => {
                let $arrays = $prepared.plan.on(Strided::of($params), $prepared.strided(places)?)?;
                $then
            }
            Places::Wide(places) => {
                let $arrays = $prepared.plan.on(Strided::of($params), $prepared.strided(places)?)?;
                $then
            }
        }
    };
}

impl<F: Clone> Plan<F> {
    /// Checks indices for all runs to come: see [`Prepared`].
    ///
    /// # Errors
    /// `index-out-of-range`; `Unsupported` if the indices are not of the plan's shape or memory is short.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use gather_spec::BadIndex;
    /// use ndarray::array;
    ///
    /// let plan = Plan::gather(&[2], &[2], &Options::new())?;
    /// assert!(plan.prepare(&array![0, 2]).is_err());
    ///
    /// let plan = Plan::gather(&[2], &[2], &Options::new().bad_index(BadIndex::Zero))?;
    /// let mut indices = array![1, 2];
    /// let prepared = plan.prepare(&indices)?;
    /// indices[0] = 0;
    /// assert_eq!(prepared.run(&array![10, 20])?, array![20, 0].into_dyn());
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn prepare<I: Index, E: Dimension>(&self, indices: &ArrayRef<I, E>) -> Result<Prepared<F>, Refusal> {
        let shapes = self.shapes();
        if indices.shape() != shapes.indices {
            let (wanted, found) = (shapes.indices, indices.shape());
            let why = format!("the plan is for indices of shape {wanted:?}, not {found:?}");
            return Err(Refusal::Unsupported(why));
        }
        let (vector, bounds) = components(shapes);
        let (view, strides) = without_repeats(indices.view().into_dyn(), vector);
        let policies = shapes.execution.policies;
        let checked = if bounds.iter().all(|bound| i32::try_from(*bound).is_ok()) {
            let narrow = |place| i32::try_from(place).ok();
            checked(&view, vector, &bounds, policies, narrow, -1).map(|(all, bad)| (Places::Narrow(all), bad))
        } else {
            let wide = |place| i64::try_from(place).ok();
            checked(&view, vector, &bounds, policies, wide, -1).map(|(all, bad)| (Places::Wide(all), bad))
        };
        let (places, some_bad) = checked.map_err(|stopped| match stopped {
            Stopped::BadIndex => first_offender(shapes, Strided::of(indices)).map_or_else(
                || Refusal::Unsupported("a bad index is not there any more".to_owned()),
                Into::into,
            ),
            Stopped::Memory(refusal) => refusal,
        })?;
        let bad = if some_bad { Bad::Fill } else { Bad::Error };
        let plan = self.under(Policies { bad, negative: NegativeIndex::Reject });
        Ok(Prepared { plan, places, strides })
    }
}

/// Why indices are not prepared.
enum Stopped {
    BadIndex,
    Memory(Refusal),
}

/// The indices with one of those that a stride of 0 repeats, and the strides of a copy of them as the full array. The dim of the
/// components stays: each component has an axis of its own.
fn without_repeats<I>(mut view: ArrayViewD<'_, I>, vector: usize) -> (ArrayViewD<'_, I>, Strides) {
    let repeated = |view: &ArrayViewD<'_, I>, dim: usize| {
        dim != vector && view.strides()[dim] == 0 && view.shape()[dim] > 1
    };
    let dims: Strides = (0..view.ndim()).map(|dim| isize::from(!repeated(&view, dim))).collect();
    for dim in (0..view.ndim()).filter(|dim| dims[*dim] == 0) {
        view.collapse_axis(Axis(dim), 0);
    }
    let strides = row_major(view.shape());
    let strides = strides.iter().zip(&dims).map(|(stride, moves)| stride * moves).collect();
    (view, strides)
}

/// The places of all indices in row-major order, those of bad ones as `bad`, and whether there is a bad one.
fn checked<I: Index, P: Copy>(
    view: &ArrayViewD<'_, I>,
    vector: usize,
    bounds: &[usize],
    policies: Policies,
    narrow: impl Fn(usize) -> Option<P>,
    bad: P,
) -> Result<(Vec<P>, bool), Stopped> {
    let mut places = output::reserve(view.len()).map_err(Stopped::Memory)?;
    let mut some_bad = false;
    // Indices that follow one another are of one component as long as the dims behind that of the components last.
    let run = match bounds {
        [_] => view.len(),
        _ => view.shape().get(vector + 1..).map_or(1, |behind| behind.iter().product()),
    };
    let mut indices = view.iter();
    while indices.len() > 0 {
        for bound in bounds {
            for index in indices.by_ref().take(run) {
                if policies.refuses(*index, *bound) {
                    return Err(Stopped::BadIndex);
                }
                let place = if *bound > 0 { policies.place(*index, *bound) } else { None }.and_then(&narrow);
                some_bad |= place.is_none();
                places.push(place.unwrap_or(bad));
            }
        }
    }
    Ok((places, some_bad))
}

impl<F> Prepared<F> {
    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        self.plan.output_shape()
    }

    /// The places as the indices of the plan.
    fn strided<'a, P>(&'a self, places: &'a [P]) -> Result<Strided<'a, P>, Refusal> {
        Strided::within(places, 0, self.plan.shapes().indices, &self.strides)
            .ok_or_else(|| Refusal::Unsupported("the places are not those of the plan".to_owned()))
    }

    /// Gathers from these params into a new array.
    ///
    /// # Errors
    /// `output-too-large`; `Unsupported` if params are not of the plan's shape or memory is short.
    pub fn run<A: Element, D: Dimension>(&self, params: &ArrayRef<A, D>) -> Result<ArrayD<A>, Refusal>
    where
        F: Fill<A>,
    {
        on!(self, params, |arrays| arrays.run())
    }

    /// Gathers into memory of a pool.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_pooled<A: Element + 'static, D: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        pool: &Pool,
    ) -> Result<Pooled<A>, Refusal>
    where
        F: Fill<A>,
    {
        on!(self, params, |arrays| arrays.run_pooled(pool))
    }

    /// Gathers into the caller's array, of any layout. Nothing is written before the shapes are known to fit.
    ///
    /// # Errors
    /// As [`Prepared::run`]; `Unsupported` if the output has another shape.
    pub fn run_into<A: Element, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        output: &mut ArrayRef<A, E>,
    ) -> Result<(), Refusal>
    where
        F: Fill<A>,
    {
        on!(self, params, |arrays| arrays.run_into(output))
    }

    /// Gathers elements that are cloned rather than moved, such as strings, into a new array.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn run_cloned<A: Clone + Default + Send + Sync, D: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
    ) -> Result<ArrayD<A>, Refusal>
    where
        F: Fill<A>,
    {
        on!(self, params, |arrays| arrays.run_cloned())
    }
}
