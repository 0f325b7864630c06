"""`bless --resident` stores how much freed memory stays resident, and `check` then compares it."""

import json

import pytest
from allocators_here import available
from conftest import MIB, PAGE, is_na, zerotax
from program_check_test import REGRESSED, bless, check
from recording import PROGRAMS

RESIDENT = PROGRAMS / "resident"
PARTS = ("resident", "live", "free", "fragmented", "offered")
TABLE = 10_000 * 1000


def metrics_of(file):
    [program] = json.loads(file.read_text())["programs"]
    return program["metrics"]


def test_memory_that_a_live_block_keeps_is_a_regression(tmp_path):
    file, report = tmp_path / "baseline.json", tmp_path / "check.json"
    bless(file, REGRESSED, "pin", options=["--resident"])
    before = metrics_of(file)
    for at in ("idle", "end"):
        assert before[f"free_at_{at}_bytes"]["high"] < MIB / 2
    assert TABLE < before["free_at_peak_bytes"]["low"] < TABLE * 1.1
    check(file, REGRESSED, "pin")
    text = check(file, REGRESSED, "pin", options=["--json", report], status=1, REGRESSED="1")
    line = text.splitlines()[0]
    assert "resident memory at idle " in line and ": free whole pages at idle " in line, line
    assert ", last allocated in " in line and "(regressed.cc:" in line, line
    document = json.loads(report.read_text())
    changes = {each["metric"]: each for each in document["changes"]}
    for at in ("idle", "end"):
        assert changes[f"free_at_{at}_bytes"]["direction"] == "worse"
        assert TABLE < changes[f"free_at_{at}_bytes"]["after"] < TABLE * 1.1
        assert changes[f"resident_at_{at}_bytes"]["after"] > TABLE
    assert not [each for each in changes if each.startswith("live_at_")]
    assert "bless --baseline" in document["accept"] and " --resident " in document["accept"]
    assert check(file, REGRESSED, "pin", options=["--strict"]).startswith("same: 46 metrics")


@pytest.mark.parametrize("allocator", ["glibc", pytest.param("jemalloc", marks=available("jemalloc"))])
def test_the_parts_at_the_end_are_those_that_the_program_finds_itself(allocator, tmp_path):
    file, says = tmp_path / "baseline.json", tmp_path / "says.json"
    bless(file, RESIDENT, "pinned", says, options=["--resident", "--allocator", allocator])
    found = metrics_of(file)
    said = [json.loads(line) for line in says.read_text().splitlines()]
    assert len(said) >= 3
    own = {key: [each[key] for each in said] for key in said[0] if key != "name"}
    freed = found["free_at_end_bytes"]
    assert min(own["free"]) <= freed["low"] + found["offered_at_end_bytes"]["low"] and freed["high"] <= max(own["free"])
    assert 0 <= found["live_at_end_bytes"]["low"] - min(own["live"]) < 200_000
    assert min(own["anonymous"]) <= found["resident_at_end_bytes"]["low"] <= min(own["anonymous"]) + 32 * PAGE
    # The program was never idle, and its end is its peak, or its peak was seen before.
    assert is_na(found["resident_at_idle_bytes"]) and "idle" in found["resident_at_idle_bytes"]["na"]
    assert found["resident_at_peak_bytes"]["high"] >= found["resident_at_end_bytes"]["high"]


def test_the_peak_is_before_memory_was_returned(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, RESIDENT, "peak", tmp_path / "says.json", options=["--resident"])
    found = metrics_of(file)
    assert 40 * MIB <= found["live_at_peak_bytes"]["low"] <= found["live_at_peak_bytes"]["high"] <= 40 * MIB + 2 * PAGE
    assert 8 * MIB <= found["live_at_end_bytes"]["low"] <= found["live_at_end_bytes"]["high"] <= 8 * MIB + 100_000


def test_all_processes_are_added_up_and_each_name_has_its_own(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, RESIDENT, "forked", tmp_path / "says.json", options=["--resident"])
    [program] = json.loads(file.read_text())["programs"]
    assert program["processes"]["resident"]["live_at_end_bytes"] == program["metrics"]["live_at_end_bytes"]
    said = [json.loads(line)["live"] for line in (tmp_path / "says.json").read_text().splitlines()]
    runs = program["runs"]
    assert len(said) == 2 * runs
    assert sum(said) / runs <= program["metrics"]["live_at_end_bytes"]["high"] <= sum(said) / runs + 400_000


def test_a_recording_has_the_parts_of_its_replay(tmp_path):
    calls, file = tmp_path / "pin.calls", tmp_path / "baseline.json"
    done = zerotax("record", "--text", "/dev/null", "--calls", calls, "--", REGRESSED, "pin", REGRESSED="1")
    assert done.returncode == 0, done.stderr
    bless(file, calls, options=["--resident"])
    found = metrics_of(file)
    assert TABLE < found["free_at_end_bytes"]["low"] <= found["free_at_end_bytes"]["high"] < TABLE * 1.1
    check(file, calls)


def test_what_is_not_seen_is_not_available(tmp_path):
    file = tmp_path / "baseline.json"
    bless(file, PROGRAMS / "own", options=["--resident"])
    found = metrics_of(file)
    for part in PARTS:
        assert "own allocator" in found[f"{part}_at_end_bytes"]["na"]


def test_without_the_option_nothing_changes(tmp_path):
    file = tmp_path / "baseline.json"
    said = bless(file, "true").stdout
    assert "at idle" not in said and not [key for key in metrics_of(file) if "_at_" in key]
    assert check(file, "true").startswith("same: 31 metrics")
    done = zerotax("bless", "--baseline", file, "--resident", "--allocator", "glibc")
    assert done.returncode == 2 and "--resident" in done.stderr
