//! What campaigns draw: for each place where real kernels are known to break, how often one of 10,000 calls reaches it.
//! A call is recognised by what it is, and not by how it was drawn.

use gather_campaign::fuzz::{Differential, SHORT};
use gather_campaign::generate::ChoiceSequence;
use gather_conformance::builtin;
use gather_conformance::internals::check::{CallRequest, Check, Step, Tally};
use gather_conformance::internals::judge::Strictness;
use gather_spec::signature::{AttributeDefault, AttributeRole, Axis, Range};
use gather_spec::{Attribute, BadIndex, DType, Element, Form, NegativeIndex, Profile, Signature, Tensor};

const CALLS: u64 = 10_000;

/// The most elements of an output.
const LARGEST: usize = 70_000;

/// A right call but for its indices, by its parts.
struct Seen {
    form: Form,
    /// Bytes of an element.
    width: usize,
    batch: Vec<usize>,
    mid: Vec<usize>,
    inner: Vec<usize>,
    outer: Vec<usize>,
    profile: Profile,
    threads: usize,
    /// The lengths of the first strings.
    strings: Vec<usize>,
    /// The rows with a bad index, where there are many rows.
    bad: Vec<usize>,
}

impl Seen {
    fn of(request: &CallRequest, signature: &Signature) -> Option<Self> {
        let roles = signature.roles(&request.call).ok()?;
        let (params, indices) = (roles.params.shape(), roles.indices.shape());
        if params.contains(&0) || indices.contains(&0) {
            return None;
        }
        let resolved = |role, sent: Option<i64>, batch: usize| {
            let Some(attribute) = signature.attribute(role) else { return Some(batch) };
            let value = match (&attribute.default, sent) {
                (_, Some(sent)) => sent,
                (AttributeDefault::BatchDims, None) => i64::try_from(batch).ok()?,
                (AttributeDefault::Value(Attribute::Integer(value)), None) => *value,
                (AttributeDefault::OnlyAxis, None) => 0,
                _ => return None,
            };
            let end =
                if attribute.range == Some(Range::FromMinusQToQ) { indices.len() } else { params.len() };
            usize::try_from(if value < 0 { value + i64::try_from(end).ok()? } else { value }).ok()
        };
        let batch = resolved(AttributeRole::BatchDims, roles.batch_dims, 0)?;
        let batch = if signature.has_batch() { batch } else { 0 };
        if params.get(..batch)? != indices.get(..batch)? {
            return None;
        }
        let flat = [roles.params.shape().element_count()];
        let flat_indices = [indices.element_count()];
        let indices = if signature.has_flat_indices(&roles) { &flat_indices[..] } else { &indices[..] };
        let (params, axis) = match roles.axis {
            _ if signature.is_flat(&roles) => (&flat[..], 0),
            Some(Axis::At(axis)) => (&params[..], resolved(AttributeRole::Axis, Some(axis), batch)?),
            _ => (&params[..], resolved(AttributeRole::Axis, None, batch)?),
        };
        let depth = if signature.form == Form::Nd { *indices.last()? } else { 1 };
        let vector = usize::from(signature.form == Form::Nd);
        let (first, outer) = match signature.form {
            Form::Nd => (batch, indices.get(batch..indices.len().checked_sub(1)?)?),
            Form::Take => (axis, indices.get(batch..)?),
            Form::Elements => (axis, indices.get(axis..=axis)?),
            // The parts of a window are not apart: `windows.rs` says what of them is drawn.
            Form::Window => return None,
        };
        let gathered = params.get(first..first + depth)?;
        let mut seen = Self {
            form: signature.form,
            width: roles.params.dtype().size(),
            batch: params.get(..batch)?.to_vec(),
            mid: params.get(batch..first)?.to_vec(),
            inner: params.get(first + depth..)?.to_vec(),
            outer: outer.to_vec(),
            profile: signature.profile(&roles, request.settings.profile),
            threads: request.settings.threads,
            strings: lengths(roles.params),
            bad: Vec::new(),
        };
        if seen.index_rows() >= 64 {
            seen.bad = bad_rows(roles.indices, gathered, vector == 1, seen.profile);
        }
        Some(seen)
    }

    /// Elements of a slice.
    fn slice(&self) -> usize {
        self.inner.iter().product()
    }

    fn bytes(&self) -> usize {
        self.slice() * self.width
    }

    /// Index rows of one batch.
    fn rows(&self) -> usize {
        self.outer.iter().product()
    }

