//! The binary `gatherspec`.
fn main() {}
