//! `gatherspec export`: cases in the formats that others run.

use std::path::PathBuf;
use std::sync::Arc;

use gather_spec::load::{Maker, Wanted};
use gather_spec::{Case, Signatures, Specification};

use gather_conformance::internals::interrupt::{self, Gentle};
use gather_conformance::internals::select::{Chosen, Suite};
use gather_conformance::internals::words::counted;

use super::cases::{chosen_operators, selection, suites, wanted};
use super::ending::{Failure, Status};
use super::output::print;
use crate::export::{Folder, Format, Manifest, export};

#[derive(clap::Args)]
pub(super) struct ExportArgs {
    /// Format to write
    #[arg(long, value_enum)]
    format: Format,
    /// Folder to write to: a new one, or an empty one
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Export only cases of this operator, or of the operators that match this glob
    #[arg(long = "operator", value_name = "OPERATOR|GLOB")]
    operators: Vec<String>,
    /// Export only the case with this id, or the cases that match this glob
    #[arg(long = "case", value_name = "ID|GLOB")]
    patterns: Vec<String>,
    /// Export only cases of this suite
    #[arg(long, value_parser = suites())]
    suite: Option<Suite>,
    /// Leave out calls whose tensors have more bytes
    #[arg(long, value_name = "N", default_value_t = 8192)]
    max_bytes: u64,
}

impl ExportArgs {
    /// The cases that may be exported.
    pub(super) fn wanted<'a>(&'a self, all: &'a Signatures) -> Wanted<'a> {
        if self.suite == Some(Suite::Large) {
            return Wanted::Large;
        }
        wanted(all, &self.operators, &self.patterns)
    }

    pub(super) fn execute(&self, spec: &Specification) -> Result<Status, Failure> {
        let of = chosen_operators(spec, &self.operators)?;
        let selection = selection(&spec.cases, &self.patterns, &of, None)?.of_suite(self.suite);
        let wanted = |case: &&Arc<Case>| selection.wants(case) && self.format.takes(case.operator());
        let mut cases: Vec<&Arc<Case>> = spec.cases.iter().filter(wanted).collect();
        if cases.is_empty() {
            let own = self.format.own();
            return Err(Failure::Usage(format!("no case is chosen of {own}*, which this format is about")));
        }
        // A call that several operators have is written for the format's own.
        cases.sort_by_key(|case| !self.format.is_own(case.operator()));
        let chosen = Chosen { cases: &cases, selection: Some(&selection) };
        let mut maker = Maker::default();
        let runs = cases.iter().flat_map(|case| chosen.runs(&mut maker, case));
        // After a signal, what was written so far is removed.
        let gentle = Gentle::default();
        let runs = runs.take_while(|_| !interrupt::requested());
        let cannot = |error: std::io::Error| Failure::Usage(format!("{}: {error}", self.out.display()));
        let folder = Folder::new(&self.out).map_err(cannot)?;
        let manifest = export(spec, self.format, runs, self.max_bytes, &folder).map_err(cannot)?;
        if interrupt::requested() {
            return Err(Failure::Usage("interrupted; nothing was written".to_owned()));
        }
        drop(gentle);
        if manifest.tests.is_empty() {
            return Err(Failure::Usage(format!("no test can be written\n{}", left_out(&manifest))));
        }
        folder.finish().map_err(cannot)?;
        print(&self.said(&manifest))?;
        Ok(Status::Conforms)
    }

    /// What was written, and what was not.
    fn said(&self, manifest: &Manifest) -> String {
        format!(
            "wrote {} in {} to {}\n{} must be refused, and {} in manifest.json\n{}",
            counted(manifest.calls, "call"),
            counted(manifest.tests.len(), if self.format == Format::Onnx { "folder" } else { "file" }),
            self.out.display(),
            counted(manifest.refused.len(), "run"),
            if manifest.refused.len() == 1 { "is" } else { "are" },
            left_out(manifest),
        )
    }
}

/// How many runs were left out, by the reason.
fn left_out(manifest: &Manifest) -> String {
    let mut reasons = std::collections::BTreeMap::<&str, usize>::new();
    for (why, runs) in manifest.left_out.values().flatten() {
        *reasons.entry(why).or_default() += runs;
    }
    reasons.iter().map(|(why, runs)| format!("left out {}: {why}\n", counted(*runs, "run"))).collect()
}
