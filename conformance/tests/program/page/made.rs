//! Reports of backends that go wrong here and there, made in this process.

use std::sync::Arc;

use gather_conformance::backend::{Backend, Description};
use gather_conformance::builtin::{self, MAX_OUTPUT};
use gather_conformance::internals::judge::Strictness;
use gather_conformance::internals::runner::InProcess;
use gather_spec::load::Maker;
use gather_spec::{Call, Case, Outcome, Profile, Run, Specification, Tensor};
use gatherspec::internals::report::{BackendReport, Entry, Report};
use gatherspec::internals::show::call_line;

/// What a browser would obey if a page let it.
pub(crate) const EVIL: &str =
    "</script><script>window.obeyed = 1</script><img src=x onerror='window.obeyed = 2'>&amp;{{ 7 * 7 }}<!--";

/// The reference, which errs in one call out of `one_in`: other calls for every name.
struct ErringReference {
    reference: Box<dyn Backend>,
    name: String,
    one_in: u64,
}

impl ErringReference {
    fn new(name: &str, one_in: u64) -> Self {
        let reference = builtin::backend("reference", Profile::default(), MAX_OUTPUT).unwrap();
        Self { reference, name: name.to_owned(), one_in }
    }

    /// A number that this backend always gives to this call.
    fn lot(&self, call: &Call) -> u64 {
        // FNV-1a: the same in every version of Rust, for the sake of the snapshots.
        let said = format!("{} {}", self.name, call_line(call));
        said.bytes()
            .fold(0xcbf2_9ce4_8422_2325, |lot, byte| (lot ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

impl Backend for ErringReference {
    fn describe(&self) -> Description {
        let mut description = self.reference.describe();
        description.backend.name.clone_from(&self.name);
        description
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let lot = self.lot(call);
        match (lot % self.one_in, self.reference.call(call)) {
            (0, Outcome::Output(output)) if (lot / self.one_in).is_multiple_of(2) => {
                Outcome::Output(with_another_end(&output))
            }
            (0, _) => Outcome::refused(format!("{EVIL} in {}", self.name)),
            (_, outcome) => outcome,
        }
    }
}

/// The tensor with another last element; an empty one as it is.
fn with_another_end(tensor: &Tensor) -> Tensor {
    let Some(mut bytes) = tensor.to_le_bytes().filter(|bytes| !bytes.is_empty()) else {
        return tensor.clone();
    };
    *bytes.last_mut().unwrap() ^= 1;
    Tensor::from_le_bytes(tensor.dtype(), tensor.shape().clone(), &bytes).unwrap()
}

/// The cases of every operator in turn, `count` in all.
pub(crate) fn cases(spec: &Specification, count: usize) -> Vec<&Arc<Case>> {
    let step = (spec.cases.len() / count).max(1);
    spec.cases.iter().step_by(step).take(count).collect()
}

/// Of more cases than this, one run each is made.
const MANY: usize = 1000;

/// The report on backends of these names, which err in one call out of `one_in`.
pub(crate) fn report(spec: &Specification, cases: &[&Arc<Case>], names: &[String], one_in: u64) -> Report {
    let backends = names.iter().map(|name| {
        let mut runner = InProcess::new(
            || Box::new(ErringReference::new(name, one_in)) as Box<dyn Backend>,
            Strictness::Lenient,
        );
        let mut backend = BackendReport::new(name.clone(), runner.description(), spec);
        let mut maker = Maker::default();
        let mut result = |run: &Run| Entry::new(run, runner.run(run));
        let mut of_case = |case: &&Arc<Case>| {
            let is_few = cases.len() <= MANY;
            let runs = if is_few { maker.runs(case) } else { maker.first(case).into_iter().collect() };
            Entry::of_case(case, runs.iter().map(&mut result).collect())
        };
        backend.results = cases.iter().map(&mut of_case).collect();
        backend.conclude(cases, spec);
        backend
    });
    Report { backends: backends.collect(), ..Report::new() }
}
