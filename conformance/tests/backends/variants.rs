//! Gathers that are right but in one variant: a default run finds each, and names what it is, in Rust, in C and in Python.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Command, ExitCode};

use gather_conformance::backend::{Capability, Description, Identity};
use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::{Backend, Variants, harness, serve};
use gather_spec::{Call, DType, Element, Outcome, Profile, Tensor, TensorBuilder, Variant};

use crate::limited_kernels::python;
use crate::narrow_kernels::{KernelRun, gatherspec, kernel};

/// The tests, by name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_run_finds_what_is_wrong_in_one_variant_only", a_run_finds_what_is_wrong_in_one_variant_only),
    ("drawn_calls_find_it_and_repeat_it", drawn_calls_find_it_and_repeat_it),
    ("a_harness_finds_it_too", a_harness_finds_it_too),
    ("a_library_that_ignores_strides_is_found", a_library_that_ignores_strides_is_found),
    ("a_mistake_of_an_adapter_is_found", a_mistake_of_an_adapter_is_found),
    ("a_variant_is_chosen", a_variant_is_chosen),
    ("a_budget_leaves_out_what_it_says", a_budget_leaves_out_what_it_says),
];

/// What makes this program a gather: `serve` or `harness`, its budget of compilations, and in which variant it is wrong.
const VARIED: &str = "GATHERSPEC_TEST_VARIED";

const OPERATOR: &str = "tf.gather_nd";

/// What the gather declares.
const DECLARED: [&str; 9] = [
    "operands=constant",
    "operands=transposed",
    "operands=offset",
    "operands=reversed",
    "operands=stride-0",
    "operands=read-only",
    "indices=constant",
    "shapes=symbolic",
    "execution=compiled",
];

/// The variants of a call that are wrong, each by itself.
fn bugs() -> impl Iterator<Item = String> {
    let values = ["constant", "transposed", "offset", "reversed", "stride-0", "read-only"];
    let operands = ["params", "indices"].into_iter();
    let of_operands = operands.flat_map(move |name| values.map(|value| format!("{name}={value}")));
    of_operands.chain(
        ["shapes=symbolic", "execution=compiled", "execution=compiled,shapes=symbolic"].map(str::to_owned),
    )
}

/// The reference, wrong in one variant.
struct Varied {
    reference: Box<dyn Backend>,
    compilations: Option<u64>,
    bug: Option<Variant>,
}

impl Varied {
    fn new(compilations: Option<u64>, bug: Option<Variant>) -> Self {
        let reference = builtin::backend("reference", Profile::default(), MAX_OUTPUT).unwrap();
        Self { reference, compilations, bug }
    }
}

impl Backend for Varied {
    fn describe(&self) -> Description {
        let capability = Capability {
            dtypes: vec![DType::F32],
            index_dtypes: vec![DType::I64],
            variants: Variants::new(DECLARED).unwrap(),
            compilations: self.compilations,
            ..Capability::default()
        };
        let (name, version, language) = ("varied".to_owned(), "1".to_owned(), "Rust".to_owned());
        Description {
            backend: Identity { name, version, language },
            operators: BTreeMap::from([(OPERATOR.to_owned(), capability)]),
        }
    }

    fn call(&mut self, call: &Call) -> Outcome {
        match self.reference.call(call) {
            Outcome::Output(output) if self.bug.as_ref().is_some_and(|bug| call.variant.includes(bug)) => {
                Outcome::Output(spoiled(&output))
            }
            answer => answer,
        }
    }
}

/// The same tensor with other last bits in its last element.
fn spoiled(tensor: &Tensor) -> Tensor {
    let mut elements: Vec<_> = tensor.iter().collect();
    if let Some(Element::Bits(bits)) = elements.last_mut() {
        *bits ^= 1;
    }
    let mut made = TensorBuilder::new(tensor.dtype(), tensor.shape().clone()).unwrap();
    elements.into_iter().for_each(|element| made.push(element));
    made.finish().unwrap()
}

