#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use super::*;

#[test]
fn of_rows_without_elements_none_is_walked() {
    let shape = Shape::new([1 << 40, 0]).unwrap();
    let turned = Tensor::strided(DType::U8, shape, vec![-1, 7], 0, u8::store(vec![])).unwrap();
    assert_eq!(turned.to_row_major().unwrap().shape()[..], [1 << 40, 0]);
    assert_eq!(turned.flattened().unwrap(), Tensor::new(DType::U8, [0], Vec::<u8>::new()).unwrap());
}

#[test]
fn a_strided_tensor_is_flattened_in_row_major_order() {
    let columns = Tensor::strided(
        DType::U8,
        Shape::new([2, 3]).unwrap(),
        vec![1, 2],
        0,
        u8::store(vec![1, 4, 2, 5, 3, 6]),
    );
    let line = Tensor::new(DType::U8, [6], vec![1u8, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(columns.unwrap().flattened().unwrap(), line);
}

#[test]
fn elements_at_equal_distances_are_flattened_without_a_copy() {
    let flat = |dims: &[usize], strides: &[isize], offset| {
        let shape = Shape::new(dims).unwrap();
        let stored = u8::store(vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let flat = Tensor::strided(DType::U8, shape, strides.to_vec(), offset, stored).unwrap();
        let flat = flat.flattened().unwrap();
        (flat.strides().to_vec(), flat.offset())
    };
    assert_eq!(flat(&[1 << 40, 3], &[0, 0], 4), (vec![0], 4));
    assert_eq!(flat(&[2, 1, 3], &[6, 5, 2], 1), (vec![2], 1));
    assert_eq!(flat(&[2, 3], &[-3, -1], 11), (vec![-1], 11));
    assert_eq!(flat(&[1], &[7], 3), (vec![1], 3));
    // Each row again is not one line.
    assert_eq!(flat(&[2, 3], &[0, 1], 0), (vec![1], 0));
    assert_eq!(flat(&[2, 3], &[4, 1], 0), (vec![1], 0));
}

#[test]
fn equality_is_on_elements_whatever_the_layout() {
    let dims = || Shape::new([2, 2]).unwrap();
    let strided = |strides, offset, stored: Vec<u8>| {
        Tensor::strided(DType::U8, dims(), strides, offset, u8::store(stored)).unwrap()
    };
    let tensor = Tensor::new(DType::U8, [2, 2], vec![1u8, 2, 3, 4]).unwrap();
    assert_eq!(tensor, strided(vec![2, 1], 1, vec![9, 1, 2, 3, 4, 9]));
    assert_eq!(tensor, strided(vec![3, 1], 0, vec![1, 2, 9, 3, 4]));
    assert_eq!(tensor, strided(vec![-2, 1], 2, vec![3, 4, 1, 2]));
    assert_ne!(tensor, strided(vec![2, 1], 0, vec![1, 2, 3, 4].into_iter().rev().collect()));
    let empty = |strides| {
        let dims = Shape::new([2, 0]).unwrap();
        Tensor::strided(DType::U8, dims, strides, 7, u8::store(vec![])).unwrap()
    };
    assert_eq!(empty(vec![0, 1]), empty(vec![5, 5]));
}
