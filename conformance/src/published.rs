//! Whether the packages are on crates.io and PyPI: the one switch between commands that work from a checkout and those with the
//! published names. After it is turned, `GATHERSPEC_BLESS=1 cargo test --test program published` turns the pages.

/// Publishing is a person's decision, after which this is true.
pub const PUBLISHED: bool = false;

/// The text for packages that are published, or the other one.
#[must_use]
pub const fn either<'a>(published: &'a str, checkout: &'a str) -> &'a str {
    if PUBLISHED { published } else { checkout }
}
