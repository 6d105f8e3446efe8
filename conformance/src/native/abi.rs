//! The structures of `conformance/include/gatherspec.h`, field by field, with its numeric constants.

use std::ffi::{c_char, c_void};

use gather_spec::{BadIndex, DType, NegativeIndex};

/// The ABI version of this program.
pub(super) const ABI: u32 = 3;

/// `status`: `output` is set.
pub(super) const OUTPUT: u32 = 1;
/// `status`: the call is rejected.
pub(super) const ERROR: u32 = 2;
/// `status`: the library does not support the call.
pub(super) const UNSUPPORTED: u32 = 3;

/// `kind`: `integer` is 0 or 1.
pub(super) const BOOLEAN: u32 = 1;
/// `kind`: `integer` is set.
pub(super) const INTEGER: u32 = 2;
/// `kind`: `number` is set.
pub(super) const FLOAT: u32 = 3;
/// `kind`: `text` is set.
pub(super) const TEXT: u32 = 4;
/// `kind`: `integers` is set.
pub(super) const INTEGERS: u32 = 5;
pub(super) const ELEMENT: u32 = 6;

/// The dtype with this number. `DType::ALL` has the order of the header, which counts from 1.
pub(super) fn dtype(number: u32) -> Option<DType> {
    usize::try_from(number).ok()?.checked_sub(1).and_then(|at| DType::ALL.get(at).copied())
}

/// The number of a dtype.
pub(super) fn dtype_number(dtype: DType) -> u32 {
    (1u32..).zip(DType::ALL).find(|(_, one)| *one == dtype).map_or(0, |(number, _)| number)
}

/// The alignment of elements that the header promises.
pub(super) const fn alignment(dtype: DType) -> usize {
    match dtype {
        DType::C64 => align_of::<f32>(),
        DType::I64 | DType::U64 | DType::F64 | DType::C128 => align_of::<u64>(),
        DType::String => align_of::<Text>(),
        _ => dtype.size(),
    }
}

/// The policy with this number.
pub(super) const fn bad_index(number: u32) -> Option<BadIndex> {
    Some(match number {
        1 => BadIndex::Error,
        2 => BadIndex::Zero,
        3 => BadIndex::Clamp,
        4 => BadIndex::Unspecified,
        _ => return None,
    })
}

/// The policy with this number.
pub(super) const fn negative_index(number: u32) -> Option<NegativeIndex> {
    Some(match number {
        1 => NegativeIndex::Reject,
        2 => NegativeIndex::Wrap,
        _ => return None,
    })
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Text {
    pub(super) data: *const u8,
    pub(super) length: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tensor {
    pub(super) dtype: u32,
    pub(super) rank: u32,
    pub(super) shape: *const i64,
    pub(super) data: *const c_void,
    pub(super) strides: *const i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) name: *const c_char,
    pub(super) tensor: Tensor,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Attribute {
    pub(super) name: *const c_char,
    pub(super) kind: u32,
    pub(super) integer: i64,
    pub(super) number: f64,
    pub(super) text: *const c_char,
    pub(super) integers: *const i64,
    pub(super) integer_count: u64,
    pub(super) element: *const Tensor,
}

#[repr(C)]
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) struct_size: u64,
    pub(super) operator: *const c_char,
    pub(super) operands: *const Operand,
    pub(super) operand_count: u64,
    pub(super) attributes: *const Attribute,
    pub(super) attribute_count: u64,
    pub(super) variant: *const c_char,
}

