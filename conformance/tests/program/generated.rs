//! Files that are generated and checked in are in step with what they are generated from.
//! `GATHERSPEC_BLESS=1 cargo test --test program generated` writes them anew.

use std::collections::HashSet;
use std::path::Path;

use gather_conformance::schemas;
use gather_spec::DType;
use gather_spec::call::Variant;
use gatherspec::internals::book;
use gatherspec::internals::finding::{self, Notes};
use gatherspec::internals::questions;
use gatherspec::internals::report;
use gatherspec::internals::results::{self, FailedRun};

use crate::in_step::assert_in_step;

#[test]
fn the_specification_as_one_text() {
    assert_in_step("spec/SPECIFICATION.md", &book::markdown(crate::embedded()));
}

#[test]
fn the_pictures_of_the_forms() {
    let pictures = book::pictures(crate::embedded());
    let files: Vec<&str> = pictures.iter().map(|(file, _)| file.as_str()).collect();
    let forms = ["pictures/take.svg", "pictures/nd.svg", "pictures/elements.svg", "pictures/window.svg"];
    assert_eq!(files, forms);
    for (file, picture) in &pictures {
        assert_in_step(&format!("spec/{file}"), picture);
    }
}

#[test]
fn the_cases_of_families_that_are_left_out() {
    assert_in_step("spec/families/LEFT-OUT.md", &book::left_out(crate::embedded()));
}

#[test]
fn the_questions_operator_by_operator() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let page = questions::page(crate::embedded(), &results::read(&folder).unwrap());
    assert_in_step("spec/QUESTIONS.md", &page);
}

#[test]
fn the_schemas_of_the_messages() {
    for (name, schema) in schemas::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        assert_in_step(&format!("conformance/schemas/{name}"), &text);
    }
}

#[test]
fn the_page_of_results() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    assert_in_step("conformance/results/README.md", &results::page(&folder).unwrap());
}

#[test]
fn what_is_noted_by_hand_is_noted_of_a_case_of_a_finding() {
    let results = results::embedded();
    let kept = results::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("results")).unwrap();
    assert_eq!(results, kept);
    let notes = Notes::embedded();
    let all = || results.iter().flat_map(|of| finding::all(of, &notes));
    let runs = || {
        all().flat_map(|finding| finding.runs.iter().map(move |run| (finding.of, *run)).collect::<Vec<_>>())
    };
    let ids: HashSet<String> = runs().map(|(of, run)| format!("{}:{}", of.argument, run.case)).collect();
    let stray: Vec<_> = notes.since.keys().filter(|id| !ids.contains(*id)).collect();
    assert!(notes.since.len() > 20 && stray.is_empty(), "no finding is shown by {stray:?}");
    for (id, upstream) in &notes.upstream {
        assert!(ids.contains(id), "{id} is no case of a finding");
        let begins = |start: &&str| upstream.state.starts_with(*start);
        let states = ["not reported", "open", "closed", "fixed in"];
        assert!(states.iter().any(begins), "{id}: {}", upstream.state);
        assert!(upstream.state.starts_with("not reported") || upstream.state.contains("https://"), "{id}");
    }
    // No finding is noted twice.
    for finding in all() {
        let named =
            |run: &&&FailedRun| notes.upstream.contains_key(&format!("{}:{}", finding.of.argument, run.case));
        assert!(finding.runs.iter().filter(named).count() <= 1, "{} is noted twice", finding.id());
    }
}

#[test]
fn each_finding_has_a_text_with_a_sentence_of_a_page_and_a_script() {
    let (spec, results, notes) = (crate::embedded(), results::embedded(), Notes::embedded());
    let (mut without, mut count) = (Vec::new(), 0);
    for finding in results.iter().flat_map(|of| finding::all(of, &notes)) {
        let (id, text) = (finding.id(), finding::text(spec, &finding, &notes));
        let (run, _) = Variant::split_id(&finding.shown().case);
        assert!(spec.run(&run).is_some(), "{id} is no run");
        assert!(text.contains("](https://") && text.contains("\n## Actual\n\n"), "{text}");
        count += 1;
        if !text.contains("```python\n") && !text.contains("```js\n") {
            without.push(id);
        }
    }
    assert!(count > 50, "{count}");
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn a_script_makes_the_call_in_the_way_that_is_asked() {
    let script = |adapter, id, variant: &str| {
        let run = crate::embedded().run(id).unwrap();
        let mut call = run.within(&[DType::I32], &[DType::I64]).unwrap().into_owned().call;
        call.variant = variant.parse().unwrap();
        finding::script(adapter, &call, "")
    };
    for (adapter, id, variant, line) in [
        (
            "jax",
            "jax.numpy.take/bad-index/two-to-the-32",
            "execution=compiled",
            "call = jax.jit(lambda a, indices: jnp.take(a, indices, axis=0))\nresult = call(a, indices)\n",
        ),
        (
            "onnxruntime",
            "onnx.GatherND-13/batch/params-batch-of-one-is-not-broadcast",
            "data=constant",
            "helper.make_tensor(\"data\", TensorProto.INT32, (1, 3), data.tobytes(), raw=True)",
        ),
        (
            "onnxruntime-web",
            "onnx.GatherND-13/batch/params-batch-of-one-is-not-broadcast",
            "data=constant",
            "await session.run({\n  indices: new ort.Tensor(\"int64\", BigInt64Array.of(0n, ",
        ),
        (
            "webnn",
            "webnn.gather/bad-index/minus-one",
            "input=constant",
            "const input = builder.constant({ dataType: \"int32\", shape: [3, 2] }, Int32Array.of(11, 12, ",
        ),
        (
            "openvino",
            "openvino.Gather-8/index-width/largest-of-u32",
            "indices=constant",
            "    ov.op.Constant(ov.Tensor(indices)),\n",
        ),
        (
            "openvino",
            "onnx.Gather-13/bad-index/first-of-two",
            "indices=constant",
            "TensorProto.INT64, (2,), indices.tobytes(), raw=True),\n    ],\n)\nonnx_model = helper.make_model(",
        ),
        (
            "pytorch",
            "torch.take_along_dim/bad-index/first-of-a-vector",
            "execution=compiled",
            "result = torch.compile(call, fullgraph=True, dynamic=False)(input, indices)\n",
        ),
        (
            "pytorch",
            "torch.take_along_dim/bad-index/first-of-a-vector",
            "indices=constant,shapes=symbolic",
            "def call(input):\n    indices = torch.tensor([3, 0], dtype=torch.int64).reshape((2,))\n",
        ),
        (
            "tensorflow",
            "tf.gather/axis/zero-before-a-batch",
            "execution=compiled",
            "@tf.function\ndef call(params, indices):\n",
        ),
    ] {
        let script = script(adapter, id, variant).unwrap();
        assert!(script.contains(line), "{script}");
    }
    // NumPy compiles nothing.
    assert_eq!(script("numpy", "numpy.take/bad-index/minus-one", "execution=compiled"), None);
    // Its template was not written.
    assert_eq!(script("litert", "tf.gather/axis/zero-before-a-batch", ""), None);
}

#[test]
fn the_schema_of_reports() {
    let text = serde_json::to_string_pretty(&report::schema()).unwrap() + "\n";
    assert_in_step("conformance/schemas/report.schema.json", &text);
}
