//! Tensors: a dtype, a shape, and a strided view of shared elements.
//!
//! An element is stored as its bits in an unsigned integer of its width, never as a float or a `bool`. So no move can
//! change a NaN payload, the sign of a zero or an odd bool byte. Strings are byte strings.
//!
//! `elements` defines the storage, `builder` makes tensors element by element, and `walk` copies and compares them.

mod builder;
mod bytes;
mod elements;
mod error;
#[cfg(feature = "cases")]
mod sparse;
#[cfg(test)]
mod tests;
mod walk;

use ndarray::{ArrayViewD, Axis, IxDyn, ShapeBuilder};

pub use builder::TensorBuilder;
#[cfg(feature = "cases")]
pub(crate) use elements::StorageId;
pub use elements::{ByteString, Element, Elements, Stored};
pub use error::TensorError;
#[cfg(feature = "cases")]
pub use sparse::Sparse;

pub(crate) use elements::integer;

use crate::shape::{MAX_BYTES, nonzero_bytes};
use crate::{DType, Shape};

/// A multi-dimensional array of one dtype, in any strided layout. Cloning shares the elements.
///
/// Invariants: the storage fits the dtype; every element is within the storage; the product of the non-zero dims and the
/// element size is at most 2^63 - 1 bytes. Equality is on dtype, shape and bits, regardless of the layout.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Shape,
    strides: Vec<isize>,
    offset: usize,
    elements: Elements,
}

impl Tensor {
    /// A row-major tensor with these elements.
    ///
    /// # Errors
    /// [`TensorError`] if their number or width does not fit the shape or dtype.
    ///
    /// ```
    /// # use gather_spec::{DType, Element, Tensor};
    /// let tensor = Tensor::new(DType::F32, [2, 1], vec![1f32.to_bits(), 2f32.to_bits()])?;
    /// assert_eq!(tensor.element(&[1, 0]), Element::Bits(0x4000_0000));
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    pub fn new<T: Stored>(
        dtype: DType,
        shape: impl Into<Vec<usize>>,
        elements: Vec<T>,
    ) -> Result<Self, TensorError> {
        let shape = Shape::new(shape)?;
        if elements.len() != shape.element_count() {
            return Err(TensorError::Count { expected: shape.element_count(), found: elements.len(), shape });
        }
        let strides = shape.row_major_strides();
        Self::strided(dtype, shape, strides, 0, T::store(elements))
    }

    /// A view of stored elements: element `p` is at `offset + sum(p[i] * strides[i])`. Strides count elements, and may be
    /// negative or zero.
    ///
    /// # Errors
    /// [`TensorError`] if an element would be outside the storage, or the width or size does not fit.
    ///
    /// ```
    /// # use gather_spec::{DType, Shape, Tensor, tensor::Stored};
    /// let stored = u8::store(vec![1, 2, 3]);
    /// let reversed = Tensor::strided(DType::U8, Shape::new([3])?, vec![-1], 2, stored)?;
    /// assert_eq!(reversed, Tensor::new(DType::U8, [3], vec![3u8, 2, 1])?);
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    pub fn strided(
        dtype: DType,
        shape: Shape,
        strides: Vec<isize>,
        offset: usize,
        elements: Elements,
    ) -> Result<Self, TensorError> {
        if !elements.holds(dtype) {
            return Err(TensorError::Width(dtype));
        }
        let bytes = nonzero_bytes(&shape, dtype);
        if bytes > MAX_BYTES {
            return Err(TensorError::TooLarge { dtype, shape, bytes });
        }
        if !layout_fits(&shape, &strides, offset, elements.len()) {
            return Err(TensorError::Layout { strides, offset, len: elements.len() });
        }
        Ok(Self { dtype, shape, strides, offset, elements })
    }

    /// The element type.
    #[must_use]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The dims.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The distance between neighbours along each axis, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The element at a multi-index.
    ///
    /// # Panics
    /// If `position` is not a multi-index of this shape.
    #[must_use]
    #[track_caller]
    pub fn element(&self, position: &[usize]) -> Element {
        self.element_of(&[position])
    }

