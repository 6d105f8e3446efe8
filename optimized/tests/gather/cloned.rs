//! Elements that are cloned, such as strings, into new arrays and into the caller's.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};

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
    let len = ((64 << 10) / size_of::<[String; 16]>()) | 1;
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

/// An element that counts how many of its kind live, and that may not be cloned once there are so many.
#[derive(Default)]
struct Counted {
    count: Arc<AtomicIsize>,
    most: isize,
    name: usize,
}

impl Counted {
    fn new(count: &Arc<AtomicIsize>, most: isize, name: usize) -> Self {
        let counted = Self { count: Arc::clone(count), most, name };
        assert!(count.fetch_add(1, Ordering::SeqCst) < most, "no more of them");
        counted
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(&self.count, self.most, self.name)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

fn exactly(threads: usize) -> Options {
    Options::new().exactly_threads(NonZeroUsize::new(threads).expect("positive"))
}

/// Elements that are overwritten, and those given before a bad index was found, are dropped once each.
#[test]
fn nothing_leaks_and_nothing_is_dropped_twice() {
    for (threads, bad_at) in [(1, 1999), (1, 0), (2, 1999), (2, 0), (5, 1000)] {
        let count = Arc::new(AtomicIsize::new(0));
        let live = || count.load(Ordering::SeqCst);
        let params = Array1::from_shape_fn(3, |at| Counted::new(&count, isize::MAX, at));
        let plan = Plan::gather(&[3], &[2000], &exactly(threads)).expect("a plan");
        let mut indices = Array1::from_shape_fn(2000, |at| at as u64 % 3);
        let mut output = Array1::from_shape_fn(2000, |_| Counted::new(&count, isize::MAX, 9));
        assert!(plan.run_cloned_into(&params, &indices, &mut output).is_ok());
        assert!(output.iter().zip(&indices).all(|(element, index)| element.name as u64 == *index));
        assert_eq!(live(), 2003);
        let fresh = plan.run_cloned(&params, &indices).expect("good indices");
        assert!(fresh.iter().zip(&indices).all(|(element, index)| element.name as u64 == *index));
        assert_eq!(live(), 4003);
        drop(fresh);
        indices[bad_at] = 3;
        assert!(plan.run_cloned_into(&params, &indices, &mut output).is_err());
        assert!(plan.run_cloned(&params, &indices).is_err());
        assert_eq!(live(), 2003, "{threads} threads");
        drop((params, output));
        assert_eq!(live(), 0, "{threads} threads");
    }
}

/// The panic of a clone, on whichever thread, is the caller's, and what was cloned before is dropped.
#[test]
fn a_clone_that_panics_leaves_nothing_behind() {
    for threads in [1, 2, 5] {
        for most in [3, 4, 500, 2001] {
            let count = Arc::new(AtomicIsize::new(0));
            let params = Array1::from_shape_fn(3, |at| Counted::new(&count, most, at));
            let indices = Array1::from_shape_fn(2000, |at| at as u64 % 3);
            let plan = Plan::gather(&[3], &[2000], &exactly(threads)).expect("a plan");
            let run = || plan.run_cloned(&params, &indices).map(drop);
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("too many clones");
            assert_eq!(panic.downcast_ref(), Some(&"no more of them"));
            assert_eq!(count.load(Ordering::SeqCst) - 3, 0, "{threads} threads, {most}");
            let mut output = Array1::from_shape_fn(2000, |_| Counted::default());
            let run = || plan.run_cloned_into(&params, &indices, &mut output);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            drop(output);
            assert_eq!(count.load(Ordering::SeqCst) - 3, 0, "{threads} threads, {most}");
        }
    }
}

/// Lengths around blocks, parts and what is asked for ahead; rows of one and of many strings; and fills.
#[test]
fn threads_clone_what_one_loop_clones() {
    for columns in [1, 3, 40] {
        let params = Array2::from_shape_fn((50, columns), |(row, column)| format!("{row} and {column}"));
        for len in [1usize, 2, 15, 16, 17, 33, 1023, 1024, 1025, 3000] {
            let indices =
                Array1::from_shape_fn(len, |at| i64::try_from(at * 7919 % 60).unwrap_or_default() - 5);
            for threads in [1, 2, 5] {
                let options = exactly(threads).fill("none".to_owned());
                let plan = Plan::gather(&[50, columns], &[len], &options).expect("a plan");
                let fresh = plan.run_cloned(&params, &indices).expect("fills");
                let mut into = Array2::from_elem((len, columns), "some longer text".to_owned());
                plan.run_cloned_into(&params, &indices, &mut into).expect("fills");
                assert_eq!(fresh, into.clone().into_dyn());
                for ((at, column), name) in into.indexed_iter() {
                    let row = usize::try_from(indices[at]).ok().filter(|row| *row < 50);
                    assert_eq!(name, row.map_or("none", |row| params[[row, column]].as_str()));
                }
            }
        }
    }
}
