//! The large cases: read where they are asked for only, and what they hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use gather_spec::load::Wanted;
use gather_spec::{Allowed, Case, Run, Specification, Tensor};

static SPEC: LazyLock<Specification> =
    LazyLock::new(|| Specification::embedded_with(&Wanted::Large).unwrap());

const MIB: usize = 1 << 20;

static RUNS: LazyLock<Vec<Run>> =
    LazyLock::new(|| SPEC.cases.iter().filter(|case| case.large).flat_map(Case::runs).collect());

fn large() -> impl Iterator<Item = &'static Run> {
    RUNS.iter()
}

/// The large cases of each form; one of a family counts once, however many operators take it.
fn by_form() -> BTreeMap<String, Vec<&'static Run>> {
    let mut forms: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for case in large() {
        let form = SPEC.operator(case.call.operator.as_str()).unwrap().form;
        forms.entry(form.to_string()).or_default().push(case);
    }
    forms
}

fn bytes(tensor: &Tensor) -> usize {
    tensor.shape().element_count() * tensor.dtype().size()
}

/// The largest output that a case allows.
fn output(case: &Run) -> usize {
    let outputs = case.expect.allowed().map(|allowed| match allowed {
        Allowed::Output(output) => bytes(output),
        _ => 0,
    });
    outputs.max().unwrap_or(0)
}

#[test]
fn only_who_asks_for_large_cases_reads_them() {
    above_quick!();
    let usual = Specification::embedded().unwrap();
    assert!(usual.cases.iter().all(|case| !case.large));
    let large = SPEC.cases.iter().filter(|case| case.large).count();
    assert!(large > 50 && SPEC.cases.len() == usual.cases.len() + large);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(Specification::from_dir(folder).unwrap().cases.len(), usual.cases.len());
}

#[test]
fn each_form_has_few_large_cases_of_every_kind() {
    above_quick!();
    let forms = by_form();
    assert_eq!(forms.keys().collect::<Vec<_>>(), ["elements", "nd", "take", "window"]);
    for (form, cases) in &forms {
        let mut written: Vec<&str> =
            cases.iter().map(|case| case.case.id.rsplit('/').next().unwrap()).collect();
        written.sort_unstable();
        written.dedup();
        assert!((12..=20).contains(&written.len()), "{form}: {}", written.len());
        let some = |what: &str, holds: &dyn Fn(&Run) -> bool| {
            assert!(cases.iter().any(|case| holds(case)), "{form} has no {what}");
        };
        let narrow = |case: &Run| case.params().dtype().size() <= 2;
        for (name, at_least) in [("8 MiB", 8 * MIB), ("64 MiB", 64 * MIB)] {
            for bad in [false, true] {
                let of_size = |case: &Run| output(case) > at_least && (case.expect.arms.len() > 1) == bad;
                some(&format!("narrow {name}, bad: {bad}"), &|case| of_size(case) && narrow(case));
                some(&format!("wide {name}, bad: {bad}"), &|case| of_size(case) && !narrow(case));
            }
        }
        let elements = |case: &Run| case.params().shape().element_count();
        some("elements beyond 2^32 in memory", &|case| case.sparse.is_some() && elements(case) > 1 << 32);
        some("bytes beyond 2^32 with fewer than 2^31 elements", &|case| {
            case.sparse.is_some() && elements(case) < 1 << 31 && bytes(case.params()) > 1 << 32
        });
        some("stride 0 beyond 2^32", &|case| case.sparse.is_none() && elements(case) > 1 << 32);
    }
}

#[test]
fn a_large_case_is_small_until_it_is_run() {
    above_quick!();
    for case in large() {
        let operands = case.call.operands.tensors();
        let stored: usize = operands.map(|operand| operand.stored().len() * operand.dtype().size()).sum();
        assert!(stored <= 64 * MIB, "{}: {stored}", case.id);
        if let Some(sparse) = &case.sparse {
            assert_eq!(sparse.bytes(), bytes(case.params()), "{}", case.id);
            let painted: usize = sparse.le_runs().map(|(_, run)| run.len()).sum();
            assert!((1..MIB).contains(&painted), "{}", case.id);
        }
    }
}

#[test]
fn places_need_a_dtype_and_lie_within_the_shape() {
    above_quick!();
    let read = |params: &str| {
        let file = format!(
            "schema: 2\noperator: tf.gather_nd\ncases:\n  - name: one\n    clauses: [tf.gather_nd.value.slices]\n    operands:\n      params: {params}\n      indices: {{ dtype: i32, shape: [0, 0], data: [] }}\n    expect: unspecified\n"
        );
        SPEC.read_cases(Path::new("large.yaml"), file.as_bytes()).map_err(|wrong| wrong[0].message.clone())
    };
    let painted = read(
        "{ dtype: i16, shape: [2, 3], fill: { places: [{ at: [0], start: 4, steps: [2] }, { at: [1, 2], exactly: -1 }], modulo: 7 } }",
    );
    let painted = painted.unwrap()[0].runs()[0].sparse.as_ref().unwrap().tensor().unwrap();
    assert_eq!(format!("{painted:?}"), "i16 [[4, 6, 1], [0, 0, -1]]");
    let wrong = |fill: &str| read(&format!("{{ dtype: u8, shape: [2, 3], fill: {fill} }}")).unwrap_err();
    assert_eq!(wrong("{ places: [{ at: [2], start: 1 }] }"), "[2] is no place of the shape [2, 3]");
    assert_eq!(wrong("{ places: [{ at: [0], start: 256 }] }"), "u8 does not hold 256");
    assert_eq!(wrong("{ places: [], start: 1 }"), "unknown key `start` beside `places`");
    let any = read("{ dtype: any, shape: [2], fill: { places: [{ at: [0], start: 1 }] } }").unwrap_err();
    assert_eq!(any, "`places` under `dtype: any`");
}
