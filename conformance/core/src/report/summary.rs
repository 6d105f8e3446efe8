//! What a backend was asked of the selected cases and what not, and the sentence that ends a run.
//!
//! All counts are over the cases that the run selected. With `--case`, `--operator`, `--basis` or `--suite` nothing is
//! said about the others. Every format of the report uses the same sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::backend::{Description, Identity};
use crate::builtin;
use crate::judge::Verdict;
use crate::words::{counted, shown};
use gather_spec::{Case, ErrorCode, Specification};

use super::campaign::{Part, PartReport};
use super::departure::Problem;
use super::found::{BackendReport, CaseCounts, Ending, Summary};
use crate::entry::{Entry, Tested};

impl BackendReport {
    /// A report on a backend that was not run.
    #[must_use]
    pub fn broken(argument: String, why: &str) -> Self {
        let backend = Identity { name: argument.clone(), version: String::new(), language: String::new() };
        let description = Description { backend, operators: BTreeMap::new() };
        let nothing = Specification::default();
        let mut report = Self { broken: Some(shown(why)), ..Self::new(argument, &description, &nothing) };
        report.conclude(&[], &nothing);
        report
    }

    /// Completes the report once every result, deviation and problem is in: sets [`BackendReport::summary`] and the texts of
    /// clauses. `cases` are those that the run selected, in the order of the results.
    pub fn conclude(&mut self, cases: &[&Arc<Case>], spec: &Specification) {
        self.summary = Summary::new(self, cases, spec);
        let unusual = self.entries().filter(|entry| entry.was_asked() && entry.verdict != Verdict::Pass);
        let said = unusual.flat_map(|entry| entry.clauses.iter()).filter_map(|id| spec.clause(id));
        self.clauses = said.map(|clause| (clause.id.clone(), clause.text.trim().to_owned())).collect();
    }
}

impl Summary {
    /// Summarizes a run of `cases`, which are in the order of the report's results.
    fn new(report: &BackendReport, cases: &[&Arc<Case>], spec: &Specification) -> Self {
        let mut summary = Self {
            failures: report.failed() + report.problems.len() + usize::from(report.broken.is_some()),
            ..Self::default()
        };
        let undeclared = cases.iter().map(|case| case.operator().as_str());
        let undeclared = undeclared.filter(|operator| report.broken.is_none() && !report.declares(operator));
        let undeclared: BTreeSet<&str> = undeclared.collect();
        summary.undeclared = undeclared.into_iter().map(str::to_owned).collect();
        for entry in &report.results {
            let counts = summary.operators.entry(entry.operator.clone()).or_default();
            counts.cases += 1;
            counts.asked += usize::from(entry.was_asked());
            counts.runs += entry.runs_asked();
        }
        summary.count_clauses(report, spec);
        summary.ending = summary.ending(report);
        summary.sentence = summary.sentence(report, cases.len());
        summary
    }

