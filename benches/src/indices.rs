//! Indices of a workload, in any of the types that indices may have.

use gather_optimized::Index;
use gather_spec::tensor::Stored;
use gather_spec::{DType, Form, Tensor, TensorError};
use ndarray::{ArrayD, Axis, IxDyn, ShapeBuilder};

use crate::Workload;
use crate::draw::{Mark, components, marks, positions};
use crate::floor::FloorIndex;
use crate::workloads::TensorLayout;

/// A type that indices are drawn in.
pub trait Drawable: Index + FloorIndex + Default {
    /// How its bits are stored.
    type Bits: Stored;

    /// The dtype.
    const DTYPE: DType;

    /// A number that fits the type.
    fn narrow(at: i64) -> Self;

    /// The bits.
    fn bits(self) -> Self::Bits;
}

/// Indices of one type.
#[derive(Clone, Debug)]
pub struct DrawnIndices<I> {
    /// The indices.
    pub all: ArrayD<I>,
    /// The same indices as non-negative numbers in range, for a plain loop, if there are others among them.
    pub in_range: Option<ArrayD<I>>,
}

macro_rules! types {
    ($($name:ident: $type:ty, $bits:ty;)+) => {
        /// Indices of any type.
        #[derive(Clone, Debug)]
        pub enum TypedIndices {
            $(
                #[doc = concat!("`", stringify!($type), "`")]
                $name(DrawnIndices<$type>),
            )+
        }

        $(
            impl Drawable for $type {
                type Bits = $bits;

                const DTYPE: DType = DType::$name;

                fn narrow(at: i64) -> Self {
                    Self::try_from(at).expect("axes were checked to fit the index type")
                }

                #[allow(clippy::cast_sign_loss, trivial_numeric_casts, reason = "the bits are wanted")]
                fn bits(self) -> $bits {
                    self as $bits
                }
            }
        )+

        impl TypedIndices {
            /// The indices of a workload.
            pub(crate) fn of(workload: &Workload) -> Self {
                match workload.indices.dtype {
                    $(DType::$name => Self::$name(DrawnIndices::of(workload)),)+
                    dtype => unreachable!("workloads were checked to have no indices of dtype {dtype}"),
                }
            }

            /// A copy of the indices as a tensor.
            ///
            /// # Errors
            /// [`TensorError`] if memory is short.
            pub fn tensor(&self) -> Result<Tensor, TensorError> {
                match self {
                    $(Self::$name(drawn) => drawn.tensor(),)+
                }
            }

            /// The indices at these places, counted in row-major order, as a tensor.
            ///
            /// # Errors
            /// [`TensorError`] if memory is short, or there are not as many places as the shape has.
            pub(crate) fn at(
                &self,
                places: impl Iterator<Item = usize>,
                shape: Vec<usize>,
            ) -> Result<Tensor, TensorError> {
                match self {
                    $(Self::$name(drawn) => drawn.at(places, shape),)+
                }
            }
        }
    };
}

types! {
    I8: i8, u8;
    I16: i16, u16;
    I32: i32, u32;
    I64: i64, u64;
    U8: u8, u8;
    U16: u16, u16;
    U32: u32, u32;
    U64: u64, u64;
}

impl<I: Drawable> DrawnIndices<I> {
    fn of(workload: &Workload) -> Self {
        let geometry = workload.geometry();
        let drawn = positions(&geometry, &workload.indices, workload.seed);
        let dims = match workload.form {
            Form::Take | Form::Elements => None,
            Form::Nd | Form::Window => Some(&*geometry.indexed),
        };
        let marks = marks(workload, &geometry);
        let make = |marks: &[Mark]| {
            let elements = components(&drawn, dims, marks, I::narrow);
            array(&workload.indices.shape, elements, workload.indices.layout)
        };
        let in_range = if marks.is_empty() { None } else { Some(make(&[])) };
        Self { all: make(&marks), in_range }
    }

    fn tensor(&self) -> Result<Tensor, TensorError> {
        Tensor::new(I::DTYPE, self.all.shape(), self.all.iter().map(|index| index.bits()).collect())
    }

    fn at(&self, places: impl Iterator<Item = usize>, shape: Vec<usize>) -> Result<Tensor, TensorError> {
        let all = self.all.as_standard_layout();
        let all = all.as_slice().expect("in standard layout");
        Tensor::new(I::DTYPE, shape, places.map(|at| all[at].bits()).collect())
    }
}

/// The elements, given in row-major order, as an array with this layout.
fn array<I: Copy + Default>(shape: &[usize], mut elements: Vec<I>, layout: TensorLayout) -> ArrayD<I> {
    let whole = "as many indices as the shape has were drawn";
    if layout == TensorLayout::Reversed {
        elements.reverse();
    }
    let mut array = ArrayD::from_shape_vec(IxDyn(shape), elements).expect(whole);
    match layout {
        TensorLayout::Reversed => (0..shape.len()).for_each(|axis| array.invert_axis(Axis(axis))),
        TensorLayout::Transposed => {
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
    use crate::Inputs;

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
        let TypedIndices::I32(DrawnIndices { all: indices, in_range: Some(in_range) }) = inputs.indices
        else {
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
        let contiguous = array(&[2, 3], elements.clone(), TensorLayout::Contiguous);
        let transposed = array(&[2, 3], elements.clone(), TensorLayout::Transposed);
        let reversed = array(&[2, 3], elements, TensorLayout::Reversed);
        assert_eq!(transposed.strides(), [1, 2]);
        assert_eq!(reversed.strides(), [-3, -1]);
        assert!(contiguous == transposed && contiguous == reversed);
    }
}
