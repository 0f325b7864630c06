"""Counts the false alarms of `zerotax check -- COMMAND`, comparing ten unchanged programs with their own baselines.

usage: program_alarms.py FILE.json [--checks N] [--neighbours N] [--program NAME]...

All checks run first on an otherwise idle machine, then beside busy processes. The file is rewritten after each check, so an
interrupted run keeps its results.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_alarms import ZEROTAX, check_in_both_states

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "harness" / "program" / "replay" / "workloads"))

from programs import programs  # noqa: E402  # the path is set first

# Two of the twelve programs are newer than the committed measurement, which contains the other ten.
NEW = ("service", "forks")


def check(name: str, command: list[str], baseline: Path) -> dict:
    """Makes one check, in the form that check_alarms.summary expects."""
    start = time.monotonic()
    done = subprocess.run([ZEROTAX, "check", "--baseline", baseline, "--name", name, "--json", "-", "--", *command],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"program_alarms: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {
        "alarm": [change["line"] for change in found["changes"]],
        "not_compared": sorted({f"{entry['why']}: {entry['name']}" for entry in found["not_compared"]}),
        "seconds": round(time.monotonic() - start, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--checks", type=int, default=18)
    parser.add_argument("--neighbours", type=int, default=4)
    parser.add_argument("--program", action="append")
    options = parser.parse_args()
    found = {"schema": "zerotax.program_alarms/1", "neighbours": options.neighbours, "programs": []}
    with tempfile.TemporaryDirectory() as folder:
        baseline = Path(folder) / "programs.json"
        commands = programs(Path(folder))
        entries = {}
        for name in options.program or [each for each in commands if each not in NEW]:
            subprocess.run([ZEROTAX, "bless", "--baseline", baseline, "--name", name, "--", *commands[name]], check=True,
                           stdout=subprocess.DEVNULL)
            made = json.loads(baseline.read_text())["programs"][-1]
            # The temporary folder, and so the paths of files in it, differ from run to run.
            words = [word.replace(folder, "DIR") for word in made["command"]]
            entries[name] = {"program": name, "command": words, "runs": made["runs"], "kernel": made["measured_on"]["kernel"]}
            found["programs"].append(entries[name])
        check_in_both_states(options, found, {
            name: (entry, lambda each=name: check(each, commands[each], baseline)) for name, entry in entries.items()})
    return int(any(entry[state]["alarms"] for entry in entries.values() for state in ("idle", "loaded")))


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_GLOBAL", "/dev/null")
    sys.exit(main())
