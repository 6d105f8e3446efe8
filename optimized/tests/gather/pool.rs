//! The recycling pool: what it keeps, hands out again and gives back.

use gather_optimized::{Options, Plan, Pool, Pooled};
use gather_spec::DimensionNumbers;
use ndarray::{Array1, array};

/// `len` elements of `u64`, all 7, in memory of the pool.
fn sevens(pool: &Pool, len: usize) -> Pooled<u64> {
    let plan = Plan::gather(&[1], &[len], &Options::new()).expect("a plan");
    plan.run_pooled(&array![7u64], &Array1::<i32>::zeros(len), pool).expect("good indices")
}

#[test]
fn memory_is_handed_out_again() {
    let pool = Pool::new(1 << 20);
    let first = sevens(&pool, 1000);
    let place = first.view().as_ptr();
    assert_eq!(pool.kept_bytes(), 0, "memory in use is not free");
    drop(first);
    let kept = pool.kept_bytes();
    assert!((8000..16_000).contains(&kept), "{kept} bytes");
    let second = sevens(&pool.clone(), 900);
    assert_eq!((second.view().as_ptr(), pool.kept_bytes()), (place, 0), "clones share the memory");
    assert_eq!(second.view().shape(), [900]);
    assert!(second.view().iter().all(|element| *element == 7));
}

/// What the documented functions give, from a pool: read as an array, and changed by a view.
#[test]
fn the_functions_give_arrays_in_memory_of_the_pool() {
    let pool = Pool::new(1 << 20);
    let (params, options) = (array![[1, 2], [3, 4], [5, 6]], Options::new());
    for _ in 0..2 {
        let mut rows = pool.gather(&params, &array![2, 0], &options).unwrap();
        assert_eq!(*rows, array![[5, 6], [1, 2]].into_dyn());
        rows.view_mut()[[0, 1]] = 7;
        assert_eq!(
            (rows.sum(), format!("{rows:?}")),
            (15, format!("{:?}", array![[5, 7], [1, 2]].into_dyn()))
        );
        assert_eq!(*pool.gather_nd(&params, &array![[1, 1]], &options).unwrap(), array![4].into_dyn());
        let along = pool.take_along_axis(&params, &array![[1], [0], [1]], &Options::new().axis(1)).unwrap();
        assert_eq!(*along, array![[2], [3], [6]].into_dyn());
        let numbers = DimensionNumbers {
            offset_dims: vec![1, 2],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..DimensionNumbers::default()
        };
        let windows = pool.gather_windows(&params, &array![1], &numbers, &[2, 1], &options).unwrap();
        assert_eq!(*windows, array![[[3], [5]]].into_dyn());
        assert!(pool.gather(&params, &array![3], &options).is_err());
    }
    assert!(pool.kept_bytes() > 0);
}

#[test]
fn every_output_begins_on_a_line_and_a_large_one_on_a_huge_page() {
    let pool = Pool::new(1 << 30);
    for (len, start) in [(1, 64), (33, 64), (1000, 64), (70_000, 64), (1 << 20, 2 << 20)] {
        assert!(sevens(&pool, len).as_ptr().addr().is_multiple_of(start), "{len} elements");
    }
}

/// A block for one element less is as large, since it has whole lines, but it begins on any of them.
#[test]
fn a_block_of_enough_bytes_that_begins_on_no_huge_page_is_not_for_a_large_output() {
    let pool = Pool::new(1 << 30);
    let large = (4 << 20) / size_of::<u64>();
    drop(sevens(&pool, large - 1));
    assert_eq!(pool.kept_bytes(), 4 << 20);
    assert!(sevens(&pool, large).as_ptr().addr().is_multiple_of(2 << 20));
}

#[test]
fn two_outputs_never_share_memory() {
    let pool = Pool::new(1 << 20);
    drop((sevens(&pool, 1000), sevens(&pool, 1000)));
    let (mut first, second) = (sevens(&pool, 1000), sevens(&pool, 1000));
    first.view_mut().fill(1);
    assert!(second.view().iter().all(|element| *element == 7));
}

#[test]
fn a_block_is_not_wasted_on_a_small_output() {
    let pool = Pool::new(1 << 20);
    drop(sevens(&pool, 1000));
    let kept = pool.kept_bytes();
    let small = sevens(&pool, 400);
    assert_eq!(pool.kept_bytes(), kept, "less than half of the block would be used");
    drop(small);
    assert!(pool.kept_bytes() > kept);
    // The smallest block that fits is taken.
    let again = sevens(&pool, 300);
    assert_eq!(pool.kept_bytes(), kept);
    drop(again);
}

