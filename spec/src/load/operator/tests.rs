//! What the loader says of wrong signatures.

use super::*;
use crate::Profile;
use crate::call::{BadIndex, EmptyAxis, NegativeIndex};
use crate::load::files::SpecificationFile;
use crate::load::{Specification, Wanted};
use crate::signature::{
    CollapsedSize, EmptyDims, EmptyIndex, Flatten, Join, ModePolicy, OutputBatch, RankRule, SliceBound,
};

const TAKE: &str = include_str!("../../../operators/tf/gather/operator.yaml");
const ND: &str = include_str!("../../../operators/tf/gather_nd/operator.yaml");
const WINDOW: &str = include_str!("../../../operators/jax/lax.gather/operator.yaml");
const ELEMENTS: &str = "\
schema: 2
operator: made.up
summary: Picks one element per index.
documents: [made-up]
form: elements
operands:
  data: { role: params, dtypes: all, rank: at-least-1 }
  at: { role: indices, dtypes: [i32, i64], rank: at-least-1 }
attributes:
  along: { role: axis, type: integer, default: none, range: from-minus-r-below-r }
join: equal
empty-index: unchecked
policy: { negative: wrap, bad: error }
tolerates: { join: not-larger }
";

fn read(text: &str) -> Result<Signature, Diagnostic> {
    Signature::read(Text { file: "operator.yaml", text }).map(|page| page.signature)
}

/// Asserts what is wrong once a part of a right signature is changed: its line, and words of both texts.
fn assert_wrong(right: &str, (part, instead, line, words): &(&str, &str, usize, &[&str])) {
    let text = right.replacen(part, instead, 1);
    assert_ne!(text, right, "{part}");
    let diagnostic = read(&text).unwrap_err();
    let (place, said) = (diagnostic.place.unwrap(), format!("{diagnostic}"));
    assert!(place.line == *line && place.column > 0, "{instead}: line {}\n{said}", place.line);
    for word in *words {
        assert!(said.contains(word), "{instead}: {word} is missing in\n{said}");
    }
}

#[test]
fn what_is_wrong_with_a_signature_is_said_where_it_stands_with_what_would_be_right() {
    assert!(read(TAKE).is_ok());
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("schema: 2", "schema: 3", 1, &["schema 3 is not known", "write `schema: 2`"]),
        ("form: take", "form: taken", 5, &["`taken`", "take elements nd"]),
        ("role: params", "role: source", 7, &["`source`", "params indices"]),
        ("role: params", "role: indices", 8, &["`params` has this role already"]),
        ("dtypes: all", "dtypes: any", 7, &["`any`", "all"]),
        ("dtypes: all", "dtypes: []", 7, &["at least one dtype"]),
        ("[i32, i64]", "[i32, i63]", 8, &["`i63`"]),
        ("rank: any", "rank: at-least-9", 8, &["`at-least-9`", "at-least-1"]),
        ("role: axis", "role: axes", 10, &["`axes`", "axis batch-dims mode fill-value ignored"]),
        ("type: integer", "type: boolean", 10, &["an attribute of this role is an integer"]),
        ("default: batch-dims", "default: last", 10, &["the default of `axis` is an integer"]),
        ("default: 0, ", "", 11, &["`batch_dims` has no `default`"]),
        ("range: from-minus-r-below-r", "range: 0..r", 10, &["`0..r`", "from-minus-r-below-r"]),
        ("from-minus-q-to-q", "from-minus-r-below-r", 11, &["`from-minus-q-to-q` or `from-minus-smaller"]),
        (", range: from-minus-q-to-q", "", 11, &["`batch_dims` has no `range`"]),
        ("role: ignored, type: boolean", "role: ignored, type: word", 12, &["`word`", "integer boolean"]),
        ("bad: [error, zero]", "bad: []", 13, &["at least one policy"]),
        ("bad: [error, zero]", "bad: [error, modulo]", 13, &["only the mode of a call chooses `modulo`"]),
        ("bad: [error, zero]", "bad: [error, nil]", 13, &["`nil`", "zero"]),
        ("tolerates:", "depth: { least: 1 }\ntolerates:", 14, &["the form take has no index rows"]),
        ("tolerates: { index-dtypes: [i16] }", "tolerates: { depth: 0 }", 14, &["no index rows"]),
        ("tolerates: { index-dtypes: [i16] }", "tolerates: { join: broadcast }", 14, &["no `join` to widen"]),
        ("tolerates:", "join: equal\ntolerates:", 14, &["the form take has no `join`"]),
        ("policy:", "polices:", 13, &["unknown key `polices`", "policy"]),
    ];
    table.iter().for_each(|row| assert_wrong(TAKE, row));
}

