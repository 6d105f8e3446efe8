//! Tensors in closed form: the number at a position is `start` plus, for each axis, the position along it times its step,
//! all `modulo` something if wanted. What a gather of such a tensor gives by such indices is again of this form, and is
//! worked out by hand: nothing here knows how to gather.

use crate::diagnostic::{Diagnostic, Quoted};
use crate::literal::{parse_count, parse_scalar};
use crate::yaml::{Node, Spanned};
use crate::{DType, Element, Shape, Tensor, TensorBuilder};

use super::data::{MAX_ELEMENTS, Reader};

/// The numbers of a part of a tensor.
struct Form {
    start: i128,
    steps: Vec<i128>,
}

/// A part of a tensor that has numbers of its own: all that lies at one place along the first axes.
struct Exception {
    at: Vec<usize>,
    form: Form,
}

/// How numbers become elements.
#[derive(Clone, Copy)]
struct Painter {
    dtype: DType,
    modulo: Option<i128>,
    /// How many digits a string has, zeros before the number.
    digits: Option<usize>,
}

/// The keys of a closed form.
const KEYS: [&str; 6] = ["start", "steps", "modulo", "digits", "except", "components"];

/// The longest string.
const MAX_DIGITS: usize = 1 << 17;

type Entries = [(Spanned<String>, Spanned<Node>)];

impl<'a> Reader<'a> {
    /// The tensor of a shape, which stands at `at`, that some entries at `defined` describe.
    pub(super) fn closed_form(
        &self,
        dtype: DType,
        shape: Shape,
        at: serde_yaml::Location,
        defined: serde_yaml::Location,
        entries: &'a Entries,
    ) -> Result<Tensor, Diagnostic> {
        if let Some((name, _)) = entries.iter().find(|(name, _)| !KEYS.contains(&&*name.value)) {
            return Err(self
                .wrong(name.defined, format!("unknown key {} in a closed form", Quoted(&name.value)))
                .help(
                    "it has `steps`, or `components`, and may have `start`, `modulo`, `digits` and `except`",
                ));
        }
        let painter = self.painter(dtype, entries)?;
        let exceptions = self.exceptions(entries, &shape)?;
        if let Some(components) = get(entries, "components") {
            let forms = self.components(components, &shape)?;
            return self.painted(painter, shape, at, |position| {
                let (component, place) = position.split_last()?;
                number(&forms[*component], place, &exceptions, position)
            });
        }
        let form = self.form(entries, defined, shape.rank())?;
        if exceptions.is_empty() && shape.element_count() > 0 {
            return self.window(painter, &form, shape, at);
        }
        self.painted(painter, shape, at, |position| number(&form, position, &exceptions, position))
    }

    fn painter(&self, dtype: DType, entries: &'a Entries) -> Result<Painter, Diagnostic> {
        let modulo = get(entries, "modulo").map(|node| Ok((node, self.number(node)?))).transpose()?;
        if let Some((node, modulo)) = modulo
            && !(1..=1 << 16).contains(&modulo)
        {
            return Err(self.wrong(node.defined, format!("modulo {modulo}: 1 to 65536 is allowed")));
        }
        let digits = get(entries, "digits").map(|node| Ok((node, self.count_of(node)?))).transpose()?;
        if let Some((node, digits)) = digits {
            if dtype != DType::String {
                return Err(self.wrong(node.defined, format!("`digits` is for strings, not for {dtype}")));
            }
            if digits > MAX_DIGITS {
                return Err(
                    self.wrong(node.defined, format!("{digits} digits; at most {MAX_DIGITS} are allowed"))
                );
            }
        }
        Ok(Painter {
            dtype,
            modulo: modulo.map(|(_, modulo)| modulo),
            digits: digits.map(|(_, digits)| digits),
        })
    }

