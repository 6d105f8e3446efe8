//! The cost of a call that moves next to nothing: two points of a 2x2 matrix.

use std::hint::black_box;

use gather_benches::timing::interleave;
use gather_optimized::{Options, Plan, gather_nd};
use gather_spec::Refusal;
use ndarray::{Array1, Array2, array};

use super::Settings;

#[derive(Clone, Copy, Debug)]
enum Way {
    Fresh,
    Into,
    ByHand,
}

const WAYS: [(&str, Way); 3] = [
    ("`gather_nd` into a new array", Way::Fresh),
    ("a plan and `run_into`", Way::Into),
    ("two elements of the array, indexed by hand", Way::ByHand),
];

struct Arrays {
    params: Array2<f32>,
    indices: Array2<i64>,
    output: Array1<f32>,
    options: Options,
    plan: Plan,
}

impl Arrays {
    fn run(&mut self, way: Way) -> Result<(), Refusal> {
        let (params, indices) = (black_box(&self.params), black_box(&self.indices));
        match way {
            Way::Fresh => drop(black_box(gather_nd(params, indices, &self.options)?)),
            Way::Into => self.plan.run_into(params, indices, black_box(&mut self.output))?,
            Way::ByHand => {
                for (row, place) in indices.rows().into_iter().zip(black_box(&mut self.output)) {
                    let at = |component: usize| usize::try_from(row[component]).unwrap_or(usize::MAX);
                    *place = params[[at(0), at(1)]];
                }
            }
        }
        Ok(())
    }
}

/// Measures and prints the cost of a tiny call.
pub(super) fn print(settings: &Settings) -> Result<(), String> {
    let options = settings.level.map_or(Options::new(), |level| Options::new().level(level));
    let plan = Plan::gather_nd(&[2, 2], &[2, 2], &options).map_err(|why| why.to_string())?;
    let mut arrays = Arrays {
        params: array![[1.0, 2.0], [3.0, 4.0]],
        indices: array![[0, 1], [1, 0]],
        output: array![0.0, 0.0],
        options,
        plan,
    };
    arrays.run(Way::Into).map_err(|why| why.to_string())?;
    if arrays.output != array![2.0, 3.0] {
        return Err("a tiny call gives a wrong output".to_owned());
    }
    let ways = WAYS.map(|(_, way)| way);
    let medians = interleave(&ways, settings.rounds, |way| {
        arrays.run(way).expect("a valid call");
    });
    println!("| 2x2 f32 by 2x2 i64 | ns |\n| --- | --: |");
    for ((name, _), seconds) in WAYS.iter().zip(medians) {
        println!("| {name} | {:.0} |", seconds * 1e9);
    }
    println!();
    Ok(())
}
