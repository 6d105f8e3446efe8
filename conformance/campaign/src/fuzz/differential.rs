//! The check that compares a backend with the reference, one random call per case.

use std::collections::BTreeMap;

use gather_spec::signature::OperandRole;
use gather_spec::{Allowed, Call, ErrorCode, Operator, Outcome, Profile, Signature, Signatures, Tensor};

use crate::generate::{CallGenerator, ChoiceSequence};
use gather_conformance::backend::{Capability, Description};
use gather_conformance::internals::difference::Difference;
use gather_conformance::internals::judge::{
    Strictness, describe_allowed, describe_outcome, is_dtype_error, judge,
};

use crate::model;

use super::expect::{allowed, allowed_beyond, effective, reference};
use gather_conformance::internals::check::{
    CallRequest, CallResult, CallSettings, Check, Key, Step, Tally, Violation,
};
use gather_conformance::internals::check::{NOT_SENT, TOO_LARGE, UNSUPPORTED};

/// How often to draw a call that should be within the limits of a backend.
const TRIES: usize = 8;

/// From this many indices on, waking threads is cheap beside the call, so the number of threads is drawn from all of
/// `THREADS`.
const MANY: usize = 256;
const THREADS: [usize; 5] = [1, 3, 4, 2, 7];

/// Compares a backend with the reference, call by call.
#[derive(Debug)]
pub struct Differential {
    description: Description,
    signatures: Signatures,
    /// The signatures of the operators to which the backend adds dtypes.
    extended: BTreeMap<String, Signature>,
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
        let extended = extended(description, signatures);
        let (description, signatures) = (description.clone(), signatures.clone());
        Self { description, signatures, extended, generator, profiles, strictness }
    }

    /// Draws one call in `edges_in` at a size at which kernels switch between code paths.
    #[must_use]
    pub fn edges_in(self, edges_in: usize) -> Self {
        Self { generator: self.generator.edges_in(edges_in), ..self }
    }

    /// Draws a request. The error names the operator whose call could not be made.
    fn draw(&self, choices: &mut ChoiceSequence) -> Result<Option<CallRequest>, Operator> {
        let profile = if self.profiles.is_empty() { None } else { Some(choices.pick(&self.profiles)) };
        let settings = CallSettings::draw(choices, profile.unwrap_or_default());
        let declared = |call: &Call| self.description.operators.get(call.operator.as_str());
        let mut tries = TRIES;
        let (call, profile) = loop {
            let made = self.generator.call(choices).map_err(|draw_error| draw_error.operator)?;
            let Some(call) = made else { return Ok(None) };
            let profile = profile.or_else(|| declared(&call).map(|known| known.profile)).unwrap_or_default();
            tries -= 1;
            // Limits may exclude most draws, so a call outside them is drawn again.
            let has_limits = declared(&call).is_some_and(|known| !known.limits.is_empty());
            if tries == 0
                || !has_limits
                || self.is_sent(&CallRequest {
                    call: call.clone(),
                    settings: CallSettings { profile, ..settings },
                })
            {
                break (call, profile);
            }
        };
        let indices = call.operands.tensors().last().map_or(0, |indices| indices.shape().element_count());
        let threads = if indices >= MANY { choices.pick(&THREADS) } else { settings.threads };
        Ok(Some(CallRequest { call, settings: CallSettings { profile, threads, ..settings } }))
    }

    /// Judges an answer that differs from the reference's. Returns the column that counts the case, and the step.
    fn judge(&self, request: &CallRequest, expected: &Outcome, answer: &CallResult) -> (&'static str, Step) {
        let CallRequest { call, settings } = request;
        let allowed = self.allowed(call, settings.profile, expected);
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
        let key = Key::new(None, &self.signatures, std::slice::from_ref(request), verdict, code);
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

    /// Whether to send a call: it is within the limits of the backend, which declares its dtypes or must reject them.
    fn is_sent(&self, request: &CallRequest) -> bool {
        let CallRequest { call, settings } = request;
        let Some(known) = self.description.operators.get(call.operator.as_str()) else { return false };
        let is_covered = self.signatures.roles(call).is_some_and(|roles| known.covers(&roles));
        if is_covered && known.limits.is_empty() {
            return true;
        }
        let signature = self.signatures.get(call.operator.as_str());
        signature.is_none_or(|signature| known.admits(call, signature))
            && (is_covered || {
                let expected = self.expected(call, settings.profile);
                self.allowed(call, settings.profile, &expected).iter().any(is_dtype_error)
            })
    }

    /// What a call gives: what the reference answers or, in a dtype beyond the page, what the model does.
    fn expected(&self, call: &Call, profile: Profile) -> Outcome {
        match self.beyond(call) {
            Some(wide) => model::answer(wide, call, effective(wide, call, profile)),
            None => reference(call, profile),
        }
    }

    /// The outcomes that are allowed where that gives `expected`.
    fn allowed(&self, call: &Call, profile: Profile, expected: &Outcome) -> Vec<Allowed> {
        match self.beyond(call) {
            Some(wide) => allowed_beyond(wide, call, profile, expected),
            None => allowed(&self.signatures, call, profile, expected),
        }
    }

    /// The signature with the dtypes that the backend adds, if a call is in one of those.
    fn beyond(&self, call: &Call) -> Option<&Signature> {
        let operator = call.operator.as_str();
        let (wide, signature) = (self.extended.get(operator)?, self.signatures.get(operator)?);
        (!lists_dtypes(signature, call) && lists_dtypes(wide, call)).then_some(wide)
    }
}

