#!/usr/bin/python3
"""Compares the results of zerotax under the kernels of four releases of Debian, in virtual machines, with the results
on this machine. Runs zerotax as root and as an ordinary user. usage: machines.py FILE.json [--release NAME]... [--user
root|nobody]... An ordinary user needs the cache of kernels: XDG_CACHE_HOME must be a readable folder that contains
them. Like this machine, each virtual machine has THP=madvise, so that one fault populates one page, and
kernel.perf_event_paranoid=2. In a virtual machine, a metric is the same, is n/a with a reason, or differs.
"""
from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "plots"))

from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.output import check_replaceable, is_document, named_path, write_document  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build"))
ZEROTAX = BUILD / "bin" / "zerotax"
# Linux 6.12 sometimes panics on an emulated CPU.
TRIES = 3
SCHEMA = "zerotax.machines/1"
RELEASES = ["bullseye", "bookworm", "trixie", "sid"]
SETTINGS = "thp=madvise,sysctl.kernel.perf_event_paranoid=2"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ALLOCATORS = ["glibc", "jemalloc", "mimalloc", "tcmalloc", "tbbmalloc", "scudo", "largecache"]
SIZES = ["64KiB", "1MiB", "20MiB", "100MiB"]
PLAN = [*(word for name in ALLOCATORS for word in ("--allocator", name)), *(word for size in SIZES for word in ("--size", size)),
        "--touch", "0", "--touch", "1", "--ops", "8", "--env", "largecache:LARGECACHE_RESERVE=256MiB",
        "--env", "mimalloc:MIMALLOC_DECOMMIT_DELAY=100000"]
METRICS = ["zeroed_bytes", "redundant_zeroed_bytes", "populated_bytes", "zeroed_in_free_bytes", "kernel_zeroed_bytes",
           "returned_bytes", "refilled_bytes", "calloc_faults", "touch_faults", "free_faults", "calloc_syscalls",
           "free_syscalls", "inline_stores"]
BASELINES = ["glibc-2.36.json", "jemalloc-5.3.0.json"]
REFILL = [str(BUILD / "tests" / "recorded" / "refill"), "malloc", "20", "4", "1048576"]
FORKS = str(BUILD / "tests" / "recorded" / "forks")
FORKS_RANGE = 1 << 44
RECORDED = ["zeroed_bytes", "refilled_bytes", "returned_bytes", "minor_faults"]
# The number of pages that a program populates at its start varies with the C library and the kernel.
START = 64 << 10


def is_na(figure: object) -> bool:
    """Returns whether a metric is n/a with a reason."""
    return isinstance(figure, dict) and set(figure) == {"na"}


class Place:
    """A machine to measure on: this machine, or a virtual one."""

    def __init__(self, folder: pathlib.Path, release: str = "", user: str = "root") -> None:
        self.folder = folder
        self.words = ["--on", f"vm:{release},{SETTINGS}"] if release else []
        self.prefix = NOBODY if user == "nobody" else []

    def document(self, command: str, *words: str, program: list[str] | None = None) -> dict:
        """Runs a command, and returns its JSON."""
        file = self.folder / "document.json"
        file.unlink(missing_ok=True)
        end = ["--", *program] if program else []
        for _ in range(TRIES):
            done = subprocess.run([*self.prefix, ZEROTAX, command, *words, *self.words, "--json", file, *end],
                                  capture_output=True, text=True, check=False, timeout=3600)
            if file.exists():
                return json.loads(file.read_text())
            if "panic" not in done.stderr:
                break
        sys.exit(f"machines: zerotax {command} {' '.join(self.words)} ended with {done.returncode}: {done.stderr}")


def compared(pairs: list[tuple[object, object]], slack: int = 0) -> dict:
    """Compares metrics of two machines. Counts the metrics that are the same, are n/a, or differ. Lists the reasons for
    n/a.
    """
    counts = collections.Counter()
    reasons = set()
    for there, here in pairs:
        if there == here:
            counts["same"] += 1
        elif is_na(there):
            counts["na"] += 1
            reasons.add(there["na"])
        elif isinstance(there, (int, float)) and isinstance(here, (int, float)) and abs(there - here) <= slack:
            counts["same"] += 1
        else:
            counts["differs"] += 1
    return {"same": counts["same"], "na": counts["na"], "differs": counts["differs"], "reasons": sorted(reasons)}