    /// Finds the clauses that were never tested, or never rejected under, and those that are outside of what is declared.
    fn count_clauses(&mut self, report: &BackendReport, spec: &Specification) {
        let mut tested: BTreeMap<&str, Tested> = BTreeMap::new();
        let mut rejected: BTreeMap<(&str, ErrorCode), Tested> = BTreeMap::new();
        let mut by_operator: BTreeMap<&str, BTreeMap<&str, Tested>> = BTreeMap::new();
        let mut declared: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let tests =
            report.results.iter().flat_map(|entry| entry.tested.iter().map(move |test| (entry, test)));
        for (entry, test) in tests {
            let operator = entry.operator.as_str();
            let Some(capability) = report.declared.get(operator) else { continue };
            let now = test.tested;
            if now == Tested::Outside {
                declared.entry(capability.to_string()).or_default().insert(operator);
            }
            for id in test.clauses.iter() {
                let clauses = by_operator.entry(operator).or_default();
                for all in [clauses, &mut tested] {
                    let best = all.entry(id).or_default();
                    *best = now.max(*best);
                }
                let clause = spec.clause(id);
                for code in
                    test.codes.iter().filter(|code| clause.is_some_and(|one| one.rejects.contains(code)))
                {
                    let best = rejected.entry((id, *code)).or_default();
                    *best = now.max(*best);
                }
            }
        }
        let ids = |wanted| {
            tested.iter().filter(move |(_, found)| **found == wanted).map(|(id, _)| (*id).to_owned())
        };
        self.untested = ids(Tested::NotAsked).collect();
        self.outside = ids(Tested::Outside).collect();
        for ((id, code), found) in rejected {
            // Clauses that were not tested at all are already listed.
            match found {
                _ if tested.get(id) != Some(&Tested::Asked) => {}
                Tested::Asked => {}
                Tested::NotAsked => self.unrejected.entry(id.to_owned()).or_default().push(code),
                Tested::Outside => self.outside.push(format!("{id} ({code})")),
            }
        }
        let is_thin = |clauses: &BTreeMap<&str, Tested>| {
            clauses.values().filter(|found| **found == Tested::Outside).count() * 2 > clauses.len()
        };
        let thin = by_operator.iter().filter(|(_, clauses)| is_thin(clauses));
        self.thin = thin.map(|(operator, _)| (*operator).to_owned()).collect();
        let owned = |operators: BTreeSet<&str>| operators.into_iter().map(str::to_owned).collect();
        self.declared = declared.into_iter().map(|(words, operators)| (words, owned(operators))).collect();
    }

    /// The end of the sentence if drawn calls of some operators could not be compared, since they have no reference.
    fn without_reference(&self, report: &BackendReport) -> String {
        let is_drawn = |campaign: &PartReport| campaign.part == Part::Drawn && campaign.left_out.is_none();
        let names = self.operators.keys().map(String::as_str);
        let without: Vec<&str> = names.filter(|name| !builtin::has_reference(name)).collect();
        if without.is_empty() || !report.campaign.iter().any(is_drawn) {
            return String::new();
        }
        format!("; without a reference, drawn calls of {} are checked by laws only", without.join(", "))
    }

    fn ending(&self, report: &BackendReport) -> Ending {
        let is_whole = self.untested.is_empty() && self.unrejected.is_empty() && self.thin.is_empty();
        match () {
            () if report.broken.is_some() => Ending::NotRun,
            () if self.failures > 0 => Ending::Fails,
            () if self.asked().asked == 0 => Ending::NothingAsked,
            () if !is_whole => Ending::AskedInPart,
            () if known(report).next().is_some() => Ending::ConformsBut,
            () => Ending::Conforms,
        }
    }

    /// What the backend conforms for, if some cases are outside of what it declares.
    pub fn conforms_for(&self) -> Option<String> {
        let mut declared = self.declared.keys();
        match (declared.next(), declared.next()) {
            (Some(words), None) => Some(words.clone()),
            (Some(_), Some(_)) => Some("what it declares".to_owned()),
            (None, _) => None,
        }
    }

    /// Why nothing is said to conform although nothing fails.
    fn gaps(&self) -> String {
        let untested = self.untested.len() + self.unrejected.len();
        let verb = if untested == 1 { "was" } else { "were" };
        let untested = (untested > 0).then(|| format!("{} {verb} not tested", counted(untested, "clause")));
        let thin = (!self.thin.is_empty())
            .then(|| format!("most clauses of {} are outside of what it declares", self.thin.join(", ")));
        untested.into_iter().chain(thin).collect::<Vec<_>>().join(", ")
    }

