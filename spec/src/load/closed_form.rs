//! Tensors in closed form. The number at a position is `start` plus, for each axis, the coordinate times its step, optionally
//! `modulo` something. Gathering from such a tensor by such indices gives a tensor of the same form, whose numbers the
//! author of the case derives by hand: this module does not know how to gather.

mod painter;
mod places;

use crate::diagnostic::{Diagnostic, Quoted};
use crate::yaml::{Node, Spanned};
use crate::{DType, Shape, Tensor, TensorBuilder};

use super::reader::{MAX_ELEMENTS, TensorReader};
use painter::Painter;

/// The closed form of (part of) a tensor.
struct LinearForm {
    start: i128,
    steps: Vec<i128>,
}

/// A part of a tensor with its own closed form: everything at given coordinates of the first axes.
struct ExceptedPart {
    at: Vec<usize>,
    form: LinearForm,
    /// Whether its numbers are exempt from `modulo`.
    exactly: bool,
}

/// The keys of a closed form in YAML.
const KEYS: [&str; 6] = ["start", "steps", "modulo", "digits", "except", "components"];

/// The key for a tensor that is zero except in some places.
pub(super) const PLACES: &str = "places";

/// Indices in this range around 0 are stored once for all tensors of a file.
const SHARED: i128 = 1 << 12;

/// The most elements to store for a tensor that cannot share storage: in a usual case, and in a large one.
const MAX_IN_FULL: usize = 1 << 20;
const MAX_IN_FULL_LARGE: usize = 1 << 21;

/// The longest string, in digits.
const MAX_DIGITS: usize = 1 << 17;

type MappingEntries = [(Spanned<String>, Spanned<Node>)];

