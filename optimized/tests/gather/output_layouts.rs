//! Outputs of every layout, in the middle of other memory: what is written there is what a new row-major array gets, and
//! nothing else in that memory changes.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of elements of small test arrays"
)]

use std::fmt::Debug;
use std::num::NonZeroUsize;

use gather_optimized::{Element, Index, Level, Options, Plan};
use gather_spec::{BadIndex, DimensionNumbers, NegativeIndex, Refusal};
use ndarray::{ArrayD, ArrayViewMutD, Axis, IxDyn, Slice};
use proptest::prelude::*;

/// Where an output lies: by axis, what is drawn for it.
#[derive(Clone, Debug)]
struct OutputLayout {
    /// Orders the axes in memory.
    order: Vec<usize>,
    /// Steps from element to element, negative ones backwards.
    steps: Vec<isize>,
    /// Elements of the memory before and after those of the output.
    margins: Vec<(usize, usize)>,
}

impl OutputLayout {
    const PLAIN: (isize, (usize, usize)) = (1, (0, 0));

    /// A layout that is row-major without gaps but along some axes.
    fn but(rank: usize, axes: &[(usize, isize, (usize, usize))]) -> Self {
        let mut all = vec![Self::PLAIN; rank];
        axes.iter().for_each(|(axis, step, margin)| all[*axis] = (*step, *margin));
        let (steps, margins) = all.into_iter().unzip();
        Self { order: (0..rank).collect(), steps, margins }
    }

    fn transposed(rank: usize) -> Self {
        Self { order: (0..rank).rev().collect(), ..Self::but(rank, &[]) }
    }

    /// Memory that has room for an output of this shape.
    fn memory<A: Clone>(&self, shape: &[usize], garbage: &A) -> ArrayD<A> {
        let dims = self.order.iter().map(|axis| {
            let (before, after) = self.margins[*axis];
            before + after + shape[*axis] * self.steps[*axis].unsigned_abs()
        });
        ArrayD::from_elem(IxDyn(&dims.collect::<Vec<_>>()), garbage.clone())
    }

    /// The output in that memory.
    fn place<'a, A>(&self, shape: &[usize], memory: &'a mut ArrayD<A>) -> ArrayViewMutD<'a, A> {
        let mut view = memory.view_mut();
        for (place, axis) in self.order.iter().enumerate() {
            let (before, step) = (self.margins[*axis].0, self.steps[*axis]);
            let end = before + shape[*axis] * step.unsigned_abs();
            let signed = |at: usize| isize::try_from(at).expect("small");
            view.slice_axis_inplace(Axis(place), Slice::new(signed(before), Some(signed(end)), step));
        }
        let places: Vec<usize> = (0..shape.len())
            .map(|axis| self.order.iter().position(|other| *other == axis).expect("an axis"))
            .collect();
        view.permuted_axes(IxDyn(&places))
    }
}

fn layout(rank: usize) -> impl Strategy<Value = OutputLayout> {
    let order = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let in_order = Just((0..rank).collect::<Vec<_>>());
    let steps = prop::collection::vec(prop::sample::select(vec![1, 1, 1, -1, 2, -3]), rank);
    let margins = prop::collection::vec(prop::sample::select(vec![(0, 0), (0, 0), (0, 1), (2, 1)]), rank);
    (prop_oneof![order, in_order], steps, margins).prop_map(|(order, steps, margins)| OutputLayout {
        order,
        steps,
        margins,
    })
}

/// Runs a plan into an output of this layout, and compares it and the memory around it with the row-major result.
fn check<A: Element + PartialEq + Debug, I: Index>(
    plan: &Plan,
    params: &ArrayD<A>,
    indices: &ArrayD<I>,
    layout: &OutputLayout,
    garbage: A,
) {
    let shape = plan.output_shape().to_vec();
    let mut memory = layout.memory(&shape, &garbage);
    let mut wanted = memory.clone();
    let fresh = plan.run(params, indices);
    let into = plan.run_into(params, indices, &mut layout.place(&shape, &mut memory));
    match &fresh {
        Ok(output) => layout.place(&shape, &mut wanted).assign(output),
        // What was written before the bad index was found is unspecified, but not where.
        Err(_) => {
            let written = layout.place(&shape, &mut memory).to_owned();
            layout.place(&shape, &mut wanted).assign(&written);
        }
    }
    assert_eq!(into, fresh.map(drop), "{layout:?}");
    assert!(memory == wanted, "{shape:?} in {layout:?}, {:?}", plan.level());
}