def watched_range(place: Place) -> list[int]:
    """Returns the copies, reuses and zero-fills of a program that writes known numbers of pages before and after a
    fork.

    The parent's counts come first, then the child's. The kernel itself copies one page on behalf of the child. Only
    root can count this copy, so it is left out.
    """
    cow = place.document("cow", program=[FORKS, "2000", "500", "300", "400"])
    ranges = [mapping["counts"] for process in cow["processes"] for mapping in process["mappings"]
              if mapping["begin"] == FORKS_RANGE]
    return [min(counts["copies"], 500) if number else counts[key] for number, counts in enumerate(ranges)
            for key in ("copies", "reuses", "zero_fills")]


def verdicts(place: Place) -> list[str]:
    """Returns the verdicts of check on points and thresholds. The baselines were made on this machine's kernel."""
    return [place.document("check", "--baseline", ROOT / "tests" / "regression" / "baselines" / name)["verdict"]
            for name in BASELINES]


def points(run: dict) -> dict:
    """Returns the points by allocator, size and touch."""
    return {(point["allocator"], point["size_bytes"], point["touch"]): point for point in run["points"]}


def figures(place: Place, here: dict) -> dict:
    """Returns all metrics of one machine."""
    run = place.document("run", *PLAN)
    there, ours = points(run), points(here["run"])
    rows = {metric: compared([(there[key][metric], ours[key][metric]) for key in ours]) for metric in METRICS}
    first = [(one, other) for key in ours for one, other in zip(there[key]["first_ops"], ours[key]["first_ops"])]
    for metric in ("zeroed_bytes", "redundant_zeroed_bytes", "calloc_faults"):
        rows[f"first operations: {metric}"] = compared([(one[metric], other[metric]) for one, other in first])
    record = place.document("record", program=REFILL)["totals"]["kernel"]
    for metric in RECORDED:
        # START is in bytes. A fault populates a page, so the slack of faults is START in pages.
        slack = START // os.sysconf("SC_PAGESIZE") if metric == "minor_faults" else START
        rows[f"record: {metric}"] = compared([(record[metric], here["record"][metric])], slack)
    rows["cow"] = compared(list(zip(watched_range(place), here["cow"])))
    if "check" in here:
        rows["check"] = compared(list(zip(verdicts(place), here["check"])))
    contract = place.document("contract")
    return {"kernel": run["environment"]["kernel"], "write_tracking": run["environment"]["capabilities"]["write_tracking"],
            "pagemap": run["environment"]["capabilities"]["pagemap"], "points": len(there), "figures": rows,
            "promises": contract["counts"]}


def main() -> int:
    """Writes the document."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=named_path)
    parser.add_argument("--release", action="append", choices=RELEASES)
    parser.add_argument("--user", action="append", choices=["root", "nobody"])
    parser.add_argument("--force", action="store_true", help="replace a file of another program")
    options = parser.parse_args()
    check_replaceable(options.file, is_document(SCHEMA), options.force)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        place = Place(folder)
        here = {"run": place.document("run", *PLAN), "record": place.document("record", program=REFILL)["totals"]["kernel"],
                "cow": watched_range(place), "check": verdicts(place)}
        machines = []
        for release in options.release or RELEASES:
            for user in options.user or ["root", "nobody"]:
                found = figures(Place(folder, release, user), here)
                machines.append({"release": release, "user": user, **found})
                print(release, user, {key: row for key, row in found["figures"].items() if row["na"] or row["differs"]},
                      file=sys.stderr, flush=True)
    document = {"schema": SCHEMA, "zerotax_version": here["run"]["zerotax_version"],
                "kernel": here["run"]["environment"]["kernel"], "plan": PLAN, "machines": machines}
    write_document(options.file, document, force=options.force)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ResultsError as problem:
        print(f"{pathlib.Path(__file__).name}: {problem}", file=sys.stderr)
        sys.exit(2)
