//! Families: clauses and cases that are written once for a form, and their instantiation for operators.
//!
//! An operator maps clauses of its form's family to clauses of its own. It gets every family case whose clauses are all
//! mapped, whose attributes it has and whose dtypes it lists. Other cases are left out, each with a recorded reason.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

use crate::ErrorCode;
use crate::clause::{Clause, Family, FamilyClause};
use crate::diagnostic::{Diagnostic, Quoted, nearest};
use crate::signature::{Form, Signature};
use crate::yaml::Text;

use super::raw::{ClauseEntry, FamiliesEntry, FamilyClausesFile};
use super::version::{SCHEMA, check_schema};

/// Maps the clauses of a family to clauses of an operator.
pub(super) type ClauseMap = BTreeMap<String, String>;

/// The families of a specification, with the maps of its operators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Families {
    /// The families, by name.
    pub(crate) all: Vec<Family>,
    /// By operator, its map, with the name of its form's family.
    maps: HashMap<String, (String, Arc<ClauseMap>)>,
}

impl Families {
    /// The family of a form.
    pub(super) fn get(&self, name: &str) -> Option<&Family> {
        self.all.iter().find(|family| family.name == name)
    }

    /// The map of an operator.
    pub(super) fn map(&self, operator: &str) -> Arc<ClauseMap> {
        self.maps.get(operator).map(|(_, map)| Arc::clone(map)).unwrap_or_default()
    }

    /// Reads the clauses of the family that the folder is named after.
    pub(super) fn read_clauses(&mut self, text: Text<'_>, folder: &str) -> Result<(), Diagnostic> {
        let file: FamilyClausesFile = text.parse()?;
        check_schema(text, &file.schema, SCHEMA)?;
        let name = &file.family;
        if name.value != folder {
            return Err(text.wrong(name.defined, format!("the folder is `{folder}`")));
        }
        let word: StrDeserializer<'_, Error> = folder.into_deserializer();
        if Form::deserialize(word).is_err() {
            return Err(text
                .wrong(name.defined, format!("there is no form {}", Quoted(folder)))
                .help("a family is named after the form that it is for"));
        }
        let (mut clauses, mut ids) = (Vec::new(), HashSet::new());
        for entry in file.clauses {
            let id = entry.id;
            if id.value.split('.').count() != 2 {
                return Err(text.wrong(id.defined, "a clause of a family is named <area>.<name>"));
            }
            if !ids.insert(id.value.clone()) {
                return Err(text.wrong(id.defined, format!("two clauses have the id `{}`", id.value)));
            }
            clauses.push(FamilyClause { id: id.value, text: entry.text, rejects: entry.rejects.0 });
        }
        self.all.push(Family { name: folder.to_owned(), clauses });
        Ok(())
    }

    /// Reads the map of an operator. [`Families::check_targets`] checks later that the operator's clauses exist.
    pub(super) fn read_map(
        &mut self,
        text: Text<'_>,
        signature: &Signature,
        written: &FamiliesEntry,
    ) -> Result<(), Diagnostic> {
        let form = signature.form.to_string();
        let mut map = ClauseMap::new();
        for (name, clauses) in &written.0 {
            if name.value != form {
                return Err(text
                    .wrong(name.defined, format!("the form is {form}, not {}", Quoted(&name.value)))
                    .help("an operator takes the cases of the family of its form"));
            }
            let family = self.get(&form).ok_or_else(|| {
                text.wrong(name.defined, format!("there is no family `{form}`"))
                    .help(format!("its clauses would be in families/{form}/clauses.yaml"))
            })?;
            for (from, to) in &clauses.0 {
                if !family.clauses.iter().any(|clause| clause.id == from.value) {
                    let known = family.clauses.iter().map(|clause| clause.id.as_str());
                    let message = format!("the family `{form}` has no clause {}", Quoted(&from.value));
                    return Err(with_nearest(text.wrong(from.defined, message), &from.value, known));
                }
                if map.insert(from.value.clone(), to.value.clone()).is_some() {
                    return Err(text.wrong(from.defined, format!("`{}` is mapped twice", from.value)));
                }
            }
        }
        self.maps.insert(signature.operator.as_str().to_owned(), (form, Arc::new(map)));
        Ok(())
    }

