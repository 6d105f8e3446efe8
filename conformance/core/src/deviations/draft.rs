//! Drafts a file of deviations from a run: entries that cover every failure and no result that is right.
//!
//! Failures of one verdict and reason are merged where a selector describes them exactly: first over all cases of an
//! operator, then over those of a topic, then over those of one case; what is left has an entry each.
//! Of several selectors the one that covers most is taken. Drawn calls and laws are merged alike; what no selector describes
//! exactly is counted instead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Arc;

use gather_spec::{Case, DType};

use crate::entry::Entry;
use crate::judge::Verdict;
use crate::report::{BackendReport, Departure, FailureKind, Part, Problem};
use crate::select::Pattern;
use crate::words::quoted;

use super::SCHEMA;
use super::selector::{Carried, Selector, Span};
use crate::facts::{ExpectedOutcome, Facts, JudgedCase};

/// The fewest drawn calls that a selector describes, unless it describes all: fewer may agree by accident.
const FEWEST: usize = 3;

/// How every traceback of Python begins, whatever it is about.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// The prefix of the message of an error without a code.
const WITHOUT_CODE: &str = "error without a code: ";

/// The most characters of a comment.
const LONGEST: usize = 160;

/// A result that a draft is about.
struct Item<'a> {
    facts: Facts,
    /// As observed.
    verdict: Verdict,
    why: Why<'a>,
    /// What the backend did.
    shown: &'a str,
}

/// The explanation of a failure in an earlier file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Why<'a> {
    reason: &'a str,
    link: Option<&'a str>,
    finding: bool,
}

/// A deviations file that covers every failure of a report on these cases, with the reasons that are known; the others are
/// left for people to fill in.
#[must_use]
pub fn draft(report: &BackendReport, cases: &[&Arc<Case>]) -> String {
    let mut text = format!(
        "# Drafted by gatherspec {}: look at each one. A mistake of the suite is mended there, one of the backend gets\n\
         # its reason here; without a reason the file is refused.\n\
         schema: {SCHEMA}\nbackend: {}\n",
        env!("CARGO_PKG_VERSION"),
        quoted(&report.backend.name)
    );
    let entries = profiles(report) + &of_cases(report, cases);
    text.push_str(if entries.is_empty() { "deviations: []\n" } else { "deviations:\n" });
    text + &entries + &of_campaign(report)
}

/// Entries for departures of the declared policies, with the reasons that are known.
fn profiles(report: &BackendReport) -> String {
    let unexplained = report.problems.iter().filter_map(|problem| match problem {
        Problem::Unexplained(departure) => Some(departure),
        _ => None,
    });
    let explained = report.departures.iter().filter(|departure| departure.reason.is_some());
    let mut all: Vec<&Departure> = unexplained.chain(explained).collect();
    all.sort_by_key(|departure| departure.operator.as_str());
    let entry = |of_one: &[&Departure]| {
        let Departure { operator, reason, .. } = of_one[0];
        let said: String =
            of_one.iter().map(|departure| format!("  # it declares {}\n", departure.policy)).collect();
        let reason = quoted(reason.as_deref().unwrap_or_default());
        format!("{said}  - profile: {}\n    reason: {reason}\n", quoted(operator))
    };
    all.chunk_by(|one, other| one.operator == other.operator).map(entry).collect()
}

/// Entries about cases.
fn of_cases(report: &BackendReport, cases: &[&Arc<Case>]) -> String {
    let by_id: HashMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), &***case)).collect();
    let runs = report.results.iter().filter_map(|result| Some((*by_id.get(result.id.as_str())?, result)));
    let runs = runs.flat_map(|(case, result)| result.all.iter().map(move |run| (case, run)));
    let (runs, items): (Vec<(&Case, &str)>, Vec<Item<'_>>) =
        runs.filter_map(|(case, run)| Some(((case, run.id.as_str()), item_of(run)?))).unzip();
    let mut text = String::new();
    for (operator, kind, mut left) in groups(&runs, &items) {
        let topics: BTreeSet<String> =
            left.iter().map(|at| format!("{operator}/{}/*", runs[*at].0.topic())).collect();
        let of_cases: BTreeSet<String> = left.iter().map(|at| runs[*at].0.id.clone()).collect();
        let scopes = std::iter::once(format!("{operator}/*")).chain(topics).chain(of_cases);
        for scope in scopes {
            let Ok(pattern) = Pattern::new(&scope) else { continue };
            let is_named = |at: &usize| pattern.matches_run(runs[*at].0, runs[*at].1);
            let named: Vec<usize> = (0..runs.len()).filter(is_named).collect();
            while let Some((selector, covered)) = widest(&items, &named, &left, 2) {
                write_case(&mut text, &scope, &selector, kind, items[covered[0]].shown);
                left.retain(|at| !covered.contains(at));
            }
        }
        for at in left {
            let (case, run) = runs[at];
            // Without a place, the id of a run that is the first of several means all of them.
            let mode =
                items[at].facts.mode.clone().filter(|_| run == case.id && case.axes.combinations() > 1);
            let selector = Selector { mode: mode.map(|mode| BTreeSet::from([mode])), ..Selector::default() };
            write_case(&mut text, run, &selector, kind, items[at].shown);
        }
    }
    text
}

