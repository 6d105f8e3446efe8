//! Adds a folder to a specification: operators of one's own, with their documents, rulings and questions. Both are loaded as one,
//! so what is added may use the families, documents and errata that are there. Nothing may have an id twice.

use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::specification::Specification;

use super::files::{Root, SpecificationFile, read_all};
use super::wanted::Wanted;
use super::{EMBEDDED, embedded_files};

/// The lists that both folders may have. Their entries have ids of their own.
const LISTS: [&str; 5] =
    ["documents.yaml", "errata.yaml", "questions.yaml", "renamed.yaml", "out-of-scope.yaml"];

/// The files of a folder, with their places and names.
type NamedFiles = Vec<(String, String, Vec<u8>)>;

impl Specification {
    /// A specification with the folder `added`, which is laid out like a part of it. `base` is the folder of the
    /// specification, unless it is the embedded one.
    ///
    /// # Errors
    /// Everything that is wrong with the files, such as an id that both folders have.
    pub fn with_added(
        base: Option<&Path>,
        added: &Path,
        wanted: &Wanted<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let base = match base {
            Some(root) => named(root, Root::Whole)?,
            None => NamedFiles::new(),
        };
        let added = named(added, Root::Added)?;
        let built_in: Vec<String> = EMBEDDED.iter().map(|(place, _)| format!("built-in:{place}")).collect();
        let mut files: Vec<SpecificationFile<'_>> = if base.is_empty() {
            let named = embedded_files().into_iter().zip(&built_in);
            named.map(|(file, name)| SpecificationFile { name, ..file }).collect()
        } else {
            all(&base).collect()
        };
        let wrong: Vec<Diagnostic> = all(&added)
            .filter_map(|file| collision(file, files.iter().find(|one| one.place == file.place)?))
            .collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let checked: Vec<SpecificationFile<'_>> = all(&base).chain(all(&added)).collect();
        files.extend(all(&added));
        // Operators are in the order of their names. What has the same place is in the order of the folders.
        files.sort_by(|one, other| one.place.split('/').cmp(other.place.split('/')));
        Self::load_checked(&files, &checked, wanted)
    }
}

/// The files of a folder, by names with the folder.
fn named(root: &Path, holds: Root) -> Result<NamedFiles, Vec<Diagnostic>> {
    let name = |place: &str| root.join(place).display().to_string();
    Ok(read_all(root, holds)?
        .into_iter()
        .map(|(place, bytes)| (place.clone(), name(&place), bytes))
        .collect())
}

fn all(files: &NamedFiles) -> impl Iterator<Item = SpecificationFile<'_>> {
    files.iter().map(|(place, name, bytes)| SpecificationFile::new(place, name, bytes))
}

/// What is wrong with an added file in the place of another.
fn collision(added: SpecificationFile<'_>, other: &SpecificationFile<'_>) -> Option<Diagnostic> {
    let other = other.name;
    let message = match added.place.split('/').collect::<Vec<_>>()[..] {
        [list] if LISTS.contains(&list) => return None,
        ["operators", ecosystem, operator, "operator.yaml"] => {
            format!("the operator `{ecosystem}.{operator}` is already in {other}")
        }
        ["families", family, "clauses.yaml"] => format!("the family `{family}` is already in {other}"),
        _ => format!("there is already {other}"),
    };
    Some(Diagnostic::file(added.name, message).help("what is added has names of its own"))
}
