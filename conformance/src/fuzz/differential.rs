//! The check that compares a backend with the reference, one random call per case.

use gather_spec::{ErrorCode, Operator, Outcome, Profile, Signatures};

use crate::backend::Description;
use crate::difference::Difference;
use crate::generate::{CallGenerator, Choices};
use crate::judge::{Strictness, describe_allowed, describe_outcome, is_dtype_error, judge};

use super::Tally;
use super::check::{Answer, Check, Key, Question, Step, Violation, Way};
use super::expect::{allowed, reference};
use super::tally::{NOT_SENT, TOO_LARGE, UNSUPPORTED};

/// From this many indices on, waking threads is cheap beside the call, so the number of threads is drawn from all of
/// `THREADS`.
const MANY: usize = 256;
const THREADS: [usize; 5] = [1, 3, 4, 2, 7];

/// Compares a backend with the reference, call by call.
#[derive(Debug)]
pub struct Differential {
    description: Description,
    signatures: Signatures,
    generator: CallGenerator,
    /// The policies to draw from. If empty, the backend is judged under those that it declares.
    profiles: Vec<Profile>,
    strictness: Strictness,
}

impl Differential {
    /// Judges the backend under its declared policies or, if `profiles` is not empty, under one of those per call.
    #[must_use]
    pub fn new(
        description: &Description,
        signatures: &Signatures,
        profiles: Vec<Profile>,
        strictness: Strictness,
    ) -> Self {
        let generator = CallGenerator::new(description, signatures);
        let (description, signatures) = (description.clone(), signatures.clone());
        Self { description, signatures, generator, profiles, strictness }
    }

    /// Draws one call in `edges_in` at a size at which kernels switch between code paths.
    #[must_use]
    pub fn edges_in(self, edges_in: usize) -> Self {
        Self { generator: self.generator.edges_in(edges_in), ..self }
    }

    /// Draws a question. The error names the operator whose call could not be made.
    fn draw(&self, choices: &mut Choices) -> Result<Option<Question>, Operator> {
        let profile = if self.profiles.is_empty() { None } else { Some(choices.pick(&self.profiles)) };
        let way = Way::draw(choices, profile.unwrap_or_default());
        let made = self.generator.call(choices).map_err(|draw_error| draw_error.operator)?;
        let Some(call) = made else { return Ok(None) };
        let declared = || self.description.operators.get(call.operator.as_str()).map(|known| known.profile);
        let profile = profile.or_else(declared).unwrap_or_default();
        let indices = call.operands.tensors().last().map_or(0, |indices| indices.shape().element_count());
        let threads = if indices >= MANY { choices.pick(&THREADS) } else { way.threads };
        Ok(Some(Question { call, way: Way { profile, threads, ..way } }))
    }

    /// Judges an answer that differs from the reference's. Returns the column that counts the case, and the step.
    fn judge(&self, question: &Question, expected: &Outcome, answer: &Answer) -> (&'static str, Step) {
        let Question { call, way } = question;
        let allowed = allowed(&self.signatures, call, way.profile, expected);
        if allowed.is_empty() {
            return (column(expected), Step::Done);
        }
        let declared = self.description.operators.get(call.operator.as_str());
        let Some(roles) = self.signatures.roles(call) else { return (column(expected), Step::Done) };
        let declared = declared.is_some_and(|known| known.covers(&roles));
        let verdict = match answer {
            Err(trouble) => trouble.verdict,
            Ok(outcome) => judge(&allowed, roles.params, outcome, declared, self.strictness).verdict,
        };
        if !verdict.is_failure() {
            let refused = matches!(answer, Ok(Outcome::Unsupported(_)));
            return if refused { (UNSUPPORTED, Step::Done) } else { (column(expected), held(expected)) };
        }
        let code = code(expected).map(|code| code.to_string());
        let key = Key::new(None, &self.signatures, std::slice::from_ref(question), verdict, code);
        // Without an answer, the case is neither an output nor an error.
        let column = if answer.is_err() { verdict.name() } else { column(expected) };
        let (actual, difference) = match answer {
            Err(trouble) => (trouble.what.clone(), None),
            Ok(outcome) => {
                let difference = Difference::from_allowed(&allowed, roles.params, outcome);
                (describe_outcome(outcome), difference.map(Box::new))
            }
        };
        let expected = describe_allowed(&allowed);
        (column, Step::Violated(Box::new(Violation { key, expected, actual, difference })))
    }

    /// Whether to send a call: the backend declares its dtypes, or must reject them.
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
            return Step::Done;
        };
        let expected = reference(&question.call, question.way.profile);
        let (column, step) = match answer {
            Ok(outcome) if expected.agrees(outcome) => (column(&expected), held(&expected)),
            answer => self.judge(question, &expected, answer),
        };
        tally.count(question.call.operator.as_str(), column);
        step
    }
}

/// The error code of what the reference gives, if it is one.
const fn code(expected: &Outcome) -> Option<ErrorCode> {
    match expected {
        Outcome::Error(error) => error.code,
        _ => None,
    }
}

/// The step that ends a case whose answer is right.
const fn held(expected: &Outcome) -> Step {
    Step::Held { law: None, expected: code(expected) }
}

/// The column for what the reference gives.
fn column(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Output(_) => "output",
        Outcome::TooLarge { .. } => TOO_LARGE,
        Outcome::Error(error) => error.code.map_or("error", ErrorCode::name),
        Outcome::Unsupported(_) => UNSUPPORTED,
    }
}
