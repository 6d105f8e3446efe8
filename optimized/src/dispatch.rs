//! Which instruction set a call uses: detected once, forced by option or environment. The one place that asks the
//! processor; everybody else takes a [`Proof`].

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use gather_spec::Refusal;

/// The environment variable that forces a level for calls that name none.
pub const LEVEL_VARIABLE: &str = "GATHERSPEC_LEVEL";

/// A set of instructions that kernels are written for. Later ones contain earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// What every processor has.
    Portable,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
}

impl Level {
    /// Every level, whether this machine has it or not.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];

    /// The levels that this machine has.
    ///
    /// ```
    /// use gather_optimized::Level;
    /// assert!(Level::available().any(|level| level == Level::Portable));
    /// ```
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| Proof::of(*level).is_some())
    }

    /// The name used in [`LEVEL_VARIABLE`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|level| level.name() == name);
        named.ok_or_else(|| format!("`{name}` is unknown: one of portable avx2 avx512 is expected"))
    }
}

/// Proof that the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

/// Proof that the processor has AVX-512 F, BW, DQ and VL.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

/// A level together with the proof that the processor has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Proof {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Proof {
    /// The proof for a level, if this processor has it.
    fn of(level: Level) -> Option<Self> {
        match level {
            Level::Portable => Some(Self::Portable),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => has_avx2().then_some(Self::Avx2(Avx2(()))),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => (has_avx2() && has_avx512()).then_some(Self::Avx512(Avx512(()))),
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => None,
        }
    }

    /// The level that is proven.
    pub(crate) const fn level(self) -> Level {
        match self {
            Self::Portable => Level::Portable,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Level::Avx2,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Level::Avx512,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// The level that a call asked for, else the environment's, else the best one.
///
/// # Errors
/// `Unsupported` if the level is unknown or this processor lacks it.
pub(crate) fn choose(asked: Option<Level>) -> Result<Proof, Refusal> {
    static DEFAULT: OnceLock<Result<Proof, String>> = OnceLock::new();
    match asked {
        Some(level) => prove(level).map_err(Refusal::Unsupported),
        None => DEFAULT.get_or_init(default_level).clone().map_err(Refusal::Unsupported),
    }
}

fn default_level() -> Result<Proof, String> {
    match std::env::var(LEVEL_VARIABLE) {
        Ok(name) => {
            let level = name.parse().map_err(|wrong| format!("{LEVEL_VARIABLE}: {wrong}"))?;
            prove(level)
        }
        Err(std::env::VarError::NotPresent) => {
            Ok(Level::ALL.into_iter().filter_map(Proof::of).next_back().unwrap_or(Proof::Portable))
        }
        Err(wrong) => Err(format!("{LEVEL_VARIABLE}: {wrong}")),
    }
}

fn prove(level: Level) -> Result<Proof, String> {
    Proof::of(level).ok_or_else(|| format!("this processor lacks the level {level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_told_and_asked_for_by_its_name() {
        let names = [(Level::Portable, "portable"), (Level::Avx2, "avx2"), (Level::Avx512, "avx512")];
        for (level, name) in names {
            assert_eq!((level.name(), level.to_string()), (name, name.to_owned()));
            assert_eq!(name.parse(), Ok(level));
        }
        let unknown = "`sse2` is unknown: one of portable avx2 avx512 is expected".to_owned();
        assert_eq!("sse2".parse::<Level>(), Err(unknown));
    }

    #[test]
    fn every_processor_has_the_portable_level_and_each_level_is_proven_as_itself() {
        assert_eq!(Level::available().next(), Some(Level::Portable));
        for level in Level::available() {
            assert_eq!(choose(Some(level)).map(Proof::level), Ok(level));
        }
    }

    /// What the operating system says of the processor is the judge.
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    #[test]
    fn the_levels_that_there_are_need_no_more_and_no_less_than_their_instructions() {
        let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags = processors.lines().find_map(|line| line.strip_prefix("flags")).unwrap();
        let has =
            |wanted: &[&str]| wanted.iter().all(|one| flags.split_whitespace().any(|flag| flag == *one));
        let needed: [(Level, &[&str]); 3] = [
            (Level::Portable, &[]),
            (Level::Avx2, &["avx2"]),
            (Level::Avx512, &["avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl"]),
        ];
        let expected: Vec<Level> =
            needed.into_iter().filter_map(|(level, needed)| has(needed).then_some(level)).collect();
        assert_eq!(Level::available().collect::<Vec<_>>(), expected);
    }
}
