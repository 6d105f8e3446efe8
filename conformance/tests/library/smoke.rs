//! The smoke suite: for each operator the cases that catch most, and what they catch of the mutants that all cases of the
//! operator catch in a program: one that declares everything, that declares one dtype pair, or whose limits leave plain calls
//! only. `GATHERSPEC_BLESS=1` chooses it anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use gather_conformance::Backend;
use gather_conformance::backend::{Description, Dtypes};
use gather_conformance::internals::judge::Strictness;
use gather_conformance::internals::runner::InProcess;
use gather_conformance::internals::select::smoke_ids;
use gather_spec::signature::{AttributeDefault, AttributeRole};
use gather_spec::{Call, Element, Form, Outcome, Profile, Run, Signature, Signatures, Tensor, TensorBuilder};
use gather_strength::mutants::correct;
use gather_strength::mutants::pairs::{NARROW, caught_in_programs};
use gather_strength::mutants::strength::CaughtUnder;
use rayon::prelude::*;

use crate::tiers;

/// The most cases of an operator.
const MOST: usize = 60;

/// How many of them are left for grids, whose sizes mutants do not depend on, but real kernels, once each mutant is caught.
const OF_GRIDS: usize = 12;

/// The most elements of a case of a grid that is chosen.
const SMALL: usize = 1 << 12;

/// The highest rank of a plain call.
const MAX_RANK: usize = 3;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/core/suites/smoke.txt");

/// A mutant with one of its profiles, in a program.
type Behind = (&'static str, CaughtUnder);

/// What cases catch, by their ids.
type Caught = BTreeMap<String, BTreeSet<Behind>>;

/// A program that a mutant is: its name and the dtypes that it declares; a plain one is asked plain calls only, and its errors
/// have no codes, as those of most users.
struct MutantProgram {
    name: &'static str,
    declared: Option<Dtypes>,
    is_plain: bool,
}

const fn program(name: &'static str, declared: Option<Dtypes>) -> MutantProgram {
    MutantProgram { name, declared, is_plain: false }
}

/// Everything that a page lists, the narrow declarations, and the first of those in plain calls.
const PROGRAMS: [MutantProgram; 6] = [
    program("everything", None),
    program("f32 by i64", Some(NARROW[0])),
    program("i32 by i32", Some(NARROW[1])),
    program("u8 by i64", Some(NARROW[2])),
    program("string by i32", Some(NARROW[3])),
    MutantProgram { name: "f32 by i64 in plain calls", declared: Some(NARROW[0]), is_plain: true },
];

fn caught(signature: &Signature, cases: &[&Run], programs: &[MutantProgram]) -> Caught {
    let signatures: Signatures = std::iter::once(signature.clone()).collect();
    let mut all = Caught::new();
    for MutantProgram { name, declared, is_plain: only_plain } in programs {
        let cases = cases.iter().filter(|case| !only_plain || is_plain(signature, case));
        let cases: Vec<&Run> = cases.copied().collect();
        for (id, mutants) in caught_in_programs(&signatures, &cases, *declared, !only_plain) {
            all.entry(id).or_default().extend(mutants.into_iter().map(|mutant| (*name, mutant)));
        }
    }
    all
}

/// Whether the operands have few dims and none of 0, and the call no attribute that it could lack.
fn is_plain(signature: &Signature, case: &Run) -> bool {
    let mut shapes = [case.params(), case.indices()].map(Tensor::shape).into_iter();
    let may_lack = |name: &str| {
        let attribute = signature.attributes.iter().find(|attribute| *attribute.name == *name);
        attribute.is_none_or(|one| one.role != AttributeRole::Axis && one.default != AttributeDefault::None)
    };
    shapes.all(|shape| (1..=MAX_RANK).contains(&shape.len()) && !shape.contains(&0))
        && (signature.form == Form::Window || !case.call.attributes.iter().any(|(name, _)| may_lack(name)))
}

/// How many mutants are caught behind each declaration.
fn together<'a>(caught: impl IntoIterator<Item = &'a BTreeSet<Behind>>) -> BTreeMap<&'static str, usize> {
    let all: BTreeSet<&Behind> = caught.into_iter().flatten().collect();
    PROGRAMS
        .map(|program| program.name)
        .into_iter()
        .map(|name| (name, all.iter().filter(|(declared, _)| *declared == name).count()))
        .collect()
}

