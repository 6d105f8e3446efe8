//! The allocator that keeps large memory: what it hands out again, what it gives back, and that bytes in use do not change.

#![cfg(unix)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use gather_optimized::Retaining;

const MIB: usize = 1 << 20;
const HUGE_PAGE: usize = 2 * MIB;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("a layout")
}

/// Memory of an allocator, which gets it back when this is dropped.
struct AllocatedMemory<'a, A: GlobalAlloc>(&'a A, *mut u8, Layout);

impl<'a, A: GlobalAlloc> AllocatedMemory<'a, A> {
    fn new(allocator: &'a A, bytes: usize) -> Self {
        // SAFETY: no layout of these tests has size 0.
        let start = unsafe { allocator.alloc(layout(bytes)) };
        assert!(!start.is_null());
        Self(allocator, start, layout(bytes))
    }

    fn zeroed(allocator: &'a A, bytes: usize) -> Self {
        // SAFETY: no layout of these tests has size 0.
        let start = unsafe { allocator.alloc_zeroed(layout(bytes)) };
        assert!(!start.is_null());
        Self(allocator, start, layout(bytes))
    }

    fn resized(self, bytes: usize) -> Self {
        let (allocator, start, old) = (self.0, self.1, self.2);
        std::mem::forget(self);
        // SAFETY: allocated with this layout.
        let start = unsafe { allocator.realloc(start, old, bytes) };
        assert!(!start.is_null());
        Self(allocator, start, layout(bytes))
    }

    fn fill(&mut self) -> &mut Self {
        (0..self.2.size())
            .step_by(997)
            .for_each(|at| self.write(at, u8::try_from(at % 251).unwrap_or_default()));
        self.write(self.2.size() - 1, 0x5A);
        self
    }

    fn write(&mut self, at: usize, byte: u8) {
        assert!(at < self.2.size());
        // SAFETY: within the memory.
        unsafe { self.1.add(at).write(byte) };
    }

    fn read(&self, at: usize) -> u8 {
        assert!(at < self.2.size());
        // SAFETY: within the memory, and written before by the tests that read.
        unsafe { self.1.add(at).read() }
    }
}

impl<A: GlobalAlloc> Drop for AllocatedMemory<'_, A> {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { self.0.dealloc(self.1, self.2) };
    }
}

/// Counts what reaches the allocator inside.
#[derive(Default)]
struct AllocationCounter(AtomicUsize);

// SAFETY: all memory is the system allocator's.
unsafe impl GlobalAlloc for AllocationCounter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[test]
fn large_memory_is_handed_out_again_and_starts_on_a_huge_page() {
    for bytes in [4 * MIB, 4 * MIB + 1, 6 * MIB, 33 * MIB, 64 * MIB] {
        let kept = Retaining::new(64 * MIB);
        let mut first = AllocatedMemory::new(&kept, bytes);
        let place = first.fill().1;
        assert!(place.addr().is_multiple_of(HUGE_PAGE), "{bytes}");
        assert_eq!(kept.kept_bytes(), 0, "memory in use is not kept");
        drop(first);
        let size = kept.kept_bytes();
        assert!(
            (bytes..=bytes.next_multiple_of(HUGE_PAGE).max(bytes / 8 * 9)).contains(&size),
            "{bytes}: {size}"
        );
        let mut again = AllocatedMemory::new(&kept, bytes);
        assert_eq!((again.fill().1, kept.kept_bytes()), (place, 0), "{bytes}");
    }
}

#[test]
fn two_requests_never_share_memory() {
    let kept = Retaining::new(64 * MIB);
    drop((AllocatedMemory::new(&kept, 8 * MIB), AllocatedMemory::new(&kept, 8 * MIB)));
    assert_eq!(kept.kept_bytes(), 16 * MIB);
    let (mut first, mut second) =
        (AllocatedMemory::new(&kept, 8 * MIB), AllocatedMemory::new(&kept, 8 * MIB));
    first.write(8 * MIB - 1, 1);
    second.write(8 * MIB - 1, 2);
    assert_eq!((first.read(8 * MIB - 1), second.read(8 * MIB - 1)), (1, 2));
}

#[test]
fn beyond_the_limit_the_oldest_goes() {
    let kept = Retaining::new(16 * MIB);
    let (first, second) = (AllocatedMemory::new(&kept, 8 * MIB), AllocatedMemory::new(&kept, 6 * MIB));
    drop(first);
    drop(second);
    assert_eq!(kept.kept_bytes(), 14 * MIB);
    drop(AllocatedMemory::new(&kept, 4 * MIB));
    assert_eq!(kept.kept_bytes(), 10 * MIB, "6 and 4");
    drop(AllocatedMemory::new(&kept, 18 * MIB));
    assert_eq!(kept.kept_bytes(), 10 * MIB, "more than the limit goes back at once");
    let none = Retaining::new(0);
    drop(AllocatedMemory::new(&none, 8 * MIB));
    assert_eq!(none.kept_bytes(), 0);
}

/// An allocator that has memory for a request only if it was asked for it before.
struct Late(AtomicUsize);