impl<'a> TensorReader<'a> {
    /// The tensor with a shape, given at `at`, that the entries at `defined` describe.
    pub(super) fn closed_form(
        &self,
        dtype: DType,
        shape: Shape,
        at: serde_yaml::Location,
        defined: serde_yaml::Location,
        entries: &'a MappingEntries,
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
            return self.painted_in_full(painter, shape, at, &forms, &exceptions);
        }
        let form = self.form(entries, defined, shape.rank())?;
        if exceptions.is_empty() && shape.element_count() > 0 {
            return self.window(painter, &form, shape, at);
        }
        self.painted_in_full(painter, shape, at, &[form], &exceptions)
    }

    fn painter(&self, dtype: DType, entries: &'a MappingEntries) -> Result<Painter, Diagnostic> {
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

    /// The start, by default 0, and one step per axis.
    fn form(
        &self,
        entries: &'a MappingEntries,
        at: serde_yaml::Location,
        rank: usize,
    ) -> Result<LinearForm, Diagnostic> {
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
        Ok(LinearForm { start, steps })
    }

    fn components(&self, node: &'a Spanned<Node>, shape: &Shape) -> Result<Vec<LinearForm>, Diagnostic> {
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

    fn exceptions(
        &self,
        entries: &'a MappingEntries,
        shape: &Shape,
    ) -> Result<Vec<ExceptedPart>, Diagnostic> {
        let Some(node) = get(entries, "except").or(get(entries, PLACES)) else { return Ok(Vec::new()) };
        let Node::Sequence(exceptions) = &node.value else {
            let message = format!("exceptions are a sequence, not {}", node.value.kind());
            return Err(self
                .wrong(node.defined, message)
                .help("such as [{ at: [0], start: 7, steps: [1] }]"));
        };
        exceptions.iter().map(|exception| self.exception(exception, shape)).collect()
    }

    fn exception(&self, node: &'a Spanned<Node>, shape: &Shape) -> Result<ExceptedPart, Diagnostic> {
        let entries = self.mapping(node, &["at", "start", "steps", "exactly"])?;
        let Some(Spanned { value: Node::Sequence(written), defined, .. }) = get(entries, "at") else {
            return Err(self.wrong(node.defined, "an exception says where it is: `at: [0]`, say"));
        };
        let at: Vec<usize> = written.iter().map(|at| self.count_of(at)).collect::<Result<_, _>>()?;
        if at.len() > shape.rank() || at.iter().zip(&**shape).any(|(at, dim)| at >= dim) {
            return Err(self.wrong(*defined, format!("{at:?} is no place of the shape {shape}")));
        }
        let below = shape.rank() - at.len();
        if let Some(exactly) = get(entries, "exactly") {
            if entries.len() > 2 {
                return Err(self.wrong(exactly.defined, "`exactly` stands beside `at` alone"));
            }
            let form = LinearForm { start: self.number(exactly)?, steps: vec![0; below] };
            return Ok(ExceptedPart { at, form, exactly: true });
        }
        let form = match get(entries, "steps") {
            None => LinearForm { steps: vec![0; below], ..self.form_of_one(entries)? },
            Some(_) => self.form(entries, node.defined, below)?,
        };
        Ok(ExceptedPart { at, form, exactly: false })
    }

    /// A closed form with the same number everywhere.
    fn form_of_one(&self, entries: &'a MappingEntries) -> Result<LinearForm, Diagnostic> {
        let start = get(entries, "start").map_or(Ok(0), |start| self.number(start))?;
        Ok(LinearForm { start, steps: Vec::new() })
    }

    fn mapping(&self, node: &'a Spanned<Node>, known: &[&str]) -> Result<&'a MappingEntries, Diagnostic> {
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

    /// The tensor as a strided view of the distinct numbers in it, however often it repeats them.
    fn window(
        &self,
        painter: Painter,
        form: &LinearForm,
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
        // For a few numbers that are far apart, the range between them would be larger than the tensor.
        if self.large && painter.modulo.is_none() && shape.element_count() < count.min(MAX_IN_FULL) {
            let numbers = form.numbers(&shape);
            return self.painted(painter, shape, at, numbers);
        }
        if count > MAX_ELEMENTS {
            return Err(self.too_many(count, at));
        }
        let (stored, first) = self.passed(painter, form.start.saturating_add(low), count, at)?;
        let strides = steps.iter().map(|step| isize::try_from(*step).unwrap_or(0)).collect();
        let offset = first + usize::try_from(-low).unwrap_or(0);
        stored.window(shape, strides, offset).map_err(|error| self.wrong(at, error.to_string()))
    }

    /// `count` consecutive numbers from `first` on as elements, and the offset of the first one in the tensor that stores them.
    /// Periodic numbers, and indices of usual size, are stored once for all tensors of a file.
    fn passed(
        &self,
        painter: Painter,
        first: i128,
        count: usize,
        at: serde_yaml::Location,
    ) -> Result<(Tensor, usize), Diagnostic> {
        let line = |painter: Painter, first: i128, count: usize| {
            let shape = Shape::new([count]).map_err(|error| self.wrong(at, error.to_string()))?;
            let numbers = (0..count).map(|passed| first.checked_add(passed as i128));
            self.painted(painter, shape, at, numbers)
        };
        let (from, offset) = match painter.modulo {
            Some(modulo) => (0, usize::try_from(first.rem_euclid(modulo)).unwrap_or(0)),
            None if [DType::I32, DType::I64].contains(&painter.dtype)
                && (-SHARED..=SHARED).contains(&first) =>
            {
                (-SHARED, usize::try_from(first + SHARED).unwrap_or(0))
            }
            None => return Ok((line(painter, first, count)?, 0)),
        };
        if painter.digits.is_some() {
            return Ok((line(painter, first, count)?, 0));
        }
        let key = (painter.dtype, painter.modulo);
        let needed = offset + count;
        let held =
            self.cache.numbers.borrow().get(&key).filter(|held| held.stored_count() >= needed).cloned();
        let held = match held {
            Some(held) => held,
            None => {
                let made = line(painter, from, needed.next_power_of_two().min(MAX_ELEMENTS))?;
                self.cache.numbers.borrow_mut().insert(key, made.clone());
                made
            }
        };
        Ok((held, offset))
    }

    /// A tensor from its numbers in row-major order. `None` marks a number that is too large.
    fn painted(
        &self,
        painter: Painter,
        shape: Shape,
        at: serde_yaml::Location,
        numbers: impl IntoIterator<Item = Option<i128>>,
    ) -> Result<Tensor, Diagnostic> {
        self.count(painter.dtype, &shape, at)?;
        self.spend(shape.element_count().saturating_mul(painter.digits.unwrap_or(0)), at)?;
        let bad = |error: crate::TensorError| self.wrong(at, error.to_string());
        let mut builder = TensorBuilder::new(painter.dtype, shape).map_err(bad)?;
        for number in numbers {
            let number = number.ok_or_else(|| "a number is too large".to_owned());
            builder
                .push(number.and_then(|number| painter.element(number)).map_err(|why| self.wrong(at, why))?);
        }
        builder.finish().map_err(bad)
    }

    /// A tensor that is constant along its last axes. Only one element is stored for each position of the others.
    fn repeated(
        &self,
        painter: Painter,
        shape: Shape,
        at: serde_yaml::Location,
        form: &LinearForm,
        exceptions: &[ExceptedPart],
        kept: usize,
    ) -> Result<Tensor, Diagnostic> {
        let wrong = |error: String| self.wrong(at, error);
        let first = Shape::new(&shape[..kept]).map_err(|error| wrong(error.to_string()))?;
        let cut = |exception: &ExceptedPart| ExceptedPart {
            at: exception.at.clone(),
            form: exception.form.cut(kept - exception.at.len()),
            exactly: exception.exactly,
        };
        let exceptions: Vec<ExceptedPart> = exceptions.iter().map(cut).collect();
        let mut strides = first.row_major_strides();
        strides.resize(shape.rank(), 0);
        let stored = self.painted_in_full(painter, first, at, &[form.cut(kept)], &exceptions)?;
        stored.window(shape, strides, 0).map_err(|error| wrong(error.to_string()))
    }

    /// A tensor with one closed form per component along its last axis, and with exceptions. All its elements are stored.
    fn painted_in_full(
        &self,
        painter: Painter,
        shape: Shape,
        at: serde_yaml::Location,
        forms: &[LinearForm],
        exceptions: &[ExceptedPart],
    ) -> Result<Tensor, Diagnostic> {
        let kept = forms.first().map_or(0, |form| form.axes_that_matter(exceptions));
        if let [form] = forms
            && kept < shape.rank()
            && shape.element_count() > 0
        {
            return self.repeated(painter, shape, at, form, exceptions, kept);
        }
        let count = shape.element_count();
        let most = if self.large { MAX_IN_FULL_LARGE } else { MAX_IN_FULL };
        if count > most {
            let message = format!(
                "{count} elements; with `components` or `except` at most {most} (2^{}) are allowed",
                most.ilog2()
            );
            return Err(self.wrong(at, message));
        }
        let mut numbers = match forms {
            [form] if form.steps.len() == shape.rank() => form.numbers(&shape),
            _ => {
                let of_each: Vec<_> =
                    forms.iter().map(|form| form.numbers(&shape[..shape.rank() - 1])).collect();
                (0..count).map(|at| of_each[at % forms.len()][at / forms.len()]).collect()
            }
        };
        numbers.iter_mut().flatten().for_each(|number| *number = painter.reduced(*number));
        for exception in exceptions {
            let below = &shape[exception.at.len()..];
            let size: usize = below.iter().product();
            let place = exception.at.iter().zip(&*shape).fold(0, |place, (at, dim)| place * dim + at);
            let reduce = |number: i128| if exception.exactly { number } else { painter.reduced(number) };
            let excepted = exception.form.numbers(below).into_iter().map(|number| number.map(reduce));
            numbers[place * size..(place + 1) * size]
                .iter_mut()
                .zip(excepted)
                .for_each(|(to, from)| *to = from);
        }
        self.painted(Painter { modulo: None, ..painter }, shape, at, numbers)
    }
}

fn get<'e>(entries: &'e MappingEntries, key: &str) -> Option<&'e Spanned<Node>> {
    entries.iter().find(|(name, _)| name.value == key).map(|(_, value)| value)
}

impl LinearForm {
    /// The closed form restricted to the first axes.
    fn cut(&self, axes: usize) -> Self {
        Self { start: self.start, steps: self.steps.iter().copied().take(axes).collect() }
    }

    /// The number of leading axes along which numbers change, given these exceptions.
    fn axes_that_matter(&self, exceptions: &[ExceptedPart]) -> usize {
        let of = |form: &Self| form.steps.iter().rposition(|step| *step != 0).map_or(0, |last| last + 1);
        let excepted = exceptions.iter().map(|exception| exception.at.len() + of(&exception.form));
        excepted.fold(of(self), usize::max)
    }

    /// The numbers of a tensor with these dims, in row-major order; `None` marks one that is too large.
    fn numbers(&self, dims: &[usize]) -> Vec<Option<i128>> {
        let mut numbers = vec![Some(self.start)];
        for (dim, step) in dims.iter().zip(&self.steps) {
            let along = |number: Option<i128>| {
                (0..*dim).map(move |at| number?.checked_add(step.checked_mul(at as i128)?))
            };
            numbers = numbers.into_iter().flat_map(along).collect();
        }
        numbers
    }
}
