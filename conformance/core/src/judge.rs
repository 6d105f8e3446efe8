//! Judges an outcome against the allowed ones. Compares bits, and never the text of messages.
//!
//! # A new verdict
//!
//! 1. Add it to [`Verdict`]. Its place there is its place in reports.
//! 2. Return it where it is observed: in this process `runner.rs`, of a program `process/session.rs` or `process/client.rs`.
//!    Where a program says it itself: `protocol.rs`, `schemas.rs`, `process/replies.rs`, the kit for Python, `library.rs` of
//!    the program, and `fault` in `PROTOCOL.md`.
//! 3. The compiler asks for its severity in `entry.rs`. It does not ask elsewhere: decide in `is_failure`, `message` of
//!    `facts.rs`, `Sides::of` of `difference.rs`, `wrong_verdicts` of `deviations/entry.rs`, `report/{summary,cause}.rs`,
//!    `is_answer` of `process/run.rs`, wherever `process/{worker,client,dialogue}.rs` ask for `Verdict::Timeout`, and in
//!    `report/junit.rs` and `results.rs` of the program.
//! 4. Add it to the table in `conformance/README.md`, and bless: schemas list it.

use gather_spec::literal::Rows;
use gather_spec::{Allowed, ErrorCode, ErrorFields, Outcome, ReportedError, Tensor, named};
use serde::{Deserialize, Serialize};

use crate::words::shown;

named! {
    /// The judgement of an outcome.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "internals", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict: "verdict" {
        /// The outcome is allowed.
        Pass = "pass",
        /// An output was expected, and a different one was given.
        WrongOutput = "wrong-output",
        /// An output was expected, but the backend gave an error or `unsupported`.
        RejectedGoodInput = "rejected-good-input",
        /// An error was expected, but the backend gave an output.
        AcceptedBadInput = "accepted-bad-input",
        /// A different error was expected.
        WrongError = "wrong-error",
        /// The backend does not claim to support this call.
        Unsupported = "unsupported",
        /// The backend died.
        Crash = "crash",
        /// The backend took too long.
        Timeout = "timeout",
        /// The backend broke the protocol.
        ProtocolError = "protocol-error",
        /// The call was never sent: the backend had failed too often, or answered none of the first calls.
        NotRun = "not-run",
        /// Repeated runs differ in bits.
        Nondeterministic = "nondeterministic",
        /// The backend changed an input.
        InputChanged = "input-changed",
        /// Not a pass, but a deviation covers it and gives the reason.
        KnownDeviation = "known-deviation",
        /// A known deviation that did not occur.
        UnexpectedPass = "unexpected-pass",
    }
}

impl Verdict {
    /// Whether it makes the exit status 1.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Pass | Self::Unsupported | Self::KnownDeviation)
    }
}

/// How much a backend must say about its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Codes and fields may be missing; any error then passes where one is expected. For backends of third parties.
    Lenient,
    /// Codes and fields are required.
    Strict,
}

/// A verdict with a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// For a pass, what was not checked.
    pub note: Option<&'static str>,
}

/// Judges the outcome of a call that was sent. `dtype_declared` says whether the backend declares the dtypes.
#[must_use]
pub fn judge(
    allowed: &[Allowed],
    params: &Tensor,
    outcome: &Outcome,
    dtype_declared: bool,
    strictness: Strictness,
) -> Judgement {
    let fail = |verdict| Judgement { verdict, note: None };
    if let Outcome::Unsupported(_) = outcome {
        let dtype_error = allowed.iter().any(is_dtype_error);
        if allowed.contains(&Allowed::Unspecified) {
            return fail(Verdict::Pass);
        }
        return fail(match (dtype_declared, dtype_error) {
            (false, true) => Verdict::Pass,
            (false, false) => Verdict::Unsupported,
            (true, _) => Verdict::RejectedGoodInput,
        });
    }
    let passes = allowed.iter().filter_map(|one| passes(one, params, outcome, strictness));
    // Of several allowed outcomes that match, prefer one that was checked in full.
    if let Some(checked) = passes.min() {
        let note = if let Checked::But(note) = checked { Some(note) } else { None };
        return Judgement { verdict: Verdict::Pass, note };
    }
    let output_allowed = allowed.iter().any(allows_output);
    let error_allowed = allowed.iter().any(|one| matches!(one, Allowed::Error(..) | Allowed::AnyError));
    fail(match outcome {
        Outcome::Output(_) | Outcome::TooLarge { .. } if output_allowed => Verdict::WrongOutput,
        Outcome::Output(_) | Outcome::TooLarge { .. } => Verdict::AcceptedBadInput,
        _ if error_allowed => Verdict::WrongError,
        _ => Verdict::RejectedGoodInput,
    })
}

