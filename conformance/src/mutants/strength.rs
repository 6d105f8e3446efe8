//! How strong a set of cases is: which of them catch which mutant.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use gather_spec::{Call, Case, Profile, TensorError};
use rayon::prelude::*;
use serde::Serialize;

use super::{Mutant, all};
use crate::judge::{Strictness, Verdict};
use crate::layout::Layout;
use crate::report::Dtypes;
use crate::runner::InProcess;
use crate::words::counted;

/// How many of the cases that catch a mutant are named in a table.
const NAMED: usize = 3;

/// A case is large if an operand has more elements.
const LARGE: usize = 1 << 13;

/// What a set of cases does to every mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Strength {
    /// The version of the suite.
    pub suite: String,
    /// How many cases there were.
    pub cases: usize,
    /// How many mutants there were.
    pub mutants: usize,
    /// How many mutants were caught on each operator that they are wrong on.
    pub caught: usize,
    /// Mutant by mutant.
    pub results: Vec<Caught>,
}

/// What catches a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Caught {
    /// The mutant.
    pub mutant: &'static str,
    /// What it does, and should not.
    pub does: &'static str,
    /// What it stands for.
    pub stands_for: &'static str,
    /// The operators that it is wrong on and whose cases do not tell.
    pub survives: Vec<&'static str>,
    /// The cases of those operators that catch it, the large ones last, each with the first profile at which it does.
    pub kills: Vec<Kill>,
}

/// One case that catches a mutant.
#[derive(Clone, Debug, Serialize)]
pub struct Kill {
    /// The case.
    pub case: String,
    /// Its operator.
    pub operator: String,
    /// The profile that the mutant declared.
    pub profile: Profile,
    /// The verdict.
    pub verdict: Verdict,
    /// The layout and number of threads at which it fell, unless at the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Runs cases against every mutant, as the runner runs them. Cases with many elements, which take nearly all of the
/// time, are asked only where no smaller case of their operator catches the mutant.
#[must_use]
pub fn measure(cases: &[&Case]) -> Strength {
    strength(cases, false)
}

/// The same with every case asked about every mutant.
#[must_use]
pub fn measure_thoroughly(cases: &[&Case]) -> Strength {
    strength(cases, true)
}

fn strength(cases: &[&Case], thorough: bool) -> Strength {
    let laid_out: Vec<LaidOut<'_>> = cases.par_iter().map(|case| LaidOut::new(case)).collect();
    let results: Vec<Caught> =
        all().into_par_iter().map(|mutant| caught(mutant, &laid_out, thorough, None)).collect();
    Strength {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        cases: cases.len(),
        mutants: results.len(),
        caught: results.iter().filter(|caught| caught.survives.is_empty()).count(),
        results,
    }
}

/// A case with its call in every layout, made once for all mutants.
pub(super) struct LaidOut<'a> {
    pub(super) case: &'a Case,
    calls: [Result<Call, TensorError>; Layout::ALL.len()],
}

impl<'a> LaidOut<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Self { case, calls: Layout::ALL.map(|layout| layout.apply(&case.call)) }
    }

    pub(super) fn is_large(&self) -> bool {
        let elements = |tensor: &gather_spec::Tensor| tensor.shape().element_count();
        elements(&self.case.call.params).max(elements(&self.case.call.indices)) > LARGE
    }

    fn call(&self, layout: Layout) -> &Result<Call, TensorError> {
        let place = Layout::ALL.iter().position(|one| *one == layout);
        &self.calls[place.expect("a layout of the list")]
    }
}

/// What catches a mutant, which declares all dtypes or those of `narrow`.
pub(super) fn caught(
    mutant: &Mutant,
    cases: &[LaidOut<'_>],
    thorough: bool,
    narrow: Option<Dtypes>,
) -> Caught {
    let on = |laid: &LaidOut<'_>, operators: &[&str]| operators.contains(&laid.case.call.operator.as_str());
    let (large, small): (Vec<_>, Vec<_>) =
        cases.iter().filter(|laid| on(laid, mutant.operators)).partition(|laid| laid.is_large());
    let mut kills: Vec<Kill> = small.par_iter().filter_map(|laid| kill(mutant, laid, narrow)).collect();
    let open = if thorough { mutant.operators.to_vec() } else { survived(mutant, &kills) };
    let more = large.par_iter().filter(|laid| on(laid, &open)).filter_map(|laid| kill(mutant, laid, narrow));
    kills.extend(more.collect::<Vec<_>>());
    let survives = survived(mutant, &kills);
    Caught { mutant: mutant.id, does: mutant.does, stands_for: mutant.stands_for, survives, kills }
}

/// The operators that a mutant is wrong on, and on which nothing catches it.
fn survived(mutant: &Mutant, kills: &[Kill]) -> Vec<&'static str> {
    let telling: BTreeSet<&str> = kills.iter().map(|kill| kill.operator.as_str()).collect();
    mutant.operators.iter().copied().filter(|name| !telling.contains(name)).collect()
}

/// Whether a case catches a mutant under one of its profiles.
fn kill(mutant: &Mutant, laid: &LaidOut<'_>, narrow: Option<Dtypes>) -> Option<Kill> {
    mutant.profiles.iter().find_map(|profile| {
        // A backend for each case, so that nothing depends on what came before.
        let mut runner = InProcess::new(|| mutant.declaring(*profile, narrow), Strictness::Strict);
        let result = runner.run_laid_out(laid.case, |_, layout| Cow::Borrowed(laid.call(layout)));
        let fails = !matches!(result.verdict, Verdict::Pass | Verdict::Unsupported);
        fails.then(|| Kill {
            case: result.id,
            operator: laid.case.call.operator.to_string(),
            profile: *profile,
            verdict: result.verdict,
            at: result.at,
        })
    })
}

impl Strength {
    /// What is not caught, a line each.
    #[must_use]
    pub fn survivors(&self) -> Vec<String> {
        let line = |caught: &Caught| {
            let on = caught.survives.join(", ");
            (!on.is_empty()).then(|| format!("{} on {on}: {}", caught.mutant, caught.does))
        };
        self.results.iter().filter_map(line).collect()
    }

    /// One line that sums up.
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
             A dash: the mutant is not wrong on that operator. Written by\n\
             `GATHERSPEC_BLESS=1 cargo test -p gather-conformance --test mutants`; `gatherspec mutants` prints the same.\n\n",
        );
        let _ = writeln!(page, "{}.\n", self.summary());
        page += "| mutant | stands for | paddle.gather_nd | tf.gather | tf.gather_nd | tf.raw_ops.GatherNd | for example |\n";
        page += "| --- | --- | ---: | ---: | ---: | ---: | --- |\n";
        for (caught, mutant) in self.results.iter().zip(all()) {
            let counts: Vec<String> =
                super::EVERY_OPERATOR.iter().map(|operator| caught.count(mutant, operator)).collect();
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

impl Caught {
    /// How many cases of an operator catch it.
    fn count(&self, mutant: &Mutant, operator: &str) -> String {
        let count = self.kills.iter().filter(|kill| kill.operator == operator).count();
        match (count, mutant.operators.contains(&operator)) {
            (0, false) => "-".to_owned(),
            (0, true) => "**0**".to_owned(),
            (count, _) => count.to_string(),
        }
    }
}
