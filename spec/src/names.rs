//! Enums whose variants have names: each name is written once, beside its variant.

/// Declares an enum, with what follows from the names of its variants: `ALL`, `name`, `Display` and
/// `FromStr`. The text after the name of the enum says in messages what an unknown name is not.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$of_enum:meta])*
        $visibility:vis enum $enum:ident: $what:literal {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$of_enum])*
        $visibility enum $enum {
            $($(#[$of_variant])* $variant,)+
        }

        impl $enum {
            /// Every one, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name in files, messages and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $enum {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                let named = Self::ALL.into_iter().find(|one| one.name() == name);
                named.ok_or_else(|| $crate::names::unknown($what, name, &Self::ALL.map(Self::name)))
            }
        }
    };
}

/// Says of a name that nothing has it, and which ones there are.
#[doc(hidden)]
#[must_use]
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} `{name}`: one of {} is expected", known.join(" "))
}
