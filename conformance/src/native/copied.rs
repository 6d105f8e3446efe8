//! Memory of operands on systems without `guarded`: copies, compared after the call.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;

/// The elements of an operand. The type `u128` aligns them.
#[derive(Debug)]
pub(super) struct Guarded {
    given: Vec<u128>,
    original: Vec<u128>,
    length: usize,
}

impl Guarded {
    pub(super) fn copy(_: &str, bytes: &[u8], _: usize) -> io::Result<Self> {
        let mut given = vec![0; bytes.len().div_ceil(size_of::<u128>())];
        bytemuck::cast_slice_mut(&mut given)[..bytes.len()].copy_from_slice(bytes);
        Ok(Self { original: given.clone(), given, length: bytes.len() })
    }

    pub(super) fn map(name: &str, mut file: &File, offset: u64, length: usize) -> io::Result<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length)?;
        file.seek(SeekFrom::Start(offset))?;
        file.take(length as u64).read_to_end(&mut bytes)?;
        Self::copy(name, &bytes, 1)
    }

    pub(super) fn start(&self) -> *const u8 {
        self.given.as_ptr().cast()
    }

    /// The addresses of the elements.
    pub(super) fn addresses(&self) -> Range<usize> {
        self.start().addr()..self.start().addr() + self.length
    }

    /// Whether the library wrote to it.
    pub(super) fn was_written(&self) -> bool {
        self.given != self.original
    }
}

/// Nothing is watched here.
pub(super) fn watch() {}
