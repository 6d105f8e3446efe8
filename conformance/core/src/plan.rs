//! Which variants a run is made in.
//!
//! A documented example and a bad index meet every declared value; any other run has one variant, which follows from its id
//! alone, so that a new case changes no other's, and those in layouts that few calls can have. An answer must not depend on the
//! variant: the expectation is the run's.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gather_spec::call::{Variant, Way};
use gather_spec::load::Maker;
use gather_spec::{Case, ErrorCode, Run};

use crate::backend::{Capability, Description};
use crate::variants::compiles;
use crate::words::counted;

/// Which variants of a run are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariantsAsked {
    /// Of each run every value, and the usual variant.
    All,
    /// Of a documented example and a bad index likewise, of each other run one variant, and those in layouts that few calls can have.
    #[default]
    Turns,
    /// The same, and of each run the usual variant, too: for runs that are chosen one by one.
    TurnsAndUsual,
    /// The usual variant, and one in turn.
    Two,
    /// The usual variant only.
    None,
}

impl VariantsAsked {
    /// The variants of a run that is in declared dtypes.
    #[must_use]
    pub fn of(self, capability: &Capability, run: &Run) -> Vec<Variant> {
        let variants = &capability.variants;
        if variants.is_empty() || run.case.large || run.sparse.is_some() || self == Self::None {
            return vec![Variant::default()];
        }
        let turn = turn(&run.id);
        match self {
            Self::All => variants.each(&run.call, turn),
            Self::Turns | Self::TurnsAndUsual if meets_all(run) => variants.each(&run.call, turn),
            _ => {
                let mut asked = vec![variants.in_turn(&run.call, turn)];
                if self != Self::Turns && !asked[0].is_usual() {
                    asked.insert(0, Variant::default());
                }
                // Turns would leave out what few calls can have; of many sizes, some have it in turn.
                if self != Self::Two && !run.case.axes.has_sizes() {
                    variants.add_rare(&run.call, &mut asked);
                }
                asked
            }
        }
    }
}

/// The variants that the runs of a backend are made in, within its budgets of compilations.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariantPlan {
    asked: VariantsAsked,
    /// By operator, the budget and how many compilations all of its runs would take.
    budgets: BTreeMap<String, (u64, u64)>,
}

impl VariantPlan {
    /// A plan for a backend; the budget of an operator is shared by the runs of these cases, chosen or not, so that what is asked
    /// of a run does not depend on what else is. Where every variant is asked for, single runs or few, there is no budget.
    pub(crate) fn new<'a>(
        description: &Description,
        asked: VariantsAsked,
        cases: impl IntoIterator<Item = &'a Arc<Case>>,
    ) -> Self {
        let is_limited = asked == VariantsAsked::Turns;
        let limited = |one: &Capability| one.compilations.filter(|_| is_limited && !one.variants.is_empty());
        let operators = description.operators.iter();
        let mut budgets: BTreeMap<String, (u64, u64)> =
            operators.filter_map(|(name, one)| Some((name.clone(), (limited(one)?, 0)))).collect();
        if budgets.is_empty() {
            return Self { asked, budgets };
        }
        let mut maker = Maker::default();
        for case in cases.into_iter().filter(|case| !case.large) {
            let name = case.operator().as_str();
            let (Some((_, planned)), Some(capability)) =
                (budgets.get_mut(name), description.operators.get(name))
            else {
                continue;
            };
            for run in maker.runs(case) {
                if let Ok(run) = capability.in_declared_dtypes(&run)
                    && capability.excludes(&run).is_none()
                {
                    *planned += asked.of(capability, &run).iter().filter(|one| compiles(one)).count() as u64;
                }
            }
        }
        Self { asked, budgets }
    }

    /// The variants of a run, and how many the budget leaves out.
    pub(crate) fn of(&self, capability: &Capability, run: &Run) -> (Vec<Variant>, usize) {
        let mut variants = self.asked.of(capability, run);
        let all = variants.len();
        if let Some((budget, planned)) = self.budgets.get(run.call.operator.as_str()) {
            // A share of the variants, by a number of each that follows from its id.
            let is_within = |variant: &Variant| {
                let number = turn(&variant.in_id(&run.id)) as u64;
                !compiles(variant) || number % (*planned).max(1) < *budget
            };
            variants.retain(is_within);
        }
        let left_out = all - variants.len();
        if variants.is_empty() {
            variants.push(Variant::default());
        }
        (variants, left_out)
    }

    /// Whether a budget leaves something out of a declared operator.
    pub(crate) fn budget(&self, operator: &str) -> Option<u64> {
        self.budgets.get(operator).filter(|(budget, planned)| planned > budget).map(|(budget, _)| *budget)
    }
}

