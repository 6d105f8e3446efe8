//! Measures the strength of a set of cases: which case catches which mutant.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use gather_spec::{Call, Profile, Run, Signature, Signatures, TensorError, Variant};
use rayon::prelude::*;
use serde::Serialize;

use super::all;
use super::concern::{AnsweredCalls, LARGE};
use super::mutant::{CLAMP, ERROR, Mutant, WRAP, ZERO, declaring};
use gather_conformance::backend::Description;
use gather_conformance::backend::Dtypes;
use gather_conformance::internals::judge::{Strictness, Verdict};
use gather_conformance::internals::layout::Layout;
use gather_conformance::internals::runner::InProcess;
use gather_conformance::internals::words::counted;

/// How many of the cases that catch a mutant a table names.
const NAMED: usize = 3;

/// A mutant, and which of its profiles it declares.
pub type CaughtUnder = (&'static str, usize);

/// The results of a set of cases against every mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Strength {
    /// The version of the suite.
    pub suite: String,
    /// The number of cases.
    pub cases: usize,
    /// The number of mutants.
    pub mutants: usize,
    /// How many mutants are caught on each operator that they are wrong on.
    pub caught: usize,
    /// All operators.
    #[serde(skip)]
    pub operators: Vec<String>,
    /// By mutant.
    pub results: Vec<MutantResults>,
}

/// The results for one mutant.
#[derive(Clone, Debug, Serialize)]
pub struct MutantResults {
    /// Its id.
    pub mutant: &'static str,
    /// What it does wrong.
    pub does: &'static str,
    /// The real bug that it stands for.
    pub stands_for: &'static str,
    /// The operators that it is wrong on and whose cases do not catch it.
    pub survives: Vec<String>,
    /// The cases that catch it on their operator, large ones last, each with the first profile under which it does.
    pub kills: Vec<Kill>,
}

/// One case that catches a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Kill {
    /// The case's id.
    pub case: String,
    /// Its operator.
    pub operator: String,
    /// The profile that the mutant declared.
    pub profile: Profile,
    /// The verdict.
    pub verdict: Verdict,
    /// The layout and the number of threads of the failing run, if it was not the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Runs cases against every mutant of every operator, as the runner runs them. Large cases take nearly all of the time,
/// so they run only if no smaller case of their operator catches the mutant. Runs of cases with many sizes are left
/// out, since no step of a model depends on sizes.
#[must_use]
pub fn measure(signatures: &Signatures, cases: &[&Run]) -> Strength {
    strength(signatures, cases, false)
}

/// The same, with every case run against every mutant.
#[must_use]
pub fn measure_thoroughly(signatures: &Signatures, cases: &[&Run]) -> Strength {
    strength(signatures, cases, true)
}

fn strength(signatures: &Signatures, cases: &[&Run], thorough: bool) -> Strength {
    let cases: Vec<&Run> = cases.iter().copied().filter(|case| !case.case.axes.has_sizes()).collect();
    let trial = Trial::new(signatures, cases.par_iter().map(|case| LaidOut::new(case)).collect(), None);
    let draws = signatures.iter().collect::<Vec<_>>();
    let draws: Vec<AnsweredCalls> =
        draws.into_par_iter().map(|signature| AnsweredCalls::all(signature, 0)).collect();
    let caught = |mutant: &'static Mutant| trial.caught(mutant, &draws, thorough);
    let results: Vec<MutantResults> = all().into_par_iter().map(caught).collect();
    Strength {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        cases: cases.len(),
        mutants: results.len(),
        caught: results.iter().filter(|caught| caught.survives.is_empty()).count(),
        operators: signatures.iter().map(|signature| signature.operator.to_string()).collect(),
        results,
    }
}

/// A case with its call in every layout, built once for all mutants.
pub(super) struct LaidOut<'a> {
    pub(super) case: &'a Run,
    calls: [Result<Call, TensorError>; Layout::ALL.len()],
}

impl<'a> LaidOut<'a> {
    pub(super) fn new(case: &'a Run) -> Self {
        Self { case, calls: Layout::ALL.map(|layout| layout.apply(&case.call)) }
    }

    pub(super) fn is_large(&self) -> bool {
        let elements = |tensor: &gather_spec::Tensor| tensor.shape().element_count();
        elements(self.case.params()).max(elements(self.case.indices())) > LARGE
    }

    /// The call in the layout that all of its operands have.
    fn call(&self, layouts: &Variant) -> &Result<Call, TensorError> {
        let layout = layouts.iter().next().and_then(|(_, way)| Layout::of(way));
        &self.calls[layout.unwrap_or(Layout::Contiguous) as usize]
    }
}

