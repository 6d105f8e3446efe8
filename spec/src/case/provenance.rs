//! Who worked out an expectation.

use serde::Serialize;

/// The tool that computed an expectation that was not derived by hand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Provenance {
    /// The tool's name.
    pub computed_by: String,
    /// Its version.
    pub version: String,
    /// The seed that the call was drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}
