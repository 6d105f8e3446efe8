//! How long a call may take. A call of virtual size has its own limit, which is lower: a right answer to it
//! costs nothing, and a loop over its span outlasts any limit.

use std::time::Duration;

use gather_spec::{Call, Tensor};

use super::program::ProcessLimits;

/// A call with an empty operand is of virtual size if its operands span more positions than this.
const VIRTUAL: u128 = 1 << 32;

/// A call of virtual size may take at least this many times as long as the slowest call: a backend that
/// compiles each call, or runs on a loaded machine, is slow without being in a loop.
const TIMES_THE_SLOWEST: u32 = 4;

/// How many of them may time out before the others get less time: a backend that loops over one loops over
/// most, and the suite has dozens.
const LOOPS_FORGIVEN: usize = 2;

/// For the others, the divisor of the limit, and the multiple of the slowest call.
const LESS: u32 = 6;
const LESS_TIMES_THE_SLOWEST: u32 = 2;

/// The limits on calls, adapted to what the backend has needed so far.
#[derive(Debug)]
pub(super) struct Patience {
    call: Duration,
    virtual_call: Duration,
    slowest: Duration,
    /// How many calls of virtual size have timed out.
    loops: usize,
}

impl Patience {
    pub(super) const fn new(limits: &ProcessLimits) -> Self {
        Self { call: limits.call, virtual_call: limits.virtual_call, slowest: Duration::ZERO, loops: 0 }
    }

    /// How long a call may take.
    pub(super) fn limit(&self, is_virtual: bool) -> Duration {
        if !is_virtual {
            return self.call;
        }
        let (least, times) = if self.loops < LOOPS_FORGIVEN {
            (self.virtual_call, TIMES_THE_SLOWEST)
        } else {
            (self.virtual_call / LESS, LESS_TIMES_THE_SLOWEST)
        };
        least.max(self.slowest.saturating_mul(times)).min(self.call)
    }

    /// Records that a call was not answered within its limit.
    pub(super) fn timed_out(&mut self, is_virtual: bool) {
        self.loops += usize::from(is_virtual);
    }

    /// Records how long an answered call took, in whole milliseconds because messages show limits.
    pub(super) fn answered(&mut self, took: Duration) {
        let took = Duration::from_millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        self.slowest = self.slowest.max(took);
    }
}

/// Whether some operand is empty, and all together span more than 2^32 positions, without dims of 0.
pub(super) fn is_virtual(call: &Call) -> bool {
    let span = |tensor: &Tensor| -> u128 {
        tensor.shape().iter().filter(|dim| **dim > 0).map(|dim| *dim as u128).product()
    };
    let is_empty = |tensor: &Tensor| tensor.shape().element_count() == 0;
    let spans = call.operands.tensors().map(span);
    call.operands.tensors().any(is_empty) && spans.fold(1, u128::saturating_mul) > VIRTUAL
}

#[cfg(test)]
mod tests {
    use gather_spec::{Attributes, DType, Operator};

    use super::*;

    fn call(params: &[usize], indices: &[usize]) -> Call {
        let tensor = |shape: &[usize]| {
            let count = if shape.contains(&0) { 0 } else { shape.iter().product() };
            Tensor::new(DType::I32, shape, vec![0u32; count]).unwrap()
        };
        let operands = [("params", tensor(params)), ("indices", tensor(indices))].into();
        Call::new(Operator::new("any"), operands, Attributes::new())
    }

    #[test]
    fn a_call_is_virtual_if_it_has_no_elements_and_a_span_beyond_2_to_the_32() {
        for (params, indices, expected) in [
            (&[1 << 40, 0][..], &[1][..], true),
            (&[1], &[1 << 40, 0], true),
            (&[1 << 60, 0], &[1 << 60, 0], true),
            // Only params and indices together exceed the span.
            (&[1 << 20, 0], &[1 << 13, 0], true),
            (&[1 << 20, 0], &[1 << 12, 0], false),
            (&[0, 1 << 32], &[1], false),
            (&[0, (1 << 32) + 1], &[1], true),
            (&[3], &[2], false),
            (&[0], &[0], false),
            // 153 million empty rows are below the span.
            (&[1], &[153_092_023, 0], false),
        ] {
            assert_eq!(is_virtual(&call(params, indices)), expected, "{params:?} {indices:?}");
        }
        // A call without empty operands is real work.
        assert!(!is_virtual(&call(&[1 << 17], &[1 << 17])));
    }

    #[test]
    fn a_virtual_call_has_its_own_limit_which_grows_with_the_slowest_call_up_to_that_of_calls() {
        let seconds = Duration::from_secs;
        let limits =
            ProcessLimits { call: seconds(20), virtual_call: seconds(2), ..ProcessLimits::default() };
        let mut patience = Patience::new(&limits);
        let mut limit_after = |took| {
            patience.answered(Duration::from_millis(took));
            assert_eq!(patience.limit(false), seconds(20));
            patience.limit(true)
        };
        assert_eq!([0, 500, 1500, 1000].map(&mut limit_after), [2, 2, 6, 6].map(seconds));
        assert_eq!(limit_after(7000), seconds(20));
        let short = ProcessLimits { call: seconds(1), ..limits };
        assert_eq!(Patience::new(&short).limit(true), seconds(1));
    }

    #[test]
    fn a_backend_that_loops_over_two_virtual_calls_has_less_time_for_the_others() {
        let mut patience = Patience::new(&ProcessLimits::default());
        patience.answered(Duration::from_millis(100));
        let limits = [true, true, false, true, true].map(|is_virtual| {
            patience.timed_out(is_virtual);
            patience.limit(true).as_millis()
        });
        assert_eq!(limits, [12000, 2000, 2000, 2000, 2000]);
        patience.answered(Duration::from_millis(1500));
        assert_eq!(patience.limit(true).as_millis(), 3000);
        assert_eq!(patience.limit(false), ProcessLimits::default().call);
    }
}