    fn sentence(&self, report: &BackendReport, selected: usize) -> String {
        let CaseCounts { asked, cases, runs } = self.asked();
        let in_runs = if runs > asked { format!(" in {}", counted(runs, "run")) } else { String::new() };
        let interrupted = report.problems.iter().find_map(|problem| match problem {
            Problem::Interrupted { signal, .. } => Some(signal),
            _ => None,
        });
        let mut share = match asked {
            0 => "nothing was asked".to_owned(),
            // The others were not counted.
            _ if interrupted.is_some() => format!("{} asked{in_runs}", counted(asked, "case")),
            _ => format!("{asked} of {} asked{in_runs}", counted(cases, "case")),
        };
        for campaign in report.campaign.iter().filter(|campaign| campaign.left_out.is_none()) {
            let _ = write!(share, ", {} {}", campaign.compared, campaign.part.compared());
        }
        let known = known_in_words(report);
        let but = known.as_ref().map(|known| format!(" but for {known}")).unwrap_or_default();
        let conforms_for = self.conforms_for().map(|declared| format!(" for {declared}")).unwrap_or_default();
        let ended = match self.ending {
            Ending::NotRun => "the backend was not run".to_owned(),
            Ending::NothingAsked => {
                let chosen = counted(selected, "chosen case");
                format!("nothing was asked: of {chosen} the backend declares none")
            }
            Ending::Fails => {
                let beside = known.map(|known| format!("beside {known}"));
                let said = [
                    interrupted.map(|signal| format!("interrupted by {signal}")),
                    failures_in_words(report),
                    not_run_in_words(report),
                    beside,
                ];
                let said: Vec<String> = said.into_iter().flatten().collect();
                format!("{share}: {}", said.join(", "))
            }
            Ending::AskedInPart => format!("{share}: nothing that was asked fails{but}, but {}", self.gaps()),
            Ending::ConformsBut => format!("{share}: conforms{conforms_for}{but}"),
            Ending::Conforms if conforms_for.is_empty() => format!("{share}: everything conforms"),
            Ending::Conforms => format!("{share}: conforms{conforms_for}"),
        };
        ended + &self.without_reference(report)
    }
}

/// What does not conform: verdicts, and problems that belong to no case.
fn failures_in_words(report: &BackendReport) -> Option<String> {
    let verdicts = report.failed() - not_run(report);
    let is_other = |problem: &&Problem| !matches!(problem, Problem::Interrupted { .. });
    let problems = report.problems.iter().filter(is_other).count();
    let counts = [(verdicts, "verdict"), (problems, "problem")];
    let said: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, of)| counted(*count, of)).collect();
    match (verdicts, verdicts + problems) {
        (_, 0) => None,
        (0, _) => Some(said.concat()),
        (_, 1) => Some(format!("{} does not conform", said.concat())),
        _ => Some(format!("{} do not conform", said.join(" and "))),
    }
}

fn not_run(report: &BackendReport) -> usize {
    report.results.iter().filter(|entry| entry.verdict == Verdict::NotRun).count()
}

fn not_run_in_words(report: &BackendReport) -> Option<String> {
    let count = not_run(report);
    let verb = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| format!("{} {verb} not run", counted(count, "case")))
}

fn known(report: &BackendReport) -> impl Iterator<Item = Verdict> {
    let known = report.entries().filter(|entry| entry.verdict == Verdict::KnownDeviation);
    known.map(Entry::as_observed)
}

/// The known deviations in words, with the worst ones named: `40 known deviations, 3 of them crashes`.
fn known_in_words(report: &BackendReport) -> Option<String> {
    let all = known(report).count();
    let mut words = counted(all, "known deviation");
    for (verdict, one, many) in
        [(Verdict::Crash, "a crash", "crashes"), (Verdict::Timeout, "a timeout", "timeouts")]
    {
        let count = known(report).filter(|observed| *observed == verdict).count();
        if count > 0 {
            let _ = write!(words, ", {count} of them {}", if count == 1 { one } else { many });
        }
    }
    (all > 0).then_some(words)
}

#[cfg(test)]
mod tests {
    use gather_spec::Profile;

    use super::*;
    use crate::backend::{Description, Identity};
    use crate::judge::{Judgement, Strictness};
    use crate::judged::Judged;

