"""Helpers for the tests of `zerotax record`: the programs, and a run of the command with a checked report."""

import json
import os
import pathlib
import subprocess
import tempfile

from conftest import BUILD, ZEROTAX, check_schema, clean_environment, is_na

PROGRAMS = BUILD / "tests" / "recorded"
KNOWN = PROGRAMS / "known"
ENDING = PROGRAMS / "ending"


class Recorded:
    """A program that ran under the command, with its output and the report."""

    def __init__(self, done, report, text):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.json = report
        self.text = text

    @property
    def totals(self):
        return self.json["totals"]

    def processes(self, name):
        """Returns the processes whose executable has this name, in the order of their start."""
        return [p for p in self.json["processes"] if pathlib.Path(p["executable"]).name == name]

    def size_class(self, size):
        """Returns the histogram's row for requests of this size."""
        [row] = [r for r in self.json["histogram"] if r["from_bytes"] <= size < r["below_bytes"]]
        return row


def record(*command, options=(), prefix=(), stdin=None, timeout=120, **environment):
    """Runs `zerotax record options -- command`, and checks its JSON against the schema."""
    # Every user who runs the command must have write access to this folder.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        report, text = pathlib.Path(folder, "record.json"), pathlib.Path(folder, "record.txt")
        done = subprocess.run(
            [*prefix, str(ZEROTAX), "record", "--json", str(report), "--text", str(text), *map(str, options), "--",
             *map(str, command)], input=stdin, timeout=timeout, env=clean_environment(**environment),
            capture_output=True, text=True, check=False)
        assert report.exists(), done.stderr
        found = Recorded(done, json.loads(report.read_text()), text.read_text())
    check_schema(found.json, "record")
    assert max(map(len, found.text.splitlines())) <= 80 or any(len(w) > 70 for w in found.text.split()), found.text
    check_sums(found.json)
    tax = found.json["tax"]
    assert not is_na(tax["share_of_cpu"]) or tax["cpu_ns"] == 0 or "Nothing to gain" not in found.text
    return found


def check_sums(report):
    """Checks that the totals are the sums of the processes, that each process is the sum of its threads, and that the
    histogram adds up to the totals.
    """
    def add(parts, *path):
        found = []
        for part in parts:
            for key in path:
                part = part[key]
            found.append(0 if is_na(part) else part)
        return sum(found)

    for path in (("calloc_calls",), ("requested_bytes",), ("malloc_calls",), ("realloc_calls",), ("zeroed_bytes",),
                 ("examined_zeroed_bytes",), ("by_hand", "zeroed_bytes"), ("by_hand", "zeroing_stores")):
        whole = report["totals"]
        for key in path:
            whole = whole[key]
        processes = report["processes"]
        assert add(processes, "figures", *path) == (0 if is_na(whole) else whole), path
        for process in processes:
            part = process["figures"]
            for key in path:
                part = part[key]
            assert add(process["threads"], "figures", *path) == (0 if is_na(part) else part), path
    for total, row in (("calloc_calls", "calloc_calls"), ("requested_bytes", "requested_bytes"),
                       ("zeroed_bytes", "zeroed_bytes")):
        if not is_na(report["totals"][total]):
            assert sum(r[row] for r in report["histogram"]) == report["totals"][total]
    for figures in [report["totals"], report["totals"]["by_hand"]]:
        redundant = figures["redundant_zeroed_bytes"]
        assert is_na(redundant) or redundant <= figures["examined_zeroed_bytes"] <= figures["zeroed_bytes"]
    tax = report["tax"]
    causes = sum(row["at_least_cpu_ns"] for row in tax["rows"])
    assert causes <= tax["cpu_ns"] and causes + tax["other_faults"]["estimated_cpu_ns"] <= max(causes, tax["cpu_ns"])
