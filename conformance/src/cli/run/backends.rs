//! Runs the cases and the campaign on each backend of a run.

use std::num::NonZeroUsize;

use std::sync::Arc;

use gather_spec::load::Maker;
use gather_spec::{Case, Run};
use rayon::prelude::*;

use crate::adapters::Manifest;
use crate::report::{BackendReport, Part, Problem};
use gather_campaign::fuzz::SHORT;
use gather_conformance::backend::Description;
use gather_conformance::builtin;
use gather_conformance::internals::deviations::Deviations;
use gather_conformance::internals::entry::Entry;
use gather_conformance::internals::in_process::InProcessBackend;
use gather_conformance::internals::interrupt;
use gather_conformance::internals::judge::Strictness;
use gather_conformance::internals::plan::VariantsAsked;
use gather_conformance::internals::process::{Event, ProcessBackend};
use gather_conformance::internals::reproduction::path;
use gather_conformance::internals::runner::InProcess;
use gather_conformance::internals::select::Suite;
use gather_conformance::internals::shell::option;

use super::super::backend::{BackendArgument, BuiltIn};
use super::super::campaign::RunCampaign;
use super::super::target::CampaignTarget;
use super::{RunArgs, RunContext};

impl RunArgs {
    /// Runs every backend. One that cannot be run does not affect the others.
    pub(super) fn run_all(
        &self,
        backends: &[BackendArgument],
        context: &RunContext<'_>,
    ) -> Vec<BackendReport> {
        // A failure that ends the run leaves the other backends out.
        let side_by_side = |one: &BackendArgument, other: &BackendArgument| {
            !self.fail_fast && one.built_in().is_some() && other.built_in().is_some()
        };
        let groups = backends.chunk_by(side_by_side).take_while(|_| !interrupt::is_stopped());
        let run = |group: &[BackendArgument]| {
            let reports = match group {
                [BackendArgument::BuiltIn(_), ..] => self.run_built_in(group, context),
                _ => group.iter().map(|backend| self.run_program(backend, context)).collect(),
            };
            let named = reports.into_iter().zip(group);
            named
                .map(|(report, backend)| BackendReport { named: backend.named(), ..report })
                .collect::<Vec<_>>()
        };
        groups.flat_map(run).collect()
    }

