//! Who reads the cases of a file, and by which names.

use crate::signature::Signature;

use super::families::ClauseMap;
use super::reader::TensorReader;

/// Reads cases for one operator.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) reader: TensorReader<'a>,
    pub(super) page: &'a Signature,
    pub(super) names: NamingScheme,
    /// The operator's clauses for those of its family.
    pub(super) map: &'a ClauseMap,
}

/// The naming of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NamingScheme {
    /// Names of the operator's page.
    Page,
    /// Roles, and clauses of the family.
    Family,
}
