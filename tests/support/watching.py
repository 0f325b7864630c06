"""Helpers that run programs with known faults under `zerotax cow`."""

import json
import os
import pathlib
import subprocess
import tempfile

import pytest

from conftest import BUILD, PAGE, ZEROTAX, check_schema, clean_environment

RECORDED = BUILD / "tests" / "recorded"
FORKS = RECORDED / "forks"
RANGE_BEGIN = 0x100000000000
RANGE_BYTES = 1 << 30  # no program here has a larger range
HUGE_PAGE = 2 << 20
ATTEMPTS = 3
CLASSES = ("copies", "reuses", "zero_fills", "file_faults", "other")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="tracepoints are root's")


def run(*arguments, prefix=(), **environment):
    return subprocess.run([*prefix, str(ZEROTAX), "cow", "--full", *map(str, arguments)], timeout=120,
                          env=clean_environment(**environment), capture_output=True, text=True, errors="replace",
                          check=False)


def checked(report):
    """Checks that the report matches the schema and adds up. Returns the report."""
    check_schema(report, "cow")
    sampled = "recorded" in report["sampling"]
    for key in (*CLASSES, *([] if sampled else ["refills"])):
        total = report["totals"][key]
        for parts in (report["processes"], report["intervals"], report["code"]):
            assert sum(part["counts"][key] for part in parts) == total, key
        for process in report["processes"]:
            assert sum(m["counts"][key] for m in process["mappings"]) == process["counts"][key], key
    assert report["totals"]["lost"] == 0 or sampled
    return report


def watch(*arguments, options=(), status=0, every_fault=True, **how):
    """Runs a program under the command. Returns the report and the command's result. The command must end with
    `status`, unless `status` is None. With `every_fault`, the report is exact. If the kernel lost events beside busy
    programs, the program runs again.
    """
    options = [*options, *(["--every-fault"] if every_fault else [])]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        file = pathlib.Path(folder, "cow.json")
        for _ in range(ATTEMPTS):
            done = run("--json", file, *options, "--", *arguments, **how)
            assert status is None or done.returncode == status, done.stderr
            report = json.loads(file.read_text())
            if report["totals"]["lost"] == 0:
                break
        return checked(report), done


def on_range(process, pages):
    """Returns the faults on the program's own pages. The counts are exact, because the reported range contains only
    these pages.
    """
    found = [m for m in process["mappings"] if m["begin"] == RANGE_BEGIN]
    if not found:
        return faults()  # a mapping without faults is not reported
    assert len(found) == 1 and found[0]["end"] == RANGE_BEGIN + pages * PAGE and found[0]["kind"] == "anonymous"
    return {key: found[0]["counts"][key] for key in CLASSES}


def faults(**counts):
    return {**dict.fromkeys(CLASSES, 0), **counts}


def known(process):
    """Returns copies, reuses and zero-fills of the program's own pages, and how many of these faults populated a huge
    page.
    """
    # Huge pages and other pages may be one mapping or two. On a slow machine, cow reads the mappings after they were
    # split.
    found = [m["counts"] for m in process["mappings"] if RANGE_BEGIN <= m["begin"] < RANGE_BEGIN + RANGE_BYTES]
    assert 1 <= len(found) <= 2
    counts = [sum(part[key] for part in found) for key in ("copies", "reuses", "zero_fills")]
    if any(isinstance(part["zeroed_bytes"], dict) for part in found):
        return counts
    zeroed = sum(part["zeroed_bytes"] for part in found)
    huge, rest = divmod(zeroed - counts[2] * PAGE, HUGE_PAGE - PAGE)
    assert rest == 0
    return [*counts, huge]


def truth_of(output):
    """Parses the output of forks_at_random for each process: copies, reuses, zero-fills, huge zero-fills, and faults
    taken again.
    """
    lines = [list(map(int, line.split())) for line in output.splitlines()]
    return {pid: counts for pid, *counts, _ in lines}, {pid: again for pid, *_, again in lines}


def check_told_right(told, truth, again):
    """Checks that every fault was reported correctly. A fault that the kernel undid and took again, which is rare, may
    be reported twice.
    """
    assert told.keys() == truth.keys()
    more = {pid: [t - g for t, g in zip(told[pid], truth[pid], strict=True)] for pid in truth}
    assert all(min(counts) >= 0 and sum(counts) <= again[pid] for pid, counts in more.items()), more
    assert sum(again.values()) <= 5
