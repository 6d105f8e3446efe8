//! From policies to the types of indices that kernels are compiled for.

/// Calls a function of index type `$of`, or of the type that it is under policies.
macro_rules! under {
    ($policies:expr, $of:ty, $function:ident($($argument:expr),+ $(,)?)) => {{
        use gather_spec::NegativeIndex::{Reject, Wrap};

        use crate::index::{FromEitherEnd, Nearest, Remainder};
        use crate::policy::Bad::{Clamp, Error, Fill, Modulo};
        match ($policies.bad, $policies.negative) {
            (Error | Fill, Reject) => $function::<$of>($($argument),+),
            (Error | Fill, Wrap) => $function::<FromEitherEnd<$of>>($($argument),+),
            (Clamp, Reject) => $function::<Nearest<$of>>($($argument),+),
            (Clamp, Wrap) => $function::<Nearest<FromEitherEnd<$of>>>($($argument),+),
            (Modulo, _) => $function::<Remainder<$of>>($($argument),+),
        }
    }};
}
pub(crate) use under;