const MODES: &str = "\
schema: 2
operator: made.up
summary: Takes slices, and lets the call say what a bad index means.
documents: [made-up]
form: take
operands:
  a: { role: params, dtypes: all, rank: any }
  indices: { role: indices, dtypes: [i32, i64], rank: any }
attributes:
  axis: { role: axis, type: integer, nullable: true, default: null, range: from-minus-r-below-r }
  mode: { role: mode, type: string, default: wrap }
flatten: when-axis-null
modes:
  raise: { negative: wrap, bad: error }
  wrap: { bad: modulo, empty-axis: error }
  clip: { negative: reject, bad: clamp, empty-axis: zero }
";

#[test]
fn the_default_mode_comes_first_and_the_remainder_gives_negative_indices_a_meaning() {
    let signature = read(MODES).unwrap();
    let mode = |mode: &str, bad, negative, empty_axis| {
        let profile = Profile { bad, negative };
        ModePolicy { mode: mode.to_owned(), profile, empty_axis }
    };
    let modes = [
        mode("wrap", BadIndex::Modulo, NegativeIndex::Wrap, EmptyAxis::Error),
        mode("raise", BadIndex::Error, NegativeIndex::Wrap, EmptyAxis::Zero),
        mode("clip", BadIndex::Clamp, NegativeIndex::Reject, EmptyAxis::Zero),
    ];
    assert_eq!(signature.modes(), modes);
    assert!(signature.flatten == Some(Flatten::WhenAxisNull) && signature.permitted().is_none());
    assert_eq!(signature.attributes[0].default, AttributeDefault::Value(Attribute::Null));
}

#[test]
fn what_is_wrong_with_modes_is_said_where_it_stands() {
    let policy = "policy: { negative: wrap, bad: error }";
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("flatten:", &format!("{policy}\nflatten:"), 12, &["the attribute `mode` chooses", "`modes`"]),
        ("role: mode", "role: ignored", 14, &["no attribute has the role `mode`", "`policy`"]),
        ("type: string", "type: integer", 11, &["an attribute of this role is a string"]),
        ("default: wrap", "default: other", 14, &["the default of `mode` is no mode"]),
        ("raise: {", "wrap: {", 15, &["the key `wrap` stands here a second time"]),
        ("negative: wrap, bad: error", "bad: error", 14, &["does not say what a negative index means"]),
        ("bad: modulo", "negative: wrap, bad: modulo", 15, &["the remainder says", "leave `negative` out"]),
        ("bad: modulo, empty-axis: error", "bad: modulo", 15, &["an index into an empty axis"]),
        ("bad: error }", "bad: error, empty-axis: zero }", 14, &["leave `empty-axis` out"]),
        ("bad: clamp", "bad: unspecified", 16, &["`bad` says what that gives", "leave `empty-axis` out"]),
        (
            "negative: reject, bad: clamp, empty-axis: zero",
            "negative: wrap, bad: fill",
            5,
            &["nothing says with what", "`fill: {"],
        ),
        (
            "flatten:",
            "fill: { inexact: nan, signed: zero, unsigned: zero, bool: true }\nflatten:",
            12,
            &["no mode fills"],
        ),
        ("nullable: true, default: null", "default: 0", 12, &["the axis cannot be null"]),
        ("when-axis-null", "never", 12, &["`never`", "when-axis-null"]),
        ("when-axis-null", "always", 12, &["no choice of one", "leave `axis` out"]),
        ("when-axis-null", "both-when-axis-null", 12, &["indices as they are", "write `when-axis-null`"]),
        (
            "dtypes: all, rank: any",
            "dtypes: all, rank: exactly-1",
            7,
            &["not one of an operand of this role"],
        ),
        (
            "dtypes: [i32, i64], rank: any",
            "dtypes: [i32, i64], rank: exactly-2",
            8,
            &["not one of an operand of this role"],
        ),
    ];
    table.iter().for_each(|row| assert_wrong(MODES, row));
    let neither = MODES.split("modes:").next().unwrap();
    assert_eq!(read(neither).unwrap_err().message, "nothing says what becomes of a bad index");
}

