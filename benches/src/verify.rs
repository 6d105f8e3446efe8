//! Verifies what is timed: a sample of output rows against gather-reference, and all ways of running against each other.

use gather_spec::{Call, Form, Outcome, Shape, Tensor};

use crate::geometry::{WorkloadGeometry, offsets};
use crate::indices::TypedIndices;
use crate::inputs::Inputs;
use crate::{RunSettings, Subject, Workload};

/// Approximately how many elements to ask the reference for.
const SAMPLED_ELEMENTS: usize = 100_000;

/// The reference's answers for some rows of a workload.
#[derive(Debug)]
pub struct Samples {
    samples: Vec<Sample>,
    row_len: usize,
}

/// The reference's answer for some rows of one batch.
#[derive(Debug)]
struct Sample {
    expected: Tensor,
    /// The offsets of these rows in the output of the whole workload, in elements.
    places: Vec<usize>,
}

impl Samples {
    /// Asks the reference for rows that are spread evenly over the first, middle and last batch, including the first and the
    /// last row of each.
    ///
    /// # Errors
    /// The reference's answer, if it is no output.
    pub fn of(workload: &Workload, inputs: &Inputs) -> Result<Self, String> {
        let geometry = workload.geometry();
        let batches = spread(geometry.batches(), 3);
        let share = SAMPLED_ELEMENTS / (geometry.mids() * geometry.row_len() * batches.len());
        let rows = spread(geometry.rows, share.max(2));
        let mut all = Self { samples: Vec::new(), row_len: geometry.row_len() };
        let settings =
            gather_reference::Settings { profile: workload.policy, ..gather_reference::Settings::default() };
        for batch in batches {
            let call = sample_call(workload, inputs, &geometry, batch, &rows)?;
            let outcome = gather_reference::answer(&call, settings);
            let Outcome::Output(expected) = outcome else { return Err(format!("reference: {outcome:?}")) };
            all.samples.push(Sample { expected, places: places(&geometry, batch, &rows) });
        }
        Ok(all)
    }

    /// Compares the reused output of a subject with the reference's rows.
    ///
    /// # Errors
    /// The position of the first difference.
    pub fn check(&self, subject: &dyn Subject) -> Result<(), String> {
        for sample in &self.samples {
            for (row, place) in sample.places.iter().enumerate() {
                if !subject.holds(*place, &sample.expected, row * self.row_len, self.row_len) {
                    return Err(format!("the output row from element {place} on is not the reference's"));
                }
            }
        }
        Ok(())
    }

    /// Checks one way of running against the reference, and the ways of making an output against each other.
    ///
    /// # Errors
    /// What differs.
    pub fn verify(&self, subject: &mut dyn Subject, settings: RunSettings) -> Result<(), String> {
        subject.agree(settings)?;
        self.check(subject)
    }
}

/// At most `most` numbers below `count`, evenly spread, including the first and the last.
fn spread(count: usize, most: usize) -> Vec<usize> {
    let n = most.min(count);
    if n <= 1 {
        return (0..n).collect();
    }
    (0..n).map(|i| usize::try_from(i as u128 * (count as u128 - 1) / (n as u128 - 1)).unwrap_or(0)).collect()
}

/// The offsets of the sampled rows of a batch in the whole output, in the sample's order.
fn places(geometry: &WorkloadGeometry, batch: usize, rows: &[usize]) -> Vec<usize> {
    let segments = (0..geometry.mids()).map(|mid| batch * geometry.mids() + mid);
    let numbers = segments.flat_map(|segment| rows.iter().map(move |row| segment * geometry.rows + row));
    numbers.map(|number| number * geometry.row_len()).collect()
}

/// The call for some rows of one batch: a view of the same params, batch dims of 1, and only these index rows.
fn sample_call(
    workload: &Workload,
    inputs: &Inputs,
    geometry: &WorkloadGeometry,
    batch: usize,
    rows: &[usize],
) -> Result<Call, String> {
    let params = &inputs.params;
    let mut shape = params.tensor.shape().to_vec();
    let b = geometry.batch.len();
    shape[..b].fill(1);
    let into_batch = offsets(&geometry.batch, &params.tensor.strides()[..b])[batch];
    let shape = Shape::new(shape).map_err(|wrong| wrong.to_string())?;
    let (dtype, strides) = (params.tensor.dtype(), params.tensor.strides().to_vec());
    let offset = params.offset.wrapping_add(into_batch);
    let window = Tensor::strided(dtype, shape, strides, offset, params.elements.clone());

    let mut shape = vec![1; b];
    shape.push(rows.len());
    match workload.form {
        Form::Take => {}
        Form::Elements => shape.extend(&geometry.inner),
        Form::Nd | Form::Window => shape.push(geometry.indexed.len()),
    }
    let numbers = rows.iter().map(|row| batch * geometry.rows + row);
    // The reference needs an index per element, so an index for a whole slice is repeated.
    let repeats = workload.form == Form::Elements && !geometry.each;
    let times = if repeats { geometry.row_len() } else { 1 };
    let indices = index_rows(&inputs.indices, numbers, geometry.indices_per_row(), times, shape)?;
    workload.call(&window.map_err(|wrong| wrong.to_string())?, &indices)
}

/// The index rows with these numbers, with each index repeated.
fn index_rows(
    indices: &TypedIndices,
    numbers: impl Iterator<Item = usize>,
    depth: usize,
    times: usize,
    shape: Vec<usize>,
) -> Result<Tensor, String> {
    let places = numbers.flat_map(|row| row * depth..(row + 1) * depth);
    let places = places.flat_map(|place| std::iter::repeat_n(place, times));
    indices.at(places, shape).map_err(|wrong| wrong.to_string())
}
