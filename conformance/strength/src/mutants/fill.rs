//! Wrong about fill values.

use gather_spec::dtype::Kind;
use gather_spec::signature::ModePolicy;
use gather_spec::{BadIndex, DType, Element, NegativeIndex, Profile, Tensor};

use super::mutant::Mutant;
use gather_campaign::model::{ModelCall, element, filler, within};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "fills-with-zeros",
        "gives zeros where the page names another element",
        "jax 0.10.2, jax.numpy.take_along_axis along an empty axis",
        |model| model.filler = |call| Element::zero(call.roles.params.dtype()),
    ),
    Mutant::new(
        "fills-signed-with-the-largest",
        "fills signed integers with the largest value, as it does unsigned ones",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |call| match (call.profile.bad, right(call, None), call.roles.params.dtype()) {
                (BadIndex::Fill, Element::Bits(bits), dtype) if dtype.kind() == Kind::Signed => {
                    Element::Bits(bits - 1)
                }
                (_, right, _) => right,
            };
        },
    ),
    Mutant::new(
        "fills-narrow-integers-as-32-bits",
        "cuts the lowest value of 32 bits to the width of narrower integers, which gives 0",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |call| {
                let dtype = call.roles.params.dtype();
                let narrow = dtype.kind() == Kind::Signed && dtype.size() < 4;
                if narrow && call.profile.bad == BadIndex::Fill { Element::zero(dtype) } else { filler(call) }
            };
        },
    ),
    Mutant::new(
        "fills-wide-integers-as-32-bits",
        "fills integers of 64 bits with the extreme value of 32 bits",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |call| match (call.profile.bad, call.roles.params.dtype()) {
                (BadIndex::Fill, DType::I64) => Element::Bits(0xFFFF_FFFF_8000_0000),
                (BadIndex::Fill, DType::U64) => Element::Bits(0xFFFF_FFFF),
                _ => filler(call),
            };
        },
    ),
    Mutant::new(
        "fills-with-infinity",
        "fills floats with infinity in place of a NaN",
        "class: the bits of the exponent alone",
        |model| {
            model.filler = |call| match (call.profile.bad, call.roles.params.dtype()) {
                (BadIndex::Fill, DType::F16) => Element::Bits(0x7C00),
                (BadIndex::Fill, DType::BF16) => Element::Bits(0x7F80),
                (BadIndex::Fill, DType::F32) => Element::Bits(0x7F80_0000),
                (BadIndex::Fill, DType::F64) => Element::Bits(0x7FF0 << 48),
                _ => filler(call),
            };
        },
    ),
    Mutant::new(
        "fills-the-imaginary-part",
        "puts the NaN of a complex number into its imaginary part alone",
        "class: the parts of a complex number mixed up",
        |model| {
            model.filler = |call| match (call.profile.bad, call.roles.params.dtype()) {
                (BadIndex::Fill, DType::C64) => Element::Bits(0x7FC0_0000 << 32),
                (BadIndex::Fill, DType::C128) => Element::Bits(0x7FF8 << 112),
                _ => filler(call),
            };
        },
    ),
    Mutant::new(
        "fills-booleans-with-false",
        "fills booleans with false",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |call| match (call.profile.bad, call.roles.params.dtype()) {
                (BadIndex::Fill, DType::Bool) => Element::Bits(0),
                _ => filler(call),
            };
        },
    ),
    Mutant::new(
        "fills-the-first-element-only",
        "fills the first element of a slice, and leaves zeros in the others",
        "class: a scalar store where a row is meant",
        |model| {
            model.element = |call, dims, params, pick, at| match pick {
                None if at > 0 => Element::zero(call.roles.params.dtype()),
                _ => element(call, dims, params, pick, at),
            };
        },
    ),
    Mutant::new(
        "fills-for-negative-indices",
        "takes each negative index for a bad one where it should count from the end before it fills",
        "class: the order of normalising and checking",
        |model| {
            model.policies = |profile| match profile.bad {
                BadIndex::Fill => Profile { negative: NegativeIndex::Reject, ..profile },
                _ => profile,
            };
        },
    ),
    Mutant::new(
        "fill-value-ignored",
        "fills with the page's own element, whichever is sent",
        "class: an argument that is dropped on its way",
        |model| model.filler = |call| right(call, None),
    ),
    Mutant::new(
        "fill-value-of-zero-is-none",
        "takes a fill value of zero for none",
        "class: `fill_value or default` in Python",
        |model| {
            model.filler = |call| {
                let zero = Element::zero(call.roles.params.dtype());
                let sent = call.roles.fill_value.as_ref().filter(|sent| sent.element(&[]) != zero);
                right(call, sent)
            };
        },
    ),
    Mutant::new(
        "fill-value-in-every-mode",
        "fills with the value that is sent where it should clamp or take the remainder",
        "class: modes mixed up",
        |model| {
            model.mode = |signature, roles| {
                let fills = |mode: &&ModePolicy| mode.profile.bad == BadIndex::Fill;
                let filling = roles.fill_value.as_ref().and_then(|_| signature.modes().iter().find(fills));
                signature.mode(roles).and_then(|mode| filling.or(Some(mode)))
            };
        },
    ),
    Mutant::new(
        "fill-value-of-32-bits",
        "cuts a fill value to 32 bits",
        "class: a fill of the wrong dtype",
        |model| model.filler = |call| sent_as(call, |_, bits| bits & u128::from(u32::MAX)),
    ),
    Mutant::new(
        "fill-value-of-8-bits",
        "cuts a fill value of integers to 8 bits",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler =
                |call| sent_as(call, |dtype, bits| if dtype.is_integer() { bits & 0xFF } else { bits });
        },
    ),
    Mutant::new(
        "fill-value-through-a-float",
        "turns a fill value of 64-bit integers into a float and back",
        "class: a scalar argument in a double",
        |model| model.filler = |call| sent_as(call, through_float),
    ),
    Mutant::new(
        "fill-value-rounded-to-f32",
        "rounds a fill value of 64-bit floats to 32 bits",
        "class: a scalar argument in a float",
        |model| {
            model.filler =
                |call| sent_as(call, |dtype, bits| if dtype == DType::F64 { rounded(bits) } else { bits });
        },
    ),
    Mutant::new(
        "fill-value-nan-without-its-bits",
        "fills with the quiet NaN where a NaN with other bits is sent",
        "jax 0.10.2, fill_value of bfloat16",
        |model| {
            model.filler = |call| {
                let own = right(call, None);
                let nan = call.signature.fill.filter(|_| call.profile.bad == BadIndex::Fill);
                let dtype = call.roles.params.dtype();
                let is_nan = |sent: &Element| nan.is_some_and(|fill| fill.allows(dtype, sent));
                if is_nan(&filler(call)) && dtype.kind() == Kind::Float { own } else { filler(call) }
            };
        },
    ),
    Mutant::new(
        "fill-value-minus-zero-is-zero",
        "fills with 0 where -0 is sent",
        "class: a comparison with 0 in place of bits",
        |model| {
            model.filler = |call| {
                sent_as(call, |dtype, bits| {
                    let sign = 1 << (8 * dtype.size() - 1);
                    if dtype.kind() == Kind::Float && bits == sign { 0 } else { bits }
                })
            };
        },
    ),
    Mutant::new(
        "fill-value-without-its-imaginary-part",
        "fills with the real part of a complex number",
        "class: a scalar argument in a double",
        |model| {
            model.filler = |call| {
                sent_as(call, |dtype, bits| match dtype {
                    DType::C64 => bits & u128::from(u32::MAX),
                    DType::C128 => bits & u128::from(u64::MAX),
                    _ => bits,
                })
            };
        },
    ),
    Mutant::new(
        "fill-value-in-every-row",
        "fills all rows with the value that is sent if one index is bad",
        "class: a flag of the call in place of one of the row",
        |model| {
            model.arrange = |call, _, picks| {
                let all = call.roles.fill_value.is_some() && picks.contains(&None);
                if all { vec![None; picks.len()] } else { picks }
            };
        },
    ),
    Mutant::new("clamps-for-fill", "clamps where it should fill", "class: modes mixed up", |model| {
        model.policies = |profile| match profile.bad {
            BadIndex::Fill => Profile { bad: BadIndex::Clamp, ..profile },
            _ => profile,
        };
    }),
    Mutant::new(
        "counts-from-the-end-twice",
        "adds the size of the axis to an index that is still negative once more before it fills",
        "class: a loop in place of an if",
        |model| {
            model.within = |call, index, bound| match call.profile.bad {
                BadIndex::Fill if index < 0 => {
                    within(call, index, bound).or_else(|| within(call, index + bound as i128, bound))
                }
                _ => within(call, index, bound),
            };
        },
    ),
];

