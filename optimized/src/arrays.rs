//! The operands of a call with the shapes that were validated for it, and the ways of running it: into a new array, the
//! caller's, or memory of a pool.

use std::mem::MaybeUninit;

use gather_spec::Refusal;
use ndarray::{ArrayD, ArrayRef, Dimension, IxDyn};

use crate::element::Element;
use crate::geometry::Geometry;
use crate::kernels::check::BadIndexFound;
use crate::kernels::clone_elements::{clone_new, clone_over};
use crate::kernels::compiled::Index;
use crate::kernels::job::{Job, SpreadJob, Written};
use crate::kernels::places::Places;
use crate::kernels::strided::Strided;
use crate::kernels::workers;
use crate::offender::first_offender;
use crate::options::Threads;
use crate::output::{Pool, Pooled};
use crate::policy::Bad;
use crate::shapes::Shapes;
use crate::{output, parallel};

/// The share of a job that pays for a thread, in nanoseconds. To wake one costs the caller 2 to 15 microseconds, the more the
/// more virtual the machine, and it begins 5 to 80 microseconds later.
const SHARE: usize = 50_000;
/// What a clone takes that owns something, in nanoseconds, if an allocator or a miss is behind it.
const NS_PER_CLONE: usize = 15;
/// More than this many workers bring nothing on any machine.
const MOST_WORKERS: usize = 1024;

/// Params and indices of the shapes that were validated, and the length of an output that fits.
pub(crate) struct Arrays<'a, A, I> {
    shapes: Shapes<'a>,
    params: Strided<'a, A>,
    indices: Strided<'a, I>,
    output_len: usize,
    /// What elements with a bad index are, if not the default value of their type.
    fill: Option<&'a A>,
}

impl<'a, A, I: Index> Arrays<'a, A, I> {
    /// The call of these shapes on these operands.
    ///
    /// # Errors
    /// `output-too-large`; `Unsupported` if the operands have other shapes, or their elements no bytes.
    #[inline(always)] // So that the shapes stay in registers.
    pub(crate) fn new(
        shapes: Shapes<'a>,
        params: Strided<'a, A>,
        indices: Strided<'a, I>,
        fill: Option<&'a A>,
    ) -> Result<Self, Refusal> {
        if !shapes.fit(params.shape(), indices.shape()) {
            return Err(other_shapes(shapes, params.shape(), indices.shape()));
        }
        if size_of::<A>() == 0 {
            return Err(no_bytes());
        }
        let output_len = shapes.output_len(size_of::<A>())?;
        Ok(Self { shapes, params, indices, output_len, fill })
    }

    /// The shape of the output, as ndarray wants it.
    #[inline]
    pub(crate) fn output_shape(&self) -> IxDyn {
        let mut shape = IxDyn::zeros(self.shapes.output_rank());
        let mut places = shape.slice_mut().iter_mut();
        self.shapes.each_output_dim(|dim| {
            if let Some(place) = places.next() {
                *place = dim;
            }
        });
        shape
    }

    /// Whether the caller's output has the shape of the output.
    ///
    /// # Errors
    /// `Unsupported` if it has another.
    #[inline]
    pub(crate) fn check_output(&self, shape: &[usize]) -> Result<(), Refusal> {
        if self.shapes.is_output(shape) { Ok(()) } else { Err(self.other_output(shape)) }
    }

    #[cold]
    fn other_output(&self, found: &[usize]) -> Refusal {
        let wanted = self.output_shape();
        Refusal::Unsupported(format!("the output has shape {found:?}, not {:?}", wanted.slice()))
    }

    /// How many threads share a job that takes one of them so long.
    #[inline]
    fn workers(&self, nanoseconds: usize) -> usize {
        workers(self.shapes.execution.threads, nanoseconds)
    }

    /// For calls that move nothing: bounds are tested all the same.
    #[cold]
    fn refuse_bad_indices(&self) -> Result<(), Refusal> {
        if matches!(self.shapes.execution.policies.bad, Bad::Fill | Bad::Clamp) {
            return Ok(());
        }
        first_offender(self.shapes, self.indices).map_or(Ok(()), |error| Err(error.into()))
    }

