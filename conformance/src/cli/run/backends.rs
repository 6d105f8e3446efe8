//! Runs the cases and the campaign on each backend of a run.

use std::num::NonZeroUsize;

use std::sync::Arc;

use gather_spec::load::Maker;
use gather_spec::{Case, Run as CaseRun};
use rayon::prelude::*;

use crate::adapters::{self, Adapter, Launch};
use crate::backend::{Description, Held};
use crate::builtin;
use crate::deviations::Deviations;
use crate::entry::Entry;
use crate::fuzz::SHORT;
use crate::interrupt;
use crate::judge::Strictness;
use crate::native;
use crate::process::Event;
use crate::report::{BackendReport, Part, Problem};
use crate::reproduction::{Named, Reproduction, path};
use crate::runner::InProcess;
use crate::select::Suite;
use crate::shell::{option, quoted};

use super::super::built_in::BackendArgument;
use super::super::campaign::Short;
use super::super::job::Job;
use super::super::partial::{not_run, with_results};
use super::super::process::Backend;
use super::super::target::Target;
use super::Run;

impl Run {
    /// Runs every backend. One that cannot be run does not affect the others.
    pub(super) fn run_all(&self, backends: &[Backend], job: &Job<'_>) -> Vec<BackendReport> {
        let nothing = Deviations::default();
        let is_built_in = |backend: &Backend| backend.built_in().is_some();
        let goes_on = || !interrupt::is_stopped();
        let mut reports = Vec::new();
        for group in backends.chunk_by(|one, other| is_built_in(one) && is_built_in(other)) {
            if !goes_on() {
                break;
            }
            match &group[0] {
                Backend::BuiltIn(_) => {
                    let of_group = group.iter().filter_map(Backend::built_in).collect::<Vec<_>>();
                    reports.extend(self.run_built_in(&of_group, job));
                }
                Backend::Adapter(adapter) => reports.push(self.run_adapter(adapter, job)),
                Backend::Program(path) => {
                    let command = [path.clone().into_os_string()];
                    let launch = Launch::from(&command[..]);
                    let (name, named) = (quoted(&command), Named::Option);
                    reports.push(self.run_program(&name, named, &launch, &nothing, job));
                }
            }
        }
        for path in self.libraries.iter().take_while(|_| goes_on()) {
            let name = quoted(&[path.clone().into_os_string()]);
            reports.push(match native::command(path, job.folders.arguments()) {
                Ok(command) => {
                    self.run_program(&name, Named::Library, &Launch::from(&command[..]), &nothing, job)
                }
                Err(error) => {
                    BackendReport { named: Named::Library, ..BackendReport::broken(name, &error.to_string()) }
                }
            });
        }
        if !self.command.is_empty() && goes_on() {
            let (name, launch) = (quoted(&self.command), Launch::from(&self.command[..]));
            reports.push(self.run_program(&name, Named::Command, &launch, &nothing, job));
        }
        reports
    }