/// The cases to try mutants on. Mutants declare all dtypes, or those of `narrow`.
pub(super) struct Trial<'a> {
    /// Each operator's signature alone: a mutant is made for each case, and describing all operators takes longer than a call.
    alone: BTreeMap<&'a str, Signatures>,
    small: Vec<LaidOut<'a>>,
    large: Vec<LaidOut<'a>>,
    narrow: Option<Dtypes>,
    /// Whether mutants are asked as programs are, which see neither layouts nor numbers of threads.
    as_programs: bool,
    /// Whether their errors have codes.
    has_codes: bool,
    /// What mutants declare, by operator and profile.
    described: BTreeMap<(&'a str, Profile), Arc<Description>>,
}

impl<'a> Trial<'a> {
    pub(super) fn new(signatures: &'a Signatures, cases: Vec<LaidOut<'a>>, narrow: Option<Dtypes>) -> Self {
        let alone = |signature: &'a Signature| {
            (signature.operator.as_str(), std::iter::once(signature.clone()).collect())
        };
        let (large, small) = cases.into_iter().partition(LaidOut::is_large);
        let alone: BTreeMap<&str, Signatures> = signatures.iter().map(alone).collect();
        let described = |(operator, only): (&&'a str, &Signatures)| {
            let (operator, only) = (*operator, only.clone());
            [ERROR, ZERO, CLAMP, WRAP]
                .map(|profile| ((operator, profile), Arc::new(declaring(&only, profile, narrow).describe())))
        };
        let described = alone.iter().flat_map(described).collect();
        Self { alone, small, large, narrow, as_programs: false, has_codes: true, described }
    }

    /// The mutants under each profile that each small case catches where programs are asked, and each large one those that no small one of
    /// its operator catches.
    pub(super) fn caught_in_programs(mut self, has_codes: bool) -> BTreeMap<&'a str, BTreeSet<CaughtUnder>> {
        (self.as_programs, self.has_codes) = (true, has_codes);
        let operator = |case: &'a Run| case.call.operator.as_str();
        let every: Vec<(&Mutant, usize)> = all()
            .into_iter()
            .flat_map(|mutant| (0..mutant.profiles.len()).map(move |at| (mutant, at)))
            .collect();
        let caught = |laid: &LaidOut<'a>, skipped: &BTreeSet<(&str, CaughtUnder)>| {
            let on = operator(laid.case);
            let open = every.par_iter().filter(|(mutant, at)| !skipped.contains(&(on, (mutant.id, *at))));
            let caught =
                open.filter(|(mutant, at)| self.kill_under(mutant.profiles[*at], mutant, laid).is_some());
            (laid.case, caught.map(|(mutant, at)| (mutant.id, *at)).collect::<BTreeSet<_>>())
        };
        let none = BTreeSet::new();
        let mut found: Vec<_> = self.small.par_iter().map(|laid| caught(laid, &none)).collect();
        let by_small =
            found.iter().flat_map(|(case, caught)| caught.iter().map(|one| (operator(case), *one)));
        let by_small = by_small.collect();
        found.par_extend(self.large.par_iter().map(|laid| caught(laid, &by_small)));
        found.into_iter().map(|(case, caught)| (case.id.as_str(), caught)).collect()
    }

    /// Finds the cases that catch a mutant. `draws` say which operators it is wrong on.
    fn caught(&self, mutant: &Mutant, draws: &[AnsweredCalls], thorough: bool) -> MutantResults {
        let mut kills: Vec<Kill> = self.small.par_iter().filter_map(|laid| self.kill(mutant, laid)).collect();
        let open = survived(mutant, draws, &kills);
        let is_asked = |laid: &&LaidOut<'_>| {
            thorough || open.iter().any(|operator| operator == laid.case.call.operator.as_str())
        };
        let large = self.large.par_iter().filter(is_asked);
        kills.extend(large.filter_map(|laid| self.kill(mutant, laid)).collect::<Vec<_>>());
        let killed = |operator: &String| kills.iter().any(|kill| kill.operator == *operator);
        let survives = open.into_iter().filter(|operator| !killed(operator)).collect();
        MutantResults { mutant: mutant.id, does: mutant.does, stands_for: mutant.stands_for, survives, kills }
    }

    /// Whether a case of an operator catches a mutant.
    pub(super) fn catches(&self, mutant: &Mutant, operator: &str) -> bool {
        [&self.small, &self.large].into_iter().any(|cases| {
            let own = cases.par_iter().filter(|laid| laid.case.call.operator.as_str() == operator);
            own.any(|laid| self.kill(mutant, laid).is_some())
        })
    }

    /// Runs a case against a mutant under its profiles, up to the first under which it fails.
    fn kill(&self, mutant: &Mutant, laid: &LaidOut<'_>) -> Option<Kill> {
        mutant.profiles.iter().find_map(|profile| self.kill_under(*profile, mutant, laid))
    }

    fn kill_under(&self, profile: Profile, mutant: &Mutant, laid: &LaidOut<'_>) -> Option<Kill> {
        let (operator, alone) = self.alone.get_key_value(laid.case.call.operator.as_str())?;
        if !alone.iter().any(|signature| mutant.is_wrong_for(signature.form)) {
            return None;
        }
        // A new backend per case, so that earlier cases have no influence.
        let backend = || mutant.declaring(alone, profile, self.narrow, self.has_codes);
        let description = Arc::clone(&self.described[&(*operator, profile)]);
        let strictness = if self.as_programs { Strictness::Lenient } else { Strictness::Strict };
        let runner = InProcess::described(backend, backend().into(), description, strictness);
        let mut runner =
            if self.as_programs { runner.like_a_program() } else { runner.in_layouts(mutant.layouts()) };
        let result = runner.run_laid_out(laid.case, |_, layouts| Cow::Borrowed(laid.call(layouts)));
        let fails = result.verdict.is_failure();
        fails.then(|| Kill {
            case: result.id,
            operator: laid.case.call.operator.to_string(),
            profile,
            verdict: result.verdict,
            at: result.at,
        })
    }
}