    /// A report on cases, each with a verdict; the operator of one without is not declared.
    fn report(results: &[(&Arc<Case>, Option<Verdict>)], spec: &Specification) -> BackendReport {
        let backend = Identity { name: "mine".into(), version: "1".into(), language: String::new() };
        let nothing = Description { backend, operators: BTreeMap::new() };
        let all = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        let mut report = BackendReport::new("mine".into(), &nothing, spec);
        for (case, verdict) in results.iter().filter_map(|(case, verdict)| Some((case, (*verdict)?))) {
            let run = &case.runs()[0];
            let judged = Judged::new(&all, run, Strictness::Lenient).unwrap();
            let result = judged.result(Judgement { verdict, note: None }, String::new(), None);
            let operator = case.operator().as_str();
            report.declared.insert(operator.to_owned(), all.operators[operator].clone());
            report.results.push(Entry::alone(run, result));
        }
        let cases: Vec<&Arc<Case>> = results.iter().map(|(case, _)| *case).collect();
        report.conclude(&cases, spec);
        report
    }

    /// The summary of a run with these numbers of verdicts.
    fn ended(verdicts: &[(usize, Verdict)]) -> Summary {
        let spec = crate::embedded();
        let verdicts = verdicts.iter().flat_map(|(count, verdict)| std::iter::repeat_n(*verdict, *count));
        let cases = spec.cases.iter().filter(|case| case.operator().as_str() == "tf.gather");
        let results: Vec<_> = cases.zip(verdicts.map(Some)).collect();
        report(&results, spec).summary
    }

    #[test]
    fn nothing_conforms_where_a_clause_within_the_declaration_was_not_tested() {
        let spec = crate::embedded();
        let of_clause = |id: &str| {
            let tests = |case: &&Arc<Case>| case.clauses.iter().any(|clause| clause == id);
            spec.cases.iter().filter(tests).take(2).collect::<Vec<_>>()
        };
        let values = of_clause("tf.gather.value.vector-of-indices");
        let [one, other] = [values[0], values[1]];
        let ended = |results: &[_]| report(results, spec).summary;
        // The reference declares the dtypes of all cases, so that those that were not asked are within the declaration.
        let all = ended(&[(one, Some(Verdict::Pass)), (other, Some(Verdict::Pass))]);
        assert_eq!(all.sentence, "2 of 2 cases asked: everything conforms");
        let untested = ended(&[(one, Some(Verdict::Unsupported))]);
        assert_eq!(untested.sentence, "nothing was asked: of 1 chosen case the backend declares none");
        let clauses = of_clause("tf.gather.axis.any-position");
        let some = ended(&[(one, Some(Verdict::Pass)), (clauses[0], Some(Verdict::Unsupported))]);
        assert_eq!(some.ending, Ending::AskedInPart);
        let said = "1 of 2 cases asked: nothing that was asked fails, but 2 clauses were not tested";
        assert_eq!((some.sentence.as_str(), some.failures), (said, 0));
        assert_eq!(some.operators["tf.gather"], CaseCounts { asked: 1, cases: 2, runs: 1 });
    }

    #[test]
    fn failures_are_counted_whatever_was_asked() {
        let one = ended(&[(1, Verdict::WrongOutput), (9, Verdict::Unsupported)]);
        assert_eq!(one.sentence, "1 of 10 cases asked: 1 verdict does not conform");
        let two = ended(&[(8, Verdict::Pass), (1, Verdict::Crash), (1, Verdict::UnexpectedPass)]);
        assert_eq!(two.sentence, "10 of 10 cases asked: 2 verdicts do not conform");
        assert_eq!((one.failures, two.failures, two.ending), (1, 2, Ending::Fails));
        let spent = ended(&[(7, Verdict::Pass), (1, Verdict::Crash), (2, Verdict::NotRun)]);
        assert_eq!(spent.sentence, "8 of 10 cases asked: 1 verdict does not conform, 2 cases were not run");
    }