/// The result of a run, if it was sent.
fn item_of(run: &Entry) -> Option<Item<'_>> {
    let why = Why {
        reason: run.reason.as_deref().unwrap_or_default(),
        link: run.link.as_deref(),
        finding: run.finding,
    };
    let verdict = run.as_observed();
    let facts = run.facts.as_deref().filter(|_| run.was_asked())?.clone();
    Some(Item { facts, verdict, why, shown: run.actual.as_deref().unwrap_or_default() })
}

/// The failures of each operator, by verdict and reason.
fn groups<'a>(
    runs: &[(&'a Case, &str)],
    items: &[Item<'a>],
) -> Vec<(&'a str, (Verdict, Why<'a>), Vec<usize>)> {
    let mut groups: BTreeMap<(&str, (Verdict, Why<'_>)), Vec<usize>> = BTreeMap::new();
    for (at, ((case, _), item)) in runs.iter().zip(items).enumerate() {
        if item.verdict.is_failure() {
            let kind = (item.verdict, item.why);
            groups.entry((case.operator().as_str(), kind)).or_default().push(at);
        }
    }
    groups.into_iter().map(|((operator, kind), found)| (operator, kind, found)).collect()
}

fn write_case(text: &mut String, case: &str, selector: &Selector, kind: (Verdict, Why<'_>), shown: &str) {
    let (verdict, why) = kind;
    let _ = write!(text, "  # {}\n  - case: {}\n", one_line(shown), quoted(case));
    if !selector.is_empty() {
        let _ = writeln!(text, "    where: {selector}");
    }
    let _ = writeln!(text, "    verdict: {verdict}");
    write_why(text, why);
}

fn write_why(text: &mut String, why: Why<'_>) {
    let _ = writeln!(text, "    reason: {}", quoted(why.reason));
    if let Some(link) = why.link {
        let _ = writeln!(text, "    link: {}", quoted(link));
    }
    if why.finding {
        text.push_str("    finding: true\n");
    }
}

/// The beginning of a text, as a comment.
fn one_line(text: &str) -> String {
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The selector that describes most of the failures that are `left`, and no other of the `named` results;
/// also returns the failures that it describes, which are at least `fewest`, or all.
fn widest(
    items: &[Item<'_>],
    named: &[usize],
    left: &[usize],
    fewest: usize,
) -> Option<(Selector, Vec<usize>)> {
    let wanted: BTreeSet<usize> = left.iter().copied().collect();
    let here: Vec<usize> = named.iter().copied().filter(|at| wanted.contains(at)).collect();
    let mut best: Option<(Selector, Vec<usize>)> = None;
    for selector in candidates(items, named, &wanted, &here) {
        let covered = || named.iter().copied().filter(|at| selector.fits(&items[*at].facts));
        if covered().all(|at| wanted.contains(&at)) {
            let covered: Vec<usize> = covered().collect();
            // Of two that cover equally many, the first is the plainer one.
            if covered.len() > best.as_ref().map_or(0, |(_, most)| most.len()) {
                best = Some((selector, covered));
            }
        }
    }
    best.filter(|(_, covered)| covered.len() >= fewest || covered.len() == left.len())
}

/// The selectors to try, the plainest first, each alone and together with what is expected.
fn candidates(
    items: &[Item<'_>],
    named: &[usize],
    wanted: &BTreeSet<usize>,
    here: &[usize],
) -> Vec<Selector> {
    let facts = || here.iter().map(|at| &items[*at].facts);
    if here.is_empty() {
        return Vec::new();
    }
    let mut plain = vec![Selector::default()];
    plain.extend([true, false].map(|empty| Selector { empty: Some(empty), ..Selector::default() }));
    let ranks: BTreeSet<u64> = facts().map(|facts| facts.rank).collect();
    let sizes: BTreeSet<u64> = facts().map(|facts| facts.size).collect();
    let mut with_rank = |rank| plain.push(Selector { rank: Some(rank), ..Selector::default() });
    ranks.iter().for_each(|rank| with_rank(Span::from(*rank)));
    ranks.iter().for_each(|rank| with_rank(Span::up_to(*rank)));
    ranks.iter().for_each(|rank| with_rank(Span::only(*rank)));
    let is_wanted = |at: &&usize| wanted.contains(at);
    let others = || named.iter().filter(|at| !is_wanted(at)).map(|at| items[*at].facts.size);
    // The least size beyond those of all other results.
    let least = others().max().and_then(|size| sizes.range(size + 1..).next().copied());
    plain.extend(least.map(|size| Selector { size: Some(Span::from(size)), ..Selector::default() }));
    let params = |at: usize| items[at].facts.params;
    let indices = |at: usize| items[at].facts.indices;
    let dtypes = [pure(named, wanted, params), pure(named, wanted, indices)];
    let [params, indices] = dtypes.map(|dtypes: BTreeSet<DType>| (!dtypes.is_empty()).then_some(dtypes));
    plain.extend(params.map(|dtypes| Selector { params_dtype: Some(dtypes), ..Selector::default() }));
    plain.extend(indices.map(|dtypes| Selector { index_dtype: Some(dtypes), ..Selector::default() }));
    let modes = pure(named, wanted, |at| items[at].facts.mode.clone());
    let modes: BTreeSet<String> = modes.into_iter().flatten().collect();
    plain.extend((!modes.is_empty()).then(|| Selector { mode: Some(modes), ..Selector::default() }));
    let attributes: BTreeSet<&String> =
        facts().flat_map(|facts| facts.attributes.iter().map(|(name, _)| name)).collect();
    plain.extend(
        attributes
            .into_iter()
            .map(|name| Selector { attribute: Some(Carried::Name(name.clone())), ..Selector::default() }),
    );
    plain.extend(
        messages(items, here)
            .into_iter()
            .map(|message| Selector { message: Some(message), ..Selector::default() }),
    );
    let expected: BTreeSet<ExpectedOutcome> =
        facts().flat_map(|facts| facts.expected.iter().copied()).collect();
    let alone: Vec<BTreeSet<ExpectedOutcome>> =
        expected.iter().map(|expected| BTreeSet::from([*expected])).collect();
    let with = |expected: &BTreeSet<ExpectedOutcome>| {
        let expected = expected.clone();
        plain.clone().into_iter().map(move |one| Selector { expected: Some(expected.clone()), ..one })
    };
    let together: Vec<Selector> = std::iter::once(&expected).chain(&alone).flat_map(with).collect();
    plain.into_iter().chain(together).collect()
}

/// The values of a property that only wanted results have.
fn pure<T: Ord>(named: &[usize], wanted: &BTreeSet<usize>, value: impl Fn(usize) -> T) -> BTreeSet<T> {
    let (here, others): (Vec<usize>, Vec<usize>) = named.iter().partition(|at| wanted.contains(at));
    let others: BTreeSet<T> = others.into_iter().map(&value).collect();
    here.into_iter().map(value).filter(|value| !others.contains(value)).collect()
}

/// What a backend said more than once.
fn messages(items: &[Item<'_>], here: &[usize]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for message in here.iter().filter_map(|at| first_line(&items[*at])) {
        *counts.entry(message).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(line, _)| line).collect()
}

/// The first line of what a backend said, so that addresses and traces behind it do not matter.
fn first_line(item: &Item<'_>) -> Option<String> {
    let line = item.facts.message.as_deref()?.lines().next()?;
    let line = line.strip_prefix(WITHOUT_CODE).unwrap_or(line);
    let line: String = line.chars().take(LONGEST).collect();
    (!line.trim().is_empty() && !line.starts_with(TRACEBACK)).then_some(line)
}

/// Entries about drawn calls and laws.
fn of_campaign(report: &BackendReport) -> String {
    let mut text = String::new();
    for campaign in report.campaign.iter().filter(|campaign| !campaign.kinds.is_empty()) {
        let mut of_part = String::new();
        let mut scopes: BTreeMap<(Option<&str>, &str), Vec<&JudgedCase>> = BTreeMap::new();
        for call in &campaign.drawn {
            scopes.entry((call.law.as_deref(), &call.operator)).or_default().push(call);
        }
        for (scope, calls) in scopes {
            let items: Vec<Item<'_>> = calls.iter().map(|call| item_of_call(call, &campaign.kinds)).collect();
            of_scope(&mut of_part, scope, &items, campaign.is_usual);
        }
        if !of_part.is_empty() {
            text.push_str(if campaign.part == Part::Drawn { "drawn:\n" } else { "laws:\n" });
            text.push_str(&of_part);
        }
    }
    text
}

fn item_of_call<'a>(call: &'a JudgedCase, kinds: &'a [FailureKind]) -> Item<'a> {
    let known = call.known.and_then(|number| {
        kinds.iter().find(|kind| kind.known == Some(number) && kind.entry.reason.is_some())
    });
    let why = known.map_or_else(Why::default, |kind| Why {
        reason: kind.entry.reason.as_deref().unwrap_or_default(),
        link: kind.entry.link.as_deref(),
        finding: false,
    });
    Item { facts: call.facts.clone(), verdict: call.verdict, why, shown: &call.shown }
}

/// Entries about the calls of an operator, or the instances of a law.
fn of_scope(text: &mut String, scope: (Option<&str>, &str), items: &[Item<'_>], is_usual: bool) {
    let all: Vec<usize> = (0..items.len()).collect();
    let mut groups: BTreeMap<(Verdict, Why<'_>), Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| item.verdict.is_failure()) {
        groups.entry((item.verdict, item.why)).or_default().push(at);
    }
    let mut rest = Vec::new();
    for (kind, mut left) in groups {
        while let Some((selector, covered)) = widest(items, &all, &left, FEWEST) {
            write_call(text, scope, &selector, kind, items[covered[0]].shown, None);
            left.retain(|at| !covered.contains(at));
        }
        if !left.is_empty() {
            rest.push((kind, left));
        }
    }
    // Entries whose selector also fits passing calls come last.
    for (kind, left) in rest {
        let shown = items[left[0]].shown;
        let message = first_line(&items[left[0]]);
        if message.is_some() && left.iter().all(|at| first_line(&items[*at]) == message) {
            write_call(text, scope, &Selector { message, ..Selector::default() }, kind, shown, None);
            continue;
        }
        // A campaign shorter than usual does not show how many calls of the usual one deviate.
        let calls = if is_usual { Span::only(left.len() as u64) } else { Span::from(1) };
        write_call(text, scope, &about(items, &left), kind, shown, Some(calls));
    }
}

/// What the failures have in common, without what all calls have in common.
fn about(items: &[Item<'_>], left: &[usize]) -> Selector {
    let of = |value: fn(&Facts) -> DType| {
        let all: BTreeSet<DType> = items.iter().map(|item| value(&item.facts)).collect();
        let some: BTreeSet<DType> = left.iter().map(|at| value(&items[*at].facts)).collect();
        (some.len() < all.len()).then_some(some)
    };
    let expected: BTreeSet<ExpectedOutcome> =
        left.iter().flat_map(|at| items[*at].facts.expected.iter().copied()).collect();
    Selector {
        expected: (!expected.is_empty()).then_some(expected),
        params_dtype: of(|facts| facts.params),
        index_dtype: of(|facts| facts.indices),
        ..Selector::default()
    }
}

fn write_call(
    text: &mut String,
    (law, operator): (Option<&str>, &str),
    selector: &Selector,
    (verdict, why): (Verdict, Why<'_>),
    shown: &str,
    calls: Option<Span>,
) {
    let _ = write!(text, "  # {}\n  - ", one_line(shown));
    if let Some(law) = law {
        let _ = write!(text, "law: {}\n    ", quoted(law));
    }
    let _ = writeln!(text, "operator: {}", quoted(operator));
    if !selector.is_empty() {
        let _ = writeln!(text, "    where: {selector}");
    }
    let _ = match calls {
        None => writeln!(text, "    verdict: {verdict}"),
        Some(calls) => writeln!(text, "    verdict: [{verdict}, pass]\n    calls: {calls}"),
    };
    write_why(text, why);
}
