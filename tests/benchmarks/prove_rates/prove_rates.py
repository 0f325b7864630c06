#!/usr/bin/python3
"""Measures how many of the planted mistakes of tests/planted/proved `zerotax prove` finds, how soon, and how short the
program is that shows each of them. Searches the correct allocators too, which must stay without a finding. Each search
uses all CPUs. With --json, a search that the file already has is not repeated, so that a stopped run continues. Exit
status 1 if a correct allocator has a finding, or if more than two of forty mistakes are missed with one seed.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "support"))
import proved  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ZEROTAX_BUILD", ROOT / "build"))
MOST_MISSED = 2
SHORT_CALLS = 20


def searched(name: str, seed: int, seconds: float) -> dict[str, object]:
    """Searches one planted allocator, and returns what the table and the file show of the search."""
    library = BUILD / "tests" / "planted" / "proved" / f"lib{name}.so"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "prove.json")
        done = subprocess.run([BUILD / "bin" / "zerotax", "prove", "--allocator", f"{name}={library}", "--seed", str(seed),
                               "--seconds", str(seconds), "--json", file], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"zerotax prove of {name} ended with status {done.returncode}: {done.stderr}")
        proof = json.loads(file.read_text())["proofs"][0]
    coverage = proof["coverage"]
    row: dict[str, object] = {
        "name": name, "seed": seed, "seconds_limit": seconds, "verdict": proof["verdict"],
        "seconds": round(coverage["seconds"], 1), "calls": sum(each["count"] for each in coverage["operations"])}
    if finding := proof.get("finding"):
        program = finding["program"]
        row |= {"kind": finding["kind"], "function": finding["function"], "operations": finding["operations"],
                "program_calls": program.get("calls"), "program_shows": program.get("shows")}
    return row


def ended(rows: list[dict[str, object]], seeds: list[int]) -> int:
    """Prints the result of each seed and of the correct allocators, and returns the exit status."""
    status = 0
    planted = proved.names("planted")
    for seed in seeds:
        mistakes = [row for row in rows if row["seed"] == seed and row["name"] in planted]
        found = [row for row in mistakes if row["verdict"] == "found"]
        short = [row for row in found if row.get("program_shows") is True and int(str(row["program_calls"])) < SHORT_CALLS]
        missed = sorted(str(row["name"]) for row in mistakes if row["verdict"] != "found")
        if mistakes:
            print(f"seed {seed}: {len(found)} of {len(mistakes)} mistakes found, {len(short)} shown by a program of fewer "
                  f"than {SHORT_CALLS} calls{'; missed: ' + ', '.join(missed) if missed else ''}")
        status |= len(missed) > MOST_MISSED
    correct = [row for row in rows if row["name"] not in planted]
    alarms = [str(row["name"]) for row in correct if row["verdict"] == "found"]
    if correct:
        print(f"correct allocators: {len(alarms)} of {len(correct)} searches with a finding {' '.join(alarms)}")
    return int(status or bool(alarms))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="planted allocators (default: all)")
    parser.add_argument("--seed", type=int, action="append", help="seeds of the searches (default: 1, 2 and 3)")
    parser.add_argument("--seconds", type=float, default=60, help="limit of a search of a mistake")
    parser.add_argument("--correct-seconds", type=float, default=600, help="duration of a search of a correct allocator")
    parser.add_argument("--json", type=pathlib.Path, help="file of the searches, a line each, to which new ones are added")
    options = parser.parse_args()
    seeds = options.seed or [1, 2, 3]
    rows = []
    if options.json and options.json.exists():
        rows = [json.loads(line) for line in options.json.read_text().splitlines()]
    # A correct allocator is searched once, for a long time.
    planned = [(name, seed, options.seconds) for seed in seeds for name in proved.names("planted")]
    planned += [(name, seeds[0], options.correct_seconds) for name in proved.names("correct")]
    for name, seed, seconds in planned:
        if options.names and name not in options.names or any((row["name"], row["seed"]) == (name, seed) for row in rows):
            continue
        rows.append(searched(name, seed, seconds))
        print(f"{name} seed {seed}: {rows[-1]['verdict']} after {rows[-1]['seconds']} s and {rows[-1]['calls']} calls; "
              f"program of {rows[-1].get('program_calls')} calls", flush=True)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return ended(rows, seeds)


if __name__ == "__main__":
    sys.exit(main())
