//! Questions in which the dialects of gather differ, and the case that answers each for an operator.
//!
//! A question names cases and answers nothing itself: the answer of an operator is what it expects of the case.

mod answer;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Operator;
use crate::case::Case;

/// One question, such as what the index -1 means.
///
/// ```
/// use gather_spec::Specification;
/// use gather_spec::question::Answer;
///
/// let spec = Specification::embedded().unwrap();
/// let question = spec.question("minus-one").unwrap();
/// let Answer::Cases(cases) = question.answer(&spec, spec.operator("tf.gather").unwrap()) else { panic!() };
/// assert_eq!(cases[0].id, "tf.gather/bad-index/minus-one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Stable id, such as `minus-one`.
    pub id: String,
    /// The question, as a sentence.
    pub question: String,
    /// By form, the cases of its family, as `<topic>/<name>`; the first that an operator has answers for it.
    pub family: BTreeMap<String, Vec<String>>,
    /// By operator, the id of its own case, which answers in place of the family's.
    pub cases: BTreeMap<Operator, String>,
}

/// How a question is answered for one operator.
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// By these cases: one, or one per mode.
    Cases(Vec<&'a Case>),
    /// Not at all: the operator has none of the cases, for this reason.
    LeftOut(String),
    /// Not at all: the question is about other forms.
    OtherForm,
}