/// The cases of an operator that catch most together, each as much as it can of what the earlier ones leave, then as
/// many that each mutant is caught twice, so that it fails behind limits, too; and cases of grids, spread over all.
fn chosen<'a>(cases: &[&'a Run], caught: &Caught) -> Vec<&'a str> {
    let mut chosen = BTreeSet::new();
    for most in [MOST, MOST - OF_GRIDS] {
        let left = |id: &str| !chosen.contains(id);
        let of_left = caught.iter().filter(|(id, _)| left(id));
        let mut open: BTreeSet<Behind> = of_left.flat_map(|(_, of_case)| of_case).copied().collect();
        while chosen.len() < most && !open.is_empty() {
            let catches = |case: &&&Run| {
                let of_case = caught.get(&case.id).filter(|_| !chosen.contains(case.id.as_str()));
                of_case.map_or(0, |of_case| of_case.iter().filter(|one| open.contains(*one)).count())
            };
            // Of equals the first, which is the simplest more often than not.
            let best = cases.iter().rev().max_by_key(catches).expect("an operator has cases");
            open.retain(|one| !caught[&best.id].contains(one));
            chosen.insert(best.id.as_str());
        }
    }
    let is_small = |case: &&&Run| {
        let mut tensors = case.call.operands.tensors();
        case.case.axes.has_sizes() && tensors.all(|tensor| tensor.shape().element_count() <= SMALL)
    };
    let grid: Vec<&&Run> = cases.iter().filter(is_small).collect();
    let room = (MOST - chosen.len()).min(grid.len());
    chosen.extend((0..room).map(|at| grid[(2 * at + 1) * grid.len() / (2 * room)].id.as_str()));
    cases.iter().map(|case| case.id.as_str()).filter(|id| chosen.contains(id)).collect()
}

fn cases_of(signature: &Signature) -> Vec<&'static Run> {
    crate::embedded_runs().iter().filter(|case| case.call.operator == signature.operator).collect()
}

fn choose() -> String {
    let mut text = format!(
        "# The smoke suite. Above the cases of each operator: how many mutants, each under each of its policies, they catch of\n\
         # those that all of its cases catch in a program that declares\n\
         # {}.\n\
         # Chosen by `GATHERSPEC_BLESS=1 cargo test -p gatherspec --test library smoke`.\n",
        PROGRAMS.map(|program| program.name).join(", or ")
    );
    for signature in &crate::embedded().signatures() {
        let cases = cases_of(signature);
        let caught = caught(signature, &cases, &PROGRAMS);
        let ids = chosen(&cases, &caught);
        let by_chosen = together(ids.iter().filter_map(|id| caught.get(*id)));
        let by_all = together(caught.values());
        let counts: Vec<String> = PROGRAMS
            .iter()
            .map(|program| format!("{} of {}", by_chosen[program.name], by_all[program.name]))
            .collect();
        let _ = write!(text, "\n# {}: {}\n{}\n", signature.operator, counts.join(", "), ids.join("\n"));
    }
    text
}

/// The file lists what the cases catch, so that no change of the list, a case or a mutant weakens smoke
/// unnoticed.
#[test]
fn the_smoke_suite_catches_what_it_says() {
    if std::env::var_os("GATHERSPEC_BLESS").is_some() {
        std::fs::write(FILE, choose()).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(FILE).unwrap();
    let spec = crate::embedded();
    let mut of_form: BTreeMap<String, usize> = BTreeMap::new();
    for signature in &spec.signatures() {
        let operator = signature.operator.as_str();
        let start = format!("# {operator}: ");
        let counts = kept.lines().find_map(|line| line.strip_prefix(&start));
        let counts = counts.unwrap_or_else(|| panic!("no line says what smoke catches on {operator}"));
        let counts: Vec<usize> =
            counts.split(", ").map(|count| count.split(' ').next().unwrap().parse().unwrap()).collect();
        let cases = smoke_of(operator);
        assert!(cases.len() <= MOST, "{operator} has {} cases", cases.len());
        let measured = of_form.entry(format!("{:?}", signature.form)).or_default();
        *measured += 1;
        if *measured > tiers::OPERATORS_OF_SMOKE.count() {
            continue;
        }
        let programs = &PROGRAMS[tiers::FIRST_OF_SMOKE.count()..];
        let caught = together(caught(signature, &cases, programs).values());
        for (program, count) in PROGRAMS.iter().zip(counts).skip(tiers::FIRST_OF_SMOKE.count()) {
            let name = program.name;
            assert_eq!(caught[name], count, "{operator}, declaring {name}");
        }
    }
}

/// The cases of the smoke suite on an operator, all of which the default suite has.
fn smoke_of(operator: &str) -> Vec<&'static Run> {
    let ids = smoke_ids().filter(|id| id.split_once('/').is_some_and(|(of, _)| of == operator));
    let runs: HashMap<&str, &Run> = crate::embedded_runs().iter().map(|run| (&*run.id, run)).collect();
    ids.map(|id| *runs.get(id).unwrap_or_else(|| panic!("{id} is no run"))).collect()
}

