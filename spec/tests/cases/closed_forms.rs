//! Tensors in closed form, beside the same tensors written out in full, and what is wrong with a form that is none.

use std::path::Path;
use std::sync::LazyLock;

use gather_spec::diagnostic::Diagnostic;
use gather_spec::{Case, Run, Specification, Tensor};

static SPEC: LazyLock<Specification> = LazyLock::new(|| Specification::embedded().unwrap());

/// The runs of a file with one case, whose params are written like this.
fn read(params: &str, for_each: &str) -> Result<Vec<Run>, Vec<Diagnostic>> {
    let file = format!(
        "schema: 2\noperator: tf.gather_nd\ncases:\n  - name: one\n    clauses: [tf.gather_nd.value.slices]\n{for_each}    operands:\n      params: {params}\n      indices: {{ dtype: i32, shape: [0, 0], data: [] }}\n    expect: unspecified\n"
    );
    let cases = SPEC.read_cases(Path::new("one.yaml"), file.as_bytes())?;
    Ok(cases.iter().flat_map(Case::runs).collect())
}

fn params(written: &str) -> Tensor {
    read(written, "").unwrap_or_else(|wrong| panic!("{written}: {}", wrong[0]))[0].params().clone()
}

fn refusal(params: &str, for_each: &str) -> String {
    read(params, for_each).unwrap_err()[0].message.clone()
}

#[test]
fn a_closed_form_stands_for_what_is_written_out_beside_it() {
    let table = [
        ("{ dtype: i32, shape: [5], fill: { steps: [1] } }", "{ dtype: i32, data: [0, 1, 2, 3, 4] }"),
        ("{ dtype: i32, shape: [4], fill: { start: 3, steps: [-1] } }", "{ dtype: i32, data: [3, 2, 1, 0] }"),
        (
            "{ dtype: i32, shape: [3], fill: { start: -2, steps: [-3] } }",
            "{ dtype: i32, data: [-2, -5, -8] }",
        ),
        ("{ dtype: u8, shape: [3], fill: { start: 7, steps: [0] } }", "{ dtype: u8, data: [7, 7, 7] }"),
        (
            "{ dtype: f32, shape: [2, 3], fill: { steps: [3, 1] } }",
            "{ dtype: f32, data: [[0, 1, 2], [3, 4, 5]] }",
        ),
        (
            "{ dtype: i64, shape: [2, 3], fill: { start: 3, steps: [-3, 1] } }",
            "{ dtype: i64, data: [[3, 4, 5], [0, 1, 2]] }",
        ),
        (
            "{ dtype: i64, shape: [3, 2], fill: { steps: [1, 3] } }",
            "{ dtype: i64, data: [[0, 3], [1, 4], [2, 5]] }",
        ),
        (
            "{ dtype: any, shape: [6], fill: { start: 2, steps: [2], modulo: 5 } }",
            "{ dtype: any, data: [2, 4, 1, 3, 0, 2] }",
        ),
        (
            "{ dtype: any, shape: [2, 3], fill: { start: 1, steps: [-1, 4], modulo: 7 } }",
            "{ dtype: any, data: [[1, 5, 2], [0, 4, 1]] }",
        ),
        (
            "{ dtype: any, shape: [3, 2], fill: { steps: [2, 1], except: [{ at: [1], start: 0 }] } }",
            "{ dtype: any, data: [[0, 1], [0, 0], [4, 5]] }",
        ),
        (
            "{ dtype: any, shape: [3, 2], fill: { steps: [2, 1], modulo: 4, except: [{ at: [2], start: 9, steps: [-1] }, { at: [0, 1], start: 3 }] } }",
            "{ dtype: any, data: [[0, 3], [2, 3], [1, 0]] }",
        ),
        (
            "{ dtype: i32, shape: [3, 2], fill: { components: [{ start: 2, steps: [-1] }, { steps: [4] }] } }",
            "{ dtype: i32, data: [[2, 0], [1, 4], [0, 8]] }",
        ),
        (
            "{ dtype: i32, shape: [2, 2], fill: { components: [{ steps: [1] }, { start: 5, steps: [0] }], except: [{ at: [1, 0], start: 9 }] } }",
            "{ dtype: i32, data: [[0, 5], [9, 5]] }",
        ),
        (
            "{ dtype: any, shape: [3, 2], fill: { start: 2, steps: [1, 0], modulo: 4, except: [{ at: [1], exactly: 9 }] } }",
            "{ dtype: any, data: [[2, 2], [9, 9], [0, 0]] }",
        ),
        // The numbers change along the second axis in the exception alone.
        (
            "{ dtype: i32, shape: [2, 2, 2], fill: { steps: [3, 0, 0], except: [{ at: [0], start: 7, steps: [5, 0] }] } }",
            "{ dtype: i32, data: [[[7, 7], [12, 12]], [[3, 3], [3, 3]]] }",
        ),
        (
            "{ dtype: i32, shape: [2, 2, 2], fill: { steps: [3, 0, 0], except: [{ at: [0, 1], start: 7 }] } }",
            "{ dtype: i32, data: [[[0, 0], [7, 7]], [[3, 3], [3, 3]]] }",
        ),
        (
            "{ dtype: i32, shape: [2], fill: { steps: [1], modulo: 2, except: [{ at: [1], exactly: -5 }] } }",
            "{ dtype: i32, data: [0, -5] }",
        ),
        (
            "{ dtype: string, shape: [3], fill: { start: 9, steps: [1] } }",
            "{ dtype: string, data: [\"9\", \"10\", \"11\"] }",
        ),
        (
            "{ dtype: string, shape: [2], fill: { start: 9, steps: [1], digits: 3 } }",
            "{ dtype: string, data: [\"009\", \"010\"] }",
        ),
        (
            "{ dtype: i32, shape: [2, 0, 3], fill: { steps: [5, 5, 5] } }",
            "{ dtype: i32, shape: [2, 0, 3], data: [] }",
        ),
        ("{ dtype: i32, shape: [], fill: { start: 4, steps: [] } }", "{ dtype: i32, data: 4 }"),
    ];
    for (form, full) in table {
        assert_eq!(params(form), params(full), "{form}");
    }
}