    /// Runs built-in backends side by side: the runs of each case are made once for all of them.
    fn run_built_in(&self, backends: &[BackendArgument], context: &RunContext<'_>) -> Vec<BackendReport> {
        let jobs = self.jobs.map_or_else(rayon::current_num_threads, NonZeroUsize::get);
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
            Ok(pool) => pool,
            Err(error) => {
                let broken =
                    |one: &BackendArgument| BackendReport::broken(one.argument(), &error.to_string());
                return backends.iter().map(broken).collect();
            }
        };
        let signatures = &context.spec.signatures();
        let runner = |backend| {
            let make = move || BuiltIn::make(backend, signatures, self.max_output);
            InProcess::new(make, Strictness::Strict).repeat(self.repeat.get())
        };
        let runners =
            || backends.iter().filter_map(BackendArgument::built_in).map(runner).collect::<Vec<_>>();
        let names: Vec<String> = backends.iter().map(BackendArgument::argument).collect();
        context.progress.backend(&names.join(", "));
        let described = runners();
        let described = || described.iter().map(InProcess::description).zip(backends);
        for (description, _) in described() {
            let declared = description.declared(context.cases.cases).len();
            context.progress.note(Event::Described(context.cases.cases.len() - declared));
        }
        let mut reports: Vec<BackendReport> = described()
            .map(|(description, backend)| self.report_on_built_in(backend, description, context))
            .collect();
        for of_case in pool.install(|| self.results_of_built_in(runners, context)) {
            for (report, result) in reports.iter_mut().zip(of_case) {
                report.results.extend(result);
            }
        }
        for (report, backend) in reports.iter_mut().zip(backends) {
            let (Some(short), Some(built_in)) = (self.short(context, SHORT.drawn), backend.built_in()) else {
                continue;
            };
            context.progress.backend(&built_in.text);
            let reproduction = backend.reproduction(&self.process, context.folders);
            let target = CampaignTarget::built_in(built_in, signatures, reproduction, self.jobs);
            short.run(target, &Deviations::default(), report);
        }
        reports
    }

    /// The results of each case, in the order of the cases: one for each runner that declares the case and was asked.
    fn results_of_built_in<F: Fn() -> InProcessBackend>(
        &self,
        runners: impl Fn() -> Vec<InProcess<F>> + Sync + Send,
        context: &RunContext<'_>,
    ) -> impl Iterator<Item = Vec<Option<Entry>>> {
        // Only a draft of deviations is about passes, too.
        let drafts = self.write_deviations.is_some();
        let entry = if drafts { Entry::with_facts } else { Entry::new };
        let run_case = |runner: &mut InProcess<F>, case: &Arc<Case>, runs: &[Run]| {
            if interrupt::requested() || runs.is_empty() || !runner.description().declares(case) {
                return None;
            }
            let result = Entry::of_case(case, runs.iter().map(|run| entry(run, runner.run(run))).collect());
            self.note(context, Event::Settled(&result), None);
            Some(if drafts { result } else { result.without_passes() })
        };
        let run_group = |runners: &mut Vec<InProcess<F>>, group: Vec<usize>| {
            let mut maker = Maker::default();
            let mut run = |at: usize| {
                let case = context.cases.cases[at];
                let runs =
                    if interrupt::requested() { Vec::new() } else { context.cases.runs(&mut maker, case) };
                (at, runners.iter_mut().map(|runner| run_case(runner, case, &runs)).collect())
            };
            group.into_iter().map(&mut run).collect::<Vec<_>>()
        };
        let groups = Maker::groups(context.cases.cases).into_par_iter();
        let results = groups.map_init(runners, run_group).collect::<Vec<_>>();
        let mut results: Vec<(usize, _)> = results.into_iter().flatten().collect();
        results.sort_unstable_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, of_case)| of_case)
    }

    /// The report on a built-in backend, without results.
    fn report_on_built_in(
        &self,
        backend: &BackendArgument,
        description: &Description,
        context: &RunContext<'_>,
    ) -> BackendReport {
        let mut report = BackendReport::new(backend.argument(), description, context.spec);
        report.departures.retain(|departure| context.operators.contains(departure.operator.as_str()));
        report.sources = self.sources(context);
        let usual = self.max_output == builtin::MAX_OUTPUT;
        report.sources.extend((!usual).then(|| option("--max-output", self.max_output)));
        report
    }

    /// Shows an event of a backend with these known deviations. With `--fail-fast`, ends the run at its first failure.
    fn note(&self, context: &RunContext<'_>, event: Event<'_>, known: Option<&Deviations>) {
        context.progress.note(event);
        let Event::Settled(result) = event else { return };
        if self.fail_fast && result.verdict.is_failure() {
            let case = context.cases.cases.iter().find(|case| case.id == result.id);
            let is_known = |case: &Case| {
                known.is_some_and(|known| known.expect(case, result))
                    || context.deviations.expect(case, result)
            };
            if !case.is_some_and(|case| is_known(case)) {
                interrupt::stop();
            }
        }
    }

    /// The campaign after the cases, if there is one. A whole one has the `usual` number of calls.
    fn short<'a>(&'a self, context: &'a RunContext<'_>, usual: u64) -> Option<RunCampaign<'a>> {
        let drawn = self.drawn(usual);
        if drawn == 0 || interrupt::requested() {
            return None;
        }
        Some(RunCampaign {
            spec: context.spec,
            signatures: context.spec.signatures(),
            drawn,
            usual,
            operators: context.chosen,
            found: context.found.clone(),
            progress: context.progress,
        })
    }

    /// Runs a program. Applies its known deviations; a file given on the command line replaces those of an adapter. Problems
    /// go into the report.
    fn run_program(&self, backend: &BackendArgument, context: &RunContext<'_>) -> BackendReport {
        let argument = backend.argument();
        let broken =
            |why: String| not_run(&argument).unwrap_or_else(|| BackendReport::broken(argument.clone(), &why));
        if let Some(report) = not_run(&argument) {
            return report;
        }
        context.progress.backend(&argument);
        let (program, of_adapter) = match self.prepared(backend, context) {
            Ok(prepared) => prepared,
            Err(why) => return broken(why),
        };
        let watch = |event: Event<'_>| self.note(context, event, Some(&of_adapter));
        let ran = program.run(&context.spec.cases, &context.cases, &watch);
        let ran = ran.map_err(|broken| broken.to_string()).and_then(|findings| {
            findings.description.nothing_to_test(context.spec).map_or(Ok(findings), Err)
        });
        let mut report = match ran {
            Err(why) => broken(why),
            Ok(findings) => {
                let mut report = BackendReport::new(argument, &findings.description, context.spec);
                let ids: Vec<&str> = findings.results.iter().map(|result| result.id.as_str()).collect();
                let cases = with_results(context.cases.cases, &ids);
                let not_run = findings.not_run().map(str::to_owned);
                report.results = findings.results;
                report.remarks = findings.remarks;
                let unknown = findings.description.unknown_names(context.spec).into_iter();
                report.problems.extend(findings.problems.into_iter().chain(unknown).map(Problem::Said));
                let given = context.deviations.of(&report.backend.name);
                let known = given.as_ref().unwrap_or(&of_adapter);
                known.apply(&mut report, &cases);
                known.apply_to_undeclared(&mut report, context.cases.cases);
                known.apply_to_profile(&mut report, &findings.description, context.spec, &context.operators);
                self.campaign_on(backend, &program, known, context, &mut report, not_run);
                report
            }
        };
        let known = context.deviations.files_of(&report.backend.name);
        report.sources = self.sources(context);
        report.sources.extend(known.map(|file| path("--deviations", file)));
        report.sources.extend(self.process.given());
        report
    }

    /// How to start a program, and what is known of it if it is an adapter.
    ///
    /// # Errors
    /// Why it cannot be started.
    fn prepared(
        &self,
        backend: &BackendArgument,
        context: &RunContext<'_>,
    ) -> Result<(ProcessBackend, Deviations), String> {
        let say = |text: &str| context.progress.say(text);
        let mut known = Deviations::default();
        if let BackendArgument::Adapter(adapter) = backend {
            let is_whole = self.operators.is_empty() && self.campaign.is_none() && self.drawn(1) > 0;
            if let Some(minutes) = adapter.manifest().minutes.filter(|_| is_whole && !self.quiet) {
                say(&format!("{}: the run takes about {minutes} min on two cores", adapter.name));
            }
            known = Deviations::parse(adapter.name, adapter.deviations, context.spec, &context.spec.cases)
                .map_err(|wrong| format!("its known deviations do not fit this specification\n{wrong}"))?;
        }
        let program = backend.program(&self.process, context.folders, &say)?;
        let jobs = self.jobs_of(backend).map_or(1, NonZeroUsize::get);
        let usual = match self.suite {
            Some(Suite::Smoke) => VariantsAsked::Two,
            _ if self.chooses_cases() => VariantsAsked::TurnsAndUsual,
            _ => VariantsAsked::Turns,
        };
        let program = self.variants.of(program, usual);
        Ok((ProcessBackend { jobs, repeat: self.repeat.get(), ..program }, known))
    }

    /// Runs the campaign on a program, unless cases were `not_run` for some reason.
    fn campaign_on(
        &self,
        backend: &BackendArgument,
        program: &ProcessBackend,
        known: &Deviations,
        context: &RunContext<'_>,
        report: &mut BackendReport,
        not_run: Option<String>,
    ) {
        let of_adapter = manifest(backend).and_then(|manifest| manifest.campaign);
        let Some(short) = self.short(context, of_adapter.unwrap_or(SHORT.drawn)) else { return };
        let reproduction = backend.reproduction(&self.process, context.folders);
        let target = match not_run {
            Some(why) => Err(why),
            None => CampaignTarget::program(program, reproduction, self.jobs_of(backend)),
        };
        match target {
            Ok(target) => short.run(target, known, report),
            Err(why) => {
                let (part, done, cases) = (Part::Drawn, 0, short.drawn);
                report.problems.push(Problem::CampaignEnded { why, part, done, cases });
            }
        }
    }

    /// The number of processes to start: as the command line says, or as the adapter does, on as many cores as there are.
    fn jobs_of(&self, backend: &BackendArgument) -> Option<NonZeroUsize> {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let of_adapter = || manifest(backend)?.jobs.map(|jobs| jobs.min(cores()));
        self.jobs.or_else(of_adapter)
    }

    /// The options besides the backend that a command line needs to repeat a case.
    fn sources(&self, context: &RunContext<'_>) -> Vec<String> {
        let files = self.files.iter().map(|file| path("--cases", file));
        let repeat = (self.repeat.get() > 1).then(|| option("--repeat", self.repeat));
        let large = (self.suite == Some(Suite::Large)).then(|| "--suite large".to_owned());
        let own = files.chain(repeat).chain(large).chain(self.variants.given());
        context.folders.options().into_iter().chain(own).collect()
    }
}

