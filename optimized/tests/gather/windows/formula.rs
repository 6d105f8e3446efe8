//! What StableHLO's page gives, element by element and in its own words; policies beside its own clamp as the options
//! describe them.

use gather_optimized::Index;
use gather_spec::{BadIndex, DimensionNumbers, GatherError, NegativeIndex, Profile};
use ndarray::{ArrayD, ArrayViewD, Dimension, IxDyn, indices};

/// The result; an element of a window that is spoilt is none.
pub(crate) fn gather<A: Clone, I: Index>(
    operand: &ArrayViewD<'_, A>,
    start_indices: &ArrayViewD<'_, I>,
    numbers: &DimensionNumbers,
    slice_sizes: &[usize],
    policies: Profile,
) -> Result<ArrayD<Option<A>>, GatherError> {
    let formula = Formula { operand, start_indices, numbers, slice_sizes, policies };
    formula.refuse()?;
    let shape = formula.shape();
    let element = |result_index: IxDyn| {
        let operand_index = formula.operand_index(result_index.slice())?;
        Some(operand[&*operand_index].clone())
    };
    // Elements are made in the order of their positions.
    let elements = indices(IxDyn(&shape)).into_iter().map(element).collect();
    Ok(ArrayD::from_shape_vec(IxDyn(&shape), elements).expect("as many elements"))
}

struct Formula<'a, A, I> {
    operand: &'a ArrayViewD<'a, A>,
    start_indices: &'a ArrayViewD<'a, I>,
    numbers: &'a DimensionNumbers,
    slice_sizes: &'a [usize],
    policies: Profile,
}

fn unsigned(dim: i64) -> usize {
    usize::try_from(dim).expect("a dim")
}

fn has(dims: &[i64], dim: usize) -> bool {
    dims.iter().any(|one| unsigned(*one) == dim)
}

impl<A, I: Index> Formula<'_, A, I> {
    fn index_vector_dim(&self) -> usize {
        unsigned(self.numbers.index_vector_dim)
    }

    /// The sizes of the dims of the result that are not offset dims.
    fn batch_dim_sizes(&self) -> Vec<usize> {
        let dims = self.start_indices.shape().iter().enumerate();
        dims.filter(|(dim, _)| *dim != self.index_vector_dim()).map(|(_, size)| *size).collect()
    }

    /// The dims of params that the result has.
    fn window_dims(&self) -> Vec<usize> {
        let numbers = self.numbers;
        let lacks = |dim| has(&numbers.collapsed_slice_dims, dim) || has(&numbers.operand_batching_dims, dim);
        (0..self.operand.ndim()).filter(|dim| !lacks(*dim)).collect()
    }

    fn shape(&self) -> Vec<usize> {
        let (batch, window) = (self.batch_dim_sizes(), self.window_dims());
        let (mut batch, mut window) = (batch.iter(), window.iter());
        let rank = batch.len() + window.len();
        let size = |dim| {
            if has(&self.numbers.offset_dims, dim) {
                self.slice_sizes[*window.next().expect("an offset dim")]
            } else {
                *batch.next().expect("a batch dim")
            }
        };
        (0..rank).map(size).collect()
    }

    /// The index row of a batch index.
    fn start_index(&self, batch_index: &[usize]) -> Vec<I> {
        let dim = self.index_vector_dim();
        if dim == self.start_indices.ndim() {
            return vec![self.start_indices[batch_index]];
        }
        let at = |component| {
            let mut at = batch_index.to_vec();
            at.insert(dim, component);
            self.start_indices[&*at]
        };
        (0..self.start_indices.shape()[dim]).map(at).collect()
    }

    /// How many starts fit where a component says one.
    fn bound(&self, component: usize) -> usize {
        let dim = unsigned(self.numbers.start_index_map[component]);
        self.operand.shape()[dim] - self.slice_sizes[dim] + 1
    }

    /// The start that an index stands for, if any.
    fn start(&self, component: usize, index: I) -> Option<usize> {
        let bound = i128::try_from(self.bound(component)).expect("small");
        let value = index.value();
        let Profile { bad, negative } = self.policies;
        let wraps = negative == NegativeIndex::Wrap && (-bound..0).contains(&value);
        let start = match bad {
            BadIndex::Modulo => value.rem_euclid(bound),
            _ if wraps => value + bound,
            BadIndex::Clamp => value.clamp(0, bound - 1),
            _ if (0..bound).contains(&value) => value,
            _ => return None,
        };
        Some(usize::try_from(start).expect("a start that fits"))
    }

    /// The first component that stands for no start, if that is an error.
    fn refuse(&self) -> Result<(), GatherError> {
        if self.policies.bad != BadIndex::Error {
            return Ok(());
        }
        for position in indices(IxDyn(&self.batch_dim_sizes())) {
            let position = position.slice().to_vec();
            for (component, index) in self.start_index(&position).into_iter().enumerate() {
                if self.start(component, index).is_none() {
                    let (index, bound) = (index.value(), self.bound(component));
                    let component = Some(component);
                    return Err(GatherError::IndexOutOfRange { position, component, index, bound });
                }
            }
        }
        Ok(())
    }

    /// Where an element of the result comes from; nowhere if its window is spoilt.
    fn operand_index(&self, result_index: &[usize]) -> Option<Vec<usize>> {
        let numbers = self.numbers;
        let split = |offset: bool| -> Vec<usize> {
            let dims = result_index.iter().enumerate();
            dims.filter(|(dim, _)| has(&numbers.offset_dims, *dim) == offset).map(|(_, at)| *at).collect()
        };
        let (offset_index, batch_index) = (split(true), split(false));
        let mut operand_index = vec![0; self.operand.ndim()];
        // full_start_index
        for (component, index) in self.start_index(&batch_index).into_iter().enumerate() {
            operand_index[unsigned(numbers.start_index_map[component])] += self.start(component, index)?;
        }
        // full_batching_index
        let batching = numbers.operand_batching_dims.iter().zip(&numbers.start_indices_batching_dims);
        for (d_operand, d_start) in batching {
            let skipped = usize::from(*d_start >= numbers.index_vector_dim);
            operand_index[unsigned(*d_operand)] += batch_index[unsigned(*d_start) - skipped];
        }
        // full_offset_index
        for (d_operand, offset) in self.window_dims().into_iter().zip(offset_index) {
            operand_index[d_operand] += offset;
        }
        Some(operand_index)
    }
}
