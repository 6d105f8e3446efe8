//! The fields of errors: the one list of them, and what follows from it here.

use serde::Serialize;

use super::{ErrorCode, GatherError};

/// Expands the macro `$then` with the list of all fields of errors. They are grouped by the code that they belong to, and each
/// has a description for schemas and documentation, a name, a type and a kind. A kind says how case files and messages
/// write a field.
#[doc(hidden)]
#[macro_export]
macro_rules! error_fields {
    ($then:ident) => {
        $then! {
            IndexOutOfRange {
                /// With index-out-of-range: where in indices the first bad index stands. The multi-index of its row in
                /// indices.shape without the dim of the components, or, of the forms take and elements, that of the element in
                /// indices.shape.
                position: Vec<usize> as "Position",
                /// With index-out-of-range: the place of the bad index in its row. Of the forms nd and window only.
                component: usize as "Count",
                /// With index-out-of-range: the bad index as given, an integer from -2^127 to 2^127 - 1.
                index: i128 as "Number",
                /// With index-out-of-range: the size of the axis that the index selects from; of the form window, how many
                /// starts fit.
                bound: usize as "Size",
            }
            OutputTooLarge {
                /// With output-too-large: the product of the output's non-zero dims and the element size (16 for a string),
                /// an integer below 2^126.
                bytes: u128 as "Bytes",
            }
            DimensionNumbers {
                /// With dimension-numbers: the rule that they break.
                rule: $crate::DimensionRule as "Rule",
            }
        }
    };
}

/// The value of a field as text, by its kind.
macro_rules! text {
    ("Position", $value:expr) => {
        format!("{:?}", $value)
    };
    ($kind:tt, $value:expr) => {
        $value.to_string()
    };
}

macro_rules! fields {
    ($($code:ident { $($(#[doc = $doc:literal])+ $name:ident: $ty:ty as $kind:tt,)+ })+) => {
        /// The details of an error. Each code has its own fields. A field that a backend states must be right; an absent one
        /// claims nothing. As `bytes`, `u128::MAX` stands for anything larger.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct ErrorFields {
            $($($(#[doc = $doc])+ pub $name: Option<$ty>,)+)+
        }

        impl ErrorFields {
            /// Each field with its name and, if it is stated, its value as text.
            ///
            /// ```
            /// # use gather_spec::ErrorFields;
            /// let fields = ErrorFields { position: Some(vec![2, 0]), bound: Some(5), ..ErrorFields::default() };
            /// let stated: Vec<String> =
            ///     fields.texts().filter_map(|(name, value)| Some(format!("{name} {}", value?))).collect();
            /// assert_eq!(stated, ["position [2, 0]", "bound 5"]);
            /// ```
            pub fn texts(&self) -> impl Iterator<Item = (&'static str, Option<String>)> {
                let texts = [
                    $($((stringify!($name), self.$name.as_ref().map(|value| text!($kind, value))),)+)+
                ];
                texts.into_iter()
            }
        }

        impl ErrorCode {
            /// The names of the fields that belong to the code; see [`ErrorFields`].
            #[must_use]
            pub const fn fields(self) -> &'static [&'static str] {
                match self {
                    $(Self::$code => &[$(stringify!($name)),+],)+
                    _ => &[],
                }
            }
        }

        impl GatherError {
            /// The fields of this error.
            #[must_use]
            pub fn fields(&self) -> ErrorFields {
                match self.clone() {
                    $(Self::$code { $($name),+ } => {
                        ErrorFields { $($name: $name.into(),)+ ..ErrorFields::default() }
                    })+
                    _ => ErrorFields::default(),
                }
            }
        }
    };
}

error_fields!(fields);

impl ErrorFields {
    /// Whether all fields are absent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