// SAFETY: all memory is the system allocator's.
unsafe impl GlobalAlloc for Late {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.0.swap(layout.size(), Ordering::Relaxed) != layout.size() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[test]
fn what_is_kept_goes_back_before_a_request_is_refused() {
    let kept = Retaining::over(Late(AtomicUsize::new(0)), 64 * MIB);
    for request in [64, 640] {
        // SAFETY: the size is not 0.
        assert!(unsafe { kept.alloc(layout(request)) }.is_null(), "nothing is kept that could go back");
        drop(AllocatedMemory::new(&kept, 8 * MIB));
        assert_eq!(kept.kept_bytes(), 8 * MIB);
        drop(AllocatedMemory::new(&kept, request + 1));
        assert_eq!(kept.kept_bytes(), 0);
    }
    drop(AllocatedMemory::new(&kept, 8 * MIB));
    // SAFETY: the size is not 0.
    let huge = unsafe { kept.alloc(layout(1 << 61)) };
    assert!(huge.is_null(), "no system has so much");
    assert_eq!(kept.kept_bytes(), 0);
}

/// More blocks than the list has room for.
#[test]
fn many_blocks_are_kept_as_far_as_they_fit() {
    let kept = Retaining::new(1 << 40);
    let blocks: Vec<_> = (0..40).map(|_| AllocatedMemory::new(&kept, 4 * MIB)).collect();
    drop(blocks);
    assert_eq!(kept.kept_bytes(), 32 * 4 * MIB);
    let again: Vec<_> = (0..32).map(|_| AllocatedMemory::new(&kept, 4 * MIB)).collect();
    let mut places: Vec<_> = again.iter().map(|memory| memory.1).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!((places.len(), kept.kept_bytes()), (32, 0));
}

#[test]
fn small_requests_and_strict_alignments_go_inside() {
    let kept = Retaining::over(AllocationCounter::default(), 64 * MIB);
    let inside = |bytes: usize, align: usize| {
        let layout = Layout::from_size_align(bytes, align).expect("a layout");
        // SAFETY: the size is positive, and the layout the same.
        unsafe {
            let start = kept.alloc(layout);
            assert!(start.addr().is_multiple_of(align));
            kept.dealloc(start, layout);
        }
        kept.kept_bytes() == 0
    };
    assert!(inside(1, 1) && inside(4 * MIB - 1, 8), "below 4 MiB");
    assert!(inside(8 * MIB, 4 * MIB), "aligned to more than a huge page");
    assert!(!inside(4 * MIB, HUGE_PAGE), "aligned to a huge page");
    // SAFETY: the allocation is refused.
    unsafe { assert!(kept.alloc(layout(isize::MAX as usize - 7)).is_null()) };
}

/// Kernels are faster on whole lines, and the system's memory starts 16 bytes into one.
#[test]
fn memory_of_a_page_or_more_starts_on_a_line_and_holds_its_bytes_when_it_is_resized() {
    let kept = Retaining::new(64 * MIB);
    let mut memory = AllocatedMemory::new(&kept, 100);
    memory.fill();
    let held: Vec<u8> = (0..100).step_by(99).map(|at| memory.read(at)).collect();
    for bytes in [4095, 4096, 100_000, 4 * MIB - 1, 4096, 200, 4097, 5 * MIB, 5000] {
        memory = memory.resized(bytes);
        assert!(bytes < 4096 || memory.1.addr().is_multiple_of(64), "{bytes} bytes");
        assert_eq!([memory.read(0), memory.read(99)], held[..], "{bytes} bytes");
    }
    for bytes in [4096, 4100, MIB] {
        let many: Vec<_> = (0..10).map(|_| AllocatedMemory::zeroed(&kept, bytes)).collect();
        assert!(many.iter().all(|one| one.1.addr().is_multiple_of(64)), "{bytes} bytes");
    }
}

#[test]
fn zeroed_memory_is_zeros_whatever_it_held() {
    let kept = Retaining::new(64 * MIB);
    AllocatedMemory::zeroed(&kept, 5 * MIB).fill();
    let mut first = AllocatedMemory::new(&kept, 6 * MIB);
    (0..6 * MIB).step_by(64).for_each(|at| first.write(at, 0xA5));
    let place = first.1;
    drop(first);
    let again = AllocatedMemory::zeroed(&kept, 6 * MIB);
    assert_eq!(again.1, place);
    assert!((0..6 * MIB).step_by(64).all(|at| again.read(at) == 0));
}

#[test]
fn memory_that_is_resized_holds_its_bytes() {
    let kept = Retaining::new(64 * MIB);
    let sizes = [MIB, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 9 * MIB, 34 * MIB, 35 * MIB, 7 * MIB, 2 * MIB, 100];
    let mut memory = AllocatedMemory::new(&kept, 50);
    memory.write(0, 77);
    memory.write(49, 78);
    for bytes in sizes {
        let before = memory.2.size();
        let edge = before.min(bytes) - 1;
        memory.write(edge, 79);
        memory = memory.resized(bytes);
        assert_eq!((memory.read(0), memory.read(edge)), (77, 79), "{before} to {bytes}");
    }
}

#[test]
fn threads_share_what_is_kept() {
    let kept = Retaining::new(64 * MIB);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let kept = &kept;
            scope.spawn(move || {
                for round in 0..200usize {
                    let bytes = (4 + round % 3 * 2) * MIB;
                    let mut memory = AllocatedMemory::new(kept, bytes);
                    [0, bytes / 2, bytes - 1].iter().for_each(|at| memory.write(*at, thread));
                    std::thread::yield_now();
                    assert!([0, bytes / 2, bytes - 1].iter().all(|at| memory.read(*at) == thread));
                }
            });
        }
    });
    assert!(kept.kept_bytes() <= 64 * MIB);
}
