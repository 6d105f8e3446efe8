//! Which cases a specification is read with.

/// Which cases to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// None: enough to read other case files, and much faster.
    None,
    /// Those of these operators, without the large ones.
    Of(Vec<&'a str>),
    /// All but the large ones.
    Usual,
    /// The large ones too, which take longer to read and are not for every run.
    Large,
}

impl Wanted<'_> {
    /// Whether the cases of an operator are read.
    pub(super) fn has(&self, operator: &str) -> bool {
        match self {
            Self::None => false,
            Self::Of(operators) => operators.contains(&operator),
            Self::Usual | Self::Large => true,
        }
    }

    /// Whether the cases of every operator are read.
    pub(super) const fn is_whole(&self) -> bool {
        matches!(self, Self::Usual | Self::Large)
    }
}