#[test]
fn the_words_of_the_form_elements_are_read() {
    let signature = read(ELEMENTS).unwrap();
    assert_eq!((signature.form, signature.join), (Form::Elements, Some(Join::Equal)));
    assert_eq!(signature.empty_index, EmptyIndex::Unchecked);
    assert_eq!(signature.tolerates.join, Some(Join::NotLarger));
    assert_eq!(signature.attributes[0].default, AttributeDefault::None);
    let default = read(&ELEMENTS.replace("empty-index: unchecked\n", "")).unwrap();
    assert_eq!(default.empty_index, EmptyIndex::Checked);
}

#[test]
fn a_null_axis_may_flatten_both_operands() {
    let axis = "type: integer, default: none, range: from-minus-r-below-r }";
    let null = ELEMENTS.replace(axis, &axis.replace("default: none", "nullable: true, default: null"));
    let both = null.replacen("join:", "flatten: both-when-axis-null\njoin:", 1);
    assert_eq!(read(&both).unwrap().flatten, Some(Flatten::BothWhenAxisNull));
    let always = read(&both.replace("both-when-axis-null", "always")).unwrap_err();
    assert_eq!(always.message, "an operator of the form elements does not always flatten params");
}

#[test]
fn an_operator_may_have_one_axis_only() {
    let axis = MODES.lines().find(|line| line.contains("role: axis")).unwrap();
    let none = MODES.replace(&format!("{axis}\n"), "");
    let always = read(&none.replace("when-axis-null", "always")).unwrap();
    assert_eq!(always.flatten, Some(Flatten::Always));
    let matrix =
        none.replace("flatten: when-axis-null\n", "").replace("all, rank: any", "all, rank: exactly-2");
    let matrix = read(&matrix).unwrap();
    assert_eq!(matrix.operand(OperandRole::Params).rank, RankRule::Exactly2);
    let ranks: Vec<usize> = (0..5).filter(|rank| RankRule::Exactly2.allows(*rank)).collect();
    assert_eq!((matrix.flatten, ranks), (None, vec![2]));
}

#[test]
fn what_is_wrong_with_an_operator_of_form_elements_is_said_where_it_stands() {
    let axis = "  along: { role: axis, type: integer, default: none, range: from-minus-r-below-r }";
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("join: equal\n", "", 5, &["has a `join`, and this one has none", "`join: not-larger`"]),
        ("join: equal", "join: wider", 11, &["`wider`", "equal not-larger broadcast"]),
        ("join: equal", "join:", 11, &[]),
        ("empty-index: unchecked", "empty-index: skipped", 12, &["`skipped`", "checked unchecked"]),
        ("empty-index:", "empty_index:", 12, &["unknown key `empty_index`", "empty-index"]),
        ("join: not-larger", "join: equal", 14, &["not wider than the operator's own", "`broadcast`"]),
        ("join: equal", "join: broadcast", 14, &["not wider", "only `join: equal` can be widened"]),
        ("join: not-larger", "join: larger", 14, &["`larger`", "not-larger"]),
        ("join: not-larger", "depth: 0", 14, &["the form elements has no index rows", "leave it out"]),
        ("join: equal", "join: equal\ndepth: { least: 0 }", 12, &["the form elements has no index rows"]),
        ("role: axis", "role: ignored", 5, &["has an axis", "`role: axis`"]),
        ("role: axis", "role: batch-dims", 5, &["has an axis"]),
        (
            axis,
            &format!("{axis}\n  b: {{ role: batch-dims, type: integer, default: 0 }}"),
            11,
            &["no batch dims"],
        ),
        (
            "default: none",
            "default: batch-dims",
            10,
            &["the default of `along` is an integer", "`default: none`"],
        ),
        ("default: none, ", "", 10, &["`along` has no `default`"]),
        (
            "from-minus-r-below-r",
            "from-minus-q-to-q",
            10,
            &["`from-minus-r-below-r` or `from-0-below-r` is expected"],
        ),
    ];
    table.iter().for_each(|row| assert_wrong(ELEMENTS, row));
}

