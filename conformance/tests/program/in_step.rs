//! Holds generated files that are checked in against what is generated now.

use std::path::Path;

/// Fails if a file of the repository does not hold this text; under `GATHERSPEC_BLESS=1` writes it anew.
pub(crate) fn assert_in_step(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path);
    if std::env::var_os("GATHERSPEC_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let (line, difference) = (1..)
        .zip(text.lines().zip(found.lines().chain(std::iter::repeat(""))))
        .find(|(_, (new, old))| new != old)
        .map_or((0, String::new()), |(line, (new, old))| (line, format!("\n  now  {new}\n  file {old}")));
    assert!(
        found == text,
        "{} is out of step at line {line}; GATHERSPEC_BLESS=1 writes it anew{difference}",
        path.display()
    );
}
