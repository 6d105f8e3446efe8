//! Params and indices of a workload, painted and drawn. They are the same on every machine, and nothing here is timed.

use std::sync::Arc;

use gather_spec::tensor::{Elements, Stored};
use gather_spec::{ByteString, Call, DType, Form, Shape, Tensor, TensorError};
use ndarray::{ArrayD, Axis, IxDyn, ShapeBuilder};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::Workload;
use crate::geometry::Geometry;
use crate::roofline::on_huge_pages;
use crate::workloads::{Distribution, Layout};

/// The longest run of [`Distribution::Runs`].
const LONGEST_RUN: u64 = 32;
/// How many positions [`Distribution::Repeated`] draws from.
const FEW: u64 = 64;
/// How many elements longer than its window a row of [`Layout::Padded`] is.
const PADDING: usize = 16;

/// The inputs of one workload.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The tensor to gather from.
    pub params: Params,
    /// The indices.
    pub indices: Indices,
    /// The same indices as non-negative numbers in range, for a plain loop, if there are others among them.
    pub in_range: Option<Indices>,
}

/// Params as a tensor, and as its storage.
#[derive(Clone, Debug)]
pub struct Params {
    /// The tensor.
    pub tensor: Tensor,
    /// Its storage, shared.
    pub elements: Elements,
    /// The position of the tensor's first element in the storage.
    pub offset: usize,
}

/// Indices of either type.
#[derive(Clone, Debug)]
pub enum Indices {
    /// `i32`
    I32(ArrayD<i32>),
    /// `i64`
    I64(ArrayD<i64>),
}

impl Inputs {
    /// Makes the inputs of a workload.
    ///
    /// # Errors
    /// [`TensorError`] if there is not enough memory for params.
    pub fn of(workload: &Workload) -> Result<Self, TensorError> {
        let params = Params::of(workload)?;
        let drawn = positions(&workload.geometry(), workload.indices.distribution, workload.seed);
        let (dtype, geometry) = (workload.indices.dtype, workload.geometry());
        let dims = match workload.form {
            Form::Take | Form::Elements => None,
            Form::Nd | Form::Window => Some(&*geometry.indexed),
        };
        let (shape, layout) = (&*workload.indices.shape, workload.indices.layout);
        let marks = marks(workload, &geometry);
        let make = |marks: &[Mark]| {
            if dtype == DType::I32 {
                let narrow = |at| i32::try_from(at).expect("axes were checked to fit the index type");
                Indices::I32(array(shape, components(&drawn, dims, marks, narrow), layout))
            } else {
                Indices::I64(array(shape, components(&drawn, dims, marks, |at| at), layout))
            }
        };
        let in_range = if marks.is_empty() { None } else { Some(make(&[])) };
        Ok(Self { params, indices: make(&marks), in_range })
    }

    /// The same inputs with params on huge pages, if the system provides them. Strings are not moved.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn on_huge_pages(self, workload: &Workload) -> Result<Self, TensorError> {
        let Params { tensor, elements, offset } = self.params;
        let elements = match elements {
            Elements::B1(elements) => u8::store(on_huge_pages(Arc::unwrap_or_clone(elements))),
            Elements::B2(elements) => u16::store(on_huge_pages(Arc::unwrap_or_clone(elements))),
            Elements::B4(elements) => u32::store(on_huge_pages(Arc::unwrap_or_clone(elements))),
            Elements::B8(elements) => u64::store(on_huge_pages(Arc::unwrap_or_clone(elements))),
            Elements::B16(elements) => u128::store(on_huge_pages(Arc::unwrap_or_clone(elements))),
            Elements::Strings(_) => elements,
        };
        let (shape, strides) = (tensor.shape().clone(), tensor.strides().to_vec());
        let tensor = Tensor::strided(workload.params.dtype, shape, strides, offset, elements.clone())?;
        Ok(Self { params: Params { tensor, elements, offset }, ..self })
    }

    /// The workload as a call for backends. Indices are copied, params are shared.
    ///
    /// # Errors
    /// If no operator fits the workload, or memory is short.
    pub fn call(&self, workload: &Workload) -> Result<Call, String> {
        let indices = self.indices.tensor().map_err(|wrong| wrong.to_string())?;
        workload.call(&self.params.tensor, &indices)
    }
}

