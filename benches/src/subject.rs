//! A workload ready to run: by gather-optimized in three ways, and by its floor, all with the same output memory.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use gather_optimized::PlacedRows;
use gather_optimized::{Element, Index, Level, Options, Plan, Pool};
use gather_spec::tensor::Stored;
use gather_spec::{ByteString, DType, Form, Refusal, Tensor};
use ndarray::{ArrayD, ArrayViewD, CowArray, IxDyn};

use crate::Workload;
use crate::floor::{Floor, FloorIndex};
use crate::indices::{Drawable, DrawnIndices, TypedIndices};
use crate::inputs::Inputs;
use crate::placed::Placed;

/// The settings of gather-optimized that are not part of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSettings {
    /// The instruction-set level; `None` for the best one.
    pub level: Option<Level>,
    /// The number of threads; `None` for as many as are worthwhile.
    pub threads: Option<std::num::NonZeroUsize>,
}

impl RunSettings {
    /// The options for a workload with these settings.
    #[must_use]
    pub fn options(self, workload: &Workload) -> Options {
        // The plan rejects a number that is no valid rank.
        let signed = |dims: usize| i64::try_from(dims).unwrap_or(i64::MAX);
        let options = Options::new().profile(workload.policy).batch_dims(signed(workload.batch_dims));
        let options = workload.axis.map_or(options, |axis| options.axis(signed(axis)));
        let options = self.level.map_or(options, |level| options.level(level));
        self.threads.map_or(options, |threads| options.exactly_threads(threads))
    }

    /// The plan for a workload with these settings.
    ///
    /// # Errors
    /// `Unsupported` if the processor lacks the level. Workloads cause no other error.
    pub fn plan(self, workload: &Workload) -> Result<Plan, Refusal> {
        let (params, indices) = (&workload.params.shape, &workload.indices.shape);
        match workload.form {
            Form::Take => Plan::gather(params, indices, &self.options(workload)),
            Form::Elements => Plan::take_along_axis(params, indices, &self.options(workload)),
            Form::Nd => Plan::gather_nd(params, indices, &self.options(workload)),
            // `workloads` rejects this form.
            Form::Window => Err(Refusal::Unsupported("a workload has no dimension numbers".to_owned())),
        }
    }
}

fn same_bits(same: bool, name: &str) -> Result<(), String> {
    if same { Ok(()) } else { Err(format!("the outputs of fresh and {name} differ")) }
}

/// A workload with its inputs, of any type. The output is reused, so `run_into` and `run_floor` write to warm memory.
pub trait Subject {
    /// Gathers into the reused output.
    ///
    /// # Errors
    /// Those of [`Plan::run_into`].
    fn run_into(&mut self, plan: &Plan) -> Result<(), Refusal>;

    /// Plans, gathers into a new array and drops it, like a user's call.
    ///
    /// # Errors
    /// Those of [`Plan::run`].
    fn run_fresh(&self, settings: RunSettings) -> Result<(), Refusal>;

    /// Gathers into memory from a pool, and returns it.
    ///
    /// # Errors
    /// Those of [`Plan::run_pooled`]; `Unsupported` for strings, which pools do not support.
    fn run_pooled(&self, plan: &Plan) -> Result<(), Refusal>;

    /// Moves the same elements into the reused output by the best plain loop.
    fn run_floor(&mut self, threads: usize);

    /// Moves the same rows into the reused output with stores past the caches; `false` if they are too short for that.
    fn run_floor_past_caches(&mut self, threads: usize) -> bool;

    /// Copies as many bytes to the reused output; `false` for elements that are cloned.
    fn run_copy(&mut self, threads: usize) -> bool;

    /// Runs everything and compares all outputs bit by bit. The reused output is overwritten in between.
    ///
    /// # Errors
    /// Which two outputs differ.
    fn agree(&mut self, settings: RunSettings) -> Result<(), String>;

    /// Whether `count` elements of the reused output from `at` on equal those of the row-major `expected` from `from` on.
    fn holds(&self, at: usize, expected: &Tensor, from: usize, count: usize) -> bool;
}