    #[cold]
    fn offence(&self) -> Refusal {
        let vanished = || Refusal::Unsupported("a bad index was found that is not there any more".to_owned());
        first_offender(self.shapes, self.indices).map_or_else(vanished, Into::into)
    }
}

impl<A: Clone + Default + Send + Sync, I: Index> Arrays<'_, A, I> {
    /// Clones into a new array.
    pub(crate) fn run_cloned(&self) -> Result<ArrayD<A>, Refusal> {
        output::fresh_array(self.output_shape(), self.output_len, |output| {
            if self.is_empty() {
                self.refuse_bad_indices()?;
                let fill = || self.fill.cloned().unwrap_or_default();
                return Ok(Written::filled_with(output, fill));
            }
            let (operands, workers) = ((self.params, self.indices), self.cloning_workers());
            clone_new(self.shapes, operands, output, self.fill, workers).map_err(|_| self.offence())
        })
    }

    /// Clones over the elements of the caller's array. One with gaps gets the elements of a new array, one by one.
    pub(crate) fn run_cloned_into<F: Dimension>(&self, output: &mut ArrayRef<A, F>) -> Result<(), Refusal> {
        self.check_output(output.shape())?;
        let Some(slice) = output.as_slice_mut() else {
            let cloned = self.run_cloned()?;
            output.iter_mut().zip(cloned).for_each(|(place, element)| *place = element);
            return Ok(());
        };
        if self.is_empty() {
            self.refuse_bad_indices()?;
            slice.fill_with(|| self.fill.cloned().unwrap_or_default());
            return Ok(());
        }
        let (operands, workers) = ((self.params, self.indices), self.cloning_workers());
        clone_over(self.shapes, operands, slice, self.fill, workers).map_err(|_| self.offence())
    }

    fn is_empty(&self) -> bool {
        self.output_len == 0 || self.params.is_empty()
    }

    fn cloning_workers(&self) -> usize {
        let each = if std::mem::needs_drop::<A>() { NS_PER_CLONE } else { 1 };
        self.workers(self.output_len.saturating_mul(each))
    }
}

impl<A: Element, I: Index> Arrays<'_, A, I> {
    /// Gathers into a new array.
    #[inline]
    pub(crate) fn run(&self) -> Result<ArrayD<A>, Refusal> {
        output::fresh_array(self.output_shape(), self.output_len, |output| self.write(output))
    }

    /// Gathers into memory of a pool.
    pub(crate) fn run_pooled(&self, pool: &Pool) -> Result<Pooled<A>, Refusal>
    where
        A: 'static,
    {
        pool.fill(self.output_shape(), self.output_len, |output| self.write(output))
    }

    /// Gathers into new memory, in row-major order.
    #[inline]
    pub(crate) fn run_flat(&self) -> Result<Vec<A>, Refusal> {
        output::fresh(self.output_len, |output| self.write(output))
    }

    /// Gathers into the caller's memory, in row-major order.
    #[inline]
    pub(crate) fn run_into_slice(&self, output: &mut [A]) -> Result<(), Refusal> {
        if output.len() != self.output_len {
            return Err(other_length(output.len(), self.output_len));
        }
        output::overwrite(output, |output| self.write(output))
    }

    /// Gathers into the caller's array.
    #[inline]
    pub(crate) fn run_into<F: Dimension>(&self, output: &mut ArrayRef<A, F>) -> Result<(), Refusal> {
        self.check_output(output.shape())?;
        match output.as_slice_mut() {
            Some(slice) => output::overwrite(slice, |output| self.write(output)),
            None => self.spread(Places::of(output)),
        }
    }

    /// Gathers into places of the caller's.
    pub(crate) fn run_into_places(&self, output: Places<'_, A>) -> Result<(), Refusal> {
        self.check_output(output.shape())?;
        self.spread(output)
    }

    /// Writes all of an output of the right shape in any layout.
    #[inline(never)] // So that the code for outputs without gaps stays short.
    fn spread(&self, mut output: Places<'_, A>) -> Result<(), Refusal> {
        let fill = self.fill.copied().unwrap_or_default();
        if self.shapes.is_empty() || self.params.is_empty() {
            self.refuse_bad_indices()?;
            output.fill(fill);
            return Ok(());
        }
        let mut room = Geometry::room();
        let mut job = SpreadJob::new(&mut room, self.shapes, (self.params, self.indices), &output, &fill);
        let workers = self.workers(job.nanoseconds());
        if workers > 1 {
            job.split(workers);
        }
        workers::share(workers, &|| I::spread(&job));
        job.finish().map_err(|_| self.offence())
    }

    /// Writes all of the output.
    #[inline]
    pub(crate) fn write<'o>(&self, output: &'o mut [MaybeUninit<A>]) -> Result<Written<'o>, Refusal> {
        let fill = self.fill.copied().unwrap_or_default();
        if output.is_empty() || self.params.is_empty() {
            self.refuse_bad_indices()?;
            return Ok(Written::filled(output, fill));
        }
        let mut room = Geometry::room();
        let mut job = Job::new(&mut room, self.shapes, (self.params, self.indices), output, &fill);
        let written = match self.workers(job.nanoseconds()) {
            0..=1 => I::work_alone(&mut job),
            count => shared(job, count),
        };
        written.map_err(|_| self.offence())
    }
}

