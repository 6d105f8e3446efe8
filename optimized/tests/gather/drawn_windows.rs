//! Drawn calls of windows against the formula of StableHLO's page: every kind of dimension numbers, policy, index type,
//! element width and layout, at every level, on one thread and on several, by every way of running a call.

use std::fmt::Debug;
use std::num::NonZeroUsize;

use gather_optimized::{Element, Index, Level, Options, Plan, Pool, gather_windows, gather_windows_into};
use gather_spec::{BadIndex, NegativeIndex, Profile, Refusal};
use ndarray::{ArrayD, Dimension, IxDyn};
use proptest::prelude::*;

use crate::windows::draws::{DrawnShapes, Draws, Laid, ViewLayout};
use crate::windows::formula;

/// What a bad index gives, and whether as an element of the caller's.
#[derive(Clone, Copy, Debug)]
struct FillPolicy {
    profile: Profile,
    fills: bool,
}

impl FillPolicy {
    fn draw(draws: &mut Draws) -> Self {
        let bad = [BadIndex::Error, BadIndex::Clamp, BadIndex::Zero, BadIndex::Modulo, BadIndex::Error];
        let negative = draws.choose(&[NegativeIndex::Reject, NegativeIndex::Wrap]);
        let bad = draws.choose(&bad);
        Self { profile: Profile { bad, negative }, fills: bad == BadIndex::Zero && draws.one_in(2) }
    }
}

/// A call on arrays, with indices at both ends of what fits.
struct DrawnCall<A, I> {
    shapes: DrawnShapes,
    params: Laid<A>,
    indices: Laid<I>,
    policy: FillPolicy,
    options: Options,
}

impl<A: Clone + Default, I: Index + TryFrom<i128>> DrawnCall<A, I> {
    fn draw(draws: &mut Draws, element: impl Fn(usize) -> A) -> Self {
        let shapes = DrawnShapes::draw(draws);
        let policy = FillPolicy::draw(draws);
        let levels: Vec<Level> = Level::available().collect();
        let threads = NonZeroUsize::new(draws.choose(&[1, 2, 5])).expect("positive");
        let options =
            Options::new().profile(policy.profile).level(draws.choose(&levels)).exactly_threads(threads);
        let (params_layout, indices_layout) =
            (draws.choose(&ViewLayout::ALL), draws.choose(&ViewLayout::ALL));
        let len: usize = shapes.params.iter().product();
        let params = ArrayD::from_shape_vec(IxDyn(&shapes.params), (1..=len).map(element).collect());
        let params = Laid::new(params_layout, &params.expect("as many elements"), A::default());
        // A call that must be refused says little about all others.
        let wild = policy.profile.bad != BadIndex::Error || draws.one_in(4);
        let mut values = draws.endless();
        let index = |position: IxDyn| {
            index(&mut values, shapes.bound(shapes.component(position.slice())), policy, wild)
        };
        let indices = ArrayD::from_shape_fn(IxDyn(&shapes.indices), index);
        let garbage = I::try_from(100).unwrap_or_else(|_| unreachable!("every type has 100"));
        let indices = Laid::new(indices_layout, &indices, garbage);
        Self { shapes, params, indices, policy, options }
    }

    /// What every way of running the call must give.
    fn expected(&self, fill: &A) -> Result<ArrayD<A>, Refusal> {
        let DrawnShapes { numbers, slice_sizes, .. } = &self.shapes;
        let (params, indices) = (self.params.view(), self.indices.view());
        let output = formula::gather(&params, &indices, numbers, slice_sizes, self.policy.profile)?;
        Ok(output.map(|element| element.as_ref().unwrap_or(fill).clone()))
    }

    fn plan<Z: Clone>(&self, options: &Options<Z>) -> Plan<Z> {
        let DrawnShapes { params, indices, numbers, .. } = &self.shapes;
        Plan::gather_windows(params, indices, numbers, &self.sizes(), options).expect("the numbers are right")
    }

    fn sizes(&self) -> Vec<i64> {
        self.shapes.slice_sizes.iter().map(|size| i64::try_from(*size).expect("small")).collect()
    }

    fn describe(&self) -> String {
        format!("{:?}, {:?}, {:?}", self.shapes, self.policy, self.options)
    }
}

/// An index that is a good one for a bound, or, if `wild`, now and then one beside the ends or far away.
fn index<I: Index + TryFrom<i128>>(draws: &mut Draws, bound: usize, policy: FillPolicy, wild: bool) -> I {
    let (bound, at) = (i128::try_from(bound).expect("small"), draws.below(bound));
    let good = i128::try_from(at).expect("small");
    let wraps = policy.profile.negative == NegativeIndex::Wrap && draws.one_in(3);
    let good = if wraps { good - bound } else { good };
    let far = [-1, bound, -bound - 1, -bound, i128::from(i64::MIN), i128::from(u64::MAX), 127, 255];
    let drawn = if wild && draws.one_in(4) { draws.choose(&far) } else { good };
    // What the type has no room for is replaced by a good one, and that by 0 where it is negative.
    let fits = [drawn, good, 0].into_iter().find_map(|value| I::try_from(value).ok());
    fits.unwrap_or_else(|| unreachable!("every type has 0"))
}

/// Runs a call of elements that are moved, in every way.
fn moved<A, I>(draws: &mut Draws, element: impl Fn(usize) -> A)
where
    A: Element + PartialEq + Debug + 'static,
    I: Index + TryFrom<i128>,
{
    let fill = element(99);
    let call = DrawnCall::<A, I>::draw(draws, element);
    if call.policy.fills {
        every_way(&call, &call.options.fill(fill), fill);
    } else {
        every_way(&call, &call.options, A::default());
    }
}