    #[test]
    fn an_interruption_and_a_problem_are_no_verdicts() {
        let spec = crate::embedded();
        let cases = [&spec.cases[0]; 3];
        let mut report = report(&[(cases[0], Some(Verdict::Pass)); 3], spec);
        let mut said = |problems| {
            report.problems = problems;
            report.conclude(&cases, spec);
            report.summary.sentence.clone()
        };
        let interrupted = || Problem::Interrupted { signal: "SIGINT".to_owned(), done: 3, cases: 9 };
        assert_eq!(said(vec![interrupted()]), "3 cases asked: interrupted by SIGINT");
        let stop = || Problem::Said("after `stop` the process ended with exit status 1".to_owned());
        assert_eq!(said(vec![stop()]), "3 of 3 cases asked: 1 problem");
        assert_eq!(said(vec![stop(), interrupted()]), "3 cases asked: interrupted by SIGINT, 1 problem");
        report.results[0].verdict = Verdict::Crash;
        report.problems = vec![stop()];
        report.conclude(&cases, spec);
        let both = "3 of 3 cases asked: 1 verdict and 1 problem do not conform";
        assert_eq!(report.summary.sentence, both);
    }

    #[test]
    fn known_deviations_are_named_and_the_worst_of_them_too() {
        let spec = crate::embedded();
        let mut report = report(&vec![(&spec.cases[0], Some(Verdict::KnownDeviation)); 40], spec);
        for (at, entry) in report.results.iter_mut().enumerate() {
            entry.observed = Some(match at {
                0..3 => Verdict::Crash,
                3 => Verdict::Timeout,
                _ => Verdict::WrongOutput,
            });
        }
        report.conclude(&[&spec.cases[0]; 40], spec);
        let said = "40 of 40 cases asked: conforms but for 40 known deviations, 3 of them crashes, 1 of them a timeout";
        assert_eq!(report.summary.sentence, said);
        report.results[0].verdict = Verdict::Crash;
        report.conclude(&[&spec.cases[0]; 40], spec);
        let said = "40 of 40 cases asked: 1 verdict does not conform, beside 39 known deviations, 2 of them crashes, 1 of \
                    them a timeout";
        assert_eq!(report.summary.sentence, said);
    }

    #[test]
    fn an_operator_that_is_not_declared_is_named_and_not_counted() {
        let spec = crate::embedded();
        let of =
            |operator: &str| spec.cases.iter().find(|case| case.operator().as_str() == operator).unwrap();
        let results = [(of("tf.gather"), Some(Verdict::Pass)), (of("tf.gather_nd"), None)];
        let summary = report(&results, spec).summary;
        assert_eq!(summary.sentence, "1 of 1 case asked: everything conforms");
        assert_eq!(summary.undeclared, ["tf.gather_nd"]);
        assert!(summary.untested.is_empty() && summary.unrejected.is_empty());
    }

    #[test]
    fn clauses_of_cases_that_were_not_asked_are_named_once() {
        let spec = crate::embedded();
        let (clause, coverage) = spec
            .clauses
            .iter()
            .zip(spec.coverage())
            .filter(|(clause, _)| clause.id.starts_with("tf.gather.axis."))
            .find(|(_, coverage)| !coverage.accepting.is_empty() && !coverage.rejecting.is_empty())
            .unwrap();
        let (code, rejecting) = coverage.rejecting.iter().next().unwrap();
        let accepts = spec.case(coverage.accepting[0]).unwrap();
        let rejects = spec.case(rejecting[0]).unwrap();
        let ended = |accepted, rejected| {
            report(&[(accepts, Some(accepted)), (rejects, Some(rejected))], spec).summary
        };
        let partly = ended(Verdict::Pass, Verdict::Unsupported);
        assert_eq!(partly.unrejected.get(&clause.id), Some(&vec![*code]));
        assert!(!partly.untested.contains(&clause.id));
        let nothing = ended(Verdict::Unsupported, Verdict::Unsupported);
        assert!(nothing.untested.contains(&clause.id) && nothing.unrejected.is_empty());
        let all = ended(Verdict::Pass, Verdict::WrongError);
        assert!(all.untested.is_empty() && all.unrejected.is_empty(), "{all:?}");
    }
}