#[test]
fn a_block_that_fills_the_pool_is_kept_and_one_for_which_a_byte_lacks_is_not() {
    let roomy = Pool::new(1 << 20);
    drop(sevens(&roomy, 1000));
    let block = roomy.kept_bytes();
    for (most, kept) in [(block, block), (block - 1, 0)] {
        let pool = Pool::new(most);
        drop(sevens(&pool, 1000));
        assert_eq!(pool.kept_bytes(), kept, "at most {most} bytes");
    }
}

#[test]
fn small_outputs_take_whole_lines_and_large_ones_whole_huge_pages() {
    let (line, huge_page) = (64, 2 << 20);
    let sizes = [
        (8, line),
        (line, line),
        (line + 8, 2 * line),
        (2 * huge_page - 8, 2 * huge_page),
        (2 * huge_page - 2 * line, 2 * huge_page - 2 * line),
        (2 * huge_page, 2 * huge_page),
        (2 * huge_page + 8, 3 * huge_page),
    ];
    for (bytes, kept) in sizes {
        let pool = Pool::new(1 << 30);
        drop(sevens(&pool, bytes / size_of::<u64>()));
        assert_eq!(pool.kept_bytes(), kept, "{bytes} bytes");
    }
}

#[test]
fn a_block_too_small_by_a_line_stays_where_it_is() {
    let pool = Pool::new(1 << 20);
    drop(sevens(&pool, 1000));
    let kept = pool.kept_bytes();
    let larger = sevens(&pool, kept / size_of::<u64>() + 8);
    assert_eq!(pool.kept_bytes(), kept, "the output would not have fitted");
    drop(larger);
    assert!(pool.kept_bytes() > 2 * kept);
}

#[test]
fn no_more_is_kept_than_was_allowed() {
    let pool = Pool::new(10_000);
    drop((sevens(&pool, 1000), sevens(&pool, 1000)));
    assert!(pool.kept_bytes() <= 10_000 && pool.kept_bytes() >= 8000);
    pool.clear();
    assert_eq!(pool.kept_bytes(), 0);
    let none = Pool::new(0);
    drop(sevens(&none, 10));
    assert_eq!(none.kept_bytes(), 0);
}

/// Blocks are shared by element types, so alignment must be that of the strictest; outputs outlive their pool.
#[test]
fn other_types_empty_outputs_and_pools_that_are_gone() {
    let pool = Pool::new(1 << 20);
    let bytes = Plan::gather(&[2], &[64], &Options::new()).expect("a plan");
    drop(bytes.run_pooled(&array![1u8, 2], &Array1::<i64>::zeros(64), &pool).expect("good indices"));
    let wide = Plan::gather(&[2], &[4], &Options::new()).expect("a plan");
    let wide = wide.run_pooled(&array![1u128, 2], &array![1, 0, 1, 1], &pool).expect("good indices");
    assert!(wide.view().as_ptr().is_aligned());
    assert_eq!(sevens(&pool, 0).view().len(), 0);
    drop(pool);
    assert_eq!(wide.view(), array![2u128, 1, 2, 2].into_dyn());
}

/// A refused call gives its memory back, and what it wrote is never seen.
#[test]
fn a_bad_index_returns_the_block() {
    let pool = Pool::new(1 << 20);
    let plan = Plan::gather(&[2], &[100], &Options::new()).expect("a plan");
    let mut indices = Array1::<i32>::zeros(100);
    indices[99] = 2;
    assert!(plan.run_pooled(&array![1u64, 2], &indices, &pool).is_err());
    assert!(pool.kept_bytes() >= 800);
}

/// Outputs on huge pages come back as the same block; threads may drop them.
#[test]
fn large_outputs_from_several_threads() {
    let pool = Pool::new(64 << 20);
    let len = (5 << 20) / size_of::<u64>();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let output = sevens(&pool, len);
                    assert_eq!(output.view().as_ptr().addr() % (2 << 20), 0);
                    assert!(output.view().iter().all(|element| *element == 7));
                }
            });
        }
    });
    assert!(pool.kept_bytes() >= 5 << 20);
}
