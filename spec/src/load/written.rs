//! A dtype as a case writes it.

use crate::DType;

/// The dtype of an operand as it is written.
#[derive(Clone)]
pub(super) enum Written {
    /// A name, in the tensor or in `for-each`.
    Named(DType),
    /// `any`: those of its dtypes that the operator's pages list, at least one.
    Any(Vec<DType>),
}

impl Written {
    /// What a case says of its open dtypes.
    pub(super) fn open(&self) -> Vec<DType> {
        match self {
            Self::Named(_) => Vec::new(),
            Self::Any(dtypes) => dtypes.clone(),
        }
    }

    /// The same, with the dtypes of `any` that have so many bytes before the others.
    pub(super) fn first_of(&self, bytes: Option<usize>) -> Self {
        match (self, bytes) {
            (Self::Any(dtypes), Some(bytes)) => {
                let mut dtypes = dtypes.clone();
                dtypes.sort_by_key(|dtype| dtype.size() != bytes);
                Self::Any(dtypes)
            }
            _ => self.clone(),
        }
    }

    /// The dtype that the case is loaded with.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Named(dtype) => *dtype,
            Self::Any(dtypes) => dtypes[0],
        }
    }
}