/// The right element, as if `sent` were the fill value of the call.
fn right(call: &ModelCall<'_>, sent: Option<&Tensor>) -> Element {
    call.signature.filler(call.profile, call.roles.params.dtype(), sent)
}

/// The right element, with its bits changed by a function if the call sends a fill value that is used.
fn sent_as(call: &ModelCall<'_>, change: fn(DType, u128) -> u128) -> Element {
    let sends = call.profile.bad == BadIndex::Fill && call.roles.fill_value.is_some();
    match filler(call) {
        Element::Bits(bits) if sends => Element::Bits(change(call.roles.params.dtype(), bits)),
        right => right,
    }
}

/// The bits of a 64-bit integer after a conversion to float and back.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the integer is to be rounded"
)]
fn through_float(dtype: DType, bits: u128) -> u128 {
    match (dtype, u64::try_from(bits)) {
        (DType::I64, Ok(bits)) => (bits.cast_signed() as f64 as i64).cast_unsigned().into(),
        (DType::U64, Ok(bits)) => (bits as f64 as u64).into(),
        _ => bits,
    }
}

/// The bits of a 64-bit float after a conversion to 32 bits and back.
#[allow(clippy::cast_possible_truncation, reason = "the float is to be rounded")]
fn rounded(bits: u128) -> u128 {
    let wide = u64::try_from(bits).map(f64::from_bits).unwrap_or_default();
    if wide.is_nan() { bits } else { f64::from(wide as f32).to_bits().into() }
}