impl Params {
    fn of(workload: &Workload) -> Result<Self, TensorError> {
        let (dtype, shape) = (workload.params.dtype, Shape::new(&*workload.params.shape)?);
        let (strides, offset, len) = place(&shape, workload.params.layout);
        let elements = paint(dtype, len);
        let tensor = Tensor::strided(dtype, shape, strides, offset, elements.clone())?;
        Ok(Self { tensor, elements, offset })
    }
}

impl Indices {
    /// A copy of the indices as a tensor.
    ///
    /// # Errors
    /// [`TensorError`] if memory is short.
    pub fn tensor(&self) -> Result<Tensor, TensorError> {
        match self {
            Self::I32(array) => {
                let bits = array.iter().map(|index| index.cast_unsigned()).collect();
                Tensor::new::<u32>(DType::I32, array.shape(), bits)
            }
            Self::I64(array) => {
                let bits = array.iter().map(|index| index.cast_unsigned()).collect();
                Tensor::new::<u64>(DType::I64, array.shape(), bits)
            }
        }
    }
}

/// The strides, the position of the first element, and the number of stored elements.
fn place(shape: &Shape, layout: Layout) -> (Vec<isize>, usize, usize) {
    let (count, rank) = (shape.element_count(), shape.rank());
    let mut strides = shape.row_major_strides();
    match layout {
        Layout::Contiguous => (strides, 0, count),
        Layout::Transposed => {
            let mut stride = 1;
            for (place, dim) in strides.iter_mut().zip(&**shape) {
                *place = stride;
                stride *= dim.cast_signed();
            }
            (strides, 0, count)
        }
        Layout::Padded => {
            let row = shape.last().map_or(1, |dim| dim + PADDING).cast_signed();
            let last = shape.last().map_or(1, |dim| *dim).cast_signed().max(1);
            strides.iter_mut().take(rank.saturating_sub(1)).for_each(|stride| *stride = *stride / last * row);
            let rows = count / last.unsigned_abs();
            (strides, 1, rows * row.unsigned_abs())
        }
        Layout::Reversed => {
            strides.iter_mut().for_each(|stride| *stride = -*stride);
            (strides, count - 1, count)
        }
        Layout::Broadcast => {
            strides.iter_mut().take(1).for_each(|stride| *stride = 0);
            (strides, 0, count / shape.first().map_or(1, |dim| *dim))
        }
    }
}

/// Elements that differ from their neighbours near and far: the high bits of multiples of an odd number.
#[allow(clippy::cast_possible_truncation, reason = "what is wanted are bits that fit")]
fn paint(dtype: DType, len: usize) -> Elements {
    let mixed = |at: usize| (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if dtype == DType::String {
        return ByteString::store((0..len).map(|at| ByteString::from(format!("string {at}"))).collect());
    }
    match dtype.size() {
        1 => u8::store((0..len).map(|at| (mixed(at) >> 56) as u8).collect()),
        2 => u16::store((0..len).map(|at| (mixed(at) >> 48) as u16).collect()),
        4 => u32::store((0..len).map(|at| (mixed(at) >> 32) as u32).collect()),
        8 => u64::store((0..len).map(mixed).collect()),
        _ => u128::store((0..len).map(|at| u128::from(mixed(at)) << 64 | at as u128).collect()),
    }
}

/// The positions that index rows, or their elements, select, batch by batch.
fn positions(geometry: &Geometry, distribution: Distribution, seed: u64) -> Vec<u64> {
    let mut draw = Draw { random: Pcg64Mcg::seed_from_u64(seed), bound: geometry.positions() as u64 };
    let drawn = geometry.rows * if geometry.each { geometry.row_len() } else { 1 };
    let mut all = Vec::with_capacity(geometry.batches() * drawn);
    for _ in 0..geometry.batches() {
        draw.batch(drawn, distribution, &mut all);
    }
    all
}

struct Draw {
    random: Pcg64Mcg,
    bound: u64,
}

impl Draw {
    /// A random number below `bound`. Its bias of `bound` / 2^64 does not matter here.
    fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.random.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the high half of a product")
    }

    fn batch(&mut self, rows: usize, distribution: Distribution, all: &mut Vec<u64>) {
        let (start, bound) = (all.len(), self.bound);
        match distribution {
            Distribution::Random => all.extend((0..rows).map(|_| self.below(bound))),
            Distribution::Sorted => {
                all.extend((0..rows).map(|_| self.below(bound)));
                all[start..].sort_unstable();
            }
            Distribution::Runs => {
                while all.len() < start + rows {
                    let left = (start + rows - all.len()) as u64;
                    let first = self.below(bound);
                    let run = (1 + self.below(LONGEST_RUN)).min(left).min(bound - first);
                    all.extend(first..first + run);
                }
            }
            Distribution::Repeated => {
                let few: Vec<u64> = (0..FEW).map(|_| self.below(bound)).collect();
                let chosen = |draw: &mut Self| few[usize::try_from(draw.below(FEW)).unwrap_or(0)];
                all.extend((0..rows).map(|_| chosen(self)));
            }
            Distribution::Sequential => all.extend((0..rows as u64).map(|at| at % bound)),
        }
    }
}

