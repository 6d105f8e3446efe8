//! Mutants of what a mode fills with.

use gather_spec::dtype::Kind;
use gather_spec::{BadIndex, DType, Element, NegativeIndex, Profile};

use super::Mutant;
use super::model::{element, filler, within};

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant::new(
        "fills-with-zeros",
        "gives zeros where the page names another element",
        "jax 0.10.2, jax.numpy.take_along_axis along an empty axis",
        |model| model.filler = |asked| Element::zero(asked.roles.params.dtype()),
    ),
    Mutant::new(
        "fills-signed-with-the-largest",
        "fills signed integers with the largest value, as it does unsigned ones",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |asked| match (asked.profile.bad, filler(asked), asked.roles.params.dtype()) {
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
            model.filler = |asked| {
                let dtype = asked.roles.params.dtype();
                let narrow = dtype.kind() == Kind::Signed && dtype.size() < 4;
                if narrow && asked.profile.bad == BadIndex::Fill {
                    Element::zero(dtype)
                } else {
                    filler(asked)
                }
            };
        },
    ),
    Mutant::new(
        "fills-wide-integers-as-32-bits",
        "fills integers of 64 bits with the extreme value of 32 bits",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |asked| match (asked.profile.bad, asked.roles.params.dtype()) {
                (BadIndex::Fill, DType::I64) => Element::Bits(0xFFFF_FFFF_8000_0000),
                (BadIndex::Fill, DType::U64) => Element::Bits(0xFFFF_FFFF),
                _ => filler(asked),
            };
        },
    ),
    Mutant::new(
        "fills-with-infinity",
        "fills floats with infinity in place of a NaN",
        "class: the bits of the exponent alone",
        |model| {
            model.filler = |asked| match (asked.profile.bad, asked.roles.params.dtype()) {
                (BadIndex::Fill, DType::F16) => Element::Bits(0x7C00),
                (BadIndex::Fill, DType::BF16) => Element::Bits(0x7F80),
                (BadIndex::Fill, DType::F32) => Element::Bits(0x7F80_0000),
                (BadIndex::Fill, DType::F64) => Element::Bits(0x7FF0 << 48),
                _ => filler(asked),
            };
        },
    ),
    Mutant::new(
        "fills-the-imaginary-part",
        "puts the NaN of a complex number into its imaginary part alone",
        "class: the parts of a complex number mixed up",
        |model| {
            model.filler = |asked| match (asked.profile.bad, asked.roles.params.dtype()) {
                (BadIndex::Fill, DType::C64) => Element::Bits(0x7FC0_0000 << 32),
                (BadIndex::Fill, DType::C128) => Element::Bits(0x7FF8 << 112),
                _ => filler(asked),
            };
        },
    ),
    Mutant::new(
        "fills-booleans-with-false",
        "fills booleans with false",
        "class: a fill of the wrong dtype",
        |model| {
            model.filler = |asked| match (asked.profile.bad, asked.roles.params.dtype()) {
                (BadIndex::Fill, DType::Bool) => Element::Bits(0),
                _ => filler(asked),
            };
        },
    ),
    Mutant::new(
        "fills-the-first-element-only",
        "fills the first element of a slice, and leaves zeros in the others",
        "class: a scalar store where a row is meant",
        |model| {
            model.element = |asked, dims, params, pick, at| match pick {
                None if at > 0 => Element::zero(asked.roles.params.dtype()),
                _ => element(asked, dims, params, pick, at),
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
            model.within = |asked, index, bound| match asked.profile.bad {
                BadIndex::Fill if index < 0 => {
                    within(asked, index, bound).or_else(|| within(asked, index + bound as i128, bound))
                }
                _ => within(asked, index, bound),
            };
        },
    ),
];
