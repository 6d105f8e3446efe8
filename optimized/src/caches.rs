//! The size of the last cache before memory, and what follows from it: from which size on an output is written past it, and which
//! lines are asked for ahead.
//!
//! A store past the caches saves reading the line that it overwrites, and what the output would push out of the caches. But an
//! output that the caches would have held then has to come back from memory. So the size that pays depends on the last cache.

use std::path::Path;
use std::sync::OnceLock;

/// What the decisions were measured with first, and the size where the system does not say one.
const USUAL: usize = 32 << 20;

/// Smaller outputs are not written past the caches, regardless of the size of the caches.
const LEAST: usize = 8 << 20;

/// Whether an output of long rows is worth writing past the caches.
///
/// Rows of 8 KiB: with a last cache of 32 MiB, outputs of that size take 0.7 to 0.8 of the time of plain copies. With one of
/// 300 MiB that other programs fill, too, they take 0.5 to 0.7, and 0.8 to 0.9 if the output is read afterwards.
#[inline]
pub(crate) fn outgrown_by_rows(output_bytes: usize) -> bool {
    output_bytes >= LEAST && output_bytes >= least_for_rows(last_level())
}

/// Whether an output of single elements is.
#[inline]
pub(crate) fn outgrown_by_elements(output_bytes: usize) -> bool {
    output_bytes >= LEAST && output_bytes >= least_for_elements(last_level())
}

/// Whether the elements of an axis, from its start to its end, leave the last cache before an axis as long is read again.
///
/// Elements picked from 16 MiB in either order take the same time with a last cache of 32 MiB; from 24 MB on, the one that reads
/// each line once takes 0.5 to 0.8 of it.
#[inline]
pub(crate) fn outgrown_by_axis(bytes: usize) -> bool {
    bytes > last_level().min(USUAL) / 2
}

/// Whether the last cache is one that many cores share.
///
/// With such a one, of 300 MiB, rows of whole lines that begin within a line take up to a tenth less time if the line that they
/// end in is not asked for. With one of 32 MiB, they take less if it is.
#[inline]
pub(crate) fn are_shared_by_many() -> bool {
    last_level() > 2 * USUAL
}

/// All of the last cache, as far as one program has it for itself.
fn least_for_rows(last_level: usize) -> usize {
    last_level.clamp(LEAST, USUAL)
}

/// A quarter of a usual cache, but a sixteenth of one that many cores share.
fn least_for_elements(last_level: usize) -> usize {
    (last_level.min(USUAL) / 4).max(last_level / 16).max(LEAST)
}

/// The bytes of the last cache, looked up once.
fn last_level() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| read(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or(USUAL))
}

/// The size of the highest level that holds data, from the files that Linux has for each cache of a processor.
fn read(folder: &Path) -> Option<usize> {
    let caches = std::fs::read_dir(folder).ok()?.filter_map(|cache| {
        let cache = cache.ok()?.path();
        let text = |name| std::fs::read_to_string(cache.join(name)).ok();
        parse(&text("level")?, &text("type")?, &text("size")?)
    });
    caches.max().map(|(_, bytes)| bytes)
}

/// The level and the bytes of a cache that holds data.
fn parse(level: &str, kind: &str, size: &str) -> Option<(u32, usize)> {
    let level = level.trim().parse().ok()?;
    let size = size.trim();
    let (number, unit) = match size.strip_suffix('K') {
        Some(number) => (number, 1 << 10),
        None => size.strip_suffix('M').map_or((size, 1), |number| (number, 1 << 20)),
    };
    let bytes = number.parse::<usize>().ok()?.checked_mul(unit)?;
    (kind.trim() != "Instruction" && bytes > 0).then_some((level, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn caches_are_read_from_text() {
        assert_eq!(parse("3\n", "Unified\n", "32768K\n"), Some((3, 32 * MIB)));
        assert_eq!(parse("2", "Data", "260M"), Some((2, 260 * MIB)));
        assert_eq!(parse("1", "Data", "512"), Some((1, 512)));
        assert_eq!(parse("1", "Instruction", "32K"), None);
        for (level, size) in
            [("", "1K"), ("one", "1K"), ("1", ""), ("1", "K"), ("1", "-1K"), ("1", "0K"), ("1", "1G")]
        {
            assert_eq!(parse(level, "Data", size), None, "{level:?} {size:?}");
        }
        assert_eq!(parse("1", "Data", &format!("{}M", usize::MAX)), None, "more than there are addresses");
    }

    #[test]
    fn the_highest_level_counts_even_if_it_is_not_the_largest() {
        let folder = std::env::temp_dir().join(format!("caches-{}", std::process::id()));
        for (name, [level, kind, size]) in [
            ("index0", ["1", "Data", "32K"]),
            ("index1", ["1", "Instruction", "900M"]),
            ("index2", ["3", "Unified", "2048K"]),
            ("index3", ["2", "Unified", "4096K"]),
        ] {
            let cache = folder.join(name);
            std::fs::create_dir_all(&cache).unwrap();
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                std::fs::write(cache.join(name), text).unwrap();
            }
        }
        assert_eq!(read(&folder), Some(2 * MIB));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(read(&folder), None);
    }

    #[test]
    fn the_least_output_fits_what_was_measured() {
        let sizes = [1, 2 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 300 * MIB, 480 * MIB];
        assert_eq!(sizes.map(|bytes| least_for_rows(bytes) / MIB), [8, 8, 16, 32, 32, 32, 32]);
        assert_eq!(sizes.map(|bytes| least_for_elements(bytes) / MIB), [8, 8, 8, 8, 8, 18, 30]);
        assert!(!outgrown_by_rows(LEAST - 1) && !outgrown_by_elements(LEAST - 1));
        assert!(outgrown_by_rows(usize::MAX) && outgrown_by_elements(usize::MAX));
    }
}
