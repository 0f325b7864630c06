"""Tests the function calls of a program. The numbers of calls are known, even with recursion, exceptions, jumps,
threads and unloaded libraries.
"""

import json
import subprocess

import pytest
from conftest import BUILD, check_schema, clean_environment
from tracing import TRACED, agree, trace

PROGRAM = TRACED / "instrumented_calls"
LIBRARY = TRACED / "instrumented.so"


@pytest.fixture(scope="module", name="folder")
def calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("functions") / "t"
    trace("run", "--functions", "-o", folder, "--", PROGRAM, LIBRARY)
    return folder


@pytest.fixture(scope="module", name="functions")
def table(folder):
    report = json.loads(trace("functions", folder, "--json", "-").stdout)
    check_schema(report, "functions")
    assert report["discarded"] == 0 and report["problems"] == [] and report["exits_without_entry"] == 0
    return {row["frame"]["function"]: row for row in report["functions"] if isinstance(row["frame"]["function"], str)}


@pytest.mark.parametrize("name, calls, left", [
    ("main", 1, 0), ("recursive", 10 * 10 + 5 * 2 + 5 * 2 + 2 * 4, 0), ("throws", 5 * 3, 0), ("catches", 5, 0),
    ("jumps", 5 * 3, 5 * 3), ("lands", 5, 0), ("in_thread", 2, 0), ("use_library", 1, 0), ("called_in_library", 1, 0),
    ("called_by_called", 2, 0)])
def test_calls_are_counted(functions, name, calls, left):
    row = functions[name]
    assert (row["calls"], row["left_without_exit"], row["unfinished"]) == (calls, left, 0)


def test_times_nest(functions):
    for row in functions.values():
        assert row["self_ns"] <= row["total_ns"] or row["frame"]["function"] == "recursive"
        assert row["min_ns"] <= row["median_ns"] <= row["max_ns"]
    assert functions["called_in_library"]["total_ns"] <= functions["use_library"]["total_ns"] <= functions["main"]["total_ns"]
    # Recursive calls are nested, so the total time of the function is that of its outermost call.
    assert functions["recursive"]["total_ns"] >= functions["recursive"]["max_ns"]


def test_names_have_lines(functions):
    assert functions["recursive"]["frame"]["file"].endswith("instrumented_calls.cc")
    # The library is still named although the program had unloaded it long before its end.
    assert functions["called_by_called"]["frame"]["file"].endswith("instrumented.cc")


def test_every_reader_reads_the_trace(folder):
    events, discarded = agree(folder)
    assert events > 500 and discarded == 0


def test_the_timeline_has_slices(folder, tmp_path):
    trace("print", folder, "--perfetto", tmp_path / "p.json")
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    begun = [event["name"] for event in events if event["ph"] == "B"]
    assert begun.count("recursive") == 128
    # Slices of calls that a jump left end, too.
    assert len(begun) == sum(1 for event in events if event["ph"] == "E")


def test_it_may_be_preloaded_by_hand(tmp_path):
    environment = clean_environment(ZEROTAX_TRACE_DIR=str(tmp_path / "t"), LD_PRELOAD=str(BUILD / "lib/libzerotax-functions.so"))
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "recursive" in trace("functions", tmp_path / "t").stdout


def test_without_a_trace_the_library_does_nothing(tmp_path):
    environment = clean_environment(LD_PRELOAD=str(BUILD / "lib/libzerotax-functions.so"))
    done = subprocess.run([PROGRAM], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and not list(tmp_path.iterdir())


def test_a_trace_without_functions_says_what_to_do(tmp_path):
    subprocess.run([TRACED / "first"], env=clean_environment(ZEROTAX_TRACE_DIR=str(tmp_path / "t")), check=True)
    assert "-finstrument-functions" in trace("functions", tmp_path / "t").stdout
