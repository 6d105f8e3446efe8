//! Every documented example as `show` draws it, in one snapshot per operator that all built-in backends share. A
//! snapshot holds rendered text; what is right is in the case's `expect:`, which the suite judges by.

use std::collections::BTreeMap;

use gather_conformance::builtin;
use gather_spec::{Profile, Run};
use gatherspec::internals::picture::Picture;

#[test]
fn every_documented_example_is_drawn_alike_by_every_backend() {
    let spec = crate::embedded();
    let mut operators: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for case in spec.cases.iter().filter(|case| case.documented.is_some()) {
        operators.entry(case.operator().to_string()).or_default().extend(case.runs());
    }
    assert!(operators.len() > 10, "{:?}", operators.keys());
    for (operator, cases) in operators {
        // One name for all backends: each of them is compared with the same file.
        for backend in builtin::NAMES {
            let drawn = cases.iter().map(|case| drawn(case, backend)).collect::<Vec<_>>().join("\n");
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(&*operator, drawn);
            });
        }
    }
}

/// The picture of a case below its id and the example's.
fn drawn(case: &Run, backend: &str) -> String {
    let make = |profile| builtin::backend(backend, profile, builtin::MAX_OUTPUT).unwrap();
    let picture = Picture::new(&case.call, &case.case.names, Profile::default(), &make).unwrap();
    let picture = anstream::adapter::strip_str(&picture.terminal(100)).to_string();
    format!("#### {}, {}\n{picture}", case.id, case.case.documented.as_deref().unwrap())
}