/// The gather that the environment names, if it names one.
pub(crate) fn be() -> Option<ExitCode> {
    let wanted = std::env::var(VARIED).ok()?;
    let [way, compilations, bug] = wanted.split(' ').collect::<Vec<_>>()[..] else { panic!("{wanted}") };
    let (compilations, bug) = (compilations.parse().ok(), Some(bug.parse().unwrap()));
    let bug = bug.filter(|bug: &Variant| !bug.is_usual());
    if way == "harness" {
        return Some(harness(move || Varied::new(compilations, bug.clone())));
    }
    serve::serve(&mut Varied::new(compilations, bug), io::stdin().lock(), io::stdout().lock()).unwrap();
    Some(ExitCode::SUCCESS)
}

fn process(compilations: &str, bug: &str, options: &[&str]) -> KernelRun {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.env(VARIED, format!("serve {compilations} {bug}")).args(["run", "--operator", OPERATOR]);
    gatherspec(command.args(options).arg("--backend").arg(std::env::current_exe().unwrap()))
}

/// The variants of the runs that a report of failures names.
fn named(ran: &KernelRun) -> BTreeSet<String> {
    let lines = ran.printed.lines().filter_map(|line| line.split_once("--case '")?.1.split_once('\''));
    lines.map(|(id, _)| Variant::split_id(id).1.to_string()).collect()
}

/// A right one passes with all that a run asks, and drawn calls. Of each wrong one, every failure is reduced to the one variant.
fn a_run_finds_what_is_wrong_in_one_variant_only() {
    let right = process("-", "", &["--campaign", "400"]);
    assert_eq!((right.status, &*right.failed), (Some(0), &[][..]), "{}", right.printed);
    for bug in bugs() {
        let ran = process("-", &bug, &["--no-campaign"]);
        assert_eq!((ran.status, named(&ran)), (Some(1), BTreeSet::from([bug])), "{}", ran.printed);
    }
    for bug in ["indices=constant", "params=offset"] {
        let smoke = process("-", bug, &["--suite", "smoke"]);
        assert_eq!(
            (smoke.status, named(&smoke)),
            (Some(1), BTreeSet::from([bug.to_owned()])),
            "{}",
            smoke.printed
        );
    }
}

fn drawn_calls_find_it_and_repeat_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("fuzz.json");
    let found = folder.path().join("found");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    command.env(VARIED, "serve - indices=constant").args(["fuzz", "--cases", "300", "--report"]).arg(&report);
    command.arg("--save").arg(&found).arg("--backend").arg(std::env::current_exe().unwrap());
    let output = command.output().unwrap();
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains(" with indices=constant\n"), "{printed}");
    assert!(printed.contains(" --variant indices=constant "), "{printed}");
    let file = std::fs::read_dir(&found).unwrap().next().unwrap().unwrap().path();
    let again = |options: &[&str]| {
        process("-", "indices=constant", &[&["--cases", file.to_str().unwrap()], options].concat())
    };
    assert_eq!(again(&["--variant", "indices=constant"]).status, Some(1), "{printed}");
    assert_eq!(again(&["--variants", "none"]).status, Some(0), "{printed}");
}

fn a_harness_finds_it_too() {
    let run = |bug: &str, filter: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.env(VARIED, format!("harness - {bug}")).arg(filter).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    for bug in ["", "indices=constant", "shapes=symbolic", "execution=compiled"] {
        let (passes, printed) = run(bug, "tf.gather_nd/");
        assert_eq!(passes, bug.is_empty(), "{printed}");
        assert!(bug.is_empty() || printed.contains(&format!("{bug}]")), "{bug}: {printed}");
    }
    // A filter may be the id of a run; its name alone would choose another case, too.
    let of_run = |variant: &str| run("indices=constant", &format!("tf.gather_nd/rows/permuted[{variant}]"));
    for (variant, passes, said) in [
        ("indices=constant", false, "1 of 1 case asked: 1 verdict does not conform"),
        ("indices=transposed", true, "1 of 1 case asked: everything conforms"),
        ("indices=view", false, "no case has an id with `tf.gather_nd/rows/permuted[indices=view]`"),
    ] {
        let (passed, printed) = of_run(variant);
        assert!(passed == passes && printed.contains(said), "{variant}: {printed}");
    }
}

