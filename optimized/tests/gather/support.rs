//! Memory that faults on an access beyond it: mappings of the system with inaccessible pages at both ends.

#![allow(dead_code, reason = "each test uses its part")]

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

/// Which end of the elements touches an inaccessible page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touching {
    Start,
    End,
}

thread_local! {
    /// Small mappings that no elements are in any more, with their sizes: making one takes longer than most calls.
    static USED: RefCell<Vec<(*mut u8, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Elements in a mapping of their own, between inaccessible pages.
pub(crate) struct GuardedElements<T: Copy> {
    mapping: *mut u8,
    mapped: usize,
    start: *mut T,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Copy> GuardedElements<T> {
    /// The elements of `values`, the given end touching the inaccessible page there.
    pub(crate) fn new(values: &[T], touching: Touching) -> Self {
        let bytes = size_of_val(values);
        let inside = bytes.next_multiple_of(PAGE).max(PAGE);
        let mapped = inside + 2 * PAGE;
        let used = USED.with_borrow_mut(|used| {
            used.iter().position(|one| one.1 == mapped).map(|at| used.swap_remove(at).0)
        });
        let mapping = used.unwrap_or_else(|| map(mapped, libc::PROT_NONE));
        let offset = match touching {
            Touching::Start => 0,
            Touching::End => inside - bytes,
        };
        // SAFETY: the range lies within the mapping, which nothing else uses, and is made accessible before it is written; page ends and
        // element sizes keep the start aligned.
        let start = unsafe {
            let inner = mapping.add(PAGE);
            if used.is_none() {
                assert_eq!(libc::mprotect(inner.cast(), inside, libc::PROT_READ | libc::PROT_WRITE), 0);
            }
            let start = inner.add(offset).cast::<T>();
            assert!(start.is_aligned());
            start.copy_from_nonoverlapping(values.as_ptr(), values.len());
            start
        };
        Self { mapping, mapped, start, len: values.len(), elements: PhantomData }
    }
}

impl<T: Copy> Deref for GuardedElements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `new` wrote all elements; the mapping lives as long as this.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl<T: Copy> DerefMut for GuardedElements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl<T: Copy> Drop for GuardedElements<T> {
    fn drop(&mut self) {
        if self.mapped <= 64 * PAGE {
            USED.with_borrow_mut(|used| used.push((self.mapping, self.mapped)));
            return;
        }
        // SAFETY: this is the mapping that `new` made.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

/// Zeros that take memory only where they are touched.
pub(crate) struct SparseMemory {
    mapping: *mut u8,
    bytes: usize,
}

impl SparseMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { mapping: map(bytes, libc::PROT_READ | libc::PROT_WRITE), bytes }
    }
}

impl Deref for SparseMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable, zero where untouched, and lives as long as this.
        unsafe { std::slice::from_raw_parts(self.mapping, self.bytes) }
    }
}

impl DerefMut for SparseMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.mapping, self.bytes) }
    }
}

impl Drop for SparseMemory {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made.
        unsafe { libc::munmap(self.mapping.cast(), self.bytes) };
    }
}

fn map(bytes: usize, protection: i32) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
    let mapping = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    assert_ne!(mapping, libc::MAP_FAILED, "{bytes} bytes of address space");
    mapping.cast()
}
