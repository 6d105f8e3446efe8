//! Every documented example as `show` draws it, held in one snapshot that all built-in backends share. The
//! snapshot holds rendered text; what is right is in the case's `expect:`, which the suite judges by.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use gather_conformance::{builtin, show};
use gather_spec::{Profile, Specification};

#[test]
fn every_documented_example_is_drawn_alike_by_every_backend() {
    let spec = Specification::embedded().unwrap();
    let documented: Vec<_> = spec.cases.iter().filter(|case| case.documented.is_some()).collect();
    assert_eq!(documented.len(), 82);
    for case in documented {
        for backend in builtin::NAMES {
            let make = |profile| builtin::backend(backend, profile, builtin::MAX_OUTPUT).unwrap();
            let picture = show::call(&case.call, &case.names, Profile::default(), &make);
            let picture = anstream::adapter::strip_str(&picture).to_string();
            // One name for all backends: each of them is held to the same file.
            let name = case.documented.as_deref().unwrap().replace('/', "-");
            insta::with_settings!({ description => case.id.clone(), omit_expression => true }, {
                insta::assert_snapshot!(format!("documented-{name}"), picture);
            });
        }
    }
}
