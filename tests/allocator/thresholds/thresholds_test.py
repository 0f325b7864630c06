"""`zerotax thresholds` finds all planted thresholds, and some known ones of real allocators, to the exact byte."""

import json
import math
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from conftest import (
    INTERRUPTED_BY_SIGINT, KIB, MIB, ZEROTAX, check_schema, clean_environment, mostly_long, options, planted,
    watches_inline_stores, zerotax)

TOUCHES = [0, 0.01, 1]
THREADS = ["main", "worker"]
EVERYWHERE = [(touch, thread) for touch in TOUCHES for thread in THREADS]
GRID = 2  # default number of sizes per factor of two


def search(*arguments):
    """Runs `zerotax thresholds` with these arguments, by default for both threads. Returns the command's checked JSON.
    """
    threads = [] if "--thread" in arguments else options("thread", THREADS)
    done = zerotax("thresholds", *arguments, *threads, "--json", "-")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    check_schema(found, "thresholds")
    check_sense(found)
    return found


def lane_key(lane):
    return lane["allocator"], lane["touch"], lane["thread"]


def check_sense(found):
    """Checks more than the schema: the behaviors of each lane form a chain from its smallest size on."""
    assert found["probes"] == sum(lane["probes"] for lane in found["lanes"])
    assert {lane_key(entry) for entry in found["thresholds"]} <= {lane_key(lane) for lane in found["lanes"]}
    for lane in found["lanes"]:
        size, behaviour = lane["from_bytes"], lane["at_from"]
        noisy = set(lane["noisy_bytes"])
        for entry in (entry for entry in found["thresholds"] if lane_key(entry) == lane_key(lane)):
            assert size <= entry["after_bytes"] < entry["at_bytes"] <= lane["to_bytes"]
            assert entry["exact"] == (entry["at_bytes"] - entry["after_bytes"] == 1)
            assert entry["below"] == behaviour != entry["above"]
            assert entry["noisy"] == any(entry["after_bytes"] <= at <= entry["at_bytes"] for at in noisy)
            size, behaviour = entry["at_bytes"], entry["above"]


def thresholds_of(found):
    """Returns the sizes found in each lane, by touch and thread."""
    sizes = {(lane["touch"], lane["thread"]): [] for lane in found["lanes"]}
    for entry in found["thresholds"]:
        sizes[entry["touch"], entry["thread"]].append(entry["at_bytes"])
    return sizes


def most_probes(lane, sizes, per_octave):
    """Returns the maximum number of probes: the grid, and a bisection for each gap with a threshold, all doubled."""
    low, high = lane["from_bytes"], lane["to_bytes"]
    grid = [low]
    while low * 2 ** (len(grid) / per_octave) < high:
        grid.append(int(low * 2 ** (len(grid) / per_octave)))
    grid.append(high)
    assert lane["grid"] == len(grid)
    gaps = [(a, b) for a, b in zip(grid, grid[1:]) if any(a < size <= b for size in sizes)]
    return 2 * (len(grid) + sum(math.log2(b - a) for a, b in gaps))


def check_planted(found, expected, per_octave=GRID):
    """Checks that the lanes have exactly these thresholds, found with few probes, and that a second search finds the
    same thresholds.
    """
    assert thresholds_of(found) == expected
    assert {lane["at_from"]["status"] for lane in found["lanes"]} == {"ok"}
    assert not any(lane["noisy_bytes"] for lane in found["lanes"])
    assert all(entry["exact"] for entry in found["thresholds"])
    for lane in found["lanes"]:
        assert lane["probes"] < most_probes(lane, expected[lane["touch"], lane["thread"]], per_octave)


FROM_TO = ["--from", "64KiB", "--to", "4MiB"]
WINDOW = [3_500_001, 3_500_001 + 64 * KIB]
PLANTED = {
    "planted_memset_above": dict.fromkeys(EVERYWHERE, [1_000_004]),
    "planted_threshold_prime": dict.fromkeys(EVERYWHERE, [1_299_709]),
    "planted_threshold_pair": dict.fromkeys(EVERYWHERE, [1_000_003, 1_000_033]),
    "planted_threshold_in_free": dict.fromkeys(EVERYWHERE, [654_321]),
    "planted_threshold_touched": {key: [1_500_007] if key[0] == 1 else [] for key in EVERYWHERE},
    "planted_threshold_worker": {key: [777_781] if key[1] == "worker" else [] for key in EVERYWHERE},
}


@pytest.mark.parametrize("name", mostly_long(PLANTED, ["planted_threshold_prime"], "the same search"))
def test_a_planted_threshold_is_found_to_the_byte(name):
    check_planted(search(*planted(name), *FROM_TO), PLANTED[name])


@pytest.mark.long("a search with a finer grid")
def test_a_window_between_two_sizes_of_the_grid_is_found_with_a_finer_one():
    window = [*planted("planted_threshold_window"), *FROM_TO, "--touch", "0"]
    unseen = {(0, thread): [] for thread in THREADS}
    check_planted(search(*window), unseen)
    check_planted(search(*window, "--grid", "8"), dict.fromkeys(unseen, WINDOW), 8)


