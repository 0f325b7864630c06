"""Counts the false alarms of `zerotax check`, comparing each built-in allocator repeatedly with its own fresh baseline.

usage: check_alarms.py FILE.json [--checks N] [--neighbours N] [--allocator NAME]... [--unsteady] [--size SIZE]... [--thresholds]

With --unsteady, the script checks the allocators of tests/planted/unsteady instead, which act by chance, by load or by
thread timing. Each of these allocators also runs as its own regression (UNSTEADY_REGRESSED), which must be found.

All checks run first on an otherwise idle machine, then beside busy processes. The file is rewritten after each check, so an
interrupted run keeps its results.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

BUILD = Path(os.environ.get("ZEROTAX_BUILD", Path(__file__).resolve().parents[2] / "build"))
ZEROTAX = BUILD / "bin" / "zerotax"
# Reasons why a metric was not compared although it differed in a first measurement.
UNSTEADY = ("not the same each time", "depends on the clock")
# Values of UNSTEADY_REGRESSED that turn an allocator of tests/planted/unsteady into a regression of itself.
REGRESSIONS = ("free", "beyond")


@contextlib.contextmanager
def busy_neighbours(count: int) -> Iterator[None]:
    """Runs processes that only use CPU time."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def built_in() -> list[str]:
    return sorted(path.name.removeprefix("bench-") for path in (BUILD / "bin").glob("bench-*"))


def unsteady() -> list[str]:
    """Returns the words of --allocator for the allocators of tests/planted/unsteady."""
    return [f"{path.stem.removeprefix('lib')}={path}" for path in sorted((BUILD / "tests" / "planted" / "unsteady").glob("*.so"))]


def check(allocator: str, baseline: Path, **environment: str) -> dict:
    """Makes one check. Returns {"alarm": the lines of the alarm, if any, "not_compared": metrics that differed between
    runs, "seconds"}.
    """
    start = time.monotonic()
    done = subprocess.run(
        [ZEROTAX, "check", "--allocator", allocator, "--baseline", baseline, "--json", "-"], capture_output=True, text=True,
        check=False, env={**os.environ, **environment})
    if done.returncode not in (0, 1):
        sys.exit(f"check_alarms: {done.stderr.strip()}")
    found = json.loads(done.stdout)["checks"][0]
    return {
        "alarm": [change["line"] for change in found["changes"]],
        "not_compared": [f"{entry['why']}: {entry['name']}" for entry in found["not_compared"] if entry["why"] in UNSTEADY],
        "seconds": round(time.monotonic() - start, 1)}


def baseline_of(folder: str, allocator: str) -> Path:
    return Path(folder) / f"{allocator.partition('=')[0]}.json"


def summary(checks: list[dict]) -> dict:
    return {
        "checks": len(checks), "alarms": sum(bool(entry["alarm"]) for entry in checks),
        "alarm_lines": sorted({line for entry in checks for line in entry["alarm"]}),
        "not_compared": sorted({line for entry in checks for line in entry["not_compared"]}),
        "seconds": [entry["seconds"] for entry in checks]}


def check_in_both_states(options: argparse.Namespace, found: dict, subjects: dict[str, tuple[dict, Callable[[], dict]]]) -> None:
    """Checks each subject, first on an idle machine and then beside busy processes. A subject has a name, an entry in
    `found` and a check.
    """
    for state, neighbours in (("idle", 0), ("loaded", options.neighbours)):
        with busy_neighbours(neighbours):
            for name, (entry, one_check) in subjects.items():
                checks = []
                for _ in range(options.checks):
                    checks.append(one_check())
                    entry[state] = summary(checks)
                    options.file.write_text(json.dumps(found, indent=2) + "\n")
                print(f"{name} {state}: {entry[state]['alarms']} alarms in {options.checks} checks", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--checks", type=int, default=10)
    parser.add_argument("--neighbours", type=int, default=4)
    parser.add_argument("--allocator", action="append")
    parser.add_argument("--unsteady", action="store_true")
    parser.add_argument("--size", action="append", default=[], help="baselines of points of these sizes alone")
    parser.add_argument("--thresholds", action="store_true", help="with --size: of thresholds as well")
    options = parser.parse_args()
    sizes = [word for size in options.size for word in ("--size", size)] + ["--thresholds"] * options.thresholds

    found = {"schema": "zerotax.check_alarms/1", "neighbours": options.neighbours, "allocators": []}
    with tempfile.TemporaryDirectory() as folder:
        entries = {}
        for allocator in options.allocator or (unsteady() if options.unsteady else built_in()):
            baseline = baseline_of(folder, allocator)
            start = time.monotonic()
            subprocess.run(
                [ZEROTAX, "bless", "--allocator", allocator, "--baseline", baseline, *sizes], check=True,
                stdout=subprocess.DEVNULL)
            made = json.loads(baseline.read_text())
            entries[allocator] = {
                "allocator": baseline.stem, "version": made["version"], "kernel": made["measured_on"]["kernel"],
                "by_the_clock": made["by_the_clock"], "bless_seconds": round(time.monotonic() - start, 1),
                "ranges": len(made.get("ranges", [])), "uncertain_thresholds": len(made.get("uncertain_thresholds", []))}
            found["allocators"].append(entries[allocator])
        check_in_both_states(options, found, {
            entry["allocator"]: (entry, lambda each=allocator: check(each, baseline_of(folder, each)))
            for allocator, entry in entries.items()})
        for allocator, entry in entries.items() if options.unsteady else ():
            found_regressions = [
                how for how in REGRESSIONS
                if check(allocator, baseline_of(folder, allocator), UNSTEADY_REGRESSED=how)["alarm"]]
            entry["regressions_found"] = found_regressions
            options.file.write_text(json.dumps(found, indent=2) + "\n")
            print(f"{entry['allocator']}: {len(found_regressions)} of {len(REGRESSIONS)} regressions found", flush=True)
    missed = options.unsteady and any(len(entry["regressions_found"]) < len(REGRESSIONS) for entry in entries.values())
    return int(missed or any(entry[state]["alarms"] for entry in entries.values() for state in ("idle", "loaded")))


if __name__ == "__main__":
    sys.exit(main())
