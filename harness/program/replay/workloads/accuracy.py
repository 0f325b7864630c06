"""Measures how well a replay predicts a program's behavior under another allocator or setting.

usage: accuracy.py FILE.json [--program NAME]...

Each of the twelve programs is recorded once under glibc. Each program then runs under six allocators and settings, and
its recording is replayed under the same six. A replay is compared with the range of three runs of the program. The output
lists differences of more than 5 %, and pairs of settings that runs and replays rank in opposite order.
"""
from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from programs import programs
from record import record, zerotax

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "plots"))

from zerotax_plots.files import ResultsError  # noqa: E402
from zerotax_plots.output import check_replaceable, is_document, named_path, write_document  # noqa: E402

SCHEMA = "zerotax.replay_accuracy/1"
RUNS = 3
KEPT = ["MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=1073741824"]
SETTINGS = {"glibc": ("glibc", []), "glibc, raised thresholds": ("glibc", KEPT), "jemalloc": ("jemalloc", []),
            "mimalloc": ("mimalloc", []), "tcmalloc": ("tcmalloc", []), "largecache": ("largecache", [])}
# Largest difference in each metric that the pages and stacks of two programs explain, as in zerotax replay.
METRICS = {"zero_fill_faults": 16, "kernel_zeroed_bytes": 65536, "refilled_bytes": 65536, "zeroed_bytes": 65536,
           "peak_bytes": 65536}
BOUND = 0.05


def options_of(setting: str) -> list[str]:
    """Returns the command-line options for a setting."""
    allocator, env = SETTINGS[setting]
    return ["--allocator", allocator, *(word for each in env for word in ("--env", f"{allocator}:{each}"))]


def really(command: list[str], setting: str, folder: Path) -> dict:
    """Returns the values of each metric over several runs."""
    seen = {metric: [] for metric in METRICS}
    for _ in range(RUNS):
        file = folder / "record.json"
        zerotax("record", "--force", "--text", os.devnull, "--json", file, *options_of(setting), "--", *command)
        totals = json.loads(file.read_text())["totals"]
        counts = {**totals["kernel"], "kernel_zeroed_bytes": totals["kernel"]["zeroed_bytes"],
                  "zeroed_bytes": totals["zeroed_bytes"]}
        for metric, values in seen.items():
            values.append(counts[metric])
    return seen


def replayed(recording: Path, setting: str, folder: Path) -> dict:
    """Returns the counts of a replay."""
    file = folder / "replay.json"
    zerotax("replay", recording, "--force", "--json", file, *options_of(setting))
    return json.loads(file.read_text())["replays"][0]["counts"]


def error(values: list, predicted: object, slack: int) -> float | None:
    """Returns the relative distance of a replayed value from the range of the runs; None if the distance is unknown."""
    if not all(isinstance(each, int) for each in [*values, predicted]):
        return None
    nearest = min(max(predicted, min(values)), max(values))
    if abs(predicted - nearest) <= slack:
        return 0.0
    return round(predicted / nearest - 1, 4) if nearest else 1.0


def reversed_pairs(rows: dict) -> list[str]:
    """Returns pairs of settings for which replays and runs disagree: the kernel zeroes clearly less under the first
    setting, but clearly more in its replay.
    """
    found = []
    for one, first in rows.items():
        for other, second in rows.items():
            less, more = first["real"]["kernel_zeroed_bytes"], second["real"]["kernel_zeroed_bytes"]
            predicted = (first["replayed"]["kernel_zeroed_bytes"], second["replayed"]["kernel_zeroed_bytes"])
            if max(less) * (1 + BOUND) + 65536 < min(more) and predicted[0] > predicted[1] * (1 + BOUND) + 65536:
                found.append(f"{one} before {other}")
    return found


def main() -> None:
    """Measures all programs, and prints differences beyond the bound."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=named_path)
    parser.add_argument("--program", action="append")
    parser.add_argument("--force", action="store_true", help="replace a file of another program")
    options = parser.parse_args()
    check_replaceable(options.file, is_document(SCHEMA), options.force)
    within = pairs = same_order = 0
    result = {"schema": SCHEMA, "bound": BOUND, "runs": RUNS, "programs": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = programs(folder)
        for program in options.program or commands:
            recording = folder / "x.calls"
            record(commands[program], recording)
            rows = {}
            for setting in SETTINGS:
                row = {"real": really(commands[program], setting, folder), "replayed": replayed(recording, setting, folder)}
                row["errors"] = {key: error(row["real"][key], row["replayed"][key], slack) for key, slack in METRICS.items()}
                rows[setting] = row
                outside = {key: each for key, each in row["errors"].items() if each is not None and abs(each) > BOUND}
                pairs, within = pairs + 1, within + (not outside)
                for key, each in outside.items():
                    print(f"{program}, {setting}: {key} {each:+.1%}, {row['real'][key]} → {row['replayed'][key]}", flush=True)
            order = reversed_pairs(rows)
            same_order += not order
            for pair in order:
                print(f"{program}: the replay has the other order ({pair})", flush=True)
            result["programs"].append({"program": program, "settings": rows, "reversed": order})
            result |= {"pairs": pairs, "within": within, "same_order": same_order}
            write_document(options.file, result, force=options.force)
    print(f"{within} of {pairs} pairs within {BOUND:.0%} in every metric; the order of settings is kept for {same_order} of "
          f"{len(result['programs'])} programs")


if __name__ == "__main__":
    os.environ.setdefault("GIT_CONFIG_GLOBAL", os.devnull)
    try:
        sys.exit(main())
    except ResultsError as problem:
        print(f"accuracy.py: {problem}", file=sys.stderr)
        sys.exit(2)