def test_a_range_that_begins_or_ends_at_a_threshold():
    prime = [*planted("planted_threshold_prime"), "--touch", "0", "--thread", "main"]
    for low, high, sizes in [
            (1_299_708, 1_299_709, [1_299_709]), (1_299_709, 1_400_000, []), (1_299_708, 1_299_708, []),
            (1_000_000, 1_299_709, [1_299_709]), (1_000_000, 1_299_708, [])]:
        found = search(*prime, "--from", low, "--to", high)
        assert thresholds_of(found) == {(0, "main"): sizes}, (low, high)


def test_the_behaviour_on_both_sides_is_what_was_planted():
    found = search(*planted("planted_threshold_pair"), *FROM_TO, "--touch", "1", "--thread", "main")
    reuses = [found["lanes"][0]["at_from"]["reuse"]] + [entry["above"]["reuse"] for entry in found["thresholds"]]
    told = [(reuse["home"], reuse["zeroed"], reuse["redundant"], reuse["populated"], reuse["calloc_syscalls"],
             reuse["free_syscalls"]) for reuse in reuses]
    assert told == [("mapping", "none", "none", "none", ["mmap"], ["munmap"]),
                    ("arena", "all", "none", "none", [], []),
                    ("mapping", "all", "all", "all", ["mmap"], ["munmap"])]
    changes = [" ".join(entry["changes"]) for entry in found["thresholds"]]
    assert "later callocs zero the whole block, which was dirty" in changes[0] and "memory is kept" in changes[0]
    assert "later callocs zero the whole block, needlessly" in changes[1] and "goes back to the kernel" in changes[1]


def test_madvise_counts_as_a_return_only_if_pages_went():
    arguments = [*planted("planted_threshold_advice"), "--from", "512KiB", "--to", "1MiB", "--touch", "1"]
    (entry,) = search(*arguments, "--thread", "main")["thresholds"]
    assert entry["at_bytes"] == 700_001
    told = [(entry[side]["reuse"]["free_syscalls"], entry[side]["reuse"]["purged"]) for side in ("below", "above")]
    assert told == [(["madvise"], "none"), (["madvise"], "all")]
    text = zerotax("thresholds", *arguments, "--thread", "main").stdout
    assert re.search(r"needed, kept +none, returned", text), text


def test_where_free_begins_to_zero_is_said_in_words():
    arguments = [*planted("planted_threshold_in_free"), "--from", "512KiB", "--to", "1MiB", "--touch", "1"]
    (entry,) = search(*arguments, "--thread", "main")["thresholds"]
    assert (entry["after_bytes"], entry["at_bytes"]) == (654_320, 654_321)
    free = {side: (entry[side]["reuse"]["zeroed_in_free"], entry[side]["reuse"]["redundant_in_free"])
            for side in ("below", "above")}
    assert free == {"below": ("none", "none"), "above": ("all", "none")}
    assert entry["changes"] == [
        f"free after {which} callocs zeroes the whole block, which was dirty (before: writes no zeros)"
        for which in ("later", "first")]
    assert "654,321" in zerotax("thresholds", *arguments).stdout


def test_a_search_without_a_threshold_says_how_many_sizes_it_looked_at():
    arguments = [*planted("planted_threshold_in_free"), "--touch", "0", "--from", "64KiB", "--to", "512KiB"]
    done = zerotax("thresholds", *arguments, "--grid", "2", "--full")
    assert done.returncode == 0, done.stderr
    assert "\n    no change found: all 7 probed sizes behave alike\n" in done.stdout
    assert "whole range" not in done.stdout
    assert "\n7 probes" in done.stdout


# Real allocators

def real(name, low, high, version=None):
    """Returns the thresholds of a built-in allocator with nothing touched on the main thread; skips other versions."""
    listed = re.search(rf"^  {name} +(.+)$", zerotax("list").stdout, re.MULTILINE)
    if listed is None:
        pytest.skip(f"{name} is not built in")
    if version is not None and listed[1] != version:
        pytest.skip(f"this is {name} {listed[1]}, and the number is of {version}")
    found = search("--allocator", name, "--touch", 0, "--thread", "main", "--from", low, "--to", high)
    if not watches_inline_stores(found):
        pytest.skip("stores that are no call of memset are not seen here, and behaviours cannot be told apart")
    return [entry for entry in found["thresholds"] if entry["below"]["reuse"] != entry["above"]["reuse"]]


def test_largecache_takes_over_above_its_lower_bound():
    # largecache itself serves only requests of more than 127 KiB.
    (entry,) = real("largecache", 100_000, 200_000)
    assert entry["at_bytes"] == 130_049 == 127 * KIB + 1
    assert (entry["below"]["reuse"]["home"], entry["above"]["reuse"]["home"]) == ("heap", "arena")


