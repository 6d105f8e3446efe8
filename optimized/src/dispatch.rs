//! Which level a call uses: forced by option or environment, else the one that suits the processor best.

use std::sync::OnceLock;

use gather_spec::Refusal;

use crate::levels::{Level, Proof};

/// The environment variable that forces a level for calls that name none.
pub const LEVEL_VARIABLE: &str = "GATHERSPEC_LEVEL";

/// The level that the call forces, else the environment's, else the best one.
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
        Err(std::env::VarError::NotPresent) => Ok(Proof::best()),
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
    fn a_call_gets_the_level_that_it_asks_for() {
        for level in Level::available() {
            assert_eq!(choose(Some(level)).map(Proof::level), Ok(level));
        }
    }
}
