//! Laws about what a gather must not depend on: payloads, dtypes, layouts.

use gather_spec::{ByteString, DType, Element, Position};

use super::compare::{agree, equal};
use super::gathers::{Gather, Needs};
use super::instance::{ALL, ANY, EVERY_FORM, Instance, Law};
use super::stop::Stop;
use super::tensors::{build, integers, map};
use gather_conformance::internals::layout::Layout;

pub(super) const PAYLOAD: Law = Law {
    name: "payload-blind",
    statement: "G(f(P), I) = f(G(P, I)) for a bijection f on elements",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: payload,
};

pub(super) const DTYPE: Law = Law {
    name: "dtype-blind",
    statement: "G(P as dtype A, I) = G(P as dtype B, I), element by element",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: dtype,
};

pub(super) const INDEX_DTYPE: Law = Law {
    name: "index-dtype-blind",
    statement: "G(P, I as dtype A) = G(P, I as dtype B)",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: index_dtype,
};

pub(super) const LAYOUT: Law = Law {
    name: "layout-blind",
    statement: "G of tensors in one layout = G of the same tensors in another",
    example: None,
    forms: EVERY_FORM,
    roles: &[],
    only: ALL,
    speaks: ANY,
    check: layout,
};

/// One more than the rows that 15 and 16 bits can count. A kernel that counts rows in the index dtype overflows there.
const MANY_ROWS: [usize; 2] = [(1 << 15) + 1, (1 << 16) + 1];

fn payload(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { batch: (0, 2), ..Needs::PLAIN })?;
    let dtype = gather.params.dtype();
    let unused = 128 - 8 * u32::try_from(dtype.size()).unwrap_or(16);
    // Only the two values that every language agrees on.
    let mask = if dtype == DType::Bool { 1 } else { u128::MAX >> unused };
    let change = |element: Element| match element {
        Element::Bits(bits) => Element::Bits(bits ^ mask),
        Element::Bytes(bytes) => Element::Bytes(ByteString::from([bytes.as_bytes(), b"\0\xff"].concat())),
    };
    let params = match dtype {
        DType::Bool => map(&gather.params, |element| match element {
            Element::Bits(bits) => Element::Bits(bits & 1),
            bytes => bytes,
        })?,
        _ => gather.params.clone(),
    };
    let first = gather.with_params(params);
    let second = first.with_params(map(&first.params, change)?);
    let sides = instance.outputs(vec![first.call(), second.call()])?;
    equal(&map(&sides[0], change)?, &sides[1])
}

fn dtype(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let gather = instance.gather(Needs { batch: (0, 2), ..Needs::PLAIN })?;
    let known = instance.capability(gather.signature);
    let counted: Vec<DType> = known.dtypes.iter().copied().filter(|dtype| dtype.size() > 1).collect();
    if counted.is_empty() || gather.params.shape().element_count() > 250 {
        return Err(Stop::Skip("skipped: the elements cannot be told apart"));
    }
    let (one, other) = (gather.params.dtype(), instance.choices.pick(&counted));
    let of = |dtype: DType| {
        let mut number = 0;
        build(dtype, gather.params.shape(), |_| {
            number += 1;
            numbered(dtype, number)
        })
    };
    let (first, second) = (gather.with_params(of(one)?), gather.with_params(of(other)?));
    let sides = instance.outputs(vec![first.call(), second.call()])?;
    let number = |element: Element| match element {
        Element::Bits(number) => number,
        Element::Bytes(text) => {
            std::str::from_utf8(text.as_bytes()).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
        }
    };
    let shape = sides[1].shape();
    let expected = build(one, shape, |position| numbered(one, number(sides[1].element(position))))?;
    equal(&expected, &sides[0])
}

/// The element for a number; 0 gives the zero of the dtype.
fn numbered(dtype: DType, number: u128) -> Element {
    match dtype {
        DType::String if number == 0 => Element::zero(dtype),
        DType::String => Element::Bytes(ByteString::from(number.to_string())),
        DType::Bool => Element::Bits(number & 1),
        _ => Element::Bits(number),
    }
}

fn index_dtype(instance: &mut Instance<'_>) -> Result<(), Stop> {
    let drawn = instance.gather(Needs { batch: (0, 2), bad: true, ..Needs::PLAIN })?;
    let known = instance.capability(drawn.signature);
    let others: Vec<DType> =
        known.index_dtypes.iter().copied().filter(|dtype| *dtype != drawn.indices.dtype()).collect();
    if others.is_empty() {
        return Err(Stop::Skip("skipped: one dtype of indices is declared"));
    }
    let other = instance.choices.pick(&others);
    let many = instance.choices.once_in(200).then(|| instance.choices.pick(&MANY_ROWS));
    let first = match many {
        Some(rows) => many_rows(instance, &drawn, rows)?,
        None => drawn,
    };
    let value = |position: &[usize]| first.indices.integer(position).unwrap_or_default();
    let second = first.with_indices(integers(other, first.indices.shape(), value)?);
    let same = |position: Position| second.indices.integer(&position) == first.indices.integer(&position);
    if !first.indices.shape().positions().all(same) {
        return Err(Stop::Skip("skipped: the other dtype lacks an index"));
    }
    let outcomes = instance.ask(vec![first.call(), second.call()])?;
    agree(&outcomes[0], &outcomes[1])
}

/// A call with more rows than narrow indices can count, from params of two elements.
fn many_rows<'a>(instance: &mut Instance<'a>, drawn: &Gather<'a>, rows: usize) -> Result<Gather<'a>, Stop> {
    let params =
        build(drawn.params.dtype(), &[2], |position| numbered(drawn.params.dtype(), position[0] as u128))?;
    let dims = drawn.index_dims(&[rows], 1);
    let period = 1 + instance.choices.below(2);
    let indices = integers(drawn.indices.dtype(), &dims, |position| (position[0] % period) as i128)?;
    Ok(Gather { params, indices, axis: 0, batch: 0, ..drawn.clone() })
}

fn layout(instance: &mut Instance<'_>) -> Result<(), Stop> {
    if !instance.is_in_process() {
        return Err(Stop::Skip("skipped: the protocol has no layouts"));
    }
    let gather = instance.gather(Needs { batch: (0, 2), bad: true, ..Needs::PLAIN })?;
    let call = gather.call();
    let laid_out = instance.choices.pick(&Layout::ALL[1..]).apply(&call)?;
    let outcomes = instance.ask(vec![call, laid_out])?;
    agree(&outcomes[0], &outcomes[1])
}