/// A workload with inputs, ready to run. Its output has been written once.
///
/// # Errors
/// `Unsupported` if memory is short.
pub fn subject<'a>(workload: &'a Workload, inputs: &'a Inputs) -> Result<Box<dyn Subject + 'a>, Refusal> {
    match &inputs.indices {
        TypedIndices::I8(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::I16(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::I32(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::I64(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::U8(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::U16(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::U32(drawn) => with_indices(workload, inputs, drawn),
        TypedIndices::U64(drawn) => with_indices(workload, inputs, drawn),
    }
}

fn with_indices<'a, I: Drawable>(
    workload: &'a Workload,
    inputs: &'a Inputs,
    drawn: &'a DrawnIndices<I>,
) -> Result<Box<dyn Subject + 'a>, Refusal> {
    let indices = [&drawn.all, drawn.in_range.as_ref().unwrap_or(&drawn.all)];
    Ok(match workload.params.dtype {
        DType::String => Box::new(StringsSubject(Parts::new(workload, inputs, indices, 1, clone_run)?)),
        dtype => match dtype.size() {
            1 => Box::new(BitsSubject::<u8, I>::new(workload, inputs, indices, 1)?),
            2 => Box::new(BitsSubject::<u16, I>::new(workload, inputs, indices, 2)?),
            4 => Box::new(BitsSubject::<u32, I>::new(workload, inputs, indices, 4)?),
            8 => Box::new(BitsSubject::<u64, I>::new(workload, inputs, indices, 8)?),
            _ => Box::new(BitsSubject::<u128, I>::new(workload, inputs, indices, 16)?),
        },
    })
}

fn clone_run<I: Index>(
    plan: &Plan,
    params: &ndarray::ArrayRef<ByteString, IxDyn>,
    indices: &ndarray::ArrayRef<I, IxDyn>,
) -> Result<ArrayD<ByteString>, Refusal> {
    plan.run_cloned(params, indices)
}

/// What subjects of all element types have in common.
struct Parts<'a, T, I> {
    workload: &'a Workload,
    params: ArrayViewD<'a, T>,
    stored: &'a [T],
    indices: &'a ArrayD<I>,
    /// Indices for the floor, all in range: the indices themselves, or a contiguous copy if they are strided.
    contiguous: CowArray<'a, I, IxDyn>,
    output: ArrayD<T>,
    /// Memory for an output of another layout, to which `into` goes then.
    placed_output: Option<Placed<T>>,
    floor: Floor,
    /// Rows for the floor past the caches.
    placed: Option<PlacedRows<'a>>,
    pool: Pool,
}

type RunPlan<T, I> =
    fn(&Plan, &ndarray::ArrayRef<T, IxDyn>, &ndarray::ArrayRef<I, IxDyn>) -> Result<ArrayD<T>, Refusal>;

impl<'a, T: Stored, I: Index> Parts<'a, T, I> {
    fn new(
        workload: &'a Workload,
        inputs: &'a Inputs,
        [indices, in_range]: [&'a ArrayD<I>; 2],
        units: usize,
        run: RunPlan<T, I>,
    ) -> Result<Self, Refusal> {
        let params = &inputs.params;
        let seen = params.tensor.view::<T>().zip(T::slice(&params.elements));
        let (view, stored) =
            seen.ok_or_else(|| Refusal::Unsupported("params of another width".to_owned()))?;
        // Keeps the first output, because gather-optimized allocates large ones on huge pages.
        let output = run(&RunSettings::default().plan(workload)?, &view, indices)?;
        let floor = Floor::new(&workload.geometry(), params.tensor.strides(), params.offset, units);
        Ok(Self {
            workload,
            stored,
            indices,
            contiguous: in_range.as_standard_layout(),
            placed_output: Placed::new(workload.output.layout, &output),
            output,
            floor,
            placed: None,
            params: view,
            pool: Pool::new(4 << 30),
        })
    }

    /// Spoils the reused output, however it lies.
    fn spoil(&mut self, garbage: T) {
        self.output.fill(garbage.clone());
        if let Some(placed) = &mut self.placed_output {
            placed.view().fill(garbage);
        }
    }

    /// Whether `into` has written these elements.
    fn has_written(&mut self, fresh: &ArrayD<T>) -> bool
    where
        T: PartialEq,
    {
        match &mut self.placed_output {
            Some(placed) => placed.view() == fresh,
            None => self.output == fresh,
        }
    }

    fn holds_bits(&self, at: usize, expected: &Tensor, from: usize, count: usize) -> bool
    where
        T: PartialEq,
    {
        let expected = expected.view::<T>();
        let expected = expected.as_ref().and_then(|view| view.as_slice());
        let output = self.output.as_slice().and_then(|output| output.get(at..at + count));
        output.is_some() && output == expected.and_then(|expected| expected.get(from..from + count))
    }
}

/// A subject whose elements are moved as bits.
struct BitsSubject<'a, T, I>(Parts<'a, T, I>);

impl<'a, T: Stored + Element + Pod, I: Index + FloorIndex> BitsSubject<'a, T, I> {
    fn new(
        workload: &'a Workload,
        inputs: &'a Inputs,
        indices: [&'a ArrayD<I>; 2],
        units: usize,
    ) -> Result<Self, Refusal> {
        let mut parts = Parts::new(workload, inputs, indices, units, Plan::run)?;
        let indices = parts.contiguous.as_slice().expect("in standard layout");
        parts.placed = parts.floor.placed(cast_slice(parts.stored), indices);
        Ok(Self(parts))
    }
}

impl<T: Stored + Element + Pod + PartialEq, I: Index + FloorIndex> Subject for BitsSubject<'_, T, I> {
    fn run_into(&mut self, plan: &Plan) -> Result<(), Refusal> {
        match &mut self.0.placed_output {
            Some(placed) => plan.run_into(&self.0.params, self.0.indices, &mut placed.view()),
            None => plan.run_into(&self.0.params, self.0.indices, &mut self.0.output),
        }
    }

    fn run_fresh(&self, settings: RunSettings) -> Result<(), Refusal> {
        settings.plan(self.0.workload)?.run(&self.0.params, self.0.indices).map(drop)
    }

    fn run_pooled(&self, plan: &Plan) -> Result<(), Refusal> {
        plan.run_pooled(&self.0.params, self.0.indices, &self.0.pool).map(drop)
    }

    fn run_floor(&mut self, threads: usize) {
        let indices = self.0.contiguous.as_slice().expect("in standard layout");
        let output = self.0.output.as_slice_mut().expect("outputs are contiguous");
        self.0.floor.copy(cast_slice(self.0.stored), indices, cast_slice_mut(output), threads);
    }

    fn run_floor_past_caches(&mut self, threads: usize) -> bool {
        let output = self.0.output.as_slice_mut().expect("outputs are contiguous");
        let Some(rows) = &self.0.placed else { return false };
        self.0.floor.copy_past_caches(rows, cast_slice_mut(output), threads);
        true
    }

    fn run_copy(&mut self, threads: usize) -> bool {
        let output = self.0.output.as_slice_mut().expect("outputs are contiguous");
        self.0.floor.copy_in_order(cast_slice(self.0.stored), cast_slice_mut(output), threads);
        true
    }

    fn agree(&mut self, settings: RunSettings) -> Result<(), String> {
        let plan = settings.plan(self.0.workload).map_err(|why| why.to_string())?;
        let fresh = plan.run(&self.0.params, self.0.indices).map_err(|why| why.to_string())?;
        let pooled =
            plan.run_pooled(&self.0.params, self.0.indices, &self.0.pool).map_err(|why| why.to_string())?;
        let spoil =
            |parts: &mut Self| parts.0.spoil(bytemuck::pod_read_unaligned(&[0xA5; 16][..size_of::<T>()]));
        same_bits(*pooled == fresh, "pooled")?;
        spoil(self);
        self.run_into(&plan).map_err(|why| why.to_string())?;
        same_bits(self.0.has_written(&fresh), "into")?;
        let threads = settings.threads.map_or(1, usize::from);
        // A floor moves the element of an index in range where the policy fills or clamps.
        if self.0.workload.indices.bad > 0 {
            return Ok(());
        }
        spoil(self);
        if self.run_floor_past_caches(threads) {
            same_bits(self.0.output == fresh, "floor past the caches")?;
        }
        spoil(self);
        self.run_floor(threads);
        same_bits(self.0.output == fresh, "floor")
    }

    fn holds(&self, at: usize, expected: &Tensor, from: usize, count: usize) -> bool {
        self.0.holds_bits(at, expected, from, count)
    }
}

/// A subject whose elements are cloned.
struct StringsSubject<'a, I>(Parts<'a, ByteString, I>);

impl<I: Index + FloorIndex> Subject for StringsSubject<'_, I> {
    fn run_into(&mut self, plan: &Plan) -> Result<(), Refusal> {
        match &mut self.0.placed_output {
            Some(placed) => plan.run_cloned_into(&self.0.params, self.0.indices, &mut placed.view()),
            None => plan.run_cloned_into(&self.0.params, self.0.indices, &mut self.0.output),
        }
    }

    fn run_fresh(&self, settings: RunSettings) -> Result<(), Refusal> {
        settings.plan(self.0.workload)?.run_cloned(&self.0.params, self.0.indices).map(drop)
    }

    fn run_pooled(&self, _: &Plan) -> Result<(), Refusal> {
        Err(Refusal::Unsupported("pools hold no strings".to_owned()))
    }

    fn run_floor(&mut self, _: usize) {
        let indices = self.0.contiguous.as_slice().expect("in standard layout");
        let output = self.0.output.as_slice_mut().expect("outputs are contiguous");
        self.0.floor.clone_elements(self.0.stored, indices, output);
    }

    fn run_floor_past_caches(&mut self, _: usize) -> bool {
        false
    }

    fn run_copy(&mut self, _: usize) -> bool {
        false
    }

    fn agree(&mut self, settings: RunSettings) -> Result<(), String> {
        let plan = settings.plan(self.0.workload).map_err(|why| why.to_string())?;
        let fresh = plan.run_cloned(&self.0.params, self.0.indices).map_err(|why| why.to_string())?;
        self.0.spoil(ByteString::default());
        self.run_into(&plan).map_err(|why| why.to_string())?;
        same_bits(self.0.has_written(&fresh), "into")?;
        self.0.spoil(ByteString::default());
        self.run_floor(1);
        same_bits(self.0.output == fresh, "floor")
    }

    fn holds(&self, at: usize, expected: &Tensor, from: usize, count: usize) -> bool {
        self.0.holds_bits(at, expected, from, count)
    }
}
