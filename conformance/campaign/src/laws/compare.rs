//! What two outcomes must have in common, by a law's equation.

use gather_spec::literal::Rows;
use gather_spec::{Outcome, Tensor};

use gather_conformance::internals::difference::Difference;
use gather_conformance::internals::judge::{Verdict, describe_outcome};

use super::stop::Stop;

/// Requires that two tensors are equal.
pub(super) fn equal(expected: &Tensor, actual: &Tensor) -> Result<(), Stop> {
    if expected == actual {
        return Ok(());
    }
    let (one, other) = (Outcome::Output(expected.clone()), Outcome::Output(actual.clone()));
    let shown = |tensor: &Tensor| format!("{} {} {}", tensor.dtype(), tensor.shape(), Rows(tensor));
    Err(Stop::Broken {
        verdict: Verdict::WrongOutput,
        expected: format!("by the law {}", shown(expected)),
        actual: shown(actual),
        difference: Difference::between(&one, &other).map(Box::new),
    })
}

/// Requires that two outcomes agree: equal outputs, or two errors whose codes and fields, where both have a code, are equal.
pub(super) fn agree(one: &Outcome, other: &Outcome) -> Result<(), Stop> {
    match (one, other) {
        (Outcome::Output(one), Outcome::Output(other)) => equal(one, other),
        (Outcome::Error(a), Outcome::Error(b)) => {
            let codes = a.code.is_none() || b.code.is_none() || (a.code == b.code && a.fields == b.fields);
            if codes { Ok(()) } else { Err(differ(Verdict::WrongError, one, other)) }
        }
        (Outcome::Output(_), _) => Err(differ(Verdict::RejectedGoodInput, one, other)),
        _ => Err(differ(Verdict::AcceptedBadInput, one, other)),
    }
}

/// Requires that the whole equals what `together` makes of the outputs of the parts, or is an error if a part is one.
pub(super) fn made_of(
    parts: &[Outcome],
    whole: &Outcome,
    together: impl FnOnce(&[Tensor]) -> Result<Tensor, Stop>,
) -> Result<(), Stop> {
    let outputs: Result<Vec<Tensor>, &Outcome> = parts
        .iter()
        .map(|part| match part {
            Outcome::Output(output) => Ok(output.clone()),
            refused => Err(refused),
        })
        .collect();
    match (outputs, whole) {
        (Ok(outputs), Outcome::Output(whole)) => equal(&together(&outputs)?, whole),
        (Ok(_), refused) => Err(Stop::Broken {
            verdict: Verdict::RejectedGoodInput,
            expected: "an output, since every part has one".to_owned(),
            actual: describe_outcome(refused),
            difference: None,
        }),
        (Err(refused), Outcome::Output(_)) => Err(Stop::Broken {
            verdict: Verdict::AcceptedBadInput,
            expected: format!("an error, since a part has one: {}", describe_outcome(refused)),
            actual: describe_outcome(whole),
            difference: None,
        }),
        (Err(_), _) => Ok(()),
    }
}

fn differ(verdict: Verdict, one: &Outcome, other: &Outcome) -> Stop {
    Stop::Broken {
        verdict,
        expected: format!("as before: {}", describe_outcome(one)),
        actual: describe_outcome(other),
        difference: Difference::between(one, other).map(Box::new),
    }
}

#[cfg(test)]
mod tests {
    use gather_spec::{ErrorCode, ErrorFields, ReportedError};

    use super::*;

    #[test]
    fn errors_agree_if_their_codes_and_fields_do_where_both_have_a_code() {
        let refused = |code, index| {
            let fields = ErrorFields { index, ..ErrorFields::default() };
            Outcome::Error(ReportedError { message: "no".to_owned(), code, fields })
        };
        let code = Some(ErrorCode::IndexOutOfRange);
        let seven = refused(code, Some(7));
        assert!(agree(&seven, &refused(code, Some(7))).is_ok());
        assert!(agree(&seven, &refused(None, None)).is_ok());
        for other in
            [refused(code, Some(8)), refused(code, None), refused(Some(ErrorCode::IndicesRank), Some(7))]
        {
            let Err(Stop::Broken { verdict, .. }) = agree(&seven, &other) else { panic!("{other:?}") };
            assert_eq!(verdict, Verdict::WrongError, "{other:?}");
        }
    }
}