    /// The start, 0 if it is not written, and a step for each of so many axes.
    fn form(&self, entries: &'a Entries, at: serde_yaml::Location, rank: usize) -> Result<Form, Diagnostic> {
        let start = get(entries, "start").map_or(Ok(0), |start| self.number(start))?;
        let Some(steps) = get(entries, "steps") else {
            return Err(self
                .wrong(at, "`steps` are missing")
                .help("one number per axis, such as `steps: [64, 1]`"));
        };
        let Node::Sequence(written) = &steps.value else {
            return Err(
                self.wrong(steps.defined, format!("steps are a sequence, not {}", steps.value.kind()))
            );
        };
        if written.len() != rank {
            let message = format!("{} steps for {rank} axes", written.len());
            return Err(self.wrong(steps.defined, message).help("one step per axis"));
        }
        let steps = written.iter().map(|step| self.number(step)).collect::<Result<_, _>>()?;
        Ok(Form { start, steps })
    }

    fn components(&self, node: &'a Spanned<Node>, shape: &Shape) -> Result<Vec<Form>, Diagnostic> {
        let Node::Sequence(components) = &node.value else {
            let message = format!("components are a sequence, not {}", node.value.kind());
            return Err(self.wrong(node.defined, message));
        };
        if shape.last() != Some(&components.len()) {
            let message = format!("{} components, but the shape is {shape}", components.len());
            return Err(self.wrong(node.defined, message).help("the last axis holds the components"));
        }
        let form = |component: &'a Spanned<Node>| {
            self.form(self.mapping(component, &["start", "steps"])?, component.defined, shape.rank() - 1)
        };
        components.iter().map(form).collect()
    }

    fn exceptions(&self, entries: &'a Entries, shape: &Shape) -> Result<Vec<Exception>, Diagnostic> {
        let Some(node) = get(entries, "except") else { return Ok(Vec::new()) };
        let Node::Sequence(exceptions) = &node.value else {
            let message = format!("exceptions are a sequence, not {}", node.value.kind());
            return Err(self
                .wrong(node.defined, message)
                .help("such as [{ at: [0], start: 7, steps: [1] }]"));
        };
        exceptions.iter().map(|exception| self.exception(exception, shape)).collect()
    }

    fn exception(&self, node: &'a Spanned<Node>, shape: &Shape) -> Result<Exception, Diagnostic> {
        let entries = self.mapping(node, &["at", "start", "steps"])?;
        let Some(Spanned { value: Node::Sequence(written), defined, .. }) = get(entries, "at") else {
            return Err(self.wrong(node.defined, "an exception says where it is: `at: [0]`, say"));
        };
        let at: Vec<usize> = written.iter().map(|at| self.count_of(at)).collect::<Result<_, _>>()?;
        if at.len() > shape.rank() || at.iter().zip(&**shape).any(|(at, dim)| at >= dim) {
            return Err(self.wrong(*defined, format!("{at:?} is no place of the shape {shape}")));
        }
        let below = shape.rank() - at.len();
        let form = match get(entries, "steps") {
            None => Form { steps: vec![0; below], ..self.form_of_one(entries)? },
            Some(_) => self.form(entries, node.defined, below)?,
        };
        Ok(Exception { at, form })
    }

    /// The same number everywhere.
    fn form_of_one(&self, entries: &'a Entries) -> Result<Form, Diagnostic> {
        let start = get(entries, "start").map_or(Ok(0), |start| self.number(start))?;
        Ok(Form { start, steps: Vec::new() })
    }

    fn mapping(&self, node: &'a Spanned<Node>, known: &[&str]) -> Result<&'a Entries, Diagnostic> {
        let list = known.join(", ");
        let Node::Mapping(entries) = &node.value else {
            let message = format!("a mapping with {list} is expected, not {}", node.value.kind());
            return Err(self.wrong(node.defined, message));
        };
        match entries.iter().find(|(name, _)| !known.contains(&&*name.value)) {
            None => Ok(entries),
            Some((name, _)) => Err(self
                .wrong(name.defined, format!("unknown key {}", Quoted(&name.value)))
                .help(format!("{list} are known here"))),
        }
    }

    /// The tensor as a window on as many numbers as it passes, however often it repeats them.
    fn window(
        &self,
        painter: Painter,
        form: &Form,
        shape: Shape,
        at: serde_yaml::Location,
    ) -> Result<Tensor, Diagnostic> {
        let steps: Vec<i128> = form.steps.iter().map(|step| painter.least(*step)).collect();
        let (mut low, mut high) = (0i128, 0i128);
        for (dim, step) in shape.iter().zip(&steps) {
            let reach = step.saturating_mul(*dim as i128 - 1);
            if reach < 0 { low = low.saturating_add(reach) } else { high = high.saturating_add(reach) }
        }
        let count =
            usize::try_from(high.saturating_sub(low)).map_or(usize::MAX, |reach| reach.saturating_add(1));
        if count > MAX_ELEMENTS {
            return Err(self.too_many(count, at));
        }
        let bad = |error: crate::TensorError| self.wrong(at, error.to_string());
        let line = Shape::new([count]).map_err(|error| self.wrong(at, error.to_string()))?;
        let mut builder = self.builder(painter, &line, at)?;
        let first = form.start.saturating_add(low);
        for number in (0..count).map(|passed| first.saturating_add(passed as i128)) {
            builder.push(painter.element(number).map_err(|why| self.wrong(at, why))?);
        }
        let strides = steps.iter().map(|step| isize::try_from(*step).unwrap_or(0)).collect();
        let stored = builder.finish().map_err(bad)?;
        stored.window(shape, strides, usize::try_from(-low).unwrap_or(0)).map_err(bad)
    }

    /// Room for the elements of a shape, taken from the file's budget.
    fn builder(
        &self,
        painter: Painter,
        shape: &Shape,
        at: serde_yaml::Location,
    ) -> Result<TensorBuilder, Diagnostic> {
        self.count(painter.dtype, shape, at)?;
        self.spend(shape.element_count().saturating_mul(painter.digits.unwrap_or(0)), at)?;
        TensorBuilder::new(painter.dtype, shape.clone()).map_err(|error| self.wrong(at, error.to_string()))
    }

    /// The tensor with the element of a number at each position; a number is absent where it is too large.
    fn painted(
        &self,
        painter: Painter,
        shape: Shape,
        at: serde_yaml::Location,
        number: impl Fn(&[usize]) -> Option<i128>,
    ) -> Result<Tensor, Diagnostic> {
        let mut builder = self.builder(painter, &shape, at)?;
        for position in shape.positions() {
            let number = number(&position).ok_or_else(|| "a number is too large".to_owned());
            builder
                .push(number.and_then(|number| painter.element(number)).map_err(|why| self.wrong(at, why))?);
        }
        builder.finish().map_err(|error| self.wrong(at, error.to_string()))
    }
}

