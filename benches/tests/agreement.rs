//! Small workloads of every kind: gather-optimized at every level, the floor and the reference agree.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::num::NonZeroUsize;

use gather_benches::verify::Samples;
use gather_benches::{Inputs, RunSettings, Workload, subject, workloads};
use gather_optimized::Level;

const CALLS: [(&str, &str, &str, &str); 19] = [
    ("take", "[50, 7]", "[33]", ""),
    ("take", "[50, 8]", "[40]", ""),
    ("take", "[50, 16]", "[40]", ""),
    ("take", "[9, 700]", "[12]", ""),
    ("take", "[600]", "[10, 100]", ""),
    ("take", "[5, 40]", "[30]", "axis: 1"),
    ("take", "[5, 9, 4]", "[17]", "axis: 1"),
    ("take", "[3, 20, 4]", "[3, 50]", "batch-dims: 1"),
    ("take", "[3, 6, 20, 2]", "[3, 11]", "batch-dims: 1\n    axis: 2"),
    ("nd", "[13, 11]", "[300, 2]", ""),
    ("nd", "[5, 6, 7]", "[300, 3]", ""),
    ("nd", "[3, 4, 3, 4]", "[50, 4]", ""),
    ("nd", "[5, 6, 7, 3]", "[10, 20, 3]", ""),
    ("nd", "[4, 5, 6, 8]", "[4, 30, 2]", "batch-dims: 1"),
    ("elements", "[9, 40]", "[9, 70]", "axis: 1\n    policy: { bad: error, negative: wrap }"),
    ("elements", "[40, 9]", "[70, 9]", "axis: 0\n    policy: { bad: error, negative: wrap }"),
    ("elements", "[3, 20, 4]", "[3, 50, 4]", "axis: 1\n    policy: { bad: error, negative: wrap }"),
    ("elements", "[40, 16]", "[70, 1]", "axis: 0\n    policy: { bad: error, negative: wrap }"),
    ("elements", "[3, 20, 4, 2]", "[3, 50, 1, 1]", "axis: 1\n    policy: { bad: error, negative: wrap }"),
];

fn check(dtype: &str, index: &str, distribution: &str, layout: &str, index_layout: &str) {
    let mut text = "schema: 2\nworkloads:\n".to_owned();
    for (number, (form, params, indices, attributes)) in CALLS.into_iter().enumerate() {
        text += &format!(
            "  - id: call-{number}\n    form: {form}\n    \
             params: {{ dtype: {dtype}, shape: {params}, layout: {layout} }}\n    \
             indices: {{ dtype: {index}, shape: {indices}, distribution: {distribution}, layout: {index_layout} }}\n    \
             {attributes}\n    seed: 5\n"
        );
    }
    check_all(&workloads::parse(&text).unwrap(), &format!("{dtype} {index} {layout}"));
}

fn check_all(workloads: &[Workload], what: &str) {
    for workload in workloads {
        let inputs = Inputs::of(workload).unwrap();
        let samples = Samples::of(workload, &inputs).unwrap();
        let mut subject = subject(workload, &inputs).unwrap();
        for level in Level::available() {
            for threads in [1, 2, 5] {
                let settings = RunSettings { level: Some(level), threads: NonZeroUsize::new(threads) };
                let verdict = samples.verify(&mut *subject, settings);
                assert_eq!(verdict, Ok(()), "{what} {workload:?} {settings:?}");
            }
        }
    }
}

#[test]
fn every_width_and_index_type() {
    for dtype in ["u8", "f16", "f32", "f64", "c128", "string"] {
        for index in ["i32", "i64"] {
            check(dtype, index, "random", "contiguous", "contiguous");
        }
    }
    for index in ["i16", "u16", "u32", "u64"] {
        check("f16", index, "random", "contiguous", "contiguous");
    }
}

/// Axes of the calls above are too long for these.
#[test]
fn indices_of_one_byte() {
    for (index, places) in [("u8", 256), ("i8", 128)] {
        let text = format!(
            "schema: 2\nworkloads:\n  - id: table\n    form: take\n    seed: 1\n    \
             params: {{ dtype: u8, shape: [{places}] }}\n    \
             indices: {{ dtype: {index}, shape: [1000], distribution: random }}\n"
        );
        check_all(&workloads::parse(&text).unwrap(), index);
        let beyond = text.replace(&format!("[{places}]"), &format!("[{}]", places + 1));
        assert!(workloads::parse(&beyond).is_err(), "{index}");
    }
}

#[test]
fn every_distribution() {
    for distribution in ["sorted", "runs", "repeated", "sequential", "zipf"] {
        check("f32", "i32", distribution, "contiguous", "contiguous");
    }
}

#[test]
fn every_layout() {
    for layout in ["transposed", "padded", "reversed"] {
        for dtype in ["u8", "f32", "c128", "string"] {
            check(dtype, "i64", "random", layout, "contiguous");
        }
    }
    check("f32", "i32", "random", "contiguous", "transposed");
    check("f32", "i32", "random", "contiguous", "reversed");
}

/// What `into` writes lies elsewhere than a fresh output does.
#[test]
fn every_layout_of_outputs() {
    for layout in ["padded", "transposed", "reversed"] {
        for dtype in ["u8", "f32", "string"] {
            let mut text = "schema: 2\nworkloads:\n".to_owned();
            for (number, (form, params, indices, attributes)) in CALLS.into_iter().enumerate() {
                text += &format!(
                    "  - id: call-{number}\n    form: {form}\n    params: {{ dtype: {dtype}, shape: {params} }}\n    \
                     indices: {{ dtype: i64, shape: {indices}, distribution: random }}\n    \
                     output: {{ layout: {layout} }}\n    {attributes}\n    seed: 5\n"
                );
            }
            check_all(&workloads::parse(&text).unwrap(), &format!("{dtype} into {layout}"));
        }
    }
}

/// Stride 0 along the first axis; calls whose first axis is a batch are covered by the others' offsets.
#[test]
fn broadcast_params() {
    check("f32", "i64", "random", "broadcast", "contiguous");
}

/// What is verified can fail: a wrong answer is found.
#[test]
fn a_wrong_output_is_noticed() {
    let text = "schema: 2\nworkloads:\n  - id: rows\n    form: take\n    seed: 1\n    \
                params: { dtype: f32, shape: [50, 7] }\n    \
                indices: { dtype: i32, shape: [33], distribution: random }\n";
    let workload = &workloads::parse(text).unwrap()[0];
    let other = Workload { seed: 2, ..workload.clone() };
    let (inputs, others) = (Inputs::of(workload).unwrap(), Inputs::of(&other).unwrap());
    let samples = Samples::of(workload, &inputs).unwrap();
    let mut right = subject(workload, &inputs).unwrap();
    let mut wrong = subject(&other, &others).unwrap();
    assert!(samples.verify(&mut *right, RunSettings::default()).is_ok());
    assert!(samples.verify(&mut *wrong, RunSettings::default()).is_err());
}