#[test]
fn dims_of_0_and_negative_axes_may_be_rejected() {
    assert_eq!(read(ELEMENTS).unwrap().empty_dims, EmptyDims::Allowed);
    let text = ELEMENTS.replace("empty-index: unchecked", "empty-dims: rejected");
    let signature = read(&text.replace("from-minus-r-below-r", "from-0-below-r")).unwrap();
    assert_eq!(signature.attributes[0].range, Some(Range::From0BelowR));
    assert_eq!((signature.empty_dims, signature.most_elements), (EmptyDims::Rejected, None));
    let most = read(&text.replace("join: equal", "join: equal\nmost-elements: 7")).unwrap();
    assert_eq!(most.most_elements, Some(7));
    assert!(signature.rejects_empty_dims(&[2, 0], &[1, 1]) && signature.rejects_empty_dims(&[1], &[0]));
    assert!(
        !signature.rejects_empty_dims(&[1], &[]) && !read(ELEMENTS).unwrap().rejects_empty_dims(&[0], &[0])
    );
    let join = "join: equal";
    let unknown = (join, "join: equal\nempty-dims: never", 12, &["`never`", "allowed rejected"][..]);
    assert_wrong(ELEMENTS, &unknown);
    let without_index = (join, "join: equal\nempty-dims: rejected", 13, &["always have an element"][..]);
    assert_wrong(ELEMENTS, &without_index);
    let of_windows = ("form: window", "form: window\nempty-dims: rejected", 6, &["has no `empty-dims`"][..]);
    assert_wrong(WINDOW, &of_windows);
}

#[test]
fn what_is_wrong_with_an_operator_of_form_nd_is_said_where_it_stands() {
    let both = "`from-0-below-q-to-r` or `from-0-below-smaller-rank` is expected";
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("form: nd", "form: nd\noutput-batch: merged", 6, &["`merged`", "kept flattened"]),
        ("form: nd", "form: nd\njoin: equal", 6, &["the form nd has no `join`", "leave it out"]),
        ("form: nd", "form: nd\nempty-index: checked", 6, &["the form nd has no `empty-index`"]),
        ("{ index-dtypes: [i16] }", "{ join: broadcast }", 13, &["the form nd has no `join` to widen"]),
        ("{ index-dtypes: [i16] }", "{ depth: 0 }", 13, &["its least is 0", "a smaller depth"]),
        ("{ index-dtypes: [i16] }", "{ depth: none }", 13, &[]),
        ("from-0-below-q-to-r", "from-minus-q-to-q", 10, &[both]),
        ("role: batch-dims", "role: axis", 10, &["the form nd has no axis"]),
        ("default: 0", "default: none", 10, &["the default of `batch_dims` is an integer"]),
    ];
    table.iter().for_each(|row| assert_wrong(ND, row));
    let onnx = ND.replace("from-0-below-q-to-r", "from-0-below-smaller-rank").replace("least: 0", "least: 1");
    let onnx = read(&onnx.replace("{ index-dtypes: [i16] }", "{ depth: 0 }")).unwrap();
    assert_eq!(onnx.attributes[0].range, Some(Range::From0BelowSmallerRank));
    assert_eq!((onnx.least_depth, onnx.tolerates.least_depth), (1, Some(0)));
    let flat = read(&ND.replacen("form: nd", "form: nd\noutput-batch: flattened", 1)).unwrap();
    assert_eq!((onnx.output_batch, flat.output_batch), (OutputBatch::Kept, OutputBatch::Flattened));
    assert_wrong(
        TAKE,
        &("form: take", "form: take\noutput-batch: kept", 6, &["no `output-batch`", "leave it out"]),
    );
}

/// An operator whose axis is an operand.
fn with_axis_operand() -> String {
    let axis = "  where: { role: axis, dtypes: [i32, i64], rank: at-most-1 }\nattributes:";
    let take = TAKE.replacen("from-minus-q-to-q", "from-minus-smaller-rank-to-smaller-rank", 1);
    let lines: Vec<&str> = take.lines().filter(|line| !line.contains("role: axis")).collect();
    lines.join("\n").replacen("attributes:", axis, 1)
}

#[test]
fn an_axis_that_is_an_operand_has_a_range_like_an_attribute_and_no_default() {
    let signature = read(&with_axis_operand()).unwrap();
    let axis = signature.attribute(AttributeRole::Axis).unwrap();
    assert_eq!((axis.range, &axis.default), (Some(Range::FromMinusRBelowR), &AttributeDefault::Operand));
    assert_eq!(&*signature.axis_operand().unwrap().name, "where");
    assert_eq!(signature.attributes[0].range, Some(Range::FromMinusSmallerRankToSmallerRank));
    assert!(signature.attributes.iter().all(|attribute| attribute.role != AttributeRole::Axis));
}

