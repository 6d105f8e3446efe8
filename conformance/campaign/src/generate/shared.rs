//! Elements that many tensors share, because drawing a call must not cost more than answering it.

use std::sync::OnceLock;

use gather_spec::literal::bits_of_count;
use gather_spec::tensor::{Elements, Stored};
use gather_spec::{ByteString, DType};

use super::paint;

/// The number of shared elements: enough for nearly every drawn tensor.
pub(super) const LENGTH: usize = 1 << 14;

/// The kind of elements of a drawn tensor, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// 0, 1, 2…, which are the easiest to read.
    Counted,
    /// Every byte reveals which element it came from.
    Painted,
    /// NaNs with payloads, zeros with a sign, odd bool bytes, strings that are no text.
    Odd,
    /// Strings whose lengths need one, two or three bytes. Elements of other dtypes are painted.
    Long,
}

impl Style {
    const ALL: [Self; 4] = [Self::Counted, Self::Painted, Self::Odd, Self::Long];
    /// The kinds for tensors of a few elements.
    pub(super) const USUAL: [Self; 4] = [Self::Counted, Self::Painted, Self::Odd, Self::Painted];
    /// The kinds for tensors of many elements: their period is not a power of two.
    pub(super) const FAR_APART: [Self; 2] = [Self::Painted, Self::Odd];
}

/// Elements of every dtype in every style, computed on first use.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedElements;

static SHARED: [OnceLock<Elements>; DType::ALL.len() * Style::ALL.len()] =
    [const { OnceLock::new() }; DType::ALL.len() * Style::ALL.len()];

impl SharedElements {
    pub(super) fn get(self, dtype: DType, style: Style) -> Elements {
        let style = if dtype != DType::String && style == Style::Long { Style::Painted } else { style };
        let at = dtype as usize * Style::ALL.len() + style as usize;
        SHARED[at].get_or_init(|| shared(dtype, style)).clone()
    }
}

#[allow(clippy::cast_possible_truncation, reason = "an element's bits lie in the low end of the u128")]
fn shared(dtype: DType, style: Style) -> Elements {
    let bits = || (0..LENGTH).map(move |at| element(dtype, style, at));
    match dtype {
        DType::String => ByteString::store((0..LENGTH).map(|at| string(style, at)).collect()),
        _ => match dtype.size() {
            1 => u8::store(bits().map(|bits| bits as u8).collect()),
            2 => u16::store(bits().map(|bits| bits as u16).collect()),
            4 => u32::store(bits().map(|bits| bits as u32).collect()),
            8 => u64::store(bits().map(|bits| bits as u64).collect()),
            _ => u128::store(bits().collect()),
        },
    }
}

fn element(dtype: DType, style: Style, at: usize) -> u128 {
    // Bool has the shortest period. Counts up to 2^11 are exact in every other two-byte dtype.
    let period = match dtype {
        DType::Bool => 2,
        _ if dtype.size() == 1 => 128,
        DType::BF16 => 256,
        _ => 2048,
    };
    match style {
        Style::Counted => bits_of_count(dtype, at % period).unwrap_or_default(),
        Style::Painted | Style::Long => paint::bits(dtype, at as u128),
        Style::Odd => odd(dtype, at),
    }
}

/// Bit patterns that a conversion to float, bool or another sign would change, between painted elements.
fn odd(dtype: DType, at: usize) -> u128 {
    let width = 8 * u32::try_from(dtype.size()).unwrap_or(1);
    let all = u128::MAX >> (128 - width);
    let sign = 1 << (width - 1);
    match at % 7 {
        0 => sign,
        1 => all,
        2 => all ^ sign ^ 1,
        3 => 0,
        4 => sign | 1,
        _ => paint::bits(dtype, at as u128),
    }
}

fn string(style: Style, at: usize) -> ByteString {
    match (style, at % 6) {
        (Style::Counted, _) => ByteString::from(at.to_string()),
        (Style::Odd, 0) => ByteString::from([0, 0xFF, b'a']),
        (Style::Odd, 1) => ByteString::default(),
        (Style::Odd, 3) => ByteString::from([b'a', 0, 0]),
        (Style::Long, _) => long_string(at),
        (Style::Odd, 2) => ByteString::from(vec![b'x'; 40 + at % 50]),
        _ => ByteString::from(format!("s{at}")),
    }
}

/// Every second string is short. The longest ones occur only at the front, since they are slow.
fn long_string(at: usize) -> ByteString {
    let length = match at % 8 {
        1 => 255,
        3 => 256,
        5 => 257,
        7 if at < 16 => 1 << 16,
        _ => return ByteString::from(format!("s{at}")),
    };
    // First and last bytes differ between strings, and the bytes between them have a period of 251.
    ByteString::from(
        (0..length).map(|byte| u8::try_from((at * 7 + byte) % 251).unwrap_or(0)).collect::<Vec<u8>>(),
    )
}