    /// Index rows of all batches.
    fn index_rows(&self) -> usize {
        let joined =
            if self.form == Form::Elements { self.mid.iter().chain(&self.inner).product() } else { 1 };
        self.rows() * self.batch.iter().product::<usize>() * joined
    }

    /// Elements of the output.
    fn output(&self) -> usize {
        [&self.batch, &self.mid, &self.outer, &self.inner].into_iter().flatten().product()
    }

    fn is_long(&self, many: usize) -> bool {
        self.index_rows() >= many
    }
}

/// The lengths of the strings at the front of a tensor.
fn lengths(params: &Tensor) -> Vec<usize> {
    if params.dtype() != DType::String {
        return Vec::new();
    }
    let length = |element: Element| match element {
        Element::Bytes(bytes) => bytes.as_bytes().len(),
        Element::Bits(_) => 0,
    };
    params.iter().take(32).map(length).collect()
}

/// The rows of indices with a component outside its axis.
fn bad_rows(indices: &Tensor, gathered: &[usize], vectors: bool, profile: Profile) -> Vec<usize> {
    let components = if vectors { gathered.len().max(1) } else { 1 };
    let signed = indices.dtype().name().starts_with('i');
    let is_bad = |(at, element): (usize, Element)| {
        let Element::Bits(bits) = element else { return None };
        let shift = 128 - 8 * indices.dtype().size();
        let value = if signed { (bits << shift).cast_signed() >> shift } else { bits.cast_signed() };
        let bound = gathered[at % components] as i128;
        let least = if profile.negative == NegativeIndex::Wrap { -bound } else { 0 };
        (!(least..bound).contains(&value)).then_some(at / components)
    };
    let mut rows: Vec<usize> = indices.iter().enumerate().filter_map(is_bad).collect();
    rows.dedup();
    rows
}

/// How many dims are more than 1.
fn several(dims: &[usize]) -> usize {
    dims.iter().filter(|dim| **dim > 1).count()
}

type Is = Box<dyn Fn(&Seen) -> bool>;

