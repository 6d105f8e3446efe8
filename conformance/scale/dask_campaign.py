"""A campaign of `gatherspec fuzz` on a Dask cluster, its shards as tasks.

    python dask_campaign.py --gatherspec target/release/gatherspec --backend optimized --cases 1000000 --shards 16

A shard writes its report at every checkpoint, so a task whose worker died goes on with --resume on another one that
sees the same folder. `gatherspec merge` joins the reports, and refuses a campaign of which a shard is missing, doubled
or unfinished. Without --scheduler a cluster of processes is started on this machine; --kill ends one of its workers
half-way, to show that nothing is lost.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from dask.distributed import Client, LocalCluster, as_completed


def run_shard(gatherspec, options, number, of, report):
    """Runs one shard to its end; gives its number and the process that ran it."""
    command = [gatherspec, "fuzz", *options, "--shard", f"{number}/{of}", "--report", report]
    done = subprocess.run([*command, "--jobs", "1", "--checkpoint", "0.2", "--resume"], capture_output=True, text=True)
    if done.returncode not in (0, 1):  # 1: something was found, which the report says.
        raise RuntimeError(done.stderr)
    return number, os.getpid()


def kill_a_busy_worker(client):
    """Kills a worker, as a machine that goes down would."""
    busy = [address for address, tasks in client.processing().items() if tasks]
    pid = client.run(os.getpid, workers=busy[:1])[busy[0]]
    os.kill(pid, 9)
    print(f"killed the worker with process id {pid}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gatherspec", required=True, help="the program, at the same path on every machine")
    parser.add_argument("--backend", default="optimized")
    parser.add_argument("--laws", action="store_true")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--folder", type=Path, default=Path("campaign"), help="seen by every machine")
    parser.add_argument("--scheduler", help="the address of a running Dask scheduler")
    parser.add_argument("--workers", type=int, default=2, help="of the cluster on this machine")
    parser.add_argument("--kill", action="store_true", help="kill a worker of that cluster half-way")
    arguments = parser.parse_args()

    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program = str(Path(arguments.gatherspec).resolve())
    options = ["--backend", arguments.backend, "--cases", str(arguments.cases), "--seed", str(arguments.seed)]
    options += ["--laws"] if arguments.laws else []
    numbers = range(1, arguments.shards + 1)
    reports = {number: str(folder / f"{number}-of-{arguments.shards}.json") for number in numbers}

    cluster = arguments.scheduler or LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        start = time.monotonic()
        tasks = [
            client.submit(run_shard, program, options, number, arguments.shards, report, retries=3, pure=False)
            for number, report in reports.items()
        ]
        workers = set()
        for count, task in enumerate(as_completed(tasks), 1):
            number, pid = task.result()
            workers.add(pid)
            print(f"{count} of {arguments.shards}: shard {number} by process {pid}", flush=True)
            if arguments.kill and count == arguments.shards // 2:
                kill_a_busy_worker(client)
        print(f"{arguments.shards} shards by {len(workers)} processes in {time.monotonic() - start:.1f} s", flush=True)
    whole = str(folder / "whole.json")
    sys.exit(subprocess.run([program, "merge", *reports.values(), "--out", whole]).returncode)


if __name__ == "__main__":
    main()
