//! Outputs that are not row-major without gaps: a part of a larger array, transposed, or backwards.

use ndarray::{ArrayD, ArrayViewMutD, Axis, IxDyn, Slice};

use crate::inputs::PADDING;
use crate::workloads::TensorLayout;

/// Memory that an output fills in whole or in part.
pub(crate) struct Placed<T> {
    memory: ArrayD<T>,
    layout: TensorLayout,
    /// The length of the output's last dim.
    last: usize,
}

impl<T: Clone> Placed<T> {
    /// Memory for an output like this one; none if it would be as contiguous.
    pub(crate) fn new(layout: TensorLayout, output: &ArrayD<T>) -> Option<Self> {
        let some = output.first().filter(|_| layout != TensorLayout::Contiguous)?;
        let mut shape = output.shape().to_vec();
        let last = shape.last().copied().unwrap_or(1);
        match (layout, shape.last_mut()) {
            (TensorLayout::Padded, Some(last)) => *last += PADDING,
            (TensorLayout::Transposed, _) => shape.reverse(),
            _ => {}
        }
        Some(Self { memory: ArrayD::from_elem(IxDyn(&shape), some.clone()), layout, last })
    }

    /// The output in the memory.
    pub(crate) fn view(&mut self) -> ArrayViewMutD<'_, T> {
        let (mut view, last) = (self.memory.view_mut(), self.last);
        match self.layout {
            TensorLayout::Padded => {
                let axis = Axis(view.ndim().saturating_sub(1));
                if view.ndim() > 0 {
                    view.slice_axis_inplace(axis, Slice::from(1..1 + last));
                }
                view
            }
            TensorLayout::Transposed => view.reversed_axes(),
            TensorLayout::Reversed => {
                (0..view.ndim()).for_each(|axis| view.invert_axis(Axis(axis)));
                view
            }
            TensorLayout::Contiguous | TensorLayout::Broadcast => view,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_keeps_its_shape_in_every_layout() {
        let output = ArrayD::<u8>::zeros(vec![3, 4]);
        for (layout, strides) in [
            (TensorLayout::Padded, [20, 1]),
            (TensorLayout::Transposed, [1, 3]),
            (TensorLayout::Reversed, [-4, -1]),
        ] {
            let mut placed = Placed::new(layout, &output).expect("another layout");
            let view = placed.view();
            assert_eq!((view.shape(), view.strides()), (&[3, 4][..], &strides[..]), "{layout:?}");
        }
        assert!(Placed::new(TensorLayout::Contiguous, &output).is_none());
    }
}
