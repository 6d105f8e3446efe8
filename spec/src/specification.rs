//! All that is written down about operators, and what can be looked up in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use crate::Run;
use crate::call::Profile;
use crate::case::{Arm, Case};
use crate::clause::{Clause, Document, Erratum, Example, Family, LeftOut, OutOfScope, Renamed};
use crate::diagnostic::nearest;
use crate::error::ErrorCode;
use crate::load::Maker;
use crate::load::families::Families;
use crate::question::Question;
use crate::signature::{Signature, Signatures};

/// The content of `spec/`.
#[derive(Clone, Debug, Default)]
pub struct Specification {
    /// The source documents.
    pub documents: Vec<Document>,
    /// The documented examples.
    pub examples: Vec<Example>,
    /// The errata ledger.
    pub errata: Vec<Erratum>,
    /// What is deliberately not an operator here, and why.
    pub out_of_scope: Vec<OutOfScope>,
    /// The cases whose ids have changed.
    pub renamed: Vec<Renamed>,
    /// The questions on which operators differ.
    pub questions: Vec<Question>,
    /// The operators, by name.
    pub operators: Vec<Signature>,
    /// The clauses, by operator and then in the order of the file.
    pub clauses: Vec<Clause>,
    /// The cases, by operator and then by topic.
    pub cases: Vec<Arc<Case>>,
    /// The family cases that operators of the form do not have.
    pub left_out: Vec<LeftOut>,
    pub(crate) clause_at: HashMap<String, usize>,
    pub(crate) of_families: Families,
    /// By kind and id, the file of each entry of a list.
    pub(crate) defined_in: HashMap<(&'static str, String), String>,
}

/// The cases that accept or reject under one clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage<'a> {
    /// The cases that cite the clause and allow an output.
    pub accepting: Vec<&'a str>,
    /// The cases that cite the clause and allow one of its error codes, by code.
    pub rejecting: BTreeMap<ErrorCode, Vec<&'a str>>,
}

impl Specification {
    /// The new id of a renamed case.
    #[must_use]
    pub fn renamed(&self, id: &str) -> Option<String> {
        self.renamed.iter().find_map(|renamed| {
            let suffix = id.strip_prefix(renamed.from.as_str())?;
            (suffix.is_empty() || suffix.starts_with('[')).then(|| format!("{}{suffix}", renamed.to))
        })
    }

    /// The families, by form.
    #[must_use]
    pub fn families(&self) -> &[Family] {
        &self.of_families.all
    }

    /// The signature of an operator.
    #[must_use]
    pub fn operator(&self, name: &str) -> Option<&Signature> {
        self.operators.iter().find(|page| page.operator.as_str() == name)
    }

    /// The signatures of the operators, to be shared.
    #[must_use]
    pub fn signatures(&self) -> Signatures {
        self.operators.iter().cloned().collect()
    }

    /// The operator whose name is closest to a misspelt one.
    #[must_use]
    pub fn operator_like(&self, name: &str) -> Option<&str> {
        nearest(name, self.operators.iter().map(|page| page.operator.as_str()))
    }

    /// A clause by id.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.clause_at.get(id).map(|at| &self.clauses[*at])
    }

    /// The clauses that the answer to a run under a profile rests on. The basis of the answer is
    /// [`Basis::of`](crate::Basis::of) them.
    #[must_use]
    pub fn clauses_under(&self, run: &Run, profile: Profile) -> Vec<&Clause> {
        self.clauses_of(run, run.expect.arms.iter().find(|arm| arm.when.matches(profile)))
    }

    /// The clauses of a run and, if they are not among them, that of the policy on which an answer depends.
    #[must_use]
    pub fn clauses_of(&self, run: &Run, arm: Option<&Arm>) -> Vec<&Clause> {
        let of_policy = arm.and_then(|arm| arm.clause.as_deref());
        let of_policy = of_policy.filter(|id| !run.clauses.iter().any(|own| own == id));
        let ids = run.clauses.iter().map(String::as_str).chain(of_policy);
        ids.filter_map(|id| self.clause(id)).collect()
    }

    /// A case by id.
    #[must_use]
    pub fn case(&self, id: &str) -> Option<&Arc<Case>> {
        self.cases.iter().find(|case| case.id == id)
    }

    /// A run by id.
    #[must_use]
    pub fn run(&self, id: &str) -> Option<Run> {
        self.case(id.split('[').next().unwrap_or_default())?.run(id)
    }

    /// All runs of all cases. They take much memory: [`Maker`] makes those of one case after the other.
    #[must_use]
    pub fn runs(&self) -> Vec<Run> {
        Self::runs_of(&self.cases.iter().collect::<Vec<_>>())
    }

    /// All runs of these cases, in their order.
    #[must_use]
    pub fn runs_of(cases: &[&Arc<Case>]) -> Vec<Run> {
        Self::made(cases, Maker::runs)
    }

    /// Runs of these cases, in their order.
    fn made(cases: &[&Arc<Case>], of_case: fn(&mut Maker, &Arc<Case>) -> Vec<Run>) -> Vec<Run> {
        let make = |group: Vec<usize>| {
            let mut maker = Maker::default();
            group.into_iter().map(|at| (at, of_case(&mut maker, cases[at]))).collect::<Vec<_>>()
        };
        let mut made: Vec<_> = Maker::groups(cases).into_par_iter().map(make).flatten_iter().collect();
        made.sort_unstable_by_key(|(at, _)| *at);
        made.into_iter().flat_map(|(_, runs)| runs).collect()
    }

    /// A question by id.
    #[must_use]
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// An entry of the errata ledger by id.
    #[must_use]
    pub fn erratum(&self, id: &str) -> Option<&Erratum> {
        self.errata.iter().find(|erratum| erratum.id == id)
    }

    /// For each of these clauses, in order, the cases that accept and those that reject under it.
    #[must_use]
    pub fn coverage_of<'s>(&'s self, clauses: &[&Clause]) -> Vec<Coverage<'s>> {
        let at: HashMap<&str, usize> = clauses.iter().map(|clause| clause.id.as_str()).zip(0..).collect();
        let mut coverage = vec![Coverage::default(); clauses.len()];
        let cite = |cases: &mut Vec<&'s str>, case: &'s Case| {
            if cases.last() != Some(&case.id.as_str()) {
                cases.push(&case.id);
            }
        };
        let cites = |case: &&Arc<Case>| case.clauses.iter().any(|id| at.contains_key(id.as_str()));
        let cases: Vec<&Arc<Case>> = self.cases.iter().filter(cites).collect();
        let mut rest = cases.iter().peekable();
        for run in Self::made(&cases, Maker::of_each_mode) {
            while rest.next_if(|case| !Arc::ptr_eq(case, &run.case)).is_some() {}
            let case = rest.peek().expect("every run has its case");
            for at in run.clauses.iter().filter_map(|id| at.get(id.as_str())) {
                if run.expect.accepts() {
                    cite(&mut coverage[*at].accepting, case);
                }
                for code in clauses[*at].rejects.iter().filter(|code| run.expect.rejects(**code)) {
                    cite(coverage[*at].rejecting.entry(*code).or_default(), case);
                }
            }
        }
        coverage
    }

    /// The same for all clauses.
    #[must_use]
    pub fn coverage(&self) -> Vec<Coverage<'_>> {
        self.coverage_of(&self.clauses.iter().collect::<Vec<_>>())
    }
}
