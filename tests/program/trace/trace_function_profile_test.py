"""Tests filters, the call tree and the comparison of two traces on a program whose calls are known."""

import collections
import json
import shutil
import subprocess

import pytest
from conftest import ZEROTAX, check_schema, clean_environment
from tracing import TRACED, trace

PROGRAM = TRACED / "instrumented_calls"
LIBRARY = TRACED / "instrumented.so"


@pytest.fixture(scope="module", name="traces")
def both(tmp_path_factory):
    """Records one trace of the program without its library, and one trace with the library."""
    folder = tmp_path_factory.mktemp("profile")
    trace("run", "--functions", "-o", folder / "without", "--", PROGRAM)
    trace("run", "--functions", "-o", folder / "with", "--", PROGRAM, LIBRARY)
    return folder


def functions(folder, *options):
    report = json.loads(trace("functions", folder, *options, "--json", "-").stdout)
    check_schema(report, "functions")
    return report


def calls(folder, *options):
    """Returns the number of calls by function."""
    return {row["frame"]["function"]: row["calls"] for row in functions(folder, *options)["functions"]
            if isinstance(row["frame"]["function"], str)}


def test_a_filter_takes_a_function_and_what_it_calls(traces):
    assert calls(traces / "with", "--filter", "recursive") == {"recursive": 10 * 10 + 5 * 2 + 5 * 2 + 2 * 4}
    found = calls(traces / "with", "-F", "catches")
    assert (found["catches"], found["throws"], found["recursive"]) == (5, 15, 10) and "main" not in found
    found = calls(traces / "with", "-F", "called_*")
    assert found == {"called_in_library": 1, "called_by_called": 2}
    found = calls(traces / "with", "-F", "in_thread", "-F", "lands", "-F", "!jumps")
    assert (found["in_thread"], found["lands"], found["recursive"]) == (2, 5, 2 * 4 + 10) and "jumps" not in found


def test_a_function_that_is_left_out_takes_what_it_calls_along(traces):
    found = calls(traces / "with", "--filter", "!catches")
    assert "catches" not in found and "throws" not in found
    assert found["recursive"] == 128 - 10 and found["main"] == 1


def test_objects_select_by_file_alone(traces):
    assert calls(traces / "with", "--object", "instrumented.so") == {"called_in_library": 1, "called_by_called": 2}
    assert calls(traces / "with", "--object", "instrumented*", "--object", f"!{LIBRARY}")["recursive"] == 128
    assert "called_by_called" not in calls(traces / "with", "--object", "!*.so")


def test_the_filters_are_in_the_document(traces):
    report = functions(traces / "with", "--filter", "lands", "--object", "!*.so*")
    assert report["filters"] == {"functions": ["lands"], "not_functions": [], "objects": [], "not_objects": ["*.so*"]}


def test_the_tree_has_each_path_with_its_calls(traces):
    rows = functions(traces / "with", "--tree")["tree"]
    paths = []
    for row in rows:
        above = () if row["parent"] is None else paths[row["parent"]]
        assert row["depth"] == len(above)
        paths.append((*above, row["frame"]["function"]))
    found = dict(zip(paths, (row["calls"] for row in rows)))
    assert len(found) == len(rows)
    assert found[("main",)] == 1
    for depth in range(1, 11):
        assert found[("main", *["recursive"] * depth)] == 10
    assert ("main", *["recursive"] * 11) not in found
    assert found[("main", "catches", "throws", "throws", "throws")] == 5
    assert found[("main", "lands", "jumps", "jumps", "jumps")] == 5
    assert found[("main", "lands", "recursive", "recursive")] == 5
    assert found[("main", "use_library", "called_in_library", "called_by_called")] == 2
    threads = [path for path in found if path[-5:] == ("in_thread", *["recursive"] * 4)]
    assert [found[path] for path in threads] == [2]


def test_the_times_of_a_path_are_its_own_and_those_below(traces):
    rows = functions(traces / "with", "--tree")["tree"]
    below = collections.Counter()
    for row in rows:
        if row["parent"] is not None:
            below[row["parent"]] += row["total_ns"]
    for number, row in enumerate(rows):
        assert row["total_ns"] == row["self_ns"] + below[number]
    siblings = collections.defaultdict(list)
    for row in rows:
        siblings[row["parent"]].append(row["total_ns"])
    assert all(totals == sorted(totals, reverse=True) for totals in siblings.values())


