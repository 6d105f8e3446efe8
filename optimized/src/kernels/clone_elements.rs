//! Elements that are cloned rather than moved, such as strings: in the order of the output, on one thread.

use super::check::{BadIndexFound, Block, Indices};
use super::cursor::Cursor;
use super::strided::Strided;
use crate::geometry::Geometry;
use crate::index::Index;
use crate::policy::Bad;
use crate::shapes::{Execution, Shapes};

/// Hands every element of the output to `give`, a bad row's as `None`.
///
/// # Panics
/// If params or the output are empty, or the operands do not have these shapes.
///
/// # Errors
/// [`BadIndexFound`] if a bad index is an error; elements may have been given before.
pub(crate) fn clone_elements<A, I: Index>(
    shapes: Shapes<'_>,
    params: Strided<'_, A>,
    indices: Strided<'_, I>,
    mut give: impl FnMut(Option<&A>),
) -> Result<(), BadIndexFound> {
    assert!(!params.is_empty() && !shapes.is_empty() && shapes.fit(params.shape(), indices.shape()));
    let mut geometry = Geometry::room();
    geometry.set(shapes, params.strides(), indices.strides(), size_of::<A>());
    let Execution { policies, level, .. } = shapes.execution;
    let shared = Indices { first: indices.first(), geometry: &geometry, policies, level };
    let fills = policies.bad == Bad::Fill;
    let mut cursor = Cursor::new(&geometry, 0);
    let mut block = Block::new();
    let mut left = geometry.row_count;
    while left > 0 {
        // SAFETY: the geometry is that of these operands, and the cursor has `left` rows left.
        let checked = unsafe { block.check(shared, &mut cursor, left)? };
        let mut bad = checked.bad_rows().peekable();
        for (row, offset) in checked.offsets().iter().enumerate() {
            let fill = fills && bad.next_if_eq(&row).is_some();
            // SAFETY: a checked offset is the start of a row within params.
            let start = unsafe { params.first().byte_offset(*offset) };
            for at in 0..geometry.row_bytes / size_of::<A>() {
                // SAFETY: a row is that many elements without gaps, all initialised since they are params'.
                give((!fill).then(|| unsafe { &*start.add(at) }));
            }
        }
        left -= checked.offsets().len();
    }
    Ok(())
}
