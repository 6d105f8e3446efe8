//! What `SCALE.md` shows, run as a reader would run it: no shard is lost or doubled. The test of Dask needs
//! `GATHERSPEC_DASK`, the path of a Python that has it.

#![cfg(unix)]
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use gather_campaign::fuzz::CampaignReport;

const GATHERSPEC: &str = env!("CARGO_BIN_EXE_gatherspec");
const HERE: &str = env!("CARGO_MANIFEST_DIR");
const PAGE: &str = include_str!("../../SCALE.md");
const SCRIPT: &str = include_str!("../../scale/campaign.sbatch");

/// Runs at once what SLURM would queue: the tasks of an array one after the other, or the wrapped command.
const SBATCH: &str = r#"#!/bin/bash
echo 1
tasks=$(seq "$SHARDS")
for word; do
    case $word in
    --array=*) tasks=${word#*=} ;;
    --output=*) exec &>"${word#*=}" ;;
    gatherspec*) bash -c "$word" ;;
    *.sbatch) for task in ${tasks//,/ }; do SLURM_ARRAY_TASK_ID=$task bash "$word" &>>tasks.out; done ;;
    esac
done
exit 0
"#;

fn read(report: &Path) -> CampaignReport {
    CampaignReport { seconds: 0.0, ..CampaignReport::read(report).unwrap() }
}

/// The report of the campaign without shards.
fn in_one_piece(cases: &str, folder: &Path) -> CampaignReport {
    let report = folder.join("alone.json");
    let mut fuzz = Command::new(GATHERSPEC);
    fuzz.args(["fuzz", "--backend", "optimized", "--cases", cases, "--report"]).arg(&report);
    assert!(fuzz.output().unwrap().status.success());
    read(&report)
}

#[test]
fn a_campaign_on_a_cluster_survives_the_death_of_a_worker() {
    const CASES: &str = "900000";
    let Some(python) = std::env::var_os("GATHERSPEC_DASK") else {
        return eprintln!("skipped: GATHERSPEC_DASK names no Python that has dask[distributed]");
    };
    let folder = tempfile::tempdir().unwrap();
    let mut script = Command::new(python);
    script.arg(Path::new(HERE).join("scale/dask_campaign.py")).current_dir(&folder);
    script.args(["--gatherspec", GATHERSPEC, "--folder", ".", "--cases", CASES, "--shards", "6", "--kill"]);
    let output = script.output().unwrap();
    let killed = String::from_utf8_lossy(&output.stdout).contains("killed the worker");
    assert!(output.status.success() && killed, "{output:?}");
    assert_eq!(read(&folder.path().join("whole.json")), in_one_piece(CASES, folder.path()));
}

#[test]
fn the_documented_lines_run_a_campaign_and_what_is_left_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("sbatch"), SBATCH).unwrap();
    fs::set_permissions(at("sbatch"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink(GATHERSPEC, at("gatherspec")).unwrap();
    symlink(HERE, at("conformance")).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let shell = |lines: &str| {
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", lines]).current_dir(&folder).env("PATH", &path);
        bash.envs([("SHARDS", "24"), ("CASES", "4800"), ("job", "1")]).env_remove("SEED");
        let output = bash.env_remove("GATHERSPEC").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        fs::read_to_string(at("whole.txt")).unwrap()
    };
    let (_, section) = PAGE.split_once("\n## A job array\n").unwrap();
    let mut blocks = section.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let (submit, again) = (blocks.next().unwrap(), blocks.next().unwrap());
    let merge = submit.lines().nth(1).unwrap();

    let whole = in_one_piece("4800", folder.path());
    let said = shell(submit);
    assert_eq!(read(&at("whole.json")), whole, "{said}");

    // Without the shards that the page calls missing, the second job says what the page says.
    let lost = again.split_once("--array=").unwrap().1.split(' ').next().unwrap();
    for number in lost.split(',') {
        fs::remove_file(at("campaign").join(format!("{number}.json"))).unwrap();
    }
    fs::remove_file(at("whole.json")).unwrap();
    let said = shell(merge);
    let missing = format!("shards are missing: {lost}");
    assert!(said.contains(&format!("{missing}\n")) && PAGE.contains(&missing), "{said}");
    assert!(!at("whole.json").exists());

    let said = shell(&format!("{again}{merge}"));
    assert_eq!(read(&at("whole.json")), whole, "{said}");
}

#[test]
fn the_array_of_the_script_has_a_task_per_shard() {
    let tasks = SCRIPT.split_once("#SBATCH --array=1-").unwrap().1.lines().next().unwrap();
    assert!(SCRIPT.contains(&format!("${{SHARDS:-{tasks}}}")), "{tasks}");
    assert!(PAGE.contains(&format!("in {tasks} tasks")), "{tasks}");
}
