//! Strings in one buffer: against copies one by one, over forms, policies, lengths, offsets and threads; and what is refused.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of elements of small test arrays"
)]

use std::num::NonZeroUsize;

use gather_optimized::slices::{self, View};
use gather_optimized::strings::{self, Offset, Strings, StringsBuf, WrongOffsets};
use gather_optimized::{Options, Plan};
use gather_spec::{BadIndex, ErrorCode, NegativeIndex, Refusal};

/// Lengths around every border of the kernel, and bytes that are never the same from string to string.
fn texts(count: usize) -> Vec<Vec<u8>> {
    let lengths = [0, 1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 66, 200, 3, 0, 0, 5];
    let text =
        |at: usize| (0..lengths[at % lengths.len()]).map(|byte| ((at * 7 + byte * 3) % 251) as u8).collect();
    (0..count).map(text).collect()
}

/// The offsets and bytes of these strings, behind some bytes that belong to none.
fn packed<O: Offset + TryFrom<usize>>(texts: &[Vec<u8>], before: usize) -> (Vec<O>, Vec<u8>) {
    let offset = |len: usize| O::try_from(len).ok().expect("short strings");
    let mut bytes = vec![0xEE; before];
    let mut offsets = vec![offset(before)];
    for text in texts {
        bytes.extend_from_slice(text);
        offsets.push(offset(bytes.len()));
    }
    (offsets, bytes)
}

fn unpacked<O: Offset>(found: &StringsBuf<O>) -> Vec<Vec<u8>> {
    let count = found.shape().iter().product::<usize>();
    assert_eq!(found.offsets().len(), count + 1);
    assert_eq!(found.get(count), None);
    (0..count).map(|at| found.get(at).expect("a string").to_vec()).collect()
}

/// What an index selects under each policy, of `count` strings: a place, or the fill.
fn place(index: i64, count: usize, bad: BadIndex, negative: NegativeIndex) -> Option<usize> {
    let count = i64::try_from(count).expect("few");
    let wrapped =
        if negative == NegativeIndex::Wrap && (-count..0).contains(&index) { index + count } else { index };
    let place = match bad {
        BadIndex::Clamp => wrapped.clamp(0, count - 1),
        BadIndex::Modulo => index.rem_euclid(count),
        _ => wrapped,
    };
    (0..count).contains(&place).then(|| usize::try_from(place).expect("in range"))
}

fn agrees<O: Offset + TryFrom<usize>>(params: usize, indices: usize, before: usize, threads: usize) {
    let texts = texts(params);
    let (offsets, bytes) = packed::<O>(&texts, before);
    let shape = [params];
    let all = Strings::new(&offsets, &bytes, &shape).expect("strings");
    for negative in [NegativeIndex::Reject, NegativeIndex::Wrap] {
        for bad in [BadIndex::Zero, BadIndex::Fill, BadIndex::Clamp, BadIndex::Modulo] {
            let drawn: Vec<i64> =
                (0..indices).map(|at| (at * 7919 % (params * 2)) as i64 - (params / 2) as i64).collect();
            let fill: &[u8] = if bad == BadIndex::Fill { b"a fill of 22 bytes, now" } else { b"" };
            let expected: Vec<_> = drawn
                .iter()
                .map(|index| {
                    place(*index, params, bad, negative).map_or(fill.to_vec(), |at| texts[at].clone())
                })
                .collect();
            let index_shape = [indices];
            let view = View::new(&drawn, &index_shape).expect("indices");
            let options = Options::new()
                .negative_index(negative)
                .exactly_threads(NonZeroUsize::new(threads).expect("positive"));
            let found = match bad {
                BadIndex::Fill => strings::gather(&all, &view, &options.fill(fill)),
                BadIndex::Modulo => strings::gather(&all, &view, &options.modulo()),
                _ => strings::gather(&all, &view, &options.bad_index(bad)),
            };
            let found = found.expect("no index is an error");
            assert_eq!(unpacked(&found), expected, "{params} by {indices}, {bad:?}, {threads} threads");
            assert_eq!(found.bytes(), expected.concat());
        }
    }
}

#[test]
fn strings_are_those_of_a_plain_loop() {
    for (params, indices) in [(1, 1), (20, 7), (21, 40), (60, 1023), (60, 1024), (61, 1025), (333, 5000)] {
        for threads in [1, 2, 5] {
            agrees::<i32>(params, indices, 0, threads);
            agrees::<i64>(params, indices, 13, threads);
        }
    }
}

/// Short strings at the very end of the bytes, where no move of 64 bytes fits.
#[test]
fn the_last_strings_are_read_to_their_end_and_no_further() {
    for last in 0..=130 {
        let texts = [vec![1; 3], vec![2; last]];
        let (offsets, bytes) = packed::<i32>(&texts, 0);
        let bytes = bytes.into_boxed_slice();
        let all = Strings::new(&offsets, &bytes, &[2]).expect("strings");
        let found = strings::gather(&all, &View::new(&[1, 1, 0, 1], &[4]).expect("indices"), &Options::new());
        let [short, long] = &texts;
        assert_eq!(
            unpacked(&found.expect("good indices")),
            [long.clone(), long.clone(), short.clone(), long.clone()]
        );
    }
}

