//! Pictures of calls: every form, bad indices under every policy, ranks that are not drawn, and files that are valid SVG.

use std::collections::BTreeSet;

use gather_conformance::backend::Backend;
use gather_conformance::builtin;
use gather_spec::{BadIndex, NegativeIndex, Profile};
use gatherspec::internals::ask;
use gatherspec::internals::picture::{self, Picture};

const STRICT: Profile = Profile { bad: BadIndex::Error, negative: NegativeIndex::Reject };

/// The picture of a typed call in a terminal, without colours.
fn drawn(text: &str, profile: Profile, width: usize) -> String {
    let asked = ask::read(text, builtin::signatures()).unwrap_or_else(|wrong| panic!("{wrong}"));
    let picture = Picture::new(&asked.call, &asked.names, profile, &picture::reference).unwrap();
    anstream::adapter::strip_str(&picture.terminal(width)).to_string()
}

fn svg(text: &str, profile: Profile) -> Option<String> {
    let asked = ask::read(text, builtin::signatures()).unwrap_or_else(|wrong| panic!("{wrong}"));
    picture::svg(&asked.call, &asked.names, profile, &picture::reference).ok()
}

fn assert_has(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn a_bad_index_is_marked_with_what_the_policy_makes_of_it() {
    let call = "tf.gather([10, 20, 30], [1, 7])";
    let under = |bad| drawn(call, Profile { bad, ..STRICT }, 100);
    let rejected = under(BadIndex::Error);
    assert_has(
        &rejected,
        &[
            "    1  7✗\n",
            "  outcome     error index-out-of-range",
            "  a  indices[0] = 1 → params[1]\n",
            "  b  indices[1] = 7 → ✗\n",
            "  indices[1] = 7 → an error (size 3, bad=error,negative=reject)\n",
        ],
    );
    let zero = under(BadIndex::Zero);
    assert_has(
        &zero,
        &["20  (0)\n", "  b  indices[1] = 7 → ✗ → output[1]\n", "indices[1] = 7 → zeros (size 3"],
    );
    let clamp = under(BadIndex::Clamp);
    assert_has(
        &clamp,
        &["  1  7→2 ", "  b  indices[1] = 7 → params[2] → output[1]\n", "→ 2, the nearest (size 3"],
    );
    let wrapped = drawn("numpy.take([10, 20, 30], [1, 7], mode=\"wrap\")", STRICT, 100);
    assert_has(&wrapped, &["  1  7→1 ", "indices[1] = 7 → 1, its remainder (size 3, mode wrap)"]);
    let filled = drawn("jax.numpy.take([1.0, 2.0, 3.0], [1, 7], mode=\"fill\")", STRICT, 100);
    assert_has(&filled, &["(nan)", "indices[1] = 7 → filled with nan (size 3, mode fill)"]);
}

#[test]
fn one_bad_component_spoils_the_row_and_its_own_cell_alone_is_marked() {
    let zero = Profile { bad: BadIndex::Zero, ..STRICT };
    let text = drawn("tf.gather_nd([[1, 2], [3, 4]], [[1, 9], [0, 1]])", zero, 100);
    assert_has(
        &text,
        &[
            "  0  1  9✗",
            "  a  indices[0, :] = [1, 9] → ✗ → output[0]\n",
            "  b  indices[1, :] = [0, 1] → params[0, 1]",
        ],
    );
}

#[test]
fn an_element_that_several_rows_select_has_the_letters_of_all() {
    let text = drawn("numpy.take([10, 20], [1, 1, 1, 1, 1, 1])", STRICT, 100);
    assert_has(&text, &["        a,b,c,d,…      a  b  c  d  e  f"]);
}

#[test]
fn grids_that_do_not_fit_are_stacked_and_tables_that_do_not_are_put_into_words() {
    let call = "numpy.take([[100, 200, 300], [400, 500, 600]], [1, 0], axis=0)";
    let (wide, narrow) = (drawn(call, STRICT, 80), drawn(call, STRICT, 24));
    assert!(wide.contains("a  i64 [2, 3]       indices  i64 [2]"), "{wide}");
    assert!(narrow.contains("  a  i64 [2, 3]\n") && narrow.contains("\n\n  indices  i64 [2]\n"), "{narrow}");
    assert!(narrow.lines().take(18).all(|line| line.chars().count() <= 24), "{narrow}");
    let words = drawn(call, STRICT, 12);
    assert!(words.contains("[[100, 200, 300], [400, 500, 600]] (too wide to be drawn here)"), "{words}");
}

#[test]
fn a_tensor_of_a_higher_rank_or_of_many_elements_is_put_into_words() {
    let high = drawn("numpy.take([[[[[1, 2]]]]], [1], axis=4)", STRICT, 100);
    assert_has(
        &high,
        &["[[[[[1, 2]]]]] (rank 5 is not drawn)", "  a  indices[0] = 1 → a[0, 0, 0, 0, 1] → output"],
    );
    let many: Vec<String> = (0..300).map(|element| element.to_string()).collect();
    let many = drawn(&format!("numpy.take([{}], [1])", many.join(", ")), STRICT, 100);
    assert_has(&many, &["63, …] (300 elements are not drawn)"]);
    let empty = drawn("numpy.take([1], [[]])", STRICT, 100);
    assert_has(&empty, &["(no elements)"]);
    let nothing = format!("numpy.take([[[[[{}]]]]], [[[[[0]]]]], axis=4)", "1");
    assert_eq!(svg(&nothing, STRICT), None);
}

#[test]
fn a_run_of_dims_is_a_range_and_an_attribute_is_not_counted_up_to() {
    let four = drawn("tf.gather([[[[[1, 2]]]]], [[[[0]]]], batch_dims=4)", STRICT, 100);
    assert_has(
        &four,
        &["  dims 0 to 3 are the batch: indices select from params at their own position there"],
    );
    let two = drawn("tf.gather([[[1, 2]]], [[0]], batch_dims=2)", STRICT, 100);
    assert_has(&two, &["  dims 0, 1 are the batch"]);
    for batch in ["4294967296", "9223372036854775807", "-9223372036854775808"] {
        let refused = drawn(&format!("tf.gather([[1]], [[0]], batch_dims={batch})"), STRICT, 100);
        assert_has(
            &refused,
            &[&format!("  batch_dims  {batch}\n"), "  outcome     error batch-dims-out-of-range"],
        );
        assert!(!refused.contains("are the batch"), "{refused}");
    }
}

#[test]
fn a_call_that_is_too_large_to_make_is_described_in_words() {
    let indices = vec!["0"; 16_385].join(", ");
    let text = drawn(&format!("numpy.take([7], [{indices}])"), STRICT, 100);
    assert_has(&text, &["  outcome     not computed for a picture: 16385 indices\n", "i64 [16385]\n"]);
    // 513 rows of 513 bytes: more than 256 KiB.
    let (rows, columns) = (vec!["0"; 513].join(", "), vec!["7"; 513].join(", "));
    let text = drawn(&format!("numpy.take([[{columns}]]:u8, [{rows}], axis=0)"), STRICT, 100);
    assert_has(&text, &["the output takes 263169 bytes, more than the limit of 262144"]);
    assert!(svg(&format!("numpy.take([7], [{indices}])"), STRICT).is_some(), "params are drawn");
}

#[test]
fn a_panic_costs_only_the_picture() {
    let asked = ask::read("numpy.take([7], [0])", builtin::signatures()).unwrap();
    let make = |_| -> Box<dyn Backend> { panic!("a mistake") };
    assert_eq!(
        picture::terminal(&asked.call, &asked.names, STRICT, &make, 100),
        "  no picture: drawing it failed, which is a bug in gatherspec\n"
    );
}

#[test]
fn letters_go_on_behind_z() {
    let indices: Vec<String> = (0..28).map(|_| "0".to_owned()).collect();
    let text = drawn(&format!("tf.gather([7], [{}])", indices.join(", ")), STRICT, 200);
    assert_has(&text, &["  z  a1  b1\n", "  … and 12 more\n"]);
}

#[test]
fn a_file_has_a_title_and_says_in_words_what_it_shows() {
    let text = svg("tf.gather([\"<a>\", \"b&c\"], [1])", STRICT).unwrap();
    assert_has(
        &text,
        &[
            "<title>",
            "tf.gather",
            "<desc>",
            "role=\"img\"",
            "prefers-color-scheme:dark",
            "&lt;a&gt;",
            "b&amp;c",
        ],
    );
    assert_has(&text, &["indices[0] = 1 selects params[1] for output[0]."]);
    assert!(
        !text.contains("http://") || text.matches("http").count() == 1,
        "only the namespace is an address"
    );
}

/// The tags of a text are nested, and attributes have quotes: what an XML reader demands of a file without entities.
fn assert_is_nested(id: &str, text: &str) {
    let mut open = Vec::new();
    for part in text.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap_or_else(|| panic!("{id}: {part}"));
        assert!(!after.contains('>') && tag.matches('"').count() % 2 == 0, "{id}: {part}");
        let name = tag.split([' ', '/']).next().unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{id}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{id}: {open:?}");
}

#[test]
fn some_case_of_every_topic_of_every_operator_is_drawn_in_both_ways() {
    let spec = crate::embedded();
    let mut topics = BTreeSet::new();
    let mut drawn = 0;
    for case in crate::embedded_runs() {
        let operator = spec.operator(case.call.operator.as_str()).unwrap();
        if !topics.insert((
            case.call.operator.to_string(),
            case.case.topic().to_owned(),
            case.expect.accepts(),
        )) {
            continue;
        }
        let profile = builtin::Policies::default().of(operator);
        let picture = Picture::new(&case.call, &case.case.names, profile, &picture::reference).unwrap();
        assert!(!picture.terminal(80).is_empty(), "{}", case.id);
        if let Some(text) = picture.svg() {
            assert_is_nested(&case.id, &text);
            assert!(text.len() < 400_000, "{} has {} bytes", case.id, text.len());
            drawn += 1;
        }
    }
    assert!(drawn * 2 > topics.len(), "{drawn} of {}", topics.len());
}
