//! What a typed call means, by the signature of its operator.

use gather_spec::case::OperandNames;
use gather_spec::signature::{AttributeSignature, AttributeType, OperandRole};
use gather_spec::{Attribute, Attributes, Call, DType, Diagnostic, Signature, Signatures, Tensor};

use super::literal::{boolean, tensor};
use super::text::{Argument, SyntaxError, TypedValue, Word, WrittenCall, one_of, written};

/// A typed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedCall {
    /// The call.
    pub call: Call,
    /// The names of its params and indices.
    pub names: OperandNames,
}

/// Reads a call of one of these operators.
///
/// # Errors
/// What is wrong with the text, at which character, and what would be right.
pub fn read(text: &str, signatures: &Signatures) -> Result<TypedCall, Diagnostic> {
    let read = || {
        let written = written(text)?;
        let signature = signature(&written.operator, signatures)?;
        let call = call(&written, signature)?;
        let name = |role| signature.operand(role).name.clone();
        let names = OperandNames { params: name(OperandRole::Params), indices: name(OperandRole::Indices) };
        Ok(TypedCall { call, names })
    };
    read().map_err(|wrong: SyntaxError| wrong.in_text(text))
}

/// The operator of a typed call, if it has a known one.
#[must_use]
pub fn operator<'s>(text: &str, signatures: &'s Signatures) -> Option<&'s str> {
    let name = Word { at: 0, text: text.split('(').next()?.trim().to_owned() };
    signature(&name, signatures).ok().map(|signature| signature.operator.as_str())
}

/// The operator with this name, or the only operator that it abbreviates by some of the last or first parts
/// of the name.
fn signature<'s>(name: &Word, signatures: &'s Signatures) -> Result<&'s Signature, SyntaxError> {
    if let Some(exact) = signatures.get(&name.text) {
        return Ok(exact);
    }
    let meant: Vec<&Signature> =
        signatures.iter().filter(|one| abbreviates(&name.text, one.operator.as_str())).collect();
    let known = signatures.iter().map(|one| one.operator.as_str());
    match meant.as_slice() {
        [only] => Ok(only),
        [] => {
            let message = format!("there is no operator `{}`", name.text);
            Err(SyntaxError::new(name.at, message, one_of(&name.text, known)))
        }
        several => {
            let message = format!("`{}` may be any of {} operators", name.text, several.len());
            let names: Vec<&str> = several.iter().map(|one| one.operator.as_str()).collect();
            Err(SyntaxError::new(name.at, message, format!("write one of {}", names.join(" "))))
        }
    }
}

