//! Which index is to blame: the first bad one in row-major order, found after the fact so that it does not
//! depend on the number of threads and the level.

use gather_spec::GatherError;

use crate::index::Locate;
use crate::kernels::strided::Strided;
use crate::shapes::{Selection, Shapes};

/// The first bad index of a call, if there is one.
#[cold]
pub(crate) fn first_offender<I: Locate>(shapes: Shapes<'_>, indices: Strided<'_, I>) -> Option<GatherError> {
    let (vector, bounds) = components(shapes);
    // Without a dim for them, each index is a row of one component.
    let dim = Some(vector).filter(|dim| *dim < indices.shape().len());
    let numbered = shapes.windows.is_some() || dim.is_some();
    // Along a stride of 0 all rows are the same, and there may be more of them than a loop can visit.
    let once = |(len, stride): (&usize, &isize)| if *stride == 0 { 1.min(*len) } else { *len };
    let mut dims: Vec<usize> = indices.shape().iter().zip(indices.strides()).map(once).collect();
    if let Some(dim) = dim {
        dims[dim] = 1.min(dims[dim]);
    }
    let mut position = vec![0; dims.len()];
    let mut left = dims.iter().product::<usize>();
    while left > 0 {
        for (component, bound) in bounds.iter().enumerate() {
            if let Some(dim) = dim {
                position[dim] = component;
            }
            let index = *indices.get(&position);
            if shapes.execution.policies.refuses(index, *bound) {
                let (index, bound) = (index.value(), *bound);
                let component = numbered.then_some(component);
                if let Some(dim) = dim {
                    position.remove(dim);
                }
                return Some(GatherError::IndexOutOfRange { position, component, index, bound });
            }
        }
        advance(&mut position, &dims);
        left -= 1;
    }
    None
}

/// The dim of indices along which the components of a row lie, and the bound of each.
pub(crate) fn components(shapes: Shapes<'_>) -> (usize, Vec<usize>) {
    match shapes.windows {
        Some(windows) => (windows.vector, windows.starts.iter().map(|start| start.bound).collect()),
        None => {
            let Selection { axis, depth, row_rank, .. } = shapes.selection;
            (row_rank, shapes.params[axis..axis + depth].to_vec())
        }
    }
}

/// The next multi-index in row-major order, or the first one after the last.
fn advance(position: &mut [usize], dims: &[usize]) {
    for (place, dim) in position.iter_mut().zip(dims).rev() {
        *place += 1;
        if *place < *dim {
            return;
        }
        *place = 0;
    }
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