def test_the_tree_of_a_filter_and_of_a_depth(traces):
    rows = functions(traces / "with", "--tree", "-F", "lands", "--depth", 2)["tree"]
    assert [(row["depth"], row["frame"]["function"], row["calls"]) for row in rows if row["depth"] == 0] == [(0, "lands", 5)]
    assert {"jumps", "recursive"} <= {row["frame"]["function"] for row in rows if row["depth"] == 1 and row["calls"] == 5}
    assert max(row["depth"] for row in rows) == 1
    text = trace("functions", traces / "with", "--tree", "-F", "lands", "--depth", 2).stdout.splitlines()
    assert text[1].endswith("  lands") and text[2].endswith(("    jumps", "    recursive"))


def test_each_function_has_its_spread(traces):
    for row in functions(traces / "with")["functions"]:
        assert row["min_ns"] <= row["median_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["max_ns"]
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
        if row["calls"] == 1:
            assert row["variance_ns2"]["na"] and row["stddev_ns"]["na"]
        else:
            assert row["stddev_ns"] ** 2 == pytest.approx(row["variance_ns2"])
            # The range limits the variance of a sample (Popoviciu's inequality, for n - 1).
            most = (row["max_ns"] - row["min_ns"]) ** 2 / 4 * row["calls"] / (row["calls"] - 1)
            assert row["variance_ns2"] <= most * 1.000001


def diff(traces, before, after):
    done = subprocess.run([ZEROTAX, "trace", "functions", "--diff", traces / before, traces / after, "--json", "-"],
                          capture_output=True, text=True, check=False, env=clean_environment())
    report = json.loads(done.stdout)
    check_schema(report, "functions_diff")
    assert done.returncode == (1 if report["verdict"] == "more" else 0)
    return report, {row["function"]: row for row in report["functions"]}, done.stderr


def test_what_appeared_and_what_vanished(traces):
    report, rows, text = diff(traces, "without", "with")
    assert report["verdict"] == "more"
    for name, count in (("use_library", 1), ("called_in_library", 1), ("called_by_called", 2)):
        assert (rows[name]["verdict"], rows[name]["calls_change"], rows[name]["after"]["calls"]) == ("appeared", count, count)
        assert rows[name]["before"] == {"na": "not called"} and name in text
    assert rows["called_in_library"]["object"] == "instrumented.so"
    back = diff(traces, "with", "without")[1]
    assert {name for name, row in back.items() if row["verdict"] == "vanished"} == {
        name for name, row in rows.items() if row["verdict"] == "appeared"}


def test_the_same_trace_is_the_same(traces):
    report, rows, text = diff(traces, "with", "with")
    assert report["verdict"] == "same" and {row["verdict"] for row in rows.values()} == {"same"}
    assert rows["recursive"]["before"] == rows["recursive"]["after"] and rows["recursive"]["self_change_ns"] == 0
    assert "functions are the same" in text


def test_more_calls_are_told(traces, tmp_path):
    # The trace "twice" contains the same process twice, so each function has twice as many calls.
    process, = (traces / "with").iterdir()
    for number in range(2):
        shutil.copytree(process, tmp_path / "twice" / f"process-{number}")
    report, rows, _ = diff(traces, "with", tmp_path / "twice")
    assert report["verdict"] == "more"
    assert {row["verdict"] for row in rows.values()} <= {"grew", "more calls"}
    assert rows["recursive"]["calls_change"] == 128 and rows["called_by_called"]["calls_change"] == 2


@pytest.mark.parametrize("options, words", [
    (["--filter", "recursiv"], ["recursiv", "did you mean recursive?"]), (["--filter", "!nothing_*"], ["--filter", "!nothing_*"]),
    (["--object", "libnone.so"], ["--object", "libnone.so"]), (["--object", "!x"], ["--object", "!x"])])
def test_a_filter_that_matches_nothing_is_refused(traces, options, words):
    done = trace("functions", traces / "with", *options, status=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and all(word in done.stderr for word in words), done.stderr
