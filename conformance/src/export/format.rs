//! The formats, and whose cases they take.

use gather_spec::Operator;
use serde::Serialize;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Folders of a model and its tensors, as the node tests of ONNX: the cases of onnx.*, and the equivalent calls of other
    /// operators
    Onnx,
    /// Modules with `check.expect_eq_const`: the cases of stablehlo.*
    Stablehlo,
    /// The JSON form of WebNN's web platform tests: the cases of webnn.*
    Wpt,
    /// All cases with all that they allow, one JSON object in a line
    Json,
}

impl Format {
    /// How the names of its own operators begin; that of JSON is each operator.
    pub(crate) const fn own(self) -> &'static str {
        match self {
            Self::Onnx => "onnx.",
            Self::Stablehlo => "stablehlo.",
            Self::Wpt => "webnn.",
            Self::Json => "",
        }
    }

    /// Whether an operator is one of its own.
    pub(crate) fn is_own(self, operator: &Operator) -> bool {
        operator.as_str().starts_with(self.own())
    }

    /// Whether cases of an operator can be tests.
    pub(crate) fn takes(self, operator: &Operator) -> bool {
        self == Self::Onnx || self.is_own(operator)
    }
}
