//! Views that are strided, reversed or of stride 0 over memory that ends at inaccessible pages, for params and indices
//! of every kind of workload: a step in the wrong direction kills the test.

#![cfg(unix)]

use std::num::NonZeroUsize;

use crate::support::{GuardedElements, Touching};
use gather_optimized::{Level, Options, Plan};
use gather_spec::DimensionNumbers;
use ndarray::{ArrayD, ArrayView, ArrayViewD, Axis, IxDyn, Slice};

/// How a view lies over its memory.
#[derive(Clone, Copy, Debug)]
enum ViewLayout {
    Plain,
    /// Every second element along every axis, the last one at the very end of the memory.
    Strided,
    /// Every axis backwards.
    Reversed,
    /// The first axis backwards, so that rows are as they were.
    Upturned,
    /// Axes in the opposite order.
    Transposed,
    /// The first axis repeats its one element.
    Repeated,
}

const LAYOUTS: [ViewLayout; 6] = [
    ViewLayout::Plain,
    ViewLayout::Strided,
    ViewLayout::Reversed,
    ViewLayout::Upturned,
    ViewLayout::Transposed,
    ViewLayout::Repeated,
];

impl ViewLayout {
    /// The shape of the memory under a view of this shape.
    fn memory(self, shape: &[usize]) -> Vec<usize> {
        match self {
            Self::Plain | Self::Reversed | Self::Upturned => shape.to_vec(),
            Self::Strided => shape.iter().map(|dim| 2 * dim - 1).collect(),
            Self::Transposed => shape.iter().rev().copied().collect(),
            Self::Repeated => [&[1], &shape[1..]].concat(),
        }
    }

    /// The view of this shape over such memory.
    fn view<'a, A>(self, shape: &[usize], memory: &'a [A]) -> ArrayViewD<'a, A> {
        let mut view = ArrayView::from_shape(IxDyn(&self.memory(shape)), memory).expect("its shape");
        match self {
            Self::Plain => view,
            Self::Reversed | Self::Strided => {
                let step = if matches!(self, Self::Strided) { 2 } else { -1 };
                for axis in 0..shape.len() {
                    view.slice_axis_inplace(Axis(axis), Slice::new(0, None, step));
                }
                view
            }
            Self::Upturned => {
                view.invert_axis(Axis(0));
                view
            }
            Self::Transposed => view.reversed_axes(),
            Self::Repeated => {
                // Broadcasting borrows the view, whose lifetime is too short: the same view, made from strides.
                let mut strides: Vec<usize> = view.strides().iter().map(|step| step.unsigned_abs()).collect();
                strides[0] = 0;
                let whole = ndarray::ShapeBuilder::strides(IxDyn(shape), IxDyn(&strides));
                ArrayView::from_shape(whole, memory).expect("a view within its memory")
            }
        }
    }
}

/// A kind of workload: its plan, its shapes, and how large an index may be in each component.
struct WorkloadKind {
    name: &'static str,
    plan: fn(&[usize], &[usize], &Options) -> Plan,
    params: &'static [usize],
    indices: &'static [usize],
    bounds: &'static [usize],
}

fn nd(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::gather_nd(params, indices, options).expect("a plan")
}

fn batched_nd(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::gather_nd(params, indices, &options.batch_dims(1)).expect("a plan")
}

fn first(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::gather(params, indices, options).expect("a plan")
}

fn last(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::gather(params, indices, &options.axis(-1)).expect("a plan")
}

fn batched(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::gather(params, indices, &options.batch_dims(1)).expect("a plan")
}

fn along_first(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::take_along_axis(params, indices, &options.axis(0)).expect("a plan")
}

fn along_second(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    Plan::take_along_axis(params, indices, &options.axis(1)).expect("a plan")
}

/// Windows of 3 x 2 x 4 with starts on the first two dims.
fn windows(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    let numbers = DimensionNumbers {
        offset_dims: vec![1, 2, 3],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..DimensionNumbers::default()
    };
    Plan::gather_windows(params, indices, &numbers, &[3, 2, 4], options).expect("a plan")
}

/// Windows of 17 of each row, by the starts that the row has in indices, before the dims of which the window has its own.
fn batching_windows(params: &[usize], indices: &[usize], options: &Options) -> Plan {
    let numbers = DimensionNumbers {
        offset_dims: vec![0],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        start_index_map: vec![1],
        index_vector_dim: 2,
        ..DimensionNumbers::default()
    };
    Plan::gather_windows(params, indices, &numbers, &[1, 17], options).expect("a plan")
}