/// The operators that a mutant is wrong on and on which no case catches it.
fn survived(mutant: &Mutant, draws: &[AnsweredCalls], kills: &[Kill]) -> Vec<String> {
    let telling: BTreeSet<&str> = kills.iter().map(|kill| kill.operator.as_str()).collect();
    let open = draws.par_iter().filter(|draws| !telling.contains(draws.operator()));
    let wrong = open.filter(|draws| draws.are_wrong_for(mutant));
    wrong.map(|draws| draws.operator().to_owned()).collect()
}

impl Strength {
    /// The surviving mutants, one line each.
    #[must_use]
    pub fn survivors(&self) -> Vec<String> {
        let line = |caught: &MutantResults| {
            let on = caught.survives.join(", ");
            (!on.is_empty()).then(|| format!("{} on {on}: {}", caught.mutant, caught.does))
        };
        self.results.iter().filter_map(line).collect()
    }

    /// A one-line summary.
    #[must_use]
    pub fn summary(&self) -> String {
        format!("{} cases catch {} of {} mutants", self.cases, self.caught, self.mutants)
    }

    /// The table as a page of Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = String::from(
            "# How strong the suite is\n\n\
             A mutant is a correct gather with one step replaced by a wrong one. This table says what each does wrong, what it\n\
             stands for, and how many cases of each operator catch it, run as `gatherspec run` runs them: every layout, and\n\
             several numbers of threads. Cases with more than 8192 elements count only where no smaller one catches the mutant.\n\
             A dash: the mutant is not wrong on that operator, on any of some 10,000 drawn calls.\n\n",
        );
        let _ = writeln!(page, "{}.\n", self.summary());
        let _ = writeln!(page, "| mutant | stands for | {} | for example |", self.operators.join(" | "));
        let _ = writeln!(page, "| --- | --- | {}--- |", "---: | ".repeat(self.operators.len()));
        for caught in &self.results {
            let counts: Vec<String> = self.operators.iter().map(|operator| caught.count(operator)).collect();
            let example = caught.kills.first().map_or("**none**", |kill| &kill.case);
            let _ = writeln!(
                page,
                "| **{}**: {} | {} | {} | `{example}` |",
                caught.mutant,
                caught.does,
                caught.stands_for,
                counts.join(" | ")
            );
        }
        page
    }

    /// The table for a terminal.
    #[must_use]
    pub fn human(&self) -> String {
        let mut text = String::new();
        for caught in &self.results {
            let _ = writeln!(text, "{}  {}", caught.mutant, caught.does);
            let _ = writeln!(text, "  stands for  {}", caught.stands_for);
            let named: Vec<&str> = caught.kills.iter().take(NAMED).map(|kill| kill.case.as_str()).collect();
            let more = if caught.kills.len() > NAMED { ", …" } else { "" };
            let _ = writeln!(
                text,
                "  caught by   {}: {}{more}",
                counted(caught.kills.len(), "case"),
                named.join(", ")
            );
            if !caught.survives.is_empty() {
                let _ = writeln!(text, "  SURVIVES on {}", caught.survives.join(", "));
            }
        }
        text
    }
}

impl MutantResults {
    /// How many cases of an operator catch it.
    fn count(&self, operator: &str) -> String {
        let count = self.kills.iter().filter(|kill| kill.operator == operator).count();
        match (count, self.survives.iter().any(|one| one == operator)) {
            (0, false) => "-".to_owned(),
            (0, true) => "**0**".to_owned(),
            (count, _) => count.to_string(),
        }
    }
}
