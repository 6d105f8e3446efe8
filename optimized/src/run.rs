//! Running a plan on arrays: into a new array, the caller's, or a pool's.

use std::mem::MaybeUninit;

use gather_spec::Refusal;
use ndarray::{ArrayD, ArrayRef, Dimension, IxDyn};

use crate::arrays::Arrays;
use crate::geometry::Geometry;
use crate::index::Index;
use crate::kernels::check::BadIndexFound;
use crate::kernels::clone_elements::clone_elements;
use crate::kernels::job::{Job, Written};
use crate::offender::first_offender;
use crate::options::Threads;
use crate::output::{self, Pool, Pooled};
use crate::parallel;
use crate::plan::Plan;
use crate::policy::{Bad, Fill};

/// Elements that are moved as bits: any `Copy` type. The default value is what a bad index gives under
/// [`BadIndex::Zero`](gather_spec::BadIndex::Zero). Widths of 1, 2, 4, 8 and 16 bytes have kernels of their own.
pub trait Element: Copy + Default + Send + Sync {}

impl<A: Copy + Default + Send + Sync> Element for A {}

/// Below this many bytes of output and indices, waking other threads costs more than they bring.
const WORTH_THREADS: usize = 256 << 10;
/// More than this many workers bring nothing on any machine.
const MOST_WORKERS: usize = 1024;

impl<Z> Plan<Z> {
    /// Gathers into a new array.
    ///
    /// # Errors
    /// `output-too-large` and `index-out-of-range`; `Unsupported` if the arrays are not of the plan's shapes or
    /// memory is short.
    #[inline]
    pub fn run<A: Element, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<ArrayD<A>, Refusal>
    where
        Z: Fill<A>,
    {
        Arrays::of_plan(self, params, indices)?.run()
    }

    /// Gathers into memory of a pool.
    ///
    /// # Errors
    /// As [`Plan::run`].
    pub fn run_pooled<A: Element, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        pool: &Pool,
    ) -> Result<Pooled<A>, Refusal>
    where
        Z: Fill<A>,
    {
        let arrays = Arrays::of_plan(self, params, indices)?;
        pool.fill(arrays.output_shape(), arrays.output_len(), |output| arrays.write(output))
    }

    /// Gathers into the caller's array, which must be row-major without gaps. Nothing is written before shapes and
    /// layout are known to fit; after a bad index the array holds unspecified elements.
    ///
    /// # Errors
    /// As [`Plan::run`]; `Unsupported` if the output has another shape or layout.
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use ndarray::{Array1, array};
    ///
    /// let plan = Plan::gather(&[3], &[2], &Options::new())?;
    /// let mut output = Array1::zeros(2);
    /// plan.run_into(&array![10, 20, 30], &array![2, 1], &mut output)?;
    /// assert_eq!(output, array![30, 20]);
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    #[inline]
    pub fn run_into<A: Element, I: Index, D: Dimension, E: Dimension, F: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        output: &mut ArrayRef<A, F>,
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        Arrays::of_plan(self, params, indices)?.run_into(output)
    }

    /// Gathers elements that are cloned rather than moved, such as strings, into a new array.
    ///
    /// # Errors
    /// As [`Plan::run`].
    ///
    /// ```
    /// use gather_optimized::{Options, Plan};
    /// use ndarray::array;
    ///
    /// let plan = Plan::gather(&[2], &[3], &Options::new())?;
    /// let names = array!["north".to_owned(), "south".to_owned()];
    /// let output = plan.run_cloned(&names, &array![1, 1, 0])?;
    /// assert_eq!(output[[2]], "north");
    /// # Ok::<(), gather_spec::Refusal>(())
    /// ```
    pub fn run_cloned<A: Clone + Default, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<ArrayD<A>, Refusal>
    where
        Z: Fill<A>,
    {
        let arrays = Arrays::of_plan(self, params, indices)?;
        let mut elements = output::reserve(arrays.output_len())?;
        arrays.each_cloned(|element| elements.push(element))?;
        ArrayD::from_shape_vec(arrays.output_shape(), elements)
            .map_err(|wrong| Refusal::Unsupported(format!("ndarray refuses the output's shape: {wrong}")))
    }

    /// Gathers elements that are cloned rather than moved into the caller's array.
    ///
    /// # Errors
    /// As [`Plan::run_into`].
    pub fn run_cloned_into<A: Clone + Default, I: Index, D: Dimension, E: Dimension, F: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        output: &mut ArrayRef<A, F>,
    ) -> Result<(), Refusal>
    where
        Z: Fill<A>,
    {
        let arrays = Arrays::of_plan(self, params, indices)?;
        let mut places = arrays.output_slice(output)?.iter_mut();
        arrays.each_cloned(|element| {
            if let Some(place) = places.next() {
                *place = element;
            }
        })
    }
}

