//! Who reads the cases of a file, and by which names.

use crate::signature::Signature;

use super::families::ClauseMap;
use super::reader::Reader;
use super::template::Names;

/// Reads cases for one operator.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) page: &'a Signature,
    pub(super) names: Names,
    /// The operator's clauses for those of its family.
    pub(super) map: &'a ClauseMap,
}
