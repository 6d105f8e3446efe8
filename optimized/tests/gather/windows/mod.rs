//! Drawn windows, and the formula that answers them.

pub(crate) mod draws;
pub(crate) mod formula;