/// How many calls were planned in variants, and with which values.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariantCount {
    calls: usize,
    ways: BTreeMap<Way, usize>,
}

impl VariantCount {
    /// Counts a call in a variant; none in the usual one.
    pub(crate) fn count(&mut self, variant: &Variant) {
        self.calls += usize::from(!variant.is_usual());
        let ways: BTreeSet<Way> = variant.iter().map(|(_, way)| way).collect();
        ways.into_iter().for_each(|way| *self.ways.entry(way).or_default() += 1);
    }

    /// Adds what another one counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        other.ways.iter().for_each(|(way, calls)| *self.ways.entry(*way).or_default() += calls);
    }

    /// A remark for the report: `120 calls in variants: offset 40, constant 80`; `None` without any.
    pub(crate) fn remark(&self) -> Option<String> {
        let ways: Vec<String> = self.ways.iter().map(|(way, calls)| format!("{way} {calls}")).collect();
        (self.calls > 0).then(|| format!("{} in variants: {}", counted(self.calls, "call"), ways.join(", ")))
    }
}

/// The variant that is meant for a run: `params` and `indices` stand for the operands of these roles.
pub(crate) fn in_names_of<'v>(variant: &'v Variant, case: &Case) -> Cow<'v, Variant> {
    if variant.is_usual() {
        return Cow::Borrowed(variant);
    }
    Cow::Owned(variant.renamed(|axis| match axis {
        "params" => Some(Arc::from(&*case.names.params)),
        "indices" => Some(Arc::from(&*case.names.indices)),
        _ => None,
    }))
}

/// The turn of a run: a number that follows from its id alone, so that a new case changes no other's.
#[must_use]
pub fn turn(id: &str) -> usize {
    // FNV-1a; its high bits are the better ones.
    let hash = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 40) as usize
}