fn counted<A>(shape: &[usize], element: impl Fn(usize) -> A) -> ArrayD<A> {
    let count: usize = shape.iter().product();
    ArrayD::from_shape_vec(IxDyn(shape), (0..count).map(element).collect()).expect("its shape")
}

/// Levels by numbers of threads.
fn ways() -> impl Iterator<Item = Options> {
    Level::available().flat_map(|level| {
        [1, 3].map(|threads| {
            Options::new().level(level).exactly_threads(NonZeroUsize::new(threads).expect("positive"))
        })
    })
}

type PlanMaker = fn(&[usize], &[usize], &Options) -> Result<Plan, Refusal>;

/// A kind of call: its plan, its shapes, and how large an index may be in each component.
#[derive(Clone, Copy, Debug)]
struct CallKind {
    plan: PlanMaker,
    params: &'static [usize],
    indices: &'static [usize],
    bounds: &'static [usize],
}

fn windows(params: &[usize], indices: &[usize], options: &Options) -> Result<Plan, Refusal> {
    let numbers = DimensionNumbers {
        offset_dims: vec![1, 2],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    };
    Plan::gather_windows(params, indices, &numbers, &[2, 5], options)
}

const fn kind(
    plan: PlanMaker,
    params: &'static [usize],
    indices: &'static [usize],
    bounds: &'static [usize],
) -> CallKind {
    CallKind { plan, params, indices, bounds }
}

/// Every kernel that a job may choose: rows, single elements, planes, points, slices of several dims, windows.
const KINDS: [CallKind; 12] = [
    kind(Plan::gather, &[7, 5], &[33], &[7]),
    kind(Plan::gather, &[9], &[5, 70], &[9]),
    kind(Plan::gather, &[300], &[3, 300], &[300]),
    kind(|p, i, options| Plan::gather(p, i, &options.axis(1)), &[3, 6, 4], &[5], &[6]),
    kind(|p, i, options| Plan::gather(p, i, &options.batch_dims(1)), &[3, 6, 2, 3], &[3, 9], &[6]),
    kind(|p, i, options| Plan::gather(p, i, &options.batch_dims(1)), &[40, 7], &[40, 1], &[7]),
    kind(Plan::gather_nd, &[4, 5], &[70, 2], &[4, 5]),
    kind(Plan::gather_nd, &[3, 4, 2, 5], &[3, 4, 2], &[3, 4]),
    kind(Plan::gather_nd, &[3, 2], &[4, 0], &[]),
    kind(|p, i, options| Plan::take_along_axis(p, i, &options.axis(1)), &[5, 8, 3], &[5, 6, 3], &[8]),
    kind(|p, i, options| Plan::take_along_axis(p, i, &options.axis(0)), &[8, 17], &[20, 1], &[8]),
    kind(windows, &[4, 9], &[18, 2], &[3, 5]),
];

impl CallKind {
    /// Good indices, or in rows that `spoiled` chooses ones below 0 or past the axis.
    fn indices(&self, spoiled: Option<usize>) -> ArrayD<i64> {
        counted(self.indices, |at| {
            let (row, component) = (at / self.bounds.len().max(1), at % self.bounds.len().max(1));
            let bound = i64::try_from(self.bounds.get(component).copied().unwrap_or(1)).expect("small");
            let good = i64::try_from(row * 7 + component * 3).expect("small") % bound;
            match spoiled {
                Some(every) if row % every == every / 2 => good + bound * if row % 2 == 0 { -1 } else { 2 },
                _ => good,
            }
        })
    }
}

fn policies() -> impl Iterator<Item = Options> {
    let bad = [BadIndex::Error, BadIndex::Zero, BadIndex::Clamp, BadIndex::Modulo];
    let negative = [NegativeIndex::Reject, NegativeIndex::Wrap];
    bad.into_iter()
        .flat_map(move |bad| negative.map(|negative| Options::new().bad_index(bad).negative_index(negative)))
}