/// Each kind of call, and how many of 10,000 are of it at least.
fn kinds() -> Vec<(String, usize, Is)> {
    let mut kinds: Vec<(String, usize, Is)> = Vec::new();
    let mut kind = |name: String, least: usize, is: Is| kinds.push((name, least, is));
    for (width, multiple, least) in [
        (1, 2, [120, 180]),
        (1, 4, [60, 150]),
        (1, 8, [40, 90]),
        (1, 16, [35, 55]),
        (1, 64, [24, 28]),
        (2, 4, [150, 200]),
        (2, 8, [70, 160]),
        (2, 16, [50, 95]),
        (2, 64, [30, 32]),
        (4, 8, [140, 190]),
        (4, 16, [65, 130]),
        (4, 64, [34, 38]),
        (8, 16, [150, 240]),
        (8, 64, [48, 110]),
        (16, 64, [22, 65]),
    ] {
        let on = move |seen: &Seen| {
            seen.width == width && seen.bytes() >= 2 * multiple && seen.bytes().is_multiple_of(multiple)
        };
        let off = move |seen: &Seen| {
            let beyond = seen.bytes() % multiple;
            seen.width == width && seen.bytes() > multiple && (beyond == width || beyond == multiple - width)
        };
        let [least_on, least_off] = least;
        kind(
            format!("slices of {width}-byte elements on a multiple of {multiple} bytes"),
            least_on,
            Box::new(on),
        );
        kind(
            format!("slices of {width}-byte elements just off one of {multiple} bytes"),
            least_off,
            Box::new(off),
        );
    }
    kind("slices of more than 512 bytes".into(), 330, Box::new(|seen| seen.bytes() > 512));
    kind("slices of more than 1,024 elements".into(), 120, Box::new(|seen| seen.slice() > 1024));
    kind("slices of more than 4,096 elements".into(), 40, Box::new(|seen| seen.slice() > 4096));
    for (block, [least_around, least_several]) in [
        (32, [60, 120]),
        (64, [60, 90]),
        (128, [38, 60]),
        (256, [38, 45]),
        (512, [20, 24]),
        (1024, [15, 15]),
        (4096, [10, 1]),
        (65_536, [2, 0]),
    ] {
        let around = move |seen: &Seen| (block - 1..=block + 1).contains(&seen.rows());
        kind(format!("{block} index rows, one more or one less"), least_around, Box::new(around));
        let several = move |seen: &Seen| seen.rows() > block && seen.rows().is_multiple_of(block);
        kind(format!("several times {block} index rows"), least_several, Box::new(several));
    }
    for policy in [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp] {
        let one = move |seen: &Seen| seen.profile.bad == policy && seen.bad.len() == 1 && seen.is_long(128);
        kind(format!("one bad row among 128 or more, {policy}"), 55, Box::new(one));
        let many = move |seen: &Seen| {
            let some = 1 < seen.bad.len() && seen.bad.len() * 2 < seen.index_rows();
            seen.profile.bad == policy && some && seen.is_long(128)
        };
        kind(format!("some bad rows among 128 or more, {policy}"), 20, Box::new(many));
    }
    let last = |seen: &Seen| seen.bad.len() == 1 && seen.bad[0] + 16 >= seen.index_rows() && seen.is_long(64);
    kind("a bad index that only the last vector sees".into(), 65, Box::new(last));
    let block = |seen: &Seen| {
        seen.bad.first().is_some_and(|row| row * 4 > seen.index_rows() * 3) && seen.is_long(1025)
    };
    kind("a bad index that only the last block or part sees".into(), 48, Box::new(block));
    let dims = |seen: &Seen| several(&seen.outer) > 1 && several(&seen.inner) > 1 && seen.outer != seen.inner;
    kind("two free dims of indices and two of slices".into(), 200, Box::new(dims));
    let dims = |seen: &Seen| several(&seen.outer) > 2 || several(&seen.inner) > 2;
    kind("three free dims of indices or of slices".into(), 200, Box::new(dims));
    let mid = |seen: &Seen| several(&seen.batch) > 0 && several(&seen.mid) > 1;
    kind("two dims between batch and axis".into(), 26, Box::new(mid));
    let all = |seen: &Seen| {
        several(&seen.batch) > 0
            && seen.outer.is_empty()
            && several(&seen.mid) > 0
            && several(&seen.inner) > 0
    };
    kind("a batch that takes all of indices, with dims on both sides".into(), 25, Box::new(all));
    for (length, least) in [(255, 14), (256, 13), (257, 9), (65_536, 6)] {
        kind(
            format!("strings of {length} bytes"),
            least,
            Box::new(move |seen| seen.strings.contains(&length)),
        );
    }
    let parts = |seen: &Seen| seen.threads > 2 && seen.is_long(1024);
    kind("outputs in parts of three and more threads".into(), 170, Box::new(parts));
    kinds
}

/// The operators that the numbers are for: the more there are, the fewer calls are of each kind.
const OPERATORS: [&str; 7] = [
    "onnx.GatherElements-13",
    "onnx.GatherND-13",
    "paddle.gather_nd",
    "tf.gather",
    "tf.gather_nd",
    "tf.raw_ops.GatherNd",
    "torch.gather",
];

#[test]
fn every_kind_is_drawn_as_often_as_it_says() {
    let signatures = builtin::signatures();
    let mut description =
        builtin::backend("optimized", Profile::default(), builtin::MAX_OUTPUT).unwrap().describe();
    description.operators.retain(|operator, _| OPERATORS.contains(&operator.as_str()));
    let profiles = Profile::all_specified().collect();
    let check =
        Differential::new(&description, signatures, profiles, Strictness::Strict).edges_in(SHORT.edges_in);
    let kinds = kinds();
    let mut counts = vec![0; kinds.len()];
    for case in 0..CALLS {
        let mut choices = ChoiceSequence::from_seed(case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let Step::Ask(requests) = check.step(&mut choices, &[], &[], &mut Tally::default()) else {
            continue;
        };
        let signature = signatures.get(requests[0].call.operator.as_str()).unwrap();
        let Some(seen) = Seen::of(&requests[0], signature) else { continue };
        assert!(
            seen.output() <= LARGEST,
            "{:?} {:?} {:?} {:?} give too large an output",
            seen.batch,
            seen.mid,
            seen.outer,
            seen.inner
        );
        kinds.iter().zip(&mut counts).for_each(|((.., is), count)| *count += usize::from(is(&seen)));
    }
    let table =
        kinds.iter().zip(&counts).map(|((name, least, _), count)| format!("{count:5} of {least:4} {name}\n"));
    let seldom = kinds.iter().zip(&counts).filter(|((_, least, _), count)| *count < least).count();
    assert_eq!(seldom, 0, "\n{}", table.collect::<String>());
}