/// What a useless kernel answers where the right answer is an output.
type UselessKernel = fn(&Tensor, &Tensor) -> Tensor;

/// Kernels that no suite may take for right; a fifth one always gives an error.
const USELESS: [(&str, UselessKernel); 3] = [
    ("zeros", |_, right| rebuilt(right, |_, _| Element::zero(right.dtype()))),
    ("its input", |params, _| params.clone()),
    ("the last bit flipped", |_, right| {
        let last = right.shape().element_count().saturating_sub(1);
        rebuilt(right, |at, element| if at == last { flipped(&element) } else { element })
    }),
];

fn rebuilt(right: &Tensor, element: impl Fn(usize, Element) -> Element) -> Tensor {
    let mut tensor = TensorBuilder::new(right.dtype(), right.shape().clone()).unwrap();
    right.iter().enumerate().for_each(|(at, one)| tensor.push(element(at, one)));
    tensor.finish().unwrap()
}

fn flipped(element: &Element) -> Element {
    match element {
        Element::Bits(bits) => Element::Bits(bits ^ 1),
        Element::Bytes(bytes) => {
            let (last, rest) = bytes.as_bytes().split_last().unwrap_or((&0, &[]));
            Element::Bytes([rest, &[last ^ 1]].concat().as_slice().into())
        }
    }
}

/// The right model, declaring some dtypes, with its outputs replaced; with an error in place of every answer if there is no
/// replacement.
struct Useless {
    right: Box<dyn Backend>,
    described: Description,
    answer: Option<UselessKernel>,
}

impl Backend for Useless {
    fn describe(&self) -> Description {
        self.described.clone()
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let right = self.right.call(call);
        match (self.answer, &right) {
            (Some(answer), Outcome::Output(output)) => {
                let (_, params) = call.operands.iter().next().expect("a call has operands");
                Outcome::Output(answer(params, output))
            }
            (Some(_), _) => right,
            (None, _) => Outcome::refused("no"),
        }
    }
}

#[test]
fn a_useless_kernel_is_red_in_smoke_on_every_operator_whatever_it_declares() {
    // Made by all threads, so that one of them that waited for it here would have no one to make it.
    crate::embedded_runs();
    let signatures = crate::embedded().signatures();
    let signatures: Vec<&Signature> = signatures.iter().collect();
    let green: Vec<String> = signatures.into_par_iter().flat_map_iter(green).collect();
    assert!(green.is_empty(), "nothing fails: {green:#?}");
}

/// The useless kernels of an operator that no case of the smoke suite, and so no case of the default suite, fails.
fn green(signature: &Signature) -> Vec<String> {
    let operator = signature.operator.as_str();
    let only: Signatures = std::iter::once(signature.clone()).collect();
    let cases = smoke_of(operator);
    let mut green = Vec::new();
    for (profile, MutantProgram { name: name_of_declared, declared, .. }) in
        Profile::all_specified().flat_map(|profile| PROGRAMS.map(|one| (profile, one)))
    {
        let right = || correct(&only, profile);
        let mut described = right().describe();
        let capability = described.operators.get_mut(operator).unwrap();
        capability.dtypes.retain(|dtype| declared.is_none_or(|only| only.params == *dtype));
        capability.index_dtypes.retain(|dtype| declared.is_none_or(|only| only.indices == *dtype));
        if capability.dtypes.is_empty() || capability.index_dtypes.is_empty() {
            continue;
        }
        let useless = USELESS.map(|(name, answer)| (name, Some(answer)));
        for (name, answer) in useless.into_iter().chain([("always an error", None)]) {
            let make = || -> Box<dyn Backend> {
                Box::new(Useless { right: right(), described: described.clone(), answer })
            };
            let mut runner = InProcess::new(make, Strictness::Lenient).like_a_program();
            if !cases.iter().any(|case| runner.run(case).verdict.is_failure()) {
                green.push(format!("{operator}, {profile}, {name_of_declared}: {name}"));
            }
        }
    }
    green
}