proptest! {
    #[test]
    fn drawn_layouts_hold_what_a_new_array_does(
        (kind, layout) in prop::sample::select(KINDS.to_vec()).prop_flat_map(|kind| {
            let plan = (kind.plan)(kind.params, kind.indices, &Options::new()).expect("a plan");
            (Just(kind), layout(plan.output_shape().len()))
        }),
        spoiled in prop::option::of(2..40usize),
    ) {
        let indices = kind.indices(spoiled);
        for policies in policies() {
            for way in ways() {
                let options = way.profile(policies.get_profile());
                let plan = (kind.plan)(kind.params, kind.indices, &options).expect("a plan");
                let small = |at: usize| u8::try_from(at % 251 + 1).expect("small");
                check(&plan, &counted(kind.params, small), &indices, &layout, 255);
                check(&plan, &counted(kind.params, |at| at as u32 + 1), &indices, &layout, u32::MAX);
                check(&plan, &counted(kind.params, |at| [small(at), 1, 2]), &indices, &layout, [255; 3]);
                check(&plan, &counted(kind.params, |at| at as u128 + 1), &indices, &layout, u128::MAX);
            }
        }
    }
}

/// Runs of rows without a gap around the length from which each is a job of its own, and around blocks of checked rows.
#[test]
fn runs_of_every_length_are_written() {
    for rows in [255, 256, 257, 1023, 1024, 1025] {
        for (params, last) in [(&[40][..], None), (&[40, 3], Some(1)), (&[40, 16], None)] {
            let shape = [&[3, rows], &params[1..]].concat();
            let rank = shape.len();
            let layouts = [
                OutputLayout::but(rank, &[(1, 1, (0, 1))]),
                OutputLayout::but(rank, &[(0, -2, (1, 0))]),
                OutputLayout::but(rank, &[(rank - 1, last.unwrap_or(2), (2, 2))]),
                OutputLayout::transposed(rank),
            ];
            let indices = counted(&[3, rows], |at| i32::try_from(at * 7 % 40).expect("small"));
            for options in ways() {
                let plan = Plan::gather(params, &[3, rows], &options).expect("a plan");
                for layout in &layouts {
                    check(&plan, &counted(params, |at| at as u16 + 1), &indices, layout, u16::MAX);
                    check(&plan, &counted(params, |at| at as u64 + 1), &indices, layout, u64::MAX);
                }
            }
        }
    }
}

/// Rows that are cut for threads to share, in outputs whose own runs are as long, longer, and shorter.
#[test]
fn long_rows_are_written_whatever_the_runs_of_the_output() {
    let params = counted(&[3, 3, 40_000], |at| at as u32 + 1);
    let indices = counted(&[2], |at| 2 - at as u64);
    let layouts = [
        OutputLayout::but(3, &[(0, 1, (0, 1)), (2, 1, (0, 3))]),
        OutputLayout::but(3, &[(1, 2, (0, 0))]),
        OutputLayout::but(3, &[(0, -1, (0, 0))]),
        OutputLayout::but(3, &[(2, -1, (0, 0))]),
    ];
    for options in ways() {
        let plan = Plan::gather(&[3, 3, 40_000], &[2], &options).expect("a plan");
        layouts.iter().for_each(|layout| check(&plan, &params, &indices, layout, u32::MAX));
    }
}

/// Slices of transposed params have an order of their own, which needs whole slices.
#[test]
fn slices_of_elements_apart_are_written() {
    for len in [16, 255, 256, 257, 600] {
        let params = counted(&[len, 20], |at| at as u32 + 1).reversed_axes();
        let indices = counted(&[30], |at| i64::try_from(at * 3 % 20).expect("small"));
        for options in ways() {
            let plan = Plan::gather(&[20, len], &[30], &options).expect("a plan");
            let layouts = [
                OutputLayout::but(2, &[(1, 1, (1, 1))]),
                OutputLayout::but(2, &[(0, 2, (0, 0))]),
                OutputLayout::but(2, &[(1, 3, (0, 0))]),
                OutputLayout::transposed(2),
            ];
            layouts.iter().for_each(|layout| check(&plan, &params, &indices, layout, u32::MAX));
        }
    }
    // Two dims of one slice are one axis, of which a run of the output is a part.
    let params = counted(&[20, 300, 20], |at| at as u32 + 1).permuted_axes(IxDyn(&[2, 0, 1]));
    let indices = counted(&[30], |at| i64::try_from(at * 3 % 20).expect("small"));
    for options in ways() {
        let plan = Plan::gather(&[20, 20, 300], &[30], &options).expect("a plan");
        check(&plan, &params, &indices, &OutputLayout::but(3, &[(2, 1, (0, 1))]), u32::MAX);
    }
}