/// What is done to the first component of an index row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Nothing.
    Kept,
    /// It counts from the end of its axis, which has this size.
    Negative(i64),
    /// It lies past its axis, which has this size.
    Bad(i64),
}

impl Mark {
    const fn apply(self, at: i64) -> i64 {
        match self {
            Self::Kept => at,
            Self::Negative(size) => at - size,
            Self::Bad(size) => at + size,
        }
    }
}

/// A mark for each index row, drawn by the workload's shares; empty if all rows are kept.
fn marks(workload: &Workload, geometry: &Geometry) -> Vec<Mark> {
    let (negative, bad) = (u64::from(workload.indices.negative), u64::from(workload.indices.bad));
    if negative + bad == 0 {
        return Vec::new();
    }
    let size = i64::try_from(geometry.indexed[0]).expect("axes were checked to fit the index type");
    let rows = geometry.rows * if geometry.each { geometry.row_len() } else { 1 };
    // The positions are those of the workload without marks.
    let mut draw = Draw { random: Pcg64Mcg::seed_from_u64(!workload.seed), bound: 100 };
    let mark = |_| match draw.below(100) {
        percent if percent < bad => Mark::Bad(size),
        percent if percent < bad + negative => Mark::Negative(size),
        _ => Mark::Kept,
    };
    (0..geometry.batches() * rows).map(mark).collect()
}

/// Splits positions into their components on the axes `dims`, or keeps them if there are no such axes, and marks rows.
fn components<I>(
    positions: &[u64],
    dims: Option<&[usize]>,
    marks: &[Mark],
    convert: impl Fn(i64) -> I,
) -> Vec<I> {
    let axes = dims.map_or(1, <[usize]>::len);
    let mut all = Vec::with_capacity(positions.len() * axes);
    for (row, position) in positions.iter().enumerate() {
        let mark = marks.get(row).copied().unwrap_or(Mark::Kept);
        let mut left: u64 = dims.map_or(1, |dims| dims.iter().map(|dim| *dim as u64).product());
        let mut rest = *position;
        for axis in 0..axes {
            left /= dims.map_or(1, |dims| dims[axis] as u64);
            let at = (rest / left).cast_signed();
            all.push(convert(if axis == 0 { mark.apply(at) } else { at }));
            rest %= left;
        }
    }
    all
}

