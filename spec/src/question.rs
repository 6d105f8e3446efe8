//! Questions on which the dialects of gather differ, and the cases that answer them.
//!
//! A question names cases, and contains no answers: the answer of an operator is what its case expects.

mod answer;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Operator;
use crate::Run;

/// A question, such as what the index -1 means.
///
/// ```
/// use gather_spec::Specification;
/// use gather_spec::question::Answer;
///
/// let spec = Specification::embedded().unwrap();
/// let question = spec.question("minus-one").unwrap();
/// let Answer::Runs(runs) = question.answer(&spec, spec.operator("tf.gather").unwrap()) else { panic!() };
/// assert_eq!(runs[0].id, "tf.gather/bad-index/minus-one");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Its stable id, such as `minus-one`.
    pub id: String,
    /// The question, as a sentence.
    pub question: String,
    /// By form, cases of its family as `<topic>/<name>`. The first that an operator has is its answer.
    pub family: BTreeMap<String, Vec<String>>,
    /// By operator, the id of its own case, which takes precedence over the family's.
    pub cases: BTreeMap<Operator, String>,
}

/// The answer to a question for one operator.
#[derive(Clone, Debug)]
pub enum Answer {
    /// These runs: one, or one per mode.
    Runs(Vec<Run>),
    /// None: the operator has none of the cases, for this reason.
    LeftOut(String),
    /// None: the question is about other forms.
    OtherForm,
}
