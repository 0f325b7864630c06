"""Copies do not count as zeroed by the kernel. The zeroed bytes of a recorded program are not guessed, and are
attributed to callers.
"""

import json
import shutil
import subprocess

import pytest
from conftest import KIB, MIB, PAGE, ZEROTAX, clean_environment
from recording import PROGRAMS, record

MAPS = PROGRAMS / "maps"
WRITTEN = 20 * MIB
NO_GUARDS = 4
# Bytes for a program's start and its stack.
START = 256 * KIB


@pytest.fixture(name="file", scope="module")
def file_of_20_mib(tmp_path_factory):
    path = tmp_path_factory.mktemp("maps") / "file"
    path.write_bytes(b"x" * WRITTEN)
    return path


def kernel(*words):
    found = record(MAPS, *words)
    if found.status == NO_GUARDS:
        pytest.skip("this kernel has no MADV_GUARD_INSTALL (Linux 6.13)")
    assert found.status == 0 and found.err == ""
    return found.totals["kernel"]


@pytest.mark.parametrize("way", ["file", "file-unmapped", "file-child"])
def test_copies_of_pages_of_a_file_are_not_zeroed_and_not_refilled(way, file):
    known = kernel(way, file)
    assert known["zeroed_bytes"] <= START and known["returned_bytes"] <= START
    assert known["minor_faults"] >= WRITTEN / PAGE


@pytest.mark.parametrize("way", ["zero", "zero-unmapped"])
def test_a_private_mapping_of_dev_zero_is_zero_filled(way):
    known = kernel(way)
    assert known["zeroed_bytes"] == pytest.approx(WRITTEN, abs=START)
    assert known["returned_bytes"] == pytest.approx(WRITTEN if way == "zero-unmapped" else 0, abs=START)


def test_cow_too_calls_dev_zero_zero_filled(tmp_path):
    report = tmp_path / "cow.json"
    done = subprocess.run([str(ZEROTAX), "cow", "--json", str(report), "--", str(MAPS), "zero"], timeout=60, check=False,
                          env=clean_environment(), capture_output=True, text=True)
    if done.returncode == 3:
        pytest.skip(done.stderr)
    totals = json.loads(report.read_text())["totals"]
    assert totals["zero_fills"] >= WRITTEN / PAGE and totals["copies"] < 100


def test_guards_return_what_they_are_put_over():
    known = kernel("guard")
    assert known["returned_bytes"] == pytest.approx(3 * WRITTEN, abs=START)
    assert known["refilled_bytes"] == pytest.approx(2 * WRITTEN, abs=START)


# 920 of 29,440 calls return 10 pages, or 1,000 of 32,000 calls return one page.
@pytest.mark.parametrize("rounds, pages", [(920, 10), (1000, 1)])
def test_small_returns_in_a_loop_of_32_are_estimated_within_the_interval(rounds, pages):
    found = record(PROGRAMS / "trims", rounds, pages)
    truth = rounds * pages * PAGE
    returned = found.totals["returned"]
    low, high = returned["interval_bytes"]
    assert low <= returned["bytes"] <= high and low < high
    # The allowed range is far wider than the 95 % interval, so that the test fails only once in a million runs. If the
    # calls were not chosen at random, the estimate would be 0 or 32 times the true number.
    half = max(high - returned["bytes"], returned["bytes"] - low)
    assert abs(returned["bytes"] - truth) <= 3 * half
    assert returned["bytes"] < 3 * truth
    zeroed = found.totals["kernel"]["zeroed_interval_bytes"]
    assert zeroed[0] <= found.totals["kernel"]["zeroed_bytes"] <= zeroed[1]
    assert "95 % confidence" in " ".join(found.text.split())


def test_where_every_return_is_looked_at_there_is_no_interval():
    found = record(PROGRAMS / "trims", 4, 10)
    assert "interval_bytes" not in found.totals["returned"]
    assert "zeroed_interval_bytes" not in found.totals["kernel"]
    assert found.totals["returned"]["bytes"] == pytest.approx(40 * PAGE, abs=4 * PAGE)


