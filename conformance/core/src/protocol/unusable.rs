//! Why a message that keeps the schema has no call.

use gather_spec::TensorError;

/// Why a message that conforms to the schema has no usable call or tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It breaks a rule that the schema cannot express.
    #[error("{0}")]
    Invalid(String),
    /// It asks for something that this program or this machine does not support.
    #[error("{0}")]
    Unsupported(String),
}

impl Unusable {
    /// The same, of the operand of this name.
    #[must_use]
    pub fn in_operand(self, name: &str) -> Self {
        match self {
            Self::Invalid(why) => Self::Invalid(format!("{name}: {why}")),
            Self::Unsupported(why) => Self::Unsupported(format!("{name}: {why}")),
        }
    }
}

impl From<TensorError> for Unusable {
    fn from(error: TensorError) -> Self {
        match error {
            TensorError::OutOfMemory { .. } => Self::Unsupported(error.to_string()),
            _ => Self::Invalid(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::DType;

    use super::*;

    #[test]
    fn a_lack_of_memory_is_no_fault_of_the_message() {
        let short = Unusable::from(TensorError::OutOfMemory { bytes: 1 << 40 }).in_operand("params");
        let why = "params: 1099511627776 bytes for a tensor could not be reserved".to_owned();
        assert_eq!(short, Unusable::Unsupported(why));
        let strings = Unusable::from(TensorError::Width(DType::String));
        assert!(matches!(strings, Unusable::Invalid(_)), "{strings:?}");
    }
}