    /// The element at the multi-index that the parts form together.
    ///
    /// # Panics
    /// If they do not form a multi-index of this shape.
    ///
    /// ```
    /// # use gather_spec::{DType, Element, Tensor};
    /// let tensor = Tensor::new(DType::U8, [2, 2], vec![1u8, 2, 3, 4])?;
    /// let (row, column) = ([1], [0]);
    /// assert_eq!(tensor.element_of(&[&row, &column]), Element::Bits(3));
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn element_of(&self, parts: &[&[usize]]) -> Element {
        let mut axes = self.shape.iter().zip(&self.strides);
        let (mut place, mut inside) = (self.offset, true);
        for part in parts {
            for at in *part {
                match axes.next() {
                    Some((dim, stride)) if at < dim => {
                        place = place.wrapping_add_signed(at.cast_signed() * stride);
                    }
                    _ => inside = false,
                }
            }
        }
        assert!(
            inside && axes.len() == 0,
            "position {:?} is outside the shape {}",
            parts.concat(),
            self.shape
        );
        self.elements.get(place).expect("the layout was checked when the tensor was made")
    }

    /// The integer at a multi-index; `None` if the dtype is not an integer.
    ///
    /// # Panics
    /// If `position` is not a multi-index of this shape.
    #[must_use]
    #[track_caller]
    pub fn integer(&self, position: &[usize]) -> Option<i128> {
        self.integer_of(&[position])
    }

    /// The integer at the multi-index that the parts form together; see [`Tensor::element_of`].
    ///
    /// # Panics
    /// As [`Tensor::element_of`].
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn integer_of(&self, parts: &[&[usize]]) -> Option<i128> {
        match self.element_of(parts) {
            Element::Bits(bits) if self.dtype.is_integer() => Some(integer(self.dtype, bits)),
            _ => None,
        }
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> impl Iterator<Item = Element> + '_ {
        self.shape.positions().map(|position| self.element(&position))
    }

