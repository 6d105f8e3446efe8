//! What the right model does with each index of a call. `show` draws it.

use gather_spec::{Call, Element, Profile, Signature};

use super::{CORRECT, ShapeParts, bound_of, multi_index};

/// An index that selects something other than its own value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its position in indices.
    pub position: Vec<usize>,
    /// Its value.
    pub index: i128,
    /// The size of its axis; in form window, how many starts fit.
    pub bound: usize,
    /// The coordinate that it selects; `None` if its slice is filled.
    pub to: Option<i128>,
    /// What the slice of a bad index is filled with.
    pub filler: Element,
}

/// The indices of a call that do not select their own value, in order. The policies are those of the call's mode or, if
/// it has none, of `profile`. The call must have an output.
pub fn moved(signature: &Signature, call: &Call, profile: Profile) -> Vec<Moved> {
    let model = &CORRECT;
    let look = model.look(signature, call, profile, 1, |call, dims, indices| {
        // Form window reads the values in row order; this maps them back to their positions in indices.
        let places: Vec<i128> = (0..indices.len()).map(|at| at as i128).collect();
        let places = if call.by_windows() { (model.rows)(call, places) } else { places };
        let filler = (model.filler)(call);
        let one = |(at, (index, place)): (usize, (&i128, &i128))| {
            let bound = bound_of(dims, at);
            let alone = ShapeParts { bounds: vec![bound], ..dims.clone() };
            let to = (model.resolve)(call, &alone, &[*index]).and_then(|to| to.first().copied());
            let position = multi_index(usize::try_from(*place).unwrap_or(0), call.indices());
            (to != Some(*index)).then(|| Moved { position, index: *index, bound, to, filler: filler.clone() })
        };
        indices.iter().zip(&places).enumerate().filter_map(one).collect()
    });
    look.unwrap_or_default()
}