/// Params that do not stay in a cache, forwards and backwards: rows are asked for ahead.
#[test]
fn rows_from_memory_are_written() {
    for (row, backwards) in [1, 5, 16, 64, 100].into_iter().flat_map(|row| [(row, false), (row, true)]) {
        let rows = 1_200_000 / row;
        let mut params = counted(&[rows, row], |at| at as u32 + 1);
        if backwards {
            params.invert_axis(Axis(0));
        }
        let indices = counted(&[1500], |at| i32::try_from(at * 7919 % rows).expect("small"));
        for options in ways() {
            let plan = Plan::gather(&[rows, row], &[1500], &options).expect("a plan");
            check(&plan, &params, &indices, &OutputLayout::but(2, &[(1, 1, (3, 2))]), u32::MAX);
            check(&plan, &params, &indices, &OutputLayout::transposed(2), u32::MAX);
        }
    }
}

#[test]
fn values_of_the_callers_fill_rows_in_every_layout() {
    let params = counted(&[9, 5], |at| at as u32 + 1);
    for options in ways() {
        let indices = counted(&[2000], |at| if at % 3 == 0 { 9 + at } else { at % 9 } as u64);
        let plan = Plan::gather(&[9, 5], &[2000], &options.fill(77u32)).expect("a plan");
        let expected = plan.run(&params, &indices).expect("an output");
        for layout in [
            OutputLayout::but(2, &[(1, 1, (1, 0))]),
            OutputLayout::but(2, &[(1, 2, (0, 0))]),
            OutputLayout::transposed(2),
        ] {
            let mut memory = layout.memory(&[2000, 5], &0);
            plan.run_into(&params, &indices, &mut layout.place(&[2000, 5], &mut memory)).expect("an output");
            assert_eq!(layout.place(&[2000, 5], &mut memory), expected, "{layout:?}");
        }
    }
}

/// Outputs without elements, and elements without params to be.
#[test]
fn nothing_is_gathered_into_every_layout() {
    let zero = Options::new().bad_index(BadIndex::Zero);
    let plan = Plan::gather(&[0, 3], &[4], &zero).expect("a plan");
    let (params, indices) = (ArrayD::<u8>::zeros(vec![0, 3]), counted(&[4], |at| at as u32));
    check(&plan, &params, &indices, &OutputLayout::but(2, &[(1, -2, (1, 1))]), 9);
    check(&plan, &params, &indices, &OutputLayout::transposed(2), 9);
    let refused = Plan::gather(&[0, 3], &[4], &Options::new()).expect("a plan");
    check(&refused, &params, &indices, &OutputLayout::but(2, &[(1, -2, (1, 1))]), 9);
    let none = Plan::gather(&[5, 0], &[4], &Options::new()).expect("a plan");
    check(&none, &ArrayD::<u8>::zeros(vec![5, 0]), &indices, &OutputLayout::but(2, &[(0, 2, (1, 1))]), 9);
}

#[test]
fn cloned_elements_are_written_in_every_layout() {
    let names = counted(&[6, 4], |at| format!("name {at}"));
    let indices = counted(&[9], |at| i64::try_from(at * 5 % 6).expect("small"));
    let plan = Plan::gather(&[6, 4], &[9], &Options::new()).expect("a plan");
    let expected = plan.run_cloned(&names, &indices).expect("an output");
    for layout in [OutputLayout::but(2, &[(1, -2, (1, 0))]), OutputLayout::transposed(2)] {
        let mut memory = layout.memory(&[9, 4], &String::new());
        plan.run_cloned_into(&names, &indices, &mut layout.place(&[9, 4], &mut memory)).expect("an output");
        assert_eq!(layout.place(&[9, 4], &mut memory), expected, "{layout:?}");
        assert_eq!(memory.iter().filter(|name| !name.is_empty()).count(), 36, "the gaps are left alone");
    }
}

#[test]
fn an_output_of_another_shape_is_refused_in_any_layout() {
    let plan = Plan::gather(&[3, 2], &[4], &Options::new()).expect("a plan");
    let (params, indices) = (ArrayD::<u8>::zeros(vec![3, 2]), ArrayD::<u8>::zeros(vec![4]));
    for shape in [&[2, 4][..], &[8], &[4, 1], &[4, 2, 1]] {
        let layout = OutputLayout::but(shape.len(), &[(0, 2, (0, 0))]);
        let mut memory = layout.memory(shape, &7);
        let refused = plan.run_into(&params, &indices, &mut layout.place(shape, &mut memory));
        assert!(matches!(refused, Err(Refusal::Unsupported(_))), "{shape:?}");
        assert!(memory.iter().all(|element| *element == 7));
    }
}
