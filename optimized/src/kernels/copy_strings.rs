//! The bytes of strings that lie in one buffer, copied one behind the other.

use std::mem::{MaybeUninit, take};
use std::ops::Range;
use std::ptr::copy_nonoverlapping;
use std::sync::{Mutex, PoisonError};

use super::job::Written;
use super::workers;
use crate::levels::bodies::prefetch_lines;
use crate::offset::Offset;

/// Strings to be copied.
#[derive(Clone, Copy)]
pub(crate) struct Copies<'a, O> {
    /// Where each begins in `bytes`; a negative one is `fill` instead.
    pub starts: &'a [O],
    /// Where each begins in the output, and where the last ends.
    pub offsets: &'a [O],
    pub bytes: &'a [u8],
    pub fill: &'a [u8],
}

/// Parts per worker: enough that a thread which was held up leaves its share to the others.
const PARTS_PER_WORKER: usize = 4;

/// Strings between a request for one and its copy.
const AHEAD: usize = 16;

/// Strings up to this length are copied in moves of [`MOVE`] bytes, some of which write past the end of the
/// string: the bytes that follow are written later.
const SHORT: usize = 64;
const MOVE: usize = 16;

/// Copies all strings to an output of their total length, on this many threads.
///
/// # Panics
/// If a string does not lie within the bytes, or the output is shorter than the offsets say.
pub(crate) fn copy<'o, O: Offset>(
    strings: Copies<'_, O>,
    output: &'o mut [MaybeUninit<u8>],
    workers: usize,
) -> Written<'o> {
    let len = output.len();
    let mut parts = strings.parts(output, workers);
    assert!(parts.iter().map(|(_, output)| output.len()).sum::<usize>() == len, "offsets fill the output");
    if workers <= 1 {
        parts.into_iter().for_each(|(strings_of_part, output)| strings.copy_part(strings_of_part, output));
        return Written::all();
    }
    parts.reverse();
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).pop();
    workers::share(workers, &|| {
        while let Some((strings_of_part, output)) = next() {
            strings.copy_part(strings_of_part, output);
        }
    });
    Written::all()
}

impl<O: Offset> Copies<'_, O> {
    /// Equal numbers of strings, each with its part of the output.
    fn parts(
        self,
        mut output: &mut [MaybeUninit<u8>],
        workers: usize,
    ) -> Vec<(Range<usize>, &mut [MaybeUninit<u8>])> {
        let count = self.starts.len();
        let each = count.div_ceil(workers.max(1) * PARTS_PER_WORKER).max(1);
        let mut parts = Vec::new();
        for from in (0..count).step_by(each) {
            let to = count.min(from + each);
            let bytes = self.offsets[to].to_usize() - self.offsets[from].to_usize();
            let (part, rest) = take(&mut output).split_at_mut(bytes);
            output = rest;
            parts.push((from..to, part));
        }
        parts
    }

    /// Writes every byte of the output, which is that of these strings.
    fn copy_part(self, strings: Range<usize>, mut output: &mut [MaybeUninit<u8>]) {
        let Self { starts, offsets, bytes, fill } = self;
        for at in strings {
            if let Some(later) = starts.get(at + AHEAD) {
                prefetch_lines(bytes.as_ptr().wrapping_add(later.to_usize()), 0, 64);
            }
            let len = offsets[at + 1].to_usize() - offsets[at].to_usize();
            let start = starts[at].to_usize();
            match bytes.get(start..).and_then(|bytes| bytes.first_chunk()) {
                Some(from) if len <= SHORT && output.len() >= SHORT => copy_short(from, output, len),
                _ => {
                    let from = if starts[at] < O::default() { fill } else { &bytes[start..] };
                    copy_long(&from[..len], &mut output[..len]);
                }
            }
            output = take(&mut output).split_at_mut(len).1;
        }
    }
}

/// Copies `len` bytes, and some more.
///
/// # Panics
/// If the output is shorter than [`SHORT`].
#[inline(always)]
fn copy_short(from: &[u8; SHORT], output: &mut [MaybeUninit<u8>], len: usize) {
    assert!(output.len() >= SHORT && len <= SHORT);
    let mut at = 0;
    while at < len {
        // SAFETY: `at` is a multiple of MOVE below SHORT, which is one too, so the move ends within both.
        unsafe {
            copy_nonoverlapping(from.as_ptr().add(at), output.as_mut_ptr().cast::<u8>().add(at), MOVE);
        }
        at += MOVE;
    }
}

/// Copies bytes to an output that is as long.
#[inline(always)]
fn copy_long(from: &[u8], output: &mut [MaybeUninit<u8>]) {
    assert!(from.len() == output.len());
    // SAFETY: both have this many bytes, and access to the output is exclusive.
    unsafe { copy_nonoverlapping(from.as_ptr(), output.as_mut_ptr().cast(), from.len()) };
}