const KINDS: [WorkloadKind; 18] = [
    WorkloadKind { name: "scalars", plan: first, params: &[61], indices: &[67], bounds: &[61] },
    WorkloadKind { name: "windows", plan: windows, params: &[5, 7, 6], indices: &[33, 2], bounds: &[3, 6] },
    WorkloadKind {
        name: "batching windows",
        plan: batching_windows,
        params: &[3, 21],
        indices: &[3, 19],
        bounds: &[5],
    },
    WorkloadKind { name: "rows", plan: first, params: &[7, 5], indices: &[33], bounds: &[7] },
    // Long enough, and enough of them, for an order of their own where their elements lie apart.
    WorkloadKind { name: "wide rows", plan: first, params: &[7, 37], indices: &[33], bounds: &[7] },
    WorkloadKind {
        name: "batched wide rows",
        plan: batched_nd,
        params: &[3, 5, 17],
        indices: &[3, 6, 1],
        bounds: &[5],
    },
    WorkloadKind { name: "last axis", plan: last, params: &[5, 19], indices: &[35], bounds: &[19] },
    WorkloadKind { name: "batched rows", plan: batched, params: &[3, 7, 5], indices: &[3, 17], bounds: &[7] },
    WorkloadKind {
        name: "batched last axis",
        plan: batched,
        params: &[3, 19],
        indices: &[3, 33],
        bounds: &[19],
    },
    WorkloadKind { name: "points", plan: nd, params: &[5, 7], indices: &[65, 2], bounds: &[5, 7] },
    WorkloadKind { name: "slices", plan: nd, params: &[3, 4, 5, 2], indices: &[33, 3], bounds: &[3, 4, 5] },
    WorkloadKind {
        name: "batched nd",
        plan: batched_nd,
        params: &[3, 4, 5, 2],
        indices: &[3, 9, 2],
        bounds: &[4, 5],
    },
    WorkloadKind {
        name: "along the first axis",
        plan: along_first,
        params: &[7, 19],
        indices: &[9, 19],
        bounds: &[7],
    },
    WorkloadKind {
        name: "along a middle axis",
        plan: along_second,
        params: &[3, 7, 5],
        indices: &[3, 9, 5],
        bounds: &[7],
    },
    WorkloadKind {
        name: "along the last axis",
        plan: along_second,
        params: &[5, 19],
        indices: &[5, 70],
        bounds: &[19],
    },
    WorkloadKind {
        name: "along short rows",
        plan: along_second,
        params: &[33, 7],
        indices: &[33, 5],
        bounds: &[7],
    },
    WorkloadKind {
        name: "along, whole rows",
        plan: along_first,
        params: &[7, 19],
        indices: &[33, 1],
        bounds: &[7],
    },
    WorkloadKind {
        name: "along, one column",
        plan: along_first,
        params: &[7, 1],
        indices: &[9, 19],
        bounds: &[7],
    },
];

/// The elements of a view in order, copied to memory without gaps.
fn dense<A: Clone>(view: &ArrayViewD<'_, A>) -> ArrayD<A> {
    let elements = view.iter().cloned().collect();
    ArrayD::from_shape_vec(view.raw_dim(), elements).expect("its shape")
}

fn check(
    kind: &WorkloadKind,
    params_layout: ViewLayout,
    indices_layout: ViewLayout,
    touching: Touching,
    level: Level,
    threads: usize,
) {
    let params_len: usize = params_layout.memory(kind.params).iter().product();
    let painted: Vec<u32> = (0..u32::try_from(params_len).expect("small")).collect();
    let params = GuardedElements::new(&painted, touching);
    let params = params_layout.view(kind.params, &params);
    let indices_len: usize = indices_layout.memory(kind.indices).iter().product();
    let zeros = GuardedElements::new(&vec![0i32; indices_len], touching);
    let mut painted: Vec<i32> = vec![0; indices_len];
    // What lies between the indices of the view is bad, so that an index from the wrong place is found out.
    painted.fill(-1);
    let view = indices_layout.view(kind.indices, &zeros);
    let start = zeros.as_ptr();
    for (at, place) in view.iter().enumerate() {
        let depth = kind.bounds.len();
        let bound = kind.bounds[at % depth];
        let index = i32::try_from(bound - 1 - at / depth * 7 % bound).expect("small");
        let place = (std::ptr::from_ref(place).addr() - start.addr()) / size_of::<i32>();
        // Where a view repeats or is transposed, the component's own bound still holds.
        painted[place] = index;
    }
    let indices = GuardedElements::new(&painted, touching);
    let indices = indices_layout.view(kind.indices, &indices);
    let options = Options::new().level(level).exactly_threads(NonZeroUsize::new(threads).expect("positive"));
    let plan = (kind.plan)(kind.params, kind.indices, &options);
    let output = plan.run(&params, &indices).expect("good indices");
    let plain = (kind.plan)(kind.params, kind.indices, &Options::new());
    let expected = plain.run(&dense(&params), &dense(&indices)).expect("good indices");
    let name = kind.name;
    assert_eq!(
        output, expected,
        "{name}, {params_layout:?}, {indices_layout:?}, {touching:?}, {level}, {threads}"
    );
}

/// Every kind of workload by every pair of layouts, at every level, touching both ends, on one thread and on three.
#[test]
fn every_kind_over_every_layout() {
    for kind in &KINDS {
        for params in LAYOUTS {
            for indices in LAYOUTS {
                for level in Level::available() {
                    for (touching, threads) in [(Touching::Start, 1), (Touching::End, 1), (Touching::End, 3)]
                    {
                        check(kind, params, indices, touching, level, threads);
                    }
                }
            }
        }
    }
}
