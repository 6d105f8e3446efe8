//! The places that indices select, drawn from a seed: the same on every machine.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::Workload;
use crate::geometry::WorkloadGeometry;
use crate::workloads::{Distribution, IndicesSpec};

/// The longest run of [`Distribution::Runs`].
const LONGEST_RUN: u64 = 32;
/// How many positions [`Distribution::Repeated`] draws from.
const FEW: u64 = 64;
/// A prime beyond any axis: multiples of it by 0, 1, 2, … visit every place of an axis once before they repeat.
const PRIME: u64 = 0xFFFF_FFFF_FFFF_FFC5;

/// The positions that index rows, or their elements, select, batch by batch.
pub(crate) fn positions(geometry: &WorkloadGeometry, indices: &IndicesSpec, seed: u64) -> Vec<u64> {
    let mut draw = Draw { random: Pcg64Mcg::seed_from_u64(seed), bound: geometry.positions() as u64 };
    let drawn = geometry.drawn();
    let mut all = Vec::with_capacity(geometry.batches() * drawn);
    for _ in 0..geometry.batches() {
        draw.batch(drawn, indices, &mut all);
    }
    all
}

struct Draw {
    random: Pcg64Mcg,
    bound: u64,
}

impl Draw {
    /// A random number below `bound`. Its bias of `bound` / 2^64 does not matter here.
    fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.random.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the high half of a product")
    }

    /// The place of a random rank. Each range of ranks between powers of two is equally likely.
    fn by_rank(&mut self) -> u64 {
        let first = 1 << self.below(u64::from(self.bound.ilog2()) + 1);
        let rank = (first + self.below(first)).min(self.bound) - 1;
        let place = u128::from(rank) * u128::from(PRIME % self.bound) % u128::from(self.bound);
        u64::try_from(place).expect("below the bound")
    }

    fn batch(&mut self, rows: usize, indices: &IndicesSpec, all: &mut Vec<u64>) {
        let (start, bound) = (all.len(), self.bound);
        match indices.distribution {
            Distribution::Random => all.extend((0..rows).map(|_| self.below(bound))),
            Distribution::Sorted => {
                all.extend((0..rows).map(|_| self.below(bound)));
                all[start..].sort_unstable();
            }
            Distribution::Runs => {
                while all.len() < start + rows {
                    let left = (start + rows - all.len()) as u64;
                    let first = self.below(bound);
                    let run = (1 + self.below(LONGEST_RUN)).min(left).min(bound - first);
                    all.extend(first..first + run);
                }
            }
            Distribution::Repeated => {
                let few: Vec<u64> = (0..FEW).map(|_| self.below(bound)).collect();
                let chosen = |draw: &mut Self| few[usize::try_from(draw.below(FEW)).unwrap_or(0)];
                all.extend((0..rows).map(|_| chosen(self)));
            }
            Distribution::Sequential => all.extend((0..rows as u64).map(|at| at % bound)),
            Distribution::Pattern => {
                let delta = indices.delta;
                let repeated = (0..).flat_map(|turn| {
                    indices.pattern.iter().map(move |at| at.wrapping_add(delta.wrapping_mul(turn)))
                });
                all.extend(repeated.take(rows).map(|at| at % bound));
            }
            Distribution::Zipf => all.extend((0..rows).map(|_| self.by_rank())),
            Distribution::Permutation => {
                let mut places: Vec<u64> = (0..bound).collect();
                for at in 0..rows.min(places.len()) {
                    let other = at as u64 + self.below(bound - at as u64);
                    places.swap(at, usize::try_from(other).unwrap_or(at));
                }
                all.extend(places.into_iter().take(rows));
            }
        }
    }
}

/// What is done to the first component of an index row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing.
    Kept,
    /// It counts from the end of its axis, which has this size.
    Negative(i64),
    /// It lies past its axis, which has this size.
    Bad(i64),
}

impl Mark {
    const fn apply(self, at: i64) -> i64 {
        match self {
            Self::Kept => at,
            Self::Negative(size) => at - size,
            Self::Bad(size) => at + size,
        }
    }
}