fn get<'e>(entries: &'e Entries, key: &str) -> Option<&'e Spanned<Node>> {
    entries.iter().find(|(name, _)| name.value == key).map(|(_, value)| value)
}

/// The number at a place: that of the last exception that holds the position, or of the form.
fn number(form: &Form, place: &[usize], exceptions: &[Exception], position: &[usize]) -> Option<i128> {
    match exceptions.iter().rev().find(|one| position.starts_with(&one.at)) {
        Some(one) => one.form.at(&position[one.at.len()..]),
        None => form.at(place),
    }
}

impl Form {
    fn at(&self, place: &[usize]) -> Option<i128> {
        self.steps
            .iter()
            .zip(place)
            .try_fold(self.start, |sum, (step, at)| sum.checked_add(step.checked_mul(*at as i128)?))
    }
}

impl Painter {
    /// The step nearest to 0 that leads to the same elements.
    fn least(self, step: i128) -> i128 {
        let Some(modulo) = self.modulo else { return step };
        let step = step.rem_euclid(modulo);
        if step > modulo / 2 { step - modulo } else { step }
    }

    fn element(self, number: i128) -> Result<Element, String> {
        let number = self.modulo.map_or(number, |modulo| number.rem_euclid(modulo));
        if self.dtype == DType::String {
            let digits = number.to_string();
            let Some(zeros) = self.digits.map_or(Some(0), |wanted| wanted.checked_sub(digits.len())) else {
                return Err(format!("{number} has more digits than `digits` says"));
            };
            return Ok(Element::Bytes(("0".repeat(zeros) + &digits).into()));
        }
        let bits = match usize::try_from(number) {
            Ok(count) => parse_count(self.dtype, count),
            Err(_) => parse_scalar(self.dtype, &number.to_string()).ok(),
        };
        bits.map(Element::Bits).ok_or_else(|| format!("{} does not hold {number}", self.dtype))
    }
}