/// The cases that have a result: all of them, unless the user interrupted the run. `ids` has the order of the cases.
fn with_results<'a>(cases: &[&'a Arc<Case>], ids: &[&str]) -> Vec<&'a Arc<Case>> {
    let mut ids = ids.iter().peekable();
    cases.iter().copied().filter(|case| ids.next_if(|id| **id == case.id).is_some()).collect()
}

/// The report on a backend that was not run, or was just starting, when the user interrupted the run.
fn not_run(argument: &str) -> Option<BackendReport> {
    let signal = interrupt::signal()?;
    Some(BackendReport::broken(argument.to_owned(), &format!("interrupted by {signal}")))
}

/// The manifest of a backend that is an adapter.
fn manifest(backend: &BackendArgument) -> Option<Manifest> {
    if let BackendArgument::Adapter(adapter) = backend { Some(adapter.manifest()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_draws_the_number_of_its_manifest_unless_options_say_otherwise() {
        let drawn = |run: &RunArgs| run.drawn(300);
        assert_eq!(drawn(&RunArgs::default()), 300);
        assert_eq!(drawn(&RunArgs { campaign: Some(7), ..RunArgs::default() }), 7);
        assert_eq!(drawn(&RunArgs { no_campaign: true, ..RunArgs::default() }), 0);
        assert_eq!(drawn(&RunArgs { patterns: vec!["*/batch/*".to_owned()], ..RunArgs::default() }), 0);
    }
}