/// A mark for each index row, drawn by the workload's shares; empty if all rows are kept.
pub(crate) fn marks(workload: &Workload, geometry: &WorkloadGeometry) -> Vec<Mark> {
    let (negative, bad) = (u64::from(workload.indices.negative), u64::from(workload.indices.bad));
    if negative + bad == 0 {
        return Vec::new();
    }
    let size = i64::try_from(geometry.indexed[0]).expect("axes were checked to fit the index type");
    // The positions are those of the workload without marks.
    let mut draw = Draw { random: Pcg64Mcg::seed_from_u64(!workload.seed), bound: 100 };
    let mark = |_| match draw.below(100) {
        percent if percent < bad => Mark::Bad(size),
        percent if percent < bad + negative => Mark::Negative(size),
        _ => Mark::Kept,
    };
    (0..geometry.batches() * geometry.drawn()).map(mark).collect()
}

/// Splits positions into their components on the axes `dims`, or keeps them if there are no such axes, and marks rows.
pub(crate) fn components<I>(
    positions: &[u64],
    dims: Option<&[usize]>,
    marks: &[Mark],
    convert: impl Fn(i64) -> I,
) -> Vec<I> {
    let axes = dims.map_or(1, <[usize]>::len);
    let mut all = Vec::with_capacity(positions.len() * axes);
    for (row, position) in positions.iter().enumerate() {
        let mark = marks.get(row).copied().unwrap_or(Mark::Kept);
        let mut left: u64 = dims.map_or(1, |dims| dims.iter().map(|dim| *dim as u64).product());
        let mut rest = *position;
        for axis in 0..axes {
            left /= dims.map_or(1, |dims| dims[axis] as u64);
            let at = (rest / left).cast_signed();
            all.push(convert(if axis == 0 { mark.apply(at) } else { at }));
            rest %= left;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::TensorLayout;

    fn geometry(indexed: &[usize], rows: usize) -> WorkloadGeometry {
        WorkloadGeometry {
            batch: vec![2],
            mid: vec![],
            indexed: indexed.to_vec(),
            inner: vec![],
            rows,
            each: false,
        }
    }

    fn spec(distribution: Distribution) -> IndicesSpec {
        IndicesSpec {
            dtype: gather_spec::DType::I64,
            shape: Vec::new(),
            distribution,
            pattern: vec![20, 0, 1],
            delta: 4,
            layout: TensorLayout::Contiguous,
            negative: 0,
            bad: 0,
        }
    }

    #[test]
    fn every_distribution_is_what_it_says() {
        let drawn = |distribution| positions(&geometry(&[5, 7], 200), &spec(distribution), 3);
        let all = [
            Distribution::Random,
            Distribution::Sorted,
            Distribution::Runs,
            Distribution::Repeated,
            Distribution::Sequential,
            Distribution::Zipf,
            Distribution::Pattern,
        ];
        for distribution in all {
            let positions = drawn(distribution);
            assert_eq!(positions.len(), 400);
            assert!(positions.iter().all(|at| *at < 35), "{distribution:?}");
            assert_eq!(positions, drawn(distribution), "the same for the same seed");
        }
        assert!(drawn(Distribution::Sorted)[..200].is_sorted());
        assert_eq!(drawn(Distribution::Sequential)[34..37], [34, 0, 1]);
        assert_eq!(drawn(Distribution::Pattern)[..7], [20, 0, 1, 24, 4, 5, 28]);
        let mut permuted = drawn(Distribution::Permutation)[..35].to_vec();
        assert!(!permuted.is_sorted());
        permuted.sort_unstable();
        assert!(permuted.into_iter().eq(0..35));
        let ranks = drawn(Distribution::Zipf);
        let first = ranks.iter().filter(|at| **at == 0).count();
        assert!((40..100).contains(&first), "a sixth of them have the first rank: {first}");
        let follows = drawn(Distribution::Runs).windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        assert!(follows > 200, "{follows}");
    }

    /// Inputs are part of the measurement, so a new release of the generator must not change them.
    #[test]
    fn the_stream_of_a_seed_is_fixed() {
        let random = positions(&geometry(&[1000], 2), &spec(Distribution::Random), 1);
        assert_eq!(random, [856, 137, 470, 726]);
    }

    #[test]
    fn components_are_row_major() {
        assert_eq!(components(&[0, 7, 34], Some(&[5, 7]), &[], |at| at), [0, 0, 1, 0, 4, 6]);
        assert_eq!(components(&[3], None, &[], |at| at), [3]);
    }

    #[test]
    fn marks_change_the_first_component_alone() {
        let marks = [Mark::Negative(5), Mark::Kept, Mark::Bad(5)];
        let marked = components(&[0, 7, 34], Some(&[5, 7]), &marks, |at| at);
        assert_eq!(marked, [-5, 0, 1, 0, 9, 6]);
    }
}
