//! Elements that are cloned, such as strings, into new arrays and into the caller's.

use std::cell::Cell;
use std::rc::Rc;

use gather_optimized::{Options, Plan};
use gather_spec::{BadIndex, ErrorCode, Refusal};
use ndarray::{Array1, Array2, array, s};

fn names() -> Array2<String> {
    Array2::from_shape_fn((3, 2), |(row, column)| format!("{row}/{column}"))
}

#[test]
fn both_ways_agree_over_layouts() {
    let (plain, options) = (names(), Options::new().axis(1));
    let transposed = plain.t();
    let reversed = plain.slice(s![..;-1, ..;-1]);
    for params in [plain.view(), transposed, reversed] {
        let plan = Plan::gather(params.shape(), &[3], &options).expect("a plan");
        let indices = array![1u8, 0, 1];
        let fresh = plan.run_cloned(&params, &indices).expect("good indices");
        let mut into = Array2::from_elem((params.nrows(), 3), "old".to_owned());
        plan.run_cloned_into(&params, &indices, &mut into).expect("good indices");
        assert_eq!(fresh, into.clone().into_dyn());
        for ((row, at), name) in into.indexed_iter() {
            assert_eq!(name, &params[[row, usize::from(indices[at])]]);
        }
    }
}

#[test]
fn an_output_that_does_not_fit_is_left_alone() {
    let plan = Plan::gather(&[3, 2], &[2], &Options::new()).expect("a plan");
    let mut other = Array2::from_elem((2, 3), "old".to_owned());
    let refused = |refusal| matches!(refusal, Err(Refusal::Unsupported(_)));
    assert!(refused(plan.run_cloned_into(&names(), &array![0, 1], &mut other)));
    assert!(other.iter().all(|name| name == "old"));
}

/// Rows that are long enough to be cut, of elements that half of a row is no multiple of.
#[test]
fn long_rows_of_large_elements_are_cloned_whole() {
    let element = |at: usize| std::array::from_fn::<String, 16, _>(|part| format!("{at}/{part}"));
    let len = (64 << 10) / size_of::<[String; 16]>() | 1;
    let params = Array2::from_shape_fn((2, len), |(row, column)| element(row * len + column));
    let plan = Plan::gather(&[2, len], &[1], &Options::new()).expect("a plan");
    let output = plan.run_cloned(&params, &array![1]).expect("good indices");
    assert_eq!(output, params.slice(s![1.., ..]).into_dyn());
}

#[test]
fn bad_indices_follow_the_policy() {
    let run = |policy| {
        let plan = Plan::gather_nd(&[3, 2], &[2, 2], &Options::new().bad_index(policy)).expect("a plan");
        let mut output = Array1::from_elem(2, "old".to_owned());
        plan.run_cloned_into(&names(), &array![[2, 1], [1, 9]], &mut output).map(|()| output.to_vec())
    };
    let Err(Refusal::Error(error)) = run(BadIndex::Error) else { panic!("a bad index is an error") };
    assert_eq!(error.code(), ErrorCode::IndexOutOfRange);
    assert_eq!(run(BadIndex::Zero), Ok(vec!["2/1".to_owned(), String::new()]));
    assert_eq!(run(BadIndex::Clamp), Ok(vec!["2/1".to_owned(), "1/1".to_owned()]));
}

/// One element each, whole rows, and one column for all; a bad index is one element, or each that reads it.
#[test]
fn elements_along_an_axis_are_cloned() {
    let options = Options::new().axis(0);
    let along = |indices: &Array2<i64>, bad| {
        let plan =
            Plan::take_along_axis(&[3, 2], &[2, indices.ncols()], &options.bad_index(bad)).expect("a plan");
        plan.run_cloned(&names(), indices).map(|output| output.into_raw_vec_and_offset().0.join(" "))
    };
    assert_eq!(along(&array![[2, 0], [1, 2]], BadIndex::Error), Ok("2/0 0/1 1/0 2/1".to_owned()));
    assert_eq!(along(&array![[2], [0]], BadIndex::Error), Ok("2/0 2/1 0/0 0/1".to_owned()));
    assert_eq!(along(&array![[3, 0], [1, -1]], BadIndex::Zero), Ok(" 0/1 1/0 ".to_owned()));
    assert_eq!(along(&array![[3], [0]], BadIndex::Clamp), Ok("2/0 2/1 0/0 0/1".to_owned()));
    assert_eq!(along(&array![[1], [3]], BadIndex::Zero), Ok("1/0 1/1  ".to_owned()));
    let Err(Refusal::Error(error)) = along(&array![[1, 0], [3, 0]], BadIndex::Error) else {
        panic!("a bad index is an error")
    };
    assert_eq!(error.fields().position, Some(vec![1, 0]));
}

/// Nothing is taken from params: no index asks, or there is nothing to take.
#[test]
fn empty_outputs_and_empty_params_are_answered_without_an_element() {
    let none = Plan::gather(&[3, 2], &[0], &Options::new()).expect("a plan");
    let output = none.run_cloned(&names(), &Array1::<i32>::zeros(0)).expect("no index is bad");
    assert_eq!(output.shape(), [0, 2]);
    let zeros = Plan::gather(&[0], &[2], &Options::new().bad_index(BadIndex::Zero)).expect("a plan");
    let output = zeros.run_cloned(&Array1::<String>::default(0), &array![0, 5]).expect("zeros");
    assert_eq!(output, array![String::new(), String::new()].into_dyn());
}

/// An element that counts how many of its kind live.
#[derive(Default)]
struct Counted(Rc<Cell<isize>>);

impl Counted {
    fn new(count: &Rc<Cell<isize>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Elements that are overwritten, and those given before a bad index was found, are dropped once each.
#[test]
fn nothing_leaks_and_nothing_is_dropped_twice() {
    let count = Rc::new(Cell::new(0));
    let params = Array1::from_shape_fn(3, |_| Counted::new(&count));
    let plan = Plan::gather(&[3], &[2000], &Options::new()).expect("a plan");
    let mut indices = Array1::from_shape_fn(2000, |at| at as u64 % 3);
    let mut output = Array1::from_shape_fn(2000, |_| Counted::new(&count));
    assert!(plan.run_cloned_into(&params, &indices, &mut output).is_ok());
    assert_eq!(count.get(), 2003);
    indices[1999] = 3;
    assert!(plan.run_cloned_into(&params, &indices, &mut output).is_err());
    assert!(plan.run_cloned(&params, &indices).is_err());
    assert_eq!(count.get(), 2003);
    drop((params, output));
    assert_eq!(count.get(), 0);
}
