//! Who reads the cases of a file, and by which names.

use std::sync::Arc;

use crate::signature::Signature;
use crate::specification::Specification;

use super::families::ClauseMap;
use super::reader::Reader;

/// The naming of a file.
#[derive(Clone, Copy)]
pub(super) enum Names<'a> {
    /// Names of the operator's page.
    Page,
    /// Roles. With the name of the family, and the operator's clause map.
    Family(&'a str, &'a ClauseMap),
}

/// Reads cases for one operator.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) spec: &'a Specification,
    pub(super) page: &'a Signature,
    /// The same, for the cases to keep.
    pub(super) signature: &'a Arc<Signature>,
    pub(super) in_spec: bool,
    pub(super) names: Names<'a>,
}
