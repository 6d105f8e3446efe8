//! `gatherspec mutants`: how strong the suite is.

use gather_spec::load::Wanted;
use gather_spec::{Case, Run, Signatures, Specification};

use gather_conformance::internals::select::{CaseSelection, Suite};
use gather_conformance::internals::words::name;
use gather_strength::mutants::strength::{self, Strength};

use super::cases::{chosen_operators, suites, wanted};
use super::ending::{Failure, Status};
use super::output::print;

#[derive(clap::Args)]
pub(super) struct MutantsArgs {
    /// Leave out the case with this id, or the cases that match this glob (`*` also matches `/`)
    #[arg(long, value_name = "ID|GLOB")]
    without: Vec<String>,
    /// Use only cases of this operator, or of the operators that match this glob, and the mutants that are wrong on them
    #[arg(long = "operator", value_name = "OPERATOR|GLOB")]
    operators: Vec<String>,
    /// Use only cases of this suite
    #[arg(long, value_parser = suites())]
    suite: Option<Suite>,
    /// Format of the output; json and markdown name every mutant, json also every case that catches it
    #[arg(long, value_enum, default_value = "human")]
    format: MutantsFormat,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum MutantsFormat {
    Human,
    Json,
    Markdown,
}

impl MutantsArgs {
    /// The cases that are measured.
    pub(super) fn wanted<'a>(&'a self, all: &'a Signatures) -> Wanted<'a> {
        wanted(all, &self.operators, &[])
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        if self.suite == Some(Suite::Large) {
            return Err(Failure::Usage("mutants do not run on the large cases".to_owned()));
        }
        let operators = chosen_operators(spec, &self.operators)?;
        let suite = CaseSelection::new(&[], &operators, None).map_err(Failure::Usage)?.of_suite(self.suite);
        let cases = spec.cases.iter().filter(|case| suite.wants(case) && !case.axes.has_sizes());
        let runs: Vec<Run> = cases.flat_map(Case::runs).filter(|run| suite.wants_run(run)).collect();
        let mut left_out = CaseSelection::new(&self.without, &[], None).map_err(Failure::Usage)?;
        left_out.settle(&spec.cases).map_err(|idle| {
            let (text, why) = (name(idle.as_str()), idle.not_a_glob());
            Failure::Usage(format!("--without `{text}` matches no case{why}"))
        })?;
        let kept = |run: &&Run| self.without.is_empty() || !left_out.wants_run(run);
        let cases: Vec<&Run> = runs.iter().filter(kept).collect();
        let wanted = |operator: &str| operators.is_empty() || operators.iter().any(|name| name == operator);
        let wanted = spec.operators.iter().filter(|signature| wanted(signature.operator.as_str()));
        let signatures = wanted.cloned().collect();
        let strength = match self.format {
            MutantsFormat::Json => strength::measure_thoroughly(&signatures, &cases),
            MutantsFormat::Human | MutantsFormat::Markdown => strength::measure(&signatures, &cases),
        };
        let all_caught = strength.survivors().is_empty();
        self.show(&strength)?;
        Ok(if all_caught { Status::Conforms } else { Status::DoesNotConform })
    }

    fn show(&self, strength: &Strength) -> Result<(), Failure> {
        match self.format {
            MutantsFormat::Json => {
                print(&(serde_json::to_string_pretty(strength).expect("plain data") + "\n"))
            }
            MutantsFormat::Markdown => print(&strength.markdown()),
            MutantsFormat::Human => {
                let survivors = strength.survivors();
                let lost: String = survivors.iter().map(|line| format!("NOT CAUGHT: {line}\n")).collect();
                print(&format!("{}{lost}{}\n", strength.human(), strength.summary()))
            }
        }
    }
}