impl<A, I: Index, D: Dimension, E: Dimension> Arrays<'_, A, I, D, E> {
    /// The shape of the output, as ndarray wants it.
    #[inline]
    fn output_shape(&self) -> IxDyn {
        let mut shape = IxDyn::zeros(self.shapes().output_rank());
        let mut places = shape.slice_mut().iter_mut();
        self.shapes().each_output_dim(|dim| {
            if let Some(place) = places.next() {
                *place = dim;
            }
        });
        shape
    }

    /// The caller's output, if it fits.
    #[inline]
    fn output_slice<'o, F: Dimension>(&self, output: &'o mut ArrayRef<A, F>) -> Result<&'o mut [A], Refusal> {
        let (mut found, mut same) = (output.shape().iter(), output.ndim() == self.shapes().output_rank());
        self.shapes().each_output_dim(|dim| same &= found.next() == Some(&dim));
        if !same {
            return Err(self.other_output(output.shape()));
        }
        output.as_slice_mut().ok_or_else(with_gaps)
    }

    #[cold]
    fn other_output(&self, found: &[usize]) -> Refusal {
        let wanted = self.output_shape();
        Refusal::Unsupported(format!("the output has shape {found:?}, not {:?}", wanted.slice()))
    }

    /// Hands over every element of the output in order.
    fn each_cloned(&self, mut give: impl FnMut(A)) -> Result<(), Refusal>
    where
        A: Clone + Default,
    {
        if self.output_len() == 0 || self.params().is_empty() {
            self.refuse_bad_indices()?;
            (0..self.output_len()).for_each(|_| give(self.fill().cloned().unwrap_or_default()));
            return Ok(());
        }
        let give = |element: Option<&A>| give(element.or(self.fill()).cloned().unwrap_or_default());
        clone_elements(self, give).map_err(|_| self.offence())
    }

    /// For calls that move nothing: bounds are tested all the same.
    #[cold]
    fn refuse_bad_indices(&self) -> Result<(), Refusal> {
        if matches!(self.shapes().traits.policies.bad, Bad::Fill | Bad::Clamp) {
            return Ok(());
        }
        first_offender(self.shapes(), self.indices()).map_or(Ok(()), |error| Err(error.into()))
    }

    #[cold]
    fn offence(&self) -> Refusal {
        let vanished = || Refusal::Unsupported("a bad index was found that is not there any more".to_owned());
        first_offender(self.shapes(), self.indices()).map_or_else(vanished, Into::into)
    }
}

impl<A: Element, I: Index, D: Dimension, E: Dimension> Arrays<'_, A, I, D, E> {
    /// Gathers into a new array.
    #[inline]
    pub(crate) fn run(&self) -> Result<ArrayD<A>, Refusal> {
        output::fresh(self.output_shape(), self.output_len(), |output| self.write(output))
    }

    /// Gathers into the caller's array.
    #[inline]
    pub(crate) fn run_into<F: Dimension>(&self, output: &mut ArrayRef<A, F>) -> Result<(), Refusal> {
        let slice = self.output_slice(output)?;
        output::overwrite(slice, |output| self.write(output))
    }

    /// Writes all of the output.
    #[inline]
    fn write<'o>(&self, output: &'o mut [MaybeUninit<A>]) -> Result<Written<'o>, Refusal> {
        let fill = self.fill().copied().unwrap_or_default();
        if output.is_empty() || self.params().is_empty() {
            self.refuse_bad_indices()?;
            return Ok(Written::filled(output, fill));
        }
        let mut room = Geometry::room();
        let job = Job::new(&mut room, self, output, &fill);
        let written = match self.workers(job.traffic()) {
            0..=1 => job.work_alone(),
            workers => on_workers(job, workers),
        };
        written.map_err(|_| self.offence())
    }

    /// How many threads share a job of this many bytes.
    #[inline]
    fn workers(&self, traffic: usize) -> usize {
        match self.shapes().traits.threads {
            Some(Threads::Exactly(threads)) => threads.get().min(MOST_WORKERS),
            _ if traffic < WORTH_THREADS => 1,
            Some(Threads::AtMost(threads)) => threads.get().min(parallel::pool_threads()),
            None => parallel::pool_threads(),
        }
    }
}

fn on_workers<'o, I: Index>(mut job: Job<'_, 'o, I>, workers: usize) -> Result<Written<'o>, BadIndexFound> {
    job.split(workers);
    parallel::on_workers(workers, &|| job.work());
    job.finish()
}

#[cold]
fn with_gaps() -> Refusal {
    Refusal::Unsupported("the output is not row-major without gaps".to_owned())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use ndarray::array;

    use super::*;
    use crate::Options;

    /// How many threads share so many bytes, in a pool of three.
    fn workers(options: Options, traffic: usize) -> usize {
        parallel::in_pool_of(3, || {
            Arrays::gather(&array![1u8], &array![0], &options).unwrap().workers(traffic)
        })
    }

    #[test]
    fn all_threads_share_a_job_from_256_kib_on() {
        let shared = |traffic| workers(Options::new(), traffic);
        assert_eq!((shared(0), shared(256 * 1024 - 1), shared(256 * 1024)), (1, 1, 3));
    }

    #[test]
    fn as_many_threads_as_were_chosen_share_a_job_of_any_size() {
        let chosen = |threads| workers(Options::new().threads(NonZeroUsize::new(threads).unwrap()), 0);
        assert_eq!((chosen(1), chosen(5), chosen(5000)), (1, 5, 1024));
    }

    #[test]
    fn a_limit_on_threads_makes_no_small_job_a_shared_one_and_no_large_one_shared_by_more() {
        let limited = |threads, traffic| {
            workers(Options::new().at_most_threads(NonZeroUsize::new(threads).unwrap()), traffic)
        };
        assert_eq!((limited(2, 0), limited(2, WORTH_THREADS - 1)), (1, 1));
        assert_eq!([1, 2, 3, 5].map(|threads| limited(threads, WORTH_THREADS)), [1, 2, 3, 3]);
    }
}
