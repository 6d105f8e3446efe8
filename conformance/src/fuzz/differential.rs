//! Random calls, compared with the reference.

use gather_spec::{Operator, Outcome, Profile, Signatures};

use crate::backend::Description;
use crate::difference::Difference;
use crate::generate::{Choices, Maker};
use crate::judge::{Strictness, describe_allowed, describe_outcome, is_dtype_error, judge};

use super::Tally;
use super::check::{Answer, Broken, Check, Key, Question, Step, Way};
use super::expect::{allowed, reference};
use super::tally::{NOT_SENT, TOO_LARGE, UNSUPPORTED};

/// Calls of so many indices are often shared by several threads: waking these takes no longer than the calls.
const MANY: usize = 256;
const THREADS: [usize; 5] = [1, 3, 4, 2, 7];

/// Compares a backend with the reference, call by call.
#[derive(Debug)]
pub struct Differential {
    description: Description,
    signatures: Signatures,
    maker: Maker,
    /// The policies to choose from; those that the backend declares, if there are none.
    profiles: Vec<Profile>,
    strictness: Strictness,
}

impl Differential {
    /// For a backend of this description, held to its profile, or in turn to each of some `profiles`.
    #[must_use]
    pub fn new(
        description: &Description,
        signatures: &Signatures,
        profiles: Vec<Profile>,
        strictness: Strictness,
    ) -> Self {
        let maker = Maker::new(description, signatures);
        let (description, signatures) = (description.clone(), signatures.clone());
        Self { description, signatures, maker, profiles, strictness }
    }

    /// The same with one call in so many at a size at which kernels change their way.
    #[must_use]
    pub fn edges_in(self, edges_in: usize) -> Self {
        Self { maker: self.maker.edges_in(edges_in), ..self }
    }

    /// A question, or the operator of one that cannot be made.
    fn draw(&self, choices: &mut Choices) -> Result<Option<Question>, Operator> {
        let profile = if self.profiles.is_empty() { None } else { Some(choices.pick(&self.profiles)) };
        let way = Way::draw(choices, profile.unwrap_or_default());
        let made = self.maker.call(choices).map_err(|unmade| unmade.operator)?;
        let Some(call) = made else { return Ok(None) };
        let declared = || self.description.operators.get(call.operator.as_str()).map(|known| known.profile);
        let profile = profile.or_else(declared).unwrap_or_default();
        let indices = call.operands.tensors().last().map_or(0, |indices| indices.shape().element_count());
        let threads = if indices >= MANY { choices.pick(&THREADS) } else { way.threads };
        Ok(Some(Question { call, way: Way { profile, threads, ..way } }))
    }

    /// What an answer that is not the reference's comes to, and the column that counts it.
    fn judge(&self, question: &Question, expected: &Outcome, answer: &Answer) -> (&'static str, Step) {
        let Question { call, way } = question;
        let allowed = allowed(&self.signatures, call, way.profile, expected);
        if allowed.is_empty() {
            return (column(expected), Step::Well);
        }
        let declared = self.description.operators.get(call.operator.as_str());
        let Some(roles) = self.signatures.roles(call) else { return (column(expected), Step::Well) };
        let declared = declared.is_some_and(|known| known.covers(&roles));
        let verdict = match answer {
            Err(trouble) => trouble.verdict,
            Ok(outcome) => judge(&allowed, roles.params, outcome, declared, self.strictness).verdict,
        };
        if !verdict.is_failure() {
            let refused = matches!(answer, Ok(Outcome::Unsupported(_)));
            return (if refused { UNSUPPORTED } else { column(expected) }, Step::Well);
        }
        let code = match expected {
            Outcome::Error(error) => error.code.map(|code| code.to_string()),
            _ => None,
        };
        let key = Key::new(None, &self.signatures, std::slice::from_ref(question), verdict, code);
        // Without an answer there is nothing that could be counted as an output or an error.
        let column = if answer.is_err() { verdict.name() } else { column(expected) };
        let (actual, difference) = match answer {
            Err(trouble) => (trouble.what.clone(), None),
            Ok(outcome) => {
                let difference = Difference::from_allowed(&allowed, roles.params, outcome);
                (describe_outcome(outcome), difference.map(Box::new))
            }
        };
        let expected = describe_allowed(&allowed);
        (column, Step::Broken(Box::new(Broken { key, expected, actual, difference })))
    }

    /// Whether a call is sent: its dtypes are declared, or must be refused.
    fn is_sent(&self, question: &Question) -> bool {
        let declared = self.description.operators.get(question.call.operator.as_str());
        let roles = self.signatures.roles(&question.call);
        declared.zip(roles).is_some_and(|(known, roles)| known.covers(&roles)) || {
            let expected = reference(&question.call, question.way.profile);
            allowed(&self.signatures, &question.call, question.way.profile, &expected)
                .iter()
                .any(is_dtype_error)
        }
    }
}

impl Check for Differential {
    fn step(&self, choices: &mut Choices, asked: &[Question], answers: &[Answer], tally: &mut Tally) -> Step {
        let ([question], [answer]) = (asked, answers) else {
            let operator = match self.draw(choices) {
                Ok(Some(question)) if self.is_sent(&question) => return Step::Ask(vec![question]),
                Ok(question) => question.map(|question| question.call.operator),
                Err(operator) => Some(operator),
            };
            tally.count(operator.as_ref().map_or("no operator", Operator::as_str), NOT_SENT);
            return Step::Well;
        };
        let expected = reference(&question.call, question.way.profile);
        let (column, step) = match answer {
            Ok(outcome) if expected.agrees(outcome) => (column(&expected), Step::Well),
            answer => self.judge(question, &expected, answer),
        };
        tally.count(question.call.operator.as_str(), column);
        step
    }
}

/// What the reference says, as a column.
fn column(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Output(_) => "output",
        Outcome::TooLarge { .. } => TOO_LARGE,
        Outcome::Error(error) => error.code.map_or("error", gather_spec::ErrorCode::name),
        Outcome::Unsupported(_) => UNSUPPORTED,
    }
}