/// Whether a signature lists the dtypes of a call's params and indices.
fn lists_dtypes(signature: &Signature, call: &Call) -> bool {
    let listed = |role, tensor: &Tensor| signature.operand(role).dtypes.contains(&tensor.dtype());
    signature.roles(call).is_ok_and(|roles| {
        listed(OperandRole::Params, roles.params) && listed(OperandRole::Indices, roles.indices)
    })
}

/// The signatures of the operators that a backend extends, with the dtypes that it adds.
fn extended(description: &Description, signatures: &Signatures) -> BTreeMap<String, Signature> {
    let extends = |(operator, known): (&String, &Capability)| {
        let mut wide = signatures.get(operator).filter(|_| !known.extends.is_empty())?.clone();
        wide.operand_mut(OperandRole::Params).dtypes.extend(&known.extends.dtypes);
        wide.operand_mut(OperandRole::Indices).dtypes.extend(&known.extends.index_dtypes);
        Some((operator.clone(), wide))
    };
    description.operators.iter().filter_map(extends).collect()
}

impl Check for Differential {
    fn step(
        &self,
        choices: &mut ChoiceSequence,
        asked: &[CallRequest],
        answers: &[CallResult],
        tally: &mut Tally,
    ) -> Step {
        let ([request], [answer]) = (asked, answers) else {
            let operator = match self.draw(choices) {
                Ok(Some(request)) if self.is_sent(&request) => return Step::Ask(vec![request]),
                Ok(request) => request.map(|request| request.call.operator),
                Err(operator) => Some(operator),
            };
            tally.count(operator.as_ref().map_or("no operator", Operator::as_str), NOT_SENT);
            return Step::Done;
        };
        let expected = self.expected(&request.call, request.settings.profile);
        let (column, step) = match answer {
            Ok(outcome) if expected.agrees(outcome) => (column(&expected), held(&expected)),
            answer => self.judge(request, &expected, answer),
        };
        tally.count(request.call.operator.as_str(), column);
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

#[cfg(test)]
mod tests {
    use gather_conformance::builtin;
    use gather_spec::{BadIndex, DType, Element, Tensor};

    use super::*;

    /// A call with its indices of i32 as i64, which the page lists.
    fn as_listed(call: &Call) -> Call {
        let indices = call.operands.get("indices").unwrap();
        let value = |element| match element {
            Element::Bits(bits) => i64::from(u32::try_from(bits).unwrap().cast_signed()).cast_unsigned(),
            Element::Bytes(_) => panic!("indices are no strings"),
        };
        let values: Vec<u64> = indices.iter().map(value).collect();
        let mut listed = call.clone();
        listed
            .operands
            .replace("indices", Tensor::new(DType::I64, indices.shape().to_vec(), values).unwrap());
        listed
    }

    /// What is right in a dtype beyond the page is what is right in one of the page, and anything else is found.
    #[test]
    fn drawn_calls_in_a_dtype_beyond_the_page_are_compared_with_those_of_the_page() {
        let operator = "onnx.GatherND-13";
        let mut description = builtin::backend("reference", Profile::default(), 0).unwrap().describe();
        description.operators.retain(|name, _| name == operator);
        let known = description.operators.get_mut(operator).unwrap();
        (known.dtypes, known.index_dtypes) = (vec![DType::F32], vec![DType::I64]);
        known.extends.index_dtypes = vec![DType::I32];
        for bad in [BadIndex::Error, BadIndex::Unspecified] {
            let profile = Profile { bad, ..description.operators[operator].profile };
            description.operators.get_mut(operator).unwrap().profile = profile;
            let check =
                Differential::new(&description, builtin::signatures(), Vec::new(), Strictness::Strict);
            let mut reference = builtin::backend("reference", profile, builtin::MAX_OUTPUT).unwrap();
            // The reference is asked under a policy that gives an output where any will do.
            let zero = Profile { bad: BadIndex::Zero, ..profile };
            let mut zeros = builtin::backend("reference", zero, builtin::MAX_OUTPUT).unwrap();
            let (mut right, mut wrong) = (0, 0);
            for seed in 0..2000 {
                let step = |asked: &[CallRequest], answers: &[CallResult]| {
                    check.step(&mut ChoiceSequence::from_seed(seed), asked, answers, &mut Tally::default())
                };
                let Step::Ask(asked) = step(&[], &[]) else { continue };
                if asked[0].call.operands.get("indices").unwrap().dtype() != DType::I32 {
                    continue;
                }
                let listed = as_listed(&asked[0].call);
                for backend in [&mut reference, &mut zeros]
                    .into_iter()
                    .take(1 + usize::from(bad == BadIndex::Unspecified))
                {
                    let step = step(&asked, &[Ok(backend.call(&listed))]);
                    assert!(matches!(step, Step::Held { .. } | Step::Done), "{bad}, seed {seed}: {step:?}");
                    right += 1;
                }
                if let Outcome::Output(output) = reference.call(&listed)
                    && output.shape().element_count() > 0
                {
                    let error = Outcome::Unsupported("not this one".to_owned());
                    assert!(matches!(step(&asked, &[Ok(error)]), Step::Violated(_)), "{bad}, seed {seed}");
                    wrong += 1;
                }
            }
            assert!(right > 300 && wrong > 100, "{right} {wrong}");
        }
    }
}
