//! What a call of an operator chooses, and what follows from it.

use super::{AttributeDefault, AttributeRole, Axis, Flatten, ModePolicy, Roles, Signature};
use crate::call::{Attribute, Attributes, Profile};

impl Signature {
    /// The mode of a call, sent or by default; `None` if the operator has no modes or does not have this one.
    #[must_use]
    pub fn mode<T>(&self, call: &Roles<T>) -> Option<&ModePolicy> {
        self.mode_of(call.mode.as_deref())
    }

    /// The mode that attributes select, like [`Signature::mode`].
    #[must_use]
    pub fn mode_sent(&self, attributes: &Attributes) -> Option<&ModePolicy> {
        let name = &self.attribute(AttributeRole::Mode)?.name;
        self.mode_of(match attributes.get(name) {
            Some(Attribute::String(mode)) => Some(mode),
            _ => None,
        })
    }

    fn mode_of(&self, sent: Option<&str>) -> Option<&ModePolicy> {
        match sent {
            None => self.modes().first(),
            Some(sent) => self.modes().iter().find(|one| one.mode == sent),
        }
    }

    /// The policies that apply to a call: those of its mode, otherwise the declared ones.
    #[must_use]
    pub fn profile<T>(&self, call: &Roles<T>, declared: Profile) -> Profile {
        self.mode(call).map_or(declared, |mode| mode.profile)
    }

    /// Whether params is flattened first: always, or because the axis is null, sent or by default.
    #[must_use]
    pub fn is_flat<T>(&self, call: &Roles<T>) -> bool {
        let default = || self.attribute(AttributeRole::Axis).map(|axis| &axis.default);
        let is_null = match call.axis {
            Some(axis) => axis == Axis::Null,
            None => default() == Some(&AttributeDefault::Value(Attribute::Null)),
        };
        match self.flatten {
            Some(Flatten::Always) => true,
            Some(Flatten::WhenAxisNull | Flatten::BothWhenAxisNull) => is_null,
            None => false,
        }
    }

    /// Whether indices is flattened first, together with params.
    #[must_use]
    pub fn has_flat_indices<T>(&self, call: &Roles<T>) -> bool {
        self.flatten == Some(Flatten::BothWhenAxisNull) && self.is_flat(call)
    }

    /// Whether params is flattened in every call.
    #[must_use]
    pub fn is_always_flat(&self) -> bool {
        self.flatten == Some(Flatten::Always)
    }
}