/// How many threads share a job that takes one of them so long.
#[inline]
pub(crate) fn workers(threads: Option<Threads>, nanoseconds: usize) -> usize {
    match threads {
        Some(Threads::Exactly(threads)) => threads.get().min(MOST_WORKERS),
        _ if nanoseconds < 2 * SHARE => 1,
        Some(Threads::AtMost(threads)) => threads.get().min(paying(nanoseconds)),
        None => paying(nanoseconds),
    }
}

/// How many threads of the pool a job pays for that takes one of them so long.
fn paying(nanoseconds: usize) -> usize {
    (nanoseconds / SHARE).min(parallel::pool_threads())
}

fn shared<'o, I: Index>(mut job: Job<'_, 'o, I>, count: usize) -> Result<Written<'o>, BadIndexFound> {
    job.split(count);
    workers::share(count, &|| I::work(&job));
    job.finish()
}

#[cold]
fn other_length(found: usize, wanted: usize) -> Refusal {
    Refusal::Unsupported(format!("the output has {found} elements, not {wanted}"))
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
    use std::num::NonZeroUsize;

    use ndarray::array;

    use super::*;
    use crate::forms::take::Rules;
    use crate::{Options, Plan, Pool};

    /// How many threads share a job of this many nanoseconds, in a pool of four.
    fn workers(options: Options, nanoseconds: usize) -> usize {
        parallel::in_pool_of(4, || {
            let (params, indices) = (array![1u8], array![0]);
            let shapes = Rules::GATHER.validate(params.shape(), indices.shape(), &options.choices);
            Arrays::new(shapes.unwrap(), Strided::of(&params), Strided::of(&indices), None)
                .unwrap()
                .workers(nanoseconds)
        })
    }

    #[test]
    fn a_job_is_shared_by_a_thread_for_each_50_microseconds() {
        let shared = [0, 99_999, 100_000, 149_999, 150_000, 200_000, 10_000_000];
        assert_eq!(shared.map(|job| workers(Options::new(), job)), [1, 1, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn as_many_threads_as_were_chosen_share_a_job_of_any_size() {
        let chosen =
            |threads| workers(Options::new().exactly_threads(NonZeroUsize::new(threads).unwrap()), 0);
        assert_eq!((chosen(1), chosen(5), chosen(5000)), (1, 5, 1024));
    }

    #[test]
    fn a_limit_on_threads_makes_no_small_job_a_shared_one_and_no_large_one_shared_by_more() {
        let limited =
            |threads, job| workers(Options::new().threads(NonZeroUsize::new(threads).unwrap()), job);
        assert_eq!((limited(2, 0), limited(2, 2 * SHARE - 1)), (1, 1));
        assert_eq!([1, 2, 3, 5].map(|threads| limited(threads, 3 * SHARE)), [1, 2, 3, 3]);
    }

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
