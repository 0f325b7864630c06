"""`zerotax run --loop` compares calloc with malloc, including the cost of redundant zeroing."""

import json
import signal
import subprocess

import pytest
from conftest import (
    INTERRUPTED_BY_SIGINT, KIB, MIB, PAGE, ZEROTAX, check_schema, clean_environment, is_na, options, planted, zerotax)

COST = {"wall_s", "user_s", "kernel_s", "faults", "voluntary_switches", "involuntary_switches", "cycles"}


def loops(*arguments, status=0):
    """Returns the checked document."""
    done = zerotax("run", "--loop", *arguments, "--json", "-")
    assert done.returncode == status, done.stderr
    document = json.loads(done.stdout)
    check_schema(document, "loop")
    return document


def loop_of(document, allocator):
    [found] = [each for each in document["loops"] if each["allocator"] == allocator]
    return found


@pytest.fixture(scope="module")
def two():
    """An allocator that never zeroes and one that always zeroes, with 5,000 calls of 1 MiB. CPU time is counted in
    clock ticks, and 200 calls may end between two ticks.
    """
    return loops(*planted("planted_never", "planted_memset"), "--size", "1MiB", "--ops", 5000, "--seconds", 60)


def test_where_calloc_writes_no_zeros_it_costs_what_malloc_costs(two):
    found = loop_of(two, "planted_never")
    assert found["zeroed_bytes"] == found["redundant_zeroed_bytes"] == found["redundant_share"] == 0
    assert all(found["zeroing"][key] == 0 for key in COST - {"cycles"})


def test_where_it_writes_them_the_difference_is_their_cost(two):
    found = loop_of(two, "planted_memset")
    assert found["redundant_zeroed_bytes"] == MIB and found["redundant_share"] == 1
    assert found["zeroing"]["user_s"] + found["zeroing"]["kernel_s"] > 0
    assert two["calls"] == found["calloc"]["calls_made"] == found["malloc"]["calls_made"] == 5000
    assert not found["calloc"]["estimated"] and not found["malloc"]["estimated"]


def test_fresh_memory_zeroed_in_each_call_is_faulted_in_by_it():
    document = loops("--allocator", "glibc", "--env", "glibc:GLIBC_TUNABLES=glibc.malloc.mmap_threshold=131072", "--size",
                     "1MiB", "--ops", 50, "--touch", 1)
    found = loop_of(document, "glibc")
    # In each call, both the calloc loop and the malloc loop write to all pages of a fresh mapping.
    assert found["malloc"]["faults"] == found["calloc"]["faults"] >= 50 * MIB // PAGE


def test_a_loop_that_takes_too_long_is_estimated_from_the_calls_it_made():
    document = loops(*planted("planted_memset"), "--size", "64MiB", "--ops", 100_000, "--seconds", 0.05)
    found = loop_of(document, "planted_memset")["calloc"]
    assert found["estimated"] and 1 <= found["calls_made"] < 100_000
    assert found["wall_s"] >= 0.05 * 100_000 / found["calls_made"] * 0.9


def test_cycles_are_counted_or_said_to_be_unavailable(two):
    for each in two["loops"]:
        for name in ("malloc", "calloc", "zeroing"):
            cycles = each[name]["cycles"]
            assert cycles >= 0 if not isinstance(cycles, dict) else is_na(cycles)


def test_the_table_has_both_totals_and_says_what_redundant_zeroing_costs():
    done = zerotax("run", "--loop", *planted("planted_never", "planted_memset"), *options("size", ["1MiB", 64 * KIB]),
                   "--ops", 50, "--full")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "50 allocations of 1 MiB, nothing written"
    assert [line.split()[0] for line in lines[2:5]] == ["allocator", "planted_never", "planted_memset"]
    said = [line for line in lines if line.startswith("planted_memset: redundant zeroing costs")]
    assert len(said) == 2 and not [line for line in lines if line.startswith("planted_never: redundant")]
    assert all(len(line) <= 80 for line in lines)


def test_a_block_that_does_not_fit_is_left_out_with_the_reason():
    found = loop_of(loops("--allocator", "glibc", "--size", str(64 << 40)), "glibc")
    assert is_na(found["malloc"]) and is_na(found["zeroing"]) and "of memory" in found["calloc"]["na"]


def test_an_allocator_that_crashes_is_a_finding():
    document = loops(*planted("planted_crash"), "--size", "1MiB", "--ops", 50, status=1)
    assert is_na(loop_of(document, "planted_crash")["calloc"])


def test_interrupted_it_shows_what_was_finished():
    running = subprocess.Popen(
        [ZEROTAX, "run", "--loop", "--allocator", "glibc", "--size", "1MiB", "--ops", "1000000000", "--seconds", "600"],
        env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        running.communicate(timeout=2)
    except subprocess.TimeoutExpired:
        running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == INTERRUPTED_BY_SIGINT and "interrupted" in errors
