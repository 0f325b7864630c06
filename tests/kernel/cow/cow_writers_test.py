"""zerotax cow reports which kind of code wrote to the copied pages, for programs whose writers are known."""

import re
import shutil

import pytest
from conftest import NOBODY, PAGE, skip_if_unreadable
from watching import RECORDED, as_root, watch

PYTHON = "/usr/bin/python3"
METHODS = [pytest.param("tracepoints", marks=as_root), "software"]
needs_python = pytest.mark.skipif(shutil.which(PYTHON) is None, reason="Debian's Python is missing: install python3")

# Each list has a header of the collector and a reference count. The child prints how many pages it made private.
LISTS = """
import gc, os, sys, time
lists = [[] for _ in range(200_000)]
gc.collect()
if "freeze" in sys.argv:
    gc.freeze()
if os.fork() == 0:
    def private():
        with open("/proc/self/smaps_rollup") as lines:
            return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))
    before = private()
    if "collect" in sys.argv:
        gc.collect()
    if "iterate" in sys.argv:
        for each in lists:
            pass
    print((private() - before) * 1024)
    sys.stdout.flush()
    time.sleep(3)  # zerotax reads the written words after the faults
    os._exit(0)
os.wait()
"""
LIST_PAGES = 200_000 * 64 // PAGE  # a list of CPython takes 64 bytes
FEW = 200  # pages that every child of CPython copies


def writers(report):
    """Returns the children's copies by writer."""
    found = {}
    for writing in report["writers"]:
        found[writing["writer"]] = found.get(writing["writer"], 0) + writing["by_children"]
    assert sum(writing["copies"] for writing in report["writers"]) == report["totals"]["copies"]
    assert sum(writing["copied_bytes"] for writing in report["writers"]) == report["totals"]["copied_bytes"]
    return found


def children(report):
    return sum(process["counts"]["copies"] for process in report["processes"] if process["parent"] != 0)


def lists(*words, method="", prefix=(), options=()):
    environment = {"ZEROTAX_FAULTS": method} if method else {}
    report, done = watch(PYTHON, "-c", LISTS, *words, prefix=prefix, options=options, **environment)
    return report, int(done.stdout) // PAGE, " ".join(done.stderr.split())


@needs_python
@as_root
def test_stacks_leave_the_writers_unchanged():
    report, _, _ = lists("collect", "iterate", options=["--stacks"])
    assert writers(report)["garbage collector"] >= 0.9 * children(report)


@pytest.mark.parametrize("method", METHODS)
def test_writers_of_a_program_are_known(method):
    report, done = watch(RECORDED / "writers", ZEROTAX_FAULTS=method)
    found = writers(report)
    assert found["program"] in range(500, 515)
    assert found["stacks"] in range(100, 106)
    assert found["allocator"] in range(395, 411)
    assert found["data of files"] in range(50, 75)
    assert found.get("system calls", 0) in (range(60, 66) if method == "tracepoints" else [0])
    assert re.search(r"^ +copies +by children +copied +writer$", done.stderr, re.MULTILINE)


@needs_python
@pytest.mark.parametrize("method", METHODS)
def test_the_collector_of_python_writes_its_headers(method):
    report, private, text = lists("collect", method=method)
    found = writers(report)
    assert private >= LIST_PAGES and abs(children(report) - private) <= FEW
    assert found["garbage collector"] >= 0.9 * children(report)
    assert "garbage collector" in text


@needs_python
@pytest.mark.parametrize("method", METHODS)
def test_after_freeze_the_collector_writes_almost_nothing(method):
    report, private, _ = lists("collect", "freeze", method=method)
    assert writers(report).get("garbage collector", 0) < 20
    assert private < FEW and children(report) < 2 * FEW


@needs_python
@pytest.mark.parametrize("method", METHODS)
def test_iterating_changes_reference_counts(method):
    report, private, _ = lists("iterate", "freeze", method=method)
    found = writers(report)
    assert private >= LIST_PAGES and abs(children(report) - private) <= FEW
    assert found["reference counts"] >= 0.9 * children(report)
    assert found.get("garbage collector", 0) < 20


@needs_python
@as_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is missing: install util-linux")
def test_an_ordinary_user_gets_the_same_writers():
    skip_if_unreadable()
    report, private, _ = lists("collect", prefix=NOBODY)
    assert report["method"] == "software"
    assert private >= LIST_PAGES and abs(children(report) - private) <= FEW
    assert report["bounds"]["copies"]["at_most"] >= children(report)
    assert writers(report)["garbage collector"] >= 0.9 * children(report)