#[test]
fn every_form_gathers_strings_as_it_gathers_numbers() {
    let texts = texts(24);
    let (offsets, bytes) = packed::<i64>(&texts, 0);
    let (shape, numbers): ([usize; 3], Vec<usize>) = ([2, 3, 4], (0..24).collect());
    let all = Strings::new(&offsets, &bytes, &shape).expect("strings");
    let numbers = View::new(&numbers, &shape).expect("numbers");
    let same = |found: StringsBuf<i64>, expected: Vec<usize>| {
        let expected: Vec<_> = expected.iter().map(|at| texts[*at].clone()).collect();
        assert_eq!(unpacked(&found), expected);
    };
    let indices = View::new(&[2u8, 0, 1, 1], &[2, 2]).expect("indices");
    let options = Options::new().axis(1).batch_dims(1);
    let found = strings::gather(&all, &indices, &options).expect("good indices");
    assert_eq!(found.shape(), [2, 2, 4]);
    same(found, slices::gather(&numbers, &indices, &options).expect("good indices"));
    let points = View::new(&[1i32, 2, 0, 0, 1, 0], &[3, 2]).expect("indices");
    let found = strings::gather_nd(&all, &points, &Options::new()).expect("good indices");
    same(found, slices::gather_nd(&numbers, &points, &Options::new()).expect("good indices"));
    let along = View::new(&[1i64, 0, 3, 2, 1, 1], &[2, 3, 1]).expect("indices");
    let options = Options::new().axis(2);
    let found = strings::take_along_axis(&all, &along, &options).expect("good indices");
    same(found, slices::take_along_axis(&numbers, &along, &options).expect("good indices"));
}

#[test]
fn a_bad_index_is_an_error_with_its_position() {
    let all = Strings::new(&[0, 1, 2], b"ab", &[2]).expect("strings");
    let refused = strings::gather(&all, &View::new(&[1, 0, 2], &[3]).expect("indices"), &Options::new());
    let Err(Refusal::Error(error)) = refused else { panic!("a bad index is an error") };
    assert_eq!((error.code(), error.fields().position), (ErrorCode::IndexOutOfRange, Some(vec![2])));
}

#[test]
fn empty_params_and_empty_outputs() {
    let none = Strings::new(&[0i32], b"", &[0]).expect("no strings");
    let two = View::new(&[0, 5], &[2]).expect("indices");
    let found = strings::gather(&none, &two, &Options::new().fill("x")).expect("fills");
    assert_eq!((found.offsets(), found.bytes()), (&[0, 1, 2][..], &b"xx"[..]));
    assert!(strings::gather(&none, &two, &Options::new()).is_err());
    let some = Strings::new(&[0i32, 2], b"ab", &[1]).expect("a string");
    let found = strings::gather(&some, &View::new(&[0i32; 0], &[0]).expect("no indices"), &Options::new());
    let found = found.expect("nothing");
    assert_eq!((found.offsets(), found.bytes(), found.get(0)), (&[0][..], &b""[..], None));
    let again = strings::gather(
        &found.as_strings(),
        &View::new(&[0i32; 0], &[0]).expect("no indices"),
        &Options::new(),
    );
    assert_eq!(again, Ok(found));
}

#[test]
fn wrong_offsets_are_refused_by_name() {
    let code = |offsets: &[i32], shape: &[usize]| {
        Strings::new(offsets, b"abc", shape).map(|_| ()).map_err(|wrong| wrong.code())
    };
    assert_eq!(code(&[0, 1, 3], &[2]), Ok(()));
    assert_eq!(code(&[3, 3], &[]), Ok(()), "one string without dims");
    for (offsets, shape, expected) in [
        (&[][..], &[0][..], "offsets-count"),
        (&[0, 1], &[2], "offsets-count"),
        (&[0, 1, 2], &[1], "offsets-count"),
        (&[0], &[usize::MAX, 2], "offsets-count"),
        (&[-1, 1], &[1], "offsets-negative"),
        (&[0, 2, 1], &[2], "offsets-decreasing"),
        (&[1, 0], &[1], "offsets-decreasing"),
        (&[0, -1], &[1], "offsets-decreasing"),
        (&[0, 4], &[1], "offsets-beyond-bytes"),
        (&[i32::MAX], &[0], "offsets-beyond-bytes"),
    ] {
        assert_eq!(code(offsets, shape), Err(expected), "{offsets:?}");
    }
    let wrong = Strings::new(&[0, 4], b"abc", &[1]).unwrap_err();
    assert_eq!(wrong, WrongOffsets::BeyondBytes { end: 4, bytes: 3 });
    assert_eq!(wrong.to_string(), "the last offset is 4, of 3 bytes");
}

/// An output of 2^31 bytes, which i32 cannot say and i64 can; nothing of it is ever allocated under i32.
#[test]
fn an_output_beyond_the_offsets_is_too_large() {
    let bytes = vec![7u8; 1 << 20];
    let all = Strings::new(&[0i32, 1 << 20], &bytes, &[1]).expect("a string");
    let of = |count: usize| {
        let (indices, shape) = (vec![0u8; count], [count]);
        strings::gather(&all, &View::new(&indices, &shape).expect("indices"), &Options::new())
    };
    let Err(Refusal::Error(error)) = of(1 << 11) else { panic!("too large") };
    assert_eq!(error.code(), ErrorCode::OutputTooLarge);
    assert_eq!(error.to_string(), gather_spec::GatherError::OutputTooLarge { bytes: 1 << 31 }.to_string());
    assert_eq!(of(16).expect("small").bytes().len(), 16 << 20);
}

/// A plan of other shapes is refused before anything is read.
#[test]
fn a_plan_of_other_shapes_is_refused() {
    let plan = Plan::gather(&[3], &[1], &Options::new()).expect("a plan");
    let all = Strings::new(&[0, 1, 2], b"ab", &[2]).expect("strings");
    let refused = plan.run_strings(&all, &View::new(&[0], &[1]).expect("an index"));
    assert!(matches!(refused, Err(Refusal::Unsupported(_))));
}
