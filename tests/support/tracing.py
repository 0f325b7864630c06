"""What the tests of the recorder share: programs that record known numbers, and what two readers make of their traces."""

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
    """Runs a program of tests/traced with its trace in `folder`; what it said, and its status."""
    return subprocess.run([str(TRACED / name), *map(str, arguments)], timeout=120, capture_output=True, text=True, check=False,
                          env=clean_environment(ZEROTAX_TRACE_DIR=str(folder), **environment))


def trace(*arguments, status=0, **environment):
    """`zerotax trace` with these arguments: what it printed, and what it said on stderr."""
    done = subprocess.run([str(ZEROTAX), "trace", *map(str, arguments)], timeout=300, capture_output=True, text=True,
                          check=False, env=clean_environment(**environment))
    assert done.returncode == status, done.stderr or done.stdout[:2000]
    return done


def summary(folder, *options, **how):
    """The checked JSON of `zerotax trace summary`."""
    report = json.loads(trace("summary", folder, *options, "--json", "-", **how).stdout)
    check_schema(report, "trace")
    assert report["events"] == sum(row["events"] for row in report["types"])
    assert report["events"] == sum(s["events"] for p in report["processes"] for s in p["streams"])
    return report


def numbers(folder):
    """Of each one who recorded numbers: the values, in the order of the trace."""
    values = collections.defaultdict(list)
    for line in trace("print", folder, "--event", "number").stdout.splitlines():
        who, value = re.search(r" who=(\d+) value=(\d+)$", line).groups()
        values[int(who)].append(int(value))
    return dict(values)


def babeltrace(folder):
    """The lines that babeltrace2 prints of a trace, and the events that it says were discarded."""
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
    """Both readers find the same events, and as many that were discarded: how many, and how many not."""
    report = summary(folder)
    lines, discarded = babeltrace(folder)
    assert len(lines) == report["events"]
    if discarded_too:
        assert discarded == report["discarded"]
    return report["events"], report["discarded"]
