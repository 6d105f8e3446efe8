//! `gatherspec ask`: what is typed is read as it is meant or refused at the character, and answered with clauses and verdicts.

use std::process::Command;

use gather_conformance::builtin;
use gather_spec::{Attribute, DType, Element, Tensor};
use gatherspec::internals::ask::{self, TypedCall};

fn read(text: &str) -> TypedCall {
    ask::read(text, builtin::signatures()).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// The message, the column and the help of an error.
fn wrong(text: &str) -> (String, usize, String) {
    let wrong = ask::read(text, builtin::signatures()).unwrap_err();
    (wrong.message, wrong.place.unwrap().column, wrong.help.unwrap())
}

fn operand(text: &str, name: &str) -> Tensor {
    read(text).call.operands.get(name).unwrap().clone()
}

/// Status, stdout and stderr.
fn ended(arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    let output = command.args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_call_may_have_its_arguments_in_order_or_by_name() {
    let in_order = read("torch.gather([[1,2],[3,4]], [[0,0],[1,0]], 1)");
    assert_eq!(in_order, read("torch.gather([[1,2],[3,4]], dim=1, index=[[0,0],[1,0]])"));
    assert_eq!(in_order.call.attributes["dim"], Attribute::Integer(1));
    assert_eq!(&*in_order.names.params, "input");
    assert_eq!(in_order.call.operands.get("index").unwrap().shape()[..], [2, 2]);
}

#[test]
fn an_operator_may_be_abbreviated_if_only_one_is_meant() {
    let operator = |text: &str| ask::operator(text, builtin::signatures());
    assert_eq!(operator("take_along_dim([1], [0])"), Some("torch.take_along_dim"));
    assert_eq!(operator("GATHERND([1], [0])"), None);
    assert_eq!(operator("onnx.GatherElements([1], [0])"), Some("onnx.GatherElements-13"));
    assert_eq!(operator("numpy.take([1], [0])"), Some("numpy.take"));
    let (message, column, help) = wrong("  lax.gathr([1], [0])");
    assert_eq!((message.as_str(), column), ("there is no operator `lax.gathr`", 3));
    assert!(help.contains("jax.lax.gather"), "{help}");
    let (message, _, help) = wrong("take_along_axis([1], [0])");
    assert_eq!(message, "`take_along_axis` may be any of 3 operators");
    assert!(
        help.contains("array_api.take_along_axis jax.numpy.take_along_axis numpy.take_along_axis"),
        "{help}"
    );
}

#[test]
fn elements_have_the_dtype_that_is_written_or_the_usual_one() {
    let dtype = |tensor: &str| operand(&format!("numpy.take({tensor}, [0])"), "a").dtype();
    assert_eq!(dtype("[1, 2]"), DType::I64);
    assert_eq!(dtype("[1, 2.5]"), DType::F32);
    assert_eq!(dtype("[true, false]"), DType::Bool);
    assert_eq!(dtype("[1+2i]"), DType::C64);
    assert_eq!(dtype("[[1], [2]]:u8"), DType::U8);
    // A page that does not list i64 gets the next dtype.
    assert_eq!(operand("paddle.gather_nd([1], [0])", "index").dtype(), DType::I64);
    let bits = |tensor: &str| operand(&format!("numpy.take({tensor}, [0])"), "a").element(&[0]);
    assert_eq!(bits("[-0.0]"), Element::Bits(0x8000_0000));
    assert_eq!(bits("[nan]"), Element::Bits(0x7FC0_0000));
    assert_eq!(bits("[-inf]:f16"), Element::Bits(0xFC00));
    assert_eq!(bits("[1.0-2.0i]"), Element::Bits(0xC000_0000_3F80_0000));
    assert_eq!(bits("[2i]:c64"), Element::Bits(0x4000_0000_0000_0000));
    let text = r#"tf.gather(["a, b", 'it\'s'], [0])"#;
    assert_eq!(operand(text, "params").element(&[1]), Element::Bytes("it's".as_bytes().into()));
}

#[test]
fn an_error_is_at_its_character_and_says_what_would_be_right() {
    for (text, at, message, help) in [
        ("torch.gather([[1,2],[3]], [0], 0)", 21, "this is a list of 1", "same length"),
        ("torch.gather([1], [0], dim=x)", 28, "`dim` is an integer", "such as 1"),
        (
            "torch.gather([1], 0, [0])",
            22,
            "`dim` is an integer",
            "torch.gather(input, index, dim, sparse_grad)",
        ),
        ("torch.gather([1], [0], dimm=0)", 24, "no operand or attribute `dimm`", "did you mean `dim`?"),
        ("torch.gather([1], [0], 0, dim=0)", 27, "`dim` is given twice", "torch.gather(input"),
        ("torch.gather([1], 0, dim=0, [0])", 29, "behind one with a name", "torch.gather(input"),
        ("torch.gather([1], dim=0)", 24, "the operand `index` is missing", "torch.gather(input"),
        ("numpy.take([1.5, x], [0])", 18, "`x` is no f32", "nan, inf"),
        ("numpy.take([300]:u8, [0])", 13, "`300` does not fit u8", "0 to 255"),
        ("numpy.take([1], [0]:i46)", 21, "there is no dtype `i46`", "did you mean `i16`?"),
        ("numpy.take([1], [0]", 20, "expected `,`, found the end", "parenthesis"),
        ("numpy.take([1], [0]) + 1", 22, "nothing may follow", "one call"),
        ("numpy.take((1, 2), [0])", 12, "expected a value, found `(`", "brackets"),
        ("numpy.take(['a, [0])", 13, "the string has no end", "'"),
        ("numpy.take([1],\n  [zero])", 4, "`zero` is no f32", "decimal"),
        ("", 1, "expected the name of an operator, found the end", "torch.gather"),
    ] {
        let (found, column, right) = wrong(text);
        assert!(found.contains(message), "{text}: {found}");
        assert_eq!(column, at, "{text}: {found}");
        assert!(right.contains(help), "{text}: {right}");
    }
    let deep = format!("numpy.take({}, [0])", "[".repeat(100_000));
    assert_eq!(wrong(&deep).0, "the list is nested too deep");
}

#[test]
fn a_call_of_a_case_has_its_clauses_and_each_backend_its_verdict() {
    let call = "torch.gather([[1,2],[3,4]], dim=1, index=[[0,0],[1,0]])";
    let (status, out, said) = ended(&["ask", call, "--backend", "reference", "--backend", "optimized"]);
    assert_eq!((status, said.as_str()), (0, ""), "{out}");
    for words in [
        "  input  i64 [2, 2]    index  i64 [2, 2]    output  i64 [2, 2]\n",
        "  d  index[1, 1] = 0 → input[1, 0] → output[1, 1]\n",
        "  answer      i64 [2, 2] [[1, 1], [4, 3]] (documented, with bad=error,negative=reject)\n",
        "  case        torch.gather/documented/along-the-columns\n",
        "  clause      torch.gather.value.formula: ",
        "  reference 0.1.0  pass  i64 [2, 2] [[1, 1], [4, 3]]\n",
        "  optimized 0.1.0  pass  i64 [2, 2] [[1, 1], [4, 3]]\n",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
}

#[test]
fn every_answer_that_the_documents_permit_has_its_policies_and_its_basis() {
    let (status, out, _) =
        ended(&["ask", "tf.gather([10, 20, 30], [2, 7])", "--backend", "reference:bad=zero"]);
    assert_eq!(status, 0, "{out}");
    for words in [
        "  answer      error index-out-of-range (position [1], index 7, bound 3) (documented, with bad=error,negative=reject)\n",
        "  answer      i64 [2] [30, 0] (documented, with bad=zero,negative=reject)\n",
        "  case        none has this very call; most like it is tf.gather/bad-index/",
        "  clause      tf.gather.index.zero-where-not-validated: ",
        "  clause      tf.gather.index.in-range: ",
        "  reference:bad=zero 0.1.0  pass  i64 [2] [30, 0]\n",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
}

#[test]
fn a_call_that_is_no_case_has_the_clauses_of_its_formula_and_of_its_negative_index() {
    let (status, out, _) = ended(&["ask", "numpy.take([10, 20, 30], [0, -1])"]);
    assert_eq!(status, 0, "{out}");
    for words in [
        "  answer      i64 [2] [10, 30] (ruling)\n",
        "  clause      numpy.take.shape.axis-replaced: ",
        "  clause      numpy.take.value.loop: ",
        "  clause      numpy.take.index.negative: ",
        "indices[1] = -1 → 2, from the end (size 3, mode raise)\n",
    ] {
        assert!(out.contains(words), "{words}\n{out}");
    }
    assert!(!out.contains("index.first-offender"), "{out}");
}

#[test]
fn the_basis_of_an_answer_is_the_weakest_of_its_clauses() {
    for (call, answer) in [
        ("numpy.take([11,12,13], [-1], axis=0)", "i64 [1] [13] (ruling)"),
        ("jax.numpy.take([11,12,13], [7], mode='wrap')", "i64 [1] [12] (ruling)"),
        ("numpy.take([11,12,13], [7], mode='wrap')", "i64 [1] [12] (documented)"),
        ("torch.gather(5, 0, 0)", "error params-rank | i64 [] 5 (ruling, with bad=error,negative=reject)"),
        (
            "torch.gather([1, 2], [0]:f32, 0)",
            "error index-dtype (documented, with bad=error,negative=reject)",
        ),
    ] {
        let (_, out, _) = ended(&["ask", call]);
        assert!(out.contains(&format!("  answer      {answer}\n")), "{answer}\n{out}");
    }
}

#[test]
fn a_backend_that_does_not_start_is_reported_and_ends_with_3() {
    let (status, out, _) = ended(&["ask", "tf.gather([1], [0])", "--", "no-such-program-anywhere"]);
    assert_eq!(status, 3, "{out}");
    assert!(out.contains("not started"), "{out}");
}

#[test]
fn a_typed_error_ends_with_2_below_the_text() {
    let (status, out, said) = ended(&["ask", "tf.gather([1], [0]"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(said.contains("1 | tf.gather([1], [0]\n") && said.contains("= help: "), "{said}");
}