fn a_library_that_ignores_strides_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let run = |bugs: &[&str]| {
        let file = folder.path().join(format!("{}.so", bugs.concat()));
        let bugs: Vec<String> = bugs.iter().map(|bug| (*bug).to_owned()).collect();
        kernel::compile("onnx.c", &bugs, &file)?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
        Some(gatherspec(command.args(["run", "--no-campaign", "--library"]).arg(file)))
    };
    let Some(right) = run(&["Variants"]) else { return };
    assert_eq!((right.status, &*right.failed), (Some(0), &[][..]), "{}", right.printed);
    let strides = run(&["Variants", "StridesIgnored"]).unwrap();
    assert_eq!(strides.status, Some(1), "{}", strides.printed);
    // Most are crashes, each of which takes a restart, so that only some are made small.
    let found = named(&strides);
    for layout in ["transposed", "reversed", "offset"] {
        assert!(found.iter().any(|one| one.contains(layout)), "{layout}: {found:?}");
    }
    let has_layout = |one: &String| one.parse().is_ok_and(|one: Variant| !one.layouts().is_usual());
    assert!(found.iter().all(has_layout), "{found:?}");
    let constant = run(&["Variants", "ConstantIndex"]).unwrap();
    let found = (constant.status, named(&constant));
    assert_eq!(found, (Some(1), BTreeSet::from(["indices=constant".to_owned()])), "{}", constant.printed);
}

/// For each value that the kit makes, an adapter that is wrong only there.
fn a_mistake_of_an_adapter_is_found() {
    let run = |bug: &str| python("tests/narrow_kernels/variants.py", bug, "numpy.take", &["--no-campaign"]);
    let Some(right) = run("none") else { return };
    let known: BTreeSet<&String> = right.failed.iter().collect();
    let values = ["constant", "transposed", "offset", "reversed", "stride-0", "read-only"];
    let of_operands =
        ["a", "indices"].into_iter().flat_map(|name| values.map(|value| format!("{name}={value}")));
    // Params can be no view, since no operand comes before them.
    for bug in of_operands.chain(["indices=view".to_owned()]) {
        let ran = run(&bug).unwrap();
        assert!(ran.failed.iter().any(|id| !known.contains(id)), "{bug}: {}", ran.printed);
        assert!(named(&ran).contains(&bug), "{bug} is not among {:?}: {}", named(&ran), ran.printed);
    }
    for bug in ["execution=compiled", "shapes=symbolic"] {
        let ran = run(bug).unwrap();
        assert!(named(&ran).contains(bug), "{bug} is not among {:?}: {}", named(&ran), ran.printed);
    }
}

fn a_variant_is_chosen() {
    let case = "tf.gather_nd/bad-index/first-component";
    let bug = "indices=constant";
    let status = |options: &[&str]| process("-", bug, options).status;
    let rows = "tf.gather_nd/rows/permuted";
    assert_eq!(status(&["--case", rows, "--variants", "none"]), Some(0));
    assert_eq!(status(&["--case", rows, "--variants", "all"]), Some(1));
    assert_eq!(status(&["--case", rows, "--variant", bug]), Some(1));
    assert_eq!(status(&["--case", rows, "--variant", "params=constant"]), Some(0));
    assert_eq!(status(&["--case", &format!("{rows}[{bug}]")]), Some(1));
    assert_eq!(status(&["--case", &format!("{rows}[params=offset]")]), Some(0));
    // A bad index is refused in each variant, this one too.
    assert_eq!(status(&["--case", case]), Some(0));
    let undeclared = process("-", bug, &["--case", rows, "--variant", "batch_dims=constant"]);
    assert_ne!(undeclared.status, Some(0));
    assert!(undeclared.printed.contains("or the variant that is chosen"), "{}", undeclared.printed);
}

fn a_budget_leaves_out_what_it_says() {
    let runs = |ran: &KernelRun| {
        let (before, _) = ran.printed.split_once(" runs").unwrap();
        before.rsplit([' ', '\n']).next().unwrap().replace(',', "").parse::<usize>().unwrap()
    };
    let (all, few) = (process("-", "", &["--no-campaign"]), process("100", "", &["--no-campaign"]));
    assert_eq!((all.status, few.status), (Some(0), Some(0)), "{}", few.printed);
    let sentence = "tf.gather_nd: its budget of 100 compilations left out ";
    let left_out = few.printed.split_once(sentence).unwrap().1.split_once(" call").unwrap().0;
    let left_out: usize = left_out.parse().unwrap();
    assert!(left_out > 300 && runs(&all) > runs(&few), "{}", few.printed);
}
