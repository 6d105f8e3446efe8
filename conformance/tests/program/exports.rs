//! `gatherspec export`, and what `show --format json` says of outcomes. That others read the files as they are meant is checked by the
//! scripts of `tests/exports`, which need libraries.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Status and both outputs.
fn ended(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gatherspec")).args(arguments).output().unwrap();
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

/// The files of an export by their paths, with the manifest read.
fn exported(format: &str, cases: &[&str]) -> (BTreeMap<String, Vec<u8>>, Value) {
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("out");
    let mut arguments = vec!["export", "--format", format, "--out", to.to_str().unwrap()];
    arguments.extend(cases.iter().flat_map(|case| ["--case", case]));
    let (status, said) = ended(&arguments);
    assert_eq!(status, 0, "{said}");
    let mut files = BTreeMap::new();
    read(&to, "", &mut files);
    let manifest = serde_json::from_slice(&files.remove("manifest.json").unwrap()).unwrap();
    (files, manifest)
}

fn read(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

const FIRST: &str = "onnx.Gather-13/axis/first-of-three";

#[test]
fn a_folder_of_onnx_has_a_model_its_tensors_and_a_digest_and_is_the_same_each_time() {
    let (files, manifest) = exported("onnx", &[FIRST]);
    let twin = |name: &str| format!("test_onnx_gather_13_axis_first_of_three{name}");
    let paths = ["/data.json", "/model.onnx", "/test_data_set_0/input_0.pb", "/test_data_set_0/input_1.pb"];
    let paths = paths.iter().chain(&["/test_data_set_0/output_0.pb"]).map(|path| twin(path));
    let constants = ["/data.json", "/model.onnx", "/test_data_set_0/output_0.pb"];
    let constants = constants.map(|path| twin(&format!("_constants{path}")));
    let mut wanted: Vec<String> = paths.chain(constants).collect();
    wanted.sort();
    assert_eq!(files.keys().collect::<Vec<_>>(), wanted.iter().collect::<Vec<_>>());
    for (at, name) in [twin(""), twin("_constants")].iter().enumerate() {
        let of_folder = files.iter().filter_map(|(path, bytes)| {
            let path = path.strip_prefix(name)?.strip_prefix('/')?;
            Some(format!("{}  {path}\n", sha256(bytes)))
        });
        let test = &manifest["tests"][at];
        assert_eq!(test["sha256"], sha256(of_folder.collect::<String>().as_bytes()), "{test}");
        assert_eq!((&test["name"], &test["constants"]), (&json!(name), &json!(at == 1)));
    }
    assert_eq!(files, exported("onnx", &[FIRST]).0);
}

#[test]
fn what_two_operators_call_is_one_test_and_what_onnx_has_no_call_for_is_none() {
    let same = "torch.index_select/axis/first-of-three";
    // Zero and an error are permitted; the flattened operand has another shape; an error there, and the last element in ONNX.
    let others = [
        "tf.gather_nd/bad-index/vector-alone-far-outside",
        "numpy.take/null-axis/of-a-matrix",
        "torch.index_select/bad-index/minus-one",
    ];
    let spec = crate::embedded();
    assert!(others.iter().all(|id| spec.case(id).is_some()), "{others:?}");
    let (_, manifest) = exported("onnx", &[&[FIRST, same][..], &others].concat());
    assert_eq!((&manifest["calls"], &manifest["tests"][0]["runs"]), (&json!(1), &json!([FIRST, same])));
    let left_out: Vec<&str> = others.iter().map(|id| id.split('/').next().unwrap()).collect();
    assert!(left_out.iter().all(|name| manifest["left_out"][name].is_object()), "{manifest}");
}

#[test]
fn what_must_be_refused_is_listed_with_its_code_and_its_operands() {
    let (files, manifest) = exported("onnx", &[FIRST, "onnx.Gather-13/axis/equal-to-rank"]);
    assert!(files.keys().all(|path| path.contains("first_of_three")));
    let refused = &manifest["refused"];
    assert_eq!(refused.as_array().unwrap().len(), 1);
    assert_eq!(
        (&refused[0]["code"], &refused[0]["attributes"]),
        (&json!("axis-out-of-range"), &json!({ "axis": 2 }))
    );
    assert_eq!(
        refused[0]["operands"]["indices"],
        json!({ "dtype": "i64", "shape": [1], "data": "AAAAAAAAAAA=" })
    );
}

#[test]
fn a_module_has_its_operands_as_arguments_or_as_constants_and_bits_where_numbers_would_not_do() {
    let case = "stablehlo.gather/bad-index/minus-one-where-one-start-fits";
    let (files, _) = exported("stablehlo", &[case]);
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let gather = r#"%result = "stablehlo.gather"(%operand, %start_indices) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [], index_vector_dim = 1, offset_dims = [1], start_index_map = [0]>, slice_sizes = array<i64: 3>} : (tensor<3xi32>, tensor<1x1xi32>) -> tensor<1x3xi32>"#;
    let operands = "    %operand = stablehlo.constant dense<[10, 11, 12]> : tensor<3xi32>\n    %start_indices = stablehlo.constant dense<[[-1]]> : tensor<1x1xi32>\n";
    let check = "    check.expect_eq_const %result, dense<[[10, 11, 12]]> : tensor<1x3xi32>\n    func.return\n  }\n}\n";
    let head = format!("// {case}\n// clause stablehlo.gather.index.negative\nmodule {{\n");
    assert_eq!(
        text("stablehlo_gather_bad_index_minus_one_where_one_start_fits_constants.mlir"),
        format!("{head}  func.func @main() {{\n{operands}    {gather}\n{check}")
    );
    assert_eq!(
        text("stablehlo_gather_bad_index_minus_one_where_one_start_fits.mlir"),
        format!(
            "{head}  func.func private @gather(%operand: tensor<3xi32>, %start_indices: tensor<1x1xi32>) -> tensor<1x3xi32> {{\n    \
             {gather}\n    func.return %result : tensor<1x3xi32>\n  }}\n  func.func @main() {{\n{operands}    \
             %result = func.call @gather(%operand, %start_indices) : (tensor<3xi32>, tensor<1x1xi32>) -> tensor<1x3xi32>\n{check}"
        )
    );
}

#[test]
fn a_graph_of_webnn_has_its_operands_by_name_and_a_twin_with_constants() {
    let (files, _) = exported("wpt", &["webnn.gather/axis/first-of-three"]);
    let tests: Value = serde_json::from_slice(&files["gather.json"]).unwrap();
    let (graph, twin) = (&tests[0]["graph"], &tests[1]["graph"]);
    assert_eq!(tests.as_array().unwrap().len(), 2);
    assert_eq!(
        graph["operators"],
        json!([{
            "name": "gather",
            "arguments": [{ "input": "input" }, { "indices": "indices" }, { "options": { "axis": 0 } }],
            "outputs": "output",
        }])
    );
    let indices = json!({ "data": [1, 0], "descriptor": { "shape": [2], "dataType": "int32" } });
    assert_eq!(graph["inputs"]["indices"], indices);
    assert_eq!(twin["inputs"]["indices"]["constant"], json!(true));
    assert_eq!(graph["expectedOutputs"], twin["expectedOutputs"]);
    assert_eq!(graph["expectedOutputs"]["output"]["descriptor"]["shape"], json!([2, 3, 4]));
}

#[test]
fn outcomes_are_data_under_each_policy() {
    let (files, manifest) = exported("json", &["tf.gather_nd/bad-index/vector-alone-far-outside"]);
    let line: Value = serde_json::from_slice(&files["tf.gather_nd.jsonl"]).unwrap();
    let (status, shown) =
        ended(&["show", "tf.gather_nd/bad-index/vector-alone-far-outside", "--format", "json"]);
    assert_eq!((status, serde_json::from_str::<Value>(&shown).unwrap()), (0, line.clone()));
    assert_eq!(manifest["calls"], json!(1));
    let outcomes = |bad: &str, negative: &str| {
        let expect = line["expect"].as_array().unwrap();
        let fits = |of: &Value, policy: &str| of.is_null() || of == policy;
        let arm = expect
            .iter()
            .find(|arm| fits(&arm["when"]["bad"], bad) && fits(&arm["when"]["negative"], negative));
        arm.unwrap()["outcomes"].clone()
    };
    assert_eq!(outcomes("error", "reject")[0]["error"]["code"], json!("index-out-of-range"));
    assert_eq!(outcomes("error", "reject")[0]["error"]["index"], json!(10000));
    assert_eq!(outcomes("zero", "reject")[0]["output"]["data"], json!("AAAAAA=="));
}

#[test]
fn an_export_begins_only_where_nothing_is_and_ends_with_something() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("kept"), "mine").unwrap();
    let export = |out: &str, case: &str| {
        ended(&["export", "--format", "onnx", "--max-bytes", "600", "--out", out, "--case", case])
    };
    let (status, said) = export(place.path().to_str().unwrap(), FIRST);
    assert!(status == 2 && said.contains("a new or an empty folder is expected"), "{said}");
    let (status, said) = export(&path("new"), "tf.gather_nd/bad-index/vector-alone-far-outside");
    assert!(status == 2 && said.contains("left out 1 run: the pages allow more than one outcome"), "{said}");
    let (status, said) = export(&path("new"), "onnx.Gather-13/long-rows/rows-of-200");
    assert!(
        status == 2 && said.contains("left out 1 run: their tensors have more bytes than --max-bytes"),
        "{said}"
    );
    let (status, said) = ended(&["export", "--format", "wpt", "--operator", "tf.*", "--out", &path("new")]);
    assert!(status == 2 && said.contains("no case is chosen of webnn.*"), "{said}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn an_export_that_is_interrupted_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let mut export = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    export.args(["export", "--format", "onnx", "--out", "new"]).current_dir(place.path());
    let mut export = export.stderr(std::process::Stdio::null()).spawn().unwrap();
    let written = || std::fs::read_dir(place.path()).unwrap().next().is_some();
    while !written() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&export), rustix::process::Signal::TERM)
        .unwrap();
    assert!(!export.wait().unwrap().success());
    assert!(!written());
}