#[test]
fn what_is_wrong_with_an_axis_that_is_an_operand_is_said_where_it_stands() {
    let twice =
        "along: { role: axis, type: integer, default: none, range: from-minus-r-below-r }\n  batch_dims:";
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("rank: at-most-1", "rank: any", 9, &["not one of an operand of this role", "`rank: at-most-1`"]),
        ("rank: at-most-1", "rank: exactly-1", 9, &["not one of an operand of this role"]),
        ("rank: any", "rank: at-most-1", 8, &["not one of an operand of this role"]),
        ("rank: at-least-1", "rank: at-most-1", 7, &["not one of an operand of this role"]),
        ("batch_dims:", twice, 11, &["the operand `where` has this role", "leave one of the two out"]),
        ("form: take", "form: nd", 9, &["the form nd has no axis that is an operand"]),
        ("rank: at-least-1", "rank: exactly-2", 7, &["are gathered by rows", "leave `batch_dims` out"]),
        (
            "policy:",
            "flatten: always\npolicy:",
            13,
            &["no choice of one, and no batch", "leave `batch_dims`"],
        ),
    ];
    table.iter().for_each(|row| assert_wrong(&with_axis_operand(), row));
}

#[test]
fn the_words_of_the_form_window_are_read() {
    let signature = read(WINDOW).unwrap();
    assert_eq!(signature.collapsed_size, Some(CollapsedSize::Exactly1));
    assert_eq!(signature.slice_bound, SliceBound::WithRows);
    assert_eq!(signature.attributes[0].default, AttributeDefault::None);
    let none = AttributeDefault::Value(Attribute::Integers(Vec::new()));
    assert_eq!(signature.attributes[3].default, none);
    let default = read(&WINDOW.replace("slice-bound: with-rows\n", "")).unwrap();
    assert_eq!(default.slice_bound, SliceBound::Always);
}

#[test]
fn what_is_wrong_with_an_operator_of_form_window_is_said_where_it_stands() {
    let table: &[(&str, &str, usize, &[&str])] = &[
        ("collapsed-size: exactly-1\n", "", 5, &["has a `collapsed-size`, and this one has none"]),
        ("slice-bound: with-rows", "slice-bound: never", 21, &["`never`", "always with-rows"]),
        ("default: none", "default: [0]", 10, &["a list that is not sent is empty", "`default: none`"]),
        ("default: none", "default: 'none'", 10, &["a list that is not sent is empty"]),
        ("bad: clamp }", "bad: clamp, empty-axis: error }", 24, &["some start of a window fits"]),
        ("role: slice-sizes", "role: ignored", 5, &["an attribute of the role `slice-sizes`"]),
    ];
    table.iter().for_each(|row| assert_wrong(WINDOW, row));
    let bound = ("form: nd", "form: nd\nslice-bound: always", 6, &["the form nd has no `slice-bound`"][..]);
    assert_wrong(ND, &bound);
}

#[test]
fn a_default_lies_within_its_range() {
    for range in ["from-0-below-q-to-r", "from-0-below-smaller-rank"] {
        let text = ND.replacen("from-0-below-q-to-r", range, 1).replacen("default: 0", "default: -1", 1);
        assert_eq!(read(&text).unwrap_err().message, "the default is outside the range");
    }
    let text = ELEMENTS.replace("from-minus-r-below-r", "from-0-below-r");
    let text = text.replace("default: none", "default: -1");
    assert_eq!(read(&text).unwrap_err().message, "the default is outside the range");
}

#[test]
fn a_document_that_the_ledger_lacks_is_refused_with_the_nearest_one() {
    let load = |documents: &str| {
        let operator = ELEMENTS.replacen("[made-up]", documents, 1);
        let files: [(&str, &[u8]); 2] = [
            ("documents.yaml", include_bytes!("../../../documents.yaml")),
            ("operators/made/up/operator.yaml", operator.as_bytes()),
        ];
        let files = files.map(|(place, bytes)| SpecificationFile::new(place, place, bytes));
        Specification::load(&files, &Wanted::Usual, true)
    };
    assert!(load("[tf-gather]").is_ok());
    let wrong = load("[tf-gather, tf-gather-ndd]").unwrap_err();
    let place = wrong[0].place.as_ref().unwrap();
    assert_eq!((wrong.len(), place.line, place.column), (1, 4, 24));
    let said = wrong[0].to_string();
    assert!(said.contains("documents.yaml has no document `tf-gather-ndd`"), "{said}");
    assert!(said.contains("did you mean `tf-gather-nd`?"), "{said}");
}
