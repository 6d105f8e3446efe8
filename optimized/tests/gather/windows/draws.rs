//! Drawn calls of windows: every kind of dimension numbers that the rules allow.

use gather_spec::DimensionNumbers;
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn, Slice};

/// Numbers that choices are made by. Where they have run out the first choice is made, so that fewer and smaller ones mean
/// a simpler call.
pub(crate) struct Draws {
    given: std::vec::IntoIter<u64>,
    /// What endless numbers are made from; 0 makes none.
    state: u64,
}

impl Draws {
    pub(crate) fn new(numbers: Vec<u64>) -> Self {
        Self { given: numbers.into_iter(), state: 0 }
    }

    /// As many numbers as are asked for, from one of these.
    pub(crate) fn endless(&mut self) -> Self {
        Self { given: Vec::new().into_iter(), state: self.number() }
    }

    fn number(&mut self) -> u64 {
        if let Some(given) = self.given.next() {
            return given;
        }
        if self.state == 0 {
            return 0;
        }
        // Xorshift: from a state other than 0 it never comes to 0.
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.state ^= if left { self.state << shift } else { self.state >> shift };
        }
        self.state
    }

    /// A number below `count`, which is positive.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.number() % count as u64).expect("below a usize")
    }

    pub(crate) fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Whether one of so many chances came true; never where draws have run out.
    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == chances - 1
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, last - self.below(last + 1));
        }
    }

    /// `count` of the numbers below `from`, ascending.
    fn some(&mut self, count: usize, from: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..from).rev().collect();
        self.shuffle(&mut all);
        all.truncate(count);
        all.sort_unstable();
        all
    }
}

/// The shapes of a call and how it reads them.
#[derive(Clone, Debug)]
pub(crate) struct DrawnShapes {
    pub params: Vec<usize>,
    pub indices: Vec<usize>,
    pub numbers: DimensionNumbers,
    pub slice_sizes: Vec<usize>,
}

/// What becomes of a dim of params.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Window,
    Collapsed,
    Batching,
}

fn signed(dims: &[usize]) -> Vec<i64> {
    dims.iter().map(|dim| i64::try_from(*dim).expect("small")).collect()
}

/// The dims in use for something.
fn used(uses: &[Use], wanted: Use) -> Vec<usize> {
    (0..uses.len()).filter(|dim| uses[*dim] == wanted).collect()
}

impl DrawnShapes {
    pub(crate) fn draw(draws: &mut Draws) -> Self {
        let rank = draws.choose(&[1, 2, 3, 4, 0]);
        let choices = [Use::Window, Use::Window, Use::Collapsed, Use::Batching];
        let uses: Vec<Use> = (0..rank).map(|_| draws.choose(&choices)).collect();
        let params: Vec<usize> = (0..rank).map(|_| Self::dim(draws)).collect();
        let slice_sizes: Vec<usize> =
            uses.iter().zip(&params).map(|(of, dim)| Self::size(draws, *of, *dim)).collect();
        let batching = used(&uses, Use::Batching);
        let mut free: Vec<usize> = (0..rank).filter(|dim| uses[*dim] != Use::Batching).collect();
        draws.shuffle(&mut free);
        free.truncate(draws.below(free.len() + 1));

        // The dims of indices: those that params share, others, and the vector.
        let mut rows: Vec<Option<usize>> = batching.iter().copied().map(Some).collect();
        rows.extend((0..draws.choose(&[1, 0, 2])).map(|_| None));
        draws.shuffle(&mut rows);
        let mut indices: Vec<usize> = rows
            .iter()
            .map(|shared| shared.map_or_else(|| Self::row_dim(draws), |dim| params[dim]))
            .collect();
        let implied = free.len() == 1 && draws.one_in(2);
        let vector = if implied { indices.len() } else { draws.below(indices.len() + 1) };
        if !implied {
            indices.insert(vector, free.len());
            rows.insert(vector, None);
        }
        let place = |dim: &usize| rows.iter().position(|shared| *shared == Some(*dim)).expect("it is shared");
        let shared: Vec<usize> = batching.iter().map(place).collect();
        let window = used(&uses, Use::Window).len();
        let output_rank = window + indices.len() - usize::from(!implied);
        let numbers = DimensionNumbers {
            offset_dims: signed(&draws.some(window, output_rank)),
            collapsed_slice_dims: signed(&used(&uses, Use::Collapsed)),
            operand_batching_dims: signed(&batching),
            start_indices_batching_dims: signed(&shared),
            start_index_map: signed(&free),
            index_vector_dim: signed(&[vector])[0],
        };
        Self { params, indices, numbers, slice_sizes }
    }

    fn dim(draws: &mut Draws) -> usize {
        if draws.one_in(20) { draws.choose(&[70, 0, 33]) } else { draws.choose(&[3, 1, 2, 4, 5, 7]) }
    }

    fn row_dim(draws: &mut Draws) -> usize {
        if draws.one_in(5) { draws.choose(&[17, 33, 70, 0]) } else { draws.choose(&[2, 1, 3, 5]) }
    }

