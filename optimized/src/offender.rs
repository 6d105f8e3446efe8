//! Which index is to blame: the first bad one in row-major order, found after the fact so that it is the same whatever
//! the number of threads and the level.

use gather_spec::GatherError;
use ndarray::{ArrayRef, ArrayViewD, Axis, Dimension};

use crate::index::Index;
use crate::policy::Policies;
use crate::shapes::Shapes;

/// The first bad index of a call, if there is one.
#[cold]
pub(crate) fn first_offender<I: Index, E: Dimension>(
    shapes: Shapes<'_>,
    indices: &ArrayRef<I, E>,
) -> Option<GatherError> {
    if indices.is_empty() {
        return None;
    }
    let mut view = indices.view().into_dyn();
    let mut row_rank = shapes.selection.row_rank;
    if let Some(windows) = shapes.windows {
        view = vector_last(view, windows.vector);
        row_rank = view.ndim() - 1;
    }
    // Along a stride of 0 all rows are the same, and there may be more of them than anyone can visit.
    for axis in 0..row_rank {
        if view.strides()[axis] == 0 {
            view.collapse_axis(Axis(axis), 0);
        }
    }
    let policies = shapes.execution.policies;
    match shapes.windows {
        Some(windows) => in_rows(policies, &windows.starts.iter().map(|start| start.bound), &view),
        None if row_rank < view.ndim() => {
            let bounds = &shapes.params[shapes.selection.axis..];
            in_rows(policies, &bounds.iter().copied(), &view)
        }
        None => in_elements(shapes, &view),
    }
}

/// The view with the dim that holds the components behind the others: a new one, if `vector` is none of its dims.
fn vector_last<I>(view: ArrayViewD<'_, I>, vector: usize) -> ArrayViewD<'_, I> {
    let rank = view.ndim();
    if vector >= rank {
        return view.insert_axis(Axis(rank));
    }
    let order: Vec<usize> = (0..rank).filter(|dim| *dim != vector).chain([vector]).collect();
    view.permuted_axes(order)
}

fn in_rows<I: Index>(
    policies: Policies,
    bounds: &(impl Iterator<Item = usize> + Clone),
    indices: &ArrayViewD<'_, I>,
) -> Option<GatherError> {
    let last = indices.ndim() - 1;
    for (row, components) in indices.lanes(Axis(last)).into_iter().enumerate() {
        for (component, (index, bound)) in components.iter().zip(bounds.clone()).enumerate() {
            if policies.refuses(*index, bound) {
                let position = multi_index(row, &indices.shape()[..last]);
                return Some(out_of_range(position, Some(component), *index, bound));
            }
        }
    }
    None
}

fn in_elements<I: Index>(shapes: Shapes<'_>, indices: &ArrayViewD<'_, I>) -> Option<GatherError> {
    let bound = shapes.params[shapes.selection.axis];
    let bad = |index: &I| shapes.execution.policies.refuses(*index, bound);
    let (at, index) = indices.iter().enumerate().find(|(_, index)| bad(index))?;
    Some(out_of_range(multi_index(at, indices.shape()), None, *index, bound))
}

fn out_of_range<I: Index>(
    position: Vec<usize>,
    component: Option<usize>,
    index: I,
    bound: usize,
) -> GatherError {
    GatherError::IndexOutOfRange { position, component, index: index.value(), bound }
}

fn multi_index(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (place, dim) in position.iter_mut().zip(shape).rev() {
        *place = at % dim;
        at /= dim;
    }
    position
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Array3, array};

    use super::*;
    use crate::{Options, gather_nd};

    /// Rows at a stride of 0 are looked at once, but each component has an axis of its own.
    #[test]
    fn components_at_a_stride_of_zero_are_each_held_to_their_own_axis() {
        let four = array![4i32];
        let rows = four.broadcast((2, 2)).unwrap();
        let refused = gather_nd(&Array2::<u8>::zeros((5, 3)), &rows, &Options::new());
        let (position, component) = (vec![0], Some(1));
        let error = GatherError::IndexOutOfRange { position, component, index: 4, bound: 3 };
        assert_eq!(refused, Err(error.into()));
    }

    #[test]
    fn the_position_is_a_multi_index_in_row_major_order() {
        let mut rows = Array3::<i32>::zeros((3, 4, 1));
        rows[[2, 1, 0]] = 7;
        rows[[2, 2, 0]] = 8;
        let refused = gather_nd(&array![1u8, 2], &rows, &Options::new());
        let (position, component) = (vec![2, 1], Some(0));
        let error = GatherError::IndexOutOfRange { position, component, index: 7, bound: 2 };
        assert_eq!(refused, Err(error.into()));
    }
}
