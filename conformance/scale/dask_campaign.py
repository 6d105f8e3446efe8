"""A campaign of `gatherspec fuzz` on a Dask cluster, its shards as tasks; ../SCALE.md explains it.

    python dask_campaign.py --gatherspec target/release/gatherspec --backend optimized --cases 1000000 --shards 16

Options that are not listed here go to `gatherspec fuzz`, such as --cases, --seed and --laws.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed


def end_with_the_worker():
    """Has the kernel of Linux end this process with its parent. Else, when a worker dies, its shard would go on, and write to the
    report of the process that runs the shard again."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def run_shard(command):
    """Runs one shard to its end. Returns the id of the process that ran it."""
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=end_with_the_worker)
    if done.returncode not in (0, 1):  # 1: the shard found something, which its report says.
        raise RuntimeError(done.stderr)
    return os.getpid()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gatherspec", required=True, type=Path, help="the program, at the same path on every machine")
    parser.add_argument("--backend", default="optimized")
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--folder", type=Path, default="campaign", help="for the reports; every machine must see it")
    parser.add_argument("--workers", type=int, default=2, help="of the cluster on this machine")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--scheduler", help="the address of a running Dask scheduler; default: a cluster on this machine")
    which.add_argument("--kill", action="store_true", help="kill a worker of the cluster on this machine half-way")
    arguments, options = parser.parse_known_args()

    program, folder, of = str(arguments.gatherspec.resolve()), arguments.folder.resolve(), arguments.shards
    folder.mkdir(parents=True, exist_ok=True)
    reports = [str(folder / f"{number}-of-{of}.json") for number in range(1, of + 1)]
    fuzz = [program, "fuzz", "--backend", arguments.backend, *options, "--jobs=1", "--checkpoint=0.2", "--resume"]
    commands = [[*fuzz, f"--shard={number}/{of}", "--report", report] for number, report in enumerate(reports, 1)]

    cluster = arguments.scheduler or LocalCluster(arguments.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        shards = client.map(run_shard, commands, retries=3, pure=False)
        for count, shard in enumerate(as_completed(shards), 1):
            number = shards.index(shard) + 1
            print(f"{count} of {of}: shard {number} by process {shard.result()}", flush=True)
            if arguments.kill and count == of // 2:
                pid = cluster.workers[0].pid
                os.kill(pid, 9)  # As if its machine went down.
                print(f"killed the worker with process id {pid}", flush=True)
    sys.exit(subprocess.run([program, "merge", *reports, "--out", str(folder / "whole.json")]).returncode)


if __name__ == "__main__":
    main()
