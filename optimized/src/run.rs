//! Running a plan on arrays: into a new array, the caller's, or a pool's.

use std::mem::MaybeUninit;

use gather_spec::{BadIndex, Refusal};
use ndarray::{ArrayD, ArrayRef, Dimension, IxDyn};

use crate::index::Index;
use crate::kernels::clone_elements::clone_elements;
use crate::kernels::job::{Job, Written};
use crate::offender::first_offender;
use crate::output::{self, Pool, Pooled};
use crate::parallel;
use crate::plan::Plan;

/// Elements that are moved as bits: any `Copy` type. The default value is what a bad index gives under
/// [`BadIndex::Zero`]. Widths of 1, 2, 4, 8 and 16 bytes have kernels of their own.
pub trait Element: Copy + Default + Send + Sync {}

impl<A: Copy + Default + Send + Sync> Element for A {}

/// Below this many bytes of output and indices, waking other threads costs more than they bring.
const WORTH_THREADS: usize = 256 << 10;
/// Parts per thread: enough that a thread which was held up leaves its share to the others.
const PARTS_PER_THREAD: usize = 4;
/// More than this many workers bring nothing on any machine.
const MOST_WORKERS: usize = 1024;

impl Plan {
    /// Gathers into a new array.
    ///
    /// # Errors
    /// `output-too-large` and `index-out-of-range`; `Unsupported` if the arrays are not of the plan's shapes or
    /// memory is short.
    pub fn run<A: Element, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<ArrayD<A>, Refusal> {
        let len = self.fitting_len(params, indices)?;
        output::fresh(&self.output, len, |output| self.fill(params, indices, output))
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
    ) -> Result<Pooled<A>, Refusal> {
        let len = self.fitting_len(params, indices)?;
        pool.fill(&self.output, len, |output| self.fill(params, indices, output))
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
    ) -> Result<(), Refusal> {
        self.fitting_len(params, indices)?;
        let slice = self.output_slice(output)?;
        output::overwrite(slice, |output| self.fill(params, indices, output))
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
    ) -> Result<ArrayD<A>, Refusal> {
        let len = self.fitting_len(params, indices)?;
        let mut elements = output::reserve(len)?;
        self.each_cloned(params, indices, len, |element| elements.push(element))?;
        self.shaped(elements)
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
    ) -> Result<(), Refusal> {
        let len = self.fitting_len(params, indices)?;
        let mut places = self.output_slice(output)?.iter_mut();
        self.each_cloned(params, indices, len, |element| {
            if let Some(place) = places.next() {
                *place = element;
            }
        })
    }

    /// The number of elements of the output, if the arrays are those that the plan is for.
    #[inline]
    fn fitting_len<A, I, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
    ) -> Result<usize, Refusal> {
        if params.shape() != self.params.as_slice() || indices.shape() != self.indices.as_slice() {
            return Err(self.other_shapes(params.shape(), indices.shape()));
        }
        if size_of::<A>() == 0 {
            return Err(Refusal::Unsupported("elements of zero bytes".to_owned()));
        }
        self.output_len(size_of::<A>())
    }

    #[cold]
    fn other_shapes(&self, params: &[usize], indices: &[usize]) -> Refusal {
        Refusal::Unsupported(format!(
            "the plan is for params of shape {:?} and indices of shape {:?}, not {params:?} and {indices:?}",
            self.params.as_slice(),
            self.indices.as_slice()
        ))
    }

    #[inline]
    fn output_slice<'o, A, F: Dimension>(
        &self,
        output: &'o mut ArrayRef<A, F>,
    ) -> Result<&'o mut [A], Refusal> {
        if output.shape() != self.output.as_slice() {
            let (found, wanted) = (output.shape(), self.output.as_slice());
            return Err(Refusal::Unsupported(format!("the output has shape {found:?}, not {wanted:?}")));
        }
        let strides = || Refusal::Unsupported("the output is not row-major without gaps".to_owned());
        output.as_slice_mut().ok_or_else(strides)
    }

    fn shaped<A>(&self, elements: Vec<A>) -> Result<ArrayD<A>, Refusal> {
        ArrayD::from_shape_vec(IxDyn(&self.output), elements)
            .map_err(|wrong| Refusal::Unsupported(format!("ndarray refuses the output's shape: {wrong}")))
    }

    /// Writes all of the output.
    #[inline]
    fn fill<'o, A: Element, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        output: &'o mut [MaybeUninit<A>],
    ) -> Result<Written<'o>, Refusal> {
        let zero = A::default();
        if output.is_empty() || params.is_empty() {
            self.refuse_bad_indices(indices)?;
            return Ok(Written::filled(output, zero));
        }
        let mut job = Job::new(self, params, indices, output, &zero);
        let workers = self.workers(job.traffic());
        if workers > 1 {
            job.split(workers * PARTS_PER_THREAD);
            parallel::on_workers(workers, &|| job.work());
        } else {
            job.work();
        }
        job.finish().map_err(|_| self.offence(indices))
    }

    /// How many threads share a job of this many bytes.
    #[inline]
    fn workers(&self, traffic: usize) -> usize {
        match self.threads {
            Some(threads) => threads.get().min(MOST_WORKERS),
            None if traffic < WORTH_THREADS => 1,
            None => parallel::pool_threads(),
        }
    }

    /// Hands over every element of the output in order.
    fn each_cloned<A: Clone + Default, I: Index, D: Dimension, E: Dimension>(
        &self,
        params: &ArrayRef<A, D>,
        indices: &ArrayRef<I, E>,
        len: usize,
        mut give: impl FnMut(A),
    ) -> Result<(), Refusal> {
        if len == 0 || params.is_empty() {
            self.refuse_bad_indices(indices)?;
            (0..len).for_each(|_| give(A::default()));
            return Ok(());
        }
        let give = |element: Option<&A>| give(element.cloned().unwrap_or_default());
        clone_elements(self, params, indices, give).map_err(|_| self.offence(indices))
    }

    /// For calls that move nothing: bounds are tested all the same.
    fn refuse_bad_indices<I: Index, E: Dimension>(&self, indices: &ArrayRef<I, E>) -> Result<(), Refusal> {
        if matches!(self.profile.bad_index, BadIndex::Zero | BadIndex::Clamp) {
            return Ok(());
        }
        first_offender(self, indices).map_or(Ok(()), |error| Err(error.into()))
    }

    #[cold]
    fn offence<I: Index, E: Dimension>(&self, indices: &ArrayRef<I, E>) -> Refusal {
        let vanished = || Refusal::Unsupported("a bad index was found that is not there any more".to_owned());
        first_offender(self, indices).map_or_else(vanished, Into::into)
    }
}
