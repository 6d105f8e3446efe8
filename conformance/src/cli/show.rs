//! `gatherspec show`: one case as a picture, a clause, or an operator.

use gather_spec::{Profile, Specification};

use crate::backend::Backend;
use crate::words::name;
use crate::{builtin, show};

use super::{Failure, Status, print};

#[derive(clap::Args)]
pub(super) struct Show {
    /// The id of a case, of a case of a family or of a clause, or the name of an operator
    #[arg(value_name = "CASE|CLAUSE|OPERATOR")]
    id: String,
}

impl Show {
    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        let text = if let Some(case) = spec.case(&self.id) {
            show::case(spec, case, &reference)
        } else if let Some(clause) = spec.clause(&self.id) {
            show::clause(spec, clause)
        } else if let Some(page) = spec.operator(&self.id) {
            show::operator(spec, page)
        } else if let Some(text) = show::family_case(spec, &self.id) {
            text
        } else {
            return Err(Failure::Usage(self.unknown(spec)));
        };
        print(&text)?;
        Ok(Status::Conforms)
    }

    fn unknown(&self, spec: &Specification) -> String {
        if let Some(renamed) = spec.renamed(&self.id) {
            return format!("the case `{}` is called `{renamed}` now", name(&self.id));
        }
        let ids = spec.cases.iter().map(|case| &case.id).chain(spec.clauses.iter().map(|clause| &clause.id));
        let near: Vec<&str> = ids.filter(|id| id.contains(&self.id)).map(String::as_str).take(5).collect();
        let hint = if near.is_empty() {
            "see `gatherspec list cases`".to_owned()
        } else {
            format!("did you mean {}?", near.join(" or "))
        };
        format!("no case, clause or operator is called `{}`; {hint}", name(&self.id))
    }
}

/// The reference, which every picture is drawn with.
fn reference(profile: Profile) -> Box<dyn Backend> {
    builtin::backend("reference", profile, builtin::MAX_OUTPUT).expect("the reference is built in")
}
