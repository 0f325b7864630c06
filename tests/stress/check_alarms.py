"""How often `zerotax check` gives a false alarm: each built-in allocator against its own fresh baseline, again and again.

usage: check_alarms.py FILE.json [--checks N] [--neighbours N] [--allocator NAME]...

First all checks on a machine that is idle but for them, then as many beside busy processes. The file is written anew after
each check: a run that is broken off keeps what it has.
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
from collections.abc import Iterator
from pathlib import Path

BUILD = Path(os.environ.get("ZEROTAX_BUILD", Path(__file__).resolve().parents[2] / "build"))
ZEROTAX = BUILD / "bin" / "zerotax"
# Why a metric that differed at first was not compared.
UNSTEADY = ("not the same each time", "depends on the clock")


@contextlib.contextmanager
def busy_neighbours(count: int) -> Iterator[None]:
    """Processes that do nothing but use a CPU."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def built_in() -> list[str]:
    return sorted(path.name.removeprefix("bench-") for path in (BUILD / "bin").glob("bench-*"))


def check(allocator: str, baseline: Path) -> dict:
    """One check: {"alarm": its lines, or none; "not_compared": figures that were not the same each time; "seconds"}."""
    start = time.monotonic()
    done = subprocess.run(
        [ZEROTAX, "check", "--allocator", allocator, "--baseline", baseline, "--json", "-"], capture_output=True, text=True,
        check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"check_alarms: {done.stderr.strip()}")
    found = json.loads(done.stdout)["checks"][0]
    return {
        "alarm": [change["line"] for change in found["changes"]],
        "not_compared": [f"{entry['why']}: {entry['name']}" for entry in found["not_compared"] if entry["why"] in UNSTEADY],
        "seconds": round(time.monotonic() - start, 1)}


def summary(checks: list[dict]) -> dict:
    return {
        "checks": len(checks), "alarms": sum(bool(entry["alarm"]) for entry in checks),
        "alarm_lines": sorted({line for entry in checks for line in entry["alarm"]}),
        "not_compared": sorted({line for entry in checks for line in entry["not_compared"]}),
        "seconds": [entry["seconds"] for entry in checks]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--checks", type=int, default=10)
    parser.add_argument("--neighbours", type=int, default=4)
    parser.add_argument("--allocator", action="append")
    options = parser.parse_args()

    found = {"schema": "zerotax.check_alarms/1", "neighbours": options.neighbours, "allocators": []}
    with tempfile.TemporaryDirectory() as folder:
        entries = {}
        for allocator in options.allocator or built_in():
            baseline = Path(folder) / f"{allocator}.json"
            subprocess.run(
                [ZEROTAX, "bless", "--allocator", allocator, "--baseline", baseline], check=True, stdout=subprocess.DEVNULL)
            made = json.loads(baseline.read_text())
            entries[allocator] = {
                "allocator": allocator, "version": made["version"], "kernel": made["measured_on"]["kernel"],
                "by_the_clock": made["by_the_clock"]}
            found["allocators"].append(entries[allocator])
        for state, neighbours in (("idle", 0), ("loaded", options.neighbours)):
            with busy_neighbours(neighbours):
                for allocator, entry in entries.items():
                    checks = []
                    for _ in range(options.checks):
                        checks.append(check(allocator, Path(folder) / f"{allocator}.json"))
                        entry[state] = summary(checks)
                        options.file.write_text(json.dumps(found, indent=2) + "\n")
                    print(f"{allocator} {state}: {entry[state]['alarms']} alarms in {options.checks} checks", flush=True)
    return int(any(entry[state]["alarms"] for entry in entries.values() for state in ("idle", "loaded")))


if __name__ == "__main__":
    sys.exit(main())