/// Whether a name consists of whole parts of an operator's name, ignoring case.
fn abbreviates(name: &str, operator: &str) -> bool {
    let (name, operator) = (name.to_lowercase(), operator.to_lowercase());
    let starts = operator.match_indices('.').map(|(at, _)| at + 1).chain([0]);
    let mut rests = starts.filter_map(|at| operator.get(at..)?.strip_prefix(name.as_str()));
    rests.any(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The arguments by name.
struct Bound<'a> {
    signature: &'a Signature,
    arguments: Vec<(String, &'a Argument)>,
}

impl<'a> Bound<'a> {
    /// Gives every argument its name: operands first, then attributes, in the order of the signature.
    fn new(written: &'a WrittenCall, signature: &'a Signature) -> Result<Self, SyntaxError> {
        let mut bound = Self { signature, arguments: Vec::new() };
        let mut by_name = None;
        for (at, argument) in written.arguments.iter().enumerate() {
            let name = match &argument.name {
                Some(name) => bound.known(name)?,
                None if by_name.is_some() => {
                    let message = "an argument without a name stands behind one with a name";
                    return Err(bound.wrong(argument.value.at(), message));
                }
                None => bound.names().nth(at).map(str::to_owned).ok_or_else(|| {
                    bound.wrong(
                        argument.value.at(),
                        format!("{} has no argument {}", signature.operator, at + 1),
                    )
                })?,
            };
            by_name = by_name.or(argument.name.as_ref());
            if bound.get(&name).is_some() {
                let at = argument.name.as_ref().map_or(argument.value.at(), |name| name.at);
                return Err(bound.wrong(at, format!("`{name}` is given twice")));
            }
            bound.arguments.push((name, argument));
        }
        Ok(bound)
    }

    fn names(&self) -> impl Iterator<Item = &'a str> + Clone + use<'a> {
        let attributes = self.signature.attributes.iter().map(|attribute| attribute.name.as_str());
        self.signature.operands.iter().map(|operand| &*operand.name).chain(attributes)
    }

    fn known(&self, name: &Word) -> Result<String, SyntaxError> {
        match self.names().any(|known| known == name.text) {
            true => Ok(name.text.clone()),
            false => {
                let message =
                    format!("{} has no operand or attribute `{}`", self.signature.operator, name.text);
                Err(SyntaxError::new(name.at, message, one_of(&name.text, self.names())))
            }
        }
    }

    fn get(&self, name: &str) -> Option<&'a Argument> {
        self.arguments.iter().find(|(known, _)| known == name).map(|(_, argument)| *argument)
    }

    /// How the operator is called.
    fn order(&self) -> String {
        let names: Vec<&str> = self.names().collect();
        format!("{}({})", self.signature.operator, names.join(", "))
    }

    /// An error that shows how the operator is called.
    fn wrong(&self, at: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(at, message, self.order())
    }

    /// An error of an argument, which may only be in the wrong place if it has no name.
    fn with_order(&self, argument: &Argument, wrong: SyntaxError) -> SyntaxError {
        match argument.name {
            Some(_) => wrong,
            None => SyntaxError { help: format!("{}; the order is {}", wrong.help, self.order()), ..wrong },
        }
    }
}

fn call(written: &WrittenCall, signature: &Signature) -> Result<Call, SyntaxError> {
    let bound = Bound::new(written, signature)?;
    let mut operands: Vec<(_, Tensor)> = Vec::new();
    for operand in &signature.operands {
        let argument = bound.get(&operand.name);
        let argument = argument
            .ok_or_else(|| bound.wrong(written.end, format!("the operand `{}` is missing", operand.name)))?;
        operands.push((operand.name.clone(), tensor(argument, &operand.dtypes)?));
    }
    let params = signature.operand(OperandRole::Params).name.clone();
    let dtype = operands.iter().find(|(name, _)| *name == params).map(|(_, params)| params.dtype());
    let mut attributes = Attributes::new();
    for sent in &signature.attributes {
        if let Some(argument) = bound.get(&sent.name) {
            let value =
                attribute(argument, sent, dtype).map_err(|wrong| bound.with_order(argument, wrong))?;
            attributes.insert(sent.name.clone(), value);
        }
    }
    if let Some(missing) = signature.missing(&attributes) {
        return Err(bound.wrong(written.end, format!("the attribute `{missing}` is missing")));
    }
    let operands = operands.into_iter().collect();
    Ok(Call::new(signature.operator.clone(), operands, attributes))
}

/// The value of an attribute. An element has the dtype of params.
fn attribute(
    argument: &Argument,
    signature: &AttributeSignature,
    params: Option<DType>,
) -> Result<Attribute, SyntaxError> {
    let value = &argument.value;
    let expected = || {
        let message = format!("`{}` is {}", signature.name, signature.takes_what());
        SyntaxError::new(value.at(), message, example(signature.r#type))
    };
    if let Some(dtype) = &argument.dtype {
        let message = format!("`{}` is an attribute and has no dtype", signature.name);
        return Err(SyntaxError::new(dtype.at, message, "leave the dtype out"));
    }
    let read = match value {
        TypedValue::Word(word) if matches!(word.text.as_str(), "null" | "None") => Some(Attribute::Null),
        TypedValue::Word(word) => match signature.r#type {
            AttributeType::Integer => word.text.parse().ok().map(Attribute::Integer),
            AttributeType::Boolean => boolean(&word.text).map(Attribute::Boolean),
            AttributeType::Element => {
                let dtypes = params.as_slice();
                let typed = params.map(|dtype| Word { at: word.at, text: dtype.name().to_owned() });
                let typed = Argument { name: None, value: value.clone(), dtype: typed };
                Some(Attribute::Element(Box::new(tensor(&typed, dtypes)?)))
            }
            AttributeType::String | AttributeType::Integers => None,
        },
        TypedValue::Quoted(word) => Some(Attribute::String(word.text.clone())),
        TypedValue::List(_, items) => integers(items).map(Attribute::Integers),
    };
    read.filter(|value| signature.takes(value)).ok_or_else(expected)
}

fn integers(items: &[TypedValue]) -> Option<Vec<i64>> {
    let integer = |item: &TypedValue| match item {
        TypedValue::Word(word) => word.text.parse().ok(),
        _ => None,
    };
    items.iter().map(integer).collect()
}

/// An example of a value.
const fn example(of: AttributeType) -> &'static str {
    match of {
        AttributeType::Integer => "such as 1 or -1",
        AttributeType::Boolean => "true or false",
        AttributeType::String => "such as \"clip\", in quotes",
        AttributeType::Integers => "such as [0, 1]",
        AttributeType::Element => "such as 7",
    }
}