@pytest.mark.parametrize("allocator", ["glibc", "jemalloc", "tcmalloc"])
def test_callers_of_small_blocks_are_named(allocator):
    found = record(PROGRAMS / "nodes", 500_000, 500, options=["--allocator", allocator])
    whole = found.totals["kernel"]["zeroed_bytes"]
    by_caller = {"keep_three": 0, "keep_one": 0, "churn": 0}
    for site in found.json["sites"]:
        for caller in by_caller:
            if any(caller in str(frame["function"]) for frame in site["frames"]):
                by_caller[caller] += site["sampled"]["kernel_zeroed_bytes"]
    # Few blocks are examined. Except with glibc, it depends on chance which of the two callers has more bytes, and what
    # part of all bytes is found.
    if allocator == "glibc":
        assert by_caller["keep_three"] > by_caller["keep_one"]
    assert min(by_caller["keep_three"], by_caller["keep_one"]) > by_caller["churn"]
    assert by_caller["keep_three"] + by_caller["keep_one"] >= (0.5 if allocator == "glibc" else 0.25) * whole


def check_column_sums(found):
    """Each kernel-zeroed byte belongs to a site, or to the row of bytes that are not attributed."""
    sites = sum(s["kernel_zeroed_bytes"] + s["sampled"]["kernel_zeroed_bytes"] for s in found.json["sites"])
    whole = found.totals["kernel"]["zeroed_bytes"]
    # Each estimate is rounded down. If a part of a large block was populated before, the sum differs by a page.
    assert sites + found.json["kernel_zeroed_elsewhere_bytes"] == pytest.approx(whole, rel=0.01, abs=16 * PAGE)


@pytest.mark.parametrize("program", [["nodes", 1000, 100], ["nodes", 200_000, 300], ["refill", "malloc", 20, 4, MIB],
                                     ["refill", "unmap", 20, 2, MIB], ["mix", "fork:5:400000", "calloc:8:65536"]])
def test_the_column_of_the_kernel_sums_to_the_whole(program):
    found = record(PROGRAMS / program[0], *program[1:])
    check_column_sums(found)
    shown = "by kernel    returned  at" in found.text
    assert not shown or "not attributed" in found.text or found.json["kernel_zeroed_elsewhere_bytes"] == 0


@pytest.mark.skipif(not shutil.which("redis-benchmark") or not shutil.which("redis-server"), reason="no redis")
def test_redis_names_who_has_the_kernel_zero_its_values(tmp_path):
    socket = tmp_path / "s"
    script = (f"redis-server --port 0 --unixsocket {socket} --save '' --appendonly no --dir {tmp_path} >/dev/null & "
              f"for i in $(seq 100); do redis-cli -s {socket} ping >/dev/null 2>&1 && break; sleep 0.1; done; "
              f"redis-benchmark -s {socket} -n 100000 -r 100000 -d 1000 -P 16 -t set -q >/dev/null; "
              f"redis-cli -s {socket} shutdown nosave; wait")
    found = record("sh", "-c", script)
    check_column_sums(found)
    whole = found.totals["kernel"]["zeroed_bytes"]
    assert whole > 50 * MIB
    assert found.json["kernel_zeroed_elsewhere_bytes"] < 0.5 * whole


def test_threads_whose_timing_the_recorder_changes_are_said_to_be():
    found = record(PROGRAMS / "crowd", 64, 100)
    tax = found.json["tax"]
    own, program = tax["recorder_cpu_ns"], tax["cpu_ns"]
    assert tax["timing_changed"] == (20 * own > own + program)
    assert ("the recorder changes their timing" in " ".join(found.text.split())) == tax["timing_changed"]
    # Faults in pages of the recording do not count as faults of the program.
    assert 0 <= found.totals["kernel"]["minor_faults"] - found.totals["kernel"]["zero_fill_faults"] <= 250
    assert not record(PROGRAMS / "nodes", 10, 10).json["tax"]["timing_changed"]
