//! Tensors in raw files. The file name comes from a client, so the kind and the size of the file are checked before it is
//! read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use gather_spec::tensor::Sparse;
use gather_spec::{DType, Shape, Tensor, TensorBuilder};

use crate::files::open_regular;

use super::unusable::Unusable;

/// Bytes per read: a whole number of elements of every dtype, and few enough to stay in a cache.
const BLOCK: usize = 256 << 10;

/// A tensor of more bytes is probably zero except in a few places, so reading it sparsely is tried first.
const LARGE: usize = 256 << 20;

/// The most blocks that are not all zero in a sparse tensor.
const MOST_PAINTED: usize = 64;

/// Opens a file that has the elements of a tensor from byte `offset` on, and says how many bytes they take.
///
/// # Errors
/// What is wrong with the dtype, the offset or the file.
pub(super) fn open(dtype: DType, shape: &Shape, name: &str, offset: u64) -> Result<(File, usize), Unusable> {
    if dtype == DType::String {
        return Err(Unusable::Invalid("strings do not lie in a file".to_owned()));
    }
    if !offset.is_multiple_of(dtype.size() as u64) {
        let wrong = format!("the offset {offset} is no multiple of the {} bytes of a {dtype}", dtype.size());
        return Err(Unusable::Invalid(wrong));
    }
    let wrong = |error: io::Error| Unusable::Invalid(format!("{name}: {error}"));
    let file = open_regular(Path::new(name)).map_err(wrong)?;
    let size = shape.element_count() as u128 * dtype.size() as u128;
    let available = file.metadata().map_err(wrong)?.len();
    if u128::from(offset) + size > available.into() {
        let wrong = format!("{name} has {available} bytes, but {size} from offset {offset} are asked for");
        return Err(Unusable::Invalid(wrong));
    }
    // The size is bounded by that of a file, which fits an i64.
    let size = usize::try_from(size)
        .map_err(|_| Unusable::Unsupported(format!("{size} bytes are too many for this machine")))?;
    Ok((file, size))
}

/// Reads the tensor whose elements start at byte `offset` of a file.
///
/// # Errors
/// What is wrong with the dtype, the offset or the file.
pub(super) fn read(dtype: DType, shape: Shape, name: &str, offset: u64) -> Result<Tensor, Unusable> {
    let (mut file, size) = open(dtype, &shape, name, offset)?;
    let wrong = |error: io::Error| Unusable::Invalid(format!("{name}: {error}"));
    file.seek(SeekFrom::Start(offset)).map_err(wrong)?;
    if size > LARGE
        && let Some(tensor) = sparse(dtype, &shape, &mut file, offset, size).map_err(wrong)?
    {
        return Ok(tensor.tensor()?);
    }
    file.seek(SeekFrom::Start(offset)).map_err(wrong)?;
    let mut tensor = TensorBuilder::new(dtype, shape)?;
    let mut block = vec![0; BLOCK.min(size)];
    let mut left = size;
    while left > 0 {
        let block = &mut block[..BLOCK.min(left)];
        // Fails if the file has become shorter.
        file.read_exact(block).map_err(wrong)?;
        tensor.extend_from_le_bytes(block);
        left -= block.len();
    }
    Ok(tensor.finish()?)
}

/// Reads `size` bytes from `offset` on as a sparse tensor, if few of its blocks are not all zero. Skips the holes of the
/// file, which may be far larger than any disk.
fn sparse(
    dtype: DType,
    shape: &Shape,
    file: &mut File,
    offset: u64,
    size: usize,
) -> io::Result<Option<Sparse>> {
    let Ok(mut tensor) = Sparse::new(dtype, shape.clone()) else { return Ok(None) };
    let (mut block, mut painted, mut next) = (vec![0; BLOCK], 0, 0);
    while let Some(at) = data_from(file, offset, next)?.filter(|at| *at < size) {
        let block = &mut block[..BLOCK.min(size - at)];
        file.seek(SeekFrom::Start(offset + at as u64))?;
        file.read_exact(block)?;
        next = at + block.len();
        if block.iter().all(|byte| *byte == 0) {
            continue;
        }
        painted += 1;
        if painted > MOST_PAINTED {
            return Ok(None);
        }
        tensor.paint_le_bytes(at / dtype.size(), block);
    }
    Ok(Some(tensor))
}

