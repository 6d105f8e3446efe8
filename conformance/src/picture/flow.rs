//! Rectangles side by side as far as they fit, in bands one below the other: the same in both renderings.

/// A rectangle to be arranged.
pub(super) trait Tile: Default {
    /// The space between two rectangles side by side.
    const GAP: usize;

    fn width(&self) -> usize;

    fn is_empty(&self) -> bool;

    /// This rectangle with another one to the right of it.
    fn beside(self, other: Self) -> Self;

    /// This rectangle with another one below it, and space between them unless this one is empty.
    fn above(self, other: Self) -> Self;
}

/// Tiles side by side as far as they fit into the width, in bands one below the other.
pub(super) fn flow<T: Tile>(tiles: impl IntoIterator<Item = T>, width: usize) -> T {
    let (mut above, mut band) = (T::default(), T::default());
    for tile in tiles {
        if band.is_empty() {
            band = tile;
        } else if band.width() + T::GAP + tile.width() <= width {
            band = band.beside(tile);
        } else {
            above = above.above(std::mem::replace(&mut band, tile));
        }
    }
    above.above(band)
}

/// Tiles one below the other.
pub(super) fn stack<T: Tile>(tiles: impl IntoIterator<Item = T>) -> T {
    tiles.into_iter().reduce(T::above).unwrap_or_default()
}