    /// Checks that each mapped clause is the operator's own and has the error codes of the family's clause.
    pub(super) fn check_targets<'s>(
        &self,
        text: Text<'_>,
        signature: &Signature,
        written: &FamiliesEntry,
        clause: impl Fn(&str) -> Option<&'s Clause>,
        known: &[&str],
    ) -> Result<(), Diagnostic> {
        let prefix = format!("{}.", signature.operator);
        for (name, clauses) in &written.0 {
            for (from, to) in &clauses.0 {
                let Some(target) = clause(&to.value).filter(|clause| clause.id.starts_with(&prefix)) else {
                    let message = format!("{} has no clause {}", signature.operator, Quoted(&to.value));
                    let known = known.iter().copied().filter(|id| id.starts_with(&prefix));
                    return Err(with_nearest(text.wrong(to.defined, message), &to.value, known));
                };
                let family = self.get(&name.value).into_iter().flat_map(|family| &family.clauses);
                let missing = family
                    .filter(|clause| clause.id == from.value)
                    .flat_map(|clause| &clause.rejects)
                    // If no policy makes a bad index an error, no index is rejected.
                    .filter(|code| **code != ErrorCode::IndexOutOfRange || signature.refuses_indices())
                    .find(|code| !target.rejects.contains(code));
                if let Some(code) = missing {
                    let message =
                        format!("`{}` does not reject with {code}, as `{}` does", to.value, from.value);
                    return Err(text.wrong(to.defined, message).help("add the code to its `rejects`"));
                }
            }
        }
        Ok(())
    }

    /// The family clauses that are mapped to a clause of an operator.
    fn behind<'s>(&'s self, operator: &str, id: &str) -> Vec<(&'s str, &'s FamilyClause)> {
        let Some((form, map)) = self.maps.get(operator) else { return Vec::new() };
        let Some(family) = self.get(form) else { return Vec::new() };
        let clauses = family.clauses.iter().filter(|clause| map.get(&clause.id).is_some_and(|to| to == id));
        clauses.map(|clause| (family.name.as_str(), clause)).collect()
    }

    /// The text, the error codes and the family clauses of an operator's clause. It may take the first two from its family.
    pub(super) fn complete(
        &self,
        text: Text<'_>,
        operator: &str,
        entry: &ClauseEntry,
    ) -> Result<(String, Vec<ErrorCode>, Vec<String>), Diagnostic> {
        let behind = self.behind(operator, &entry.id.value);
        let statement = match (&entry.text, behind.as_slice()) {
            (Some(own), _) => own.clone(),
            (None, [(_, one)]) => one.text.clone(),
            (None, []) => {
                return Err(text
                    .wrong(
                        entry.id.defined,
                        "this clause has no `text`, and stands for no clause of a family",
                    )
                    .help("write what it says, or map a clause of the family to it in operator.yaml"));
            }
            (None, _) => {
                return Err(text
                    .wrong(entry.id.defined, "this clause has no `text`, and stands for several clauses")
                    .help("write what it says"));
            }
        };
        let rejects = match (&entry.rejects, behind.as_slice()) {
            (Some(own), _) => own.0.clone(),
            (None, []) => {
                return Err(text
                    .wrong(entry.id.defined, "this clause has no `rejects`")
                    .help("write `rejects: none`, or the error codes of a breach"));
            }
            (None, behind) => {
                let mut codes: Vec<ErrorCode> =
                    behind.iter().flat_map(|(_, clause)| clause.rejects.iter().copied()).collect();
                codes.sort_unstable();
                codes.dedup();
                codes
            }
        };
        let stands_for = behind.iter().map(|(family, clause)| format!("{family}/{}", clause.id)).collect();
        Ok((statement, rejects, stands_for))
    }
}

/// Adds a hint with the closest known name.
pub(super) fn with_nearest<'a>(
    wrong: Diagnostic,
    word: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    match nearest(word, known) {
        Some(meant) => wrong.help(format!("did you mean `{meant}`?")),
        None => wrong,
    }
}
