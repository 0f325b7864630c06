"""Helpers for the tests of the recorder: programs that record known numbers, and two readers of these programs' traces.
"""

import collections
import json
import re
import shutil
import subprocess

import pytest
from conftest import BUILD, ZEROTAX, check_schema, clean_environment

TRACED = BUILD / "tests" / "traced"
BABELTRACE = shutil.which("babeltrace2")


def traced(name, *arguments, folder, **environment):
    """Runs a program of tests/traced with its trace in `folder`. Returns its output and status."""
    return subprocess.run([str(TRACED / name), *map(str, arguments)], timeout=120, capture_output=True, text=True, check=False,
                          env=clean_environment(ZEROTAX_TRACE_DIR=str(folder), **environment))


def trace(*arguments, status=0, **environment):
    """Runs `zerotax trace` with these arguments. Returns its output."""
    done = subprocess.run([str(ZEROTAX), "trace", *map(str, arguments)], timeout=300, capture_output=True, text=True,
                          check=False, env=clean_environment(**environment))
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    return done


def summary(folder, *options, **how):
    """Returns the checked JSON of `zerotax trace summary`."""
    report = json.loads(trace("summary", folder, *options, "--json", "-", **how).stdout)
    check_schema(report, "trace")
    assert report["events"] == sum(row["events"] for row in report["types"])
    assert report["events"] == sum(s["events"] for p in report["processes"] for s in p["streams"])
    return report


def numbers(folder):
    """Returns the values that each `who` recorded, in the order of the trace."""
    values = collections.defaultdict(list)
    for line in trace("print", folder, "--event", "number").stdout.splitlines():
        who, value = re.search(r" who=(\d+) value=(\d+)$", line).groups()
        values[int(who)].append(int(value))
    return dict(values)


def babeltrace(folder):
    """Returns the lines that babeltrace2 prints for a trace, and the trace's number of discarded events."""
    if BABELTRACE is None:
        pytest.skip("babeltrace2 is not installed")
    done = subprocess.run([BABELTRACE, str(folder)], timeout=300, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    expected = ("WARNING: Tracer discarded", "WARNING: Tracer may have discarded")
    unexpected = [line for line in done.stderr.splitlines() if line and not line.startswith(expected)]
    assert not unexpected, unexpected[:5]
    discarded = sum(int(n) for n in re.findall(r"Tracer discarded (\d+) event", done.stderr))
    return done.stdout.splitlines(), discarded


def agree(folder, *, discarded_too=True):
    """Checks that both readers find the same events and the same number of discarded events. Returns the two numbers.
    """
    report = summary(folder)
    lines, discarded = babeltrace(folder)
    assert len(lines) == report["events"]
    if discarded_too:
        assert discarded == report["discarded"]
    return report["events"], report["discarded"]