@pytest.mark.long("a search up to its upper bound")
def test_largecache_keeps_nothing_above_its_upper_bound():
    # largecache keeps a block together with the page of its header if both have at most 128 MiB.
    (entry,) = real("largecache", 134_200_000, 134_230_000)
    assert entry["at_bytes"] == 134_213_633 == 128 * MIB - 4096 + 1
    assert (entry["below"]["reuse"]["home"], entry["above"]["reuse"]["home"]) == ("arena", "mapping")
    assert (entry["below"]["reuse"]["zeroed"], entry["above"]["reuse"]["zeroed"]) == ("all", "none")


@pytest.mark.long("a search up to 64 MiB")
def test_glibc_maps_every_block_anew_from_the_end_of_its_dynamic_threshold_on():
    # free() of a mapped chunk raises the mmap threshold to the chunk's size, unless its size field is above
    # DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB. The field also has the flag IS_MMAPPED (2), so a chunk of 32 MiB counts as
    # larger. The largest chunk that raises the threshold is a page smaller, at 33,550,336 bytes. A request and its
    # header of 8 bytes are rounded up to 16, and a mapping needs 8 more bytes. 33,550,312 bytes become 33,550,320 + 8,
    # which fits. One byte more becomes 33,550,336 + 8, which needs another page.
    (entry,) = real("glibc", 30 * MIB, 36 * MIB, "2.36")
    assert entry["at_bytes"] == 33_550_313
    assert (entry["below"]["reuse"]["zeroed"], entry["above"]["reuse"]["zeroed"]) == ("all", "none")
    assert "munmap" in entry["above"]["reuse"]["free_syscalls"] and not entry["below"]["reuse"]["free_syscalls"]


@pytest.mark.long("the same of largecache")
def test_tbbmalloc_keeps_nothing_above_its_limit_of_huge_objects():
    # defaultMaxHugeSize is 64 MiB, of which headers and alignment take 168 bytes.
    (entry,) = real("tbbmalloc", 67_100_000, 67_110_000, "2021.8")
    assert entry["at_bytes"] == 67_108_697 == 64 * MIB - 168 + 1
    assert (entry["below"]["reuse"]["home"], entry["above"]["reuse"]["home"]) == ("arena", "mapping")
    assert {entry["below"]["reuse"]["zeroed"], entry["above"]["reuse"]["zeroed"]} == {"all"}


# The command line


def test_the_table_says_what_the_file_says(tmp_path):
    file = tmp_path / "thresholds.json"
    where = [*FROM_TO, *options("touch", [0]), *options("thread", THREADS)]
    arguments = [*planted("planted_threshold_prime"), *where, "--json", file]
    done = zerotax("thresholds", *arguments, "--full")
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    check_schema(found, "thresholds")
    assert "touch 0, main thread; touch 0, worker thread" in done.stdout
    assert done.stdout.count("1,299,709") == 1, "lanes that agree are shown once"
    assert f"\n{found['probes']} probes" in done.stdout
    again = zerotax("thresholds", "--read", file, "--full")
    assert again.returncode == 0, again.stderr
    for text in (done.stdout, again.stdout):
        told = " ".join(text.split())
        for entry in found["thresholds"]:
            for change in entry["changes"]:
                assert change in told


def seconds_used(driver):
    """Returns the CPU time of each running process that a driver has started."""
    tick = os.sysconf("SC_CLK_TCK")
    used = []
    for task in pathlib.Path(f"/proc/{driver}/task").iterdir():
        try:
            for child in (task / "children").read_text().split():
                fields = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                used.append(sum(map(int, fields[11:13])) / tick)
        except (FileNotFoundError, ProcessLookupError):
            continue  # the process has ended
    return used


def test_an_interrupted_search_keeps_the_lanes_that_it_has_finished(tmp_path):
    file = tmp_path / "thresholds.json"
    # The first lane ends at once, and the second never.
    arguments = ["--allocator", "glibc", *planted("planted_hang"), "--touch", "0", "--thread", "main"]
    ranges = ["--from", "64KiB", "--to", "65KiB"]
    with subprocess.Popen([ZEROTAX, "thresholds", *arguments, *ranges, "--full", "--json", file], env=clean_environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        try:
            deadline = time.monotonic() + 120
            while max(seconds_used(run.pid), default=0) < 0.5 and time.monotonic() < deadline:
                time.sleep(0.02)
            run.send_signal(signal.SIGINT)
            table, errors = run.communicate(timeout=10)
        finally:
            run.kill()
    assert run.returncode == INTERRUPTED_BY_SIGINT
    assert "interrupted" in errors.splitlines()[-1]
    found = json.loads(file.read_text())
    check_schema(found, "thresholds")
    check_sense(found)
    assert [lane["allocator"] for lane in found["lanes"]] == ["glibc"]
    assert table.count("not searched: interrupted") == 1