#[test]
fn sizes_stand_for_each_value_beside_each_other_and_are_part_of_the_id() {
    let each =
        "    for-each: { sizes: { n: [1, 2, 3], m: [2, 4] }, element-bytes: [8, 1], at-most: { n*m: 8 } }\n";
    let cases = read("{ dtype: any, shape: [n, m-1], fill: { start: 2*n, steps: [m-1, 1] } }", each).unwrap();
    let ids: Vec<&str> = cases.iter().map(|case| case.id.rsplit('/').next().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "one[n=1,m=2,element-bytes=8]",
            "one[n=1,m=4,element-bytes=1]",
            "one[n=2,m=2,element-bytes=1]",
            "one[n=2,m=4,element-bytes=8]",
            "one[n=3,m=2,element-bytes=8]",
            "one[n=3,m=2,element-bytes=1]",
        ]
    );
    let shown: Vec<String> = cases.iter().map(|case| format!("{:?}", case.params())).collect();
    assert_eq!(shown[..3], ["i64 [[2]]", "i8 [[2, 3, 4]]", "i8 [[4], [5]]"]);
    assert_eq!(cases[3].open.params.len(), 15);
    let case = &cases[0].case;
    assert!(case.axes.has_sizes() && case.axes.combinations() == 6);
    assert_eq!(case.run_ids(), cases.iter().map(|run| run.id.clone()).collect::<Vec<_>>());
}

#[test]
fn what_is_no_closed_form_is_refused_with_its_reason() {
    let wrong = |fill: &str| refusal(&format!("{{ dtype: u8, shape: [2, 3], fill: {fill} }}"), "");
    assert_eq!(wrong("{ steps: [1] }"), "1 steps for 2 axes");
    assert_eq!(wrong("{ steps: 1 }"), "steps are a sequence, not a scalar");
    assert_eq!(wrong("{ steps: [1, n] }"), "`n` is no whole number");
    assert_eq!(wrong("{ steps: [1, 1], step: 1 }"), "unknown key `step` in a closed form");
    assert_eq!(wrong("{ steps: [-1, 1] }"), "u8 does not hold -1");
    assert_eq!(wrong("{ steps: [200, 100] }"), "u8 does not hold 256");
    assert_eq!(wrong("{ steps: [1, 1], modulo: 0 }"), "modulo 0: 1 to 65536 is allowed");
    assert_eq!(wrong("{ steps: [1, 1], digits: 2 }"), "`digits` is for strings, not for u8");
    assert_eq!(wrong("{ steps: [1, 1], except: [{ at: [2] }] }"), "[2] is no place of the shape [2, 3]");
    assert_eq!(wrong("{ components: [{ steps: [1] }] }"), "1 components, but the shape is [2, 3]");
    assert_eq!(
        wrong("{ steps: [1, 1], except: [{ at: [0], exactly: 1, start: 2 }] }"),
        "`exactly` stands beside `at` alone"
    );
    assert_eq!(wrong("{ places: [{ at: [0, 0], start: 1 }] }"), "`places` are for large calls");
    let many = refusal("{ dtype: u8, shape: [1048577], fill: { steps: [0], except: [{ at: [0] }] } }", "");
    assert_eq!(many, "1048577 elements; with `components` or `except` at most 1048576 (2^20) are allowed");
    let far = refusal("{ dtype: i64, shape: [2, 2], fill: { steps: [9223372036854775807, 1] } }", "");
    assert!(far.contains("elements; a tensor in a case file may have at most"), "{far}");
    let long = "{ dtype: string, shape: [1000], fill: { steps: [1], digits: 131072 } }";
    assert!(refusal(long, "").contains("bytes together"), "{}", refusal(long, ""));
}

#[test]
fn what_is_no_list_of_sizes_is_refused_with_its_reason() {
    let wrong = |each: &str| {
        let each = format!("    for-each: {each}\n");
        refusal("{ dtype: any, shape: [n], fill: { steps: [1], modulo: 251 } }", &each)
    };
    assert_eq!(wrong("{ sizes: { n: [] } }"), "`n` has 0 values: 1 to 100 are allowed");
    assert_eq!(wrong("{ sizes: { n: [1, 1] } }"), "1 is listed twice");
    assert_eq!(wrong("{ sizes: { N: [1] } }"), "`N` is no name of a size");
    assert_eq!(wrong("{ sizes: { m: [1] } }"), "`n` is no number: there is no size `n`: `for-each` has m");
    assert_eq!(wrong("{ sizes: { n: [9] }, at-most: { n: 8 } }"), "`at-most` leaves no combination of sizes");
    assert_eq!(wrong("{ sizes: { n: [9] }, at-most: { n*k: 8 } }"), "`k` is no list of this `for-each`");
    assert_eq!(
        wrong("{ element-bytes: [8] }"),
        "`for-each` lists `params-dtype`, `index-dtype`, `sizes` or several of them"
    );
}
