//! A dtype as a case writes it.

use crate::DType;

/// The dtype of an operand as written.
#[derive(Clone, Debug)]
pub(super) enum WrittenDtype {
    /// A name, given in the tensor or under `for-each`.
    Named(DType),
    /// `any`, restricted to the dtypes that the operator's pages list. Not empty.
    Any(Vec<DType>),
}

impl WrittenDtype {
    /// The dtypes that the case leaves open.
    pub(super) fn open(&self) -> Vec<DType> {
        match self {
            Self::Named(_) => Vec::new(),
            Self::Any(dtypes) => dtypes.clone(),
        }
    }

    /// The same, with the dtypes of this width preferred.
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

    /// The dtype to load the case in.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Named(dtype) => *dtype,
            Self::Any(dtypes) => dtypes[0],
        }
    }
}

/// The dtypes of both operands. For a family case, only those that the operator lists.
#[derive(Clone, Debug, Default)]
pub(super) struct OperandDtypes {
    pub(super) params: Vec<WrittenDtype>,
    pub(super) indices: Vec<WrittenDtype>,
}