const fn allows_output(allowed: &Allowed) -> bool {
    matches!(allowed, Allowed::Output(_) | Allowed::Filled(_) | Allowed::Shape(_))
}

/// Whether this allows rejecting a dtype. Such a case is sent even in dtypes that the backend does not declare.
#[must_use]
pub fn is_dtype_error(allowed: &Allowed) -> bool {
    matches!(
        allowed,
        Allowed::Error(ErrorCode::ParamsDtype | ErrorCode::IndexDtype | ErrorCode::OperandDtype, _)
    )
}

/// How much of an outcome that passes was checked.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Checked {
    InFull,
    But(&'static str),
}

/// Whether an outcome matches an allowed one.
fn passes(allowed: &Allowed, params: &Tensor, outcome: &Outcome, strictness: Strictness) -> Option<Checked> {
    let holds = match (allowed, outcome) {
        (Allowed::Error(code, fields), Outcome::Error(error)) => {
            return passes_error(*code, fields, error, strictness);
        }
        (Allowed::Unspecified, _) | (Allowed::AnyError, Outcome::Error(_)) => true,
        (Allowed::Output(expected), Outcome::Output(actual)) => expected == actual,
        (Allowed::Filled(expected), Outcome::Output(actual)) => expected.allows(actual),
        (Allowed::Shape(expected), Outcome::Output(actual)) => {
            expected == actual.shape() && params.dtype() == actual.dtype()
        }
        _ => false,
    };
    holds.then_some(Checked::InFull)
}

fn passes_error(
    code: ErrorCode,
    fields: &ErrorFields,
    error: &ReportedError,
    strictness: Strictness,
) -> Option<Checked> {
    match error.code {
        None if strictness == Strictness::Lenient => {
            return Some(Checked::But("the error code was not checked"));
        }
        found if found != Some(code) => return None,
        _ => {}
    }
    let mut missing = false;
    for ((_, expected), (_, found)) in fields.texts().zip(error.fields.texts()) {
        match (expected, found) {
            (None, _) => {}
            (Some(_), None) => missing = true,
            (expected, found) if expected == found => {}
            _ => return None,
        }
    }
    match (missing, strictness) {
        (false, _) => Some(Checked::InFull),
        (true, Strictness::Lenient) => Some(Checked::But("not all fields of the error were checked")),
        (true, Strictness::Strict) => None,
    }
}