    /// Runs built-in backends side by side: the runs of each case are made once for all of them.
    fn run_built_in(&self, backends: &[&BackendArgument], job: &Job<'_>) -> Vec<BackendReport> {
        let jobs = self.jobs.map_or_else(rayon::current_num_threads, NonZeroUsize::get);
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
            Ok(pool) => pool,
            Err(error) => {
                let broken =
                    |one: &&BackendArgument| BackendReport::broken(one.text.clone(), &error.to_string());
                return backends.iter().map(broken).collect();
            }
        };
        let signatures = &job.spec.signatures();
        let runner = |backend| {
            let make = move || BackendArgument::make(backend, signatures, self.max_output);
            InProcess::new(make, Strictness::Strict).repeat(self.repeat.get())
        };
        let runners = || backends.iter().copied().map(runner).collect::<Vec<_>>();
        let names: Vec<&str> = backends.iter().map(|backend| backend.text.as_str()).collect();
        job.progress.backend(&names.join(", "));
        let described = runners();
        let described = || described.iter().map(InProcess::description).zip(backends);
        for (description, _) in described() {
            let declared = description.declared(job.cases.cases).len();
            job.progress.note(Event::Described(job.cases.cases.len() - declared));
        }
        let mut reports: Vec<BackendReport> = described()
            .map(|(description, backend)| self.report_on_built_in(backend, description, job))
            .collect();
        for of_case in pool.install(|| self.results_of_built_in(runners, job)) {
            for (report, result) in reports.iter_mut().zip(of_case) {
                report.results.extend(result);
            }
        }
        for (report, backend) in reports.iter_mut().zip(backends) {
            let Some(short) = self.short(job, SHORT.drawn) else { continue };
            job.progress.backend(&backend.text);
            let reproduction = reproduction(job, Named::BuiltIn, &backend.text, Vec::new());
            let target = Target::built_in(backend, signatures, reproduction, self.jobs);
            short.run(target, &Deviations::default(), report);
        }
        reports
    }

    /// The results of each case, in the order of the cases: one for each runner that declares the case and was asked.
    fn results_of_built_in<F: Fn() -> Held>(
        &self,
        runners: impl Fn() -> Vec<InProcess<F>> + Sync + Send,
        job: &Job<'_>,
    ) -> impl Iterator<Item = Vec<Option<Entry>>> {
        // Only a draft of deviations is about passes, too.
        let drafts = self.write_deviations.is_some();
        let entry = if drafts { Entry::with_facts } else { Entry::new };
        let run_case = |runner: &mut InProcess<F>, case: &Arc<Case>, runs: &[CaseRun]| {
            if interrupt::requested() || runs.is_empty() || !runner.description().declares(case) {
                return None;
            }
            let result = Entry::of_case(case, runs.iter().map(|run| entry(run, runner.run(run))).collect());
            self.note(job, Event::Settled(&result), None);
            Some(if drafts { result } else { result.without_passes() })
        };
        let run_group = |runners: &mut Vec<InProcess<F>>, group: Vec<usize>| {
            let mut maker = Maker::default();
            let mut run = |at: usize| {
                let case = job.cases.cases[at];
                let runs = if interrupt::requested() { Vec::new() } else { job.cases.runs(&mut maker, case) };
                (at, runners.iter_mut().map(|runner| run_case(runner, case, &runs)).collect())
            };
            group.into_iter().map(&mut run).collect::<Vec<_>>()
        };
        let groups = Maker::groups(job.cases.cases).into_par_iter();
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
        job: &Job<'_>,
    ) -> BackendReport {
        let mut report = BackendReport::new(backend.text.clone(), description, job.spec);
        report.departures.retain(|departure| job.operators.contains(departure.operator.as_str()));
        report.sources = self.sources(job);
        let usual = self.max_output == builtin::MAX_OUTPUT;
        report.sources.extend((!usual).then(|| option("--max-output", self.max_output)));
        report.named = Named::BuiltIn;
        report
    }

    /// Shows an event of a backend with these known deviations. With `--fail-fast`, ends the run at its first failure.
    fn note(&self, job: &Job<'_>, event: Event<'_>, known: Option<&Deviations>) {
        job.progress.note(event);
        let Event::Settled(result) = event else { return };
        if self.fail_fast && result.verdict.is_failure() {
            let case = job.cases.cases.iter().find(|case| case.id == result.id);
            let is_known = |case: &Case| {
                known.is_some_and(|known| known.expect(case, result)) || job.deviations.expect(case, result)
            };
            if !case.is_some_and(|case| is_known(case)) {
                interrupt::stop();
            }
        }
    }

    /// The campaign after the cases, if there is one. A whole one has the `usual` number of calls.
    fn short<'a>(&'a self, job: &'a Job<'_>, usual: u64) -> Option<Short<'a>> {
        let drawn = self.drawn(usual);
        if drawn == 0 || interrupt::requested() {
            return None;
        }
        Some(Short {
            spec: job.spec,
            signatures: job.spec.signatures(),
            drawn,
            usual,
            operators: job.chosen,
            found: job.found.clone(),
            progress: job.progress,
        })
    }

    /// Runs an embedded adapter with its known deviations.
    fn run_adapter(&self, adapter: &Adapter, job: &Job<'_>) -> BackendReport {
        if let Some(report) = not_run(adapter.name) {
            return report;
        }
        job.progress.backend(adapter.name);
        let say = |text: &str| job.progress.say(text);
        let is_whole = self.operators.is_empty() && self.campaign.is_none() && self.drawn(1) > 0;
        if let Some(minutes) = adapter.manifest().minutes.filter(|_| is_whole && !self.quiet) {
            say(&format!("{}: the run takes about {minutes} min on two cores", adapter.name));
        }
        let known = Deviations::parse(adapter.name, adapter.deviations, job.spec, &job.spec.cases)
            .map_err(|wrong| format!("its known deviations do not fit this specification\n{wrong}"));
        let prepared =
            known.and_then(|known| Ok((known, adapter.launch(self.process.python.as_deref(), &say)?)));
        match prepared {
            Err(why) => {
                not_run(adapter.name).unwrap_or_else(|| BackendReport::broken(adapter.name.to_owned(), &why))
            }
            Ok((known, launch)) => self.run_program(adapter.name, Named::Option, &launch, &known, job),
        }
    }

    /// Runs a program. Applies its known deviations; a file given on the command line replaces the embedded ones. Problems
    /// go into the report.
    fn run_program(
        &self,
        argument: &str,
        named: Named,
        launch: &Launch,
        built_in: &Deviations,
        job: &Job<'_>,
    ) -> BackendReport {
        if let Some(report) = not_run(argument) {
            return BackendReport { named, ..report };
        }
        job.progress.backend(argument);
        let argument = argument.to_owned();
        let jobs = self.jobs_of(named, &argument).map_or(1, NonZeroUsize::get);
        let backend = self.process.backend(launch, jobs, self.repeat.get());
        let watch = |event: Event<'_>| self.note(job, event, Some(built_in));
        let ran = backend.run(&job.spec.cases, &job.cases, &watch);
        let ran = ran
            .map_err(|broken| broken.to_string())
            .and_then(|findings| findings.description.nothing_to_test(job.spec).map_or(Ok(findings), Err));
        let mut report = match ran {
            Err(why) => not_run(&argument).unwrap_or_else(|| BackendReport::broken(argument, &why)),
            Ok(findings) => {
                let mut report = BackendReport::new(argument, &findings.description, job.spec);
                let ids: Vec<&str> = findings.results.iter().map(|result| result.id.as_str()).collect();
                let cases = with_results(job.cases.cases, &ids);
                let not_run = findings.not_run().map(str::to_owned);
                report.results = findings.results;
                report.remarks = findings.remarks;
                let unknown = findings.description.unknown_names(job.spec).into_iter();
                report.problems.extend(findings.problems.into_iter().chain(unknown).map(Problem::Said));
                let given = job.deviations.of(&report.backend.name);
                let known = given.as_ref().unwrap_or(built_in);
                known.apply(&mut report, &cases);
                known.apply_to_undeclared(&mut report, job.cases.cases);
                known.apply_to_profile(&mut report, &findings.description, job.spec, &job.operators);
                self.campaign_on(named, launch, known, job, &mut report, not_run);
                report
            }
        };
        report.named = named;
        let known = job.deviations.files_of(&report.backend.name);
        report.sources = self.sources(job);
        report.sources.extend(known.map(|file| path("--deviations", file)));
        report.sources.extend(self.process.given());
        report
    }

    /// Runs the campaign on a program, unless cases were `not_run` for some reason.
    fn campaign_on(
        &self,
        named: Named,
        launch: &Launch,
        known: &Deviations,
        job: &Job<'_>,
        report: &mut BackendReport,
        not_run: Option<String>,
    ) {
        let argument = report.argument.clone();
        let usual =
            adapter(named, &argument).and_then(|adapter| adapter.manifest().campaign).unwrap_or(SHORT.drawn);
        let Some(short) = self.short(job, usual) else { return };
        if let Some(why) = not_run {
            let (part, done, cases) = (Part::Drawn, 0, short.drawn);
            return report.problems.push(Problem::CampaignEnded { why, part, done, cases });
        }
        let reproduction = reproduction(job, named, &argument, self.process.given());
        let jobs = self.jobs_of(named, &argument);
        match Target::program(&self.process, launch, (argument, reproduction), jobs) {
            Ok(target) => short.run(target, known, report),
            Err(why) => {
                let (part, done, cases) = (Part::Drawn, 0, short.drawn);
                report.problems.push(Problem::CampaignEnded { why, part, done, cases });
            }
        }
    }

    /// The number of processes to start: as the command line says, or as the adapter does, on as many cores as there are.
    fn jobs_of(&self, named: Named, argument: &str) -> Option<NonZeroUsize> {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let of_adapter = || adapter(named, argument)?.manifest().jobs.map(|jobs| jobs.min(cores()));
        self.jobs.or_else(of_adapter)
    }

    /// The options besides the backend that a command line needs to repeat a case.
    fn sources(&self, job: &Job<'_>) -> Vec<String> {
        let files = self.files.iter().map(|file| path("--cases", file));
        let repeat = (self.repeat.get() > 1).then(|| option("--repeat", self.repeat));
        let large = (self.suite == Some(Suite::Large)).then(|| "--suite large".to_owned());
        job.folders.options().into_iter().chain(files).chain(repeat).chain(large).collect()
    }
}

/// The adapter that a backend is, if it is one.
fn adapter(named: Named, argument: &str) -> Option<&'static Adapter> {
    if named == Named::Option { adapters::adapter(argument) } else { None }
}

/// The command lines for a campaign on a backend.
fn reproduction(job: &Job<'_>, named: Named, argument: &str, options: Vec<String>) -> Reproduction {
    Reproduction::new(named, argument, &[job.folders.options(), options].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_draws_the_number_of_its_manifest_unless_options_say_otherwise() {
        let drawn = |run: &Run| run.drawn(300);
        assert_eq!(drawn(&Run::default()), 300);
        assert_eq!(drawn(&Run { campaign: Some(7), ..Run::default() }), 7);
        assert_eq!(drawn(&Run { no_campaign: true, ..Run::default() }), 0);
        assert_eq!(drawn(&Run { patterns: vec!["*/batch/*".to_owned()], ..Run::default() }), 0);
    }
}
