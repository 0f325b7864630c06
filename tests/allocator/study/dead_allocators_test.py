"""Every command reports an allocator that ends its own measured process as a finding, with exit status 1."""

import json
import re

import pytest
from conftest import KIB, MIB, PLANTED, check_schema, is_na, measure, point_of, zerotax

LIBRARY = PLANTED / "libplanted_dies.so"
SIZE = 256 * KIB
HEALTHY = ["--allocator", f"dies={LIBRARY}"]


def dying(orders):
    """Returns the arguments for an allocator that ends the process as ordered by PLACE:OPERATION:WAY."""
    return [*HEALTHY, "--env", f"dies:PLANTED_DIES={orders}"]


def run_point(orders, *more, status=1):
    point, = measure(*dying(orders), "--size", SIZE, "--ops", 8, *more, status=status)["points"]
    return point


@pytest.fixture(scope="module")
def healthy_baseline(tmp_path_factory):
    file = tmp_path_factory.mktemp("healthy") / "dies.json"
    done = zerotax("bless", *HEALTHY, "--size", "64KiB", "--size", MIB, "--baseline", file)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def stored_run(tmp_path_factory):
    """Results of a run with an allocator that ends the process in its third calloc."""
    file = tmp_path_factory.mktemp("run") / "run.json"
    done = zerotax("run", *dying("calloc:3:_exit"), "--size", SIZE, "--size", MIB, "--ops", 8, "--json", file)
    assert done.returncode == 1, done.stderr
    return file


def test_without_orders_the_planted_allocator_is_measured_and_innocent():
    point, = measure(*HEALTHY, "--size", SIZE, "--ops", 8)["points"]
    assert (point["status"], point["zeroed_bytes"], point["ops"]) == ("ok", 0, 8)


@pytest.mark.parametrize(("orders", "reason"), [
    ("calloc:1:_exit", "exited with status 0 in calloc, operation 1"),
    ("calloc:7:_exit", "exited with status 0 in calloc, operation 7"),
    ("calloc:7:_exit3", "exited with status 3 in calloc, operation 7"),
    ("calloc:3:exit", "exited with status 0 in calloc, operation 3"),
    ("calloc:3:quick_exit", "exited with status 0 in calloc, operation 3"),
    ("calloc:3:thread", "exited with status 0 in calloc, operation 3"),
    ("calloc:3:execve", "exited with status 0 in calloc, operation 3"),
    ("calloc:3:kill", "killed by SIGKILL in calloc, operation 3"),
    ("calloc:3:stop", "stopped by SIGSTOP, and not continued, in calloc, operation 3"),
    ("free:2:_exit", "exited with status 0 in free, operation 2"),
    ("free:8:_exit", "exited with status 0 in free, operation 8"),
])
def test_an_end_before_the_last_operation_is_a_crash_that_says_how_and_where(orders, reason):
    point = run_point(orders)
    assert (point["status"], point["reason"]) == ("crashed", f"audit pass: {reason}")


def test_what_was_finished_before_the_end_is_kept_and_the_rest_is_not_available():
    point = run_point("calloc:3:_exit")
    assert [entry["op"] for entry in point["first_ops"]] == [1, 2]
    assert is_na(run_point("calloc:1:_exit")["zeroed_bytes"])


def test_an_end_while_the_program_writes_to_its_block_is_a_crash():
    point = run_point("touch:4:_exit", "--touch", 1)
    assert point["status"] == "crashed"
    assert point["reason"] == "audit pass: exited with status 0 while the block was written to, operation 4"


def test_an_end_after_the_last_operation_but_before_the_measurement_is_complete_is_a_crash():
    point = run_point("thread_end:1:_exit", "--thread", "worker")
    assert (point["status"], point["reason"]) == (
        "crashed", "audit pass: exited with status 0 between two calls, operation 8")


@pytest.mark.parametrize("way", ["child_goes_on", "child_goes_on_awaited"])
def test_a_child_that_goes_on_in_place_of_its_parent_proves_nothing(way):
    point = run_point(f"calloc:3:{way}")
    # The child has returned from calloc, but has not finished the operation.
    assert point["status"] == "crashed"
    assert re.fullmatch(r"audit pass: exited with status 0 .*, operation 3", point["reason"])


def test_an_allocator_that_takes_the_sample_block_away_crashes():
    point = run_point("calloc:3:lose_samples")
    assert (point["status"], point["reason"]) == ("crashed", "audit pass: killed by SIGSEGV in calloc, operation 3")


@pytest.mark.parametrize("command", ["run", "thresholds", "check", "bless", "report", "profile", "compare"])
def test_an_end_in_the_constructor_is_told_by_every_command(command, tmp_path, healthy_baseline):
    arguments = {
        "run": ["--size", SIZE], "thresholds": ["--to", "32KiB"], "check": ["--baseline", healthy_baseline],
        "bless": ["--baseline", tmp_path / "b.json"], "report": ["--out", tmp_path / "out"], "profile": []}
    if command == "compare":
        done = zerotax("compare", f"dies={LIBRARY}", "glibc", "--env", "dies:PLANTED_DIES=constructor:0:_exit")
    else:
        done = zerotax(command, *dying("constructor:0:_exit"), *arguments[command])
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "fails under dies" in done.stderr and "exited with status 0" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("orders", [
    "constructor:0:close_streams", "constructor:0:close_others", "constructor:0:close_all",
    "calloc:2:close_streams", "calloc:2:close_all"])