/// The first block, from the one at `next` on, with bytes that are not in a hole of the file; `None` if there is none.
/// Positions count from `offset`.
#[cfg(target_os = "linux")]
fn data_from(file: &File, offset: u64, next: usize) -> io::Result<Option<usize>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;
    let from = offset + next as u64;
    match seek(file, SeekFrom::Data(from)) {
        // Within the block that is to be read next, or in a later one.
        Ok(data) => {
            let ahead = usize::try_from(data.saturating_sub(from)).unwrap_or(usize::MAX);
            Ok(next.checked_add(ahead / BLOCK * BLOCK))
        }
        Err(Errno::NXIO) => Ok(None),
        // A file system that does not tell.
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(Some(next)),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn data_from(_: &File, _: u64, next: usize) -> io::Result<Option<usize>> {
    Ok(Some(next))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tensor(dtype: DType, dims: &[usize], file: &Path, offset: u64) -> Result<Tensor, Unusable> {
        read(dtype, Shape::new(dims).unwrap(), file.to_str().unwrap(), offset)
    }

    #[test]
    fn elements_of_every_width_are_read_across_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elements");
        let bytes: Vec<u8> = (0..=250).cycle().take(3 * BLOCK + 16).collect();
        fs::write(&path, &bytes).unwrap();
        for dtype in [DType::Bool, DType::I16, DType::F32, DType::U64, DType::C128] {
            for blocks in [1, 2, 3] {
                let count = blocks * BLOCK / dtype.size();
                let end = 16 + blocks * BLOCK;
                let read = tensor(dtype, &[count], &path, 16).unwrap();
                assert_eq!(read.to_le_bytes().unwrap(), bytes[16..end], "{dtype}, {blocks} blocks");
                let more = tensor(dtype, &[count - 1, 1], &path, 16).unwrap();
                assert_eq!(more.to_le_bytes().unwrap(), bytes[16..end - dtype.size()], "{dtype}, {blocks}");
            }
        }
    }

    #[test]
    fn a_file_must_hold_all_elements_and_exist_even_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three");
        fs::write(&path, [9, 5, 6]).unwrap();
        assert!(tensor(DType::U8, &[2], &path, 1).is_ok());
        let wrong = |dtype, dims: &[usize], path: &Path, offset| match tensor(dtype, dims, path, offset) {
            Err(Unusable::Invalid(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(wrong(DType::U8, &[2], &path, 2).contains("has 3 bytes, but 2 from offset 2"));
        assert!(wrong(DType::U8, &[0], &path, 4).contains("has 3 bytes, but 0 from offset 4"));
        assert!(wrong(DType::U8, &[2], &path, u64::MAX).contains("has 3 bytes"));
        assert!(wrong(DType::U8, &[usize::MAX >> 1], &path, 0).contains("has 3 bytes"));
        assert!(wrong(DType::I16, &[1], &path, 1).contains("no multiple of the 2 bytes"));
        assert!(wrong(DType::String, &[0], &path, 0).contains("strings do not lie in a file"));
        assert!(wrong(DType::U8, &[0], &folder.path().join("none"), 0).contains("No such file"));
    }

    #[test]
    fn a_large_file_of_zeros_takes_memory_where_something_is_painted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zeros");
        let mut file = File::create(&path).unwrap();
        file.set_len(64 + (1 << 30)).unwrap();
        for (at, value) in [(0, 7u32), ((1 << 28) - 1, 9)] {
            file.seek(SeekFrom::Start(64 + 4 * at)).unwrap();
            io::Write::write_all(&mut file, &value.to_le_bytes()).unwrap();
        }
        let read = tensor(DType::U32, &[1 << 28], &path, 64).unwrap();
        let found = [0, 1, (1 << 28) - 2, (1 << 28) - 1].map(|at| read.integer(&[at]).unwrap());
        assert_eq!(found, [7, 0, 0, 9]);
    }

    /// A terabyte of holes takes minutes to read.
    #[cfg(target_os = "linux")]
    #[test]
    fn holes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("holes");
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let size = 1 << 40;
        let shape = Shape::new([size / 4]).unwrap();
        let runs = |file: &mut File| {
            let sparse = sparse(DType::U32, &shape, file, 64, size).unwrap().unwrap();
            sparse.le_runs().map(|(at, run)| (at, run.iter().position(|byte| *byte != 0))).collect::<Vec<_>>()
        };
        file.set_len(64 + size as u64).unwrap();
        let start = std::time::Instant::now();
        assert_eq!(runs(&mut file), []);
        // In the first block, in one in the middle that does not begin with data, and at the end.
        let middle = size / 2 + BLOCK - 4;
        for at in [8, middle, size - 4] {
            file.seek(SeekFrom::Start(64 + at as u64)).unwrap();
            io::Write::write_all(&mut file, &[7]).unwrap();
        }
        let last = (size - BLOCK, Some(BLOCK - 4));
        assert_eq!(runs(&mut file), [(0, Some(8)), (size / 2, Some(BLOCK - 4)), last]);
        assert!(start.elapsed().as_secs() < 20, "holes are read");
    }

    #[cfg(unix)]
    /// Within an order of magnitude: one element at a time took 40 times as long.
    #[test]
    fn elements_are_read_about_as_fast_as_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes");
        fs::write(&path, vec![7; 32 << 20]).unwrap();
        let fastest = |work: &dyn Fn()| {
            let time = |_| {
                let start = std::time::Instant::now();
                work();
                start.elapsed()
            };
            (0..5).map(time).min().unwrap()
        };
        let bytes = fastest(&|| assert_eq!(fs::read(&path).unwrap().len(), 32 << 20));
        for (dtype, count) in [(DType::U8, 32 << 20), (DType::F32, 8 << 20), (DType::C128, 2 << 20)] {
            let elements = fastest(&|| drop(tensor(dtype, &[count], &path, 0).unwrap()));
            assert!(elements < bytes * 12, "{dtype}: {elements:?}, bytes: {bytes:?}");
        }
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_never_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, link, socket] = ["pipe", "link", "socket"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in [
            (folder.path(), "a directory"),
            (&pipe, "a named pipe"),
            (&link, "a named pipe"),
            (&socket, "a socket"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            for dims in [[0], [3]] {
                let Err(Unusable::Invalid(why)) = tensor(DType::U8, &dims, path, 0) else { panic!("{kind}") };
                assert_eq!(why, format!("{}: this is {kind}, not a regular file", path.display()));
            }
        }
    }
}