/// The elements, given in row-major order, as an array with this layout.
fn array<I: Copy + Default>(shape: &[usize], mut elements: Vec<I>, layout: Layout) -> ArrayD<I> {
    let whole = "as many indices as the shape has were drawn";
    if layout == Layout::Reversed {
        elements.reverse();
    }
    let mut array = ArrayD::from_shape_vec(IxDyn(shape), elements).expect(whole);
    match layout {
        Layout::Reversed => (0..shape.len()).for_each(|axis| array.invert_axis(Axis(axis))),
        Layout::Transposed => {
            let mut turned = ArrayD::from_elem(IxDyn(shape).f(), I::default());
            turned.assign(&array);
            return turned;
        }
        _ => {}
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(indexed: &[usize], rows: usize) -> Geometry {
        Geometry { batch: vec![2], mid: vec![], indexed: indexed.to_vec(), inner: vec![], rows, each: false }
    }

    #[test]
    fn every_distribution_is_what_it_says() {
        let drawn = |distribution| positions(&geometry(&[5, 7], 200), distribution, 3);
        let all = [Distribution::Random, Distribution::Sorted, Distribution::Runs, Distribution::Repeated];
        for distribution in all.into_iter().chain([Distribution::Sequential]) {
            let positions = drawn(distribution);
            assert_eq!(positions.len(), 400);
            assert!(positions.iter().all(|at| *at < 35), "{distribution:?}");
            assert_eq!(positions, drawn(distribution), "the same for the same seed");
        }
        assert!(drawn(Distribution::Sorted)[..200].is_sorted());
        assert_eq!(drawn(Distribution::Sequential)[34..37], [34, 0, 1]);
        let follows = drawn(Distribution::Runs).windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(follows > 200, "{follows}");
    }

    /// Inputs are part of the measurement, so a new release of the generator must not change them.
    #[test]
    fn the_stream_of_a_seed_is_fixed() {
        let random = positions(&geometry(&[1000], 2), Distribution::Random, 1);
        assert_eq!(random, [856, 137, 470, 726]);
    }

    #[test]
    fn components_are_row_major() {
        assert_eq!(components(&[0, 7, 34], Some(&[5, 7]), &[], |at| at), [0, 0, 1, 0, 4, 6]);
        assert_eq!(components(&[3], None, &[], |at| at), [3]);
    }

    #[test]
    fn marks_change_the_first_component_alone() {
        let marks = [Mark::Negative(5), Mark::Kept, Mark::Bad(5)];
        let marked = components(&[0, 7, 34], Some(&[5, 7]), &marks, |at| at);
        assert_eq!(marked, [-5, 0, 1, 0, 9, 6]);
    }

    #[test]
    fn as_many_rows_are_marked_as_the_workload_says() {
        let workload = "
schema: 2
workloads:
  - id: rows
    form: take
    params: { dtype: u8, shape: [100] }
    indices: { dtype: i32, shape: [10000], distribution: random, negative: 50, bad: 1 }
    policy: { bad: zero, negative: wrap }
    seed: 1
";
        let inputs = Inputs::of(&crate::workloads::parse(workload).unwrap()[0]).unwrap();
        let (Indices::I32(indices), Some(Indices::I32(in_range))) = (inputs.indices, inputs.in_range) else {
            panic!("i32 indices, some of them out of range");
        };
        let count = |is: fn(&i32) -> bool| indices.iter().filter(|index| is(index)).count();
        assert!((4_800..5_200).contains(&count(|index| (-100..0).contains(index))));
        assert!((60..150).contains(&count(|index| (100..200).contains(index))));
        assert!(in_range.iter().all(|index| (0..100).contains(index)));
        assert!(indices.iter().zip(&in_range).all(|(index, plain)| (index - plain) % 100 == 0));
    }

    #[test]
    fn layouts_of_indices_hold_the_same_elements() {
        let elements: Vec<i32> = (0..6).collect();
        let contiguous = array(&[2, 3], elements.clone(), Layout::Contiguous);
        let transposed = array(&[2, 3], elements.clone(), Layout::Transposed);
        let reversed = array(&[2, 3], elements, Layout::Reversed);
        assert_eq!(transposed.strides(), [1, 2]);
        assert_eq!(reversed.strides(), [-3, -1]);
        assert!(contiguous == transposed && contiguous == reversed);
    }

    #[test]
    fn layouts_of_params_stay_inside_their_storage() {
        let shape = Shape::new([3, 4]).unwrap();
        for (layout, strides, offset, len) in [
            (Layout::Contiguous, [4, 1], 0, 12),
            (Layout::Transposed, [1, 3], 0, 12),
            (Layout::Padded, [20, 1], 1, 60),
            (Layout::Reversed, [-4, -1], 11, 12),
            (Layout::Broadcast, [0, 1], 0, 4),
        ] {
            assert_eq!(place(&shape, layout), (strides.to_vec(), offset, len), "{layout:?}");
            let tensor =
                Tensor::strided(DType::F16, shape.clone(), strides.to_vec(), offset, paint(DType::F16, len));
            assert!(tensor.is_ok(), "{layout:?}");
        }
    }
}
