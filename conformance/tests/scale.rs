//! A campaign on a cluster of processes, one of which is killed half-way: no shard is lost or doubled. Runs where
//! `GATHERSPEC_DASK` names a Python that has Dask, and says so where it does not.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;
use std::process::Command;

use gather_conformance::fuzz::Report;

const CASES: &str = "900000";

#[test]
fn a_campaign_on_a_cluster_survives_the_death_of_a_worker() {
    let Some(python) = std::env::var_os("GATHERSPEC_DASK") else {
        eprintln!("skipped: GATHERSPEC_DASK names no Python that has dask[distributed]");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let gatherspec = env!("CARGO_BIN_EXE_gatherspec");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scale/dask_campaign.py");
    let output = Command::new(python)
        .arg(script)
        .args(["--gatherspec", gatherspec, "--cases", CASES, "--shards", "6", "--kill", "--folder"])
        .arg(folder.path())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("killed the worker"), "{said}");

    let alone = folder.path().join("alone.json");
    let status = Command::new(gatherspec)
        .args(["fuzz", "--backend", "optimized", "--cases", CASES, "--report"])
        .arg(&alone)
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    let read = |path: &Path| Report { seconds: 0.0, ..Report::read(path).unwrap() };
    assert_eq!(read(&folder.path().join("whole.json")), read(&alone));
}