/// Whether a run meets every layout and every variant: it is a documented example, or it has a bad index and its case does not
/// have many sizes.
pub(crate) fn meets_all(run: &Run) -> bool {
    let has_bad_index = || run.expect.arms.len() > 1 || run.expect.rejects(ErrorCode::IndexOutOfRange);
    run.case.documented.is_some() || !run.case.axes.has_sizes() && has_bad_index()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gather_spec::{DType, Profile};

    use super::*;
    use crate::variants::Variants;

    fn capability(compilations: Option<u64>) -> Capability {
        let values = ["operands=transposed", "operands=constant", "shapes=symbolic", "execution=compiled"];
        Capability { variants: Variants::new(values).unwrap(), compilations, ..Capability::default() }
    }

    fn runs() -> impl Iterator<Item = &'static Run> {
        crate::embedded_runs()
            .iter()
            .filter(|run| run.call.operator.as_str() == "tf.gather_nd" && !run.case.large)
    }

    #[test]
    fn a_documented_example_and_a_bad_index_meet_each_value_and_others_take_turns() {
        let capability = capability(None);
        let (mut pairs, mut met) = (BTreeSet::new(), 0);
        for run in runs() {
            let variants = VariantsAsked::Turns.of(&capability, run);
            let all = VariantsAsked::All.of(&capability, run);
            if meets_all(run) {
                met += 1;
                assert_eq!(variants, all, "{}", run.id);
                let values: BTreeSet<String> =
                    all.iter().flat_map(Variant::iter).map(|(axis, way)| format!("{axis}={way}")).collect();
                for value in ["params=constant", "indices=constant", "shapes=symbolic", "execution=compiled"]
                {
                    assert!(
                        values.contains(value) && all.contains(&value.parse().unwrap()),
                        "{}: {value}",
                        run.id
                    );
                }
                assert!(all.contains(&Variant::default()), "{}", run.id);
            } else {
                let [variant] = &variants[..] else { panic!("{}: {variants:?}", run.id) };
                let values: Vec<String> = variant.iter().map(|(axis, way)| format!("{axis}={way}")).collect();
                pairs.extend(
                    values
                        .iter()
                        .flat_map(|one| values.iter().map(move |other| (one.clone(), other.clone()))),
                );
            }
        }
        // Six values, each with itself and with those of other axes.
        assert!(met > 50, "{met}");
        let of_operand = |value: &str| value.split_once('=').unwrap().0.to_owned();
        let values = [
            "params=transposed",
            "params=constant",
            "indices=transposed",
            "indices=constant",
            "shapes=symbolic",
            "execution=compiled",
        ];
        for one in values {
            for other in
                values.into_iter().filter(|other| *other == one || of_operand(other) != of_operand(one))
            {
                assert!(pairs.contains(&(one.to_owned(), other.to_owned())), "{one} never meets {other}");
            }
        }
    }

    /// PyTorch's kernel for indices that repeat is only taken where params lie in rows.
    #[test]
    fn an_operand_whose_slices_are_equal_has_them_once_beside_usual_ones() {
        let variants = Variants::new(["operands=stride-0", "operands=transposed"]).unwrap();
        let capability = Capability { variants, ..Capability::default() };
        let run =
            crate::embedded().run("torch.gather/selection/one-plane-of-rows-of-one-index[f32]").unwrap();
        let alone: Variant = "index=stride-0".parse().unwrap();
        for which in [VariantsAsked::All, VariantsAsked::Turns, VariantsAsked::TurnsAndUsual] {
            assert!(which.of(&capability, &run).contains(&alone), "{which:?}");
        }
    }

    #[test]
    fn a_variant_does_not_depend_on_other_cases_and_none_is_asked_of_who_declares_none() {
        let declares_none = Capability::default();
        for run in runs().take(200) {
            assert_eq!(VariantsAsked::All.of(&declares_none, run), [Variant::default()]);
            assert_eq!(VariantsAsked::None.of(&capability(None), run), [Variant::default()]);
            assert!(VariantsAsked::Two.of(&capability(None), run).len() <= 2);
        }
    }

    #[test]
    fn a_budget_is_a_share_of_the_compilations_and_leaves_layouts_alone() {
        let asked = |compilations, which| {
            let (dtypes, index_dtypes) = (vec![DType::F32], vec![DType::I64]);
            let capability = Capability { dtypes, index_dtypes, ..capability(compilations) };
            let reference = crate::builtin::backend("reference", Profile::default(), 0).unwrap().describe();
            let operators = [("tf.gather_nd".to_owned(), capability.clone())].into();
            let plan =
                VariantPlan::new(&Description { operators, ..reference }, which, &crate::embedded().cases);
            let capability = &capability;
            let (mut compiled, mut laid_out, mut left_out) = (0, 0, 0);
            for run in runs() {
                let run = capability.in_declared_dtypes(run).unwrap();
                if capability.excludes(&run).is_none() {
                    let (variants, left) = plan.of(capability, &run);
                    compiled += variants.iter().filter(|one| compiles(one)).count();
                    laid_out += variants.iter().filter(|one| !one.is_usual() && !compiles(one)).count();
                    left_out += left;
                }
            }
            (compiled, laid_out, left_out)
        };
        let (all, laid_out, none) = asked(None, VariantsAsked::Turns);
        let (few, also_laid_out, left_out) = asked(Some(200), VariantsAsked::Turns);
        assert_eq!((laid_out, all, none), (also_laid_out, few + left_out, 0));
        assert!((100..300).contains(&few) && all > 1000, "{few} of {all}");
        // Who asks for all gets all, and the few calls of a small suite are no matter.
        for which in [VariantsAsked::All, VariantsAsked::TurnsAndUsual, VariantsAsked::Two] {
            assert_eq!(asked(Some(200), which), asked(None, which));
        }
    }
}