    fn size(draws: &mut Draws, of: Use, dim: usize) -> usize {
        if dim == 0 || draws.one_in(30) {
            return 0;
        }
        match of {
            Use::Window if draws.one_in(3) => dim,
            Use::Window => 1 + draws.below(dim),
            Use::Collapsed | Use::Batching => 1,
        }
    }

    /// What sets these shapes apart from the plainest.
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let numbers = &self.numbers;
        let (vector, q) = (signed(&[self.indices.len()])[0] - numbers.index_vector_dim, self.indices.len());
        let ends = (q + numbers.offset_dims.len() - usize::from(vector > 0), numbers.offset_dims.len());
        let last = signed(&(ends.0 - ends.1..ends.0).collect::<Vec<_>>());
        let first = signed(&(0..ends.1).collect::<Vec<_>>());
        let shorter = |dim: usize| self.slice_sizes[dim] > 0 && self.slice_sizes[dim] < self.params[dim];
        let started = |dim: usize| numbers.start_index_map.contains(&signed(&[dim])[0]);
        let kinds = [
            ("implied vector", vector == 0),
            ("vector before the last dim", vector > 1),
            ("no component", numbers.start_index_map.is_empty()),
            ("offset dims last", numbers.offset_dims == last),
            ("offset dims first", numbers.offset_dims == first && first != last),
            ("offset dims between", numbers.offset_dims != last && numbers.offset_dims != first),
            ("collapsed", !numbers.collapsed_slice_dims.is_empty()),
            ("batching", !numbers.operand_batching_dims.is_empty()),
            ("batching in another order", !numbers.start_indices_batching_dims.is_sorted()),
            ("starts in another order", !numbers.start_index_map.is_sorted()),
            ("short without a start", (0..self.params.len()).any(|dim| shorter(dim) && !started(dim))),
            ("no index", self.indices.contains(&0)),
        ];
        kinds.into_iter().filter(|(_, is)| *is).map(|(kind, _)| kind).collect()
    }

    /// Whether elements of the output would be those of an empty window.
    pub(crate) fn undefined(&self, output_len: usize) -> bool {
        let DimensionNumbers { collapsed_slice_dims, operand_batching_dims, .. } = &self.numbers;
        let mut lacking = collapsed_slice_dims.iter().chain(operand_batching_dims);
        output_len > 0 && lacking.any(|dim| self.slice_sizes[usize::try_from(*dim).expect("a dim")] == 0)
    }

    /// How many starts fit where a component says one.
    pub(crate) fn bound(&self, component: usize) -> usize {
        let dim = usize::try_from(self.numbers.start_index_map[component]).expect("a dim");
        self.params[dim] - self.slice_sizes[dim] + 1
    }

    /// The component that an index at this position is.
    pub(crate) fn component(&self, position: &[usize]) -> usize {
        let vector = usize::try_from(self.numbers.index_vector_dim).expect("a dim");
        position.get(vector).copied().unwrap_or(0)
    }
}

/// How a view lies over its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ViewLayout {
    Plain,
    /// Every second element along every axis.
    Strided,
    Reversed,
    Transposed,
    /// A stride of 0 along the first axis.
    Repeated,
}

impl ViewLayout {
    pub(crate) const ALL: [Self; 5] =
        [Self::Plain, Self::Strided, Self::Reversed, Self::Transposed, Self::Repeated];
}

/// An array in some layout.
pub(crate) struct Laid<A> {
    memory: ArrayD<A>,
    shape: Vec<usize>,
}

impl<A: Clone> Laid<A> {
    /// These elements, with garbage between them; of a repeated axis the first ones.
    pub(crate) fn new(layout: ViewLayout, elements: &ArrayD<A>, garbage: A) -> Self {
        let shape = elements.shape().to_vec();
        let all = Slice::new(0, None, if matches!(layout, ViewLayout::Strided) { 2 } else { -1 });
        let mut memory = match layout {
            ViewLayout::Transposed => {
                let reversed: Vec<usize> = shape.iter().rev().copied().collect();
                ArrayD::from_elem(IxDyn(&reversed), garbage).reversed_axes()
            }
            ViewLayout::Strided => {
                ArrayD::from_elem(IxDyn(&shape.iter().map(|dim| 2 * dim).collect::<Vec<_>>()), garbage)
            }
            ViewLayout::Plain | ViewLayout::Reversed | ViewLayout::Repeated => {
                ArrayD::from_elem(IxDyn(&shape), garbage)
            }
        };
        if matches!(layout, ViewLayout::Strided | ViewLayout::Reversed) {
            (0..shape.len()).for_each(|axis| memory.slice_axis_inplace(Axis(axis), all));
        }
        memory.assign(elements);
        if matches!(layout, ViewLayout::Repeated) && shape.first().is_some_and(|dim| *dim > 0) {
            memory.slice_axis_inplace(Axis(0), Slice::new(0, Some(1), 1));
        }
        Self { memory, shape }
    }

    pub(crate) fn view(&self) -> ArrayViewD<'_, A> {
        self.memory.broadcast(&*self.shape).expect("an axis of 1 at most is repeated")
    }
}