fn every_way<A, I, Z>(call: &DrawnCall<A, I>, options: &Options<Z>, fill: A)
where
    A: Element + PartialEq + Debug + 'static,
    I: Index + TryFrom<i128>,
    Z: gather_optimized::Fill<A> + Clone,
{
    let (params, indices) = (call.params.view(), call.indices.view());
    let (numbers, sizes) = (&call.shapes.numbers, call.sizes());
    let plan = call.plan(options);
    let len = plan.output_shape().iter().product();
    let fresh = gather_windows(&params, &indices, numbers, &sizes, options);
    if call.shapes.undefined(len) {
        assert!(matches!(fresh, Err(Refusal::Unsupported(_))), "{}: {fresh:?}", call.describe());
        return;
    }
    let expected = call.expected(&fill);
    assert_eq!(fresh, expected, "{}", call.describe());
    assert_eq!(plan.run(&params, &indices), expected, "plan, {}", call.describe());
    let pooled = plan.run_pooled(&params, &indices, &Pool::new(1 << 20));
    let pooled = pooled.map(|output| output.view().to_owned());
    assert_eq!(pooled, expected, "pooled, {}", call.describe());
    assert_eq!(plan.run_cloned(&params, &indices), expected, "cloned, {}", call.describe());
    // Garbage that no element is shows what is left unwritten.
    let garbage = ArrayD::from_elem(IxDyn(plan.output_shape()), fill);
    let (mut into, mut by_plan) = (garbage.clone(), garbage);
    let written = gather_windows_into(&params, &indices, numbers, &sizes, &mut into, options);
    assert_eq!(written.map(|()| into), expected, "into, {}", call.describe());
    let written = plan.run_into(&params, &indices, &mut by_plan);
    assert_eq!(written.map(|()| by_plan), expected, "plan into, {}", call.describe());
}

/// Runs a call of strings, which are cloned.
fn cloned<I: Index + TryFrom<i128>>(draws: &mut Draws) {
    let call = DrawnCall::<String, I>::draw(draws, |at| at.to_string());
    let plan = call.plan(&call.options.fill("spoilt".to_owned()));
    let (params, indices) = (call.params.view(), call.indices.view());
    let found = plan.run_cloned(&params, &indices);
    if call.shapes.undefined(plan.output_shape().iter().product()) {
        assert!(matches!(found, Err(Refusal::Unsupported(_))), "{}: {found:?}", call.describe());
        return;
    }
    // Choosing a fill replaces the policy that was chosen.
    let policy = FillPolicy { profile: Profile { bad: BadIndex::Zero, ..call.policy.profile }, fills: true };
    let call = DrawnCall { policy, ..call };
    assert_eq!(found, call.expected(&"spoilt".to_owned()), "{}", call.describe());
}

/// Kinds of calls that must be drawn, or the tests below say little.
#[test]
fn drawn_calls_are_of_every_kind() {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for seed in 1..=2000u64 {
        let draws = &mut Draws::new(vec![seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)]).endless();
        let call = DrawnCall::<u32, i64>::draw(draws, word);
        let outcome = if call.shapes.undefined(call.plan(&call.options).output_shape().iter().product()) {
            "undefined"
        } else {
            match call.expected(&0) {
                Ok(output) if output.is_empty() => "empty output",
                Ok(_) => "output",
                Err(_) => "refused",
            }
        };
        for kind in call.shapes.kinds().into_iter().chain([outcome]) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    assert!(counts.values().all(|count| *count >= 30), "{counts:?}");
    assert_eq!(counts.len(), 16, "{counts:?}");
    assert!(counts["output"] >= 1000, "{counts:?}");
}

fn small(at: usize) -> u8 {
    u8::try_from(at % 251).expect("small")
}

fn word(at: usize) -> u32 {
    u32::try_from(at).expect("small")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// Elements of every width.
    #[test]
    fn elements_of_every_width(numbers in prop::collection::vec(any::<u64>(), 0..96), width in 0usize..6) {
        let draws = &mut Draws::new(numbers);
        match width {
            0 => moved::<u8, i64>(draws, small),
            1 => moved::<u16, i64>(draws, |at| u16::try_from(at % 65_521).expect("small")),
            2 => moved::<u32, i64>(draws, word),
            3 => moved::<u64, i64>(draws, |at| at as u64),
            4 => moved::<u128, i64>(draws, |at| at as u128),
            _ => moved::<[u8; 3], i64>(draws, |at| [small(at), small(at / 251), 7]),
        }
    }

    /// Indices of every type.
    #[test]
    fn indices_of_every_type(numbers in prop::collection::vec(any::<u64>(), 0..96), dtype in 0usize..8) {
        let draws = &mut Draws::new(numbers);
        match dtype {
            0 => moved::<u32, i8>(draws, word),
            1 => moved::<u32, i16>(draws, word),
            2 => moved::<u32, i32>(draws, word),
            3 => moved::<u32, i64>(draws, word),
            4 => moved::<u32, u8>(draws, word),
            5 => moved::<u32, u16>(draws, word),
            6 => moved::<u32, u32>(draws, word),
            _ => moved::<u32, u64>(draws, word),
        }
    }

    /// Elements that are cloned.
    #[test]
    fn strings(numbers in prop::collection::vec(any::<u64>(), 0..96)) {
        cloned::<i32>(&mut Draws::new(numbers));
    }
}
