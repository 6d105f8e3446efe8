//! The versions of file forms.

use crate::diagnostic::Diagnostic;
use crate::yaml::{Spanned, Text};

/// The version of the file formats that this program reads.
pub const SCHEMA: u32 = 1;

/// That a file is of the version that is known.
pub(super) fn check_schema(text: Text<'_>, schema: &Spanned<u32>, known: u32) -> Result<(), Diagnostic> {
    if schema.value == known {
        return Ok(());
    }
    Err(text
        .wrong(schema.defined, format!("schema {} is not known to this program", schema.value))
        .help(format!("write `schema: {known}`, or use a newer gatherspec")))
}