#[repr(C)]
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u32,
    pub(super) output: Tensor,
    pub(super) code: *const c_char,
    pub(super) message: *const c_char,
    pub(super) owner: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max_rank: u32,
    pub(super) no_scalars: u32,
    pub(super) no_empty: u32,
    pub(super) max_elements: u64,
    pub(super) max_output_bytes: u64,
    pub(super) axes: *const i64,
    pub(super) axis_count: u64,
    pub(super) without_attributes: *const *const c_char,
    pub(super) without_attribute_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct OperatorEntry {
    pub(super) name: *const c_char,
    pub(super) bad: u32,
    pub(super) negative: u32,
    pub(super) dtypes: *const u32,
    pub(super) dtype_count: u64,
    pub(super) index_dtypes: *const u32,
    pub(super) index_dtype_count: u64,
    pub(super) limits: *const Limits,
    pub(super) more_dtypes: *const u32,
    pub(super) more_dtype_count: u64,
    pub(super) more_index_dtypes: *const u32,
    pub(super) more_index_dtype_count: u64,
    pub(super) variants: *const *const c_char,
    pub(super) variant_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    pub(super) name: *const c_char,
    pub(super) version: *const c_char,
    pub(super) language: *const c_char,
    pub(super) operators: *const OperatorEntry,
    pub(super) operator_count: u64,
}

impl Attribute {
    /// A null attribute with this name.
    pub(super) const fn blank(name: *const c_char) -> Self {
        Self {
            name,
            kind: 0,
            integer: 0,
            number: 0.0,
            text: std::ptr::null(),
            integers: std::ptr::null(),
            integer_count: 0,
            element: std::ptr::null(),
        }
    }
}

impl Reply {
    /// An empty reply for the library to fill in.
    pub(super) const fn blank() -> Self {
        let output = Tensor {
            dtype: 0,
            rank: 0,
            shape: std::ptr::null(),
            data: std::ptr::null(),
            strides: std::ptr::null(),
        };
        Self {
            status: 0,
            output,
            code: std::ptr::null(),
            message: std::ptr::null(),
            owner: std::ptr::null_mut(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header is the contract: its numbers are these.
    #[test]
    fn the_header_has_the_same_numbers() {
        let header = include_str!("../../include/gatherspec.h");
        let number = |name: &str| -> u32 {
            let words = |line: &'static str| line.split_whitespace().skip_while(|word| *word == "#define");
            let line = header.lines().find(|line| words(line).next() == Some(name));
            let mut words = words(line.unwrap_or_else(|| panic!("no {name}")));
            words.find_map(|word| word.trim_end_matches(',').parse().ok()).unwrap()
        };
        for one in DType::ALL {
            let name = format!("GATHERSPEC_{}", one.name().to_uppercase());
            assert_eq!(number(&name), dtype_number(one), "{name}");
            assert_eq!(dtype(dtype_number(one)), Some(one));
        }
        assert_eq!((dtype(0), dtype(17)), (None, None));
        for policy in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Unspecified] {
            let name = format!("GATHERSPEC_BAD_INDEX_{}", policy.to_string().to_uppercase());
            assert_eq!(bad_index(number(&name)), Some(policy), "{name}");
        }
        for policy in NegativeIndex::ALL {
            let name = format!("GATHERSPEC_NEGATIVE_INDEX_{}", policy.to_string().to_uppercase());
            assert_eq!(negative_index(number(&name)), Some(policy), "{name}");
        }
        assert_eq!(number("GATHERSPEC_ABI"), ABI);
        assert_eq!(
            number("GATHERSPEC_MAX_RANK"),
            u32::try_from(gather_conformance::protocol::MAX_RANK).unwrap()
        );
        let statuses = ["OUTPUT", "ERROR", "UNSUPPORTED"].map(|name| number(&format!("GATHERSPEC_{name}")));
        assert_eq!(statuses, [OUTPUT, ERROR, UNSUPPORTED]);
        let kinds = ["NULL", "BOOLEAN", "INTEGER", "FLOAT", "TEXT", "INTEGERS", "ELEMENT"];
        let kinds = kinds.map(|name| number(&format!("GATHERSPEC_{name}")));
        assert_eq!(kinds, [0, BOOLEAN, INTEGER, FLOAT, TEXT, INTEGERS, ELEMENT]);
    }
}
