//! Which cases answer questions, and answers in few words.

use gather_spec::literal::Rows;
use gather_spec::question::{Answer, Question};
use gather_spec::{Allowed, Run, Signature, Specification, Tensor};

use gather_conformance::internals::judge::describe_allowed;

/// The most characters of one answer.
pub(crate) const LONGEST: usize = 72;

/// The runs that answer a question for some operator.
pub(crate) fn runs(spec: &Specification) -> Vec<Run> {
    let pairs =
        spec.questions.iter().flat_map(|question| spec.operators.iter().map(move |page| (question, page)));
    let runs = |(question, page): (&Question, &Signature)| match question.answer(spec, page) {
        Answer::Runs(runs) => runs,
        Answer::LeftOut(_) | Answer::OtherForm => Vec::new(),
    };
    pairs.flat_map(runs).collect()
}

/// Outcomes in few words, without dtypes that the case leaves open.
pub(crate) fn in_words(allowed: &[Allowed]) -> String {
    let one = |allowed: &Allowed| match allowed {
        Allowed::Output(tensor) => rows_of(tensor),
        Allowed::Filled(filled) => filled.tensor().map_or_else(|error| error.to_string(), |it| rows_of(&it)),
        Allowed::Error(code, _) => format!("error `{code}`"),
        other => describe_allowed(std::slice::from_ref(other)),
    };
    match allowed {
        [only] => one(only),
        several => format!("any of {}", several.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

fn rows_of(tensor: &Tensor) -> String {
    format!("`{}`", shortened(&Rows(tensor).to_string(), LONGEST))
}

/// The beginning of a text.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut start: String = text.chars().take(most).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}
