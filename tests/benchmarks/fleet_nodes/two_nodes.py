#!/usr/bin/python3
"""Measures how much sooner two nodes of a Slurm cluster finish the deterministic part of a full study than one node
does. The deterministic part consists of points and searches. The cluster is made on this machine, as root (packages
slurm-wlm and munge). Each node is bound to a CPU of its own, so the machine needs two idle CPUs. The CPU time of other
programs is printed. The two studies must have the same results. Exit status 1 if two nodes take more than 0.6 of the
time of one, 2 without Slurm. usage: two_nodes.py [ALLOCATOR ...] (default: glibc)
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "support"))
import slurm_cluster  # noqa: E402

ZEROTAX = pathlib.Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build")) / "bin" / "zerotax"
LIMIT = 0.6


def busy_s() -> float:
    """Returns the CPU seconds that all programs have used since the boot: user, nice, system, irq and softirq."""
    fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def studied(folder: pathlib.Path, nodes: int, words: list[str]) -> float:
    """Runs the study on this many nodes, and returns its wall time in seconds."""
    cpus = sorted(os.sched_getaffinity(0))[:nodes]
    names = tuple(f"n{number}" for number in range(1, nodes + 1))
    with slurm_cluster.Cluster(folder / "slurm", names, bound_to=cpus) as cluster:
        command = [ZEROTAX, "study", "--thorough", "--audit-only", *words, "--on", "slurm", "--out", folder / "study"]
        begin, before = time.monotonic(), busy_s()
        subprocess.run(command, env={**os.environ, **cluster.environment}, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
    used = (busy_s() - before) / seconds
    print(f"{nodes} node{'s' if nodes > 1 else ''}: {seconds:.0f} s; all programs used {used:.2f} CPUs, load averages "
          f"{' '.join(f'{load:.2f}' for load in os.getloadavg())}", flush=True)
    return seconds


def counts_of(folder: pathlib.Path) -> dict[tuple[object, ...], dict[str, object]]:
    """Returns the counts of each point."""
    found = {}
    for line in (folder / "study" / "points.jsonl").read_text().splitlines():
        point = json.loads(line)
        key = tuple(point[name] for name in ("allocator", "case", "size_bytes", "touch", "thread"))
        found[key] = {name: point[name] for name in ("status", "zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes")}
    return found


def thresholds_of(folder: pathlib.Path) -> list[tuple[object, ...]]:
    found = json.loads((folder / "study" / "thresholds.json").read_text())["thresholds"]
    return sorted((each["allocator"], each["touch"], each["thread"], each["at_bytes"]) for each in found)


def main(allocators: list[str]) -> int:
    if why := slurm_cluster.missing():
        print(f"error: {why}", file=sys.stderr)
        return 2
    words = [word for name in allocators or ["glibc"] for word in ("--allocator", name)]
    with tempfile.TemporaryDirectory(prefix="zerotax-nodes-") as scratch:
        folders = {nodes: pathlib.Path(scratch) / str(nodes) for nodes in (2, 1)}
        seconds = {nodes: studied(folder, nodes, words) for nodes, folder in folders.items()}
        one, two = counts_of(folders[1]), counts_of(folders[2])
        differing = [key for key in one if one[key] != two.get(key)]
        same = thresholds_of(folders[1]) == thresholds_of(folders[2])
    ratio = seconds[2] / seconds[1]
    print(f"two nodes take {ratio:.2f} of the time of one (at most {LIMIT}); {len(one)} points, {len(differing)} differ; "
          f"thresholds {'are the same' if same else 'differ'}")
    for key in differing[:5]:
        print(f"  {key}: {one[key]} and {two.get(key)}")
    return 0 if ratio <= LIMIT and len(one) == len(two) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
