//! Judges one outcome against what is allowed. Comparison is on bits; message texts are never compared.

use std::fmt;

use gather_spec::literal::Rows;
use gather_spec::{Allowed, ErrorCode, ErrorFields, Outcome, ReportedError, Tensor};
use serde::{Deserialize, Serialize};

/// The judgement of one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The outcome is allowed.
    Pass,
    /// An output was expected, another one came.
    WrongOutput,
    /// An output was expected, an error or `unsupported` came.
    RejectedGoodInput,
    /// An error was expected, an output came.
    AcceptedBadInput,
    /// Another error was expected.
    WrongError,
    /// The backend does not claim to do this.
    Unsupported,
    /// The backend died.
    Crash,
    /// The backend took too long.
    Timeout,
    /// The backend broke the protocol.
    ProtocolError,
    /// Repeated runs differ in bits.
    Nondeterministic,
    /// An input was changed.
    InputChanged,
}

impl Verdict {
    /// Every verdict, in the order of the matrix.
    pub const ALL: [Self; 11] = [
        Self::Pass,
        Self::WrongOutput,
        Self::RejectedGoodInput,
        Self::AcceptedBadInput,
        Self::WrongError,
        Self::Unsupported,
        Self::Crash,
        Self::Timeout,
        Self::ProtocolError,
        Self::Nondeterministic,
        Self::InputChanged,
    ];

    /// The name used in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::WrongOutput => "wrong-output",
            Self::RejectedGoodInput => "rejected-good-input",
            Self::AcceptedBadInput => "accepted-bad-input",
            Self::WrongError => "wrong-error",
            Self::Unsupported => "unsupported",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::ProtocolError => "protocol-error",
            Self::Nondeterministic => "nondeterministic",
            Self::InputChanged => "input-changed",
        }
    }

    /// Whether it leaves the exit status at 0.
    #[must_use]
    pub const fn is_fine(self) -> bool {
        matches!(self, Self::Pass | Self::Unsupported)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How much a backend has to say of its errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Codes and fields may be missing: the built-in backends aside, an error is an error.
    Lenient,
    /// Code and fields must be given.
    Strict,
}

/// A verdict, and what there is to say beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What was not checked, for a pass.
    pub note: Option<&'static str>,
}

/// Judges the outcome of a call that was sent. `dtype_declared` says whether the backend claims its dtypes.
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
        return fail(match (dtype_declared, dtype_error) {
            (false, true) => Verdict::Pass,
            (false, false) => Verdict::Unsupported,
            (true, _) => Verdict::RejectedGoodInput,
        });
    }
    let matches: Vec<Match> = allowed.iter().map(|one| compare(one, params, outcome, strictness)).collect();
    if let Some(Match::Yes(note)) = matches.iter().find(|found| matches!(found, Match::Yes(None))) {
        return Judgement { verdict: Verdict::Pass, note: *note };
    }
    if let Some(Match::Yes(note)) = matches.iter().find(|found| matches!(found, Match::Yes(_))) {
        return Judgement { verdict: Verdict::Pass, note: *note };
    }
    let output_allowed = allowed.iter().any(|one| matches!(one, Allowed::Output(_) | Allowed::Shape(_)));
    let error_allowed = allowed.iter().any(|one| matches!(one, Allowed::Error(..) | Allowed::AnyError));
    fail(match outcome {
        Outcome::Output(_) if output_allowed => Verdict::WrongOutput,
        Outcome::Output(_) => Verdict::AcceptedBadInput,
        _ if error_allowed => Verdict::WrongError,
        _ => Verdict::RejectedGoodInput,
    })
}

/// Whether this allows the refusal of a dtype, so that its case is sent whatever is declared.
#[must_use]
pub fn is_dtype_error(allowed: &Allowed) -> bool {
    matches!(allowed, Allowed::Error(ErrorCode::ParamsDtype | ErrorCode::IndexDtype, _))
}

enum Match {
    Yes(Option<&'static str>),
    No,
}

fn compare(allowed: &Allowed, params: &Tensor, outcome: &Outcome, strictness: Strictness) -> Match {
    let sure = |holds: bool| if holds { Match::Yes(None) } else { Match::No };
    match (allowed, outcome) {
        (Allowed::Unspecified, _) => Match::Yes(None),
        (Allowed::Output(expected), Outcome::Output(actual)) => sure(expected == actual),
        (Allowed::Shape(expected), Outcome::Output(actual)) => {
            sure(expected == actual.shape() && params.dtype() == actual.dtype())
        }
        (Allowed::AnyError, Outcome::Error(_)) => Match::Yes(None),
        (Allowed::Error(code, fields), Outcome::Error(error)) => {
            compare_error(*code, fields, error, strictness)
        }
        _ => Match::No,
    }
}

fn compare_error(
    code: ErrorCode,
    fields: &ErrorFields,
    error: &ReportedError,
    strictness: Strictness,
) -> Match {
    match error.code {
        None if strictness == Strictness::Lenient => {
            return Match::Yes(Some("the error code was not checked"));
        }
        found if found != Some(code) => return Match::No,
        _ => {}
    }
    let stated = [
        field(fields.position.as_ref(), error.fields.position.as_ref()),
        field(fields.component, error.fields.component),
        field(fields.index, error.fields.index),
        field(fields.bound, error.fields.bound),
        field(fields.bytes, error.fields.bytes),
    ];
    if stated.contains(&Field::Differs)
        || (strictness == Strictness::Strict && stated.contains(&Field::Missing))
    {
        Match::No
    } else if stated.contains(&Field::Missing) {
        Match::Yes(Some("not all fields of the error were checked"))
    } else {
        Match::Yes(None)
    }
}

#[derive(PartialEq)]
enum Field {
    Agrees,
    Differs,
    Missing,
}

fn field<T: PartialEq>(expected: Option<T>, actual: Option<T>) -> Field {
    match (expected, actual) {
        (None, _) => Field::Agrees,
        (Some(_), None) => Field::Missing,
        (Some(expected), Some(actual)) if expected == actual => Field::Agrees,
        _ => Field::Differs,
    }
}

/// What is allowed, in words.
#[must_use]
pub fn describe_allowed(allowed: &[Allowed]) -> String {
    let one = |allowed: &Allowed| match allowed {
        Allowed::Output(tensor) => describe_tensor(tensor),
        Allowed::Shape(shape) => format!("an output of shape {shape}"),
        Allowed::Error(code, fields) => format!("error {code}{}", describe_fields(fields)),
        Allowed::AnyError => "any error".to_owned(),
        Allowed::Unspecified => "anything but a crash".to_owned(),
    };
    allowed.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// An outcome, in words.
#[must_use]
pub fn describe_outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Output(tensor) => describe_tensor(tensor),
        Outcome::Error(error) => match error.code {
            Some(code) => format!("error {code}{}: {}", describe_fields(&error.fields), error.message),
            None => format!("error without a code: {}", error.message),
        },
        Outcome::Unsupported(why) => format!("unsupported: {why}"),
    }
}

fn describe_tensor(tensor: &Tensor) -> String {
    format!("{} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor))
}

fn describe_fields(fields: &ErrorFields) -> String {
    let stated = [
        fields.position.as_ref().map(|position| format!("position {position:?}")),
        fields.component.map(|component| format!("component {component}")),
        fields.index.map(|index| format!("index {index}")),
        fields.bound.map(|bound| format!("bound {bound}")),
        fields.bytes.map(|bytes| format!("bytes {bytes}")),
    ];
    let stated: Vec<String> = stated.into_iter().flatten().collect();
    if stated.is_empty() { String::new() } else { format!(" ({})", stated.join(", ")) }
}