def test_descriptors_that_an_allocator_closes_are_not_taken_for_another_build(orders):
    # If an allocator closes the driver's descriptors, metrics that the audit loses are n/a, and never wrong.
    point = run_point(orders, status=0)
    assert (point["status"], point["ops"]) == ("ok", 8)
    assert point["zeroed_bytes"] == 0 or is_na(point["zeroed_bytes"])


def test_findings_has_a_finding_for_it(stored_run, tmp_path):
    file = tmp_path / "findings.json"
    done = zerotax("findings", stored_run, "--json", file)
    assert done.returncode == 1
    document = json.loads(file.read_text())
    check_schema(document, "findings")
    finding, = document["findings"]
    assert (finding["id"], finding["rule"], finding["severity"]) == ("dies-crash-1MiB", "unfinished", "high")
    assert "exited with status 0 in calloc, operation 3" in finding["sentence"]


def test_a_hang_and_a_null_are_findings_too(tmp_path):
    for name, library, more, status in [
            ("hang", PLANTED / "libplanted_hang.so", ["--timeout", 1], "timeout"),
            ("null", PLANTED / "libplanted_null.so", [], "failed")]:
        file = tmp_path / f"{name}.json"
        zerotax("run", "--allocator", f"mine={library}", "--size", SIZE, "--ops", 8, *more, "--json", file)
        assert point_of(json.loads(file.read_text()), "mine")["status"] == status
        done = zerotax("findings", file, "--full")
        assert done.returncode == 1 and f"mine-{name}-256KiB" in done.stdout


def test_thresholds_says_that_its_search_failed_and_why(tmp_path):
    file = tmp_path / "thresholds.json"
    done = zerotax("thresholds", *dying("calloc:1:_exit"), "--from", "64KiB", "--to", "256KiB", "--touch", 0,
                   "--thread", "main", "--full", "--json", file)
    assert done.returncode == 1
    assert "the search failed: at 64 KiB: crashed" in done.stdout
    assert "exited with status 0 in" in " ".join(done.stdout.split())
    document = json.loads(file.read_text())
    check_schema(document, "thresholds")
    assert "crashed" in document["lanes"][0]["failure"]


def test_check_of_a_dead_allocator_against_a_healthy_baseline_is_a_regression(healthy_baseline):
    done = zerotax("check", *dying("calloc:1:_exit"), "--baseline", healthy_baseline, "--explain")
    assert done.returncode == 1
    assert done.stdout.startswith("failed: calloc from ") and " now crashes: ok → crashed at " in done.stdout.splitlines()[0]
    assert 'status: before "ok", now "crashed"' in done.stdout


@pytest.mark.parametrize(("allocator", "status"), [
    (dying("calloc:1:_exit"), "crashed"),
    (["--allocator", f"mine={PLANTED / 'libplanted_null.so'}"], "failed"),
    (["--allocator", f"mine={PLANTED / 'libplanted_dirty.so'}"], "not_zero")])
def test_a_baseline_is_made_of_healthy_points_unless_others_are_allowed(allocator, status, tmp_path):
    file = tmp_path / "baseline.json"
    done = zerotax("bless", *allocator, "--size", MIB, "--baseline", file)
    assert done.returncode == 1 and not file.exists()
    assert "no baseline is written" in done.stdout and f"calloc_loop 1 MiB touch 1 main: {status}" in done.stdout
    if status != "crashed":
        return
    done = zerotax("bless", *allocator, "--size", MIB, "--baseline", file, "--allow-failing")
    assert done.returncode == 0
    assert "the baseline contains points that fail" in done.stdout and f": {status}" in done.stdout
    check_schema(json.loads(file.read_text()), "baseline")
    done = zerotax("check", "--full", *allocator, "--baseline", file)
    assert done.returncode == 0 and "a failure that the baseline accepts: calloc_loop 1 MiB" in done.stdout


def test_report_says_what_it_found_though_it_has_no_reproducer_for_it(tmp_path):
    done = zerotax("report", *dying("calloc:1:_exit"), "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "dies-crash-100MiB" in done.stdout and "zerotax run" in done.stdout
    assert not (tmp_path / "out").exists()


def test_profile_gives_up_at_once_and_says_why():
    done = zerotax("profile", *dying("calloc:3:_exit"), "--size", SIZE, timeout=10)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "exited with status 0 in calloc, operation 3" in done.stderr


@pytest.mark.parametrize("words", [["--size", SIZE, "--touch", 0], ["--along", "size", "--from", "64KiB", "--to", "256KiB"]])
def test_a_comparison_with_a_dead_allocator_is_no_comparison(words):
    done = zerotax("compare", f"dies={LIBRARY}", "glibc", "--env", "dies:PLANTED_DIES=calloc:1:_exit", *words)
    assert done.returncode != 0
    assert "exited with status 0" in " ".join((done.stdout + done.stderr).split())
