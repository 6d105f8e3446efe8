//! Large outputs ask for huge pages under the whole ones that they hold, and for nothing outside them.

#![cfg(target_os = "linux")]

use gather_optimized::{Options, Plan};
use ndarray::Array1;

const HUGE_PAGE: usize = 2 << 20;

/// How many outputs are looked at.
const TRIES: usize = 10;

/// Whether the mapping that holds this address has asked for huge pages; `None` where the system does not say.
fn asks(address: usize) -> Option<bool> {
    let mappings = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let mut inside = false;
    for line in mappings.lines() {
        let (first, rest) = line.split_once([' ', ':'])?;
        if let Some((start, end)) = first.split_once('-') {
            let bound = |text| usize::from_str_radix(text, 16).ok();
            inside = (bound(start)?..bound(end)?).contains(&address);
        } else if inside && first == "VmFlags" {
            return Some(rest.split_whitespace().any(|flag| flag == "hg"));
        }
    }
    None
}

#[test]
fn whole_huge_pages_of_large_outputs_are_asked_for_and_nothing_else() {
    let params = Array1::from_elem(1, 7u8);
    let with_huge_pages = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
    if !with_huge_pages || asks(params.as_ptr().addr()).is_none() {
        eprintln!("skipped: this system has no huge pages, or does not say where they were asked for");
        return;
    }
    let gather = |len: usize| {
        let plan = Plan::gather(&[1], &[len], &Options::new()).expect("a plan");
        // A view of stride 0, so that nothing but the output is large.
        let zero = Array1::<i32>::zeros(1);
        plan.run(&params, &zero.broadcast(len).expect("as many zeros")).expect("good indices")
    };
    // Memory of another test that has asked may lie right beside an output, and be one mapping with it.
    let mut outputs = Vec::new();
    for _ in 0..TRIES {
        // The length of five huge pages and a line: starting inside one, it holds four.
        let large = gather(5 * HUGE_PAGE + 64);
        let start = large.as_ptr().addr();
        let (first, end) = (start.next_multiple_of(HUGE_PAGE), start + large.len());
        let last = end / HUGE_PAGE * HUGE_PAGE;
        assert!(start < first && first < last && last < end, "memory has a header of its own");
        assert_eq!([first, last - 1].map(asks), [Some(true); 2], "the whole huge pages");
        if [start, end - 1].map(asks) == [Some(false); 2] {
            return;
        }
        outputs.push(large);
    }
    panic!("what is left at either end has asked for huge pages, too, in each of {TRIES} outputs");
}
