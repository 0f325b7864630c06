"""zerotax cow reports which kind of code wrote to the copied pages, for programs whose writers are known."""

import re
import shutil

import pytest
from conftest import NOBODY, skip_if_unreadable
from python_lists import FEW, LIST_PAGES, PYTHON, children, lists, writers
from watching import RECORDED, as_root, watch

METHODS = [pytest.param("tracepoints", marks=as_root), "software"]
needs_python = pytest.mark.skipif(shutil.which(PYTHON) is None, reason="Debian's Python is missing: install python3")


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
