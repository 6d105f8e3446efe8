//! Who reads the cases of a file, and by which names.

use crate::signature::Signature;
use crate::specification::Specification;

use super::families::ClauseMap;
use super::reader::Reader;

/// The names that a file uses.
#[derive(Clone, Copy)]
pub(super) enum Names<'a> {
    /// Those of the operator's page.
    Page,
    /// Those of a family: its name, and what the operator takes of it.
    Family(&'a str, &'a ClauseMap),
}

/// Reads the cases of a file as those of one operator.
#[derive(Clone, Copy)]
pub(super) struct CaseReader<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) spec: &'a Specification,
    pub(super) page: &'a Signature,
    pub(super) in_spec: bool,
    pub(super) names: Names<'a>,
}
