//! What `SCALE.md` tells to do: no shard is lost or doubled. The cluster of processes, one of which is killed half-way,
//! runs where `GATHERSPEC_DASK` names a Python that has Dask, and says so where it does not.

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

    assert_eq!(read(&folder.path().join("whole.json")), in_one_piece(CASES, folder.path()));
}

fn read(path: &Path) -> Report {
    Report { seconds: 0.0, ..Report::read(path).unwrap() }
}

fn in_one_piece(cases: &str, folder: &Path) -> Report {
    let report = folder.join("alone.json");
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_gatherspec"));
    fuzz.args(["fuzz", "--backend", "optimized", "--cases", cases, "--report"]).arg(&report);
    assert!(fuzz.output().unwrap().status.success());
    read(&report)
}

#[cfg(unix)]
mod array {
    use std::ffi::OsString;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::process::{Command, Output};

    use super::{in_one_piece, read};

    const PAGE: &str = include_str!("../../SCALE.md");
    const SCRIPT: &str = include_str!("../../scale/campaign.sbatch");
    const SHARDS: u64 = 24;
    const CASES: &str = "4800";

    /// Runs at once what SLURM would queue, the tasks of an array one after the other.
    const SBATCH: &str = r#"#!/bin/bash
array=$SBATCH_ARRAY_INX
for word; do
    case $word in
    --array=*) array=${word#*=} ;;
    --output=*) output=${word#*=} ;;
    --wrap) wrap=yes ;;
    -*) ;;
    *) job=$word ;;
    esac
done
echo 1
if [ "$wrap" ]; then
    bash -c "$job" >"$output" 2>&1
    exit 0
fi
for run in ${array//,/ }; do
    for task in $(seq "${run%-*}" "${run#*-}"); do
        SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=unused bash "$job" >>"slurm-1_$task.out" 2>&1
    done
done
exit 0
"#;

    /// The lines to submit, and those to submit what is left.
    fn documented() -> [&'static str; 2] {
        let (_, section) = PAGE.split_once("\n## A job array\n").unwrap();
        let blocks: Vec<&str> =
            section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
        blocks.try_into().unwrap()
    }

    fn shell(lines: &str, folder: &Path) -> Output {
        let gatherspec = Path::new(env!("CARGO_BIN_EXE_gatherspec")).parent().unwrap();
        let old = std::env::var_os("PATH").unwrap_or_default();
        let paths = [folder, gatherspec].map(Path::to_owned).into_iter().chain(std::env::split_paths(&old));
        let path: OsString = std::env::join_paths(paths).unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", lines]).current_dir(folder).env("PATH", path);
        bash.env("SHARDS", SHARDS.to_string())
            .env("CASES", CASES)
            .env("SBATCH_ARRAY_INX", format!("1-{SHARDS}"));
        bash.env_remove("SEED").env_remove("GATHERSPEC").output().unwrap()
    }

    #[test]
    fn the_documented_lines_run_a_campaign_and_what_is_left_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("sbatch"), SBATCH).unwrap();
        std::fs::set_permissions(at("sbatch"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink(env!("CARGO_MANIFEST_DIR"), at("conformance")).unwrap();
        let whole = in_one_piece(CASES, folder.path());
        let said = |name: &str| std::fs::read_to_string(at(name)).unwrap();

        let [submit, again] = documented();
        let output = shell(submit, folder.path());
        assert!(output.status.success(), "{output:?}");
        assert_eq!(read(&at("whole.json")), whole, "{}", said("whole.txt"));

        // Some shards are lost, and the second job, submitted again, names them as the next lines take them.
        let lost = again.split("--array=").nth(1).unwrap().split(' ').next().unwrap();
        for number in lost.split(',') {
            std::fs::remove_file(at("campaign").join(format!("{number}.json"))).unwrap();
        }
        std::fs::remove_file(at("whole.json")).unwrap();
        let join = submit.lines().nth(1).unwrap();
        let join = |before: &str| shell(&format!("{before}job=${{job:-1}}\n{join}"), folder.path());
        assert!(join("").status.success());
        assert!(
            said("whole.txt").contains(&format!("of {SHARDS} shards are missing: {lost}\n")),
            "{}",
            said("whole.txt")
        );
        assert!(PAGE.contains(&format!("shards are missing: {lost}\n")));
        assert!(!at("whole.json").exists());

        assert!(join(again).status.success());
        assert_eq!(read(&at("whole.json")), whole, "{}", said("whole.txt"));
        assert!(said("whole.txt").contains("4800 cases of seed 1"), "{}", said("whole.txt"));
    }

    #[test]
    fn the_array_of_the_script_has_a_task_per_shard() {
        let after =
            |text: &str| SCRIPT.split(text).nth(1).unwrap().split(['\n', '}']).next().unwrap().to_owned();
        assert_eq!(after("#SBATCH --array=1-"), after("${SHARDS:-"));
    }
}