/// The allowed outcomes, in words.
#[must_use]
pub fn describe_allowed(allowed: &[Allowed]) -> String {
    let one = |allowed: &Allowed| match allowed {
        Allowed::Output(tensor) => describe_tensor(tensor),
        Allowed::Filled(filled) => match filled.tensor() {
            Ok(tensor) => describe_tensor(&tensor),
            Err(error) => format!("an output that cannot be shown: {error}"),
        },
        Allowed::Shape(shape) => format!("an output of shape {shape}"),
        Allowed::Error(code, fields) => format!("error {code}{}", describe_fields(fields)),
        Allowed::AnyError => "any error".to_owned(),
        Allowed::Unspecified => "anything but a crash".to_owned(),
    };
    allowed.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// The prefix of the text for [`Outcome::Unsupported`].
pub(crate) const UNSUPPORTED: &str = "unsupported: ";

/// An outcome in words. Safe to print: control characters from the backend are escaped.
#[must_use]
pub fn describe_outcome(outcome: &Outcome) -> String {
    shown(&match outcome {
        Outcome::Output(tensor) => describe_tensor(tensor),
        Outcome::TooLarge { dtype, shape } => format!("{dtype} {shape:?} without elements"),
        Outcome::Error(error) => match error.code {
            Some(code) => format!("error {code}{}: {}", describe_fields(&error.fields), error.message),
            None => format!("error without a code: {}", error.message),
        },
        Outcome::Unsupported(why) => format!("{UNSUPPORTED}{why}"),
    })
}

fn describe_tensor(tensor: &Tensor) -> String {
    format!("{} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor))
}

fn describe_fields(fields: &ErrorFields) -> String {
    let stated = fields.texts().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    let stated: Vec<String> = stated.collect();
    if stated.is_empty() { String::new() } else { format!(" ({})", stated.join(", ")) }
}

#[cfg(test)]
mod tests {
    use gather_spec::signature::{Fill, FillWord};
    use gather_spec::{ByteString, DType, DimensionRule, Filled, Shape};

    use super::*;

    fn tensor(value: u8) -> Tensor {
        Tensor::new(DType::U8, [1], vec![value]).unwrap()
    }

    fn error(code: Option<ErrorCode>, index: Option<i128>) -> Outcome {
        let fields = ErrorFields { index, ..ErrorFields::default() };
        Outcome::Error(ReportedError { message: "no".to_owned(), code, fields })
    }

    fn verdict(allowed: &[Allowed], outcome: &Outcome) -> Verdict {
        judge(allowed, &tensor(0), outcome, true, Strictness::Lenient).verdict
    }

    /// Each row of what may be expected against what may be answered.
    #[test]
    fn the_table_of_verdicts_holds_row_by_row() {
        let output = [Allowed::Output(tensor(1))];
        let shape = [Allowed::Shape(Shape::new([1]).unwrap())];
        let fields = ErrorFields { index: Some(7), ..ErrorFields::default() };
        let refused = [Allowed::Error(ErrorCode::IndexOutOfRange, fields)];
        let code = Some(ErrorCode::IndexOutOfRange);
        assert_eq!(verdict(&output, &Outcome::Output(tensor(1))), Verdict::Pass);
        assert_eq!(verdict(&output, &Outcome::Output(tensor(2))), Verdict::WrongOutput);
        assert_eq!(verdict(&output, &error(code, Some(7))), Verdict::RejectedGoodInput);
        assert_eq!(verdict(&shape, &Outcome::Output(tensor(2))), Verdict::Pass);
        let other = Tensor::new(DType::U8, [1, 1], vec![1u8]).unwrap();
        assert_eq!(verdict(&shape, &Outcome::Output(other)), Verdict::WrongOutput);
        let of_another_dtype = Tensor::new(DType::I8, [1], vec![2u8]).unwrap();
        assert_eq!(verdict(&shape, &Outcome::Output(of_another_dtype)), Verdict::WrongOutput);
        assert_eq!(verdict(&refused, &Outcome::Output(tensor(1))), Verdict::AcceptedBadInput);
        let too_large = Outcome::TooLarge { dtype: DType::U8, shape: vec![usize::MAX, 2, 0] };
        assert_eq!(verdict(&output, &too_large), Verdict::WrongOutput);
        assert_eq!(verdict(&refused, &too_large), Verdict::AcceptedBadInput);
        assert_eq!(verdict(&[Allowed::Unspecified], &too_large), Verdict::Pass);
        assert_eq!(verdict(&refused, &error(Some(ErrorCode::IndicesRank), None)), Verdict::WrongError);
        assert_eq!(verdict(&refused, &error(code, Some(8))), Verdict::WrongError);
        assert_eq!(verdict(&refused, &error(code, Some(7))), Verdict::Pass);
        assert_eq!(verdict(&output, &Outcome::Unsupported(String::new())), Verdict::RejectedGoodInput);
        let anything = [Allowed::Unspecified];
        assert_eq!(verdict(&anything, &Outcome::Unsupported(String::new())), Verdict::Pass);
    }

    #[test]
    fn any_error_passes_where_one_is_expected_and_no_output_does() {
        for code in [None, Some(ErrorCode::IndicesRank)] {
            let judged =
                judge(&[Allowed::AnyError], &tensor(0), &error(code, None), true, Strictness::Strict);
            assert_eq!(judged, Judgement { verdict: Verdict::Pass, note: None });
        }
        assert_eq!(verdict(&[Allowed::AnyError], &Outcome::Output(tensor(1))), Verdict::AcceptedBadInput);
    }

    /// The second of two elements is what a bad index gives: a NaN of any bits.
    #[test]
    fn a_filled_output_is_the_expected_one_with_any_bits_of_the_fill_value() {
        let floats = |bits: [u32; 2]| Tensor::new(DType::F32, [2], bits.to_vec()).unwrap();
        let (one, two, nan) = (0x3F80_0000, 0x4000_0000, 0x7FC1_2345);
        let zero = FillWord::Zero;
        let fill = Fill { inexact: FillWord::Nan, signed: zero, unsigned: zero, bool: zero };
        let allowed = [Allowed::Filled(Filled { zeroed: floats([one, 0]), at: [1].into(), fill })];
        assert_eq!(verdict(&allowed, &Outcome::Output(floats([one, nan]))), Verdict::Pass);
        assert_eq!(verdict(&allowed, &Outcome::Output(floats([one, 0]))), Verdict::WrongOutput);
        assert_eq!(verdict(&allowed, &Outcome::Output(floats([two, nan]))), Verdict::WrongOutput);
        assert_eq!(verdict(&allowed, &error(None, None)), Verdict::RejectedGoodInput);
        assert_eq!(describe_allowed(&allowed), "f32 [2] [1.0, nan]");
    }

    #[test]
    fn bits_decide_and_not_values() {
        let zero = |bits: u32| Tensor::new(DType::F32, [1], vec![bits]).unwrap();
        let allowed = [Allowed::Output(zero(0))];
        assert_eq!(verdict(&allowed, &Outcome::Output(zero(0x8000_0000))), Verdict::WrongOutput);
    }

    #[test]
    fn a_missing_code_passes_with_a_note_but_not_where_it_must_be_given() {
        let allowed = [Allowed::Error(ErrorCode::IndicesRank, ErrorFields::default())];
        let judged = |strictness| judge(&allowed, &tensor(0), &error(None, None), true, strictness);
        assert_eq!(judged(Strictness::Lenient).verdict, Verdict::Pass);
        assert!(judged(Strictness::Lenient).note.is_some());
        assert_eq!(judged(Strictness::Strict).verdict, Verdict::WrongError);
    }

    #[test]
    fn a_missing_field_passes_with_a_note_but_not_where_it_must_be_given() {
        let fields = ErrorFields { index: Some(7), ..ErrorFields::default() };
        let allowed = [Allowed::Error(ErrorCode::IndexOutOfRange, fields)];
        let judged = |index, strictness| {
            let outcome = error(Some(ErrorCode::IndexOutOfRange), index);
            judge(&allowed, &tensor(0), &outcome, true, strictness)
        };
        assert_eq!(judged(None, Strictness::Lenient).verdict, Verdict::Pass);
        let note = "not all fields of the error were checked";
        assert_eq!(judged(None, Strictness::Lenient).note, Some(note));
        assert_eq!(judged(None, Strictness::Strict).verdict, Verdict::WrongError);
        for strictness in [Strictness::Lenient, Strictness::Strict] {
            assert_eq!(judged(Some(7), strictness), Judgement { verdict: Verdict::Pass, note: None });
            assert_eq!(judged(Some(8), strictness).verdict, Verdict::WrongError);
        }
    }

    /// The bound is not given, and the index is another one.
    #[test]
    fn a_wrong_field_is_wrong_whatever_is_missing_beside_it() {
        let fields = ErrorFields { index: Some(7), bound: Some(3), ..ErrorFields::default() };
        let allowed = [Allowed::Error(ErrorCode::IndexOutOfRange, fields)];
        assert_eq!(verdict(&allowed, &error(Some(ErrorCode::IndexOutOfRange), Some(8))), Verdict::WrongError);
    }

    #[test]
    fn each_field_of_an_error_must_be_given_and_agree() {
        let none = ErrorFields::default;
        let fields = [
            (
                ErrorFields { position: Some(vec![1]), ..none() },
                ErrorFields { position: Some(vec![2]), ..none() },
            ),
            (ErrorFields { component: Some(1), ..none() }, ErrorFields { component: Some(2), ..none() }),
            (ErrorFields { index: Some(1), ..none() }, ErrorFields { index: Some(2), ..none() }),
            (ErrorFields { bound: Some(1), ..none() }, ErrorFields { bound: Some(2), ..none() }),
            (ErrorFields { bytes: Some(1), ..none() }, ErrorFields { bytes: Some(2), ..none() }),
            (
                ErrorFields { rule: Some(DimensionRule::SliceSizesCount), ..none() },
                ErrorFields { rule: Some(DimensionRule::ParamsDimsCount), ..none() },
            ),
        ];
        for (stated, other) in fields {
            let judged = |stated: &ErrorFields, given: &ErrorFields| {
                let code = Some(ErrorCode::IndexOutOfRange);
                let error = ReportedError { message: "no".to_owned(), code, fields: given.clone() };
                let allowed = [Allowed::Error(ErrorCode::IndexOutOfRange, stated.clone())];
                judge(&allowed, &tensor(0), &Outcome::Error(error), true, Strictness::Strict).verdict
            };
            assert_eq!(judged(&stated, &stated), Verdict::Pass, "{stated:?}");
            assert_eq!(judged(&stated, &other), Verdict::WrongError, "{stated:?}");
            assert_eq!(judged(&stated, &none()), Verdict::WrongError, "{stated:?}");
            assert_eq!(judged(&none(), &stated), Verdict::Pass, "{stated:?} beyond what is expected");
        }
    }

    #[test]
    fn of_several_outcomes_that_pass_the_one_that_is_checked_in_full_counts() {
        let fields = ErrorFields { index: Some(7), ..ErrorFields::default() };
        let in_part = Allowed::Error(ErrorCode::IndexOutOfRange, fields);
        let in_full = Allowed::Error(ErrorCode::IndexOutOfRange, ErrorFields::default());
        let outcome = error(Some(ErrorCode::IndexOutOfRange), None);
        for allowed in [[in_part.clone(), in_full.clone()], [in_full, in_part]] {
            let judged = judge(&allowed, &tensor(0), &outcome, true, Strictness::Lenient);
            assert_eq!(judged, Judgement { verdict: Verdict::Pass, note: None });
        }
    }

    #[test]
    fn what_is_allowed_is_told_in_words() {
        let fields = ErrorFields { component: Some(1), bound: Some(3), ..ErrorFields::default() };
        let allowed = [
            Allowed::Output(tensor(5)),
            Allowed::Shape(Shape::new([2, 3]).unwrap()),
            Allowed::Error(ErrorCode::IndexOutOfRange, fields),
            Allowed::Error(ErrorCode::IndicesRank, ErrorFields::default()),
            Allowed::Error(
                ErrorCode::DimensionNumbers,
                ErrorFields { rule: Some(DimensionRule::SliceSizesCount), ..ErrorFields::default() },
            ),
            Allowed::AnyError,
            Allowed::Unspecified,
        ];
        let words = "u8 [1] [5] | an output of shape [2, 3] | error index-out-of-range (component 1, bound 3) | \
                     error indices-rank | error dimension-numbers (rule slice-sizes-count) | any error | \
                     anything but a crash";
        assert_eq!(describe_allowed(&allowed), words);
    }

    #[test]
    fn an_outcome_is_told_in_words() {
        let all = ErrorFields {
            position: Some(vec![0, 4]),
            component: Some(1),
            index: Some(-7),
            bound: Some(3),
            bytes: Some(9),
            rule: None,
        };
        let message = "no".to_owned();
        let refused = ReportedError { message, code: Some(ErrorCode::IndexOutOfRange), fields: all };
        let told = [
            (Outcome::Output(tensor(5)), "u8 [1] [5]"),
            (Outcome::TooLarge { dtype: DType::U8, shape: vec![7, 0] }, "u8 [7, 0] without elements"),
            (
                Outcome::Error(refused),
                "error index-out-of-range (position [0, 4], component 1, index -7, bound 3, bytes 9): no",
            ),
            (error(Some(ErrorCode::IndicesRank), None), "error indices-rank: no"),
            (error(None, None), "error without a code: no"),
            (Outcome::Unsupported("no f16".to_owned()), "unsupported: no f16"),
        ];
        for (outcome, words) in told {
            assert_eq!(describe_outcome(&outcome), words);
        }
    }

    #[test]
    fn an_outcome_in_words_is_neither_obeyed_by_a_terminal_nor_long() {
        let unsupported = Outcome::Unsupported("\u{1b}[2J\u{9b}0m".to_owned());
        assert_eq!(describe_outcome(&unsupported), r"unsupported: \u{1b}[2J\u{9b}0m");
        let fields = ErrorFields { position: Some(vec![7; 100_000]), ..ErrorFields::default() };
        let code = Some(ErrorCode::IndexOutOfRange);
        let outcomes = [
            Outcome::Error(ReportedError {
                message: "x".repeat(1 << 20),
                code: None,
                fields: ErrorFields::default(),
            }),
            Outcome::Error(ReportedError { message: String::new(), code, fields }),
        ];
        for outcome in outcomes {
            let words = describe_outcome(&outcome);
            assert!(words.len() < 4100 && words.contains(" characters left out "), "{}", words.len());
        }
        let string = vec![ByteString::from("x".repeat(1 << 20))];
        let output = Outcome::Output(Tensor::new(DType::String, [1], string).unwrap());
        assert!(describe_outcome(&output).len() < 4100);
    }

    #[test]
    fn verdicts_are_shown_as_they_are_written_to_reports() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.to_string());
            assert_eq!(verdict.name(), verdict.to_string());
        }
        let fine: Vec<Verdict> = Verdict::ALL.into_iter().filter(|verdict| !verdict.is_failure()).collect();
        assert_eq!(fine, [Verdict::Pass, Verdict::Unsupported, Verdict::KnownDeviation]);
    }

    #[test]
    fn unsupported_passes_only_where_an_undeclared_dtype_may_be_refused() {
        let unsupported = Outcome::Unsupported(String::new());
        let dtype = [Allowed::Error(ErrorCode::IndexDtype, ErrorFields::default())];
        let judged = |allowed: &[Allowed], declared| {
            judge(allowed, &tensor(0), &unsupported, declared, Strictness::Lenient).verdict
        };
        assert_eq!(judged(&dtype, false), Verdict::Pass);
        assert_eq!(judged(&dtype, true), Verdict::RejectedGoodInput);
        assert_eq!(judged(&[Allowed::Output(tensor(1))], false), Verdict::Unsupported);
    }

    #[test]
    fn any_of_several_outcomes_passes_and_the_rest_is_told_apart() {
        let either =
            [Allowed::Error(ErrorCode::IndexDtype, ErrorFields::default()), Allowed::Output(tensor(1))];
        assert_eq!(verdict(&either, &Outcome::Output(tensor(1))), Verdict::Pass);
        assert_eq!(verdict(&either, &error(Some(ErrorCode::IndexDtype), None)), Verdict::Pass);
        assert_eq!(verdict(&either, &Outcome::Output(tensor(2))), Verdict::WrongOutput);
        assert_eq!(verdict(&either, &error(Some(ErrorCode::IndicesRank), None)), Verdict::WrongError);
    }
}