    /// The elements as an `ndarray` view of their storage type; `None` if `T` has another width.
    ///
    /// ```
    /// # use gather_spec::{DType, Tensor};
    /// let tensor = Tensor::new(DType::I16, [2, 2], vec![1u16, 2, 3, 4])?;
    /// assert_eq!(tensor.view::<u16>().unwrap()[[1, 0]], 3);
    /// assert!(tensor.view::<u32>().is_none());
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    #[must_use]
    pub fn view<T: Stored>(&self) -> Option<ArrayViewD<'_, T>> {
        // Most tensors are row-major, and ndarray takes long to validate other strides.
        if let Some(elements) = self.row_major::<T>() {
            return ArrayViewD::from_shape(IxDyn(&self.shape), elements).ok();
        }
        let elements = T::slice(&self.elements)?;
        if self.shape.element_count() == 0 {
            return ArrayViewD::from_shape(IxDyn(&self.shape), &[]).ok();
        }
        // ndarray has no constructor for negative strides, only for inverting axes. So start at the lowest address.
        let reach = self.strides.iter().zip(&*self.shape);
        let below: usize = reach.filter(|(s, _)| **s < 0).map(|(s, dim)| s.unsigned_abs() * (dim - 1)).sum();
        let strides: Vec<usize> = self.strides.iter().map(|stride| stride.unsigned_abs()).collect();
        let shape = IxDyn(&self.shape).strides(IxDyn(&strides));
        let mut view = ArrayViewD::from_shape(shape, elements.get(self.offset - below..)?).ok()?;
        for (axis, stride) in self.strides.iter().enumerate() {
            if *stride < 0 {
                view.invert_axis(Axis(axis));
            }
        }
        Some(view)
    }

    /// The same elements, stored row-major without gaps.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    pub fn to_row_major(&self) -> Result<Self, TensorError> {
        match &self.elements {
            Elements::B1(_) => self.copied::<u8>(),
            Elements::B2(_) => self.copied::<u16>(),
            Elements::B4(_) => self.copied::<u32>(),
            Elements::B8(_) => self.copied::<u64>(),
            Elements::B16(_) => self.copied::<u128>(),
            Elements::Strings(_) => self.copied::<ByteString>(),
        }
    }

    /// The elements in row-major order along a single axis. Shares the storage if they lie in that order at equal distances.
    ///
    /// # Errors
    /// [`TensorError::OutOfMemory`].
    ///
    /// ```
    /// # use gather_spec::{DType, Tensor};
    /// let matrix = Tensor::new(DType::U8, [2, 2], vec![1u8, 2, 3, 4])?;
    /// assert_eq!(matrix.flattened()?, Tensor::new(DType::U8, [4], vec![1u8, 2, 3, 4])?);
    /// # Ok::<(), gather_spec::TensorError>(())
    /// ```
    pub fn flattened(&self) -> Result<Self, TensorError> {
        let shape = Shape::new([self.shape.element_count()])?;
        let (whole, stride) = match self.even_stride() {
            Some(stride) => (self.clone(), stride),
            None => (self.to_row_major()?, 1),
        };
        Self::strided(whole.dtype, shape, vec![stride], whole.offset, whole.elements)
    }

    /// The distance from each element to the next in row-major order, if it is the same for all. Without two elements, 1.
    fn even_stride(&self) -> Option<isize> {
        let steps = self.shape.iter().zip(&self.strides).filter(|(dim, _)| **dim != 1);
        // The stride, and the distance that the next outer dim must have.
        let mut even: Option<(isize, isize)> = None;
        for (dim, stride) in steps.rev() {
            let (stride_of_all, due) = even.unwrap_or((*stride, *stride));
            if *stride != due {
                return None;
            }
            even = Some((stride_of_all, due.checked_mul(dim.cast_signed())?));
        }
        Some(even.map_or(1, |(stride, _)| stride))
    }

    /// The storage.
    #[must_use]
    pub const fn stored(&self) -> &Elements {
        &self.elements
    }

    /// The number of stored elements. With strides of 0, this is less than the shape's.
    #[cfg(feature = "cases")]
    pub(crate) fn stored_count(&self) -> usize {
        self.elements.len()
    }

    /// The position of the first element in the storage.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Identifies the storage among those that are alive.
    #[cfg(feature = "cases")]
    pub(crate) fn storage_id(&self) -> StorageId {
        self.elements.id()
    }

    /// Identifies the elements among those of tensors that are alive: tensors of one identity are equal, since they are the
    /// same view of one storage. Equal tensors may have different identities.
    #[cfg(feature = "cases")]
    #[must_use]
    pub fn identity(&self) -> Identity<'_> {
        let Self { dtype, shape, strides, offset, elements } = self;
        Identity { dtype: *dtype, shape, strides, offset: *offset, storage: elements.id() }
    }

    /// Another view of the same storage.
    #[cfg(feature = "cases")]
    pub(crate) fn window(
        self,
        shape: Shape,
        strides: Vec<isize>,
        offset: usize,
    ) -> Result<Self, TensorError> {
        Self::strided(self.dtype, shape, strides, offset, self.elements)
    }
}

/// See [`Tensor::identity`].
#[cfg(feature = "cases")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity<'a> {
    dtype: DType,
    shape: &'a Shape,
    strides: &'a [isize],
    offset: usize,
    storage: StorageId,
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype
            && self.shape == other.shape
            && match &self.elements {
                Elements::B1(_) => self.equals::<u8>(other),
                Elements::B2(_) => self.equals::<u16>(other),
                Elements::B4(_) => self.equals::<u32>(other),
                Elements::B8(_) => self.equals::<u64>(other),
                Elements::B16(_) => self.equals::<u128>(other),
                Elements::Strings(_) => self.equals::<ByteString>(other),
            }
    }
}

impl Eq for Tensor {}

/// Whether every element of the layout is within `len` stored elements.
fn layout_fits(shape: &Shape, strides: &[isize], offset: usize, len: usize) -> bool {
    if strides.len() != shape.rank() {
        return false;
    }
    if shape.element_count() == 0 {
        return true;
    }
    let (mut low, mut high) = (offset as i128, offset as i128);
    for (dim, stride) in shape.iter().zip(strides) {
        let reach = (*dim as i128 - 1) * *stride as i128;
        if reach < 0 { low += reach } else { high += reach }
    }
    low >= 0 && high < len as i128
}
